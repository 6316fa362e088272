using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Figures;

/// <summary>A run under the name that figures and tables give to what it ran on.</summary>
/// <param name="Stored">The run.</param>
/// <param name="Deployment">Repeats of one run share it, other runs do not.</param>
internal sealed record FigureRun(StoredRun Stored, string Deployment)
{
    public static IReadOnlyList<FigureRun> Of(StoredRun run) => Of([[run]]);

    /// <param name="sides">Of a comparison, each with its repeats.</param>
    public static IReadOnlyList<FigureRun> Of(IReadOnlyList<IReadOnlyList<StoredRun>> sides)
    {
        string[] names = [.. sides.Select(side => NameOf(side[0]))];
        return
        [
            .. sides.SelectMany((side, i) =>
            {
                string name = names.Count(n => n == names[i]) == 1 ? names[i] : $"{names[i]} ({side[0].Run.Id})";
                return side.Select(run => new FigureRun(run, name));
            }),
        ];
    }

    /// <summary>"mongod 6.0.5, standalone · 2 cores, 24 GiB · run 2026-11-21-a"; of several runs what each is called, and its id.</summary>
    public static string Subtitle(IReadOnlyList<FigureRun> runs)
    {
        string text = runs.Count == 1 ? ChartText.Subtitle(runs[0].Stored)
            : string.Join(" · ", runs.GroupBy(r => r.Deployment).Select(side => $"{side.Key}: {ChartText.DeploymentText(side.First().Stored.Deployment)}, run {side.First().Stored.Run.Id}"));
        double scale = runs[0].Stored.Scenario?.Scale ?? 1;
        return scale == 1 ? text : $"{text} · counts times {scale.ToString("0.########", CultureInfo.InvariantCulture)}";
    }

    private static string NameOf(StoredRun run) => run.DeploymentName ?? run.Deployment switch
    {
        null => "no server",
        { Kind: "tyrant" } => "Tokyo Tyrant",
        { ShardCount: { } shards } => shards == 1 ? "1 shard" : $"{shards} shards",
        _ => "one server",
    };
}

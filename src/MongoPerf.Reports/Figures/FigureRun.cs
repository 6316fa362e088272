using System.Globalization;
using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>A run under the name that figures and tables give to what it ran on.</summary>
/// <param name="Stored">The run.</param>
/// <param name="Deployment">The name of what it ran on: repeats of one run share it, other runs don't.</param>
/// <param name="Server">The same name without the run's id: runs that differ in nothing but their clients share it.</param>
public sealed record FigureRun(StoredRun Stored, string Deployment, string Server)
{
    private const int MostWithIds = 4;

    public static IReadOnlyList<FigureRun> Of(StoredRun run) => Of([[run]]);

    /// <param name="sides">The sides of a comparison, each with its repeats.</param>
    public static IReadOnlyList<FigureRun> Of(IReadOnlyList<IReadOnlyList<StoredRun>> sides)
    {
        string[] names = [.. sides.Select(side => NameOf(side[0]))];
        return
        [
            .. sides.SelectMany((side, i) =>
            {
                string name = names.Count(n => n == names[i]) == 1 ? names[i] : $"{names[i]} ({side[0].Run.Id})";
                return side.Select(run => new FigureRun(run, name, names[i]));
            }),
        ];
    }

    /// <summary>
    /// Writes "mongod 6.0.5, standalone · 2 cores, 24 GiB · run 2026-11-21-a"; of several runs what each is called, and its id, which is
    /// left out
    /// where there are too many for a line.
    /// </summary>
    public static string Subtitle(IReadOnlyList<FigureRun> runs)
    {
        (string Name, StoredRun Run)[] sides = [.. runs.GroupBy(r => r.Deployment).Select(side => (side.Key, side.First().Stored))];
        string text = runs.Count == 1 ? ChartText.Subtitle(runs[0].Stored)
            : string.Join(" · ", sides.Length <= MostWithIds
                ? sides.Select(side => Words.Of($"{side.Name}: {ChartText.DeploymentText(side.Run)}, run {side.Run.Run.Id}"))
                : sides.GroupBy(side => ChartText.DeploymentText(side.Run))
                    .Select(alike => $"{string.Join(", ", alike.Select(side => side.Name))}: {alike.Key}"));
        double scale = runs[0].Stored.Settings.Plan.Overrides.Scale;
        return scale == 1 ? text : Words.Of($"{text} · scale {scale.ToString("0.########", CultureInfo.InvariantCulture)}");
    }

    private static string NameOf(StoredRun run) => run.DeploymentName
        ?? ServerOf(run.Deployment) + (run.Settings.Engine.Kind == EngineKind.Wire ? "" : $", {run.Settings.Engine.Text}");

    private static string ServerOf(DeploymentInfo? deployment) => deployment switch
    {
        null => Words.Of("no server"),
        { OtherSystem: { } system } => system,
        { ShardCount: { } shards } => shards == 1 ? Words.Of("1 shard") : Words.Of($"{shards} shards"),
        _ => Words.Of("one server"),
    };
}

using System.Globalization;
using MongoPerf.Storage;

namespace MongoPerf.Running.Merging;

/// <summary>Whether runs are parts of one plan, run by several clients on one deployment.</summary>
public static class MergeCheck
{
    private const int Shown = 60;

    /// <summary>
    /// What must be alike. A divided plan may be read by programs of one version only, as they divide it by the same rule.
    /// </summary>
    private static readonly (string Name, Func<StoredRun, string> Of)[] Traits =
    [
        ("scenario", run => run.Settings.Plan.Name),
        ("scenario text", run => run.Settings.Plan.Text.ReplaceLineEndings(" ")),
        ("seed", run => run.Run.Seed.ToString(CultureInfo.InvariantCulture)),
        ("options", run => RunJson.Write(run.Settings.Plan.Overrides)),
        ("target", run => run.Settings.Plan.TargetDocuments.ToString(CultureInfo.InvariantCulture)),
        ("database", run => run.Settings.Data.Database),
        ("engine", run => run.Settings.Engine.Text),
        ("MongoPerf", run => run.Run.Version),
        ("server", run => run.Deployment?.NotMongoDb ?? "MongoDB"),
        ("topology", run => run.Deployment?.Topology.Text() ?? "unknown"),
        ("group of clients", run => run.Run.Part?.Group ?? "none"),
        ("number of clients", run => run.Run.Part?.Count.ToString(CultureInfo.InvariantCulture) ?? "any"),
    ];

    /// <returns>A sentence about the first thing that keeps the runs apart; null when they may be merged.</returns>
    public static string? FindFault(IReadOnlyList<StoredRun> runs)
    {
        StoredRun first = runs[0];
        foreach (StoredRun run in runs)
        {
            if (run.IsWriterAlive)
                return $"run {run.Run.Id} is still running";
            if (run.Run.Clients.Count > 0)
                return $"run {run.Run.Id} was merged already; merge the runs of the clients";
            if (run.Settings.Plan.Recording is not null && run.Run.Part is null)
                return $"run {run.Run.Id} is a whole replay; only the parts of one that --agents divided can be merged";
            if (runs.Count > 1 && run.Deployment is { } own && !own.Kind.IsGiven())
                return $"run {run.Run.Id} started a server of its own ({own.Kind.Text()}): runs that are merged were made at "
                    + "one deployment, with --uri";
            foreach ((string name, Func<StoredRun, string> of) in Traits)
            {
                if (of(run) != of(first))
                    return $"{first.Run.Id} and {run.Run.Id} are not runs of one plan: {Difference(name, of(first), of(run))}";
            }

            // An interrupted run has begun fewer phases.
            if (OtherPhase(first, run) is { } phase)
                return $"{first.Run.Id} and {run.Run.Id} are not runs of one plan: phase {phase}";
        }

        if (runs.GroupBy(run => run.Token ?? run.Folder).FirstOrDefault(same => same.Count() > 1) is { } twice)
            return $"run {twice.First().Run.Id} is named twice";
        return runs.Where(run => run.Run.Part is not null)
            .GroupBy(run => run.Run.Part!.Number).FirstOrDefault(same => same.Count() > 1) is { } part
            ? $"{string.Join(" and ", part.Select(run => run.Run.Id))} are both part {part.Key}"
            : null;
    }

    private static string? OtherPhase(StoredRun first, StoredRun run) =>
        first.Phases.Join(run.Phases, phase => phase.Number, phase => phase.Number, (one, other) => (one, other))
            .Where(pair => pair.one.Phase != pair.other.Phase || !pair.one.Parameters.SequenceEqual(pair.other.Parameters))
            .Select(pair => $"{pair.one.Number} is {pair.one.Phase} in one and {pair.other.Phase} in the other").FirstOrDefault();

    /// <summary>Says where two texts differ; of long ones it shows the place where they part.</summary>
    private static string Difference(string name, string left, string right)
    {
        int same = left.Zip(right).TakeWhile(pair => pair.First == pair.Second).Count();
        int from = Math.Max(left.Length, right.Length) <= Shown ? 0 : Math.Max(0, same - (Shown / 3));
        return $"{name} is '{Part(left)}' in one and '{Part(right)}' in the other";

        string Part(string text) =>
            text.Length <= from ? "" : string.Concat(text.Skip(from).Take(Shown)) + (text.Length > from + Shown ? "…" : "");
    }
}

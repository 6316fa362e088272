using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>When chunks migrated, as bands of a chart over time.</summary>
internal static class MigrationBands
{
    private static readonly (string Kind, ChunkEventOutcome[] Outcomes)[] Kinds =
        [("migration", [ChunkEventOutcome.Done, ChunkEventOutcome.Running]), ("migration_failed", [ChunkEventOutcome.Failed])];

    /// <param name="run">Its chunk events are read.</param>
    /// <param name="at">Unix milliseconds to seconds on the axis.</param>
    /// <param name="seconds">Length of the axis.</param>
    public static IReadOnlyList<Band> Of(StoredRun run, Func<long, double> at, double seconds)
    {
        ChunkEvent[] migrations = [.. run.ReadChunkEvents().Where(static one => one.Kind == ChunkEventKind.Migration)];
        return
        [
            .. Kinds.SelectMany(kind => Band.Joined(
                migrations.Where(one => kind.Outcomes.Contains(one.Outcome)).Select(one => (at(one.AtMilliseconds), one.EndMilliseconds is { } end ? at(end) : seconds)),
                kind.Kind, seconds)),
        ];
    }
}

using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>A stretch of the time axis that is shaded.</summary>
/// <param name="From">On the axis.</param>
/// <param name="To">On the axis.</param>
/// <param name="Color">Name of a colour in common.gp.</param>
internal sealed record Band(double From, double To, string Color);

/// <summary>When chunks migrated, as bands of a chart over time.</summary>
internal static class MigrationBands
{
    /// <summary>So many would be told apart; what lies closer becomes one.</summary>
    private const double Places = 1000;

    private static readonly (string Color, ChunkEventOutcome[] Outcomes)[] Kinds =
        [("migration", [ChunkEventOutcome.Done, ChunkEventOutcome.Running]), ("migration_failed", [ChunkEventOutcome.Failed])];

    /// <param name="run">Its chunk events are read.</param>
    /// <param name="at">Unix milliseconds to seconds on the axis.</param>
    /// <param name="seconds">Length of the axis.</param>
    public static IReadOnlyList<Band> Of(StoredRun run, Func<long, double> at, double seconds)
    {
        var bands = new List<Band>();
        foreach ((string color, ChunkEventOutcome[] outcomes) in Kinds)
        {
            Band? last = null;
            foreach (ChunkEvent migration in run.ReadChunkEvents().Where(one => one.Kind == ChunkEventKind.Migration && outcomes.Contains(one.Outcome)))
            {
                double from = at(migration.AtMilliseconds);
                double to = migration.EndMilliseconds is { } end ? at(end) : seconds;
                // On an axis with pauses cut out, what happened in a pause has no width.
                if (to <= from)
                    continue;
                var band = new Band(from, Math.Min(seconds, Math.Max(to, from + (seconds / Places))), color);
                if (last is not null && band.From - last.To < seconds / Places)
                {
                    last = last with { To = Math.Max(last.To, band.To) };
                    bands[^1] = last;
                }
                else
                {
                    bands.Add(last = band);
                }
            }
        }

        return bands;
    }
}

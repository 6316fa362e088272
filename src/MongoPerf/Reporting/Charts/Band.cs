using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>A stretch of an axis that is shaded.</summary>
/// <param name="From">On the axis.</param>
/// <param name="To">On the axis.</param>
/// <param name="Kind">What happened: the name of a colour of <see cref="Palette"/>, or one that the page alone shows.</param>
/// <param name="Text">More about it, for those who ask.</param>
internal sealed record Band(double From, double To, string Kind, string Text = "")
{
    /// <summary>So many would be told apart; what lies closer becomes one.</summary>
    private const double Places = 1000;

    /// <summary>Each wide enough to be seen.</summary>
    /// <param name="stretches">On the axis, by their beginning.</param>
    /// <param name="kind">Of all.</param>
    /// <param name="seconds">Length of the axis.</param>
    public static IEnumerable<Band> Joined(IEnumerable<(double From, double To)> stretches, string kind, double seconds)
    {
        double narrowest = seconds / Places;
        Band? last = null;
        // On an axis with pauses cut out, what happened in a pause has no width.
        foreach ((double from, double to) in stretches.Where(static stretch => stretch.To > stretch.From))
        {
            var band = new Band(from, Math.Min(seconds, Math.Max(to, from + narrowest)), kind);
            if (last is not null && band.From - last.To < narrowest)
            {
                last = last with { To = Math.Max(last.To, band.To) };
                continue;
            }

            if (last is not null)
                yield return last;
            last = band;
        }

        if (last is not null)
            yield return last;
    }
}

/// <summary>When other programs used the machine, as bands of a chart over time.</summary>
internal static class OtherLoadBands
{
    public const string Kind = "others";

    /// <summary>The seconds in which they used as much as a verdict would name.</summary>
    /// <param name="run">Its host samples are read.</param>
    /// <param name="axis">Of time.</param>
    public static IEnumerable<Band> Of(StoredRun run, TimeAxis axis) => run.Environment is not { CpuCount: > 0 } ? [] : Band.Joined(
        HostSecond.Of(run).Where(second => second.OtherCores >= OtherLoad.NotedShare * second.Cores).OrderBy(second => second.FromMilliseconds).Select(second => (axis.At(second.FromMilliseconds), axis.At(second.ToMilliseconds))),
        Kind, axis.Seconds);
}

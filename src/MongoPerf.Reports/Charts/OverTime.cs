using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>What charts over time have in common.</summary>
internal static class OverTime
{
    /// <summary>Makes a chart of the whole run, with marks and bands for what happened.</summary>
    /// <param name="run">Whose chart it is.</param>
    /// <param name="name">The name of the chart's files.</param>
    /// <param name="title">The title above the picture.</param>
    /// <param name="howToRead">A sentence for the report.</param>
    /// <param name="panels">The panels; at least one.</param>
    public static Chart Chart(StoredRun run, string name, string title, string howToRead, IReadOnlyList<Panel> panels)
    {
        TimeAxis axis = OperationSeconds.Of(run).Axis;
        (AxisScale time, string unit) = AxisScale.OfTime(axis.Seconds);
        time = time with
        {
            Label = Words.Of($"time since the start ({unit}{(axis.Pauses.Any() ? Words.Of("; pauses are cut out") : "")})"),
        };
        return new Chart(name, title, howToRead + DocumentsHint(run), time, [.. panels.Select(panel => panel.In(name))])
        {
            Subtitle = ChartText.Subtitle(run),
            Top = Documents(run, axis.At, axis.Seconds),
            Marks = [.. Happenings.Marks(run, axis)],
            Bands = Happenings.Bands(run, axis),
        };
    }

    /// <summary>
    /// Makes the scale along the top: the collection's size at the end of each step, as many as there is room for; null where nothing grew.
    /// </summary>
    public static AxisScale? Documents(StoredRun run, Func<long, double> at, double seconds)
    {
        double nearest = seconds / 14;
        var ticks = new List<Tick>();
        foreach (var checkpoint in run.Checkpoints.Where(static checkpoint => checkpoint.Documents > 0))
        {
            double place = at(checkpoint.AtMilliseconds);
            if (ticks.Count == 0 || place - ticks[^1].At >= nearest)
                ticks.Add(new Tick(place, AxisScale.AboutText(checkpoint.Documents, 3)));
        }

        return ticks.Count == 0 ? null : new AxisScale(seconds, ticks) { Label = Words.Of("documents") };
    }

    /// <summary>A sentence for the reader of a chart with <see cref="Documents"/>; empty for one that has none.</summary>
    public static string DocumentsHint(StoredRun run) =>
        run.Checkpoints.Any(static checkpoint => checkpoint.Documents > 0)
            ? Words.Of(" The numbers along the top are documents in the collection at the end of each step.")
            : "";
}

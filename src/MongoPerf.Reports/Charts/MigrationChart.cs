using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>
/// Rates second by second with the migrations shaded: averages over a whole step or phase hide what they cost. A panel for each operation,
/// since their rates differ by orders.
/// </summary>
internal static class MigrationChart
{
    /// <summary>
    /// Draws inserts, and what else a scenario's phases did while chunks migrated; queries of a growth are in its own charts. Null unless
    /// shards were looked at meanwhile.
    /// </summary>
    public static Chart? Build(StoredRun run, OperationSeconds seconds, PlotInfo plot)
    {
        if (!run.ReadShardSamples().Any())
            return null;
        var all = new Lines(run, seconds, line => line.IsInsert || line is { IsOfGrowth: false, IsRepeated: true });
        if (all.Bands.Count > 0 && all.Places.Any(line => !seconds.Lines[line].IsInsert))
            return Draw(run, seconds, plot, all, Words.Of("time spent in these operations"), Words.Of("the rest is cut out"));
        var inserts = new Lines(run, seconds, line => line.IsInsert);
        return inserts.Places.Length == 0 ? null
            : Draw(run, seconds, plot, inserts, Words.Of("time spent inserting"), Words.Of("queries are cut out"));
    }

    private static Chart? Draw(StoredRun run, OperationSeconds seconds, PlotInfo plot, Lines lines, string spent, string leftOut)
    {
        WorkAxis axis = lines.Axis;
        var builder = new PanelBuilder(lines.Places.Length, axis.Seconds, RunPanels.LongestGap);
        (AxisScale time, string unit) = AxisScale.OfTime(axis.Seconds);
        IReadOnlyList<Series> rates = RunPanels.Rates(seconds, lines.Places, axis.At, builder, plot.Name + ".csv");
        IEnumerable<Panel> own = lines.Places.Zip(rates, (line, rate) => PanelOf(seconds.Lines[line], rate));
        Panel[] panels = [.. own.Select(one => plot.Panels[0].Of(one)).OfType<Panel>()];
        return panels.Length == 0 ? null : new Chart(
            plot.Name, plot.TitleWith(), plot.Reading + OverTime.DocumentsHint(run),
            time with { Label = $"{spent} ({unit}; {leftOut})" }, panels)
        {
            Subtitle = ChartText.Subtitle(run),
            Top = OverTime.Documents(run, axis.At, axis.Seconds),
            Bands = [.. lines.Bands.Where(band => plot.Bands.Contains(band.Kind))],
        };
    }

    private static Panel PanelOf(OperationLine line, Series rate) =>
        new(line.IsInsert ? Words.Of("documents/s") : Words.Of("operations/s"), AxisScale.OfCount(rate.Largest, 4), [rate]);

    /// <summary>Operations, the axis of the time spent in them, and the migrations on it.</summary>
    private sealed class Lines
    {
        public Lines(StoredRun run, OperationSeconds seconds, Func<OperationLine, bool> isWanted)
        {
            Places = [.. Enumerable.Range(0, seconds.Lines.Count)
                .Where(line => !seconds.Lines[line].IsTotal && isWanted(seconds.Lines[line])).Take(Panel.MostLines)];
            Axis = new WorkAxis(seconds.All.Where(second => Places.Contains(second.Line)));
            Bands = Places.Length == 0 ? [] : Happenings.Migrations(run, Axis.At, Axis.Seconds);
        }

        /// <summary>The places of the operations in <see cref="OperationSeconds.Lines"/>.</summary>
        public int[] Places { get; }

        public WorkAxis Axis { get; }

        public IReadOnlyList<Band> Bands { get; }
    }
}

using MongoPerf.Reports.Charts;

namespace MongoPerf.Tests.Reports.Charts;

public sealed class ChartLayoutTests
{
    private static readonly ChartTable Table = Filled();

    [Fact]
    public void Marks_of_one_kind_that_lie_on_each_other_are_counted_together_and_others_get_rows_of_their_own()
    {
        Chart chart = Of(["a"]) with
        {
            Marks = [new Mark(50, "outage"), new Mark(10, "reconnect"), new Mark(10.5, "reconnect"), new Mark(50.5, "restarted")],
        };

        var layout = new ChartLayout(chart);

        Assert.Equal([("reconnect ×2", 10.0, 1), ("outage", 50, 1), ("restarted", 50.5, 2)],
            layout.Marks.Select(mark => (mark.Text, mark.X, mark.Row)));
        Assert.True(layout.MarkY(layout.Marks[2]) < layout.MarkY(layout.Marks[1]) && layout.MarkY(layout.Marks[1]) < layout.Panels[0].Top);
    }

    [Fact]
    public void A_verdict_has_rows_that_fit_and_what_is_below_makes_room_for_them()
    {
        string sentence = "two shards with as much in all: rate 78 % slower (ratio 0.22, 95 %: 0.18 to 0.28); p50 4.3 times as high (ratio "
            + "4.26, 95 %: 3.40 to 5.26); p99 5 times as high (ratio 5.04, 95 %: 3.11 to 8.47)";

        var one = new ChartLayout(Of(["a"]) with { Verdict = "equivalent" });
        var layout = new ChartLayout(Of(["a"]) with { Verdict = $"{sentence}\n{sentence}" });

        string[] rows = layout.Verdict.Split('\n');
        Assert.Equal($"{sentence} {sentence}", string.Join(' ', rows));
        Assert.Equal(4, rows.Length);
        Assert.All(rows, row => Assert.InRange(row.Length, 1, 150));
        Assert.Equal(3 * 28, layout.Panels[0].Top - one.Panels[0].Top, 0.1);
    }

    /// <summary>Found beside a mix of long names: the picture's edge cut them off where they were still alike.</summary>
    [Fact]
    public void Long_names_beside_a_panel_are_shortened_and_still_differ()
    {
        string[] titles =
            ["total", "find the orders of one customer by date", "find the orders of one customer by state", "wrapped\nby itself"];

        string[] shown = [.. new ChartLayout(Of(titles)).NamedBeside(0).Select(series => series.Title)];

        Assert.Equal(["total", "…one customer by date", "…one customer by state", "wrapped\nby itself"], shown);
    }

    [Theory]
    [InlineData(new[] { "q4", "q5", "q6" }, new[] { "o1", "o2", "o3" }, 1)]
    [InlineData(new[] { "q4, 8 threads", "q5, 8 threads", "q4, 1 thread", "q5, 1 thread" }, new[] { "o1", "o2", "o1", "o2" }, 2)]
    [InlineData(new[]
    {
        "baseline: a server whose name is so long that there is room for no other beside it, standalone, with a cache of 11.3 GiB, "
        + "on two cores and 24 GiB of memory",
        "candidate",
    }, new[] { "s1", "s2" }, 2)]
    public void Legend_above_has_a_row_for_all_or_a_row_for_each_way_or_one_below_the_other(string[] titles, string[] colors, int rows)
    {
        Chart chart = Of(titles, colors) with { HasLegendAbove = true };

        var legend = new ChartLayout(chart).LegendAbove;

        Assert.Equal(titles, legend.Select(one => one.Series.Title));
        Assert.Equal(rows, legend.Select(one => one.Y).Distinct().Count());
        Assert.All(legend.GroupBy(one => one.Y), row => Assert.Equal(row.Count(), row.Select(one => one.X).Distinct().Count()));
    }

    [Fact]
    public void Lines_that_all_panels_have_are_named_beside_the_first_and_others_beside_each()
    {
        Panel panel = Of(["a", "b"]).Panels[0];
        Panel other = Of(["a", "c"]).Panels[0];

        var same = new ChartLayout(Of(["a", "b"]) with { Panels = [panel, panel] });
        var unlike = new ChartLayout(Of(["a", "b"]) with { Panels = [panel, other] });

        Assert.Empty(same.NamedBeside(1));
        Assert.Equal(["a", "c"], unlike.NamedBeside(1).Select(series => series.Title));
    }

    [Fact]
    public void Panels_below_each_other_and_in_a_grid_lie_within_the_picture_and_none_on_another()
    {
        Panel panel = Of(["a"]).Panels[0];
        foreach (int columns in new[] { 1, 2, 4 })
        {
            var layout = new ChartLayout(
                Of(["a"]) with { Panels = [.. Enumerable.Repeat(panel, 7)], Columns = columns, HasLegendAbove = columns > 1 });

            Assert.All(layout.Panels, place => Assert.True(place.Left >= 0 && place.Right <= ChartLayout.UsualWidth && place.Top >= 0
                && place.Bottom < layout.Height && place.Left < place.Right && place.Top < place.Bottom));
            Assert.All(layout.Panels.SelectMany((a, i) => layout.Panels.Skip(i + 1).Select(b => (a, b))),
                pair => Assert.True(pair.a.Right < pair.b.Left || pair.a.Bottom < pair.b.Top || pair.b.Right < pair.a.Left));
        }
    }

    [Fact]
    public void A_low_picture_has_panels_as_low_as_their_legends_and_then_smaller_letters()
    {
        Chart[] legends = [.. new[] { 1, 7, 2, 5, 1, 3, 2, 1 }
            .Select(static count => Of([.. Enumerable.Range(1, count).Select(i => $"line {count} {i}")]))];
        Chart chart = legends[0] with { Panels = [.. legends.Select(static one => one.Panels[0])] };
        ChartLayout.Fit(chart, 1200, null, out double least);
        Assert.InRange(least, 400, 600);
        foreach (double height in new[] { 1500, 1100, 800, least })
        {
            ChartLayout layout = ChartLayout.Fit(chart, 1200, height, out _);
            Assert.False(layout.IsTooLow, $"{height}: {layout.Height} of {layout.LeastHeight}");
            Assert.Equal((1200, height), (Math.Round(layout.Width * layout.Scale), Math.Round(layout.Height * layout.Scale)));
            Assert.InRange(layout.Scale, 0.4, 1);
            Assert.All(layout.Panels.Index(), one => Assert.True(
                layout.LegendTop + (layout.LegendRow * (layout.NamedBeside(one.Index).Count() - 0.5)) <= one.Item.Bottom - one.Item.Top,
                $"{height}: {one}"));
            Assert.All(layout.Panels.Zip(layout.Panels.Skip(1)), static pair => Assert.True(pair.First.Bottom + 18 < pair.Second.Top));
        }

        Assert.True(ChartLayout.Fit(chart, 1200, least - 2, out _).IsTooLow);
        Assert.Equal(1, ChartLayout.Fit(chart, 1600, null, out _).Scale);
        Assert.Equal(0.5, ChartLayout.Fit(chart, 450, null, out _).Scale);
    }

    private static Chart Of(string[] titles, string[]? colors = null) => new(
        "x", "Title", "", new AxisScale(100, [new Tick(0, "0"), new Tick(100, "100")]),
        [new Panel("rate", AxisScale.OfCount(10),
            [.. titles.Select((title, i) => new Series(Table, 1, title, colors?[i] ?? Palette.OfLine(i)))])]);

    private static ChartTable Filled()
    {
        var table = new ChartTable("x.csv", ["at", "value"]);
        table.Add([1, 10]);
        return table;
    }
}

using System.Buffers.Binary;
using System.Text;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Figures;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports.Figures;

/// <summary>Which results a figure or a table takes, and what it does with them.</summary>
public sealed class FigureTests : IDisposable
{
    private static readonly FigureInfo ByRecords = new()
    {
        Title = "Figure 1", X = "records", Y = ["rate"], Lines = "phase", Of = new ResultChoice { Phases = ["a", "b"] },
    };

    private static readonly TableInfo Published = new()
    {
        Title = "Throughput", Rows = ["deployment", "records"], Columns = "phase", Values = ["rate"],
        Of = new ResultChoice { Phases = ["a", "b"] },
    };

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void What_is_no_finite_number_is_a_name()
    {
        Assert.True(FigureAxis.Of(["1", "64MB"]).IsNumeric);
        Assert.False(FigureAxis.Of(["1", "Infinity"]).IsNumeric);
        Assert.False(FigureAxis.Of(["NaN"]).IsNumeric);
    }

    [Fact]
    public void Titles_of_figures_that_nobody_asked_for_are_told_in_Chinese()
    {
        using IDisposable chinese = Words.In(Language.Chinese);
        Assert.All(Draw(new SweptRun { Threads = [1, 8] }), chart => Assert.DoesNotContain("rate", chart.Title, StringComparison.Ordinal));
    }

    [Fact]
    public void Lines_come_in_the_order_that_was_asked_for_and_rates_of_operations_are_added_up()
    {
        Chart chart = Assert.Single(Draw(new SweptRun { Figures = [ByRecords] }));
        Assert.Equal(["records", "a rate", "b rate"], chart.Tables[0].Columns);
        Assert.Equal([[1e6, 1401, 1400], [1e7, 10401, 10400], [6e7, 60401, 60400]], chart.Tables[0].Rows);
        Assert.True(chart.X.IsLogarithmic);
        Assert.Equal([new(1e6, "1M"), new(1e7, "10M"), new(6e7, "60M")], chart.X.Ticks);
        Assert.Contains("scale 0.01", chart.Subtitle, StringComparison.Ordinal);
    }

    [Fact]
    public void What_differs_and_is_not_named_is_told_apart()
    {
        Chart chart = Assert.Single(Draw(new SweptRun { Threads = [1, 8], Figures = [ByRecords] }));
        Assert.Equal(
            ["records", "a, 1 thread rate", "a, 8 threads rate", "b, 1 thread rate", "b, 8 threads rate"], chart.Tables[0].Columns);
        Assert.Equal([1e6, 1101, 1801, 1100, 1800], chart.Tables[0].Rows[0]);
    }

    [Fact]
    public void Latencies_are_told_apart_by_operation_and_the_total_has_none()
    {
        FigureInfo figure = ByRecords with { Y = ["rate", "p99"], Lines = null, Of = new ResultChoice { Phases = ["a"] } };
        Chart chart = Draw(new SweptRun { Figures = [figure] }).Single(c => c.Title == "Figure 1");
        Assert.Equal(["records", "total rate", "read rate", "write rate", "total p99", "read p99", "write p99"], chart.Tables[0].Columns);
        Assert.Equal([1e6, 1401, 1050.75, 350.25, double.NaN, 400, 800], chart.Tables[0].Rows[0]);
    }

    [Fact]
    public void One_operation_alone_is_taken_where_it_is_named()
    {
        FigureInfo figure = ByRecords with { Of = new ResultChoice
        {
            Phases = ["a"], Operations = ["write"], Where = [new("records", "10M"), new("distribution", "zipfian")],
        } };
        Assert.Equal([[1e7, 10401 * 0.25]], Draw(new SweptRun { Figures = [figure] }).Single(c => c.Title == "Figure 1").Tables[0].Rows);
    }

    [Fact]
    public void Names_get_bars_and_numbers_none()
    {
        Assert.True(Assert.Single(Draw(new SweptRun { Figures = [ByRecords with { X = "phase", Lines = "records" }] })).X.IsOfNames);
        Assert.False(Assert.Single(Draw(new SweptRun { Id = "2026-11-21-b", Figures = [ByRecords] })).X.IsOfNames);
    }

    [Fact]
    public void Figure_of_a_deployment_that_did_not_run_is_left_out_and_said()
    {
        FigureInfo[] figures =
        [
            ByRecords with { Of = new ResultChoice { Where = [new("deployment", "1 shard")] } },
            ByRecords with { Title = "Figure 2", Of = new ResultChoice { Where = [new("deployment", "2 shards")] } },
        ];
        using StoredRun run = new SweptRun { Shards = 2, Figures = figures }.Write(_folder.Path);
        Assert.Equal(["Figure 2"], ScenarioFigures.Of(FigureRun.Of(run)).Select(c => c.Title));
        Assert.Equal(["no figure 'Figure 1': it shows 1 shard, but this run used 2 shards"], ScenarioFigures.LeftOut(FigureRun.Of(run)));
        Assert.Contains(RunVerdicts.Of(run), v => v.Text.StartsWith("no figure 'Figure 1'", StringComparison.Ordinal));
    }

    [Fact]
    public void Runs_of_a_comparison_are_one_more_dimension()
    {
        using StoredRun one = new SweptRun
        {
            Shards = 1, Figures = [ByRecords with { Of = new ResultChoice { Phases = ["a"] } }], Tables = [Published],
        }.Write(_folder.Path);
        using StoredRun two = new SweptRun { Id = "2026-11-21-b", Deployment = "two machines", Speed = 2 }.Write(_folder.Path);
        IReadOnlyList<FigureRun> runs = FigureRun.Of([[one], [two]]);
        Chart chart = ScenarioFigures.Of(runs)[0];
        Assert.Equal(["records", "a, 1 shard rate", "a, two machines rate"], chart.Tables[0].Columns);
        Assert.Equal([1e6, 1401, 2802], chart.Tables[0].Rows[0]);
        ReportTable table = Assert.Single(FigureTables.Of(runs));
        Assert.Equal(["<deployment", "<records", "a ops/s", "b ops/s"], table.Columns);
        Assert.Equal(["1 shard", "1M", "1,401", "1,400"], table.Rows[0]);
        Assert.Equal(["two machines", "60M", "120,802", "120,800"], table.Rows[^1]);
    }

    [Fact]
    public void Comparison_has_the_scenarios_figures_first_and_says_what_is_left_out()
    {
        FigureInfo elsewhere = ByRecords with { Title = "Elsewhere", Of = new ResultChoice { Where = [new("deployment", "3 shards")] } };
        using StoredRun one = new SweptRun { Shards = 1, Figures = [ByRecords, elsewhere], Tables = [Published] }.Write(_folder.Path);
        using StoredRun two = new SweptRun { Id = "2026-11-21-b", Shards = 2 }.Write(_folder.Path);
        RunComparison comparison = RunComparer.Compare([new ComparedSide([one]), new ComparedSide([two])], [], 0.05);
        Assert.Equal("figure-1", ComparisonCharts.Build(comparison).Charts[0].Name);
        Assert.Equal("Throughput", ComparisonTables.Of(comparison).First().Title);
        Assert.Contains("no figure 'Elsewhere': it shows 3 shards, but these runs used 1 shard, 2 shards", comparison.Notes);
    }

    [Fact]
    public void Runs_of_one_name_are_told_apart_by_their_ids_and_repeats_are_not()
    {
        using StoredRun one = new SweptRun { Figures = [ByRecords] }.Write(_folder.Path);
        using StoredRun again = new SweptRun { Id = "2026-11-21-b", Speed = 3 }.Write(_folder.Path);
        Assert.Equal(["one server (2026-11-21-a)", "one server (2026-11-21-b)"], FigureRun.Of([[one], [again]]).Select(r => r.Deployment));
        IReadOnlyList<FigureRun> repeats = FigureRun.Of([[one, again]]);
        Assert.Equal(["one server", "one server"], repeats.Select(r => r.Deployment));
        Assert.Equal([1e6, 2802, 2800], ScenarioFigures.Of(repeats)[0].Tables[0].Rows[0]);
    }

    [Fact]
    public void Runs_by_one_two_and_four_clients_are_points_of_one_line()
    {
        FigureInfo figure = new()
        {
            Title = "Machines", X = "clients", Y = ["rate"], Lines = "phase", Of = new ResultChoice { Phases = ["a", "b"] },
        };
        using StoredRun one = new SweptRun { Id = "2026-11-21-a", Millions = [1], Figures = [figure] }.Write(_folder.Path);
        using StoredRun two =
            new SweptRun { Id = "2026-11-21-b", Millions = [1], Clients = 2, Speed = 2, Figures = [figure] }.Write(_folder.Path);
        using StoredRun four =
            new SweptRun { Id = "2026-11-21-c", Millions = [1], Clients = 4, Speed = 3, Figures = [figure] }.Write(_folder.Path);
        Chart chart = ScenarioFigures.Of(FigureRun.Of([[one], [two], [four]])).Single(c => c.Title == "Machines");
        Assert.Equal(["clients", "a rate", "b rate"], chart.Tables[0].Columns);
        Assert.Equal([[1, 1401, 1400], [2, 2802, 2800], [4, 4203, 4200]], chart.Tables[0].Rows);
        Assert.DoesNotContain(ScenarioFigures.Of(FigureRun.Of(two)), c => c.Title == "Machines");
        Assert.Empty(ScenarioFigures.LeftOut(FigureRun.Of(two)));
    }

    [Fact]
    public void Time_begins_with_the_phase_and_what_servers_did_stands_below()
    {
        FigureInfo figure = new() { Title = "Time", X = "time", Y =
        [
            "rate", "documents", "page_faults", "mem_resident",
        ], Lines = "records", Of = new ResultChoice { Phases = ["a"] } };
        Chart chart = Draw(new SweptRun { Figures = [figure] }).Single(c => c.Title == "Time");
        Assert.Equal(["figure-1-1.csv", "figure-1-2.csv", "figure-1-3.csv", "figure-1-1-server.csv", "figure-1-2-server.csv",
            "figure-1-3-server.csv"], chart.Tables.Select(t => t.FileName));
        Assert.Equal(["seconds", "rate", "documents"], chart.Tables[0].Columns);
        // Reads and writes together: 1401 operations in the first second, one second more in each further one (whole operations each).
        Assert.Equal([[1, 1400, 1e6], [2, 2801, 1e6], [3, 4202, 1e6]], chart.Tables[0].Rows);
        Assert.Equal(["seconds", "page_faults", "mem_resident"], chart.Tables[3].Columns);
        // The frozen counters grow by 100 a second.
        Assert.Equal(100, chart.Tables[3].Rows[^1][1]);
        Assert.Contains(chart.Panels, panel => panel.Title == "Page faults/s");
    }

    /// <summary>Found where what a phase wrote was on disk before its size was taken: each line ended in a peak of the disk's.</summary>
    [Fact]
    public void What_servers_did_ends_with_the_phase_too()
    {
        FigureInfo figure = new() { Title = "Time", X = "time", Y = ["rate", "mem_resident"], Of = new ResultChoice { Phases = ["a"] } };
        using StoredRun run = new SweptRun { Millions = [1], Phases = ["a"], Figures = [figure], SecondsAfter = 3 }.Write(_folder.Path);
        Assert.Equal([0.8, 1.8, 2.8], ScenarioFigures.Of(FigureRun.Of(run)).Single().Tables[1].Rows.Select(row => row[0]));
    }

    /// <summary>Found where the third deployment of a comparison had no lines.</summary>
    [Fact]
    public void Figure_with_more_lines_than_can_be_told_apart_becomes_several()
    {
        FigureInfo figure = new() { Title = "Time", X = "time", Y = ["rate"], Lines = "records", Of = new ResultChoice { Phases = ["a"] } };
        using StoredRun one = new SweptRun { Millions = [1, 2, 3, 4, 5], Figures = [figure] }.Write(_folder.Path);
        using StoredRun two =
            new SweptRun { Id = "2026-11-21-b", Millions = [1, 2, 3, 4, 5], Deployment = "two machines" }.Write(_folder.Path);
        Chart[] parts = [.. ScenarioFigures.Of(FigureRun.Of([[one], [two]]))
            .Where(c => c.Title.StartsWith("Time", StringComparison.Ordinal))];
        Assert.Equal(["Time (records=1M)", "Time (records=2M)", "Time (records=3M)", "Time (records=4M)", "Time (records=5M)"],
            parts.Select(c => c.Title));
        Assert.Equal(["figure-1-1", "figure-1-2", "figure-1-3", "figure-1-4", "figure-1-5"], parts.Select(c => c.Name));
        Assert.All(parts, c => Assert.Equal(["one server", "two machines"], c.Panels[0].Series.Select(line => line.Title)));
        Assert.All(parts, c => Assert.DoesNotContain("Only the first", c.HowToRead, StringComparison.Ordinal));
        Assert.Equal([1400.0, 2400, 3400, 4400, 5400], parts.Select(c => c.Tables[0].Rows[0][1]));
    }

    /// <summary>More than a dozen charts, or charts of a line each, would compare nothing.</summary>
    [Theory]
    [InlineData(13, true, 26)]
    [InlineData(9, false, 9)]
    public void Figure_stays_one_where_its_parts_would_be_too_many_or_have_a_line_each(int values, bool isCompared, int lines)
    {
        FigureInfo figure = new() { Title = "Time", X = "time", Y = ["rate"], Lines = "records", Of = new ResultChoice { Phases = ["a"] } };
        using StoredRun one = new SweptRun { Millions = [.. Enumerable.Range(1, values)], Figures = [figure] }.Write(_folder.Path);
        using StoredRun two = new SweptRun { Id = "2026-11-21-b", Millions = [.. Enumerable.Range(1, values)], Deployment = "two machines" }
            .Write(_folder.Path);
        IReadOnlyList<FigureRun> runs = isCompared ? FigureRun.Of([[one], [two]]) : FigureRun.Of(one);
        Chart chart = ScenarioFigures.Of(runs).Single(c => c.Title.StartsWith("Time", StringComparison.Ordinal));
        Assert.EndsWith($" Only the first 8 of {lines} lines are shown.", chart.HowToRead, StringComparison.Ordinal);
    }

    [Fact]
    public void Phases_without_a_figure_get_one_over_their_parameter()
    {
        IReadOnlyList<Chart> charts = Draw(new SweptRun { Figures = [ByRecords with { Of = new ResultChoice { Phases = ["a"] } }] });
        Assert.Equal([("figure-1", "Figure 1"), ("sweep-1", "b: rate and latency by records")], charts.Select(c => (c.Name, c.Title)));
        Assert.Equal(["b: rate by records", "a: rate by records"],
            Draw(new SweptRun { Id = "2026-11-21-b", Threads = [1, 8] }).Select(c => c.Title));
    }

    /// <summary>Any scenario file may ask for it.</summary>
    [Fact]
    public void Documents_are_an_axis_along_which_a_growth_is_followed()
    {
        FigureInfo figure = new() { Title = "Over size", X = "documents", Y = ["rate", "storageSize"], Lines = "phase" };
        Chart chart = Assert.Single(Draw(new SweptRun { IsGrowth = true, Figures = [figure] }));
        Assert.Equal(
            ["documents", "b rate", "a rate", "size rate", "b storageSize", "a storageSize", "size storageSize"], chart.Tables[0].Columns);
        Assert.Equal([1e7, 10400, 10401, double.NaN, double.NaN, double.NaN, 1.1e10], chart.Tables[0].Rows[1]);
        Assert.Equal("documents in the collection", chart.X.Label);
    }

    /// <summary>Files have 1,160 bytes for each document, indexes included.</summary>
    [Fact]
    public void Along_documents_it_is_marked_where_each_runs_data_outgrew_its_memory()
    {
        FigureInfo figure = new()
        {
            Title = "Over size", X = "documents", Y = ["rate"], Lines = "deployment", Of = new ResultChoice { Phases = ["a"] },
        };
        var single = new SweptRun { IsGrowth = true, Deployment = "single", MemoryLimit = 2_320_000_000, Figures = [figure] };
        using StoredRun one = single.Write(_folder.Path);
        using StoredRun two = (single with { Id = "2026-11-21-b", Deployment = "shards", Shards = 2 }).Write(_folder.Path);
        Chart chart = Assert.Single(ScenarioFigures.Of(FigureRun.Of([[one], [two]])));
        Assert.Equal(["single: files > memory limit at 2M", "shards: files > memory limit at 4M"], chart.Marks.Select(mark => mark.Kind));
    }

    /// <summary>The same documents take up the same on both sides, whose lines lie on one another.</summary>
    [Fact]
    public void Along_documents_the_axis_begins_at_0_and_a_line_shows_through_another_that_lies_on_it()
    {
        FigureInfo figure = new()
        {
            Title = "Over size", X = "documents", Y = ["rate", "storageSize"], Lines = "deployment",
            Of = new ResultChoice { Phases = ["a", "size"] },
        };
        var single = new SweptRun { IsGrowth = true, Millions = [8, 9, 10], Deployment = "single", Figures = [figure] };
        using StoredRun one = single.Write(_folder.Path);
        using StoredRun two = (single with { Id = "2026-11-21-b", Deployment = "other", Speed = 2 }).Write(_folder.Path);
        Chart chart = Assert.Single(ScenarioFigures.Of(FigureRun.Of([[one], [two]])));
        Assert.Equal((0, "0", "8M"), (chart.X.Min, chart.X.Ticks[0].Text, chart.X.Ticks[1].Text));
        Assert.Equal([(1, 1.0), (1, 1.0), (1, 1.0), (2, 0.5)],
            chart.Panels.SelectMany(panel => panel.Series).Select(line => (line.Dash, line.PointSize)));
    }

    [Fact]
    public void Sizes_of_a_growth_are_told_apart_where_they_are_no_axis()
    {
        FigureInfo figure = new() { Title = "Threads", X = "threads", Y = ["rate"], Of = new ResultChoice { Phases = ["a"] } };
        Chart chart = Assert.Single(Draw(new SweptRun { IsGrowth = true, Millions = [1, 10], Threads = [1, 8], Figures = [figure] }));
        Assert.Equal(["threads", "at 1M rate", "at 10M rate"], chart.Tables[0].Columns);
        Assert.Equal([[1, 1101, 10101], [8, 1801, 10801]], chart.Tables[0].Rows);
    }

    /// <summary>Their charts are over size.</summary>
    [Fact]
    public void Growths_get_no_figure_that_nobody_named() => Assert.Empty(Draw(new SweptRun { IsGrowth = true, Threads = [1, 8] }));

    [Fact]
    public void Tables_have_the_forms_of_the_publications()
    {
        TableInfo[] tables =
        [
            Published,
            Published with
            {
                Title = "Beside each other",
                Rows = ["records"],
                Columns = "deployment",
                Values = ["documents", "seconds", "rate"],
                Of = new ResultChoice { Phases = ["a"] },
            },
            new()
            {
                Title = "Latencies",
                Rows = ["operation", "records"],
                Values = ["rate", "mean", "min", "max", "p95", "p99"],
                Of = new ResultChoice { Phases = ["b"] },
            },
            new()
            {
                Title = "Sizes",
                Rows = ["phase"],
                Values = ["documents", "dataSize", "storageSize", "freeSize", "indexSize", "totalSize"],
                Of = new ResultChoice { Where = [new("records", "10M")] },
            },
        ];
        using StoredRun one = new SweptRun { Shards = 1, Tables = tables }.Write(_folder.Path);
        using StoredRun two = new SweptRun { Id = "2026-11-21-b", Shards = 2, Speed = 2 }.Write(_folder.Path);
        var text = new StringBuilder();
        foreach (IReadOnlyList<FigureRun> runs in (IReadOnlyList<FigureRun>[])[FigureRun.Of(one), FigureRun.Of([[one], [two]])])
        {
            using var output = new StringWriter { NewLine = "\n" };
            MarkdownReport.Write(new Report($"{runs.Count} run(s)", [], [.. FigureTables.Of(runs).Select(Section.Of)]), output);
            text.Append(output);
        }

        Approved.Check("tables.md", text.ToString());
    }

    [Theory]
    [InlineData("12", 12.0)]
    [InlineData("1.5M", 1.5e6)]
    [InlineData("10k", 1e4)]
    [InlineData("64MB", 64e6)]
    [InlineData("10%", 10.0)]
    [InlineData("number", null)]
    [InlineData("5x4000", null)]
    public void Values_that_are_numbers_are_known(string text, double? expected) => Assert.Equal(expected, FigureAxis.NumberOf(text));

    [Theory]
    [InlineData("one", "one")]
    [InlineData("a bb ccc d", "a bb\nccc d")]
    [InlineData("longer than that", "longer\nthan\nthat")]
    public void Long_texts_are_broken_at_blanks(string text, string expected) => Assert.Equal(expected, Words.Wrap(text, 5));

    [Fact]
    public void Each_kind_of_figure_is_drawn()
    {
        FigureInfo[] figures =
        [
            ByRecords,
            ByRecords with { Title = "A very long title that continues and on, so that it would leave the picture on its right side if it "
                + "kept its usual size as short ones do", X = "phase", Y = ["rate", "p99", "storageSize"], Lines = "records" },
            new() { Title = "Time", X = "time", Y = ["rate", "p99", "documents", "page_faults", "cpu_user"], Lines = "operation" },
            new() { Title = "Sizes", X = "documents", Y = ["totalSize"], Of = new ResultChoice { Phases = ["a"] } },
        ];
        using StoredRun one = new SweptRun
        {
            Shards = 1, Figures = figures, Deployment = "a deployment with a name that needs several rows beside the plot",
        }.Write(_folder.Path);
        using StoredRun two = new SweptRun { Id = "2026-11-21-b", Shards = 2, Speed = 1.7 }.Write(_folder.Path);
        string target = Environment.GetEnvironmentVariable("MONGOPERF_KEEP_CHARTS") ?? _folder.At("charts");
        foreach (IReadOnlyList<FigureRun> runs in (IReadOnlyList<FigureRun>[])[FigureRun.Of(one), FigureRun.Of([[one], [two]])])
        {
            Chart[] charts = [.. ScenarioFigures.Of(runs).Select(chart => chart with { Name = $"runs-{runs.Count}-{chart.Name}" })];
            RenderedCharts rendered = ChartRenderer.Render(new ChartSet(charts, ["runs-*"]), target);
            Assert.Empty(rendered.Warnings);
            Assert.Equal(charts.Length, rendered.Drawn.Count);
            Assert.All(rendered.Drawn, drawn =>
            {
                byte[] png = File.ReadAllBytes(drawn.PngPath);
                Assert.Equal(1600u, BinaryPrimitives.ReadUInt32BigEndian(png.AsSpan(16)));
                Assert.True(png.Length > 15_000, $"{drawn.PngPath} has only {png.Length} bytes: nearly blank");
            });
        }
    }

    private IReadOnlyList<Chart> Draw(SweptRun shape)
    {
        using StoredRun run = shape.Write(_folder.Path);
        return ScenarioFigures.Of(FigureRun.Of(run));
    }
}

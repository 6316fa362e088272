using MongoPerf.Load.Growth;
using MongoPerf.Running.Progress;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;
using Spectre.Console;

namespace MongoPerf.Tests.Progress;

/// <summary>What the terminal's live view says.</summary>
public sealed class LiveViewTests
{
    [Fact]
    public void Rate_of_a_mix_is_that_of_all_its_operations()
    {
        ProgressState state = State();
        state.OnPhaseStarted(RunParts.Phase(1, "a"), ["read", "update"]);
        state.OnSample(Second("read", 1, 300));
        state.OnSample(Second("update", 1, 100));

        Assert.StartsWith("400 operations/s", Row(state.Snapshot(), "rate"), StringComparison.Ordinal);
    }

    [Fact]
    public void Operation_that_ended_before_the_others_no_longer_counts()
    {
        ProgressState state = State();
        state.OnPhaseStarted(RunParts.Phase(1, "a"), ["read", "update"]);
        state.OnSample(Second("read", 1, 300));
        for (int second = 1; second <= 5; second++)
            state.OnSample(Second("update", second, 100));

        Assert.StartsWith("100 operations/s", Row(state.Snapshot(), "rate"), StringComparison.Ordinal);
    }

    [Fact]
    public void Time_left_of_a_sequence_counts_the_runs_that_follow()
    {
        ProgressSnapshot now = Snapshot() with
        {
            Place = new RunPlace(1, 3), Elapsed = TimeSpan.FromSeconds(40), Eta = new Eta(50, 60, 70),
        };

        Assert.Contains("(run 1 of 3)", Row(now, "run"), StringComparison.Ordinal);
        Assert.Equal("40 s elapsed, about 1 min 00 s left (50 s to 1 min 10 s)", Row(now, "time"));
        Assert.Equal("40 s elapsed, about 1 min 00 s left", Row(now with { Eta = new Eta(60, 60, 60) }, "time"));
        Assert.Equal("about 4 min 20 s left", Row(now, "all runs"));
        Assert.DoesNotContain(LiveView.Rows(now with { Place = new RunPlace(3, 3) }, 80), row => row.Name == "all runs");
    }

    [Fact]
    public void What_is_not_known_leaves_no_odd_end()
    {
        ProgressSnapshot now = Snapshot() with { Target = 0, Documents = 1200, CacheUsedBytes = 1 << 20 };

        Assert.Equal("1.2k", Row(now, "documents"));
        Assert.Equal("cache 1 MiB", Row(now, "server"));
    }

    [Fact]
    public void Sparkline_shows_the_last_values_from_zero_to_the_largest()
    {
        Assert.Equal("▁▄█", ProgressText.Sparkline([1, 4, 8], 3));
        Assert.Equal("  ▄█", ProgressText.Sparkline([50, 100], 4));
        Assert.Equal("█▁ ", ProgressText.Sparkline([900, 100, 1, 0], 3));
        Assert.Equal("   ", ProgressText.Sparkline([], 3));
    }

    /// <summary>
    /// Found as "full at about 1.48M documents" where the forecast said 250M: the journal, and another program, had taken the room.
    /// </summary>
    [Fact]
    public void The_disk_is_full_where_the_forecast_says()
    {
        ProgressState state = State();
        for (int step = 1; step <= 4; step++)
        {
            Assert.Equal(step == 1 ? "unknown" : $"{300 - (5 * (step - 1))} GB", Row(state.Snapshot(), "disk left"));
            // 300 MB of journal and 1,000 bytes a document. Somebody else takes 5 GB between any two sizes.
            state.OnHostSample(Free(300e9 - (5e9 * step)));
            state.OnStepFinished(Grown(step, step * 10_000_000L));
        }

        Assert.InRange(state.Snapshot().DocumentsWhenDiskFull!.Value, 310e6, 330e6);
        Assert.Matches("^280 GB, full at about 3[123].M documents$", Row(state.Snapshot(), "disk left"));

        static GrowthStep Grown(int step, long documents) =>
            new("grow", step, documents, [RunParts.Grown(step, "size", step, documents) with
            {
                Sizes = [RunParts.Sizes(documents) with { DiskBytes = 300_000_000 + (documents * 1000) }],
            }]);

        static MetricSample Free(double bytes)
        {
            double[] values = new double[MetricCatalogue.Host.Count];
            values[MetricCatalogue.IndexOf(MetricCatalogue.Host, "disk_free")] = bytes;
            return new MetricSample(1, "client", values);
        }
    }

    [Theory]
    [InlineData(80)]
    [InlineData(120)]
    [InlineData(41)]
    public void No_line_of_the_view_is_wider_than_the_terminal_and_none_wraps(int width)
    {
        ProgressSnapshot now = Snapshot() with
        {
            Deployment = "mongod 6.0.5, sharded cluster of three shards with three members each, 127.0.0.1:27017, "
                + "through MongoDB.Driver 3.4.0",
            Documents = 123_456_789, Target = 500_000_000, Failed = 1,
            Last = [Second("a long name of an operation of a scenario", 1, 12345)],
            Rates = [.. Enumerable.Range(0, 60).Select(i => (double)i)],
        };
        var output = new StringWriter();
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No, ColorSystem = ColorSystemSupport.NoColors, Out = new AnsiConsoleOutput(output),
        });
        console.Profile.Width = width;
        console.Write(LiveView.Draw(now, width));

        string[] lines = output.ToString().TrimEnd().Split('\n');
        // A row each, and the frame.
        Assert.Equal(10 + 2, lines.Length);
        Assert.All(lines, line => Assert.True(line.TrimEnd().Length <= width - 1, line));
    }

    [Theory]
    [InlineData("short", 80, 79)]
    [InlineData("", 80, 79)]
    public void Line_above_the_view_covers_what_was_drawn_there(string line, int width, int length) =>
        Assert.Equal(length, LiveView.Padded(line, width).Length);

    /// <summary>Words wrap as a whole; one that is too long for a row does not.</summary>
    [Theory]
    [InlineData(
        "step 1 complete: 20k documents, data 20.5 MB, storage 22 MB, indexes 5.06 MB, about 8.79 s left (8.66 s to 8.99 s)", 79, 79)]
    [InlineData("第 1 步完成：20k 个文档，数据 20.5 MB，存储 22 MB，索引 5.06 MB，大约还剩 8.79 s（8.66 s 到 8.99 s），磁盘还能用很久", 79, 79)]
    [InlineData("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 159)]
    public void Line_that_wraps_covers_the_rest_of_each_row_too(string line, params int[] widths) =>
        Assert.Equal(widths, LiveView.Padded(line, 80).Split('\n').Select(Words.Width));

    private static string Row(ProgressSnapshot now, string name) => LiveView.Rows(now, 200).First(row => row.Name == name).Value;

    private static ProgressSnapshot Snapshot() => State().Snapshot();

    private static ProgressState State()
    {
        const string Text = "data: {c: {count: 10, document: {n: ^number}}}\n"
            + "phases: [{name: a, duration: 60s, operations: [{find: c, key: uniform}]}]\n";
        return new ProgressState(
            "2026-11-21-a", PlanReader.Read(new ScenarioFile("test", "test.yaml", Text), new PlanOverrides(), 42).Plan, new RunPlace(1, 1));
    }

    private static Sample Second(string operation, int second, long operations) => RunParts.Sample(1) with
    {
        AtMilliseconds = RunParts.Start.AddSeconds(second).ToUnixTimeMilliseconds(), Phase = 1, Operation = operation, Seconds = 1,
        Operations = operations, Documents = operations,
    };
}

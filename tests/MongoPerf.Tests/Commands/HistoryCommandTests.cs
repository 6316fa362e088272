using System.Text.Json;
using MongoPerf.Measurement;
using MongoPerf.Reports.Histories;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary><c>history</c> on stored runs, without any server.</summary>
[Collection(ConsoleTests.Name)]
public sealed class HistoryCommandTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_scenario_without_a_change_is_said_to_have_none()
    {
        WriteAll(20, _ => 1);
        (int code, string output, string errors) = Run("series", "--fail-on-regression");
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains("series did not change over 20 runs.", output, StringComparison.Ordinal);
        Assert.Contains("no change beyond 5 %: batch rate, batch p99, q4 rate, q4 p99", output, StringComparison.Ordinal);
        Assert.True(File.Exists(_runs.At("history-series/index.html")));
        Assert.True(File.Exists(_runs.At("history-series/charts/history.csv")));
        // The folder is none of a run.
        Assert.Equal(20, RunCatalogue.List(_runs.Path).Count);
    }

    [Fact]
    public void A_change_among_the_newest_runs_ends_with_code_10_and_says_what_else_changed()
    {
        WriteAll(20, i => i < 15 ? 1 : 0.7, version: i => i < 15 ? "6.0.5" : "7.0.2");
        (int code, string output, _) = Run("series", "--metric", "q4.rate");
        Assert.Equal(0, code);
        Assert.Contains("series is worse in its newest runs: q4 rate.", output, StringComparison.Ordinal);
        Assert.Matches(@"q4 rate 30 % lower since r15 \(ratio 0\.70, p 0\.00\d\d\); together with deployment: mongod 6\.0\.5, standalone, "
            + "WiredTiger cache 256 MiB → mongod 7\\.0\\.2, standalone, WiredTiger cache 256 MiB", OneLine(output));
        (code, _, string errors) = Run("series", "--fail-on-regression");
        Assert.Equal(10, code);
        Assert.Contains("exit code 10: compare or history found a regression", errors, StringComparison.Ordinal);
        // What happened before the newest runs is known, and a threshold lets pass.
        Assert.Equal(0, Run("series", "--fail-on-regression", "--newest", "4").Code);
        Assert.Equal(0, Run("series", "--fail-on-regression", "--noise-threshold", "60%").Code);
    }

    [Fact]
    public void A_better_metric_and_one_that_was_mended_are_no_regression()
    {
        WriteAll(20, i => i < 15 ? 1 : 1.5);
        (int code, string output, _) = Run("series", "--fail-on-regression");
        Assert.Equal(0, code);
        Assert.Contains("better", output, StringComparison.Ordinal);
        foreach (string run in Directory.GetDirectories(_runs.Path))
            Directory.Delete(run, recursive: true);
        WriteAll(24, i => i is >= 16 and < 20 ? 0.5 : 1);
        (code, output, _) = Run("series", "--metric", "q4.rate", "--fail-on-regression");
        Assert.Equal(0, code);
        Assert.Contains(
            "series changed in q4 rate; its newest runs are no worse than those before them.", OneLine(output), StringComparison.Ordinal);
        Assert.Contains("q4 rate 50 % lower since r16", output, StringComparison.Ordinal);
    }

    [Fact]
    public void A_gate_that_has_too_few_runs_does_not_let_pass()
    {
        WriteAll(5, _ => 1);
        (int code, string output, string errors) = Run("series", "--fail-on-regression");
        Assert.Equal(2, code);
        Assert.Contains("undecided", output, StringComparison.Ordinal);
        Assert.Contains("too few runs to tell a change from chance", errors, StringComparison.Ordinal);
        Assert.Contains("it takes 10 runs", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void Other_work_is_left_out_of_a_scenario_s_history_and_refused_where_it_was_named()
    {
        WriteAll(10, _ => 1);
        Write(10, 1, change: s => s with { Plan = s.Plan with { Overrides = new PlanOverrides { Scale = 0.5 } } });
        Write(11, 1);
        (int code, string output, _) = Run("series");
        Assert.Equal(0, code);
        Assert.Contains("Left out: r10 (different work: scale: 1 → 0.5)", output, StringComparison.Ordinal);
        // Of the run that was named the work counts: all others did another.
        (_, output, _) = Run("r10");
        Assert.Contains("series has 1 run, too few", output, StringComparison.Ordinal);
        (code, _, string errors) = Run("r9", "r10");
        Assert.Equal(2, code);
        Assert.Contains("the runs did different work, so a history would mean nothing: scale: 1 → 0.5", errors, StringComparison.Ordinal);
        (code, output, _) = Run("series", "--force");
        Assert.Equal(0, code);
        Assert.Contains("Different work, mixed because of --force: scale:", OneLine(output), StringComparison.Ordinal);
    }

    /// <summary>Found where a scenario had 16 settings that differed: they filled the screen before the table came.</summary>
    [Fact]
    public void Of_many_differences_three_are_shown_and_the_others_counted()
    {
        WriteAll(2, _ => 1);
        Write(2, 1, change: s => s with
        {
            Plan = s.Plan with
            {
                Overrides = new PlanOverrides { Scale = 0.5, Records = 5, Duration = 7, Operations = 9, Warmup = 1 },
            },
        });
        (_, string output, _) = Run("series", "--force");
        Assert.Equal(3, OneLine(output).Split("mixed because of --force").Length - 1);
        Assert.Matches("more [2-9] cautions: add --full", OneLine(output));
        (_, output, _) = Run("series", "--force", "--full");
        Assert.InRange(OneLine(output).Split("mixed because of --force").Length - 1, 5, 9);
    }

    [Fact]
    public void Unfinished_runs_parts_and_tries_are_no_part_of_a_history()
    {
        WriteAll(8, _ => 1);
        Write(8, 1, changeRun: run => run with { Try = 2 });
        Write(9, 1, changeRun: run => run with { Part = new ClientPart("plan", "a", 1, 2) });
        Write(10, 1, state: RunState.Interrupted);
        (_, string output, _) = Run();
        Assert.Contains("Left out: r8 (a try of --find-max)", output, StringComparison.Ordinal);
        Assert.Contains("Left out: r9 (a part of a merged run)", output, StringComparison.Ordinal);
        Assert.Contains("Left out: r10 (interrupted)", output, StringComparison.Ordinal);
    }

    [Fact]
    public void Deployments_are_lines_of_their_own_and_versions_are_not()
    {
        for (int i = 0; i < 12; i++)
        {
            Write(i, i % 2 == 0 ? 1 : 0.4, version: $"6.0.{i}", change: s => s with
            {
                Deployment = s.Deployment with { Name = i % 2 == 0 ? "one" : "two" },
            });
        }

        using JsonDocument json = JsonDocument.Parse(Run("series", "--metric", "q4.rate", "--format", "json").Output);
        JsonElement[] metrics = [.. json.RootElement.GetProperty("metrics").EnumerateArray()];
        Assert.Equal(["one", "two"], metrics.Select(metric => metric.GetProperty("deployment").GetString()));
        Assert.All(metrics, metric => Assert.Equal(0, metric.GetProperty("changes").GetArrayLength()));
        Assert.Equal(6, metrics[0].GetProperty("values").EnumerateArray().Count(value => value.ValueKind == JsonValueKind.Number));
    }

    [Fact]
    public void Repeats_are_one_point_with_their_spread()
    {
        for (int i = 0; i < 6; i++)
            Write(i, 1 + (i * 0.1), repeat: new RepeatOf(i < 3 ? "r0" : "r3", 1 + (i % 3), 3));
        (_, string output, _) = Run("series", "--metric", "q4.rate", "--format", "csv");
        string[] rows = output.Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(3, rows.Length);
        Assert.StartsWith("r0,3,", rows[1], StringComparison.Ordinal);
        string[] fields = rows[1].Split(',');
        Assert.True(double.Parse(fields[14]) < double.Parse(fields[13]) && double.Parse(fields[13]) < double.Parse(fields[15]));
    }

    [Theory]
    [InlineData("json", "{\n  \"schema\": \"mongoperf/history/1\"")]
    [InlineData("csv", "run,repeats,started,")]
    [InlineData("markdown", "# MongoPerf: history of series\n")]
    [InlineData("junit", "<testsuite name=\"mongoperf history of series\" tests=\"4\"")]
    [InlineData("text", "result     series did not change over 12 runs.")]
    public void Each_form_is_printed_alone(string format, string start)
    {
        WriteAll(12, _ => 1);
        (int code, string output, string errors) = Run("series", "--format", format);
        Assert.Equal((0, ""), (code, errors));
        Assert.StartsWith(start, output.TrimStart(), StringComparison.Ordinal);
        if (format == "json")
            Assert.Empty(JsonSchema.Read("history").Check(output));
    }

    [Theory]
    [InlineData("serie", "did you mean 'series'")]
    [InlineData("series --metric p980", "--metric: 'p980' is not valid; allowed: rate, perMinute, documentRate")]
    [InlineData("series --metric q5.rate", "--metric: the runs have no operation 'q5'; they have batch, q4")]
    [InlineData("series r1", "'series' is a scenario, and a history is of one scenario or of some runs")]
    [InlineData("series --fail-on-change", "unknown option '--fail-on-change' of 'history'")]
    [InlineData("series --metric documents", "'documents' is not valid")]
    public void What_can_not_be_shown_is_told(string call, string says)
    {
        WriteAll(2, _ => 1);
        (int code, string output, string errors) = Run(call.Split(' '));
        Assert.Equal((2, ""), (code, output));
        Assert.Contains(says, errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_folder_without_a_finished_run_has_no_history()
    {
        (int code, _, string errors) = Run();
        Assert.Equal(2, code);
        Assert.Contains("no finished run in ", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_history_can_be_plotted_alone()
    {
        WriteAll(3, _ => 1);
        string picture = _runs.At("h.svg");
        (int code, _, string errors) = InProcess.Run("plot", "r0", "r1", "r2", "--plot", "history", "-o", picture, "--out", _runs.Path);
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains("History of series", File.ReadAllText(picture), StringComparison.Ordinal);
        // A comparison does without it.
        Assert.Equal(0, InProcess.Run("compare", "r0", "r1", "--force", "--out", _runs.Path).Code);
        Assert.Empty(Directory.GetFiles(_runs.At("compare-r0-r1/charts"), "history*"));
    }

    private (int Code, string Output, string Errors) Run(params string[] arguments) =>
        InProcess.Run(["history", .. arguments, "--out", _runs.Path]);

    private static string OneLine(string text) => string.Join(' ', text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));

    private void WriteAll(int count, Func<int, double> speed, Func<int, string>? version = null)
    {
        for (int i = 0; i < count; i++)
            Write(i, speed(i), version?.Invoke(i));
    }

    /// <summary>A run of two phases, a day after the one before, whose rates vary by a percent.</summary>
    private void Write(
        int day, double speed, string? version = null, Func<RunSettings, RunSettings>? change = null,
        Func<RunInfo, RunInfo>? changeRun = null, RepeatOf? repeat = null, RunState state = RunState.Finished)
    {
        var random = new RandomStream((ulong)day + 1);
        RunInfo run = RunParts.Run($"r{day}") with { StartedAt = RunParts.Start.AddDays(day), Repeat = repeat };
        using RunStore store = RunStore.Create(
            _runs.At(run.Id), changeRun?.Invoke(run) ?? run, change?.Invoke(RunParts.Settings()) ?? RunParts.Settings());
        store.SetDeployment(RunParts.Deployment() with { ServerVersion = version ?? "6.0.5" });
        store.SetEnvironment(RunParts.Environment());
        foreach ((int number, string phase) in new[] { (1, "batch"), (2, "q4") })
        {
            double rate = 1000 * (phase == "q4" ? speed : 1) * (0.99 + (0.02 * random.NextDouble()));
            store.BeginPhase(RunParts.Phase(number, phase), continues: false);
            store.EndPhase(RunParts.Phase(number, phase, RunParts.Result(phase) with
            {
                OperationsPerSecond = rate, DocumentsPerSecond = rate, LatencyMicroseconds = RunParts.Latency(1e6 / rate),
            }));
        }

        store.SetState(state, null, run.StartedAt.AddMinutes(1));
    }
}

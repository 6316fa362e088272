using MongoPerf.Commands;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary><c>compare</c> on stored runs, without any server.</summary>
[Collection(ConsoleTests.Name)]
public sealed class CompareCommandTests : IDisposable
{
    private static readonly NoisyRun Base = new() { Sizes = 1, Seconds = 40, Phases = ["batch", "q4"] };

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_regression_ends_with_code_10_where_the_command_line_says_so()
    {
        Write("a", Base);
        Write("b", Base with { NoiseSeed = 2, Speed = _ => 0.7 });
        (int code, string output, _) = Run("a", "b");
        Assert.Equal(0, code);
        Assert.Contains("slower", output, StringComparison.Ordinal);
        (code, _, string errors) = Run("a", "b", "--fail-on-regression");
        Assert.Equal(10, code);
        Assert.Contains("exit code 10: compare or history found a regression", errors, StringComparison.Ordinal);
        // The other way round it is an improvement.
        Assert.Equal(0, Run("b", "a", "--fail-on-regression").Code);
        Assert.Equal(0, Run("a", "--baseline", "b", "--fail-on-regression").Code);
        Assert.Equal(10, Run("b", "--baseline", "a", "--fail-on-regression").Code);
        // Within the threshold nothing is a regression.
        Assert.Equal(0, Run("a", "b", "--fail-on-regression", "--noise-threshold", "60%").Code);
    }

    [Fact]
    public void A_gate_that_can_judge_nothing_does_not_let_pass()
    {
        Write("a", Base with { Seconds = 5 });
        Write("b", Base with { Seconds = 5, NoiseSeed = 2 });
        Assert.Equal(0, Run("a", "b").Code);
        (int code, string output, string errors) = Run("a", "b", "--fail-on-regression");
        Assert.Equal(2, code);
        Assert.Contains("undecided", output, StringComparison.Ordinal);
        Assert.Contains("too little data to judge any operation", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void Unlike_set_ups_are_refused_and_listed_when_forced()
    {
        Write("a", Base);
        Write("b", Base with
        {
            NoiseSeed = 2,
            ChangeRun = run => run with { Seed = 7 },
            Change = s => s with { Plan = s.Plan with { Overrides = new PlanOverrides { Step = 5 } } },
        });
        (int code, _, string errors) = Run("a", "b");
        Assert.Equal(2, code);
        Assert.Contains("seed: 42 → 7; step: as in the file → 5", errors, StringComparison.Ordinal);
        Assert.False(Directory.Exists(_runs.At("compare-a-b")));
        (code, string output, _) = Run("a", "b", "--force", "--full");
        Assert.Equal(0, code);
        Assert.Contains("UNLIKE     seed: 42 → 7", output, StringComparison.Ordinal);
    }

    [Fact]
    public void Runs_beside_which_the_machine_did_other_work_are_compared_only_when_that_is_forced()
    {
        foreach ((string id, double cores) in new[] { ("a", 0.0), ("b", 2.1) })
            FrozenRun.Build(_runs.Path, new FrozenShape { Id = id, Steps = 2, WindowSeconds = 2, OtherCores = cores });
        (int code, _, string errors) = Run("a", "b");
        Assert.Equal(2, code);
        Assert.Contains("other programs were busy on the machine, so a ratio would reflect their load as well: in b other programs used up "
            + "to 2.1 of this machine's 8 cores", errors, StringComparison.Ordinal);
        (code, string output, _) = Run("a", "b", "--force", "--full");
        Assert.Equal(0, code);
        Assert.Contains("note       b: other programs used up to 2.1 of this machine's 8 cores", output, StringComparison.Ordinal);
    }

    [Fact]
    public void At_80_columns_ratio_and_verdict_are_there_and_no_word_is_broken()
    {
        Write("a", Base with { Phases = ["batch", "read-modify-write"] });
        Write("b", Base with { Phases = ["batch", "read-modify-write"], NoiseSeed = 2, Speed = _ => 0.7 });
        using StoredRun a = StoredRun.Open(_runs.At("a"));
        using StoredRun b = StoredRun.Open(_runs.At("b"));
        RunComparison comparison = RunComparer.Compare([new ComparedSide([a]), new ComparedSide([b])], [],
            RunComparer.DefaultNoiseThreshold);
        foreach (int width in new[] { 80, 120 })
        {
            using var output = new StringWriter();
            ConsoleReport.Write(ComparisonReport.Of(comparison), output, new ConsoleReportOptions { Width = width, IsFull = true });
            string[] lines = output.ToString().Split('\n');
            Assert.All(lines, line => Assert.InRange(line.Length, 0, width));
            string header = Assert.Single(lines, line => line.StartsWith("| operation ", StringComparison.Ordinal));
            Assert.Contains("ratio", header, StringComparison.Ordinal);
            Assert.Contains("verdict", header, StringComparison.Ordinal);
            Assert.Equal(width == 120, header.Contains("p (Holm)", StringComparison.Ordinal));
            Assert.Contains(lines, line =>
                line.StartsWith("| read-modify-write |", StringComparison.Ordinal) && line.Contains("| slower ", StringComparison.Ordinal));
            Assert.Contains(lines, line => line.Contains("| p99", StringComparison.Ordinal));
        }
    }

    [Fact]
    public void It_ends_in_one_screen_with_a_line_for_each_operation_and_the_command_that_would_decide_more()
    {
        Write("a", Base with { Phases = ["batch", "q4"] });
        Write("b", Base with { Phases = ["batch", "q4"], NoiseSeed = 2, Speed = phase => phase == "q4" ? 0.7 : 1 });
        (int code, string output, _) = Run("a", "b");
        Assert.Equal(0, code);
        string[] lines = output.Split('\n');
        Assert.InRange(lines.Length, 6, 25);
        Assert.All(lines, line => Assert.InRange(line.Length, 0, ConsoleReport.FullWidth));
        string q4 = Assert.Single(lines, line => line.StartsWith("q4 ", StringComparison.Ordinal));
        Assert.EndsWith("slower", q4, StringComparison.Ordinal);
        Assert.Single(lines, line => line.StartsWith("next ", StringComparison.Ordinal));
    }

    /// <summary>A page is read in other folders than the one where the command was typed.</summary>
    [Fact]
    public void Suggested_commands_name_runs_so_that_any_folder_will_do()
    {
        Write("a", Base);
        (Base with { Id = "b", NoiseSeed = 2 }).Write(_runs.At("other"));
        string here = Environment.CurrentDirectory;
        string typed = $"{Path.GetRelativePath(here, _runs.At("a"))},{Path.GetRelativePath(here, _runs.At("other/b"))}";
        Assert.Equal($"a,{_runs.At("other/b")} --out {_runs.Path}", RunFolder.TextOf(Path.GetRelativePath(here, _runs.Path), [typed]));

        string[] words = Run(typed.Split(',')).Output.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
        Assert.Contains($"compare a {_runs.At("other/b")} --out {_runs.Path} --full", string.Join(' ', words), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("json", "{\n  \"schema\": \"mongoperf/compare/2\"")]
    [InlineData("csv", "baseline,candidate,growth,phase,")]
    [InlineData("markdown", "# MongoPerf: b against a\n")]
    [InlineData("text", "result     b against a: ")]
    public void Each_form_is_printed_alone(string format, string start)
    {
        Write("a", Base);
        Write("b", Base with { NoiseSeed = 2 });
        (int code, string output, _) = Run("a", "b", "--format", format);
        Assert.Equal(0, code);
        Assert.StartsWith(start, output, StringComparison.Ordinal);
        Assert.True(File.Exists(_runs.At("compare-a-b/index.html")));
        Assert.True(File.Exists(_runs.At("compare-a-b/comparison.json")));
        Assert.Equal(["a", "b"], RunCatalogue.List(_runs.Path).Select(run => run.Id));
    }

    [Fact]
    public void Repeats_are_found_by_any_of_them()
    {
        for (int i = 1; i <= 4; i++)
        {
            Write($"a{i}", Base with { NoiseSeed = (ulong)i, Repeat = new RepeatOf("a1", i, 4) });
            Write($"b{i}", Base with { NoiseSeed = (ulong)i + 10, Speed = _ => 0.5, Repeat = new RepeatOf("b1", i, 4) });
        }

        (_, string output, _) = Run("a3", "b1", "--full");
        Assert.Contains("compared   b1 and 3 repeats against a1 and 3 repeats: slower", output, StringComparison.Ordinal);
        Assert.Contains("4 and 4 runs, one observation each", output, StringComparison.Ordinal);
        // Two of one group are meant as they are.
        (_, output, _) = Run("a1", "a2", "--full");
        Assert.Contains("compared   a2 against a1: ", output, StringComparison.Ordinal);
        (_, output, _) = Run("a1,a2,a4", "b1,b2,b3", "--full");
        Assert.Contains("3 and 3 runs", output, StringComparison.Ordinal);
        (_, output, _) = Run("b2");
        Assert.Contains("repeats    b1 and 3 repeats", output, StringComparison.Ordinal);
        Assert.Contains("lowest", output, StringComparison.Ordinal);
    }

    [Fact]
    public void One_run_alone_twice_or_with_nothing_in_common_is_refused()
    {
        Write("a", Base);
        Write("b", Base with { Sizes = 0 });
        Assert.Contains("run a has nothing to compare with: name two runs", Run("a").Errors, StringComparison.Ordinal);
        Assert.Contains("run a is named twice", Run("a", "a").Errors, StringComparison.Ordinal);
        Assert.Contains("no run 'c'", Run("a", "c").Errors, StringComparison.Ordinal);
        Assert.Contains("b and a have no operation in common that as many threads did", Run("a", "b", "--force").Errors,
            StringComparison.Ordinal);
        Assert.All((string[][])[["a"], ["a", "a"], ["a", "c"], ["a", "b", "--force"]], call => Assert.Equal(2, Run(call).Code));
    }

    private void Write(string id, NoisyRun run) => (run with { Id = id }).Write(_runs.Path);

    private (int Code, string Output, string Errors) Run(params string[] arguments)
    {
        (TextWriter outBefore, TextWriter errorBefore) = (Console.Out, Console.Error);
        string? charts = Environment.GetEnvironmentVariable(ChartRenderer.Variable);
        using var output = new StringWriter();
        using var errors = new StringWriter();
        Console.SetOut(output);
        Console.SetError(errors);
        // Drawing takes its time and is tested elsewhere.
        Environment.SetEnvironmentVariable(ChartRenderer.Variable, "none");
        try
        {
            int code = CommandLine.Run(["compare", .. arguments, "--out", _runs.Path]);
            return (code, output.ToString(), errors.ToString());
        }
        finally
        {
            Console.SetOut(outBefore);
            Console.SetError(errorBefore);
            Environment.SetEnvironmentVariable(ChartRenderer.Variable, charts);
        }
    }
}

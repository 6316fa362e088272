using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting;

public sealed class VerdictTests : IDisposable
{
    private static readonly FrozenShape Small = new()
    {
        Steps = 2, TargetDocumentCount = 20_000, WindowSeconds = 2, LossStep = 0, ErrorStep = 0, OutageStep = 0,
    };

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_clean_run_has_only_good_verdicts_but_for_the_one_thread_that_was_busy()
    {
        string[] marks = [.. Verdicts(Small).Select(v => v.Mark)];
        Assert.Equal(["ok", "ok", "ok", "ok", "note"], marks);
    }

    [Fact]
    public void A_thread_that_had_no_more_CPU_makes_the_client_the_limit() => Assert.Contains(
        Verdicts(Small), v => v.Grade == Grade.Note
            && v.Text == "the client was the limit in unack (2 of 2 sizes, 0.92 of the 1 core that 1 thread can use)");

    [Fact]
    public void A_shared_machine_that_was_busy_takes_the_blame()
    {
        IReadOnlyList<Verdict> verdicts = Verdicts(Small with { CpuCount = 3 });
        Assert.Contains(verdicts, v => v.Text.StartsWith(
            "client and server share this machine, and its 3 cores were up to 98 % busy in unack (1 of 2 sizes), q4 (2 of 2 sizes), q7 (2", StringComparison.Ordinal));
        Assert.DoesNotContain(Verdicts(Small with { Id = "b", CpuCount = 3, ServerOnSameMachine = false }), v => v.Text.Contains("share"));
    }

    [Fact]
    public void A_client_with_CPU_to_spare_was_not_the_limit()
    {
        using (RunStore store = RunStore.Create(_runs.At("x"), RunParts.Run("x"), RunParts.Settings()))
        {
            store.SetEnvironment(RunParts.Environment());
            store.AddTestResult(1, 1000, RunParts.Test("q4", 8) with { ClientCpuCores = 1.1 });
            store.AddTestResult(1, 1000, RunParts.Test("safe") with { ClientCpuCores = 0.3 });
        }

        using StoredRun run = StoredRun.Open(_runs.At("x"));
        Assert.Equal(
            ["the client was not the limit: at most 0.3 of the 1 core that 1 thread can use, in safe"],
            ClientLimit.Of(run).Sentences);
    }

    [Fact]
    public void A_run_without_anything_measured_still_has_a_report()
    {
        RunStore.Create(_runs.At("x"), RunParts.Run("x"), RunParts.Settings()).Dispose();
        using StoredRun run = StoredRun.Open(_runs.At("x"));
        Assert.Equal(Grade.Bad, Verdict.Of(run)[0].Grade);
        Assert.Equal(8, ReportWriter.WriteTextFiles(run, _runs.At("report")).Count);
        ConsoleReport.Write(run, TextWriter.Null);
        Assert.Equal("to go on: ./mongoperf resume x --out 'my runs'", ReportLines.Next(run, "my runs"));
    }

    [Theory]
    [InlineData(RunState.Running, "BAD", "broken off at 20,000 of 20,000 documents: its process has ended without saying why")]
    [InlineData(RunState.Interrupted, "BAD", "interrupted at 20,000 of 20,000 documents (Ctrl+C)")]
    [InlineData(RunState.Failed, "BAD", "failed at 20,000 of 20,000 documents")]
    [InlineData(RunState.Finished, "ok", "finished: 20,000 of 20,000 documents")]
    public void The_first_line_says_how_the_run_ended(RunState state, string mark, string text)
    {
        Verdict first = Verdicts(Small with { State = state })[0];
        Assert.Equal((mark, text), (first.Mark, first.Text));
    }

    [Fact]
    public void Losses_wrong_documents_embedded_server_and_debug_build_are_said()
    {
        string[] texts = [.. Verdicts(Small with { LossStep = 1, Wrong = 2, IsEmbedded = true, BuildKind = "Debug" }).Select(v => $"{v.Mark}: {v.Text}")];
        Assert.Contains("note: unacknowledged inserts: 3 of 4,000 documents were lost, and written again, acknowledged", texts);
        Assert.Contains(texts, t => t.StartsWith("BAD: verified: 2 of ", StringComparison.Ordinal));
        Assert.Single(texts, "note: figures are the embedded server's, not MongoDB's");
        Assert.Contains("note: the client is a Debug build: it is slower than a Release one", texts);
    }

    [Fact]
    public void Replies_that_were_too_short_are_said()
    {
        Assert.Equal(["note: q5: 70 of 300 replies held fewer than 10 documents", "note: q7: 1 of 100 replies held fewer than 100 documents"], Said(
            RunParts.Settings(),
            (1, RunParts.Test("q4")), (1, RunParts.Test("q5") with { ShortReplies = 50 }), (2, RunParts.Test("q5", operations: 200) with { ShortReplies = 20 }),
            (2, RunParts.Test("q7") with { ShortReplies = 1 })));
    }

    [Fact]
    public void Plans_other_than_meant_are_said()
    {
        TestResult Planned(string test, string? index, int threads = 1) =>
            RunParts.Test(test, threads) with { Plan = new PlanSummary { Index = index, Stages = "LIMIT > FETCH" } };
        Assert.Equal(
            ["note: q4 ran without an index at 2 of 3 sizes", "note: q5 ran by index Date_-1 at 1 of 3 sizes", "note: q7 ran by index _id_ at 1 of 1 sizes"], Said(
            RunParts.Settings(),
            (1, Planned("q4", null)), (1, Planned("q4", null, 8)), (2, Planned("q4", "Number_1")), (3, Planned("q4", null)),
            (1, Planned("q5", "Number_1")), (2, Planned("q5", "Number1_1")), (3, Planned("q5", "Date_-1")),
            (1, Planned("q6", "Date_-1")), (2, Planned("q6", "Number_1")),
            (1, Planned("q7", "_id_")), (2, RunParts.Test("q7"))));
    }

    [Fact]
    public void What_ended_within_the_warm_up_is_said()
    {
        TestResult empty = RunParts.Test("q4", operations: 0) with { Seconds = 0 };
        Assert.Equal(["note: nothing was measured in q4: it ended within the warm-up"], Said(RunParts.Settings(), (1, empty)));
        Assert.Equal(
            ["note: nothing was measured in q4, q5: they ended within the warm-up", "note: nothing was measured in q6: no operation was started after the warm-up"],
            Said(RunParts.Settings(), (1, empty), (1, empty with { Test = "q5" }), (1, RunParts.Test("q6", operations: 0))));
    }

    [Fact]
    public void A_rate_is_explained_with_its_gap_and_what_was_skipped()
    {
        SeriesSettings settings = RunParts.Settings() with { Rate = 500 };
        TestResult near = RunParts.Test("q4") with { ResponseMicroseconds = RunParts.Latency(150), Accounting = new Accounting(5000, 5000, 0, 0) };
        TestResult far = RunParts.Test("q6") with { ResponseMicroseconds = RunParts.Latency(50_000), Accounting = new Accounting(5000, 3800, 0, 1200) };
        const string What = "500 operations/s were asked for: service time runs from an operation's start, response time from when it was due; at p99 the gap was ";
        Assert.Equal([$"ok: {What}200 us at most, in q4 (400 us and 600 us); none of 5,000 arrivals was skipped"], Said(settings, (1, near)));
        Assert.Equal(
            [$"note: {What}200 ms at most, in q6 (400 us and 200 ms); 1,200 of 10,000 arrivals were skipped: there was no time for them"],
            Said(settings, (1, near), (1, far)));
    }

    private string[] Said(SeriesSettings settings, params (int Step, TestResult Result)[] results)
    {
        string folder = _runs.At(Guid.NewGuid().ToString("N"));
        using (RunStore store = RunStore.Create(folder, RunParts.Run("x"), settings))
        {
            foreach ((int step, TestResult result) in results)
                store.AddTestResult(step, step * 1000, result);
        }

        using StoredRun run = StoredRun.Open(folder);
        return [.. TestVerdicts.Of(run).Select(v => $"{v.Mark}: {v.Text}")];
    }

    private IReadOnlyList<Verdict> Verdicts(FrozenShape shape)
    {
        using StoredRun run = StoredRun.Open(FrozenRun.Build(_runs.Path, shape));
        return Verdict.Of(run);
    }
}

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

    private IReadOnlyList<Verdict> Verdicts(FrozenShape shape)
    {
        using StoredRun run = StoredRun.Open(FrozenRun.Build(_runs.Path, shape));
        return Verdict.Of(run);
    }
}

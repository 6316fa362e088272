using MongoPerf.Reports;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

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
    public void A_thread_that_had_no_more_CPU_makes_the_client_the_bottleneck() => Assert.Contains(
        Verdicts(Small), v => v.Grade == Grade.Note
            && v.Text == "the client was the bottleneck in unack (2 of 2 sizes; 0.92 of the 1 core that 1 thread can use)");

    [Fact]
    public void A_shared_machine_that_was_busy_takes_the_blame()
    {
        IReadOnlyList<Verdict> verdicts = Verdicts(Small with { CpuCount = 3 });
        Assert.Contains(verdicts, v => v.Text.StartsWith(
            "client and server share this machine, and its 3 cores were up to 98 % busy in unack (1 of 2 sizes), q4 (2 of 2 sizes), q7 (2",
            StringComparison.Ordinal));
        Assert.DoesNotContain(Verdicts(Small with { Id = "b", CpuCount = 3, ServerOnSameMachine = false }), v => v.Text.Contains("share"));
    }

    [Fact]
    public void Other_programs_on_the_machine_are_named_and_neither_client_nor_server_takes_the_blame_for_them()
    {
        IReadOnlyList<Verdict> verdicts = Verdicts(Small with { CpuCount = 3, OtherCores = 1.4 });
        Assert.Contains(verdicts, v => v is { Grade: Grade.Note, Text: "other programs used up to 1.4 of this machine's 3 cores" });
        Assert.DoesNotContain(verdicts, v => v.Text.Contains("share this machine"));
        Assert.Contains(Verdicts(Small with { Id = "b", OtherCores = 1.4, ServerOnSameMachine = false }),
            v => v.Text == "other programs used up to 1.4 of the 8 cores of the client's machine");
        // What the hypervisor gave to others was not the run's either.
        Assert.Contains(Verdicts(Small with { Id = "d", StolenCores = 1.1 }),
            v => v.Text == "other programs and virtual machines used up to 1.1 of this machine's 8 cores");
        // Less than a tenth of the machine is no news.
        Assert.DoesNotContain(Verdicts(Small with { Id = "c", OtherCores = 0.7 }), v => v.Text.Contains("other programs"));
    }

    [Fact]
    public void A_client_with_CPU_to_spare_was_not_the_bottleneck()
    {
        using StoredRun run = Stored(
            RunParts.Settings(),
            RunParts.Phase(1, "q4", RunParts.Result("find", 8) with { ClientCpuCores = 1.1 }),
            RunParts.Phase(2, "safe", RunParts.Result("safe") with { ClientCpuCores = 0.3 }));
        Assert.Equal(
            ["the client was not the bottleneck: it used at most 0.3 of the 1 core that 1 thread can use, in safe"],
            ClientLimit.Of(run).Sentences);
    }

    [Fact]
    public void A_run_without_anything_measured_still_has_a_report()
    {
        RunStore.Create(_runs.At("x"), RunParts.Run("x"), RunParts.Settings()).Dispose();
        using StoredRun run = StoredRun.Open(_runs.At("x"));
        Assert.Equal(Grade.Bad, RunVerdicts.Of(run)[0].Grade);
        Assert.Equal(8, ReportWriter.WriteTextFiles(run, _runs.At("report")).Count);
        ConsoleReport.Write(RunReport.Of(run), TextWriter.Null);
        Assert.Equal("to resume: mongoperf resume x --out 'my runs'", ReportLines.Next(run, "my runs"));
    }

    [Theory]
    [InlineData(RunState.Running, "BAD", "aborted after 20,000 of 20,000 documents: its process ended without saying why")]
    [InlineData(RunState.Interrupted, "BAD", "interrupted after 20,000 of 20,000 documents (Ctrl+C)")]
    [InlineData(RunState.Failed, "BAD", "failed after 20,000 of 20,000 documents")]
    [InlineData(RunState.Finished, "ok", "finished: 20,000 of 20,000 documents")]
    public void The_first_line_says_how_the_run_ended(RunState state, string mark, string text)
    {
        Verdict first = Verdicts(Small with { State = state })[0];
        Assert.Equal((mark, text), (first.Mark, first.Text));
    }

    [Fact]
    public void Losses_wrong_documents_embedded_server_and_debug_build_are_said()
    {
        string[] texts = [.. Verdicts(Small with { LossStep = 1, Wrong = 2, IsEmbedded = true, BuildKind = "Debug" })
            .Select(v => $"{v.Mark}: {v.Text}")];
        Assert.Contains("note: unacknowledged inserts: 3 of 4,000 documents were lost, and written again with acknowledgement", texts);
        Assert.Contains(texts, t => t.StartsWith("BAD: verified: 2 of ", StringComparison.Ordinal));
        Assert.Single(texts, "note: results are for the embedded server, not MongoDB");
        Assert.Contains("note: the client is a Debug build, which is slower than a Release build", texts);
    }

    [Theory]
    [InlineData(1, "finished: 1 phase")]
    [InlineData(2, "finished: 2 phases")]
    public void Of_a_run_that_grows_nothing_the_phases_are_counted(int phases, string text)
    {
        using StoredRun run = Stored(
            RunParts.Settings(), [.. Enumerable.Range(1, phases).Select(i => RunParts.Phase(i, "read", RunParts.Result("find")))]);
        Assert.Equal(text, RunVerdicts.Of(run)[0].Text);
    }

    [Fact]
    public void Documents_of_several_growing_collections_are_added_up()
    {
        using StoredRun run = Stored(
            RunParts.Settings(500),
            RunParts.Grown(1, "a", 1, 100, RunParts.Result("batch")) with { Collection = "users" },
            RunParts.Grown(2, "b", 1, 100, RunParts.Result("batch")) with { Collection = "orders" },
            RunParts.Grown(3, "a", 2, 200, RunParts.Result("batch")) with { Collection = "users" });
        Assert.Equal("finished: 300 of 500 documents", RunVerdicts.Of(run)[0].Text);
    }

    [Fact]
    public void Windows_that_a_small_target_made_short_are_said()
    {
        RunSettings settings = RunParts.Settings();
        using StoredRun run = Stored(
            settings with { Plan = settings.Plan with { Note = new StoredMessage(MessageCode.ShortWindow, "1 s", "100k") } },
            RunParts.Phase(1, "read", RunParts.Result("find")));
        Verdict said = RunVerdicts.Of(run).Single(verdict => verdict.Text.StartsWith("each query runs for 1 s", StringComparison.Ordinal));
        Assert.Equal((Grade.Note, true), (said.Grade, said.IsChosen));
    }

    [Fact]
    public void What_was_verified_is_said_and_what_was_not_with_the_reason()
    {
        var reason = new StoredMessage(MessageCode.DocumentsChanged, "update", "mix", "users");
        using StoredRun run = Stored(
            RunParts.Settings(), RunParts.Phase(1, "read", RunParts.Result("find") with { Verified = 1234 }),
            RunParts.Phase(2, "mix", RunParts.Result("read")) with { NotVerified = reason },
            RunParts.Phase(3, "mix", RunParts.Result("read")) with { NotVerified = reason with { Arguments = [.. reason.Arguments] } });
        Assert.Equal(
            ["ok: verified: 1,234 returned documents match what was written", $"note: not verified in mix: {reason}"],
            RunVerdicts.Of(run).Where(v => v.Text.Contains("verified")).Select(v => $"{v.Mark}: {v.Text}"));
    }

    [Fact]
    public void Replies_that_were_too_short_are_said_where_most_were_not() => Assert.Equal(
        [
            "note: q5: 70 of 300 replies held fewer documents than their limit",
            "note: mix read: 1 of 100 replies held fewer documents than their limit",
        ], Said(
        RunParts.Grown(1, "q4", 1, 1000, RunParts.Result("find")),
        RunParts.Grown(2, "q5", 1, 1000, RunParts.Result("find") with { ShortReplies = 50 }),
        RunParts.Grown(3, "q5", 2, 2000, RunParts.Result("find", operations: 200) with { ShortReplies = 20 }),
        RunParts.Phase(4, "mix", RunParts.Result("read") with { ShortReplies = 1 }, RunParts.Result("update")),
        RunParts.Phase(5, "by customer", RunParts.Result("find") with { ShortReplies = 100 }),
        RunParts.Phase(6, "by day", RunParts.Result("find") with { ShortReplies = 51 })));

    [Fact]
    public void A_query_that_found_nothing_at_all_is_said() =>
        Assert.Equal(["note: mix find: none of 100 replies held a document; does the filter match any?"], Said(
            RunParts.Phase(1, "mix", RunParts.Result("find") with { ShortReplies = 100, Documents = 0 },
                RunParts.Result("update") with { Documents = 0 })));

    [Fact]
    public void Unacknowledged_inserts_that_an_interruption_left_uncounted_are_not_among_those_that_arrived()
    {
        OperationResult counted = RunParts.Result("unack") with { Unacknowledged = new UnacknowledgedResult(100, 100, 0, 0.1) };
        using StoredRun run = Stored(RunParts.Settings(), RunParts.Grown(1, "unack", 1, 1000, counted),
            RunParts.Grown(2, "unack", 2, 2000, RunParts.Result("unack", operations: 80)) with { IsComplete = false });
        Assert.Equal(
            ["note: unacknowledged inserts: how many of 80 documents arrived is unknown, as the run was interrupted while they were sent",
                "ok: unacknowledged inserts: all 100 other documents arrived"],
            RunVerdicts.Of(run).Where(v => v.Text.Contains("unacknowledged")).Select(v => $"{v.Mark}: {v.Text}"));
    }

    /// <summary>The YCSB of an article that wrote with w=0 was called interrupted.</summary>
    [Fact]
    public void Unacknowledged_inserts_of_a_mix_are_said_to_be_uncounted()
    {
        OperationResult counted = RunParts.Result("unack") with { Unacknowledged = new UnacknowledgedResult(100, 100, 0, 0.1) };
        OperationResult mixed = RunParts.Result("insert", operations: 80) with { IsInsert = true, IsUnacknowledged = true };
        using StoredRun run = Stored(
            RunParts.Settings(), RunParts.Phase(1, "load", counted), RunParts.Phase(2, "mix", mixed, RunParts.Result("read")));
        Assert.Equal(
            ["note: unacknowledged inserts: how many of 80 documents arrived was not counted, as other operations ran beside them; "
                + "their rate is that of sending", "ok: unacknowledged inserts: all 100 other documents arrived"],
            RunVerdicts.Of(run).Where(v => v.Text.Contains("unacknowledged")).Select(v => $"{v.Mark}: {v.Text}"));
    }

    [Fact]
    public void A_query_plan_that_changes_as_the_collection_grows_is_said_once() => Assert.Equal(
        ["note: q6 changed its query plan as the collection grew: Number_1, Date_-1 from 2k, Number_1 from 4k"], Said(
        RunParts.Grown(1, "q4", 1, 1000, Planned("Number_1")),
        RunParts.Grown(2, "q6", 1, 1000, Planned("Number_1", 1)),
        RunParts.Grown(3, "q6", 1, 1000, Planned("Number_1", 8)),
        RunParts.Grown(4, "q4", 2, 2000, Planned("Number_1")), RunParts.Grown(5, "q6", 2, 2000, Planned("Date_-1", 1)),
        RunParts.Grown(6, "q6", 2, 2000, Planned("Date_-1", 8)),
        RunParts.Grown(7, "q6", 3, 3000, Planned("Date_-1", 1)), RunParts.Grown(8, "q6", 3, 3000, Planned("Date_-1", 8)),
        RunParts.Grown(9, "q6", 4, 4000, Planned("Number_1", 1)), RunParts.Grown(10, "q6", 4, 4000, Planned("Number_1", 8))));

    [Fact]
    public void Of_a_query_plan_that_never_settles_the_first_and_the_last_are_told()
    {
        string name = new('n', 60);
        PhaseRecord[] phases = [.. Enumerable.Range(1, 9)
            .Select(step => RunParts.Grown(step, "q6", step, step * 1000, Planned(step % 2 == 0 ? "Date_-1" : name, 1)))];
        Assert.Equal(
            [$"note: q6 changed its query plan as the collection grew: {name[..31]}…, Date_-1 from 2k, {name[..31]}… from 3k, "
                + $"5 more, {name[..31]}… from 9k"],
            Said(phases));
    }

    [Fact]
    public void A_collection_scan_that_examines_more_than_it_returns_is_said_and_one_without_a_condition_is_not()
    {
        OperationResult Scanned(long examined) =>
            RunParts.Result("find") with { Plan = new PlanSummary
            {
                Stages = "LIMIT > COLLSCAN", DocumentsExamined = examined, DocumentsExaminedPerOperation = examined, Returned = 10,
            } };
        const string What = "it examined up to 2,000 documents per operation to return 10 documents; an index on its filter would help";
        Assert.Equal([$"note: q4 scanned the collection at 2 of 3 sizes: {What}", $"note: q8 scanned the collection: {What}"], Said(
            RunParts.Grown(1, "q4", 1, 1000, Scanned(1000)),
            RunParts.Grown(2, "q7", 1, 1000, Scanned(10)),
            RunParts.Grown(3, "q4", 2, 2000, Scanned(2000)),
            RunParts.Grown(4, "q4", 3, 3000, Scanned(12)), RunParts.Phase(5, "q8", Scanned(2000))));
    }

    /// <summary>
    /// Found for 100 documents without a filter on three shards: "examined up to 300 documents to return 100; an index on its
    /// filter would help".
    /// </summary>
    [Fact]
    public void Shards_that_each_read_what_the_client_may_want_scan_for_a_reason()
    {
        OperationResult Scanned(long examined, long necessary) =>
            RunParts.Result("find") with { Plan = new PlanSummary
            {
                Stages = "SHARD_MERGE > LIMIT > COLLSCAN", DocumentsExamined = examined, Returned = 100, Shards = 3, Necessary = necessary,
            } };
        Assert.Empty(Said(RunParts.Phase(1, "q7", Scanned(300, 300)), RunParts.Phase(2, "q6", Scanned(10_400, 10_300))));
        Assert.Single(Said(RunParts.Phase(1, "q4", Scanned(3000, 300))));
    }

    /// <summary>
    /// Found in workloads of bug reports: the scan of another collection was blamed on _id_, which covered the operation's own filter.
    /// </summary>
    [Fact]
    public void The_stage_that_scans_is_blamed_and_its_collection_named()
    {
        OperationResult Reading(string stages, params PlanSource[] others) => RunParts.Result("find") with { Plan = new PlanSummary
        {
            Index = "_id_", Stages = stages, KeysExamined = 20, DocumentsExamined = 20_020, Returned = 20,
            Sources =
            [
                new PlanSource("outer", 20) { Index = "_id_", KeysExamined = 20, DocumentsExamined = 20 }, .. others,
            ],
        } };
        PlanSource scanned = new("inner", 20, "$lookup") { IsScanned = true, KeysExamined = 0, DocumentsExamined = 20_000 };
        Assert.Equal(
            [
                "note: a's $lookup scanned inner: it examined up to 20,000 documents per operation for 20 documents that came in; "
                    + "an index there on the fields that it matches would help",
                "note: b's $unionWith scanned inner: it examined up to 20,000 documents per operation to return 20 documents; "
                    + "an index there on its filter would help",
                "note: c's $lookup scanned one of keyed, inner: it examined up to 20,000 documents per operation for 20 documents that "
                    + "came in; an index there on the fields that it matches would help",
            ],
            Said(
                RunParts.Phase(1, "a", Reading("$lookup > IDHACK", scanned)),
                RunParts.Phase(2, "b", Reading("$unionWith > IDHACK", scanned with { Stage = "$unionWith" })),
                RunParts.Phase(3, "c", Reading("$lookup > IDHACK", scanned with { Collection = "keyed, inner", Index = "k_1" })),
                RunParts.Phase(4, "d", Reading("$lookup > IDHACK", scanned with { DocumentsExamined = 900 })),
                RunParts.Phase(5, "e", Reading("$lookup > IDHACK", scanned with { DocumentsExamined = null, IsScanned = false }))));
    }

    [Theory]
    [InlineData("UPDATE > COLLSCAN", "to change 1 document")]
    [InlineData("DELETE > COLLSCAN", "to remove 1 document")]
    [InlineData("COUNT > COLLSCAN", "to count 1 document")]
    [InlineData("COLLSCAN", "to return 1 document")]
    public void What_a_scan_is_for_is_what_the_operation_does(string stages, string purpose) => Assert.Equal(
        [$"note: a scanned the collection: it examined up to 500 documents per operation {purpose}; an index on its filter would help"],
        Said(RunParts.Phase(1, "a", RunParts.Result("a") with
        {
            Plan = new PlanSummary { Stages = stages, DocumentsExamined = 500, Returned = 1 },
        })));

    [Fact]
    public void A_plan_that_was_another_one_when_its_phase_was_over_is_said()
    {
        PlanSummary empty = new() { Stages = "EOF" };
        OperationResult Ending(PlanSummary plan, PlanSummary? before) =>
            RunParts.Result("find") with { Plan = plan with { Before = before } };
        PlanSummary found = new() { Stages = "FETCH > IXSCAN", Index = "k_1", KeysExamined = 12, DocumentsExamined = 12, Returned = 12 };
        Assert.Equal(
            [
                "note: a changed its query plan within the phase: from no index to k_1 (12 keys and 12 documents examined)",
                "note: b examined 0 documents when the phase began and 12 documents when it was over",
            ],
            Said(
                RunParts.Phase(1, "a", Ending(found, empty)),
                RunParts.Phase(2, "b", Ending(found, found with { KeysExamined = 0, DocumentsExamined = 0 })),
                RunParts.Phase(3, "c", Ending(found, null))));
    }

    [Fact]
    public void What_ended_within_the_warm_up_is_said()
    {
        OperationResult empty = RunParts.Result("find", operations: 0) with { Seconds = 0 };
        Assert.Equal(["note: nothing was measured in q4: the phase ended during its warm-up"], Said(RunParts.Phase(1, "q4", empty)));
        Assert.Equal(
            [
                "note: nothing was measured in q4 and q5: the phase ended during its warm-up",
                "note: nothing was measured in q6: no operation ended after the warm-up",
            ],
            Said(RunParts.Phase(1, "q4", empty), RunParts.Phase(2, "q5", empty),
                RunParts.Phase(3, "q6", RunParts.Result("find", operations: 0))));
    }

    [Fact]
    public void Waits_across_the_end_of_a_warm_up_are_said_where_they_are_long()
    {
        OperationResult With(long count, double seconds) =>
            RunParts.Result("find") with { InFlightAtStart = new OperationsInFlight(count, seconds * 1e6) };
        Assert.Equal(
            ["note: q4: 4 operations that were in flight when the warm-up ended took up to 2.46 s at 135k, "
                + "and less in 1 other; they count as measured"],
            Said(RunParts.Grown(1, "q4", 1, 120_000, With(1, 0.5)), RunParts.Grown(2, "q4", 2, 135_000, With(4, 2.46)),
                RunParts.Grown(3, "q4", 3, 150_000, With(4, 0.05))));
        Assert.Equal(["note: mix: an operation that was in flight when the warm-up ended took 1 s; it counts as measured"],
            Said(RunParts.Phase(1, "mix", With(1, 1))));
        // Operations that take as long anyway.
        Assert.Empty(Said(RunParts.Phase(1, "slow", With(4, 1) with { LatencyMicroseconds = new LatencySummary { P50 = 900_000 } })));
    }

    [Theory]
    [InlineData(1, 1, "BAD: verified: 1 of 1 returned document differs from what was written")]
    [InlineData(5, 1, "BAD: verified: 1 of 5 returned documents differs from what was written")]
    [InlineData(5, 2, "BAD: verified: 2 of 5 returned documents differ from what was written")]
    [InlineData(1, 0, "ok: verified: 1 returned document matches what was written")]
    [InlineData(5, 0, "ok: verified: 5 returned documents match what was written")]
    public void Documents_that_were_compared_are_counted(long verified, long wrong, string said)
    {
        using StoredRun run =
            Stored(RunParts.Settings(), RunParts.Phase(1, "q4", RunParts.Result("find") with { Verified = verified, Wrong = wrong }));
        Assert.Equal([said], RunVerdicts.Of(run).Where(v => v.Text.Contains("verified")).Select(v => $"{v.Mark}: {v.Text}"));
    }

    /// <summary>Sent, arrived, lost; what is neither arrived nor lost a unique index refused.</summary>
    [Theory]
    [InlineData(10, 10, 0, "ok: unacknowledged inserts: all 10 documents arrived")]
    [InlineData(10, 7, 3, "note: unacknowledged inserts: 3 of 10 documents were lost, and written again with acknowledgement")]
    [InlineData(10, 9, 0, "note: unacknowledged inserts: a unique index refused 1 of 10 documents")]
    public void What_became_of_unacknowledged_inserts_is_told(long sent, long arrived, long lost, string said)
    {
        using StoredRun run = Stored(RunParts.Settings(), RunParts.Phase(1, "w0",
            RunParts.Result("unack") with { Unacknowledged = new UnacknowledgedResult(sent, arrived, lost, 0) }));
        Assert.Equal([said], RunVerdicts.Of(run).Where(v => v.Text.Contains("unacknowledged")).Select(v => $"{v.Mark}: {v.Text}"));
    }

    [Fact]
    public void Failures_of_phases_without_a_result_are_counted_beside_the_others()
    {
        string folder = _runs.At("failed");
        RunSettings settings = RunParts.Settings();
        using (RunStore store = RunStore.Create(
            folder, RunParts.Run("x"), settings with { Plan = settings.Plan with { MaxErrors = 12 } }))
        {
            store.EndPhase(RunParts.Phase(1, "q4", RunParts.Result("find") with { Accounting = new Accounting(107, 100, 5, 2) }) with
            {
                Groups = [GroupShare.Of("", 1, [100], new Accounting(107, 100, 5, 2))],
            });
            store.AddErrors([new ErrorCount(1, "Some", 5, "s", []), new ErrorCount(2, "More", 7, "m", [])]);
            store.SetState(RunState.Finished, null, RunParts.Start.AddMinutes(1));
        }

        const string All = "107 operations scheduled = 100 succeeded + 5 failed + 2 skipped; 7 more failed in phases that left no result "
            + "(in a load, each is a batch)";
        using (StoredRun run = StoredRun.Open(folder))
            Assert.Contains($"note: {All}; most often (7 of 12) with More (2): m", RunVerdicts.Of(run).Select(v => $"{v.Mark}: {v.Text}"));
        using (RunStore store = RunStore.Open(folder))
            store.AddErrors([new ErrorCount(2, "More", 1, "m", [])]);
        using (StoredRun run = StoredRun.Open(folder))
            Assert.Contains(
                $"BAD: {All.Replace("7 more", "8 more", StringComparison.Ordinal)}: more failures than allowed (12); "
                    + "most often (8 of 13) with More (2): m",
                RunVerdicts.Of(run).Select(v => $"{v.Mark}: {v.Text}"));
    }

    [Fact]
    public void Operations_that_were_cut_off_are_said()
    {
        OperationResult cut = RunParts.Result("find", operations: 0) with { InFlightAtEnd = new OperationsInFlight(4, 5.2e6) };
        Assert.Equal(
            [
                "note: nothing was measured in q4: no operation was answered before the phase was over",
                "note: q4: 4 operations were cut off without a reply after up to 5.2 s at 1k, because the phase was over; "
                + "they are in none of the figures",
            ],
            Said(RunParts.Grown(1, "q4", 1, 1000, cut)));
    }

    private static OperationResult Planned(string index, int threads = 1) =>
        RunParts.Result("find", threads) with { Plan = new PlanSummary { Index = index, Stages = "LIMIT > FETCH > IXSCAN" } };

    private StoredRun Stored(RunSettings settings, params PhaseRecord[] phases)
    {
        string folder = _runs.At(Guid.NewGuid().ToString("N"));
        using (RunStore store = RunStore.Create(folder, RunParts.Run("x"), settings))
        {
            store.SetEnvironment(RunParts.Environment());
            foreach (PhaseRecord phase in phases)
                store.EndPhase(phase);
            store.SetState(RunState.Finished, null, RunParts.Start.AddMinutes(1));
        }

        return StoredRun.Open(folder);
    }

    private string[] Said(params PhaseRecord[] phases)
    {
        using StoredRun run = Stored(RunParts.Settings(), phases);
        return [.. OperationVerdicts.Of(run).Select(v => $"{v.Mark}: {v.Text}")];
    }

    private IReadOnlyList<Verdict> Verdicts(FrozenShape shape)
    {
        using StoredRun run = StoredRun.Open(FrozenRun.Build(_runs.Path, shape));
        return RunVerdicts.Of(run);
    }
}

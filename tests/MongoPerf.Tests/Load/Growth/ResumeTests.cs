using System.Globalization;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Growth;

/// <summary>A plan that is interrupted anywhere and continued comes to the same as one that was not.</summary>
public sealed class ResumeTests
{
    /// <summary>To try every operation takes minutes; each record's end is tried by a test of its own.</summary>
    private const int Stride = 7;

    private const string Everything = """
        data:
          users: {count: 30, document: {n: ^number}}
          orders: {document: {n: ^number}}
          items: {document: {n: ^number}}
          late: {count: 12, document: {n: ^number}}
        phases:
          - {load: users, batch: 7}
          - {name: read, count: 5, operations: [{find: users, key: uniform}]}
          - name: shop
            grow: {orders: 1, items: 2}
            to: 14
            step: 7
            writes: [{name: unack, share: 1, writeConcern: {w: 0}}, {name: batch, share: 2, batch: 3}]
            each:
              - {name: ask, count: 3, operations: [{find: orders, key: uniform}, {find: items, key: uniform}]}
              - {name: size, sizes: items}
          - {name: init, create: late}
          - {load: late, batch: 5}
          - {name: mix, count: 20, operations: [{insert: users}, {find: users, key: uniform}]}
          - {name: add, count: 6, operations: [{insertMany: users, batch: 2}]}
          - {name: again, count: 3, operations: [{find: users, key: uniform}]}
          - {name: sizes, sizes: users}
          - {check: users}
        """;

    /// <summary>
    /// Whatever is interrupted in the middle of it is written again or measured again: no phase of it adds documents for a time or a count.
    /// </summary>
    private static readonly string Repeatable = string.Join(
        '\n', Everything.Split('\n').Where(line => !line.Contains("insert", StringComparison.Ordinal)));

    private static readonly string[] Collections = ["users", "orders", "items", "late"];

    [Fact]
    public void A_run_that_was_cut_after_any_record_ends_as_one_that_was_not()
    {
        using var whole = new GrowthHarness { Text = Everything };
        Assert.True(whole.Run(_ => Scripted.Ok()));
        string expected = Describe(whole);
        int records = whole.Records.Count;
        Assert.Equal(21, records);
        for (int cut = 1; cut < records; cut++)
        {
            using var plan = new GrowthHarness { Text = Everything };
            CutAfter(plan, cut);
            Assert.True(plan.Run(_ => Scripted.Ok()), $"cut after record {cut}");
            AssertEqual(expected, Describe(plan), $"cut after record {cut}");
            Assert.True(plan.Data.Duplicates == 0, $"cut after record {cut}: {plan.Data.Duplicates} written twice");
            // Nothing that was finished is done again.
            Assert.True(plan.Operations == whole.Operations,
                $"cut after record {cut}: {plan.Operations} operations, {whole.Operations} without a cut");
        }
    }

    [Fact]
    public void A_run_that_was_stopped_at_any_operation_ends_with_the_same_documents_and_phases()
    {
        (string expected, int operations) = RunWhole(Repeatable);
        for (int at = 0; at < operations; at += Stride)
        {
            using var plan = new GrowthHarness { Text = Repeatable };
            using var stop = new CancellationTokenSource();
            plan.Run(
                i =>
                {
                    if (i == at)
                        stop.Cancel();
                    return Scripted.Ok();
                },
                stop.Token);
            Assert.True(plan.Run(_ => Scripted.Ok()), $"stopped at operation {at}");
            AssertEqual(expected, Outline(plan), $"stopped at operation {at}");
            Assert.True(plan.Data.Duplicates == 0, $"stopped at operation {at}: {plan.Data.Duplicates} written twice");
        }
    }

    /// <summary>A fault of the program, and a server that forgets what was not on disk.</summary>
    [Fact]
    public void A_run_that_died_at_any_operation_ends_with_the_same_documents_and_phases()
    {
        (string expected, int operations) = RunWhole(Repeatable);
        for (int at = 1; at < operations; at += Stride)
        {
            using var plan = new GrowthHarness { Text = Repeatable };
            Assert.Throws<InvalidOperationException>(() => plan.Run(i => i == at ? Scripted.Dies() : Scripted.Ok()));
            int salt = at;
            plan.Data.Lose(number => (number + salt) % 3 == 0);
            Assert.True(plan.Run(_ => Scripted.Ok()), $"died at operation {at}");
            AssertEqual(expected, Outline(plan), $"died at operation {at}");
        }
    }

    [Fact]
    public void A_load_in_ranges_begins_anew()
    {
        const string Ranges = "data:\n  users: {count: 30, document: {n: ^number}}\nphases:\n"
            + "  - {load: users, batch: 1, threads: 3, ranges: true}\n";
        using var plan = new GrowthHarness { Text = Ranges };
        using var stop = new CancellationTokenSource();
        Assert.False(plan.Run(
            i =>
            {
                if (i == 9)
                    stop.Cancel();
                return Scripted.Ok();
            },
            stop.Token));
        Assert.True(plan.Run(_ => Scripted.Ok()));
        Assert.Equal(Enumerable.Range(0, 30).Select(n => (long)n), plan.Data.Numbers("users"));
        Assert.Equal(30, plan.Records.Single().Operations.Single().Documents);
        Assert.Equal(0, plan.Data.Duplicates);
    }

    [Fact]
    public void Inserts_that_were_stopped_in_the_middle_are_kept_and_numbers_go_on_behind_them()
    {
        const string Adding = GrowthHarness.Users
            + "phases:\n  - {load: users}\n  - {name: add, count: 50, operations: [{insert: users}]}\n";
        using var plan = new GrowthHarness { Text = Adding };
        using var stop = new CancellationTokenSource();
        Assert.False(plan.Run(
            i =>
            {
                if (i == 20)
                    stop.Cancel();
                return Scripted.Ok();
            },
            stop.Token));
        Assert.Equal(120, plan.Data.Numbers("users").Count);
        Assert.True(plan.Run(_ => Scripted.Ok()));
        Assert.Equal(Enumerable.Range(0, 170).Select(n => (long)n), plan.Data.Numbers("users"));
        Assert.Equal((170L, 50L), (plan.Records[1].Documents, plan.Records[1].Operations.Single().Operations));
        Assert.Equal(0, plan.Data.Duplicates);
    }

    [Fact]
    public void A_growth_of_one_record_is_not_done_before_its_checkpoint()
    {
        const string One = "data: {users: {document: {n: ^number}}}\nphases: [{grow: users, to: 20, step: 20}]\n";
        using var plan = new GrowthHarness { Text = One };
        using var stop = new CancellationTokenSource();
        plan.Heard.Then = _ => stop.Cancel();
        Assert.False(plan.Run(_ => Scripted.Ok(), stop.Token));
        Assert.True(plan.Records.Single().IsComplete);
        plan.Data.Lose(number => number is 3 or 19);
        plan.Heard.Then = _ => { };
        Assert.True(plan.Run(_ => Scripted.Ok()));
        Assert.Equal(Enumerable.Range(0, 20).Select(n => (long)n), plan.Data.Numbers("users"));
        Assert.Equal([20], plan.Data.Checkpoints);
    }

    /// <summary>Two growths of one collection, and inserts into others at each size.</summary>
    [Fact]
    public void Phases_that_insert_at_each_size_do_not_write_a_number_twice()
    {
        const string Inserting = """
            data:
              orders: {document: {n: ^number}}
              late: {document: {n: ^number}}
            phases:
              - name: small
                grow: orders
                sizes: [2, 5]
                each:
                  - {name: log, count: 4, operations: [{insert: late}]}
                  - {name: ask, count: 3, operations: [{find: late, key: uniform}]}
              - {name: large, grow: orders, sizes: [8, 9]}
            """;
        using var whole = new GrowthHarness { Text = Inserting };
        Assert.True(whole.Run(_ => Scripted.Ok()));
        Assert.Equal((9, 8), (whole.Data.Numbers("orders").Count, whole.Data.Numbers("late").Count));
        for (int cut = 1; cut < whole.Records.Count; cut++)
        {
            using var plan = new GrowthHarness { Text = Inserting };
            CutAfter(plan, cut);
            Assert.True(plan.Run(_ => Scripted.Ok()), $"cut after record {cut}");
            AssertEqual(Describe(whole), Describe(plan), $"cut after record {cut}");
            Assert.True(plan.Data.Duplicates == 0, $"cut after record {cut}: {plan.Data.Duplicates} written twice");
        }
    }

    /// <summary>Ctrl+C between a phase's beginning and its first operation.</summary>
    [Fact]
    public void A_phase_that_was_stopped_before_its_first_operation_is_not_done()
    {
        using var whole = new GrowthHarness { Text = Everything };
        Assert.True(whole.Run(_ => Scripted.Ok()));
        for (int at = 1; at <= whole.Records.Count; at++)
        {
            using var plan = new GrowthHarness { Text = Everything };
            using var stop = new CancellationTokenSource();
            int left = at;
            plan.Heard.Before = _ =>
            {
                if (--left == 0)
                    stop.Cancel();
            };
            Assert.False(plan.Run(_ => Scripted.Ok(), stop.Token), $"stopped at phase {at}");
            plan.Heard.Before = _ => { };
            Assert.True(plan.Run(_ => Scripted.Ok()), $"stopped at phase {at}");
            AssertEqual(Describe(whole), Describe(plan), $"stopped at phase {at}");
        }
    }

    /// <summary>Found by a review: the resumed run knew nothing of them, and was refused, or counted them missing.</summary>
    [Fact]
    public void What_a_unique_index_refused_is_known_to_the_resumed_run_wherever_it_was_stopped()
    {
        // The last one of a step, too: the collection seems to end before it.
        using GrowthHarness whole = Begin();
        Assert.True(whole.Run(_ => Scripted.Ok()));
        string expected = Outcome(whole);
        Assert.Equal(26, whole.Operations);
        for (int at = 1; at < 26; at++)
        {
            using GrowthHarness plan = Begin();
            using var stop = new CancellationTokenSource();
            plan.Run(
                i =>
                {
                    if (i == at)
                        stop.Cancel();
                    return Scripted.Ok();
                },
                stop.Token);
            int prepared = plan.Prepared.Count();
            Assert.True(plan.Run(_ => Scripted.Ok()), $"stopped at operation {at}");
            AssertEqual(expected, Outcome(plan), $"stopped at operation {at}");
            Assert.All(plan.Prepared.Skip(prepared).OfType<FindDocuments>(), find => Assert.Null(find.Expected));
        }

        static GrowthHarness Begin()
        {
            var plan = new GrowthHarness
            {
                MaxErrors = 2,
                Text = """
                    data: {users: {document: {n: ^number}}}
                    phases:
                      - {grow: users, to: 20, step: 10, writes: [{name: one, batch: 1}], each: [{name: read, count: 3, operations: [{find: users, key: uniform}]}]}
                      - {check: users}
                    """,
            };
            plan.Data.Twice.UnionWith([3, 9]);
            return plan;
        }

        static string Outcome(GrowthHarness plan) => $"{string.Join(' ', plan.Data.Numbers("users"))}\nmissing {plan.Missing}\n"
            + string.Join('\n', plan.Records.Select(record => $"{record.Number} {record.Documents} {record.IsComplete}"))
            + $"\n{plan.Heard.Events.Last(e => e.Kind == "checked").Text}";
    }

    /// <summary>Found by a review: a later run counted them as missing.</summary>
    [Fact]
    public void What_a_unique_index_refused_is_known_to_a_later_run_that_grows_the_collection_further()
    {
        const string Text = """
            data: {users: {document: {n: ^number}}}
            phases:
              - {grow: users, to: TO, step: 10, writes: [{name: one, batch: 1}], each: [{name: read, count: 3, operations: [{find: users, key: uniform}]}]}
              - {check: users}
            """;
        using var first = new GrowthHarness
        {
            Data = new MemoryData(new ManualClock()) { HasMarkers = true }, MaxErrors = 2,
            Text = Text.Replace("TO", "20", StringComparison.Ordinal),
        };
        first.Data.Twice.UnionWith([3, 9]);
        Assert.True(first.Run(_ => Scripted.Ok()));
        using var later = new GrowthHarness
        {
            Data = first.Data, Text = Text.Replace("TO", "30", StringComparison.Ordinal), StartDocuments = { ["users"] = 20 },
        };
        Assert.True(later.Run(_ => Scripted.Ok()));
        Assert.Equal(0, later.Missing);
        Assert.Equal("users holds all 30 documents, not counting 2 that a unique index refused",
            later.Heard.Events.Last(e => e.Kind is "checked" or "missing").Text);
        Assert.All(later.Prepared.OfType<FindDocuments>(), find => Assert.Null(find.Expected));
    }

    [Fact]
    public void A_collection_that_is_made_anew_has_refused_nothing_yet()
    {
        using var plan = new GrowthHarness
        {
            MaxErrors = 1,
            Text = """
                data: {users: {count: 10, document: {n: ^number}}}
                phases:
                  - {name: first, create: users}
                  - {load: users, batch: 1}
                  - {name: again, create: users}
                  - {name: load again, load: users, batch: 1}
                  - {name: read, count: 1, operations: [{find: users, key: uniform}]}
                """,
        };
        plan.Data.Twice.Add(3);
        plan.Heard.Before = record =>
        {
            if (record.Phase == "again")
                plan.Data.Twice.Clear();
        };
        Assert.True(plan.Run(_ => Scripted.Ok()));
        Assert.NotNull(Assert.Single(plan.Prepared.OfType<FindDocuments>()).Expected);
        using StoredRun stored = plan.OpenStored();
        Assert.Equal("{}", stored.FindNote(RefusedDocuments.Note));
    }

    [Fact]
    public void A_finished_run_has_nothing_left_to_do()
    {
        using var plan = new GrowthHarness { Text = Everything };
        Assert.True(plan.Run(_ => Scripted.Ok()));
        int operations = plan.Operations;
        string expected = Describe(plan);
        Assert.True(plan.Run(_ => Scripted.Ok()));
        Assert.Equal(operations, plan.Operations);
        AssertEqual(expected, Describe(plan), "run again");
    }

    private static void CutAfter(GrowthHarness plan, int records)
    {
        using var stop = new CancellationTokenSource();
        int left = records;
        plan.Heard.Then = _ =>
        {
            if (--left == 0)
                stop.Cancel();
        };
        Assert.False(plan.Run(_ => Scripted.Ok(), stop.Token), $"cut after record {records}");
        plan.Heard.Then = _ => { };
    }

    private static (string Outline, int Operations) RunWhole(string text)
    {
        using var whole = new GrowthHarness { Text = text };
        Assert.True(whole.Run(_ => Scripted.Ok()));
        return (Outline(whole), whole.Operations);
    }

    /// <summary>Documents, and every record with all that it counted.</summary>
    private static string Describe(GrowthHarness plan) => Outline(plan) + string.Join('\n', plan.Records.Select(Details));

    private static string Details(PhaseRecord record) =>
        $"{record.Number} next {string.Join(' ', record.NextNumbers.OrderBy(n => n.Key, StringComparer.Ordinal))}"
        + string.Concat(record.Operations.Select(o => string.Create(
            CultureInfo.InvariantCulture, $"; {o.Operation}: {o.Operations} {o.Documents} {o.Failed} {o.Repaired} {o.Seconds:0.000} "
                + $"{o.LatencyMicroseconds.P50} {o.Accounting}")));

    /// <summary>Documents, and every record but for what a part of it counted.</summary>
    private static string Outline(GrowthHarness plan)
    {
        using StoredRun stored = plan.OpenStored();
        IEnumerable<string> documents = Collections.Select(name => $"{name}: {string.Join(' ', plan.Data.Numbers(name))}");
        IEnumerable<string> records = stored.Phases.Select(r =>
            $"{r.Number} {r.Phase} {r.Kind} {r.Growth} {r.Collection} {r.Documents} {r.IsComplete} next {r.NextNumbers[r.Collection!]}"
            + $" of {string.Join(' ', r.Operations.Select(o => o.Operation))} sizes "
            + $"{string.Join(' ', r.Sizes.Select(s => $"{s.Collection} {s.Documents}"))}");
        IEnumerable<string> checkpoints = stored.Checkpoints.Select(c => $"checkpoint {c.Phase} {c.Documents}");
        return string.Join('\n', documents.Concat(records).Concat(checkpoints)) + "\n";
    }

    private static void AssertEqual(string expected, string actual, string what)
    {
        string[] differing = [.. expected.Split('\n').Zip(actual.Split('\n'))
            .Where(pair => pair.First != pair.Second).Select(pair => $"expected {pair.First}\nwas      {pair.Second}")];
        Assert.True(expected == actual, $"{what}:\n{string.Join('\n', differing)}");
    }
}

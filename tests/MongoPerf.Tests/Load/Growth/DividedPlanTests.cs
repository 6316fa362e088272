using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Growth;

/// <summary>
/// A plan that several clients carry out, one after the other here: what each does must not depend on how far the others are.
/// </summary>
public sealed class DividedPlanTests
{
    private const string Users = GrowthHarness.Users;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(4)]
    [InlineData(7)]
    public void Clients_together_write_each_document_of_a_growth_once(int clients)
    {
        var data = new MemoryData(new ManualClock());
        for (int i = 0; i < clients; i++)
        {
            using var part = new GrowthHarness { Data = data, Share = new PlanShare(i, clients) };
            Assert.True(part.Run(_ => Scripted.Ok()));
            Assert.Equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], part.Records.Select(record => record.Number));
            Assert.All(part.Records, record => Assert.True(record.IsComplete));
            Assert.Equal(part.Met.Order(), part.Met);
            Assert.Equal(clients == 1, part.Met.Count == 0);
        }

        Assert.Equal(Enumerable.Range(0, 24).Select(number => (long)number), data.Numbers("series"));
        Assert.Equal(0, data.Duplicates);
        Assert.Empty(data.Written);
        Assert.Single(data.Calls, call => call.StartsWith("create", StringComparison.Ordinal));
        Assert.Equal(2, data.Calls.Count(call => call.StartsWith("sizes", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData(0, 2)]
    [InlineData(1, 2)]
    [InlineData(2, 3)]
    public void A_client_that_was_interrupted_continues_its_own_part_only(int interrupted, int clients)
    {
        var data = new MemoryData(new ManualClock());
        for (int i = 0; i < clients; i++)
        {
            using var part = new GrowthHarness { Data = data, Share = new PlanShare(i, clients), Phases = ["safe"] };
            if (i == interrupted)
            {
                using var stop = new CancellationTokenSource();
                int done = 0;
                Assert.False(part.Run(
                    _ =>
                    {
                        if (++done == 3)
                            stop.Cancel();
                        return Scripted.Ok();
                    }, stop.Token));
                Assert.InRange(data.Numbers("series").Count, 1, (12 * i) + 11);
            }

            Assert.True(part.Run(_ => Scripted.Ok()));
        }

        Assert.Equal(24, data.Numbers("series").Count);
        Assert.Equal(0, data.Duplicates);
    }

    [Fact]
    public void Loads_and_counts_are_divided_and_reads_draw_from_all_documents()
    {
        var data = new MemoryData(new ManualClock());
        long operations = 0;
        foreach (int i in (int[])[0, 1, 2])
        {
            using var part = new GrowthHarness
            {
                Data = data, Share = new PlanShare(i, 3), Text = Users
                    + "phases:\n  - {load: users, batch: 7}\n  - {name: read, count: 1000, operations: [{find: users, key: uniform}]}\n",
            };
            Assert.True(part.Run(_ => Scripted.Ok()));
            operations += part.Records[1].Operations.Single().Operations;
            Assert.Equal([100, 100], part.Records.Select(record => record.Documents));
            Assert.InRange(part.Executors[^1].KeysDrawn.Max(), 90, 99);
            Assert.InRange(part.Executors[^1].KeysDrawn.Min(), 0, 9);
        }

        Assert.Equal(100, data.Numbers("users").Count);
        Assert.Equal((0, 1000), (data.Duplicates, operations));
    }

    [Theory]
    [InlineData("[{name: add, count: 10, operations: [{insert: users}]}]", null)]
    [InlineData("[{load: users}, {name: mix, count: 10, operations: [{find: users, key: uniform}, {insert: users}]}]", null)]
    [InlineData("[{name: read, until: p99 ±5 %, operations: [{find: users, key: uniform}]}]", "measures until a percentile is known")]
    [InlineData("[{load: users}]", null)]
    [InlineData("[{load: fs}, {name: read, count: 10, operations: [{download: fs}]}]", null)]
    [InlineData("[{name: add, count: 10, operations: [{upload: fs}]}]", "phase 'add' adds files to 'fs' while it measures")]
    [InlineData("[{balancer: off}, {load: users}]", null)]
    [InlineData(
        "[{name: mix, groups: [{name: clients, operations: [{find: users, key: uniform}]}, {name: window, balancer: now, within: 5m}]}]",
        "changes the cluster beside other work")]
    [InlineData("[{load: users}, {name: work, count: 10, operations: [{find: users, key: uniform}, {update: users, key: uniform, with: "
        + "{$set: {n: 1}}}, {delete: users, key: uniform}]}]", null)]
    [InlineData("[{name: storm, count: 10, connections: {storm: 4}, operations: [{find: users, key: uniform}]}]", null)]
    [InlineData("[{name: storm, count: 10, connections: {storm: 3}, operations: [{find: users, key: uniform}]}]",
        "phase 'storm' opens 3 connections at once, fewer than there are clients (4)")]
    public void What_can_not_be_divided_is_told(string phases, string? fault)
    {
        Plan plan = PlanReader.Read(
            new ScenarioFile("test", "test.yaml", $"{Users}  fs: {{files: {{count: 10, length: 1kB}}}}\nphases: {phases}\n"),
            new PlanOverrides(), 42).Plan;
        Assert.Equal(fault is not null, PlanDivision.FindFault(plan, clients: 4) is not null);
        Assert.Contains(fault ?? "", PlanDivision.FindFault(plan, clients: 4) ?? "", StringComparison.Ordinal);
    }

    [Fact]
    public void Documents_that_can_not_be_found_again_are_loaded_in_parts_and_anew_after_an_interruption()
    {
        string text = Users
            + "phases:\n  - {load: users, batch: 2}\n  - {name: read, count: 30, operations: [{find: users, key: uniform}]}\n";
        var data = new MemoryData(new ManualClock()) { FindsNumbers = false };
        GrowthHarness[] parts = RunTogether(data, text, 3, (client, operation) => client == 1 && operation == 10 ? null : Scripted.Ok());
        Assert.All(parts, part => Assert.False(part.Records[0].IsComplete));
        parts = RunTogether(data, text, 3, static (_, _) => Scripted.Ok(), parts);
        Assert.Equal((100, 0), (data.Numbers("users").Count, data.Duplicates));
        Assert.Equal(100, parts.Sum(part => part.Records[0].Operations.Single().Documents));
        Assert.All(parts, part =>
        {
            Assert.All(part.Records, record => Assert.True(record.IsComplete));
            Assert.Equal((100, 0), (part.Records[0].Documents, part.Missing));
            part.Dispose();
        });
        Assert.Equal([100], data.Checkpoints);
    }

    [Fact]
    public void What_is_about_the_cluster_the_first_client_does_while_the_others_wait()
    {
        string text = Users + "phases:\n  - {balancer: off}\n  - load: users\n";
        var data = new MemoryData(new ManualClock());
        GrowthHarness[] parts = RunTogether(data, text, 3, static (_, _) => Scripted.Ok());
        Assert.Equal([1, 0, 0], parts.Select(part => part.Records[0].Operations.Sum(operation => operation.Operations)));
        Assert.All(parts, part =>
        {
            Assert.All(part.Records, record => Assert.True(record.IsComplete));
            part.Dispose();
        });
    }

    [Theory]
    [InlineData(2, 60, "insert: users")]
    [InlineData(3, 101, "insert: users")]
    [InlineData(4, 200, "insertMany: users, batch: 3")]
    [InlineData(7, 350, "insertMany: users, batch: 5")]
    public void Clients_that_insert_beside_other_work_use_each_number_once_and_leave_no_gap(int clients, int count, string insert)
    {
        string text = $$"""
            {{Users}}phases:
              - load: users
              - {name: mix, count: {{count}}, operations: [{find: users, key: latest}, { {{insert}}}]}
              - {name: add, count: {{count}}, operations: [{ {{insert}}}]}
              - {name: again, count: {{count}}, operations: [{find: users, key: uniform}, { {{insert}}, weight: 2}]}
              - {check: users}
            """;
        var data = new MemoryData(new ManualClock());
        GrowthHarness[] parts = RunTogether(data, text, clients, static (_, _) => Scripted.Ok());

        Assert.Equal(0, data.Duplicates);
        Assert.Equal(Enumerable.Range(0, data.Numbers("users").Count).Select(number => (long)number), data.Numbers("users"));
        long inserted = parts.Sum(part => part.Records.SelectMany(record => record.Operations)
            .Where(operation => operation.IsInsert).Sum(operation => operation.Documents));
        Assert.Equal(data.Numbers("users").Count, inserted + data.Written.Sum(range => range.Count));
        Assert.All(parts, part =>
        {
            Assert.All(part.Records, record => Assert.True(record.IsComplete));
            Assert.Equal(data.Numbers("users").Count, part.Records[^1].NextNumbers["users"]);
            Assert.Equal(0, part.Missing);
        });
        // Readers asked for nothing that was never there.
        Assert.All(parts.SelectMany(part => part.Executors).SelectMany(executor => executor.KeysDrawn),
            key => Assert.InRange(key, 0, data.Numbers("users").Count - 1));
        foreach (GrowthHarness part in parts)
            part.Dispose();
    }

    [Fact]
    public void A_client_asks_for_what_was_there_and_for_what_it_inserted_itself_but_never_for_the_other_clients_new_documents()
    {
        string text = Users
            + "phases:\n  - load: users\n  - {name: mix, count: 400, operations: [{find: users, key: latest}, {insert: users}]}\n";
        var data = new MemoryData(new ManualClock());
        GrowthHarness[] parts = RunTogether(data, text, 2, static (_, _) => Scripted.Ok());
        foreach ((int i, GrowthHarness part) in parts.Index())
        {
            long[] drawn = [.. part.Executors.SelectMany(executor => executor.KeysDrawn)];
            Assert.Contains(drawn, key => key >= 100);
            Assert.All(drawn.Where(key => key >= 100), key => Assert.Equal(i, key % 2));
            part.Dispose();
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void Inserting_clients_of_which_one_was_interrupted_continue_without_using_a_number_twice(int interrupted)
    {
        string text = Users + "phases:\n  - load: users\n"
            + "  - {name: mix, count: 300, operations: [{find: users, key: uniform}, {insert: users}]}\n  - {check: users}\n";
        var data = new MemoryData(new ManualClock());
        GrowthHarness[] parts = RunTogether(
            data, text, 2, (client, operation) => client == interrupted && operation == 120 ? null : Scripted.Ok());
        Assert.Contains(parts, part => !part.Records[^1].IsComplete);
        parts = RunTogether(data, text, 2, static (_, _) => Scripted.Ok(), parts);
        Assert.Equal(0, data.Duplicates);
        Assert.Equal(Enumerable.Range(0, data.Numbers("users").Count).Select(number => (long)number), data.Numbers("users"));
        Assert.All(parts, part =>
        {
            Assert.Equal(3, part.Records.Count(record => record.IsComplete));
            Assert.Equal(0, part.Missing);
            part.Dispose();
        });
    }

    [Theory]
    [InlineData("- {load: users, batch: 1}", 60)]
    [InlineData("- {name: mix, count: 300, operations: [{find: users, key: uniform}, {insert: users}]}", 120)]
    [InlineData("- {name: add, count: 300, operations: [{insert: users}]}", 70)]
    public void A_client_that_lost_its_disk_in_the_middle_of_a_phase_meets_none_of_its_own_documents(string phase, int interruptedAt)
    {
        string text = $"{Users}phases:\n"
            + $"  {(phase.StartsWith("- {load", StringComparison.Ordinal) ? "" : "- load: users\n  ")}{phase}\n  - {{check: users}}\n";
        var data = new MemoryData(new ManualClock());
        GrowthHarness[] parts = RunTogether(
            data, text, 2, (client, operation) => client == 1 && operation == interruptedAt / 2 ? null : Scripted.Ok());
        Assert.All(parts, part => Assert.False(part.Records[^1].IsComplete));
        int before = data.Numbers("users").Count;
        parts[1].Dispose();
        parts = RunTogether(data, text, 2, static (_, _) => Scripted.Ok(),
            [parts[0], new GrowthHarness { Data = data, Share = new PlanShare(1, 2), Text = text }]);
        AssertWhole(data, parts);
        Assert.InRange(data.Numbers("users").Count, before, int.MaxValue);
    }

    [Theory]
    [InlineData("mix, duration: 1s, operations: [{find: users, key: uniform}, {insert: users}]", false)]
    [InlineData("mix, duration: 1s, operations: [{find: users, key: uniform}, {insert: users}]", true)]
    [InlineData("add, duration: 1s, operations: [{insert: users}]", false)]
    public void A_client_killed_while_gaps_are_closed_closes_its_own_when_it_comes_back_and_measures_nothing_again(
        string phase, bool hasLostDisk)
    {
        string text = $"{Users}phases:\n  - load: users\n  - {{name: {phase}}}\n  - {{check: users}}\n";
        var data = new MemoryData(new ManualClock());
        // Of three clients the second has the most to do, so that all others find gaps, and the third is killed when it closes its own.
        Func<int, int, Scripted?> script = (client, _) => Scripted.Ok(seconds: client == 1 ? 0.001 : 0.01);
        data.OnWrite = () =>
        {
            if (Thread.CurrentThread.Name == "client 2")
                throw new KilledException();
        };
        GrowthHarness[] parts = RunTogether(data, text, 3, script);
        data.OnWrite = () => { };
        Assert.Equal([true, true, false], parts.Select(part => part.Records[1].IsComplete));
        int there = data.Numbers("users").Count;
        long[] measured = [.. parts.Select(Inserted)];
        Assert.All(measured, documents => Assert.NotEqual(0, documents));
        if (hasLostDisk)
        {
            parts[2].Dispose();
            parts[2] = new GrowthHarness { Data = data, Share = new PlanShare(2, 3), Text = text };
            measured[2] = 0;
        }

        parts = RunTogether(data, text, 3, static (_, _) => Scripted.Ok(), parts);
        Assert.Equal(measured, parts.Select(Inserted));
        Assert.InRange(data.Numbers("users").Count, there, int.MaxValue);
        AssertWhole(data, parts);

        static long Inserted(GrowthHarness part) => part.Records.Where(record => record.Kind == PhaseKind.Measure)
            .SelectMany(record => record.Operations).Where(operation => operation.IsInsert).Sum(operation => operation.Documents);
    }

    [Fact]
    public void Where_documents_are_removed_the_gaps_of_clients_stay()
    {
        string text = Users
            + "phases:\n  - load: users\n  - {name: mix, count: 300, operations: [{delete: users, key: uniform}, {insert: users}]}\n";
        var data = new MemoryData(new ManualClock());
        GrowthHarness[] parts = RunTogether(data, text, 2, static (_, _) => Scripted.Ok());
        Assert.Equal(0, data.Duplicates);
        Assert.Empty(data.Written);
        foreach (GrowthHarness part in parts)
            part.Dispose();
    }

    [Theory]
    [InlineData(0, 100, 3)]
    [InlineData(17, 4000, 64)]
    public void Numbers_that_clients_add_are_divided_whatever_each_of_them_begins_at(long first, long end, int count)
    {
        long[] all = [.. Enumerable.Range(0, count).SelectMany(i => new PlanShare(i, count).OwnOf(new NumberRange(first, end)))];
        Assert.Equal(Enumerable.Range((int)first, (int)(end - first)).Select(number => (long)number), all.Order());
        var (one, other) = (new KeySpace(first, new PlanShare(0, count)), new KeySpace(first + 5, new PlanShare(1, count)));
        Assert.Empty(Enumerable.Range(0, 50).Select(i => one.NumberOf(first + i))
            .Where(number => number >= first + 5).Intersect(Enumerable.Range(0, 50).Select(i => other.NumberOf(first + 5 + i))));
        Assert.Equal(first - 1, one.NumberOf(first - 1));
    }

    private static void AssertWhole(MemoryData data, GrowthHarness[] parts)
    {
        Assert.Equal(0, data.Duplicates);
        Assert.Equal(Enumerable.Range(0, data.Numbers("users").Count).Select(number => (long)number), data.Numbers("users"));
        Assert.All(parts, part =>
        {
            Assert.All(part.Records, record => Assert.True(record.IsComplete));
            Assert.Equal(data.Numbers("users").Count, part.Records[^1].NextNumbers["users"]);
            Assert.Equal(0, part.Missing);
            part.Dispose();
        });
    }

    /// <summary>Found by a review: the first client, which checks for all, knew only the documents that were refused to itself.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_a_unique_index_refused_to_any_client_is_not_missing(bool findsDocuments)
    {
        const string Text = Users + "phases:\n  - {load: users, batch: 1}\n  - {check: users}\n";
        var data = new MemoryData(new ManualClock()) { HasMarkers = true, FindsNumbers = findsDocuments };
        data.Twice.UnionWith([3, 60, 70]);
        GrowthHarness[] parts = RunTogether(data, Text, 2, static (_, _) => Scripted.Ok(),
            [
                .. Enumerable.Range(0, 2)
                    .Select(i => new GrowthHarness { Data = data, Share = new PlanShare(i, 2), Text = Text, MaxErrors = 3 }),
            ]);
        Assert.Equal(97, data.Numbers("users").Count);
        Assert.Equal("users holds all 100 documents, not counting 3 that a unique index refused",
            parts[0].Heard.Events.Last(e => e.Kind is "checked" or "missing").Text);
        Assert.All(parts, part =>
        {
            Assert.Equal(0, part.Missing);
            Assert.All(part.Records, record => Assert.True(record.IsComplete));
            part.Dispose();
        });
    }

    /// <summary>Nothing is stored any more of what throws it.</summary>
    private sealed class KilledException : Exception;

    /// <summary>Each client on a thread of its own; they wait for one another as agents do.</summary>
    /// <param name="data">Of all.</param>
    /// <param name="text">The scenario.</param>
    /// <param name="clients">How many.</param>
    /// <param name="script">Of each client's operations; null interrupts the client.</param>
    /// <param name="before">Clients that continue; null for new ones.</param>
    private static GrowthHarness[] RunTogether(
        MemoryData data, string text, int clients, Func<int, int, Scripted?> script, GrowthHarness[]? before = null)
    {
        var meeting = new MeetingPoint(clients);
        GrowthHarness[] parts = before ?? [.. Enumerable.Range(0, clients)
            .Select(i => new GrowthHarness { Data = data, Share = new PlanShare(i, clients), Text = text })];
        Thread[] threads =
        [
            .. parts.Select((part, i) => new Thread(() =>
            {
                using var stop = new CancellationTokenSource();
                part.Meet = position => meeting.Wait(i, position);
                bool isDone = false;
                try
                {
                    isDone = part.Run(
                        operation =>
                        {
                            if (script(i, operation) is { } step)
                                return step;
                            stop.Cancel();
                            return Scripted.Ok();
                        }, stop.Token);
                }
                catch (KilledException)
                {
                }

                meeting.Leave(i, isDone);
            })
            { Name = $"client {i}" }),
        ];
        foreach (Thread thread in threads)
            thread.Start();
        Assert.All(threads, thread => Assert.True(thread.Join(TimeSpan.FromMinutes(2))));
        return parts;
    }

    [Theory]
    [InlineData(0, 24, 5)]
    [InlineData(100, 101, 3)]
    [InlineData(7, 1_000_007, 64)]
    public void Shares_of_a_range_are_the_range(long first, long end, int count)
    {
        var range = new NumberRange(first, end);
        NumberRange[] shares = [.. Enumerable.Range(0, count).Select(i => new PlanShare(i, count).Of(range))];
        Assert.Equal(first, shares[0].First);
        Assert.Equal(end, shares[^1].End);
        Assert.All(shares.Zip(shares.Skip(1)), pair => Assert.Equal(pair.First.End, pair.Second.First));
        Assert.True(shares.Max(share => share.Count) - shares.Min(share => share.Count) <= 1);
        Assert.Equal(shares.Select(share => share.Count), Enumerable.Range(0, count).Select(i => new PlanShare(i, count).Of(range.Count)));
    }

    /// <summary>Stands for the coordinator.</summary>
    private sealed class MeetingPoint(int clients)
    {
        private readonly long[] _positions = new long[clients];
        private bool _hasLost;

        public Meeting Wait(int client, long position)
        {
            lock (_positions)
            {
                _positions[client] = position;
                Monitor.PulseAll(_positions);
                while (_positions.Any(other => other < position) && !_hasLost)
                    Monitor.Wait(_positions);
                return new Meeting(_positions.Any(other => other < position)
                    ? "one of the clients has left"
                    : null) { Farthest = _positions.Max() };
            }
        }

        public void Leave(int client, bool isDone)
        {
            lock (_positions)
            {
                if (isDone)
                    _positions[client] = long.MaxValue;
                else
                    _hasLost = true;
                Monitor.PulseAll(_positions);
            }
        }
    }
}

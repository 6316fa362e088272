using MongoPerf.Engine.Keys;
using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Scenarios;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Growth;

/// <summary>A plan that several clients carry out, one after the other here: what each does must not depend on how far the others are.</summary>
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
                Data = data, Share = new PlanShare(i, 3), Text = Users + "phases:\n  - {load: users, batch: 7}\n  - {name: read, count: 1000, operations: [{find: users}]}\n",
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
    [InlineData("[{name: add, count: 10, operations: [{insert: users}]}]", "inserts beside other work")]
    [InlineData("[{name: read, until: p99 ±5 %, operations: [{find: users}]}]", "measures until a percentile is known")]
    [InlineData("[{load: users}]", null)]
    [InlineData("[{load: users}, {name: work, count: 10, operations: [{find: users}, {update: users, with: {$set: {n: 1}}}, {delete: users}]}]", null)]
    public void What_can_not_be_divided_is_told(string phases, string? fault)
    {
        Plan plan = PlanReader.Read(new ScenarioFile("test", "test.yaml", $"{Users}phases: {phases}\n"), new PlanOverrides(), 42).Plan;
        Assert.Equal(fault is not null, PlanDivision.FindFault(plan) is not null);
        Assert.Contains(fault ?? "", PlanDivision.FindFault(plan) ?? "", StringComparison.Ordinal);
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
}

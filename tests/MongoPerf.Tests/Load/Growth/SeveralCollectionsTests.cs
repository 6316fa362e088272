using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Load.Growth;

/// <summary>A growth of several collections, with others at work beside it, at sizes of its own.</summary>
public sealed class SeveralCollectionsTests : IDisposable
{
    private const string Two = """
        data:
          users: {document: {n: ^number}}
          orders: {document: {n: ^number}}

        """;

    private GrowthHarness _plan = new();

    public void Dispose() => _plan.Dispose();

    [Fact]
    public void Each_collection_has_its_part_of_every_size()
    {
        Begin(Two + """
            phases:
              - name: shop
                grow: {users: 1, orders: 3}
                to: 20
                step: 10
                writes: [{name: single, share: 1}, {name: batch, share: 4, batch: 8}]
                each:
                  - {name: read, count: 4, operations: [{find: users, key: uniform}, {find: orders, key: uniform}]}
                  - {name: size, sizes: orders}
            """);
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal((20, 60), (_plan.Data.Numbers("users").Count, _plan.Data.Numbers("orders").Count));
        Assert.Equal(
            [
                "1 1 users.single 2", "2 1 users.batch 10", "3 1 orders.single 6", "4 1 orders.batch 30", "5 1 read 10", "6 1 size 30",
                "7 2 users.single 12", "8 2 users.batch 20", "9 2 orders.single 36", "10 2 orders.batch 60", "11 2 read 20", "12 2 size 60",
            ],
            _plan.Records.Select(r => $"{r.Number} {r.Growth!.Step} {r.Phase} {r.Documents}"));
        Assert.Equal([30, 60], _plan.Records.SelectMany(r => r.Sizes).Select(s => s.Documents));
        Assert.Equal(["checkpoint users 10", "checkpoint orders 30", "checkpoint users 20", "checkpoint orders 60"],
            _plan.Data.Calls.Where(c => c.StartsWith("checkpoint", StringComparison.Ordinal)));
        using StoredRun stored = _plan.OpenStored();
        Assert.Equal([("shop", 10L), ("shop", 20L)], stored.GrowthSteps.Select(s => (s.Growth, s.Documents)));
    }

    [Fact]
    public void Chosen_sizes_are_where_the_phases_run()
    {
        Begin(Two + """
            phases:
              - grow: users
                sizes: [3, 10, 11, 40]
                each:
                  - {name: size, sizes: users}
              - {name: after, count: 3, operations: [{find: users, key: uniform}]}
            """);
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal([3, 10, 11, 40], _plan.Records.SelectMany(r => r.Sizes).Select(s => s.Documents));
        Assert.Equal(Enumerable.Range(1, 9), _plan.Records.Select(r => r.Number));
        Assert.Equal(("after", 40L, true), (_plan.Records[^1].Phase, _plan.Records[^1].Documents, _plan.Records[^1].Growth is null));
    }

    [Fact]
    public void Groups_beside_a_growth_read_what_is_there_and_end_with_each_write()
    {
        Begin("""
            data:
              users: {document: {n: ^number}}
            phases:
              - grow: users
                to: 400
                step: 200
                writes: [{name: write, threads: 2}]
                beside:
                  - {name: readers, threads: 2, operations: [{find: users, key: uniform}]}
            """);
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(Enumerable.Range(0, 400).Select(n => (long)n), _plan.Data.Numbers("users"));
        Assert.Equal(["write", "write"], _plan.Records.Select(r => r.Phase));
        Assert.All(_plan.Records, r =>
        {
            Assert.True(r.IsComplete);
            Assert.Equal(["", "readers"], r.Groups.Select(g => g.Name));
            Assert.Equal(["write", "find"], r.Operations.Select(o => o.Operation));
            Assert.Equal(200, r.Operations[0].Documents);
            Assert.Equal(0, r.Operations[1].Failed);
            Assert.Null(r.Operations[1].Unacknowledged);
        });
        Assert.Equal((0, 0L), (_plan.Data.Duplicates, _plan.Failed));
    }

    /// <summary>What was asked for is what had been acknowledged.</summary>
    [Fact]
    public void Readers_beside_a_growth_ask_for_keys_that_exist()
    {
        Begin("""
            data:
              users: {document: {n: ^number}}
            phases:
              - grow: users
                to: 300
                step: 100
                writes: [{name: write, batch: 7}]
                beside: [{name: readers, operations: [{find: users, key: uniform}]}]
            """);
        // Nothing is acknowledged before the first reader is bound to the collection.
        Assert.True(_plan.Run(_ =>
        {
            Eventually.Is(IsAnyReaderBound);
            return Scripted.Ok();
        }));
        ScriptedExecutor[] readers = [.. _plan.Executors.Where(executor => executor.Prepared is [FindDocuments])];
        Assert.Equal(3, readers.Length);
        Assert.All(
            readers.Index(), reader => Assert.All(reader.Item.KeysDrawn, key => Assert.InRange(key, 0, (100 * (reader.Index + 1)) - 1)));
        // While the collection is empty nobody knows what a read brings.
        Assert.Equal([false, true, true], readers.Select(reader => ((FindDocuments)reader.Prepared[0]).Expected is not null));
    }

    private bool IsAnyReaderBound()
    {
        lock (_plan.Executors)
            return _plan.Executors.Any(executor => executor.Prepared is [FindDocuments]);
    }

    [Fact]
    public void Two_growths_of_one_run_are_two()
    {
        Begin(Two + """
            phases:
              - {name: first, grow: users, to: 4, step: 2}
              - {name: between, count: 2, operations: [{find: users, key: uniform}]}
              - {name: second, grow: orders, to: 9, step: 3, each: [{name: read, count: 1, operations: [{find: orders, key: uniform}]}]}
            """);
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        using StoredRun stored = _plan.OpenStored();
        Assert.Equal(
            [("first", 1, 2L), ("first", 2, 4L), ("second", 1, 3L), ("second", 2, 6L), ("second", 3, 9L)],
            stored.GrowthSteps.Select(s => (s.Growth, s.Step, s.Documents)));
        Assert.Equal([1, 2, 5, 7, 9], stored.Checkpoints.Select(c => c.Phase));
    }

    [Theory]
    [InlineData("insert", "inserts")]
    [InlineData("delete", "removes")]
    public void What_grows_is_neither_added_to_nor_removed_from_at_its_sizes(string operation, string does)
    {
        Begin($"data: {{users: {{document: {{n: ^number}}}}}}\nphases:\n  - {{grow: users, to: 20, step: 10, each: [{{name: more, count: "
            + $"5, operations: [{{{operation}: users, key: uniform}}]}}]}}\n");
        Assert.Contains($"phase 'more': operation 'more' {does} documents of 'users', which grows",
            Assert.Throws<UserException>(() => _plan.Run(_ => Scripted.Ok())).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_growth_goes_on_where_another_one_ended()
    {
        Begin("""
            data:
              users: {document: {n: ^number}}
            phases:
              - {name: small, grow: users, sizes: [3, 10]}
              - {name: large, grow: users, to: 30, step: 10}
            """);
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(Enumerable.Range(0, 30).Select(n => (long)n), _plan.Data.Numbers("users"));
        Assert.Equal(0, _plan.Data.Duplicates);
        Assert.Equal([3, 10, 20, 30], _plan.Records.Select(r => r.Documents));
    }

    private void Begin(string text)
    {
        _plan.Dispose();
        _plan = new GrowthHarness { Text = text };
    }
}

using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>What one of our own scenarios does on a mongod is seen by its profiler, and the learned scenario does the same.</summary>
[Collection(OtherTests.Name)]
public sealed class LearnOperationsTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [MongodFact]
    public void Profiled_operations_are_learned_with_their_shapes_rates_and_keys()
    {
        TestServer mongod = servers["mongod"];
        string shop = servers.NewDatabase();
        Directory.CreateDirectory(_runs.Path);
        string orders = Path.Combine(_runs.Path, "orders.yaml");
        string learned = Path.Combine(_runs.Path, "learned.yaml");
        File.WriteAllText(orders, """
            data:
              orders:
                count: 2000
                document: {_id: ^number, customer: {^int: [1, 300]}, total: {^int: [1, 500]}}
                indexes: [customer]
            phases:
              - {load: orders}
              - name: shop
                threads: 2
                count: 900
                rate: 300
                operations:
                  - {find: orders, weight: 6, key: {zipfian: {theta: 0.9, scrambled: false}}}
                  - {find: orders, name: of a customer, weight: 3, filter: {customer: {^field: customer}}, sort: {total: -1}, limit: 5}
                  - {update: orders, weight: 1, key: uniform, with: {$inc: {total: 1}}}
            """);
        RunProfiled(mongod, shop, orders);
        ProgramRun.Run("learn", "--uri", mongod.Uri, "--db", shop, "--from", "profiler", "-o",
            learned).Expect(0).Says("operations: the profiler");
        ProgramRun.Run("validate", learned).Expect(0);
        string text = File.ReadAllText(learned);
        foreach (string line in (string[])
            [
                "filter: {_id: ^key}", "filter: {customer: {^field: customer}}", "sort: {total: -1}", "limit: 5",
                    "with: {$inc: {total: 1}}",
                "key: {zipfian:",
            ])
            Assert.Contains(line, text, StringComparison.Ordinal);
        ProgramRun.Run("run", learned, "--uri", mongod.Uri, "--db", servers.NewDatabase(), "--out", _runs.Path, "--operations", "400",
            "--max-skipped", "100%").Expect(0);
        string id = _runs.Ids[^1];
        using (var run = StoredRun.Open(Path.Combine(_runs.Path, id)))
            Assert.Superset(new HashSet<string> { "find orders _id", "find orders customer", "update orders _id inc total" },
                run.Phases[^2].Operations.Select(one => one.Operation).ToHashSet());
        string output = ProgramRun.Run("learn", "--check", learned, "--against", mongod.Uri, "--db", shop, "--from", "profiler", "--run",
            id,
            "--out", _runs.Path).Output;
        Assert.Contains("find orders customer", output, StringComparison.Ordinal);
        Assert.Contains("per second", output, StringComparison.Ordinal);
    }

    [MongodFact]
    public void What_was_inserted_before_it_was_read_is_inserted_again_and_not_loaded()
    {
        TestServer mongod = servers["mongod"];
        string shop = servers.NewDatabase();
        Directory.CreateDirectory(_runs.Path);
        string orders = Path.Combine(_runs.Path, "orders.yaml");
        string learned = Path.Combine(_runs.Path, "learned.yaml");
        File.WriteAllText(orders, """
            data:
              orders: {count: 0, document: {_id: ^number, customer: {^int: [1, 300]}}}
            phases:
              - {name: fill, threads: 1, count: 1500, rate: 500, operations: [{insert: orders}]}
              - {name: read, threads: 2, duration: 3s, warmup: 0s, rate: 300, operations: [{find: orders, key: uniform}]}
            """);
        RunProfiled(mongod, shop, orders);
        ProgramRun.Run("learn", "--uri", mongod.Uri, "--db", shop, "--from", "profiler", "-o", learned).Expect(0);
        Assert.Contains("count: 0    # 1,500 with what the phases insert", File.ReadAllText(learned), StringComparison.Ordinal);
        ProgramRun.Run("run", learned, "--uri", mongod.Uri, "--db", servers.NewDatabase(), "--out", _runs.Path, "--max-skipped", "100%")
            .Expect(0);
        string id = _runs.Ids[^1];
        using (var run = StoredRun.Open(Path.Combine(_runs.Path, id)))
        {
            Assert.Equal(["insert orders", "find orders _id", "size orders"], run.Phases.Select(phase => phase.Phase));
            // Arrivals that a busy machine has not started by the end of the phase are skipped.
            Assert.InRange(run.Phases[^1].Sizes.Single().Documents, 500, 1700);
        }

        string output = ProgramRun.Run("learn", "--check", learned, "--against", mongod.Uri, "--db", shop, "--from", "profiler",
            "--run", id, "--out", _runs.Path).Output;
        Assert.DoesNotMatch("(?m)^orders +documents.*over", output);
        Assert.Matches("(?m)^find orders _id +per second", output);
    }

    [MongodFact]
    public void A_profiler_that_is_off_stays_off()
    {
        TestServer mongod = servers["mongod"];
        string shop = servers.NewDatabase();
        using MongoConnection connection = mongod.Connect();
        connection.RunCommand(shop, BsonDocument.Of(("insert", "orders"), ("documents", new[] { BsonDocument.Of(("_id", 1)) })));
        ProgramRun.Run("learn", "--uri", mongod.Uri, "--db", shop, "--from", "profiler", "-o", Path.Combine(_runs.Path, "none.yaml"))
            .Expect(2).Says("is off, and has kept nothing");
        Assert.Equal(0, connection.RunCommand(shop, BsonDocument.Of(("profile", -1))).FindInt64("was"));
    }

    /// <summary>Runs a scenario while the profiler keeps every operation.</summary>
    private void RunProfiled(TestServer mongod, string database, string scenario)
    {
        using MongoConnection connection = mongod.Connect();
        // The profile begins at 1 MB, which is overwritten.
        connection.RunCommand(database, BsonDocument.Of(("create", "system.profile"), ("capped", true), ("size", 50_000_000)));
        connection.RunCommand(database, BsonDocument.Of(("profile", 2)));
        ProgramRun.Run("run", scenario, "--uri", mongod.Uri, "--db", database, "--out", _runs.Path, "--max-skipped", "100%").Expect(0);
        connection.RunCommand(database, BsonDocument.Of(("profile", 0)));
    }
}

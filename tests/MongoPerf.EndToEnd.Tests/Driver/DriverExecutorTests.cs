using MongoPerf.Driver;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Executors;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Driver;

/// <summary>
/// The same operations through MongoPerf's own client and through MongoDB.Driver end alike: documents, bytes, errors, and what is stored.
/// </summary>
[Collection(LightTests.Name)]
public sealed class DriverExecutorTests(TestServers servers)
{
    private const ulong Seed = 42;

    private static readonly DriverEngine Engine = new();

    private const string Data = """
        data:
          things:
            count: 200
            document: {_id: ^number, group: {^int: [0, 9]}, total: {^double: [1, 500]}, tags: [a, b], text: {^filler: 300}}
            indexes: [group]
          rest: {count: 40, document: {_id: ^number, text: ^word}}
        phases:
          - load: things
          - name: work
            count: 1
            operations:
        """;

    public static TheoryData<string> Operations { get; } =
    [
        "{find: things, key: uniform}",
        "{find: things, filter: {group: {$gte: {^int: [0, 9]}}}, sort: {total: -1}, skip: 3, limit: 10}",
        "{find: things, filter: {group: 3}, projection: {text: 0}, hint: group_1}",
        "{find: things, filter: {}, batchSize: 7}",
        "{find: things, filter: {}, sort: {total: -1}, limit: 20}",
        "{find: things, filter: {_id: {$lt: 0}}}",
        "{count: things, filter: {group: {$lt: {^int: [1, 9]}}}}",
        "{count: things}",
        "{distinct: things, field: group, filter: {total: {$gt: 100}}}",
        "{aggregate: things, pipeline: [{$match: {group: {$gte: 2}}}, {$group: {_id: $group, sum: {$sum: $total}}}, {$sort: {_id: 1}}]}",
        "{aggregate: things, pipeline: [{$match: {group: 1}}, {$out: copied}]}",
        "{update: things, key: uniform, with: {$set: {state: seen}, $inc: {group: 1}}}",
        "{update: things, filter: {group: 5}, with: {$set: {state: many}}, many: true}",
        "{update: things, filter: {}, with: {$set: {state: all}}, many: true}",
        "{update: things, filter: {_id: 5000}, with: {$set: {state: new}}, upsert: true}",
        "{update: things, key: uniform, with: [{$set: {doubled: {$add: [$total, $total]}}}]}",
        "{replace: things, key: uniform}",
        "{findAndModify: things, key: uniform, with: {$set: {state: paid}}, new: true}",
        "{findAndModify: things, filter: {group: 2}, sort: {total: 1}, with: {$set: {state: first}}}",
        "{readModifyWrite: things, key: uniform, with: {$set: {state: read}}}",
        "{delete: things, key: uniform}",
        "{delete: things, filter: {group: 7}, many: true}",
        "{find: things, filter: {text: X}, collation: {locale: en, strength: 2}, hint: group_1, maxTimeMS: 5000, comment: read}",
        "{find: things, filter: {$expr: {$eq: [$group, $$asked]}}, let: {asked: {^int: [0, 9]}}}",
        "{find: things, filter: {group: 3}, maxTimeMS: 5000, comment: {by: test}}",
        "{count: things, filter: {group: 3}, collation: {locale: en}, maxTimeMS: 5000, comment: x}",
        "{distinct: things, field: group, collation: {locale: en}, maxTimeMS: 5000, comment: x}",
        "{aggregate: things, pipeline: [{$match: {$expr: {$gt: [$total, $$least]}}}, {$count: n}], let: {least: 250}, maxTimeMS: 5000, "
            + "comment: x, collation: {locale: en}, hint: group_1}",
        "{update: things, key: uniform, with: {$set: {'tags.$[one]': c}}, arrayFilters: [{one: a}], comment: x}",
        "{update: things, filter: {group: 4}, with: [{$set: {rate: $$percent}}], let: {percent: {^int: [1, 20]}}, many: true, "
            + "hint: group_1}",
        "{replace: things, filter: {_id: 5000}, upsert: true, collation: {locale: en}, comment: x}",
        "{delete: things, filter: {$expr: {$eq: [$group, $$asked]}}, let: {asked: 6}, collation: {locale: en}, hint: group_1, comment: x}",
        "{findAndModify: things, key: uniform, with: {$set: {'tags.$[one]': c}}, arrayFilters: [{one: b}], maxTimeMS: 5000, comment: x}",
        "{findAndModify: things, filter: {$expr: {$eq: [$group, $$asked]}}, sort: {_id: 1}, remove: true, let: {asked: 2}, "
            + "collation: {locale: en}}",
        "{readModifyWrite: things, key: uniform, with: {$set: {'tags.$[one]': c}}, arrayFilters: [{one: a}], comment: x}",
        "{insert: rest, comment: x}",
        "{insertMany: rest, batch: 3, comment: x}",
        "{bulkWrite: [{insert: rest, times: 3}, {update: things, key: uniform, with: {$inc: {group: 1}}, times: 2}, "
            + "{replace: things, key: uniform}, {delete: things, filter: {group: 9}, many: true}, "
            + "{update: things, filter: {_id: 5000}, with: {$set: {'tags.$[one]': c, state: new}}, upsert: true, "
            + "arrayFilters: [{one: a}]}]}",
        "{bulkWrite: [{insert: rest}, {update: things, filter: {group: 5}, with: [{$set: {rate: $$percent}}], many: true, hint: group_1}, "
            + "{insert: rest}, {delete: things, filter: {group: 1}}], ordered: false, let: {percent: 5}, comment: x}",
        "{bulkWrite: [{insert: rest}, {update: things, key: uniform, with: {$inc: {tags: 1}}}, {insert: rest}]}",
        "{bulkWrite: [{insert: rest}, {update: things, key: uniform, with: {$inc: {tags: 1}}}, {insert: rest}], ordered: false}",
        "{steps: [{find: things, key: uniform, as: thing}, "
            + "{update: things, filter: {group: {^from: thing.group}, _id: {$ne: {^from: thing._id}}}, "
            + "with: {$set: {like: {^from: thing}}}, as: done}, "
            + "{insert: rest, with: {copied: {^from: thing.text}}, as: copy, if: {done.n: 1}}, "
            + "{find: rest, filter: {_id: {^from: {path: copy._id, default: none}}}}, "
            + "{delete: things, filter: {_id: {^from: each}}, each: thing.tags}]}",
        "{steps: [{count: things, filter: {group: 3}, as: many}, {distinct: things, field: group, as: groups}, "
            + "{findAndModify: things, filter: {group: {$in: {^from: groups}}}, sort: {_id: 1}, with: {$set: {many: {^from: many}}}, "
            + "as: first}, "
            + "{replace: things, filter: {_id: {^from: first._id}}, as: replaced}, "
            + "{aggregate: things, pipeline: [{$match: {group: {^from: first.group}}}, {$project: {total: 1}}], as: totals}, "
            + "{insertMany: rest, batch: 3, with: {totals: {^from: totals}, changed: {^from: replaced.nModified}}, as: three}, "
            + "{update: rest, each: three, filter: {_id: {^from: each._id}}, with: {$set: {seen: true}}}, "
            + "{runCommand: {ping: 1}, name: ping, as: pong}, {delete: rest, key: uniform, if: pong.ok}]}",
        "{steps: [{find: things, key: uniform, as: thing}, {update: things, filter: {_id: {^from: thing.nothing}}, with: {$set: {a: 1}}}]}",
        "{insert: rest}",
        "{insertMany: rest, batch: 10, ordered: false}",
        "{validate: things}",
        "{dropIndexes: things, index: group_1}",
        "{runCommand: {ping: 1}, name: ping, database: admin}",
        "{find: things, filter: {text: {$regex: '['}}}",
        "{update: things, key: uniform, with: {$inc: {tags: 1}}}",
        "{findAndModify: things, key: uniform, with: {$inc: {tags: 1}}}",
        "{aggregate: things, pipeline: [{$project: {x: {$divide: [1, 0]}}}]}",
        "{runCommand: {nonsense: 1}, name: nonsense}",
        "{find: things, filter: {group: 1}, hint: no_such_index}",
    ];

    [Theory]
    [MemberData(nameof(Operations))]
    public void An_operation_ends_alike_through_both(string operation)
    {
        Trace wire = Run(operation, OpenWire);
        Trace through = Run(operation, OpenDriver);
        Assert.Equal(wire.Outcomes, through.Outcomes);
        Assert.Equal(wire.Verified, through.Verified);
        Assert.Equal(wire.Errors.Select(e => (e.Code, e.Name, e.Message)), through.Errors.Select(e => (e.Code, e.Name, e.Message)));
        Assert.Equal(wire.Stored, through.Stored);
        Assert.NotEmpty(wire.Stored);
    }

    [Theory]
    [InlineData("{replace: things, key: uniform}", "NothingChanged")]
    [InlineData("{update: things, key: uniform, with: {$inc: {group: 1}}}", "NothingChanged")]
    [InlineData("{update: things, key: uniform, with: {$set: {group: 1}}, upsert: true}", "UnexpectedUpsert")]
    [InlineData("{findAndModify: things, key: uniform, with: {$set: {group: 1}}}", "NothingChanged")]
    [InlineData("{readModifyWrite: things, key: uniform, with: {$set: {group: 1}}}", "NothingChanged")]
    public void A_write_that_does_not_find_the_document_that_must_be_there_fails_alike_through_both(string text, string name)
    {
        Plan plan = PlanOf(text);
        var errors = new List<ServerError>();
        foreach (Func<string, IOperationExecutor> open in (Func<string, IOperationExecutor>[])[OpenWire, OpenDriver])
        {
            using IOperationExecutor executor = open(servers.NewDatabase());
            executor.Connect();
            IPreparedOperation write = executor.Prepare(OperationIn(plan) with { Chooser = new UniformKeys(new KeySpace(9)) },
                new OperationContext(Seed, 0, null));
            Assert.True(write.Draw());
            Assert.False(write.Execute().Succeeded);
            errors.Add(write.LastError!);
        }

        Assert.Equal((name, errors[0].Message), (errors[1].Name, errors[1].Message));
        Assert.Equal(name, errors[0].Name);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_duplicate_in_a_batch_is_counted_as_the_server_counts_it(bool ordered)
    {
        foreach (Func<string, IOperationExecutor> open in (Func<string, IOperationExecutor>[])[OpenWire, OpenDriver])
        {
            string database = servers.NewDatabase();
            PlanCollection things = PlanOf("{find: things, key: uniform}").Rounds[0].Collections[0];
            using MongoConnection connection = servers[TestServers.Best].Connect();
            Documents.Insert(connection, database, "things", things.Documents.Make(4));
            Documents.Insert(connection, database, "things", things.Documents.Make(7));
            using IOperationExecutor executor = open(database);
            executor.Connect();
            IPreparedOperation insert = executor.Prepare(new InsertDocuments("insert", "things", things.Documents, 10, ordered),
                new OperationContext(Seed, 0, new NumberSource(0, 10)));
            Assert.True(insert.Draw());
            OperationOutcome outcome = insert.Execute();
            Assert.Equal((false, ordered ? 4 : 8), (outcome.Succeeded, outcome.Documents));
            Assert.Equal((ServerError.DuplicateKey, "DuplicateKey", ordered ? 1 : 2),
                (insert.LastError!.Code, insert.LastError.Name, insert.LastError.Documents));
            Assert.Contains("E11000", insert.LastError.Message, StringComparison.Ordinal);
            Assert.Equal(ordered ? 6 : 10, Documents.Count(connection, database, "things"));
        }
    }

    [Fact]
    public void What_was_not_acknowledged_has_arrived_behind_the_fence()
    {
        string database = servers.NewDatabase();
        PlanCollection things = PlanOf("{find: things, key: uniform}").Rounds[0].Collections[0];
        using MongoConnection connection = servers[TestServers.Best].Connect();
        for (int round = 0; round < 5; round++)
        {
            using IOperationExecutor executor = OpenDriver(database);
            executor.Connect();
            var unacknowledged = new InsertDocuments("insert", "things", things.Documents, 1,
                true) { Concerns = new OperationConcerns { WriteConcern = BsonDocument.Of(("w", 0)) } };
            IPreparedOperation insert = executor.Prepare(
                unacknowledged, new OperationContext(Seed, 0, new NumberSource(round * 2000, (round + 1) * 2000)));
            while (insert.Draw())
                Assert.True(insert.Execute().Succeeded);
            insert.Complete();
            Assert.Equal((round + 1) * 2000, Documents.Count(connection, database, "things"));
        }
    }

    [Theory]
    [InlineData("{find: things, key: uniform}")]
    [InlineData("{find: things, filter: {}, batchSize: 30}")]
    public void Each_reply_is_verified_and_not_an_earlier_one(string operation)
    {
        string database = servers.NewDatabase();
        Plan plan = PlanOf(operation);
        PlanCollection things = plan.Rounds[0].Collections[0];
        using MongoConnection connection = servers[TestServers.Best].Connect();
        Documents.Insert(connection, database, "things", [.. Enumerable.Range(0, 20).Select(i => things.Documents.Make(i))]);
        using IOperationExecutor executor = OpenDriver(database);
        executor.Connect();
        IPreparedOperation find = executor.Prepare(OperationIn(plan) with { Chooser = new UniformKeys(new KeySpace(20)) },
            new OperationContext(Seed, 0, null));
        Assert.Equal(0, Look().Wrong);
        connection.RunCommand(database, BsonDocument.Of(
            ("update", "things"), ("updates", new[] { BsonDocument.Of(("q", BsonDocument.Empty),
                ("u", BsonDocument.Of(("$set", BsonDocument.Of(("text", "another"))))), ("multi", true)) })));
        VerificationOutcome after = Look();
        Assert.True(after.Checked > 0 && after.Wrong == after.Checked, $"{after.Wrong} of {after.Checked} are wrong");

        VerificationOutcome Look()
        {
            Assert.True(find.Draw() && find.Execute().Succeeded);
            return find.Verify();
        }
    }

    [Theory]
    [InlineData("mongodb://me:hunter2@host/?maxPoolSize=many")]
    [InlineData("mongodb://me:hunter2@host/?waitQueueTimeoutMS=x&tls=perhaps")]
    public void A_connection_string_that_it_does_not_take_is_refused_without_its_secrets(string uri)
    {
        ConnectionStringException e = Assert.Throws<ConnectionStringException>(() => Engine.Open(new ClientOptions
        {
            Uri = uri, Address = () => servers[TestServers.Best].Address, Connections = ConnectionSettings.Default, Database = "x",
            Workers = 1,
        }));
        Assert.StartsWith("connection string: MongoDB.Driver refuses it", e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("hunter2", e.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Files_are_read_back_byte_for_byte()
    {
        string database = servers.NewDatabase();
        var files = new GridFsFileSet(7, new GridFsBucket(), 600_000);
        using IOperationExecutor executor = OpenDriver(database);
        executor.Connect();
        IPreparedOperation write = executor.Prepare(
            new UploadFile("write", "fs", files), new OperationContext(7, 0, new NumberSource(0, 5)));
        while (write.Draw())
            Assert.Equal(new OperationOutcome(true, 1, files.Length), write.Execute());
        IPreparedOperation read = executor.Prepare(new DownloadFile("read", "fs", files) { Chooser = new UniformKeys(new KeySpace(5)) },
            new OperationContext(7, 0, null));
        for (int i = 0; i < 10; i++)
        {
            Assert.True(read.Draw());
            Assert.Equal(new OperationOutcome(true, 1, files.Length), read.Execute());
            Assert.Equal(new VerificationOutcome(1, 0), read.Verify());
        }

        using MongoConnection connection = servers[TestServers.Best].Connect();
        connection.RunCommand(database, BsonDocument.Of(
            ("delete", files.Bucket.Files), ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0)) })));
        Assert.True(read.Draw());
        Assert.False(read.Execute().Succeeded);
        Assert.Equal("GridFsFormatError", read.LastError!.Name);
    }

    [MongodFact]
    public void A_call_that_waits_for_the_server_ends_when_it_is_aborted()
    {
        string database = servers.NewDatabase();
        using MongoConnection connection = servers[TestServers.Best].Connect();
        Documents.Insert(connection, database, "things", BsonDocument.Of(("_id", 1)));
        using IOperationExecutor executor = OpenDriver(database);
        executor.Connect();
        IPreparedOperation waits = executor.Prepare(OperationOf("{find: things, filter: {$where: 'sleep(20000) || true'}}"),
            new OperationContext(Seed, 0, null));
        Assert.True(waits.Draw());
        Exception? ended = null;
        var thread = new Thread(() => ended = Record.Exception(() => waits.Execute()));
        thread.Start();
        BsonDocument busy = BsonDocument.Of(("currentOp", 1), ("ns", $"{database}.things"));
        while (connection.RunCommand("admin", busy).FindDocument("inprog.0") is null)
            Thread.Sleep(10);
        executor.Abort();
        thread.Join();
        Assert.IsType<ConnectionFailedException>(ended);
    }

    [Theory]
    [InlineData("{runCommand: {listCollections: 1}, name: names}",
        "names is not possible with MongoDB.Driver: a command 'listCollections' is not read to the end of its cursor")]
    [InlineData("{findAndModify: things, key: uniform, with: {$set: {a: 1}}, writeConcern: {w: 0}}",
        "findAndModify is not possible with MongoDB.Driver: w: 0 is possible for insert, update and delete only")]
    [InlineData("{update: things, key: uniform, with: {$set: {a: 1}}, maxTimeMS: 100}",
        "update is not possible with MongoDB.Driver: it has no maxTimeMS for writes")]
    [InlineData("{bulkWrite: [{insert: rest}], writeConcern: {w: 0}}",
        "bulkWrite is not possible with MongoDB.Driver: w: 0 is possible for insert, update and delete only")]
    public void What_the_driver_can_not_do_is_refused_by_its_name(string operation, string message)
    {
        OperationLimitException e = Assert.Throws<OperationLimitException>(() => Engine.Check(OperationOf(operation)));
        Assert.StartsWith(message, e.Message, StringComparison.Ordinal);
    }

    private static Plan PlanOf(string operation) =>
        PlanReader.Read(new ScenarioFile("test", "test.yaml", $"{Data}\n        - {operation}\n"), new PlanOverrides(), Seed).Plan;

    private static Operation OperationOf(string operation) => OperationIn(PlanOf(operation));

    private static Operation OperationIn(Plan plan) =>
        plan.Rounds[0].Phases.Single(phase => phase.Name == "work").Groups[0].Operations[0].Operation;

    /// <summary>Loads the collection, does the operation ten times, and looks at everything that is stored then.</summary>
    private Trace Run(string text, Func<string, IOperationExecutor> open)
    {
        string database = servers.NewDatabase();
        Plan plan = PlanOf(text);
        using MongoConnection connection = servers[TestServers.Best].Connect();
        PlanCollection things = plan.Rounds[0].Collections[0];
        Documents.Insert(
            connection, database, things.Name, [.. Enumerable.Range(0, (int)things.Count).Select(i => things.Documents.Make(i))]);
        connection.RunCommand(database, BsonDocument.Of(("createIndexes", things.Name),
            ("indexes", new[] { BsonDocument.Of(("key", BsonDocument.Of(("group", 1))), ("name", "group_1")) })));

        using IOperationExecutor executor = open(database);
        executor.Connect();
        Operation asked = OperationIn(plan);
        IPreparedOperation operation = executor.Prepare(
            asked.Each(one => one.Inserts ? one with { Keys = new KeySpace(0) } : one), new OperationContext(Seed, 0, null));
        var trace = new Trace([], [], [], []);
        for (int i = 0; i < 10 && operation.Draw(); i++)
        {
            OperationOutcome outcome = operation.Execute();
            trace.Outcomes.Add(outcome);
            if (outcome.Succeeded)
                trace.Verified.Add(operation.Verify());
            else
                trace.Errors.Add(operation.LastError!);
        }

        operation.Complete();
        foreach (string collection in Documents.CollectionNames(connection, database))
            trace.Stored.AddRange(Documents.Find(connection, database, collection, BsonDocument.Empty,
                ("sort", BsonDocument.Of(("_id", 1)))).Select(d => $"{collection} {Convert.ToHexString(d.Bytes)}"));
        // Databases differ in their names only, and errors name them.
        return trace with
        {
            Errors = [.. trace.Errors.Select(e => e with { Message = e.Message.Replace(database, "db", StringComparison.Ordinal) })],
        };
    }

    private IOperationExecutor OpenWire(string database) =>
        new WireExecutor(_ => servers[TestServers.Best].Address, ConnectionSettings.Default, database);

    private IOperationExecutor OpenDriver(string database) => new OwnSource(Engine.Open(new ClientOptions
    {
        Address = () => servers[TestServers.Best].Address, Connections = ConnectionSettings.Default, Database = database, Workers = 1,
    }));

    private sealed record Trace(
        List<OperationOutcome> Outcomes, List<VerificationOutcome> Verified, List<ServerError> Errors, List<string> Stored);

    /// <summary>An executor whose source ends with it.</summary>
    private sealed class OwnSource(IExecutorSource source) : IOperationExecutor
    {
        private readonly IOperationExecutor _executor = source.OpenExecutor();

        public void Connect() => _executor.Connect();

        public IPreparedOperation Prepare(Operation operation, OperationContext context) => _executor.Prepare(operation, context);

        public void Abort() => _executor.Abort();

        public void Dispose()
        {
            _executor.Dispose();
            source.Dispose();
        }
    }
}

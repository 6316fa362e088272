using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>What goes over the wire for a bulk, and what its replies mean; those of 8.0 are as a mongod of it gave them.</summary>
public sealed class WireBulkWriteTests : IDisposable
{
    private const string Mixed = "{bulkWrite: [{insert: log, times: 2}, {update: users, key: uniform, with: {$inc: {n: 1}}}, "
        + "{insert: log}, {delete: users, filter: {n: 7}, many: true}, {replace: users, key: uniform, upsert: true}], ordered: ORDERED}";

    private readonly LyingServer _server = new();
    private readonly List<BsonDocument> _commands = [];
    private readonly List<(string Section, List<BsonDocument> Writes)> _sections = [];
    private WireExecutor? _executor;

    public void Dispose()
    {
        _executor?.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void A_server_of_8_0_gets_all_writes_in_one_command()
    {
        IPreparedOperation bulk = Prepare(25, Mixed.Replace("ORDERED", "false", StringComparison.Ordinal), Counted(3, 2, 2, 0, 1));
        Assert.True(bulk.Draw());
        Assert.Equal(new OperationOutcome(true, 6, 3 * Log.Make(0).Bytes.Length) { Modified = 2 }, bulk.Execute());
        BsonDocument command = Assert.Single(_commands);
        Assert.Equal(["bulkWrite", "errorsOnly", "ordered", "nsInfo", "$db"], command.Select(e => e.Key));
        Assert.Equal(("admin", "d.log", "d.users"),
            (command.FindString("$db"), command.FindString("nsInfo.0.ns"), command.FindString("nsInfo.1.ns")));
        (string section, List<BsonDocument> writes) = Assert.Single(_sections);
        Assert.Equal("ops", section);
        Assert.Equal(["insert 0", "insert 0", "update 1", "insert 0", "delete 1", "update 1"],
            writes.Select(w => $"{w.First().Key} {w.First().Value}"));
        Assert.True(writes[4].IsTrue("multi"));
        Assert.True(writes[5].IsTrue("upsert"));
        Assert.Equal(1, writes[2].FindInt64("updateMods.$inc.n"));
        Assert.Equal([0L, 1L, 2L], writes.Where(w => w.Find("document") is not null).Select(w => w.FindInt64("document.n")!.Value));
    }

    [Theory]
    [InlineData(true, "insert 2, update 1, insert 1, delete 1, update 1")]
    [InlineData(false, "insert 3, update 2, delete 1")]
    public void An_older_server_gets_a_command_for_each_run_or_for_each_kind(bool ordered, string commands)
    {
        IPreparedOperation bulk = Prepare(
            21, Mixed.Replace("ORDERED", $"{ordered}".ToLowerInvariant(), StringComparison.Ordinal), null);
        Assert.True(bulk.Draw());
        OperationOutcome outcome = bulk.Execute();
        Assert.Equal((true, 6), (outcome.Succeeded, outcome.Documents));
        Assert.Equal(commands, string.Join(", ", _commands.Zip(_sections, (c, s) => $"{c.First().Key} {s.Writes.Count}")));
        Assert.All(_commands, c => Assert.Equal(ordered ? null : false, c.Find("ordered")?.ToBoolean()));
    }

    [Fact]
    public void The_first_write_that_fails_is_the_bulks_error()
    {
        BsonDocument failed = BsonDocument.Of(("ok", 0.0), ("idx", 0), ("code", 11000), ("errmsg", "E11000 duplicate key"), ("n", 0));
        IPreparedOperation bulk = Prepare(25, "{bulkWrite: [{insert: log, times: 3}]}", BsonDocument.Of(
            ("cursor", BsonDocument.Of(("id", 0L), ("firstBatch", new[] { failed }), ("ns", "admin.$cmd.bulkWrite"))), ("nErrors", 1),
            ("nInserted", 1), ("nMatched", 0), ("nModified", 0), ("nUpserted", 0), ("nDeleted", 0), ("ok", 1.0)));
        Assert.True(bulk.Draw());
        Assert.Equal(new OperationOutcome(false, 1, 0), bulk.Execute());
        Assert.Equal((ServerError.DuplicateKey, "DuplicateKey"), (bulk.LastError!.Code, bulk.LastError.Name));
    }

    [Theory]
    [InlineData(true, "insert")]
    [InlineData(false, "insert, delete")]
    public void An_ordered_bulk_ends_with_the_command_that_fails(bool ordered, string commands)
    {
        BsonDocument failed = BsonDocument.Of(("index", 0), ("code", 11000), ("errmsg", "E11000"));
        IPreparedOperation bulk = Prepare(
            17, $"{{bulkWrite: [{{insert: log}}, {{delete: users, key: uniform}}], ordered: {(ordered ? "true" : "false")}}}",
            BsonDocument.Of(("n", 0), ("writeErrors", new[] { failed }), ("ok", 1.0)));
        Assert.True(bulk.Draw());
        Assert.False(bulk.Execute().Succeeded);
        Assert.Equal(commands, string.Join(", ", _commands.Select(c => c.First().Key)));
    }

    [Theory]
    [InlineData("{insert: log, times: 3}", 2, 0, 0, 0, "NothingChanged", "bulkWrite inserted 2 of 3 documents")]
    [InlineData("{update: users, key: uniform, with: {$set: {name: x}}, times: 3}", 0, 2, 2, 0, "NothingChanged",
        "bulkWrite changed too little: matched 2 of 3, modified 2")]
    [InlineData("{update: users, key: uniform, with: {$inc: {n: 1}}, times: 2}", 0, 2, 1, 0, "NothingChanged",
        "bulkWrite changed too little: matched 2 of 2, modified 1")]
    [InlineData("{replace: users, key: uniform, upsert: true}", 0, 0, 0, 1, "UnexpectedUpsert",
        "bulkWrite inserted 1 documents that were to be found")]
    public void A_bulk_that_did_less_than_it_must_fails(
        string write, int inserted, int matched, int modified, int upserted, string name, string message)
    {
        IPreparedOperation bulk = Prepare(25, $"{{bulkWrite: [{write}]}}", Counted(inserted, matched, modified, upserted, 0));
        Assert.True(bulk.Draw());
        Assert.False(bulk.Execute().Succeeded);
        Assert.Equal((name, message), (bulk.LastError!.Name, bulk.LastError.Message));
        Assert.True(ErrorCount.IsWrongEffect(bulk.LastError.Code, bulk.LastError.Name));
    }

    /// <summary>One write that may insert is enough for an upsert to be right.</summary>
    [Theory]
    [InlineData("{replace: users, filter: {n: 1}, upsert: true}, {update: users, key: uniform, with: {$inc: {n: 1}}}", true)]
    [InlineData("{replace: users, key: uniform, upsert: true}, {update: users, key: uniform, with: {$inc: {n: 1}}}", false)]
    public void An_upsert_is_right_where_any_write_may_insert(string writes, bool succeeds)
    {
        IPreparedOperation bulk = Prepare(25, $"{{bulkWrite: [{writes}]}}", Counted(0, 2, 1, 1, 0));
        Assert.True(bulk.Draw());
        Assert.Equal(succeeds, bulk.Execute().Succeeded);
    }

    [Theory]
    [InlineData(25)]
    [InlineData(17)]
    public void A_bulk_allocates_nothing(int version)
    {
        _server.Handshake = exchange => exchange.Reply(LyingServer.Hello(version));
        using var executor = Open();
        // Nothing is sent here: a reply would be made by the server's thread, and read without a copy.
        IPreparedOperation bulk = executor.Prepare(
            Bound("{bulkWrite: [{insert: log, times: 5}, {update: users, key: uniform, with: {$inc: {n: 1}}, times: 5}, "
                + "{delete: users, filter: {name: ^word}}]}"),
            new OperationContext(42, 0, null));
        Assert.True(bulk.Draw());
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 100; i++)
                bulk.Draw();
        }));
    }

    private IPreparedOperation Prepare(int version, string operation, BsonDocument? reply)
    {
        _server.Handshake = exchange => exchange.Reply(LyingServer.Hello(version));
        _server.Answer = exchange =>
        {
            OpMsg message = OpMsg.Parse(exchange.Request);
            _commands.Add(new BsonDocument(message.Body.ToArray()));
            foreach (DocumentSequence sequence in message.Sequences)
                _sections.Add((sequence.NameText, Split(sequence.Documents)));
            int writes = _sections[^1].Writes.Count;
            exchange.Reply(reply ?? BsonDocument.Of(("n", writes), ("nModified", writes), ("ok", 1.0)));
        };
        _executor = Open();
        return _executor.Prepare(Bound(operation), new OperationContext(42, 0, null));
    }

    private WireExecutor Open()
    {
        var executor = new WireExecutor(_ => _server.Address, ConnectionSettings.Default, "d");
        executor.Connect();
        return executor;
    }

    private static DocumentTemplate Log => PlanOf("{insert: log}").Collections.Last().Documents;

    private static Plan PlanOf(string operation) => ScenarioTexts.Plan(
        "data:\n  users: {count: 1000, document: {n: ^number, name: ^word}}\n  log: {document: {n: ^number}}\n"
        + $"phases: [{{name: p, count: 1, operations: [{operation}]}}]\n");

    private static Operation Bound(string operation)
    {
        var log = new KeySpace(0);
        return PlanOf(operation).Phases.Last().Groups[0].Operations[0].Operation.Each(one => one with
        {
            Keys = one.Inserts ? log : null, Chooser = one.Choice?.Open(new KeySpace(1000), 0),
        });
    }

    private static BsonDocument Counted(int inserted, int matched, int modified, int upserted, int deleted) => BsonDocument.Of(
        ("cursor", BsonDocument.Of(("id", 0L), ("firstBatch", Array.Empty<BsonDocument>()), ("ns", "admin.$cmd.bulkWrite"))),
        ("nErrors", 0), ("nInserted", inserted), ("nMatched", matched), ("nModified", modified), ("nUpserted", upserted),
        ("nDeleted", deleted), ("ok", 1.0));

    private static List<BsonDocument> Split(ReadOnlySpan<byte> documents)
    {
        var list = new List<BsonDocument>();
        while (documents.Length > 0)
        {
            int length = new BsonReader(documents).Document.Length;
            list.Add(new BsonDocument(documents[..length].ToArray()));
            documents = documents[length..];
        }

        return list;
    }
}

using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>
/// A write that was answered with ok succeeded only if the counts of the reply say what they must. The replies are those of a mongos
/// (mongos_crud.json).
/// </summary>
public sealed class WriteEffectTests
{
    private static readonly DocumentTemplate Documents = new(DocumentValue.Of(("n", new SequenceValue(NumberKind.Int64, 0, 1))), 42, "c");
    private static readonly DocumentValue ById = DocumentValue.Of(("_id", ReferenceValue.Of(Documents, Documents.Id)));
    private static readonly DocumentValue Whole = DocumentValue.Of(("n", new SequenceValue(NumberKind.Int64, 0, 1)));
    private static readonly DocumentValue Increment = DocumentValue.Of(("$inc", DocumentValue.Of(BsonDocument.Of(("n", 1)))));

    private static readonly BsonDocument Nothing = BsonDocument.Of(("nModified", 0), ("n", 0), ("ok", 1.0));
    private static readonly BsonDocument Changed = BsonDocument.Of(("nModified", 1), ("n", 1), ("ok", 1.0));
    private static readonly BsonDocument Same = BsonDocument.Of(("nModified", 0), ("n", 1), ("ok", 1.0));
    private static readonly BsonDocument Inserted = BsonDocument.Of(("nModified", 0), ("n", 1),
        ("upserted", new[] { BsonDocument.Of(("index", 0), ("_id", 4711)) }), ("ok", 1.0));

    /// <summary>What is done, its reply, and the error that this is.</summary>
    private static readonly (string What, Operation Operation, BsonDocument Reply, string? Name, string? Message)[] Replies =
    [
        ("replaced", Replace() with { MustMatch = true }, Changed, null, null),
        ("replaced by the same", Replace() with { MustMatch = true }, Same, null, null),
        ("not found", Replace() with { MustMatch = true }, Nothing, "NothingChanged", "replace changed nothing: "
            + "matched 0 of 1 documents"),
        ("need not be found", Replace(), Nothing, null, null),
        ("not acknowledged", Replace() with
        {
            MustMatch = true, Concerns = new OperationConcerns { WriteConcern = BsonDocument.Of(("w", 0)) },
        }, Nothing, null, null),
        ("update of nothing", Update() with { MustMatch = true }, Nothing, "NothingChanged", "update changed nothing: "
            + "matched 0 of 1 documents"),
        ("upsert of what is there", Update() with { MustMatch = true, Upsert = true }, Inserted, "UnexpectedUpsert", "update inserted a "
            + "document: the one that it is about was not found"),
        ("upsert", Update() with { Upsert = true }, Inserted, null, null),
        ("upsert that does nothing", Update() with { Upsert = true }, Nothing, "NothingChanged", "update changed nothing: "
            + "matched 0 of 1 documents"),
        ("increment of nothing", Update() with { MustModify = true }, Same, "NothingChanged", "update changed too little: "
            + "matched 1, modified 0"),
        ("increment", Update() with { MustModify = true }, Changed, null, null),
        ("increment of what need not be found", Update() with { MustModify = true }, Nothing, null, null),
        ("inserting increment", Update() with { MustModify = true, Upsert = true }, Inserted, null, null),
        ("delete of what is deleted", new DeleteDocuments("delete", "c", ById), Nothing, null, null),
        ("findAndModify", Find() with
        {
            MustMatch = true,
        }, BsonDocument.Of(("value", BsonDocument.Of(("a", 1))), ("ok", 1.0)), null, null),
        (
            "findAndModify of nothing",
            Find() with { MustMatch = true },
            BsonDocument.Of(("value", null), ("ok", 1.0)),
            "NothingChanged",
            "findAndModify changed nothing: matched 0 of 1 documents"),
        (
            "findAndModify that inserts", Find() with { MustMatch = true, Upsert = true }, BsonDocument.Of(("value", null), ("ok", 1.0)),
            "UnexpectedUpsert", "findAndModify inserted a document: the one that it is about was not found"),
        (
            "read and update of nothing", new OperationSequence("rmw", "c", [Update() with { MustMatch = true }, Update()]), Nothing,
            "NothingChanged", "update changed nothing: matched 0 of 1 documents"),
    ];

    /// <summary>By their names alone: a runner writes out what a test is given, and operations are long.</summary>
    public static TheoryData<string> NamesOfReplies => [.. Replies.Select(static one => one.What)];

    public static TheoryData<string> NamesOfOutcomes => [.. Outcomes.Select(static one => one.What)];

    [Theory]
    [MemberData(nameof(NamesOfReplies))]
    public void A_write_without_its_effect_fails_under_its_own_name(string what)
    {
        (_, Operation operation, BsonDocument reply, string? name, string? message) = Replies.Single(one => one.What == what);
        using var server = new LyingServer { Answer = exchange => exchange.Reply(reply) };
        using var executor = new WireExecutor(_ => server.Address, ConnectionSettings.Default, "d");
        executor.Connect();
        IPreparedOperation prepared = executor.Prepare(operation with { Chooser = new UniformKeys(new KeySpace(10)) },
            new OperationContext(42, 0, null));
        Assert.True(prepared.Draw());
        Assert.True(prepared.Execute().Succeeded == (name is null), what);
        Assert.Equal((name, message), (prepared.LastError?.Name, prepared.LastError?.Message));
        Assert.True(name is null || ErrorCount.IsWrongEffect(prepared.LastError!.Code, name), what);
    }

    private static readonly (string What, Operation Operation, BsonDocument Reply, (int Documents, bool ChangedNothing) Outcome,
        (bool, bool, bool) Tells)[] Outcomes =
    [
        ("changed", Update(), Changed, (1, false), (false, true, true)),
        ("matched, not changed", Update(), Same, (1, true), (false, true, true)),
        ("not matched", Update(), Nothing, (0, false), (false, true, true)),
        ("inserted", Update() with { Upsert = true }, Inserted, (1, false), (false, false, true)),
        ("not deleted", new DeleteDocuments("delete", "c", ById), Nothing, (0, false), (false, true, false)),
        ("not modified", Find(), BsonDocument.Of(("value", null), ("ok", 1.0)), (0, false), (false, true, false)),
        ("counted none", new CountDocuments("count", "c", ById), Nothing, (0, false), (true, false, false)),
        (
            "unacknowledged", Update() with { Concerns = new OperationConcerns { WriteConcern = BsonDocument.Of(("w", 0)) } }, Same,
            (0, false), (false, false, false)),
    ];

    /// <summary>What a reply says of documents, and what of it the operation's kind lets tell.</summary>
    [Theory]
    [MemberData(nameof(NamesOfOutcomes))]
    public void A_reply_tells_whether_anything_was_found_matched_or_changed(string what)
    {
        (_, Operation operation, BsonDocument reply, (int Documents, bool ChangedNothing) outcome, (bool, bool, bool) tells) =
            Outcomes.Single(one => one.What == what);
        using var server = new LyingServer { Answer = exchange => exchange.Reply(reply) };
        using var executor = new WireExecutor(_ => server.Address, ConnectionSettings.Default, "d");
        executor.Connect();
        IPreparedOperation prepared = executor.Prepare(operation with { Chooser = new UniformKeys(new KeySpace(10)) },
            new OperationContext(42, 0, null));
        Assert.True(prepared.Draw());
        OperationOutcome done = prepared.Execute();
        Assert.True(done.Succeeded && outcome == (done.Documents, done.ChangedNothing), what);
        Assert.Equal(tells, (operation.Finds, operation.Matches, operation.Modifies));
    }

    private static UpdateDocuments Replace() => new("write", "c", ById, Whole);

    private static UpdateDocuments Update() => new("write", "c", ById, Increment);

    private static FindAndModify Find() => new("write", "c", ById, Increment);
}

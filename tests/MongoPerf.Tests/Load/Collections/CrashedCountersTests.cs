using MongoPerf.Load.Collections;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Collections;

/// <summary>A mongod's counters: wrong after a crash until validate has corrected them, and each member's own.</summary>
public sealed class CrashedCountersTests : IDisposable
{
    private readonly LyingServer _server = new();
    private readonly List<string> _commands = [];
    private readonly List<string> _told = [];
    private readonly WireCollection _collection;
    private int _process = 1;
    private (long Count, long Size) _counters = (10, 10_240);
    private bool _takesValidate = true;
    private bool _breaks;
    private string? _validate;

    public CrashedCountersTests()
    {
        _server.Handshake = exchange => exchange.Reply(HelloOf(_process));
        _server.Answer = Answer;
        _collection = Open(() => []);
        Assert.True(_collection.Inspect().Exists);
        Assert.Equal(10_240, _collection.ReadSizes(10)!.DataBytes);
    }

    public void Dispose()
    {
        _collection.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void Sizes_after_a_crash_are_those_that_validate_found_and_it_is_asked_once()
    {
        Crash();
        SizeResult sizes = _collection.ReadSizes(10)!;
        Assert.Equal((10L, 10_240L), (sizes.Documents, sizes.DataBytes));
        Assert.Equal(["collStats of d.c had 0 documents and 0 bytes after a crash; validate corrected that to 10 and 10,240"], _told);
        _collection.ReadSizes(10);
        Assert.Equal(1, Validations);
    }

    [Fact]
    public void A_crash_that_left_the_count_right_may_have_left_the_size_wrong()
    {
        Crash();
        _counters = (10, 5);
        Assert.Equal(10_240, _collection.ReadSizes(10)!.DataBytes);
    }

    [Fact]
    public void A_count_after_a_crash_is_corrected_too()
    {
        Crash();
        Assert.Equal(10, _collection.Count());
        Assert.Equal(1, Validations);
    }

    [Fact]
    public void A_clean_restart_leaves_the_counters_right()
    {
        Crash();
        _counters = (10, 10_240);
        _collection.NoteCleanRestart();
        Assert.Equal(10_240, _collection.ReadSizes(10)!.DataBytes);
        Assert.Equal(0, Validations);
    }

    [Fact]
    public void A_crash_that_nobody_saw_shows_in_the_count()
    {
        _counters = (3, 3072);
        Assert.Equal(10_240, _collection.ReadSizes(10)!.DataBytes);
        Assert.Equal(
            ["collStats of d.c had 3 documents and 3,072 bytes after a crash; validate corrected that to 10 and 10,240"], _told);
        // What still does not agree is no crash, and not looked for again.
        _collection.ReadSizes(11);
        Assert.Equal(1, Validations);
    }

    [Fact]
    public void Sizes_that_can_not_be_corrected_are_told()
    {
        _takesValidate = false;
        Crash();
        Assert.Equal(0, _collection.ReadSizes(10)!.DataBytes);
        Assert.Equal(["collStats of d.c had 0 documents and 0 bytes, but 10 documents are stored: validate, which corrects that after a "
            + "crash, was refused or failed, so the data size may be wrong"], _told);
    }

    /// <summary>Only a count that is known to be wrong, and stays so, makes the size doubtful.</summary>
    [Theory]
    [InlineData(false, 10, 10)]
    [InlineData(true, 10, 11)]
    public void Nothing_is_told_where_the_count_is_right_or_validate_finds_nothing_wrong(bool takesValidate, long count, long documents)
    {
        _takesValidate = takesValidate;
        if (!takesValidate)
            Crash();
        _counters = (count, 10_240);
        Assert.Equal(10_240, _collection.ReadSizes(documents)!.DataBytes);
        Assert.Equal(1, Validations);
        Assert.Empty(_told);
    }

    /// <summary>A full one reads every document, which takes hours.</summary>
    [Fact]
    public void Counters_are_corrected_by_a_validate_that_is_not_full()
    {
        Crash();
        _collection.ReadSizes(10);
        Assert.Equal("""{"validate": "c", "full": false, "$db": "d"}""", _validate);
    }

    [Fact]
    public void Fewer_documents_than_expected_are_counted_in_the_index()
    {
        Assert.Equal(10, _collection.CountAtLeast(10));
        Assert.Equal(12, _collection.CountAtLeast(11));
    }

    [Fact]
    public void Examined_are_those_of_all_members_that_reads_may_go_to()
    {
        using LyingServer one = Member(1, 30), other = Member(2, 12);
        ServerAddress[] members = [one.Address, other.Address];
        using WireCollection collection = Open(() => members);
        MongoPerf.Load.Plans.FindDocuments find = SeriesFile.Find("q4");
        MongoPerf.Load.Plans.FindDocuments near = find with { Concerns = find.Concerns.Preferring("nearest") };
        Assert.Equal((42L, 420L), (collection.ReadExamined(near)!.Value.Keys, collection.ReadExamined(near)!.Value.Documents));
        // The primary's alone.
        Assert.Equal((5L, 50L), (collection.ReadExamined(find)!.Value.Keys, collection.ReadExamined(find)!.Value.Documents));
        other.Dispose();
        Assert.Null(collection.ReadExamined(near));
        members = [];
        Assert.Null(collection.ReadExamined(near));
    }

    private int Validations => _commands.Count(command => command == "validate");

    private static BsonDocument HelloOf(int process) => BsonDocument.Of(
        [
            .. LyingServer.Hello(17).Select(e => (e.Key, (object?)e.Value)),
            ("topologyVersion", BsonDocument.Of(("processId", new ObjectId((uint)process, (ulong)process)))),
        ]);

    private static BsonDocument Status(long keys) => BsonDocument.Of(
        ("metrics", BsonDocument.Of(("queryExecutor", BsonDocument.Of(("scanned", keys), ("scannedObjects", keys * 10))))), ("ok", 1.0));

    private static LyingServer Member(int process, long keys) => new()
    {
        Handshake = exchange => exchange.Reply(HelloOf(process)),
        Answer = exchange => exchange.Reply(Status(keys)),
    };

    /// <summary>The connection breaks, and what answers next is another process, whose counters are at 0.</summary>
    private void Crash() => (_process, _counters, _breaks) = (2, (0, 0), true);

    private void Answer(Exchange exchange)
    {
        if (_breaks)
        {
            _breaks = false;
            exchange.Close();
            return;
        }

        var command = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
        _commands.Add(command.First().Key);
        if (_commands[^1] == "validate")
            _validate = ExtendedJson.Write(command.Bytes);
        if (_commands[^1] == "validate" && _takesValidate)
            _counters = (10, 10_240);
        exchange.Reply(_commands[^1] switch
        {
            "collStats" => BsonDocument.Of(("count", _counters.Count), ("size", _counters.Size), ("ok", 1.0)),
            "count" => BsonDocument.Of(("n", command.Find("hint") is null ? _counters.Count : 12), ("ok", 1.0)),
            "listCollections" or "find" => BsonDocument.Of(("cursor", BsonDocument.Of(
                ("firstBatch", new[] { BsonDocument.Of(("_id", "c"), ("name", "c")) }), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0)),
            "validate" when !_takesValidate =>
                BsonDocument.Of(("ok", 0.0), ("errmsg", "not allowed"), ("code", 13), ("codeName", "Unauthorized")),
            "serverStatus" => Status(5),
            _ => BsonDocument.Of(("valid", true), ("ok", 1.0)),
        });
    }

    private WireCollection Open(Func<IReadOnlyList<ServerAddress>> members) => new(
        new CollectionAccess(() => _server.Address, new ConnectionSettings(), "d", new ManualClock(),
            TimeSpan.FromSeconds(10)) { Members = members, Notify = _told.Add },
        "c", SeriesFile.Documents(), new CollectionShape([]));
}

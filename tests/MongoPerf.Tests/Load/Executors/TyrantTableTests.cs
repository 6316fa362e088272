using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors.Tyrant;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>Preparing and looking at a server's table.</summary>
public sealed class TyrantTableTests : IDisposable
{
    private static readonly CollectionMarker Marker = new(ulong.MaxValue, "0123456789abcdef", "20261121-1", 5_000_000_000, IsGrown: false);

    private readonly ScriptedTyrant _server = new();
    private readonly TyrantTable _table;

    public TyrantTableTests() => _table = TyrantTable.Open(_server.Address, ConnectionSettings.Default);

    public void Dispose()
    {
        _table.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void A_marker_is_a_record_that_is_read_back_and_not_counted()
    {
        string[] stored = [];
        _server.Answer = exchange =>
        {
            string[] call = exchange.Request[1] == 0x80 ? ["rnum"] : TyrantRequestReader.ReadFunction(exchange.Request);
            if (call[0] == "put")
                stored = call[1..];
            exchange.Send(call[0] switch
            {
                "rnum" => Convert.FromHexString("00" + (stored.Length == 0 ? "0000000000000000" : "0000000000000005")),
                "get" when stored.Length > 0 => ScriptedTyrant.Reply(0, [.. stored[1..].Select(Encoding.UTF8.GetBytes)]),
                "get" => ScriptedTyrant.Reply(1),
                _ => ScriptedTyrant.Reply(0),
            });
        };
        Assert.Equal((new CollectionState(false, null), 0L), (_table.Inspect(), _table.Count()));
        _table.Mark(Marker);
        Assert.Equal("mongoperf", stored[0]);
        Assert.Equal((new CollectionState(true, Marker), 4L), (_table.Inspect(), _table.Count()));
    }

    [Theory]
    [InlineData("program", "somebody", "run", "1")]
    [InlineData("run", "1")]
    [InlineData("odd")]
    public void Records_of_others_are_seen_and_no_marker(params string[] marker)
    {
        _server.Answer = exchange => exchange.Send(exchange.Request[1] == 0x80
            ? Convert.FromHexString("000000000000000007")
            : ScriptedTyrant.Reply(0, [.. marker.Select(Encoding.UTF8.GetBytes)]));
        Assert.Equal(new CollectionState(true, null), _table.Inspect());
        Assert.Equal(7, _table.Count());
    }

    [Fact]
    public void An_index_is_of_its_columns_kind()
    {
        var calls = new List<string>();
        _server.Answer = exchange =>
        {
            calls.Add(string.Join(' ', TyrantRequestReader.ReadFunction(exchange.Request)));
            exchange.Send(ScriptedTyrant.Reply(0));
        };
        TyrantColumns columns = TyrantColumns.Of(BsonDocument.Of(("_id", 1), ("Title", "x"), ("CreateTime", 1L), ("Tags", new[] { "a" })));
        _table.CreateIndexes(["CreateTime", "Title", "Tags", "unknown", "_id"], columns);
        Assert.Equal(["setindex CreateTime 1", "setindex Title 0", "setindex Tags 2", "setindex unknown 0", "setindex  1"], calls);
    }

    [Fact]
    public void Clearing_and_syncing_are_one_command_each_and_wait_without_end()
    {
        ConnectionSettings impatient = new() { ReplyTimeout = TimeSpan.FromSeconds(0.3) };
        using TyrantTable table = TyrantTable.Open(_server.Address, impatient);
        var commands = new List<byte>();
        _server.Answer = exchange =>
        {
            if (exchange.Request[1] is not (0x70 or 0x72))
                return;
            commands.Add(exchange.Request[1]);
            // For as long as another waits, until it has waited too long.
            using TyrantTable other = TyrantTable.Open(_server.Address, impatient);
            Assert.Throws<ConnectionFailedException>(() => other.ReadSize());
            exchange.Send("00");
        };
        table.Clear();
        table.Sync();
        Assert.Equal([0x72, 0x70], commands);
        Assert.Throws<ConnectionFailedException>(() => table.ReadSize());
    }

    [Fact]
    public void A_refusal_names_the_function()
    {
        _server.Answer = exchange => exchange.Send(exchange.Request[1] == 0x90 ? ScriptedTyrant.Reply(1) : [1]);
        var e = Assert.Throws<ServerCommandException>(() =>
            _table.CreateIndexes(["a"], TyrantColumns.Of(BsonDocument.Of(("_id", 1), ("a", 1)))));
        Assert.Equal("setindex: Tokyo Tyrant answered code 1 and gives no reason; its log may (code 1 TyrantFailure)", e.Message);
        Assert.Equal("vanish", Assert.Throws<ServerCommandException>(_table.Clear).Command);
    }
}

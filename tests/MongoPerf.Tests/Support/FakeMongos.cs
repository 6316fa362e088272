using System.Text.Json;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Support;

/// <summary>
/// Says that it is a mongos, remembers every command, and answers reads of config.* with what is set here or was
/// recorded of a real cluster.
/// </summary>
internal sealed class FakeMongos : IDisposable
{
    private readonly LyingServer _server = new();
    private readonly List<string> _heard = [];
    private readonly Lock _lock = new();

    public FakeMongos(bool isMongos = true)
    {
        _server.Handshake = exchange => exchange.Reply(BsonDocument.Of(
        [
            ("ismaster", true), .. isMongos ? new (string, object?)[] { ("msg", "isdbgrid") } : [],
            ("topologyVersion", BsonDocument.Of(("processId", ProcessId))), ("maxWireVersion", 17), ("ok", 1.0),
        ]));
        _server.Answer = Answer;
    }

    public ServerAddress Address => _server.Address;

    /// <summary>Changes when the server is started again.</summary>
    public ObjectId ProcessId { get; set; } = new(1, 1);

    /// <summary>Documents of "database.collection", for finds and aggregates that have no filter to speak of.</summary>
    public Dictionary<string, IReadOnlyList<BsonDocument>> Documents { get; } = [];

    /// <summary>Replies to a command by its name; a plain ok where nothing is set.</summary>
    public Dictionary<string, Func<BsonDocument, BsonDocument>> Replies { get; } = [];

    /// <summary>
    /// config.settings changes as a cluster of 8.0 changes it: by update and delete, and by balancerStop and balancerStart, which also
    /// write automerge (shared/protocol/replies-8.0/balancer_settings.json).
    /// </summary>
    public bool KeepsSettings { get; init; }

    /// <summary>A deletion of a setting is answered and not done.</summary>
    public bool IgnoresDeletes { get; set; }

    /// <summary>"database command", as JSON, without <c>$db</c>; reads are left out.</summary>
    public IReadOnlyList<string> Heard
    {
        get
        {
            lock (_lock)
                return [.. _heard];
        }
    }

    /// <summary>The commands by their names alone.</summary>
    public IReadOnlyList<string> HeardNames => [.. Heard.Select(text => text.Split('"')[1])];

    /// <summary>The documents of a config collection as a real cluster of 6.0.5 had them.</summary>
    public static IReadOnlyList<BsonDocument> Recorded(string collection) =>
        [.. (Exchange($"config server: config.{collection}").FindDocument("cursor.firstBatch") ?? BsonDocument.Empty)
            .Select(item => item.Value.ToDocument())];

    /// <summary>Replies of the recorded cluster whose description begins so.</summary>
    public static BsonDocument Exchange(string what)
    {
        using var document = JsonDocument.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Replies!, "sharding_without_mongos.json")));
        JsonElement exchange = document.RootElement.GetProperty("exchanges").EnumerateArray()
            .First(e => e.GetProperty("what").GetString()!.StartsWith(what, StringComparison.Ordinal));
        return ExtendedJson.Parse(exchange.GetProperty("reply").GetRawText());
    }

    public static BsonDocument Refusal(int code, string message) => BsonDocument.Of(("ok", 0.0), ("errmsg", message), ("code", code));

    public void Dispose() => _server.Dispose();

    private void Answer(Exchange exchange)
    {
        var command = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
        (string name, BsonValue value) = command.First();
        string database = command.FindString("$db")!;
        if (database == "config" && value.Type == BsonType.String && value.ToString() == "mongoperf" && name != "find")
        {
            exchange.Reply(KeepRecord(name, command));
            return;
        }

        if (name is not ("find" or "aggregate" or "listCollections" or "listIndexes"))
            Note(command);
        if (KeepsSettings)
            KeepSettings(name, command);
        exchange.Reply(Replies.TryGetValue(name, out Func<BsonDocument, BsonDocument>? reply) ? reply(command) : name switch
        {
            "find" or "aggregate" or "listIndexes" =>
                Cursor(Documents.GetValueOrDefault($"{database}.{value}", []).Where(d => Meets(d, command))),
            "listCollections" => Cursor(Documents.GetValueOrDefault($"{database}.$cmd", [])),
            _ => BsonDocument.Of(("ok", 1.0)),
        });
    }

    /// <summary>Which settings were changed is one document, replaced or deleted whole if it is as it was read.</summary>
    private BsonDocument KeepRecord(string name, BsonDocument command)
    {
        const string Record = "config.mongoperf";
        string version = Documents.GetValueOrDefault(Record, []).Select(one => one.FindString("version")!).SingleOrDefault("");
        bool isAsRead = version == (command.FindString("updates.0.q.version") ?? command.FindString("deletes.0.q.version"));
        if (isAsRead)
            Documents[Record] = name == "update" ? [command.FindDocument("updates.0.u")!] : [];
        return BsonDocument.Of(("n", isAsRead ? 1 : 0), ("ok", 1.0));
    }

    private void KeepSettings(string name, BsonDocument command)
    {
        switch (name)
        {
            case "balancerStop" or "balancerStart":
                bool isOn = name == "balancerStart";
                Put("balancer", BsonDocument.Of(("_id", "balancer"), ("mode", isOn ? "full" : "off"), ("stopped", !isOn)));
                Put("automerge", BsonDocument.Of(("_id", "automerge"), ("enabled", isOn)));
                break;
            case "delete" when !IgnoresDeletes && command.FindString("delete") == "settings":
                Put(command.FindString("deletes.0.q._id")!, null);
                break;
            case "update" when command.FindString("update") == "settings" && command.FindDocument("updates.0.u.$set") is { } set:
                string id = command.FindString("updates.0.q._id")!;
                Put(id, BsonDocument.Of([("_id", id), .. set.Select(e => (e.Key, (object?)e.Value))]));
                break;
            case "update" when command.FindString("update") == "settings" && command.FindDocument("updates.0.u.$unset") is null:
                Put(command.FindString("updates.0.q._id")!, command.FindDocument("updates.0.u"));
                break;
        }
    }

    private void Put(string id, BsonDocument? setting) => Documents["config.settings"] =
    [
        .. Documents.GetValueOrDefault("config.settings", []).Where(one => one.FindString("_id") != id),
        .. setting is null ? (BsonDocument[])[] : [setting],
    ];

    /// <summary>An _id that is named, alone or among others, must be the document's.</summary>
    public static bool Meets(BsonDocument document, BsonDocument command) =>
        command.FindDocument("filter._id.$in") is { } some ? some.Any(one => document.FindString("_id") == one.Value.ToString())
        : command.Find("filter._id") is not { Type: BsonType.String } id || document.FindString("_id") == id.ToString();

    private static BsonDocument Cursor(IEnumerable<BsonDocument> batch) =>
        BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", batch), ("id", 0L), ("ns", "d.c"))), ("ok", 1.0));

    private void Note(BsonDocument command)
    {
        BsonDocument shown = BsonDocument.Of([.. command.Where(e => e.Key != "$db").Select(e => (e.Key, (object?)e.Value))]);
        lock (_lock)
            _heard.Add($"{command.FindString("$db")} {ExtendedJson.Write(shown.Bytes)}");
    }
}

using System.Collections.Concurrent;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Support;

/// <summary>
/// Servers on loopback that say that they are a replica set, the first of them its primary, or so many mongos. Each remembers the
/// commands that it got.
/// </summary>
internal sealed class FakeSet : IDisposable
{
    private readonly List<Member> _members = [];

    public FakeSet(int members, bool areMongos = false)
    {
        for (int i = 0; i < members; i++)
            _members.Add(new Member(this, i, areMongos));
    }

    /// <summary>Any round trip is near enough: nothing here goes by the clock.</summary>
    public static ConnectionSettings Settings { get; } = ConnectionSettings.Default with { LocalThreshold = TimeSpan.FromHours(1) };

    public string? SetName { get; init; } = "rs0";

    /// <summary>As members call each other; null: by their addresses.</summary>
    public IReadOnlyList<string>? Names { get; set; }

    public IReadOnlyList<ServerAddress> Addresses => [.. _members.Select(member => member.Address)];

    public Member this[int index] => _members[index];

    public void Dispose()
    {
        foreach (Member member in _members)
            member.Dispose();
    }

    internal sealed class Member : IDisposable
    {
        private readonly FakeSet _set;
        private readonly int _number;
        private readonly bool _isMongos;
        private readonly LyingServer _server;

        public Member(FakeSet set, int number, bool isMongos)
        {
            (_set, _number, _isMongos, IsPrimary) = (set, number, isMongos, number == 0);
            _server = new LyingServer
            {
                Handshake = exchange =>
                {
                    if (IsAway)
                        exchange.Close();
                    else
                        exchange.Reply(Hello());
                },
                Answer = exchange =>
                {
                    var command = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
                    Heard.Enqueue(command);
                    if (IsAway)
                        exchange.Close();
                    else
                        exchange.Reply(Answer(command));
                },
            };
        }

        public ServerAddress Address => _server.Address;

        public bool IsPrimary { get; set; }

        /// <summary>Every connection is closed without an answer.</summary>
        public bool IsAway { get; set; }

        /// <summary>Of a primary: which of several was elected last.</summary>
        public ObjectId Election { get; set; } = new(1, 1);

        public ConcurrentQueue<BsonDocument> Heard { get; } = [];

        /// <summary>How many of these commands came.</summary>
        public int Count(string command) => Heard.Count(heard => heard.First().Key == command);

        public void Dispose() => _server.Dispose();

        private BsonDocument Hello() => _isMongos
            ? BsonDocument.Of(("ismaster", true), ("msg", "isdbgrid"), ("maxWireVersion", 17), ("ok", 1.0))
            : BsonDocument.Of(
            [
                ("ismaster", IsPrimary), ("secondary", !IsPrimary),
                .. _set.SetName is null
                    ? Array.Empty<(string, object?)>()
                    : [("setName", _set.SetName), ("hosts", _set.Names ?? [.. _set.Addresses.Select(address => $"{address}")])],
                .. IsPrimary ? [("electionId", (object?)Election)] : Array.Empty<(string, object?)>(),
                ("tags", BsonDocument.Of(("n", $"{_number}"))), ("maxBsonObjectSize", 16_777_216), ("maxMessageSizeBytes", 48_000_000),
                ("maxWriteBatchSize", 100_000), ("maxWireVersion", 17), ("ok", 1.0),
            ]);

        /// <summary>Of mongos: one, which can't be reached from here.</summary>
        private static BsonDocument[] Shards => [BsonDocument.Of(("_id", "s0"), ("host", "s0/127.0.0.1:1"))];

        private static BsonDocument Answer(BsonDocument command) => command.First().Key is "find" or "aggregate"
            ? BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", command.FindString("find") == "shards" ? Shards : []), ("id", 0L),
                ("ns", "d.c"))), ("ok", 1.0))
            : BsonDocument.Of(("n", 1), ("ok", 1.0));
    }
}

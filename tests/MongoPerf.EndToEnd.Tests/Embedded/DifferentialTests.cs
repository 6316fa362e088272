using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Engine.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>The embedded server answers as a real mongod does, or refuses: the same commands go to both, and replies and documents are compared.</summary>
[Collection(LightTests.Name)]
public sealed class DifferentialTests(TestServers servers) : IClassFixture<TestServers>
{
    private const int Documents = 25;
    private const int Rounds = 12;
    private const int CommandsPerRound = 40;
    private const int NotImplemented = 238;

    private static readonly string[] WrongCommands =
    [
        "{'find': 'c', 'filter': {'a': {'$bogus': 1}}}",
        "{'find': 'c', 'filter': {'$bogus': 1}}",
        "{'find': 'c', 'filter': {'a': {'$in': 1}}}",
        "{'find': 'c', 'filter': {'a': {'$size': 'x'}}}",
        "{'find': 'c', 'filter': {'a': {'$size': -1}}}",
        "{'find': 'c', 'filter': {'a': {'$mod': [0, 1]}}}",
        "{'find': 'c', 'filter': {'a': {'$mod': [1]}}}",
        "{'find': 'c', 'filter': {'a': {'$type': 'nosuch'}}}",
        "{'find': 'c', 'filter': {'a': {'$elemMatch': 1}}}",
        "{'find': 'c', 'filter': {'a': {'$options': 'i'}}}",
        "{'find': 'c', 'filter': {'a': {'$not': {}}}}",
        "{'find': 'c', 'filter': {'a': {'$all': 1}}}",
        "{'find': 'c', 'filter': {'$or': []}}",
        "{'find': 'c', 'filter': {'$expr': {'$nosuch': 1}}}",
        "{'find': 'c', 'projection': {'a': 1, 'b': 0}}",
        "{'find': 'c', 'projection': {'a': 1, 'a.b': 1}}",
        "{'find': 'c', 'projection': {'a': {}}}",
        "{'find': 'c', 'bogus': 1}",
        "{'find': 'c', 'sort': {'a': 2}}",
        "{'count': 'c', 'bogus': 1}",
        "{'count': 'c', 'skip': -1}",
        "{'count': 'c', 'query': {}, 'hint': 'nosuch'}",
        "{'distinct': 'c'}",
        "{'distinct': 'c', 'key': 1}",
        "{'distinct': 'c', 'key': 'a', 'bogus': 1}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$bogus': {'a': 1}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$set': 1}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$set': {'a': 1}, '$inc': {'a.b': 1}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$inc': {'t': 1}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$set': {'t.x': 1}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$push': {'t': 1}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$set': {'_id': 9}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$set': {'': 9}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$set': {'$x': 9}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$rename': {'t': 't'}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$pop': {'t': 2}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'a': 1}, 'multi': true}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {'$set': {'a.$[x]': 1}}}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': [{'$match': {}}]}]}",
        "{'update': 'c', 'updates': [{'q': {}, 'u': {}, 'bogus': 1}]}",
        "{'update': 'c', 'updates': [{'q': {}}]}",
        "{'delete': 'c', 'deletes': [{'q': {}, 'limit': 2}]}",
        "{'delete': 'c', 'deletes': [{'q': {}}]}",
        "{'findAndModify': 'c', 'query': {}}",
        "{'findAndModify': 'c', 'remove': true, 'update': {}}",
        "{'findAndModify': 'c', 'remove': true, 'bogus': 1}",
        "{'aggregate': 'c', 'pipeline': [{'$bogus': 1}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$group': {}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$group': {'_id': 1, 'a': {'$bogus': 1}}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$group': {'_id': 1, 'a': 1}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$limit': 0}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$skip': -1}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$sort': {}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$unwind': 'a'}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$count': ''}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$project': {}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$add': ['x', 1]}}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$divide': [1, 0]}}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$project': {'a': '$$nosuch'}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$project': {'a': {'$eq': [1]}}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$match': {}, '$limit': 1}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': []}",
        "{'aggregate': 'c', 'pipeline': 1, 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [], 'cursor': {}, 'bogus': 1}",
        "{'validate': 'nosuch'}",
        "{'compact': 'nosuch'}",
        "{'dropIndexes': 'c', 'index': 'nosuch'}",
        "{'listIndexes': 'nosuch'}",
        "{'drop': 'nosuch'}",
        "{'bogus': 1}",
    ];

    [MongodTheory]
    [InlineData(1)]
    [InlineData(2)]
    public void Random_commands_are_answered_as_by_mongod(int seed)
    {
        using var pair = new ServerPair(servers);
        var commands = new RandomCommands(seed);
        int id = 0;
        for (int round = 0; round < Rounds; round++)
        {
            int first = id;
            pair.Prepare(commands, first, Documents);
            id += Documents;
            for (int i = 0; i < CommandsPerRound; i++)
            {
                if (!pair.Compare(Draw(commands, i, first, ref id)))
                    pair.CompareDocuments();
            }
        }

        Assert.True(pair.Refused * 20 < pair.Compared, $"{pair.Refused} of {pair.Compared} commands were refused");
    }

    [MongodFact]
    public void What_is_wrong_has_mongods_code()
    {
        using var pair = new ServerPair(servers);
        var wrong = new List<string>();
        foreach (string command in WrongCommands)
        {
            // Anew each time: what only one of the servers refuses may have changed it.
            pair.Both(BsonDocument.Of(("update", "c"), ("updates", new object[]
            {
                BsonDocument.Of(("q", BsonDocument.Of(("_id", 1))), ("u", BsonDocument.Of(("t", "text"))), ("upsert", true)),
            })));
            (BsonDocument ours, BsonDocument theirs) = pair.Both(ExtendedJson.Parse(command.Replace('\'', '"')));
            if (Code(theirs) is null || Code(theirs) != Code(ours))
                wrong.Add($"{command}: ours {Code(ours)}, mongod {Code(theirs)}");
        }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
    }

    private static long? Code(BsonDocument reply) => reply.FindInt64("code") ?? reply.FindInt64("writeErrors.0.code");

    private static BsonDocument Draw(RandomCommands commands, int number, int first, ref int id) => (number % 10) switch
    {
        0 or 1 => commands.Find("c"),
        2 => commands.ProjectedFind("c"),
        3 => commands.Count("c"),
        4 or 5 => commands.Update("c", first, Documents),
        6 => commands.FindAndModify("c"),
        7 when number > 30 => commands.Delete("c", first, Documents),
        7 => commands.Upsert("c", id++),
        _ => commands.Aggregate("c"),
    };

    /// <summary>A connection to each server, with a database of its own on both.</summary>
    private sealed class ServerPair(TestServers servers) : IDisposable
    {
        private static readonly string[] Writes = ["update", "delete", "findAndModify"];
        private readonly MongoConnection _ours = servers.Embedded.Connect();
        private readonly MongoConnection _theirs = servers["mongod"].Connect();
        private readonly string _database = servers.NewDatabase();

        public int Compared { get; private set; }

        public int Refused { get; private set; }

        public (BsonDocument Ours, BsonDocument Theirs) Both(BsonDocument command) =>
            (_ours.RunUnchecked(_database, command), _theirs.RunUnchecked(_database, command));

        /// <summary>The same fresh documents on both, and an index or two.</summary>
        public void Prepare(RandomCommands commands, int first, int count)
        {
            Both(BsonDocument.Of(("drop", "c")));
            Both(BsonDocument.Of(("insert", "c"), ("documents", Enumerable.Range(first, count).Select(commands.Document).ToArray())));
            for (int i = 0; i < 2; i++)
                Compare(BsonDocument.Of(("createIndexes", "c"), ("indexes", new object[] { BsonDocument.Of(("key", commands.IndexKey()), ("name", $"index{i}")) })), isCodeAlone: true);
        }

        /// <returns>True for a command that changes nothing.</returns>
        public bool Compare(BsonDocument command, bool isCodeAlone = false)
        {
            (BsonDocument ours, BsonDocument theirs) = Both(command);
            Compared++;
            if (Code(ours) == NotImplemented)
            {
                Refused++;
                // What mongod did alone is done away with.
                if (Writes.Contains(command.First().Key))
                    Align();
                return true;
            }

            string question = ExtendedJson.Write(command.Bytes);
            Assert.True(Code(theirs) == Code(ours), $"{question}\nours:   {ExtendedJson.Write(ours.Bytes)}\nmongod: {ExtendedJson.Write(theirs.Bytes)}");
            if (Code(ours) == null && !isCodeAlone)
                Assert.True(Text(ours) == Text(theirs), $"{question}\nours:\n{Text(ours)}\nmongod:\n{Text(theirs)}");
            return !Writes.Contains(command.First().Key);
        }

        public void CompareDocuments() => Compare(BsonDocument.Of(("find", "c"), ("sort", BsonDocument.Of(("_id", 1)))));

        public void Dispose()
        {
            Both(BsonDocument.Of(("dropDatabase", 1)));
            _ours.Dispose();
            _theirs.Dispose();
        }

        private void Align()
        {
            BsonDocument all = _ours.RunUnchecked(_database, BsonDocument.Of(("find", "c")));
            _theirs.RunUnchecked(_database, BsonDocument.Of(("delete", "c"), ("deletes", new object[] { BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0)) })));
            _theirs.RunUnchecked(_database, BsonDocument.Of(("insert", "c"), ("documents", all.FindDocument("cursor.firstBatch")!.Select(pair => (object)pair.Value).ToArray())));
        }

        /// <summary>The documents of a cursor, groups in any order; of other replies everything.</summary>
        private static string Text(BsonDocument reply)
        {
            if (reply.FindDocument("cursor.firstBatch") is not { } batch)
                return ExtendedJson.Write(reply.Bytes, ExtendedJsonMode.Canonical);
            return string.Join('\n', batch.Select(pair => ExtendedJson.Write(pair.Value.Bytes.Span, ExtendedJsonMode.Canonical)).Order(StringComparer.Ordinal));
        }
    }
}

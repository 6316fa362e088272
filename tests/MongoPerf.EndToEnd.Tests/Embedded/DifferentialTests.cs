using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>
/// The embedded server answers as a real mongod does, or refuses: the same commands go to both, and replies and documents are compared.
/// </summary>
[Collection(OtherTests.Name)]
public sealed class DifferentialTests(TestServers servers, ITestOutputHelper output)
{
    private const int Documents = 25;
    private const int CommandsPerRound = 40;

    /// <summary>What examples of differences are about.</summary>
    private const string Few = "{'insert': 'c', 'documents': [{'_id': 9}, {'_id': 2, 'a': 1, 'b': 5, 's': 'x'}]}";

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

    /// <summary>
    /// How many random operations are compared; MONGOPERF_DIFFERENTIAL_OPERATIONS asks for more, see docs/embedded-server.md.
    /// </summary>
    private static int Operations { get; } =
        int.TryParse(Environment.GetEnvironmentVariable("MONGOPERF_DIFFERENTIAL_OPERATIONS"), out int asked) ? asked : 3000;

    /// <summary>Where the random operations come from; MONGOPERF_DIFFERENTIAL_SEED asks for others.</summary>
    private static int Seed { get; } =
        int.TryParse(Environment.GetEnvironmentVariable("MONGOPERF_DIFFERENTIAL_SEED"), out int asked) ? asked : 1;

    [MongodFact(From = "6.0")]
    public void Random_commands_are_answered_as_by_mongod()
    {
        using var pair = new ServerPair(servers);
        CompareRandom(pair, Operations);
    }

    /// <summary>Where the tests' mongod is 6.0, a relay answers as 8.0 does.</summary>
    [MongodFact(From = "6.0")]
    public void What_8_answers_otherwise_is_known()
    {
        using var relay = new LaterMongodRelay(servers["mongod"].Address);
        using var later = new ServerPair(servers, relay.Address);
        foreach (VersionDifferences.VersionDifference one in VersionDifferences.All)
        {
            later.Both(BsonDocument.Of(("drop", "c")));
            later.Both(MongodReplies.Parse(Few));
            (BsonDocument ours, BsonDocument theirs) = later.Both(one.Example);
            string said = $"{ExtendedJson.Write(one.Example.Bytes)}\n   ours   {ExtendedJson.Write(ours.Bytes)}\n"
                + $"   mongod {ExtendedJson.Write(theirs.Bytes)}";
            Assert.True(later.AreSame(one.Example, ours, theirs), said);
            Assert.False(MongodReplies.WithoutTexts(ours) == MongodReplies.WithoutTexts(theirs), said);
            Assert.False(VersionDifferences.Explain(new Version(6, 0, 5), one.Example, ours, theirs), said);
            BsonDocument other = BsonDocument.Of(("ok", 0.0), ("code", 1));
            Assert.False(VersionDifferences.Explain(new Version(8, 0, 4), one.Example, ours, other), said);
        }

        CompareRandom(later, 300);
        AssertCases(later);
        AssertCodes(later);
        // The same answers of a 6.0 would be differences.
        Assert.Contains(WrongCommands, command =>
        {
            BsonDocument wrong = MongodReplies.Parse(command);
            (BsonDocument ours, BsonDocument theirs) = later.Both(wrong);
            return MongodReplies.Code(ours) != MongodReplies.Code(theirs)
                && !VersionDifferences.Explain(new Version(6, 0, 5), wrong, ours, theirs);
        });
    }

    private void CompareRandom(ServerPair pair, int operations)
    {
        var commands = new RandomCommands(Seed);
        int id = 0;
        while (pair.Compared < operations)
        {
            int first = id;
            pair.Prepare(commands, first, Documents);
            id += Documents;
            for (int i = 0; i < CommandsPerRound; i++)
            {
                if (!pair.Compare(commands.WithOption(commands.Draw(i, first, Documents, ref id))))
                    pair.CompareDocuments();
            }
        }

        string summary = $"{pair.Compared} compared, {pair.Refused} refused, {pair.Differences.Count} differ";
        output.WriteLine($"{summary}\n{string.Join("\n\n", pair.Differences.Take(40))}");
        Assert.True(pair.Differences.Count * 10_000L <= pair.Compared, $"{summary}\n{string.Join("\n\n", pair.Differences.Take(40))}");
        Assert.True(pair.Refused * 20 < pair.Compared, summary);
    }

    [MongodFact(From = "6.0")]
    public void What_was_answered_otherwise_once_is_answered_as_by_mongod()
    {
        using var pair = new ServerPair(servers);
        AssertCases(pair);
    }

    private static void AssertCases(ServerPair pair)
    {
        var wrong = new List<string>();
        foreach ((string title, string[] commands) in MongodReplies.Cases())
        {
            pair.Both(BsonDocument.Of(("drop", "c")));
            foreach (string command in commands)
            {
                BsonDocument parsed = MongodReplies.Parse(command);
                (BsonDocument ours, BsonDocument theirs) = pair.Both(parsed);
                if (MongodReplies.WithoutTexts(ours) == MongodReplies.WithoutTexts(theirs))
                    continue;
                if (!pair.AreSame(parsed, ours, theirs))
                    wrong.Add($"{title}: {command}\n   ours   {ExtendedJson.Write(ours.Bytes)}\n"
                        + $"   mongod {ExtendedJson.Write(theirs.Bytes)}");
                // What follows a write that another version does otherwise is about other documents.
                else if (MongodReplies.IsWrite(parsed))
                    break;
            }
        }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
    }

    /// <summary>
    /// Unit tests hold the embedded server against what is stored: here it is seen to be a mongod's. UPDATE_APPROVED=1 stores it anew.
    /// </summary>
    [MongodFact(From = "6.0")]
    public void What_unit_tests_take_for_mongods_answers_are_its_answers()
    {
        using var pair = new ServerPair(servers);
        Assert.SkipUnless(pair.Version.ToString() == MongodReplies.Version, $"the stored replies are those of {MongodReplies.Version}");
        string[][] said =
            [.. Enumerable.Range(0, MongodReplies.Parts).Select(part => MongodReplies.Of(part).Select(pair.Digest).ToArray())];
        if (Environment.GetEnvironmentVariable("UPDATE_APPROVED") == "1")
            File.WriteAllText(MongodReplies.File, string.Join("\n\n", said.Select(part =>
                string.Join('\n', part.Chunk(16).Select(line => string.Join(' ', line))))) + "\n");
        else
            Assert.Equal(said, MongodReplies.Stored);
    }

    [MongodFact(From = "6.0")]
    public void What_is_wrong_has_mongods_code()
    {
        using var pair = new ServerPair(servers);
        AssertCodes(pair);
    }

    private static void AssertCodes(ServerPair pair)
    {
        var wrong = new List<string>();
        foreach (string command in WrongCommands)
        {
            // Anew each time: what only one of the servers refuses may have changed it.
            pair.Both(BsonDocument.Of(("update", "c"), ("updates", new object[]
            {
                BsonDocument.Of(("q", BsonDocument.Of(("_id", 1))), ("u", BsonDocument.Of(("t", "text"))), ("upsert", true)),
            })));
            BsonDocument parsed = MongodReplies.Parse(command);
            (BsonDocument ours, BsonDocument theirs) = pair.Both(parsed);
            (long? own, long? other) = (MongodReplies.Code(ours), MongodReplies.Code(theirs));
            if ((other is null || other != own) && !pair.AreSame(parsed, ours, theirs))
                wrong.Add($"{command}: ours {own}, mongod {other}");
        }

        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
    }

    /// <summary>A connection to each server, with a database of its own on both.</summary>
    private sealed class ServerPair : IDisposable
    {
        private readonly MongoConnection _ours;
        private readonly MongoConnection _theirs;
        private readonly string _database;

        /// <param name="servers">The embedded server is ours.</param>
        /// <param name="mongod">Null: the tests' own.</param>
        public ServerPair(TestServers servers, ServerAddress? mongod = null)
        {
            _ours = servers.Embedded.Connect();
            _theirs = mongod is null ? servers["mongod"].Connect() : MongoConnection.Open(mongod, ConnectionSettings.Default);
            _database = servers.NewDatabase();
            Version = Version.Parse(
                _theirs.RunCommand("admin", BsonDocument.Of(("buildInfo", 1))).FindString("version")!.Split('-')[0]);
        }

        public Version Version { get; }

        public int Compared { get; private set; }

        public int Refused { get; private set; }

        /// <summary>What was answered in two ways.</summary>
        public List<string> Differences { get; } = [];

        public (BsonDocument Ours, BsonDocument Theirs) Both(BsonDocument command) =>
            (_ours.RunUnchecked(_database, command), _theirs.RunUnchecked(_database, command));

        /// <summary>What mongod answered. It is not asked for what the embedded server refuses, so both have the same documents.</summary>
        public string Digest((BsonDocument Command, bool IsCodeAlone) one)
        {
            BsonDocument ours = _ours.RunUnchecked(_database, one.Command);
            return MongodReplies.DigestOf(
                MongodReplies.IsRefused(ours) ? ours : _theirs.RunUnchecked(_database, one.Command), _database, one.IsCodeAlone);
        }

        /// <summary>The same fresh documents on both, and an index or two.</summary>
        public void Prepare(RandomCommands commands, int first, int count)
        {
            Both(BsonDocument.Of(("drop", "c")));
            // Now and then with a collation of its own.
            if (first % 4 == 1)
                Both(BsonDocument.Of(("create", "c"), ("collation", commands.Collation())));
            Both(BsonDocument.Of(("insert", "c"), ("documents", Enumerable.Range(first, count).Select(commands.Document).ToArray())));
            for (int i = 0; i < 2; i++)
                Compare(
                    BsonDocument.Of(("createIndexes", "c"),
                        ("indexes", new object[] { commands.Index($"index{i}") })),
                    isCodeAlone: true);
        }

        /// <returns>True for a command that changes nothing.</returns>
        public bool Compare(BsonDocument command, bool isCodeAlone = false)
        {
            (BsonDocument ours, BsonDocument theirs) = Both(command);
            Compared++;
            if (MongodReplies.IsRefused(ours))
            {
                Refused++;
                // What mongod did alone is done away with.
                if (MongodReplies.IsWrite(command))
                    Align();
                return true;
            }

            bool isWrite = MongodReplies.IsWrite(command);
            bool isSame = MongodReplies.DigestOf(ours, _database, isCodeAlone) == MongodReplies.DigestOf(theirs, _database, isCodeAlone);
            if (!isSame)
            {
                if (!VersionDifferences.Explain(Version, command, ours, theirs))
                    Differences.Add($"{ExtendedJson.Write(command.Bytes)}\nours:\n{MongodReplies.Documented(ours)}\n"
                        + $"mongod:\n{MongodReplies.Documented(theirs)}");
                // One difference shall not be told again by all that follows it.
                if (isWrite || command.First().Key == "find")
                    Align();
            }

            return !isWrite;
        }

        /// <summary>Whether both say the same, or what mongod's version is known to say instead.</summary>
        public bool AreSame(BsonDocument command, BsonDocument ours, BsonDocument theirs) =>
            MongodReplies.WithoutTexts(ours) == MongodReplies.WithoutTexts(theirs)
            || VersionDifferences.Explain(Version, command, ours, theirs);

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
            _theirs.RunUnchecked(_database,
                BsonDocument.Of(("delete", "c"), ("deletes", new object[] { BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0)) })));
            _theirs.RunUnchecked(_database, BsonDocument.Of(
                ("insert", "c"), ("documents", all.FindDocument("cursor.firstBatch")!.Select(pair => (object)pair.Value).ToArray())));
        }
    }
}

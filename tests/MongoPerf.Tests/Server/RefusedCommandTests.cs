using System.Globalization;
using System.Text;
using MongoPerf.Server;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Users;
using MongoPerf.Tests.Server.Fuzzing;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>
/// A command that is refused leaves nothing behind. Two servers get the same valid commands; one of them gets refused commands in between.
/// The unit suite compares a share with a fixed seed; MONGOPERF_REFUSED=100000 compares that many, MONGOPERF_REFUSED_SEED
/// takes another seed.
/// </summary>
public sealed class RefusedCommandTests : IDisposable
{
    private const int UsualCommands = 2_500;
    private const int MostCursors = 6;
    private const int SlowShare = 80;

    private static readonly string[] Databases = ["a", "x", "admin"];
    private static readonly string[] Collections = ["c", "y.c", "d"];

    /// <summary>None of them names a database. The last two are one text when their bytes are not looked at.</summary>
    private static readonly byte[][] InvalidDatabases =
    [
        .. new[] { "x.y", "a.c", ".", "", " ", "a b", "a$", "x/y", "x\0", new string('x', 64), new string('é', 32) }
            .Select(Encoding.UTF8.GetBytes),
        [0xFF], [(byte)'a', 0xC3],
    ];

    private readonly Random _random = new(Number("MONGOPERF_REFUSED_SEED", 36));
    private readonly MessageMutator _mutator = new(Number("MONGOPERF_REFUSED_SEED", 36));
    private readonly Side _tested = new();
    private readonly Side _control = new();
    private readonly List<(long Tested, long Control, string Database, string Collection)> _cursors = [];
    private int _lastId;
    private int _refused;

    [Fact]
    public void Valid_commands_do_the_same_whatever_was_refused_before_them()
    {
        int commands = Number("MONGOPERF_REFUSED", UsualCommands);
        for (int i = 0; i < commands; i++)
        {
            for (int count = _random.Next(4); count > 0; count--)
                Refuse(_random.Next(3) == 0 ? _tested.Other : _tested.Session);
            Compare(i);
        }

        Assert.True(_refused > commands, $"only {_refused} commands were refused");
        CompareWhatIsThere();
        CompareCounters();
    }

    [Fact]
    public void A_login_goes_on_after_commands_that_made_no_sense()
    {
        using var side = new Side(requiresLogin: true);
        var users = new UserStore(side.DataPath);
        users.Put("loader", "secret");
        string[] refused =
        [
            "{'saslStart': 1}", "{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256'}", "{'saslStart': 1, 'mechanism': 7, 'payload': ''}",
            "{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256', 'payload': 5}",
            "{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256', 'payload': '!'}",
            "{'saslContinue': 1, 'payload': ''}", "{'saslContinue': 1, 'conversationId': 1}",
            "{'saslContinue': 1, 'conversationId': 1, 'payload': 5}",
            "{'hello': 1, 'speculativeAuthenticate': 1}", "{'hello': 1, 'saslSupportedMechs': 7}",
            "{'hello': 1, 'saslSupportedMechs': 'x'}",
            "{'authenticate': 1, 'mechanism': 'PLAIN'}", "{'find': 'c'}", "{'logout': 1}", "{'nothing': 1}",
        ];
        foreach (string command in refused)
        {
            using var session = new CommandDispatcher(side.Context, 7);
            var login = new ScramConversation(
                Scram.Sha256, new MongoCredential("loader", "secret", "admin", Scram.Sha256, new Dictionary<string, string>()));
            BsonDocument first = side.Run(
                session, "admin", BsonDocument.Of(("saslStart", 1), ("mechanism", Scram.Sha256), ("payload", login.Start())));
            Assert.False(side.Run(session, "x.y", TestClient.Json(command)).IsTrue("ok"));
            Assert.False(side.Run(session, "admin", TestClient.Json(command)).IsTrue("ok"), command);
            byte[] proof = login.Continue(first.Find("payload")!.Value.ToBinary().Span);
            BsonDocument second = side.Run(
                session, "admin", BsonDocument.Of(("saslContinue", 1), ("conversationId", 1), ("payload", proof)));
            Assert.True(second.IsTrue("ok"), $"{command}: {ExtendedJson.Write(second.Bytes)}");
        }
    }

    [Fact]
    public void A_handshake_of_old_form_is_carried_out_on_the_database_that_it_names()
    {
        var users = new UserStore(_tested.DataPath);
        users.Put("loader", "secret");
        BsonDocument start = BsonDocument.Of(("saslStart", 1), ("mechanism", Scram.Sha256),
            ("payload", Encoding.UTF8.GetBytes("n,,n=loader,r=abc")));
        string Salt(string database) =>
            Encoding.UTF8.GetString(_tested.RunLegacy(database, start).Find("payload")!.Value.ToBinary().Span).Split(',')[1];
        // Users are of admin: elsewhere the salt is that of nobody.
        Assert.NotEqual(Salt("admin"), Salt("test"));
        Assert.Equal(73, _tested.RunLegacy("x.y", start).FindInt64("code"));
    }

    public void Dispose()
    {
        _tested.Dispose();
        _control.Dispose();
    }

    private void Compare(int number)
    {
        if (_cursors.Count > MostCursors)
            _cursors.RemoveAt(0);
        (string database, string collection) = (Databases[_random.Next(Databases.Length)], Collections[_random.Next(Collections.Length)]);
        (BsonDocument tested, BsonDocument control) = Commands(ref database, ref collection);
        using CommandDispatcher? fresh = _random.Next(4) == 0 ? new CommandDispatcher(_tested.Context, 100 + number) : null;
        BsonDocument got = _tested.Run(fresh ?? (_random.Next(4) == 0 ? _tested.Other : _tested.Session), database, tested);
        BsonDocument expected = _control.Run(_control.Session, database, control);
        if (Text(got) != Text(expected))
            Assert.Fail($"{ExtendedJson.Write(tested.Bytes)} on {database} answered {Text(got)}, not {Text(expected)}; command {number}, "
                + $"refused before: {_tested.Refused}");
        if (got.FindInt64("cursor.id") is { } id and not 0 && tested.Find("getMore") is null)
            _cursors.Add((id, expected.FindInt64("cursor.id")!.Value, database, collection));
    }

    /// <summary>A command that is meant to succeed, for either side: they differ in the ids of cursors.</summary>
    private (BsonDocument Tested, BsonDocument Control) Commands(ref string database, ref string collection)
    {
        if (_cursors.Count > 0 && _random.Next(5) == 0)
        {
            (long tested, long control, database, collection) = _cursors[_random.Next(_cursors.Count)];
            return _random.Next(4) == 0
                ? (BsonDocument.Of(("killCursors", collection), ("cursors", new[] { tested })),
                    BsonDocument.Of(("killCursors", collection), ("cursors", new[] { control })))
                : (BsonDocument.Of(("getMore", tested), ("collection", collection), ("batchSize", 2)),
                    BsonDocument.Of(("getMore", control), ("collection", collection), ("batchSize", 2)));
        }

        BsonDocument same = Valid(collection);
        return (same, same);
    }

    private BsonDocument Valid(string c)
    {
        int id = _random.Next(60);
        int n = _random.Next(8);
        if (_random.Next(SlowShare) == 0)
        {
            return Json(_random.Next(7) switch
            {
                0 => $"{{'createIndexes': '{c}', 'indexes': [{{'key': {{'n': 1}}, 'name': 'n_1'}}]}}",
                1 => $"{{'createIndexes': '{c}', 'indexes': [{{'key': {{'s.t': 1}}, 'name': 'st'}}, {{'key': {{'n': -1, "
                    + $"'m': 1}}, 'name': 'nm'}}]}}",
                2 => $"{{'dropIndexes': '{c}', 'index': 'n_1'}}",
                3 => $"{{'dropIndexes': '{c}', 'index': '*'}}",
                4 => $"{{'create': '{c}'}}",
                5 => $"{{'validate': '{c}'}}",
                _ => $"{{'drop': '{c}'}}",
            });
        }

        return Json(_random.Next(16) switch
        {
            0 or 1 => $"{{'insert': '{c}', 'documents': [{{'_id': {++_lastId}, 'n': {n}, 'm': {id}}}, {{'_id': {id}, 'n': {n}, 's': "
                + $"[{{'t': 1}}, {{'t': {n}}}]}}], 'ordered': false}}",
            2 => $"{{'update': '{c}', 'updates': [{{'q': {{'_id': {id}}}, 'u': {{'$inc': {{'n': 1}}, '$set': {{'t': 'x{n}'}}}}}}, {{'q': "
                + $"{{'n': {n}}}, 'u': {{'$unset': {{'t': 1}}}}, 'multi': true}}]}}",
            3 => $"{{'update': '{c}', 'updates': [{{'q': {{'_id': {id}}}, 'u': {{'n': {n}}}, 'upsert': true}}]}}",
            4 => $"{{'delete': '{c}', 'deletes': [{{'q': {{'_id': {id}}}, 'limit': 1}}, {{'q': {{'m': {id}}}, 'limit': 0}}]}}",
            5 => $"{{'findAndModify': '{c}', 'query': {{'n': {n}}}, 'sort': {{'_id': 1}}, 'update': {{'$inc': {{'n': 1}}}}, 'new': "
                + $"true, 'fields': {{'n': 1}}}}",
            6 => $"{{'findAndModify': '{c}', 'query': {{'_id': {id}}}, 'update': {{'n': {n}}}, 'upsert': true}}",
            7 => $"{{'find': '{c}', 'filter': {{'n': {{'$gte': {n}}}}}, 'sort': {{'m': -1, '_id': 1}}, 'projection': {{'n': 1}}, "
                + $"'skip': 1, 'batchSize': 2}}",
            8 => $"{{'find': '{c}', 'batchSize': 2}}",
            9 => $"{{'find': '{c}', 'filter': {{'_id': {id}}}, 'limit': 1, 'singleBatch': true}}",
            10 => $"{{'count': '{c}', 'query': {{'n': {{'$lt': {n}}}}}}}",
            11 => $"{{'distinct': '{c}', 'key': 's.t'}}",
            12 => $"{{'aggregate': '{c}', 'pipeline': [{{'$group': {{'_id': '$n', 's': {{'$sum': '$m'}}}}}}, {{'$sort': {{'_id': 1}}}}], "
                + $"'cursor': {{'batchSize': 2}}}}",
            13 => $"{{'explain': {{'find': '{c}', 'filter': {{'n': {n}}}}}, 'verbosity': 'queryPlanner'}}",
            14 => $"{{'listIndexes': '{c}'}}",
            _ => "{'listCollections': 1, 'nameOnly': true}",
        });
    }

    /// <summary>Reads with anything changed, and any command with something added that no server takes.</summary>
    private void Refuse(CommandDispatcher session)
    {
        string database = Databases[_random.Next(Databases.Length)];
        string collection = Collections[_random.Next(Collections.Length)];
        BsonDocument command = Valid(collection);
        if (_cursors.Count > 0 && _random.Next(3) == 0)
        {
            (long cursor, _, database, collection) = _cursors[_random.Next(_cursors.Count)];
            Require(session, Databases[(Array.IndexOf(Databases, database) + 1) % Databases.Length],
                BsonDocument.Of(("getMore", cursor), ("collection", collection)));
            Require(session, database, BsonDocument.Of(("getMore", cursor), ("collection", "other")));
            Require(session, database, BsonDocument.Of(("getMore", cursor), ("collection", collection), ("maxTimeMS", 9)));
            Require(session, database, BsonDocument.Of(("getMore", cursor), ("collection", collection), ("batchSize", -1)));
            command = _random.Next(2) == 0
                ? BsonDocument.Of(("getMore", cursor), ("collection", collection))
                : BsonDocument.Of(("killCursors", collection), ("cursors", new object[] { cursor, "x" }));
            if (command.Find("killCursors") is not null)
            {
                Require(session, database, command);
                return;
            }
        }

        switch (_random.Next(5))
        {
            case 0 when IsRead(command):
                Try(session, database, _mutator.MutateCommand(command));
                break;
            case 0 or 1:
                Require(session, InvalidDatabases[_random.Next(InvalidDatabases.Length)], command);
                break;
            case 2:
                Require(session, database, Json(Wrong(collection)));
                break;
            case 3:
                Require(session, Databases[0], new BsonDocument(_tested.Bytes(default, command, hasDatabase: false)), hasDatabase: false);
                break;
            default:
                Require(session, database, Spoil(IsRead(command) ? _mutator.MutateCommand(command) : command));
                break;
        }
    }

    private BsonDocument Spoil(BsonDocument command)
    {
        IEnumerable<(string, object?)> fields = command.Select(pair => (pair.Key, (object?)pair.Value));
        (string, object?) wrong = _random.Next(5) switch
        {
            0 => ("maxTimeMS", "soon"),
            1 => ("lsid", 1),
            2 => ("readConcern", BsonDocument.Of(("level", "some"))),
            3 => ("txnNumber", 1L),
            _ => ("maxTimeMS", -1),
        };
        return BsonDocument.Of([.. fields.Where(pair => pair.Item1 != wrong.Item1), wrong]);
    }

    /// <summary>Commands of which the first part could be carried out, or of which a part is found wrong late.</summary>
    private string Wrong(string c) => _random.Next(16) switch
    {
        0 => $"{{'delete': '{c}', 'deletes': [{{'q': {{}}, 'limit': 0}}, {{'q': {{}}, 'limit': 7}}]}}",
        1 => $"{{'delete': '{c}', 'deletes': [{{'q': {{}}, 'limit': 0}}, {{'q': 1, 'limit': 1}}]}}",
        2 => $"{{'delete': '{c}', 'deletes': [{{'q': {{}}, 'limit': 0}}, 5]}}",
        3 => $"{{'update': '{c}', 'updates': [{{'q': {{}}, 'u': {{'$inc': {{'n': 1}}}}, 'multi': true}}, {{'q': {{}}}}]}}",
        4 => $"{{'update': 'new{c}', 'updates': [{{'q': {{}}, 'u': {{'n': 1}}, 'upsert': true}}, {{'q': {{}}, 'u': {{}}, 'extra': 1}}]}}",
        5 => $"{{'insert': '{c}', 'documents': [{{'_id': 1001}}, 5]}}",
        6 => $"{{'insert': 'new{c}', 'documents': [{{'_id': 1001}}], 'extra': 1}}",
        7 => $"{{'createIndexes': '{c}', 'indexes': [{{'key': {{'q': 1}}, 'name': 'q'}}, {{'key': {{'r': 1}}, 'name': 'q'}}]}}",
        8 => $"{{'createIndexes': 'new{c}', 'indexes': [{{'key': {{'q': 1}}, 'name': 'q'}}, {{'key': {{'q': 1}}, 'name': 'r'}}]}}",
        9 => $"{{'findAndModify': 'new{c}', 'query': {{}}, 'update': {{'$set': {{'_id': [1]}}}}, 'upsert': true}}",
        10 => $"{{'findAndModify': '{c}', 'query': {{}}, 'update': {{'$foo': {{'n': 1}}}}}}",
        11 => $"{{'create': 'new{c}', 'capped': true}}",
        12 => $"{{'drop': '{c}', 'extra': 1}}",
        13 => "{'dropDatabase': 1, 'extra': 1}",
        14 => $"{{'aggregate': '{c}', 'pipeline': [{{'$sort': {{'n': 1}}}}, {{'$group': {{'_id': {{'$divide': ['$n', 0]}}}}}}, "
            + $"{{'$none': 1}}], 'cursor': {{}}}}",
        _ => $"{{'find': '{c}', 'sort': {{'n': 1}}, 'projection': {{'a': 1, 'b': 0}}, 'batchSize': 1}}",
    };

    private static bool IsRead(BsonDocument command) =>
        command.First().Key is "find" or "count" or "distinct" or "aggregate" or "explain" or "listIndexes" or "listCollections";

    private void Require(CommandDispatcher session, string database, BsonDocument command, bool hasDatabase = true) =>
        Require(session, Encoding.UTF8.GetBytes(database), command, hasDatabase);

    private void Require(CommandDispatcher session, byte[] database, BsonDocument command, bool hasDatabase = true)
    {
        BsonDocument reply = _tested.Run(session, database, command, hasDatabase);
        if (reply.IsTrue("ok"))
            Assert.Fail($"accepted on {Encoding.Latin1.GetString(database)}: {ExtendedJson.Write(command.Bytes)}");
        Assert.NotEqual(8, reply.FindInt64("code"));
        _refused++;
    }

    /// <summary>Of a read that was not refused after all nothing stays but a cursor.</summary>
    private void Try(CommandDispatcher session, string database, BsonDocument command)
    {
        BsonDocument reply = _tested.Run(session, Encoding.UTF8.GetBytes(database), command);
        if (!reply.IsTrue("ok"))
            _refused++;
        else if (reply.FindInt64("cursor.id") is { } cursor and not 0)
            _tested.Context.Cursors.Kill(cursor);
    }

    private void CompareWhatIsThere()
    {
        BsonDocument databases = BsonDocument.Of(("listDatabases", 1), ("nameOnly", true));
        BsonDocument names = _tested.Run(_tested.Session, "admin", databases);
        Assert.Equal(Text(_control.Run(_control.Session, "admin", databases)), Text(names));
        foreach ((_, BsonValue database) in names.FindDocument("databases")!)
        {
            string name = database.ToDocument().FindString("name")!;
            foreach (BsonDocument collection in TestClient.Batch(
                _tested.Run(_tested.Session, name, BsonDocument.Of(("listCollections", 1), ("nameOnly", true))), "firstBatch"))
            {
                BsonDocument find = BsonDocument.Of(
                    ("find", collection.FindString("name")), ("sort", BsonDocument.Of(("_id", 1))), ("batchSize", 1_000_000));
                Assert.Equal(Text(_control.Run(_control.Session, name, find)), Text(_tested.Run(_tested.Session, name, find)));
                Assert.True(
                    _tested.Run(_tested.Session, name, BsonDocument.Of(("validate", collection.FindString("name")))).IsTrue("valid"));
            }
        }
    }

    private void CompareCounters()
    {
        Assert.Equal(Counts(_control), Counts(_tested));
        Assert.Equal((0, 0), (_tested.Context.Counters.ActiveReaders, _tested.Context.Counters.ActiveWriters));
        Assert.Equal(0, _tested.Context.Counters.Defects);
        Assert.Empty(_tested.Context.Operations.Active);

        static string Counts(Side side) => string.Create(CultureInfo.InvariantCulture,
            $"{side.Context.Cursors.Count} cursors keep {side.Context.Cursors.HeldBytes} bytes; "
            + $"{side.Context.Counters.Inserts} {side.Context.Counters.DocumentsInserted} {side.Context.Counters.Updates} "
            + $"{side.Context.Counters.DocumentsUpdated} {side.Context.Counters.Deletes} {side.Context.Counters.DocumentsDeleted}");
    }

    /// <summary>Without what two servers never have in common: the ids of cursors, ports and identities.</summary>
    private static string Text(BsonDocument reply) =>
        System.Text.RegularExpressions.Regex.Replace(
            ExtendedJson.Write(reply.Bytes), "(\"id\": |\"cursors[A-Za-z]+\": \\[)[0-9]{8,}|UUID [0-9a-f]+|cursor id [0-9]+", "$1...");

    private static BsonDocument Json(string text) => TestClient.Json(text);

    private static int Number(string variable, int otherwise) =>
        Environment.GetEnvironmentVariable(variable) is { Length: > 0 } text ? int.Parse(text, CultureInfo.InvariantCulture) : otherwise;

    /// <summary>A server without sockets, and two of its connections.</summary>
    private sealed class Side : IDisposable
    {
        private readonly TemporaryFolder _folder = new();
        private readonly ReplyWriter _reply = new();
        private readonly Queue<BsonDocument> _lastRefused = new();

        public Side(bool requiresLogin = false)
        {
            var options = new EmbeddedServerOptions
            {
                DataPath = DataPath, CacheBytes = 64 << 20, Listen = new ListenOptions { RequiresLogin = requiresLogin },
            };
            Context = new ServerContext(DocumentStore.Open(options.DataPath, 64 << 20), options);
            Session = new CommandDispatcher(Context, 1);
            Other = new CommandDispatcher(Context, 2);
        }

        public string DataPath => _folder.At("data");

        public ServerContext Context { get; }

        public CommandDispatcher Session { get; }

        public CommandDispatcher Other { get; }

        /// <summary>The last commands that were refused.</summary>
        public string Refused => string.Join(
            " ", _lastRefused.Select(command => command.Bytes.Length > 300 ? "(a long one)" : ExtendedJson.Write(command.Bytes)));

        public BsonDocument Run(CommandDispatcher session, string database, BsonDocument command) =>
            Run(session, Encoding.UTF8.GetBytes(database), command);

        public BsonDocument Run(CommandDispatcher session, byte[] database, BsonDocument command, bool hasDatabase = true)
        {
            byte[] body = Bytes(database, command, hasDatabase);
            _reply.BeginMessage(1, 1);
            session.Handle(new CommandRequest(body, default, wantsReply: true, isLegacyQuery: false), _reply);
            var reply = new BsonDocument(_reply.Body.Written[_reply.BodyStart..].ToArray());
            if (reply.IsTrue("ok"))
                return reply;
            if (_lastRefused.Count == 6)
                _lastRefused.Dequeue();
            _lastRefused.Enqueue(command);
            return reply;
        }

        public BsonDocument RunLegacy(string database, BsonDocument command)
        {
            _reply.BeginMessage(1, 1);
            Session.Handle(
                new CommandRequest(command.Bytes, default, wantsReply: true, isLegacyQuery: true, Encoding.UTF8.GetBytes(database)),
                _reply);
            return new BsonDocument(_reply.Body.Written[_reply.BodyStart..].ToArray());
        }

        public byte[] Bytes(ReadOnlySpan<byte> database, BsonDocument command, bool hasDatabase)
        {
            var writer = new BsonWriter();
            writer.StartDocument();
            foreach ((string name, BsonValue value) in command)
                writer.WriteValue(Encoding.UTF8.GetBytes(name), value.Type, value.Bytes.Span);
            if (hasDatabase)
                writer.WriteValue("$db"u8, BsonType.String, [.. BitConverter.GetBytes(database.Length + 1), .. database, 0]);
            writer.End();
            return writer.ToArray();
        }

        public void Dispose()
        {
            Session.Dispose();
            Other.Dispose();
            Context.Dispose();
            _folder.Dispose();
        }
    }
}

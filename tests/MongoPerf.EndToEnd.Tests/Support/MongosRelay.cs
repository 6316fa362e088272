using System.Buffers.Binary;
using System.Net.Sockets;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>
/// Plays a mongos 8.0 in front of a cluster made from mongod alone: takes commands by their plain names, says <c>msg: isdbgrid</c>,
/// and answers and refuses as recorded of a real one (shared/protocol/replies-8.0).
/// </summary>
/// <remarks>
/// Users live on the config server, as a real cluster's do, so shards do not know them. Each shard's members are shown at addresses where
/// they refuse, as from 8.0 on, what is not about their state.
/// </remarks>
internal sealed class MongosRelay : IDisposable
{
    private static readonly BsonDocument Ok = BsonDocument.Of(("ok", 1.0));

    /// <summary>What a shard of 8.0 answers users without role directShardOperations to.</summary>
    private static readonly HashSet<string> StateCommands =
        ["hello", "ismaster", "isMaster", "ping", "buildInfo", "serverStatus", "replSetGetStatus", "connectionStatus", "saslStart",
            "saslContinue", "endSessions", "getCmdLineOpts", "getLog", "hostInfo"];

    private readonly TestCluster _cluster;
    private readonly ScriptedListener _listener;
    private readonly Dictionary<string, ScriptedListener> _members = [];
    private readonly ObjectId _process = ObjectId.Parse("6b084e1e18db8ccca606f656");
    private readonly List<string> _heard = [];
    private readonly Dictionary<(string Command, string Asked), long> _asked = [];

    public MongosRelay(TestCluster cluster)
    {
        _cluster = cluster;
        _listener = new ScriptedListener("mongos relay", socket => Serve(socket, new RouterSession(this).Answer));
        using MongoConnection config = cluster.ConnectConfig();
        foreach (ServerAddress member in config.RunCursor("config", BsonDocument.Of(("find", "shards"))).SelectMany(TestCluster.HostsOf))
        {
            _members[member.ToString()] = new ScriptedListener("shard relay", socket => ServeMember(socket, member));
        }
    }

    public ServerAddress Address => _listener.Address;

    /// <summary>Nothing but a login is answered without one.</summary>
    public bool RequiresLogin { get; init; }

    /// <summary>As a cluster before its first shard is added.</summary>
    public bool HidesShards { get; init; }

    /// <summary>Where the program finds a member.</summary>
    public ServerAddress Shown(ServerAddress member) => _members[member.ToString()].Address;

    /// <summary>The commands that came, each with its collection.</summary>
    public IReadOnlyList<string> Heard
    {
        get
        {
            lock (_heard)
                return [.. _heard];
        }
    }

    /// <summary>How many shards operations asked, as a mongos counts it.</summary>
    private BsonDocument HostsTargeted()
    {
        lock (_asked)
        {
            return BsonDocument.Of([.. MetricCatalogue.RoutedCommands.Select(command => (command, (object?)BsonDocument.Of(
                [.. MetricCatalogue.ShardsAsked.Select(one => (one.Field, (object?)_asked.GetValueOrDefault((command, one.Field))))])))]);
        }
    }

    public void Dispose()
    {
        _listener.Dispose();
        foreach (ScriptedListener member in _members.Values)
            member.Dispose();
    }

    private static BsonDocument Refusal(int? code, string message) => BsonDocument.Of(
        [("ok", 0.0), ("errmsg", message), .. code is null ? [] : ((string, object?)[])[("code", code)]]);

    /// <summary>Answers the messages of a connection until its client closes it.</summary>
    internal static void Serve(Socket socket, Func<BsonDocument, BsonDocument> answer)
    {
        while (ScriptedListener.ReadMessage(socket) is { } request)
        {
            BsonDocument reply;
            try
            {
                reply = answer(CommandOf(request));
            }
            catch (ServerCommandException e)
            {
                reply = Refusal(e.Code, e.Message);
            }
            catch (Exception e) when (e is IOException or ServerTooOldException)
            {
                // Whoever is behind is away: a mongos says so, and its client's connection stays.
                reply = Refusal(6, $"HostUnreachable: {e.Message}");
            }

            if ((OpMsg.Parse(request).Flags & OpMsgFlags.MoreToCome) == 0)
                Send(socket, reply, BinaryPrimitives.ReadInt32LittleEndian(request.AsSpan(4)));
        }
    }

    /// <summary>A member's own connection for each client's; both end together, as they do without a relay.</summary>
    private static void ServeMember(Socket socket, ServerAddress member)
    {
        MongoConnection upstream;
        try
        {
            upstream = MongoConnection.Open(member, ConnectionSettings.Default);
        }
        catch (IOException)
        {
            socket.Dispose();
            return;
        }

        using (upstream)
        {
            try
            {
                Serve(socket, command =>
                {
                    string name = command.First().Key;
                    if (!StateCommands.Contains(name))
                        return Refusal(13, "You are connecting to a sharded cluster improperly by connecting directly to a shard. "
                            + "Please connect to the cluster via a router (mongos).");
                    // Who shook hands before may do so again, without what only a first handshake may carry.
                    BsonDocument reply = upstream.RunUnchecked(
                        command.FindString("$db")!, Without(command, "$db", "client", "compression", "speculativeAuthenticate"));
                    return name == "serverStatus" ? NamedAsBy8(reply) : reply;
                });
            }
            finally
            {
                socket.Dispose();
            }
        }
    }

    /// <summary>A serverStatus of 6.0 under the names of 8.0: tickets, checkpoints, index builds, and what the range deleter did.</summary>
    private static BsonDocument NamedAsBy8(BsonDocument status)
    {
        const string Checkpoint = "wiredTiger.transaction.transaction checkpoint";
        return BsonDocument.Of([.. status.Select(e => e.Key switch
        {
            "version" => (e.Key, (object?)"8.0.4"),
            "activeIndexBuilds" => ("indexBuilds", BsonDocument.Of(("total", 3), ("phases", BsonDocument.Of(("commit", 3))))),
            "wiredTiger" => (e.Key, BsonDocument.Of(
            [
                .. e.Value.ToDocument().Select(part => part.Key == "transaction"
                    ? (part.Key, BsonDocument.Of([.. part.Value.ToDocument()
                        .Where(one => !one.Key.StartsWith("transaction checkpoint", StringComparison.Ordinal))
                        .Select(one => (one.Key, (object?)one.Value))]))
                    : (part.Key, (object?)part.Value)).Where(part => part.Key != "concurrentTransactions"),
                ("checkpoint", BsonDocument.Of(
                    ("progress state", status.FindInt64($"{Checkpoint} currently running") ?? 0),
                    ("total succeed number of checkpoints", status.FindInt64($"{Checkpoint}s") ?? 0),
                    ("most recent time (msecs)", status.FindInt64($"{Checkpoint} most recent time (msecs)") ?? 0))),
            ])),
            "shardingStatistics" => (e.Key, BsonDocument.Of([.. e.Value.ToDocument().Select(one =>
                (one.Key == "countDocsDeletedOnDonor" ? "countDocsDeletedByRangeDeleter" : one.Key, (object?)one.Value))])),
            _ => (e.Key, e.Value),
        }), .. status.Find("wiredTiger.concurrentTransactions") is { } tickets
            ? [("queues", BsonDocument.Of(("execution", tickets)))] : Array.Empty<(string, object?)>()]);
    }

    internal static BsonDocument Without(BsonDocument command, params string[] names) =>
        BsonDocument.Of([.. command.Where(e => !names.Contains(e.Key)).Select(e => (e.Key, (object?)e.Value))]);

    private static void Send(Socket socket, BsonDocument reply, int responseTo)
    {
        var writer = new OpMsgWriter();
        writer.Begin(OpMsgFlags.None, requestId: 1, responseTo);
        writer.Body.WriteRaw(reply.Bytes[4..^1]);
        writer.EndBody();
        ReadOnlySpan<byte> message = writer.Finish();
        while (message.Length > 0)
            message = message[socket.Send(message)..];
    }

    /// <summary>With the documents of sequences as arrays in it, which says the same.</summary>
    private static BsonDocument CommandOf(byte[] request)
    {
        OpMsg message = OpMsg.Parse(request);
        var elements = new List<(string, object?)>();
        elements.AddRange(new BsonDocument(message.Body.ToArray()).Select(e => (e.Key, (object?)e.Value)));
        foreach (DocumentSequence sequence in message.Sequences)
        {
            var documents = new List<BsonDocument>();
            for (ReadOnlySpan<byte> rest = sequence.Documents; rest.Length > 0;)
            {
                int length = BinaryPrimitives.ReadInt32LittleEndian(rest);
                documents.Add(new BsonDocument(rest[..length].ToArray()));
                rest = rest[length..];
            }

            elements.Add((sequence.NameText, documents));
        }

        return BsonDocument.Of([.. elements]);
    }

    /// <summary>One client's connection: to the router's code, and to the config server, which knows the users.</summary>
    private sealed class RouterSession(MongosRelay relay)
    {
        private MongoConnection? _router;
        private MongoConnection? _config;

        private MongoConnection Router => _router ??= relay._cluster.Connect();

        private MongoConnection Config => _config ??= relay._cluster.ConnectConfig();

        public BsonDocument Answer(BsonDocument command)
        {
            (string name, BsonValue value) = command.First();
            string database = command.FindString("$db")!;
            lock (relay._heard)
                relay._heard.Add(value.Type == BsonType.String ? $"{name} {value}" : name);
            if (database == "local")
                return Refusal(20, "Can't use 'local' database through mongos");
            // A routing mongod aborts on a txnNumber, and has its own view of who reads where.
            BsonDocument rest = Without(command, "$db", "txnNumber", "$clusterTime", "$readPreference", "lsid", "apiVersion");
            if (RequireRight(name, rest, database) is { } refusal)
                return refusal;
            try
            {
                return Answer(name, value, rest, database);
            }
            catch (IOException)
            {
                // The next command connects anew.
                _router?.Dispose();
                _config?.Dispose();
                _router = _config = null;
                throw;
            }
        }

        private BsonDocument Answer(string name, BsonValue value, BsonDocument command, string database)
        {
            switch (name)
            {
                case "hello" or "ismaster" or "isMaster":
                    return Hello(command, database);
                case "buildInfo":
                    return BsonDocument.Of([("version", "8.0.4"), .. Router.RunUnchecked("admin", command).Where(e => e.Key != "version")
                        .Select(e => (e.Key, (object?)e.Value))]);
                case "saslStart" or "saslContinue" or "connectionStatus":
                    return Config.RunUnchecked(database, command);
                case "ping" or "endSessions" or "killCursors":
                    return Ok;
                case "serverStatus":
                    BsonDocument status = Router.RunUnchecked("admin", command);
                    return BsonDocument.Of(
                    [
                        ("process", "mongos"), ("shardingStatistics", BsonDocument.Of(("numHostsTargeted", relay.HostsTargeted()))),
                        .. Without(status, "process", "wiredTiger", "metrics", "activeIndexBuilds", "repl", "shardingStatistics")
                            .Select(e => (e.Key, (object?)e.Value)),
                    ]);
                case "connPoolStats" or "getParameter" or "getLog" or "hostInfo" or "getCmdLineOpts":
                    return Router.RunUnchecked(database, command);
                case "replSetGetStatus":
                    return Refusal(null, "replSetGetStatus is not supported through mongos");
                case "compact":
                    return Refusal(115, "compact not allowed through mongos");
                case "fsync" or "appendOplogNote":
                    foreach (ShardAddress shard in relay._cluster.Cluster.Parts!.Shards)
                        OnShard(shard.Name, c => c.RunCommand(database, command));
                    return Ok;
                case "balancerStart" or "balancerStop":
                    SwitchBalancer(name, isOn: name == "balancerStart");
                    return Ok;
                case "balancerStatus" or "balancerCollectionStatus":
                    return Config.RunUnchecked("admin", Renamed("_configsvr" + char.ToUpperInvariant(name[0]) + name[1..], command));
                case "addShardToZone" or "removeShardFromZone" or "updateZoneKeyRange":
                    return Config.RunUnchecked("admin", BsonDocument.Of(
                    [
                        .. Renamed("_configsvr" + char.ToUpperInvariant(name[0]) + name[1..], command)
                            .Select(e => (e.Key, (object?)e.Value)),
                        ("writeConcern", BsonDocument.Of(("w", "majority"))),
                    ]));
                case "enableSharding":
                    EnsureDatabase(value.ToString());
                    return Ok;
                case "listShards":
                    IEnumerable<BsonDocument> listed = Documents.Find(Config, "config", "shards", BsonDocument.Empty);
                    return BsonDocument.Of(("shards", listed.Where(_ => !relay.HidesShards).ToArray()), ("ok", 1.0));
                case "shardCollection":
                    return ShardCollection(value.ToString(), command);
                case "split":
                    return Split(value.ToString(), command.FindDocument("middle")!);
                case "moveChunk":
                    return Config.RunUnchecked("admin", BsonDocument.Of(
                        ("_configsvrMoveRange", value), ("toShard", command.Find("to")), ("min", command.Find("bounds.0")),
                        ("max", command.Find("bounds.1")), ("writeConcern", BsonDocument.Of(("w", "majority")))));
                case "collStats" when FindDatabase(database) is { } home:
                    return OnShard(home.FindString("primary")!, c => c.RunUnchecked(database, command));
                case "listCollections" or "listIndexes":
                    return FindDatabase(database) is { } known
                        ? OnShard(known.FindString("primary")!, c => c.RunUnchecked(database, command))
                        : name == "listIndexes" ? Refusal(26, $"ns does not exist: {database}.{value}")
                        : BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", Array.Empty<BsonDocument>()), ("id", 0L),
                            ("ns", $"{database}.$cmd.listCollections"))), ("ok", 1.0));
                case "create" or "createIndexes" or "dropIndexes" or "collMod" or "validate":
                    return OnOwners(database, value.ToString(), command);
                case "drop" when database is "config" or "admin":
                    return Refusal(20, $"Cannot drop collection in '{database}' database in sharded cluster");
                case "drop" or "dropDatabase":
                    return FindDatabase(database) is { } there ? OnShard(there.FindString("primary")!, c => c.RunUnchecked(database,
                        BsonDocument.Of((name == "drop" ? "_shardsvrDropCollection" : "_shardsvrDropDatabase", value),
                            ("databaseVersion", there.Find("version")), ("writeConcern", BsonDocument.Of(("w", "majority")))))) : Ok;
                case "aggregate" when command.Find("pipeline.0.$shardedDataDistribution") is not null:
                    return DataDistribution(command.FindDocument("pipeline.1.$match.ns.$in")!.Select(one => one.Value.ToString()));
                case "listDatabases" or "createUser":
                    return Config.RunUnchecked("admin", command);
                // What a mongod that routes can't explain of what a mongos can.
                case "explain" when value.ToDocument().First().Key is "update" or "delete" or "findAndModify" or "findandmodify":
                    return Refusal(115, $"explain of {value.ToDocument().First().Key} is not supported here");
                case "insert" or "update" or "delete" or "find" or "aggregate" or "getMore" or "count" or "distinct" or "explain":
                    if (database is "config" or "admin")
                        return ShowMembers(Config.RunUnchecked(database, command));
                    if (name is "insert" or "update")
                        EnsureDatabase(database);
                    CountShards(name, $"{database}.{value}", command);
                    if (command.Find("pipeline.0.$collStats") is not null
                        && ConfigCatalogue.FindCollection(Config, $"{database}.{value}") is { } series
                        && ConfigCatalogue.IsTimeSeries(series))
                        return StatisticsOf(series, database, command);
                    return Router.RunUnchecked(database, command);
                default:
                    return Refusal(59, $"no such cmd: {name}");
            }
        }

        /// <summary>By the shards' own counts; collections that are not sharded are not in it.</summary>
        private BsonDocument DataDistribution(IEnumerable<string> namespaces) => BsonDocument.Of(("cursor", BsonDocument.Of(
            ("firstBatch", namespaces.Where(ns => ConfigCatalogue.FindCollection(Config, ns) is not null).Select(ns => BsonDocument.Of(
                ("ns", ns), ("shards", Parts(ns.Split('.', 2)).Select(part =>
                {
                    long orphans = part.FindInt64("storageStats.numOrphanDocs") ?? 0;
                    long all = part.FindInt64("storageStats.count") ?? 0;
                    long bytes = part.FindInt64("storageStats.size") ?? 0;
                    return BsonDocument.Of(("shardName", part.FindString("shard")), ("numOrphanedDocs", orphans),
                        ("numOwnedDocuments", all - orphans), ("ownedSizeBytes", all == 0 ? null : (object)(bytes * (all - orphans) / all)),
                        ("orphanedSizeBytes", all == 0 ? null : (object)(bytes * orphans / all)));
                }).ToArray()))).ToArray()),
            ("id", 0L), ("ns", "admin.$cmd.aggregate"))), ("ok", 1.0));

        private IEnumerable<BsonDocument> Parts(string[] names) => Router.RunCursor(names[0], BsonDocument.Of(
            ("aggregate", names[1]),
            ("pipeline", new[] { BsonDocument.Of(("$collStats", BsonDocument.Of(("storageStats", BsonDocument.Empty)))) }),
            ("cursor", BsonDocument.Empty)));

        /// <summary>An equality of each field of the shard key leads to one shard.</summary>
        private void CountShards(string name, string ns, BsonDocument command)
        {
            BsonDocument? filter = command.FindDocument("filter") ?? command.FindDocument("pipeline.0.$match")
                ?? command.FindDocument("updates.0.q") ?? command.FindDocument("deletes.0.q");
            string asked = ConfigCatalogue.FindCollection(Config, ns)?.FindDocument("key") is not { } key ? "unsharded"
                : name == "insert" || key.All(field => filter?.Find(field.Key) is { } value && value.Type != BsonType.Document) ? "oneShard"
                : "allShards";
            lock (relay._asked)
                relay._asked[(name, asked)] = relay._asked.GetValueOrDefault((name, asked)) + 1;
        }

        private BsonDocument Hello(BsonDocument command, string database)
        {
            const string Mechanisms = "saslSupportedMechs";
            BsonValue? mechanisms = command.Find(Mechanisms) is { } user
                ? Config.RunUnchecked(database, BsonDocument.Of(("hello", 1), (Mechanisms, user))).Find(Mechanisms) : null;
            return BsonDocument.Of(
            [
                (command.First().Key == "hello" ? "isWritablePrimary" : "ismaster", true), ("msg", "isdbgrid"),
                ("topologyVersion", BsonDocument.Of(("processId", relay._process), ("counter", 0L))),
                ("maxBsonObjectSize", 16_777_216), ("maxMessageSizeBytes", 48_000_000), ("maxWriteBatchSize", 100_000),
                ("localTime", DateTime.UtcNow), ("minWireVersion", 0), ("maxWireVersion", 17),
                .. mechanisms is null ? [] : ((string, object?)[])[(Mechanisms, mechanisms)], ("ok", 1.0),
            ]);
        }

        /// <summary>config.shards with the members' addresses as the relay shows them.</summary>
        private BsonDocument ShowMembers(BsonDocument reply)
        {
            if (!reply.IsTrue("ok") || reply.FindString("cursor.ns") != "config.shards")
                return reply;
            IEnumerable<BsonDocument> all = reply.FindDocument("cursor.firstBatch")!.Select(one => one.Value.ToDocument());
            BsonDocument[] shards = [.. all.Where(_ => !relay.HidesShards).Select(shard =>
                BsonDocument.Of([.. shard.Select(e => (e.Key, e.Key != "host" ? (object?)e.Value
                    : $"{shard.FindString("_id")}/{string.Join(',', TestCluster.HostsOf(shard).Select(relay.Shown))}"))]))];
            return BsonDocument.Of(
                ("cursor", BsonDocument.Of(("firstBatch", shards), ("id", 0L), ("ns", "config.shards"))), ("ok", 1.0));
        }

        /// <summary>From 7.0 on with automerge beside it.</summary>
        private void SwitchBalancer(string name, bool isOn)
        {
            Config.RunCommand("admin", BsonDocument.Of(("_configsvr" + char.ToUpperInvariant(name[0]) + name[1..], 1)));
            ConfigCatalogue.ChangeSetting(Config, "automerge", BsonDocument.Of(("$set", BsonDocument.Of(("enabled", isOn)))));
        }

        private BsonDocument? FindDatabase(string name) => ConfigCatalogue.FindDatabase(Config, name);

        private BsonDocument EnsureDatabase(string name)
        {
            if (FindDatabase(name) is { } there)
                return there;
            Config.RunCommand("admin", BsonDocument.Of(
                ("_configsvrCreateDatabase", name), ("writeConcern", BsonDocument.Of(("w", "majority")))));
            return FindDatabase(name)!;
        }

        /// <summary>A hashed key gets one chunk on each shard, whatever number was asked for.</summary>
        private BsonDocument ShardCollection(string ns, BsonDocument command)
        {
            string[] names = ns.Split('.', 2);
            BsonDocument home = EnsureDatabase(names[0]);
            BsonDocument key = command.FindDocument("key")!;
            bool isHashed = key.Any(field => field.Value.Type == BsonType.String);
            return OnShard(home.FindString("primary")!, shard => shard.RunUnchecked(names[0], BsonDocument.Of(
            [
                ("_shardsvrCreateCollection", names[1]), ("shardKey", key), ("unique", command.IsTrue("unique")),
                .. command.Find("collation") is { } collation ? ((string, object?)[])[("collation", collation)] : [],
                .. isHashed ? ((string, object?)[])[("numInitialChunks", (long)relay._cluster.Cluster.Parts!.Shards.Count)] : [],
                ("databaseVersion", home.Find("version")), ("writeConcern", BsonDocument.Of(("w", "majority"))),
            ])));
        }

        private BsonDocument Split(string ns, BsonDocument middle)
        {
            BsonDocument collection = ConfigCatalogue.FindCollection(Config, ns)!;
            IReadOnlyList<BsonDocument> chunks = ConfigCatalogue.ReadChunks(Config, collection);
            if (chunks.Any(chunk => chunk.FindDocument("min")!.Bytes.SequenceEqual(middle.Bytes)))
                return Refusal(null, $"new split key {ExtendedJson.Write(middle.Bytes)} is a boundary key of existing chunk");
            BsonDocument around = chunks.Last(chunk => chunk.FindDocument("min")!.First().Value is var min
                && (min.Type == BsonType.MinKey || Compare(min, middle.First().Value) < 0));
            return OnShard(around.FindString("shard")!, shard => shard.RunUnchecked("admin", BsonDocument.Of(
                ("splitChunk", ns), ("from", around.FindString("shard")), ("keyPattern", collection.FindDocument("key")),
                ("epoch", collection.Find("lastmodEpoch")), ("timestamp", collection.Find("timestamp")),
                ("min", around.FindDocument("min")), ("max", around.FindDocument("max")), ("splitKeys", new[] { middle }))));
        }

        private static int Compare(BsonValue one, BsonValue other) => one.Type == BsonType.ObjectId
            ? string.CompareOrdinal(one.ToString(), other.ToString())
            : one.ToDouble().CompareTo(other.ToDouble());

        /// <summary>A routing mongod goes by stale chunks where it looks at a time series' statistics; a mongos does not.</summary>
        private BsonDocument StatisticsOf(BsonDocument series, string database, BsonDocument command)
        {
            BsonDocument[] parts = [.. ConfigCatalogue.CountChunks(Config, series).Keys.SelectMany(owner => OnShard(owner,
                shard => shard.RunUnchecked(database, command)).FindDocument("cursor.firstBatch")!.Select(part => BsonDocument.Of(
                    [("shard", owner), .. part.Value.ToDocument().Select(e => (e.Key, (object?)e.Value))])))];
            return BsonDocument.Of(
                ("cursor", BsonDocument.Of(("firstBatch", parts), ("id", 0L), ("ns", $"{database}.{command.First().Value}"))), ("ok", 1.0));
        }

        private BsonDocument OnOwners(string database, string collection, BsonDocument command)
        {
            BsonDocument home = EnsureDatabase(database);
            string[] owners = ConfigCatalogue.FindCollection(Config, $"{database}.{collection}") is { } sharded
                ? [.. ConfigCatalogue.CountChunks(Config, sharded).Keys] : [home.FindString("primary")!];
            BsonDocument reply = Ok;
            foreach (string owner in owners)
            {
                reply = OnShard(owner, shard => shard.RunUnchecked(database, command));
                if (!reply.IsTrue("ok"))
                    break;
            }

            return reply;
        }

        private BsonDocument OnShard(string name, Func<MongoConnection, BsonDocument> ask)
        {
            using MongoConnection shard = MongoConnection.Open(relay._cluster.PrimaryOf(name), ConnectionSettings.Default);
            return ask(shard);
        }

        private static BsonDocument Renamed(string name, BsonDocument command) =>
            BsonDocument.Of([(name, command.First().Value), .. command.Skip(1).Select(e => (e.Key, (object?)e.Value))]);

        /// <returns>Null when the user may.</returns>
        private BsonDocument? RequireRight(string name, BsonDocument command, string database)
        {
            if (!relay.RequiresLogin || name is "hello" or "ismaster" or "isMaster" or "ping" or "buildInfo" or "saslStart"
                or "saslContinue" or "connectionStatus" or "endSessions" or "killCursors" or "getMore" or "explain")
                return null;
            var rights = UserRights.Read(Config);
            if (rights.User is null)
                return Refusal(13, $"Command {name} requires authentication");
            string ns = command.First().Value.Type == BsonType.String ? command.First().Value.ToString() : "";
            bool may = name switch
            {
                "serverStatus" or "fsync" or "appendOplogNote" or "connPoolStats" or "hostInfo" or "getCmdLineOpts" or "getLog"
                    or "getParameter" => rights.MayOnCluster(name),
                "balancerStart" or "balancerStop" => rights.May("update", "config", "settings"),
                "enableSharding" => rights.May("enableSharding", ns, ""),
                "shardCollection" => rights.May("enableSharding", ns.Split('.', 2)[0], ns.Split('.', 2)[^1]),
                "split" => rights.May("splitChunk", ns.Split('.', 2)[0], ns.Split('.', 2)[^1]),
                "moveChunk" => rights.May("moveChunk", ns.Split('.', 2)[0], ns.Split('.', 2)[^1]),
                "aggregate" when command.Find("pipeline.0.$collStats") is not null => rights.May("collStats", database, ns),
                "aggregate" when command.Find("pipeline.0.$indexStats") is not null => rights.May("indexStats", database, ns),
                "aggregate" when command.Find("pipeline.0.$shardedDataDistribution") is not null =>
                    rights.MayOnCluster("shardedDataDistribution"),
                "aggregate" or "count" or "distinct" => rights.May("find", database, ns),
                "delete" => rights.May("remove", database, ns),
                "create" => rights.May("createCollection", database, ns),
                "createIndexes" => rights.May("createIndex", database, ns),
                "dropIndexes" => rights.May("dropIndex", database, ns),
                "drop" => rights.May("dropCollection", database, ns),
                "listCollections" or "dropDatabase" => rights.May(name, database, ""),
                _ => rights.May(name, database, ns),
            };
            return may ? null : Refusal(13, $"not authorized on {database} to execute command {{ {name}: \"{ns}\" }}");
        }
    }
}

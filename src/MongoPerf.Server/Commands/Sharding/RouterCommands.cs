using System.Collections.Frozen;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>The commands that a mongos has and a mongod has not, and those that it answers in another way.</summary>
internal static class RouterCommands
{
    private static readonly string[] RefusedNames =
    [
        "addShard", "removeShard", "movePrimary", "moveCollection", "reshardCollection", "unshardCollection", "refineCollectionShardKey",
        "mergeChunks", "clearJumboFlag", "configureCollectionBalancing", "analyzeShardKey", "configureQueryAnalyzer",
    ];

    /// <summary>Every name that is not in <see cref="CommandTable"/>, for the documentation.</summary>
    public static IEnumerable<string> OwnNames => Entries.Keys.Except(CommandTable.Names).Except(RefusedNames);

    /// <summary>Those that a mongos has and this server refuses, for the documentation.</summary>
    public static IReadOnlyList<string> Refused => RefusedNames;

    private static readonly FrozenDictionary<string, CommandEntry> Entries = new Dictionary<string, CommandEntry>
    {
        ["isdbgrid"] = new(IsDbGrid, IsForAnybody: true),
        ["listShards"] = new(ListShards),
        ["getShardMap"] = new(GetShardMap),
        ["connPoolStats"] = new(ConnPoolStats),
        ["flushRouterConfig"] = new(AdministrationCommands.Ping),
        ["appendOplogNote"] = new(AppendOplogNote),
        ["enableSharding"] = new(ShardingAdministration.EnableSharding),
        ["shardCollection"] = new(ShardingAdministration.ShardCollection),
        ["split"] = new(ShardingAdministration.Split),
        ["moveChunk"] = new(ShardingAdministration.MoveChunk),
        ["moveRange"] = new(ShardingAdministration.MoveRange),
        ["balancerStart"] = new(BalancerCommands.Start),
        ["balancerStop"] = new(BalancerCommands.Stop),
        ["balancerStatus"] = new(BalancerCommands.Status),
        ["balancerCollectionStatus"] = new(BalancerCommands.CollectionStatus),
        ["addShardToZone"] = new(ZoneCommands.AddShard),
        ["removeShardFromZone"] = new(ZoneCommands.RemoveShard),
        ["updateZoneKeyRange"] = new(ZoneCommands.UpdateRange),
        ["compact"] = new(RefuseCompact),
        ["replSetGetStatus"] = new(RefuseStatusOfSet),
        ["profile"] = new(RefuseProfile),
        ["serverStatus"] = new(ServerStatusCommand.Execute),
        ["collStats"] = new(ShardStatistics.CollStats),
        ["collstats"] = new(ShardStatistics.CollStats),
        ["validate"] = new(ShardStatistics.Validate),
        ["explain"] = new(ShardExplain.Execute, IsStable: true),
        ["createIndexes"] = new(ShardedCatalog.CreateIndexes, TakesTransactionNumber: true, IsStable: true),
        ["dropIndexes"] = new(ShardedCatalog.DropIndexes, IsStable: true),
        ["deleteIndexes"] = new(ShardedCatalog.DropIndexes),
        ["create"] = new(ShardedCatalog.Create, TakesTransactionNumber: true, IsStable: true),
        ["drop"] = new(ShardedCatalog.Drop, IsStable: true),
        ["dropDatabase"] = new(ShardedCatalog.DropDatabase, IsStable: true),
    }
        .Concat(RefusedNames.Select(name => KeyValuePair.Create(name, new CommandEntry(Refuse))))
        .Concat(((string[])["find", "insert", "update", "delete", "aggregate", "count", "distinct", "findAndModify", "findandmodify"])
            .Select(name => KeyValuePair.Create(name, Routed(name))))
        .ToFrozenDictionary(pair => pair.Key, pair => pair.Value with { Name = pair.Key });

    /// <returns>Null for a command that a mongos answers as a mongod does, or does not know.</returns>
    public static CommandEntry? Find(ReadOnlySpan<byte> name) =>
        Entries.TryGetValue(System.Text.Encoding.UTF8.GetString(name), out CommandEntry? entry) ? entry : null;

    private static CommandEntry Routed(string name)
    {
        CommandEntry entry = CommandTable.Find(System.Text.Encoding.UTF8.GetBytes(name));
        CommandHandler execute = entry.Execute;
        return entry with
        {
            Execute = (CommandSession session, in CommandRequest request, ReplyWriter reply) =>
            {
                ShardRouting.Count(session, name, request);
                if (name == "aggregate" && ShardStatistics.TryAggregate(session, request, reply))
                    return;
                execute(session, request, reply);
                if (!Namespaces.IsInternal(session.Database) && name is not ("find" or "count" or "distinct" or "delete"))
                    ShardedCatalog.NoteDatabase(session);
            },
        };
    }

    private static void IsDbGrid(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        reply.Body.WriteInt32("isdbgrid"u8, 1);
        reply.Body.WriteString("hostname"u8, Environment.MachineName);
        reply.Succeed();
    }

    private static void ListShards(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        AdministrationCommands.RequireAdmin(session, "listShards");
        reply.Body.StartArray("shards"u8);
        int index = 0;
        foreach (BsonDocument shard in session.Router.Config.Read("shards"))
            reply.Body.WriteDocument(ArrayNames.Of(index++), shard.Bytes);
        reply.Body.End();
        reply.Succeed();
    }

    private static void GetShardMap(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        AdministrationCommands.RequireAdmin(session, "getShardMap");
        ShardRouter router = session.Router;
        reply.Body.WriteDocument("map"u8, BsonDocument.Of(
            [.. router.Shards.Select((name, number) => (name, (object?)router.ConnectionOf(number)))]).Bytes);
        reply.Body.WriteDocument("hosts"u8, BsonDocument.Of(
            [.. router.Shards.Select((name, number) => (router.Hosts[number], (object?)name))]).Bytes);
        reply.Succeed();
    }

    private static void ConnPoolStats(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        ShardRouter router = session.Router;
        reply.Body.WriteDocument("replicaSets"u8, BsonDocument.Of(
            [.. router.Shards.Select((name, number) => (name, (object?)Set(router.Hosts[number])))]).Bytes);
        reply.Succeed();

        static BsonDocument Set(string host) => BsonDocument.Of(
            ("hosts", new[] { BsonDocument.Of(("addr", host), ("ok", true), ("ismaster", true), ("secondary", false)) }));
    }

    /// <summary>There is no oplog, but what was written before such a note is on the disk after it.</summary>
    private static void AppendOplogNote(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        AdministrationCommands.RequireAdmin(session, "appendOplogNote");
        session.Server.Store.SyncLog();
        reply.Succeed();
    }

    private static void RefuseCompact(CommandSession session, in CommandRequest request, ReplyWriter reply) =>
        throw new CommandException(115, "CommandNotSupported", "compact not allowed through mongos");

    private static void RefuseStatusOfSet(CommandSession session, in CommandRequest request, ReplyWriter reply) =>
        throw new CommandException(0, "", "replSetGetStatus is not supported through mongos");

    private static void RefuseProfile(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        if (new BsonDocument(request.Body.ToArray()).FindInt64("profile") is not (0 or -1))
            throw CommandException.BadValue("Profiling is not permitted on mongoS: the 'profile' field should be 0 to change 'slowms', "
                + "'sampleRate', or 'filter' settings for logging, or -1 to view current values");
        throw CommandException.NotSupported("profile");
    }

    private static void Refuse(CommandSession session, in CommandRequest request, ReplyWriter reply) =>
        throw CommandException.NotSupported(request.NameText);
}

using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>Zones are noted and shown; without a balancer nothing moves for them.</summary>
internal static class ZoneCommands
{
    public static void AddShard(CommandSession session, in CommandRequest request, ReplyWriter reply) =>
        Change(session, request, reply, (tags, zone) => [.. tags.Append(zone).Distinct()]);

    public static void RemoveShard(CommandSession session, in CommandRequest request, ReplyWriter reply) =>
        Change(session, request, reply, (tags, zone) => [.. tags.Where(tag => tag != zone)]);

    public static void UpdateRange(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonDocument command = ShardingAdministration.Admin(session, request);
        (string nameSpace, _, _) = ShardingAdministration.NamespaceOf(command);
        BsonDocument from = command.FindDocument("min") ?? throw CommandException.MissingField("updateZoneKeyRange", "min");
        BsonDocument to = command.FindDocument("max") ?? throw CommandException.MissingField("updateZoneKeyRange", "max");
        ConfigCollections config = session.Router.Config;
        if (command.FindString("zone") is { } zone)
        {
            if (!config.Read("shards").Any(shard => (shard.FindDocument("tags") ?? BsonDocument.Empty)
                .Any(tag => tag.Value.ToString() == zone)))
                throw new CommandException(177, "ZoneNotFound", $"zone {zone} does not exist");
            config.Replace("tags", _ => false, BsonDocument.Of(
                ("_id", BsonDocument.Of(("ns", nameSpace), ("min", from))), ("ns", nameSpace), ("min", from), ("max", to), ("tag", zone)));
        }
        else
        {
            config.Replace("tags", one => one.FindString("ns") == nameSpace
                && one.FindDocument("min")!.Bytes.SequenceEqual(from.Bytes));
        }

        reply.Succeed();
    }

    private static void Change(
        CommandSession session, in CommandRequest request, ReplyWriter reply, Func<IEnumerable<string>, string, string[]> change)
    {
        BsonDocument command = ShardingAdministration.Admin(session, request);
        string name = session.Router.Shards[ShardingAdministration.RequireShard(session, command.First().Value.ToString())];
        string zone = command.FindString("zone") ?? throw CommandException.MissingField(request.NameText, "zone");
        session.Router.ChangeTags(name, tags => change(tags, zone));
        reply.Succeed();
    }
}

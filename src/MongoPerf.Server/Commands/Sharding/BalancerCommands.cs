using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>The balancer's switch. Nothing moves by itself here: every collection counts as balanced.</summary>
internal static class BalancerCommands
{
    private const double ChunkMegabytes = 128;

    public static void Start(CommandSession session, in CommandRequest request, ReplyWriter reply) => Switch(session, request, reply, true);

    public static void Stop(CommandSession session, in CommandRequest request, ReplyWriter reply) => Switch(session, request, reply, false);

    public static void Status(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        ShardingAdministration.Admin(session, request);
        reply.Body.WriteString("mode"u8, Setting(session, "balancer")?.FindString("mode") ?? "full");
        reply.Body.WriteBoolean("inBalancerRound"u8, false);
        reply.Body.WriteInt64("numBalancerRounds"u8, 0);
        reply.Succeed();
    }

    public static void CollectionStatus(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        (string nameSpace, _, _) = ShardingAdministration.NamespaceOf(ShardingAdministration.Admin(session, request));
        if (session.Router.FindTable(nameSpace) == null)
            throw new CommandException(118, "NamespaceNotSharded", $"Namespace {nameSpace} is not sharded");
        reply.Body.WriteDouble("chunkSize"u8, Setting(session, "chunksize")?.FindDouble("value") ?? ChunkMegabytes);
        reply.Body.WriteBoolean("balancerCompliant"u8, true);
        reply.Succeed();
    }

    private static void Switch(CommandSession session, in CommandRequest request, ReplyWriter reply, bool isOn)
    {
        ShardingAdministration.Admin(session, request);
        BsonDocument before = Setting(session, "balancer") ?? BsonDocument.Empty;
        session.Router.Config.Replace("settings", _ => false, BsonDocument.Of(
        [
            ("_id", "balancer"), ("mode", isOn ? "full" : "off"), ("stopped", !isOn),
            .. before.Where(field => field.Key is not ("_id" or "mode" or "stopped")).Select(field => (field.Key, (object?)field.Value)),
        ]));
        reply.Succeed();
    }

    private static BsonDocument? Setting(CommandSession session, string id) =>
        session.Router.Config.Read("settings").FirstOrDefault(one => one.FindString("_id") == id);
}

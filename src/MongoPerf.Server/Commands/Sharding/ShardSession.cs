using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>
/// A connection to a shard, past the router. It answers who it is, as the primary of a replica set; everything else it refuses as a shard
/// of MongoDB 8.0 refuses most users, and it knows no user of the cluster.
/// </summary>
internal sealed class ShardSession(ServerContext server, int shard, int connectionId) : ICommandSession
{
    private readonly CommandDispatcher _server = new(server, connectionId);

    /// <inheritdoc/>
    public bool IsTrusted => !server.Options.Listen.RequiresLogin;

    public void Handle(in CommandRequest request, ReplyWriter reply)
    {
        switch (request.NameText)
        {
            case "hello" or "isMaster" or "ismaster":
                Hello(request, reply);
                break;
            case "ping" or "buildInfo" or "buildinfo" or "connectionStatus" or "whatsmyuri":
                _server.Handle(request, reply);
                break;
            case "saslStart" or "saslContinue" or "authenticate":
                reply.Fail(18, "AuthenticationFailed", "Authentication failed.");
                break;
            default:
                reply.Fail(13, "Unauthorized", "You are connecting to a sharded cluster improperly by connecting directly to a shard. "
                    + "Please connect to the cluster via a router (mongos).");
                break;
        }
    }

    public void Dispose() => _server.Dispose();

    private void Hello(in CommandRequest request, ReplyWriter reply)
    {
        string me = server.Router!.Hosts[shard];
        reply.Body.WriteBoolean(request.NameText == "hello" ? "isWritablePrimary"u8 : "ismaster"u8, true);
        reply.Body.WriteBoolean("secondary"u8, false);
        reply.Body.WriteString("setName"u8, server.Router.Shards[shard]);
        reply.Body.WriteInt32("setVersion"u8, 1);
        reply.Body.StartArray("hosts"u8);
        reply.Body.WriteString("0"u8, me);
        reply.Body.End();
        reply.Body.WriteString("primary"u8, me);
        reply.Body.WriteString("me"u8, me);
        HelloCommand.WriteLimits(server, connectionId, reply.Body);
        reply.Succeed();
    }
}

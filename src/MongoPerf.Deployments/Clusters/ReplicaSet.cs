using MongoPerf.Deployments.Security;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Clusters;

/// <summary>A replica set whose members run: initiated when it is new, and waited for until one takes writes.</summary>
/// <param name="name">The name of the set.</param>
/// <param name="members">All that hold its documents; they answer.</param>
/// <param name="isConfigServer">Whether it is a cluster's config server.</param>
/// <param name="requireRunning">Throws when a member has ended: nobody waits for that one. Null where nobody knows.</param>
/// <param name="security">The security of its servers; null when anybody may connect, in plain text.</param>
/// <param name="arbiter">Its arbiter, which answers; null for none.</param>
internal sealed class ReplicaSet(
    string name, IReadOnlyList<ServerAddress> members, bool isConfigServer, Action? requireRunning = null, SecurityFiles? security = null,
    ServerAddress? arbiter = null)
{
    private const int AlreadyInitialized = 23;
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan BetweenElections = TimeSpan.FromMilliseconds(500);

    private readonly ConnectionSettings _settings = Quick(security);
    private long _nextElection;
    private int _candidate;

    /// <summary>Makes the settings of a connection that is only looked through, with all rights.</summary>
    /// <param name="security">The security of the servers; null when anybody may connect, in plain text.</param>
    /// <param name="isMongos">
    /// It has no database local, in which servers know one another: there the user counts that the config server has.
    /// </param>
    public static ConnectionSettings Quick(SecurityFiles? security, bool isMongos = false) =>
        ((isMongos ? security?.User : security?.System) ?? ConnectionSettings.Default) with
        {
            ConnectTimeout = TimeSpan.FromSeconds(5), ReplyTimeout = TimeSpan.FromSeconds(30),
        };

    /// <returns>The member that takes writes.</returns>
    /// <exception cref="DeploymentException">None did within two minutes, or a member has ended.</exception>
    public ServerAddress EnsurePrimary()
    {
        ServerAddress? primary = null;
        Startup.Await(
            Limit, requireRunning, () => (primary = FindPrimary()) is not null,
            last => $"replica set {name} ({string.Join(", ", members)}) has no primary after {Limit.TotalSeconds:0} "
                + $"s{(last is null ? "" : $"; last seen: {last}")}");
        return primary!;
    }

    /// <summary>Looks at each member, and does what brings a primary nearer.</summary>
    private ServerAddress? FindPrimary()
    {
        int secondaries = 0;
        foreach (ServerAddress member in members)
        {
            using MongoConnection connection = MongoConnection.Open(member, _settings);
            if (connection.Server.IsWritablePrimary)
                return member;
            if (connection.Server.ReplicaSetName is null && member == members[0])
                Initiate(connection);
            if (connection.Server.Document.IsTrue("secondary"))
                secondaries++;
        }

        // Left to themselves members wait ten seconds before one stands for election.
        if (members.Count > 1 && secondaries == members.Count)
            AskForElection();
        return null;
    }

    private void Initiate(MongoConnection connection)
    {
        List<BsonDocument> list = [.. members.Select((member, index) => BsonDocument.Of(("_id", index), ("host", member.ToString())))];
        if (arbiter is not null)
            list.Add(BsonDocument.Of(("_id", members.Count), ("host", arbiter.ToString()), ("arbiterOnly", true)));
        BsonDocument configuration = isConfigServer
            ? BsonDocument.Of(("_id", name), ("configsvr", true), ("members", list))
            : BsonDocument.Of(("_id", name), ("members", list));
        BsonDocument reply = connection.RunUnchecked("admin", BsonDocument.Of(("replSetInitiate", configuration)));
        if (!reply.IsTrue("ok") && ServerError.From(reply) is { Code: not AlreadyInitialized } error)
            throw new ServerCommandException("replSetInitiate", error);
    }

    // Each in its turn: one that lacks the last writes is not elected.
    private void AskForElection()
    {
        if (Environment.TickCount64 < _nextElection)
            return;
        _nextElection = Environment.TickCount64 + (long)BetweenElections.TotalMilliseconds;
        using MongoConnection connection = MongoConnection.Open(members[_candidate++ % members.Count], _settings);
        connection.RunUnchecked("admin", BsonDocument.Of(("replSetStepUp", 1)));
    }
}

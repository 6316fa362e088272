using System.Net.Sockets;
using MongoPerf.EndToEnd.Tests.Embedded;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>Plays a mongod 8.0 before one of 6.0: answers otherwise where <see cref="VersionDifferences"/> says so.</summary>
/// <remarks>What 8.0 does instead is not done: a command that 6.0 refuses changes nothing.</remarks>
internal sealed class LaterMongodRelay : IDisposable
{
    private readonly ScriptedListener _listener;

    public LaterMongodRelay(ServerAddress mongod) => _listener = new ScriptedListener("mongod relay", socket =>
    {
        using MongoConnection upstream = MongoConnection.Open(mongod, ConnectionSettings.Default);
        MongosRelay.Serve(socket, command => Answer(upstream, command));
    });

    public ServerAddress Address => _listener.Address;

    public void Dispose() => _listener.Dispose();

    private static BsonDocument Answer(MongoConnection upstream, BsonDocument command)
    {
        string name = command.First().Key;
        // Who shook hands before may do so again, without what only a first handshake may carry.
        BsonDocument rest = MongosRelay.Without(command, "$db", "client", "compression", "speculativeAuthenticate");
        BsonDocument reply = upstream.RunUnchecked(command.FindString("$db") ?? "admin", rest);
        if (name == "buildInfo")
            return BsonDocument.Of([.. reply.Select(e => (e.Key, e.Key == "version" ? "8.0.4" : (object?)e.Value))]);
        return VersionDifferences.All.Where(one => one.IsAbout(rest)).Select(one => one.Rewrite(reply))
            .FirstOrDefault(one => !one.Bytes.SequenceEqual(reply.Bytes)) ?? reply;
    }
}

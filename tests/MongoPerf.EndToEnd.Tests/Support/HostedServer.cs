using MongoPerf.Server;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>What a hosted service answers differently from a mongod of one's own.</summary>
internal sealed class HostedShape
{
    /// <summary>Takes the place of the fields of hello and isMaster; gets the server's address.</summary>
    public Func<string, (string, object?)[]> Hello { get; init; } = _ => [];

    /// <summary>Answers a command by its name and document; null leaves it to the server.</summary>
    public Func<string, BsonDocument, BsonDocument?> Answer { get; init; } = (_, _) => null;

    /// <summary>A refusal.</summary>
    public static BsonDocument Refused(int code, string name, string message) => BsonDocument.Of(
    [
        ("ok", 0.0), ("errmsg", message), .. code == 0 ? [] : ((string, object?)[])[("code", code), ("codeName", name)],
    ]);
}

/// <summary>The embedded server in memory, behind a service that answers as a <see cref="HostedShape"/> says.</summary>
internal sealed class HostedServer : IDisposable
{
    private readonly EmbeddedServer _server;

    public HostedServer(HostedShape shape) => _server = EmbeddedServer.Start(new EmbeddedServerOptions
    {
        CacheBytes = 64L << 20, Around = (session, _) => new Session(session, shape, () => Address),
    });

    public string Address => $"127.0.0.1:{_server.Port}";

    public void Dispose() => _server.Dispose();

    private sealed class Session(ICommandSession inner, HostedShape shape, Func<string> address) : ICommandSession
    {
        /// <summary>What tells that it is the embedded server, and where it runs.</summary>
        private static readonly string[] Own = ["mongoperfEmbedded", "mongoperfStorage", "pid", "host"];

        public bool IsTrusted => inner.IsTrusted;

        public void Handle(in CommandRequest request, ReplyWriter reply)
        {
            string name = request.NameText;
            if (shape.Answer(name, new BsonDocument(request.Body.ToArray())) is { } scripted)
            {
                Write(reply, scripted);
                return;
            }

            inner.Handle(request, reply);
            bool isHello = name is "hello" or "isMaster" or "ismaster";
            if (!isHello && name != "serverStatus")
                return;
            (string, object?)[] more = isHello ? shape.Hello(address()) : [];
            var answer = new BsonDocument(reply.Body.Written[reply.BodyStart..].ToArray());
            reply.Restart();
            Write(reply, BsonDocument.Of(
            [
                .. answer.Where(e => !Own.Contains(e.Key) && more.All(one => one.Item1 != e.Key)).Select(e => (e.Key, (object?)e.Value)),
                .. more.Where(one => one.Item2 is not null),
            ]));
        }

        public void ClientLeft() => inner.ClientLeft();

        public void Dispose() => inner.Dispose();

        private static void Write(ReplyWriter reply, BsonDocument document)
        {
            reply.Body.WriteRaw(document.Bytes[4..^1]);
            reply.Body.End();
        }
    }
}

using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Connections;

/// <summary>
/// The first exchange on a connection: hello, with the beginning of the login and the compressors in it, and the rest of the login.
/// </summary>
/// <remarks>Sources: specifications, mongodb-handshake/handshake.md, auth/auth.md, compression/OP_COMPRESSED.md.</remarks>
internal sealed class Handshake(MongoConnection connection, ConnectionSettings settings)
{
    private const int MinimumWireVersion = 6;
    private const int MostSteps = 8;
    private const string X509 = "MONGODB-X509";

    private readonly MongoCredential? _credential = settings.Credential;

    private static string ProgramVersion => typeof(Handshake).Assembly.GetName().Version?.ToString(3) ?? "0";

    /// <returns>What the server says of itself; the client is logged in.</returns>
    /// <exception cref="ServerTooOldException">Older than MongoDB 3.6.</exception>
    /// <exception cref="ConnectionFailedException">The login failed, or the server is of another replica set.</exception>
    public HelloReply Run()
    {
        ScramConversation? begun = _credential is { Mechanism: null or Scram.Sha256 or Scram.Sha1 }
            ? new ScramConversation(_credential.Mechanism ?? Scram.Sha256, _credential)
            : null;
        var server = new HelloReply(connection.RunCommand("admin", Hello(begun)));
        if (server.MaxWireVersion < MinimumWireVersion)
            throw new ServerTooOldException(connection.Address, server.MaxWireVersion);
        server.RequireSensibleLimits(connection.Address);
        if (settings.IsLoadBalanced && server.ServiceId is null)
            throw new ConnectionFailedException(
                connection.Address, "no load balancer for MongoDB answers there (its hello names no serviceId): leave loadBalanced out");
        if (settings.RequiredSetName is { } name && server.ReplicaSetName != name)
            throw new WrongReplicaSetException(connection.Address, name, server.ReplicaSetName);
        // An arbiter has no users.
        if (_credential is not null && !server.Document.IsTrue("arbiterOnly"))
            LogIn(_credential, server, begun);
        return server;
    }

    private BsonDocument Hello(ScramConversation? begun)
    {
        // isMaster is what every version since 3.6 answers over OP_MSG; hello came with 4.4.2 and 5.0, and with it load balancers.
        var elements = new List<(string, object?)>
        {
            (settings.IsLoadBalanced ? "hello" : "isMaster", 1),
            (settings.IsLoadBalanced ? "loadBalanced" : "helloOk", true),
            ("client", BsonDocument.Of(
                ("application", BsonDocument.Of(("name", settings.ApplicationName))),
                ("driver", BsonDocument.Of(("name", "mongoperf"), ("version", ProgramVersion))),
                ("os", BsonDocument.Of(("type", Environment.OSVersion.Platform.ToString()))))),
        };
        if (settings.CompressorNames.Count > 0)
            elements.Add(("compression", settings.CompressorNames));
        if (_credential is { Mechanism: null })
            elements.Add(("saslSupportedMechs", $"{_credential.Source}.{_credential.UserName}"));
        if (begun is not null)
            elements.Add(("speculativeAuthenticate", BsonDocument.Of([.. StartElements(begun), ("db", _credential!.Source)])));
        else if (_credential?.Mechanism == X509)
            elements.Add(("speculativeAuthenticate", BsonDocument.Of([.. X509Elements(_credential), ("db", _credential.Source)])));
        return BsonDocument.Of([.. elements]);
    }

    private void LogIn(MongoCredential credential, HelloReply server, ScramConversation? begun)
    {
        string mechanism = credential.Mechanism ?? ChooseMechanism(server);
        BsonDocument? ahead = server.Document.FindDocument("speculativeAuthenticate");
        try
        {
            if (mechanism == X509)
            {
                if (ahead is null)
                    connection.RunCommand(credential.Source, BsonDocument.Of([.. X509Elements(credential)]));
            }
            else if (begun is not null && ahead is not null && begun.Mechanism == mechanism)
            {
                Converse(credential, begun, ahead);
            }
            else
            {
                ISaslConversation conversation = Begin(mechanism, credential);
                Converse(
                    credential, conversation, connection.RunCommand(credential.Source, BsonDocument.Of([.. StartElements(conversation)])));
            }
        }
        catch (ServerCommandException e)
        {
            throw Failed(credential, mechanism,
                $"{e.Error.Message.TrimEnd('.')} (code {e.Code}{(e.Error.Name.Length > 0 ? " " + e.Error.Name : "")})", e);
        }
        catch (SaslException e)
        {
            throw Failed(credential, mechanism, e.Message, e);
        }
    }

    private static string ChooseMechanism(HelloReply server)
    {
        BsonDocument? offered = server.Document.FindDocument("saslSupportedMechs");
        // A user that is not known offers nothing, and is refused by either.
        return offered is null || offered.Any(mechanism => mechanism.Value.ToString() == Scram.Sha256) ? Scram.Sha256 : Scram.Sha1;
    }

    private static ISaslConversation Begin(string mechanism, MongoCredential credential) => mechanism switch
    {
        Scram.Sha1 or Scram.Sha256 => new ScramConversation(mechanism, credential),
        "PLAIN" => new PlainConversation(credential),
        "MONGODB-AWS" => new AwsConversation(AwsKeys.Find(credential, Environment.GetEnvironmentVariable)
            ?? throw new ConnectionStringException("MONGODB-AWS finds no keys in the environment")),
        _ => throw new ConnectionStringException($"authentication by {mechanism} is not supported"),
    };

    private static IEnumerable<(string, object?)> StartElements(ISaslConversation conversation)
    {
        yield return ("saslStart", 1);
        yield return ("mechanism", conversation.Mechanism);
        yield return ("payload", conversation.Start());
        if (conversation is ScramConversation)
            yield return ("options", BsonDocument.Of(("skipEmptyExchange", true)));
    }

    private static IEnumerable<(string, object?)> X509Elements(MongoCredential credential)
    {
        yield return ("authenticate", 1);
        yield return ("mechanism", X509);
        if (credential.UserName is { } user)
            yield return ("user", user);
    }

    /// <summary>Continues until both sides are done: a server that says "done" without having proven itself is refused.</summary>
    private void Converse(MongoCredential credential, ISaslConversation conversation, BsonDocument reply)
    {
        for (int step = 0; step < MostSteps; step++)
        {
            byte[] answer =
                conversation.Continue(reply.Find("payload") is { Type: BsonType.Binary } payload ? payload.ToBinary().Span : []);
            if (reply.IsTrue("done"))
            {
                if (!conversation.IsComplete)
                    throw new SaslException("the server ended the exchange before it had proven that it knows the password");
                return;
            }

            reply = connection.RunCommand(credential.Source, BsonDocument.Of(
                ("saslContinue", 1),
                ("conversationId", reply.Find("conversationId") ?? new BsonValue(BsonType.Null, default)),
                ("payload", answer)));
        }

        throw new SaslException("the server never ends the login exchange");
    }

    private AuthenticationFailedException Failed(MongoCredential credential, string mechanism, string why, Exception inner)
    {
        string who = credential.UserName is { } user && mechanism != "MONGODB-AWS"
            ? $"user '{user}' of database '{credential.Source}'"
            : $"this client at {credential.Source}";
        return new AuthenticationFailedException(connection.Address, $"authentication failed for {who} by {mechanism}: {why}",
            inner) { Mechanism = mechanism };
    }
}

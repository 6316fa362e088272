using System.Text;
using System.Text.Json;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>
/// MongoDB's vectors for credentials as what a server sees of them: which command, of which database, by which mechanism.
/// </summary>
public sealed class CredentialBehaviourTests
{
    /// <summary>What must not parse is ConnectionStringVectorTests' part.</summary>
    public static TheoryData<string, int, string> Credentials =>
        VectorCase.Rows(VectorCase.IsValid, "tests", "auth/legacy/connection-string.json");

    [VectorTheory]
    [MemberData(nameof(Credentials))]
    public void A_server_is_logged_in_to_as_the_vector_says_or_the_mechanism_is_refused_by_name(string file, int index, string description)
    {
        JsonElement vector = VectorCase.Entry(file, "tests", index);
        ConnectionString uri = ConnectionString.Parse(vector.Text("uri")!);
        if (uri.AuthMechanism is "GSSAPI" or "MONGODB-OIDC")
        {
            Assert.Contains($"authentication by {uri.AuthMechanism} is not supported",
                Assert.Throws<ConnectionStringException>(() => ConnectionSettings.From(uri)).Message, StringComparison.Ordinal);
            return;
        }

        if (uri.Credential is { Mechanism: "MONGODB-AWS", UserName: null })
        {
            Assert.Contains("AWS_ACCESS_KEY_ID",
                Assert.Throws<ConnectionStringException>(() => ConnectionSettings.From(uri)).Message, StringComparison.Ordinal);
            return;
        }

        (BsonDocument hello, BsonDocument? login) = Record(uri);
        JsonElement expected = vector.GetProperty("credential");
        if (expected.ValueKind == JsonValueKind.Null)
        {
            Assert.Null(hello.Find("speculativeAuthenticate"));
            Assert.Null(login);
            return;
        }

        string mechanism = expected.Text("mechanism") ?? "SCRAM-SHA-256";
        string source = expected.Text("source")!;
        Assert.True(login is not null, description);
        Assert.Equal((mechanism, source), (login.FindString("mechanism"), login.FindString("$db")));
        Assert.Equal(mechanism == "MONGODB-X509" ? "authenticate" : "saslStart", login.First().Key);
        Assert.Equal(expected.Text("mechanism") is null ? $"{source}.{expected.Text("username")}" : null,
            hello.FindString("saslSupportedMechs"));
        bool speculates = mechanism is "SCRAM-SHA-1" or "SCRAM-SHA-256" or "MONGODB-X509";
        Assert.Equal(speculates ? (mechanism, source) : (null, null),
            (hello.FindString("speculativeAuthenticate.mechanism"), hello.FindString("speculativeAuthenticate.db")));
        AssertUser(login, mechanism, expected.Text("username"), expected.Text("password"));
    }

    [Fact]
    public void A_server_that_says_done_before_it_has_proven_itself_is_refused()
    {
        using var server = new LyingServer
        {
            Handshake = exchange => exchange.Reply(BsonDocument.Of([.. LyingServer.Hello(17).Select(e => (e.Key, (object?)e.Value)),
                ("speculativeAuthenticate", BsonDocument.Of(("conversationId", 1), ("done", true), ("payload", Array.Empty<byte>())))])),
        };
        var settings = ConnectionSettings.From(ConnectionString.Parse($"mongodb://user:S3cr3t@{server.Address}"));
        var e = Assert.Throws<AuthenticationFailedException>(() => MongoConnection.Open(server.Address, settings));
        Assert.DoesNotContain("S3cr3t", e.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("S3cr3t", settings.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_server_that_never_comes_to_an_end_is_left()
    {
        using var server = new LyingServer { Answer = exchange =>
            exchange.Reply(BsonDocument.Of(("conversationId", 1), ("done", false), ("payload", Array.Empty<byte>()), ("ok", 1.0))) };
        ConnectionSettings settings = ConnectionSettings.Default with
        {
            Credential = ConnectionString.Parse("mongodb://user:x@h/?authMechanism=PLAIN").Credential,
        };
        Assert.Contains(
            "never ends the login exchange",
            Assert.Throws<AuthenticationFailedException>(() => MongoConnection.Open(server.Address, settings)).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("mongodb://u:p@h/?authMechanism=PLAIN", "needs tls=true")]
    [InlineData("mongodb://h/?authMechanism=MONGODB-X509", "needs tls=true and tlsCertificateKeyFile=FILE")]
    [InlineData("mongodb://h/?authMechanism=MONGODB-X509&tls=true", "needs tls=true and tlsCertificateKeyFile=FILE")]
    [InlineData("mongodb://u:p@h/?authMechanism=MONGODB-CR", "MONGODB-CR is not supported")]
    [InlineData("mongodb://%2Ftmp%2Fm.sock/?tls=true", "unix socket")]
    [InlineData("mongodb://h/?w=0", "w=0")]
    [InlineData("mongodb://h/?tls=true&tlsCAFile=/nonexistent/ca.pem", "there is no such file")]
    public void What_would_be_unsafe_or_can_not_be_is_refused_before_a_server_is_asked(string uri, string why) =>
        Assert.Contains(why, Assert.Throws<ConnectionStringException>(() => ConnectionSettings.From(ConnectionString.Parse(uri))).Message,
            StringComparison.Ordinal);

    private static void AssertUser(BsonDocument login, string mechanism, string? user, string? password)
    {
        if (mechanism == "MONGODB-X509")
        {
            Assert.Equal(user, login.FindString("user"));
            return;
        }

        byte[] payload = login.Find("payload")!.Value.ToBinary().ToArray();
        if (mechanism == "MONGODB-AWS")
            Assert.Equal(
                (32, 110), (new BsonDocument(payload).Find("r")!.Value.ToBinary().Length, new BsonDocument(payload).FindInt64("p")));
        else if (mechanism == "PLAIN")
            Assert.Equal($"\0{user}\0{password}", Encoding.UTF8.GetString(payload));
        else
            Assert.StartsWith($"n,,n={user},r=", Encoding.UTF8.GetString(payload), StringComparison.Ordinal);
    }

    /// <summary>What a server that knows nobody is sent.</summary>
    private static (BsonDocument Hello, BsonDocument? Login) Record(ConnectionString uri)
    {
        BsonDocument? hello = null, login = null;
        using var server = new LyingServer
        {
            Handshake = exchange =>
            {
                hello = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
                exchange.Reply(LyingServer.Hello(17));
            },
            Answer = exchange =>
            {
                login ??= new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
                exchange.Reply(
                    BsonDocument.Of(("ok", 0.0), ("code", 18), ("codeName", "AuthenticationFailed"), ("errmsg", "Authentication failed.")));
            },
        };
        // Straight to the connection: what From() refuses without TLS is sent here all the same.
        ConnectionSettings settings = ConnectionSettings.Default with { Credential = uri.Credential };
        if (uri.Credential is null)
            MongoConnection.Open(server.Address, settings).Dispose();
        else
            Assert.Throws<AuthenticationFailedException>(() => MongoConnection.Open(server.Address, settings));
        return (hello!, login);
    }
}

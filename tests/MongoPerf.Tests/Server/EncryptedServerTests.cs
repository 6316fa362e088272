using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using MongoPerf.Server;
using MongoPerf.Server.Listening;
using MongoPerf.Testing;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server;

/// <summary>The embedded server over TLS, and those who come and say nothing.</summary>
public sealed class EncryptedServerTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly TestCertificates _certificates = new();
    private EmbeddedServer? _server;

    [Fact]
    public void Commands_and_large_messages_go_through()
    {
        Start();
        using MongoConnection connection = Open();
        object[] documents = [.. Enumerable.Range(0, 40).Select(i => BsonDocument.Of(("_id", i), ("t", new string('x', 100_000))))];
        connection.RunCommand("shop", BsonDocument.Of(("insert", "things"), ("documents", documents)));
        BsonDocument reply = connection.RunCommand("shop", BsonDocument.Of(("find", "things")));
        Assert.Equal(40, reply.FindDocument("cursor.firstBatch")!.Count());
    }

    [Fact]
    public void A_plain_client_is_told_that_tls_is_wanted_and_harms_nobody()
    {
        Start();
        var e = Assert.Throws<TlsFailedException>(() => MongoConnection.Open(Address, ConnectionSettings.Default));
        Assert.Equal($"{Address}: this server takes TLS connections only: add tls=true", e.Message);
        using (var client = new TestClient(_server!.Port))
            Assert.Throws<IOException>(() => client.Run("{'ping': 1}"));
        Open().Dispose();
    }

    [Fact]
    public void A_client_must_have_a_certificate_of_the_authority_that_was_named()
    {
        Start(authorityFile: _certificates.AuthorityFile);
        Open($"&tlsCertificateKeyFile={_certificates.ForClient("CN=me")}").Dispose();
        Assert.Contains(
            "tlsCertificateKeyFile", Assert.ThrowsAny<ConnectionFailedException>(() => Open()).Message, StringComparison.Ordinal);
        using var others = new TestCertificates("somebody else");
        Assert.ThrowsAny<ConnectionFailedException>(() => Open($"&tlsCertificateKeyFile={others.ForClient("CN=me")}"));
        string expired = _certificates.ForClient("CN=me", notAfter: new DateTimeOffset(2020, 1, 1, 0, 0, 0, TimeSpan.Zero));
        Assert.ThrowsAny<ConnectionFailedException>(() => Open($"&tlsCertificateKeyFile={expired}"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Work_stops_when_its_client_leaves(bool isReset)
    {
        Start();
        using MongoConnection other = Open();
        other.RunCommand("test", BsonDocument.Of(("insert", "c"), ("documents", new[] { BsonDocument.Of(("_id", 1)) })));
        var trust = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
        trust.CustomTrustStore.Add(X509CertificateLoader.LoadCertificateFromFile(_certificates.AuthorityFile));
        Socket socket = Connect();
        using (var leaving = new SslStream(new NetworkStream(socket, ownsSocket: true)))
        {
            leaving.AuthenticateAsClient(new SslClientAuthenticationOptions { TargetHost = "localhost", CertificateChainPolicy = trust });
            leaving.Write(new OpMsgWriter().WriteCommand(
                "test", TestClient.Json("{'find': 'c', 'filter': {'$expr': {'$reduce': {'input': {'$range': [0, 4000000]}, 'initialValue': "
                    + "0, 'in': {'$size': {'$range': [0, '$$this']}}}}}}"), 1));
            await Eventually.IsAsync(() => IsBusy(other));
            // As most clients do, it says so before it goes: there is something to be read.
            await leaving.ShutdownAsync();
            socket.LingerState = new LingerOption(isReset, 0);
        }

        await Eventually.IsAsync(() => !IsBusy(other));
    }

    [Fact]
    public async Task Handshakes_that_never_end_keep_nobody_out()
    {
        Start(mostConnections: 8);
        Socket[] silent = [.. Enumerable.Range(0, 20).Select(_ => Connect())];
        // Those that have been silent for a second make room.
        await Eventually.IsAsync(() =>
        {
            try
            {
                Open().Dispose();
                return true;
            }
            catch (ConnectionFailedException)
            {
                return false;
            }
        });
        Array.ForEach(silent, socket => socket.Dispose());
    }

    [Fact]
    public void Who_is_silent_for_too_long_is_ended()
    {
        Socket[] sockets = [.. Enumerable.Range(0, 4)
            .Select(_ => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))];
        Connection[] clients =
        [
            .. sockets.Select((socket, id) => new Connection(socket, id, new NetworkCounters(), new ByteBudget(1 << 20), new HeapReturn()))
        ];
        (long first, long last) = (clients[0].HeardAt, clients[3].HeardAt);
        long now = first;
        var newcomers = new Newcomers(2, () => now);
        Assert.True(newcomers.TryAdd(clients[0]));
        Assert.True(newcomers.TryAdd(clients[1]));
        Assert.False(newcomers.TryAdd(clients[2]));
        now = first + Newcomers.LeastSilence;
        Assert.True(newcomers.TryAdd(clients[2]));
        Assert.Equal(1, sockets.Count(IsClosed));
        now = first + Newcomers.FirstWordLimit;
        newcomers.EndSilent();
        Assert.Equal(1, sockets.Count(IsClosed));
        newcomers.Remove(clients[2]);
        now = last + Newcomers.FirstWordLimit + 1;
        newcomers.EndSilent();
        Assert.Equal(2, sockets.Count(IsClosed));
        Assert.False(IsClosed(sockets[2]));
        Array.ForEach(clients, client => client.Dispose());
    }

    [Theory]
    [InlineData("127.0.0.1", "127.0.0.1")]
    [InlineData("::1", "::1")]
    [InlineData("::", "127.0.0.1")]
    [InlineData("::", "::1")]
    [InlineData("0.0.0.0", "127.0.0.1")]
    public void It_listens_where_it_is_told_to(string listen, string connect)
    {
        using EmbeddedServer server = EmbeddedServer.Start(new EmbeddedServerOptions
        {
            CacheBytes = 64 << 20, Listen = new ListenOptions { Address = IPAddress.Parse(listen) },
        });
        using MongoConnection connection = MongoConnection.Open(new ServerAddress(connect, server.Port), ConnectionSettings.Default);
        Assert.True(connection.RunCommand("admin", BsonDocument.Of(("ping", 1))).IsTrue("ok"));
    }

    [Theory]
    [InlineData("nothing", null, "does not hold a certificate and its private key")]
    [InlineData(null, "nothing", "holds no certificate in PEM form")]
    public void A_file_that_can_not_be_used_is_named(string? certificate, string? authority, string why)
    {
        string Named(string? text, string usual) => text is null ? usual : _certificates.Write("wrong.pem", text);
        var e = Assert.Throws<PemFileException>(() =>
            ServerTls.Load(Named(certificate, _certificates.ForLoopback()), null, Named(authority, _certificates.AuthorityFile)));
        Assert.StartsWith(certificate is null ? "--tls-ca-file: '" : "--tls-certificate-key-file: '", e.Message, StringComparison.Ordinal);
        Assert.Contains(why, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void An_encrypted_key_opens_with_its_password_alone()
    {
        string file = _certificates.ForClient("CN=server", "S3cr3t");
        Assert.NotNull(ServerTls.Load(file, "S3cr3t"));
        Assert.EndsWith("can't be decrypted with that password",
            Assert.Throws<PemFileException>(() => ServerTls.Load(file, "wrong")).Message, StringComparison.Ordinal);
    }

    public void Dispose()
    {
        _server?.Dispose();
        _certificates.Dispose();
        _folder.Dispose();
    }

    private ServerAddress Address => new("localhost", _server!.Port);

    private void Start(string? authorityFile = null, int? mostConnections = null) =>
        _server = EmbeddedServer.Start(new EmbeddedServerOptions
        {
            DataPath = _folder.At("data"), CacheBytes = 64 << 20,
            Listen = new ListenOptions
            {
                Tls = ServerTls.Load(_certificates.ForLoopback(), null, authorityFile), MaximumConnections = mostConnections,
            },
        });

    private MongoConnection Open(string options = "") =>
        MongoConnection.Open(Address,
            ConnectionSettings.From(ConnectionString.Parse($"mongodb://h/?tls=true&tlsCAFile={_certificates.AuthorityFile}{options}")));

    private Socket Connect()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(IPAddress.Loopback, _server!.Port);
        return socket;
    }

    private static bool IsBusy(MongoConnection connection) =>
        connection.RunCommand("admin", BsonDocument.Of(("currentOp", 1)))
            .FindDocument("inprog")!.Any(pair => pair.Value.ToDocument().FindString("ns") == "test.c");

    private static bool IsClosed(Socket socket) => socket.SafeHandle.IsClosed;
}

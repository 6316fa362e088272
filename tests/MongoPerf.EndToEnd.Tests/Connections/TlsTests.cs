using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Connections;

/// <summary>TLS with a real mongod.</summary>
[Collection(OtherTests.Name)]
public sealed class TlsTests(TlsTests.Server server) : IClassFixture<TlsTests.Server>
{
    [MongodFact]
    public void A_server_whose_authority_is_named_is_trusted_by_each_of_its_names()
    {
        foreach (string host in (string[])["localhost", "127.0.0.1"])
        {
            var address = new ServerAddress(host, server.Mongod.Address.Port);
            using MongoConnection connection = MongoConnection.Open(
                address, Settings($"tlsCAFile={server.Certificates.AuthorityFile}&tlsCertificateKeyFile={server.Client}"));
            Assert.True(connection.RunCommand("admin", BsonDocument.Of(("ping", 1))).IsTrue("ok"));
        }
    }

    [MongodFact]
    public void Who_is_not_trusted_is_refused_unless_that_is_allowed()
    {
        using var others = new TestCertificates("somebody else");
        var e = Assert.Throws<TlsFailedException>(() => Open($"tlsCAFile={others.AuthorityFile}&tlsCertificateKeyFile={server.Client}"));
        Assert.Contains("which is none of the authorities in tlsCAFile: add its certificate to that file",
            e.Message, StringComparison.Ordinal);
        e = Assert.Throws<TlsFailedException>(() => Open($"tlsCertificateKeyFile={server.Client}"));
        Assert.Contains("MongoPerf test authority", e.Message, StringComparison.Ordinal);
        Open($"tlsAllowInvalidCertificates=true&tlsCertificateKeyFile={server.Client}").Dispose();
        Open($"tlsInsecure=true&tlsCertificateKeyFile={server.Client}").Dispose();
    }

    [MongodFact]
    public void A_client_without_the_certificate_that_the_server_wants_is_told_so()
    {
        var e = Assert.ThrowsAny<ConnectionFailedException>(() => Open($"tlsCAFile={server.Certificates.AuthorityFile}"));
        Assert.Contains("tlsCertificateKeyFile", e.Message, StringComparison.Ordinal);
        using var others = new TestCertificates("somebody else");
        e = Assert.ThrowsAny<ConnectionFailedException>(() =>
            Open($"tlsCAFile={server.Certificates.AuthorityFile}&tlsCertificateKeyFile={others.ForClient("CN=me")}"));
        Assert.Contains("tlsCertificateKeyFile", e.Message, StringComparison.Ordinal);
    }

    [MongodFact]
    public void An_encrypted_key_opens_with_its_password()
    {
        string file = server.Certificates.ForClient("CN=locked", "s3cret");
        string options = $"tlsCAFile={server.Certificates.AuthorityFile}&tlsCertificateKeyFile={file}";
        Open(options + "&tlsCertificateKeyFilePassword=s3cret").Dispose();
        Assert.Contains(
            "can't be decrypted with tlsCertificateKeyFilePassword",
            Assert.Throws<ConnectionStringException>(() => Open(options + "&tlsCertificateKeyFilePassword=wr0ng")).Message,
            StringComparison.Ordinal);
        Assert.Contains("is encrypted, and tlsCertificateKeyFilePassword is missing",
            Assert.Throws<ConnectionStringException>(() => Open(options)).Message, StringComparison.Ordinal);
    }

    [MongodFact]
    public void A_certificate_logs_its_subject_in()
    {
        string login = server.Certificates.ForClient("CN=loader,OU=clients,O=MongoPerf");
        string options = $"tlsCAFile={server.Certificates.AuthorityFile}&tlsCertificateKeyFile={login}&authMechanism=MONGODB-X509";
        var e = Assert.Throws<AuthenticationFailedException>(() => Open(options));
        Assert.Contains("by MONGODB-X509: ", e.Message, StringComparison.Ordinal);
        using (MongoConnection root = Open(
            $"tlsCAFile={server.Certificates.AuthorityFile}&tlsCertificateKeyFile={server.Client}", "root:root@"))
        {
            root.RunCommand("$external", BsonDocument.Of(
                ("createUser", "CN=loader,OU=clients,O=MongoPerf"),
                ("roles", new[] { BsonDocument.Of(("role", "root"), ("db", "admin")) })));
        }

        using MongoConnection connection = Open(options);
        Assert.Equal("CN=loader,OU=clients,O=MongoPerf",
            connection.RunCommand("admin", BsonDocument.Of(("connectionStatus", 1))).FindString("authInfo.authenticatedUsers.0.user"));
        Open(options, "CN%3Dloader%2COU%3Dclients%2CO%3DMongoPerf@").Dispose();
    }

    [MongodFact]
    public void A_plain_client_is_told_that_the_server_wants_tls()
    {
        var e = Assert.Throws<TlsFailedException>(() => MongoConnection.Open(server.Mongod.Address, ConnectionSettings.Default));
        Assert.Equal($"{server.Mongod.Address}: this server takes TLS connections only: add tls=true", e.Message);
    }

    [MongodFact]
    public void A_tls_client_is_told_that_the_server_is_plain()
    {
        using var plain = SecuredMongod.Start();
        var e = Assert.Throws<TlsFailedException>(() => plain.Open(plain.Uri(options: "tls=true")));
        Assert.Equal($"{plain.Address}: this server does not speak TLS: leave tls out (with mongodb+srv, which asks for it, add tls=false)",
            e.Message);
    }

    [MongodFact]
    public void The_program_runs_over_tls_with_all_its_connections()
    {
        using var runs = new RunsFolder();
        string files = $"tlsCAFile={server.Certificates.AuthorityFile}&tlsCertificateKeyFile={server.Client}";
        string uri = $"mongodb://root:root@{server.Mongod.Address}/?tls=true&{files}&compressors=zstd,snappy";
        ProgramResult result = ProgramRun.Run(
            "series", "--target", "2k", "--step", "1k", "--tests", "batch,safe,q4,size", "--window", "1s", "--rate", "100",
            "--max-skipped", "100%", "--threads", "2", "--uri", uri, "--format", "json", "--out", runs.Path).Expect(0);
        JsonElement report = result.Report();
        Assert.Equal("zstd", report.GetProperty("deployment").Text("compressor"));
        JsonElement batch = report.GetProperty("phases").EnumerateArray()
            .First(phase => phase.Text("phase") == "batch").GetProperty("groups")[0].GetProperty("traffic");
        Assert.InRange(batch.GetProperty("wireBytesSent").GetInt64(), 1, batch.GetProperty("messageBytesSent").GetInt64());
        Assert.InRange(batch.GetProperty("documentBytes").GetInt64(), 1, batch.GetProperty("messageBytesSent").GetInt64());
        ProgramRun.Run("run", "q4", "--uri", $"mongodb://{server.Mongod.Address}", "--out", runs.Path).Expect(3)
            .Says("this server takes TLS connections only: add tls=true");
    }

    private ConnectionSettings Settings(string options, string user = "") =>
        ConnectionSettings.From(ConnectionString.Parse($"mongodb://{user}{server.Mongod.Address}/?tls=true&{options}"));

    private MongoConnection Open(string options, string user = "") => MongoConnection.Open(server.Mongod.Address, Settings(options, user));

    /// <summary>One mongod that wants TLS, client certificates and logins.</summary>
    public sealed class Server : IDisposable
    {
        public Server()
        {
            if (new MongodFactAttribute().Skip is not null)
                return;
            Mongod = SecuredMongod.Start(
                "--auth", "--tlsMode", "requireTLS", "--tlsCertificateKeyFile", Certificates.ForLoopback(),
                "--tlsCAFile", Certificates.AuthorityFile,
                "--setParameter", "authenticationMechanisms=SCRAM-SHA-256,MONGODB-X509");
            Client = Certificates.ForClient("CN=any client");
            Mongod.CreateUser("root", "root", "admin", ConnectionSettings.From(ConnectionString.Parse(
                Mongod.Uri(options: $"tls=true&tlsCAFile={Certificates.AuthorityFile}&tlsCertificateKeyFile={Client}"))));
        }

        internal TestCertificates Certificates { get; } = new();

        internal SecuredMongod Mongod { get; } = null!;

        internal string Client { get; } = "";

        public void Dispose()
        {
            Mongod?.Dispose();
            Certificates.Dispose();
        }
    }
}

using MongoPerf.Driver;
using MongoPerf.EndToEnd.Tests.Connections;
using MongoPerf.EndToEnd.Tests.Embedded;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Executors;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Driver;

/// <summary>The driver over TLS with a login, by the connection string that MongoPerf's own client takes.</summary>
[Collection(LightTests.Name)]
public sealed class DriverConnectionTests(DriverConnectionTests.Server server) : IClassFixture<DriverConnectionTests.Server>
{
    /// <summary>For a connection that can't be had, which the driver waits for.</summary>
    private const string InVain = "serverSelectionTimeoutMS=3000";

    private static readonly DriverEngine Engine = new();

    [Fact]
    public void Files_of_certificates_and_logins_are_those_of_the_connection_string()
    {
        using IExecutorSource source = Open(server.Login, $"tlsCAFile={server.AuthorityFile}&{server.Options}");
        using IOperationExecutor executor = source.OpenExecutor();
        executor.Connect();
        PlanCollection users = Documents.CollectionOf("ycsb/c");
        IPreparedOperation insert = executor.Prepare(new InsertDocuments("insert", "users", users.Documents, 5, true),
            new OperationContext(42, 0, new NumberSource(0, 20)));
        while (insert.Draw())
            Assert.True(insert.Execute().Succeeded, insert.LastError?.Message);
    }

    [Fact]
    public void A_server_that_our_own_client_does_not_trust_is_not_trusted()
    {
        using var others = new TestCertificates("somebody else");
        Assert.Throws<ConnectionFailedException>(() =>
            Connect(server.Login, $"tlsCAFile={others.AuthorityFile}&{server.Options}&{InVain}"));
        Connect(server.Login, $"tlsInsecure=true&{server.Options}");
    }

    [Fact]
    public void A_wrong_password_is_refused_without_being_shown()
    {
        ConnectionFailedException e = Assert.ThrowsAny<ConnectionFailedException>(() => Connect(
            $"{server.Login.Split(':')[0]}:hunter2@", $"tlsCAFile={server.AuthorityFile}&{server.Options}&{InVain}"));
        Assert.DoesNotContain("hunter2", e.Message, StringComparison.Ordinal);
    }

    [MongodFact]
    public void A_certificate_logs_its_subject_in()
    {
        const string Subject = "CN=driver,OU=clients,O=MongoPerf";
        TlsTests.Server mongod = server.Mongod!;
        string options = $"tlsCAFile={mongod.Certificates.AuthorityFile}&tlsCertificateKeyFile={mongod.Certificates.ForClient(Subject)}"
            + "&authMechanism=MONGODB-X509&authSource=$external";
        Assert.ThrowsAny<ConnectionFailedException>(() => Connect("", $"{options}&{InVain}"));
        ConnectionSettings root = ConnectionSettings.From(ConnectionString.Parse(
            $"mongodb://{server.Login}h/?tls=true&tlsCAFile={server.AuthorityFile}&{server.Options}"));
        using (MongoConnection connection = MongoConnection.Open(server.Address, root))
        {
            connection.RunCommand("$external", BsonDocument.Of(
                ("createUser", Subject), ("roles", new[] { BsonDocument.Of(("role", "root"), ("db", "admin")) })));
        }

        Connect("", options);
    }

    [MongodTheory]
    [InlineData("snappy")]
    [InlineData("zlib")]
    [InlineData("zstd")]
    public void Messages_are_compressed_as_the_connection_string_says(string name)
    {
        using var mongod = SecuredMongod.Start("--networkMessageCompressors", name);
        string uri = mongod.Uri(options: $"compressors={name}");
        using IExecutorSource source = Engine.Open(new ClientOptions
        {
            Uri = uri, Address = () => mongod.Address, Connections = ConnectionSettings.Default, Database = "driver", Workers = 1,
        });
        using IOperationExecutor executor = source.OpenExecutor();
        executor.Connect();
        PlanCollection users = Documents.CollectionOf("ycsb/c");
        IPreparedOperation insert = executor.Prepare(
            new InsertDocuments("insert", "users", users.Documents, 50, true), new OperationContext(42, 0, new NumberSource(0, 100)));
        while (insert.Draw())
            Assert.True(insert.Execute().Succeeded, insert.LastError?.Message);
        using MongoConnection connection = mongod.Open(mongod.Uri());
        BsonDocument status = connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1)));
        Assert.True(status.FindInt64($"network.compression.{name}.decompressor.bytesOut") > 100_000, $"{name} was not used");
    }

    [Fact]
    public void A_unix_socket_is_refused_by_its_path()
    {
        ConnectionStringException e = Assert.Throws<ConnectionStringException>(() => Engine.Open(new ClientOptions
        {
            Uri = "mongodb://%2Ftmp%2Fx.sock/", Address = () => new ServerAddress("/tmp/x.sock", 0),
            Connections = ConnectionSettings.Default, Database = "x", Workers = 1,
        }));
        Assert.Equal(
            "connection string: MongoDB.Driver can't connect to the unix socket /tmp/x.sock: name a host and a port, or use --engine wire",
            e.Message);
    }

    private void Connect(string login, string options)
    {
        using IExecutorSource source = Open(login, options);
        using IOperationExecutor executor = source.OpenExecutor();
        executor.Connect();
    }

    private IExecutorSource Open(string login, string options)
    {
        string uri = $"mongodb://{login}{server.Address}/?tls=true&{options}";
        return Engine.Open(new ClientOptions
        {
            Uri = uri, Address = () => server.Address, Connections = ConnectionSettings.From(ConnectionString.Parse(uri)),
            Database = "driver", Workers = 1,
        });
    }

    /// <summary>A mongod that wants clients' certificates too; where there is none, the embedded server.</summary>
    public sealed class Server : IDisposable
    {
        private readonly SecuredServeTests.Server? _embedded;

        public Server()
        {
            if (MongodBinary.SkipReason is null)
                Mongod = new TlsTests.Server();
            else
                _embedded = new SecuredServeTests.Server();
        }

        /// <summary>Null: the embedded server.</summary>
        internal TlsTests.Server? Mongod { get; }

        internal ServerAddress Address => Mongod?.Mongod.Address ?? new ServerAddress("localhost", _embedded!.Port);

        internal string AuthorityFile => (Mongod?.Certificates ?? _embedded!.Certificates).AuthorityFile;

        /// <summary>The user, as a connection string has it.</summary>
        internal string Login => Mongod is null ? SecuredServeTests.Server.Login : "root:root@";

        internal string Options => Mongod is null ? "authSource=admin" : $"tlsCertificateKeyFile={Mongod.Client}&authSource=admin";

        public void Dispose()
        {
            Mongod?.Dispose();
            _embedded?.Dispose();
        }
    }
}

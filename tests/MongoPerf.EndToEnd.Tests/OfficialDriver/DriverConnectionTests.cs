using MongoPerf.EndToEnd.Tests.Connections;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Engine.Executors;
using MongoPerf.Engine.Keys;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.OfficialDriver;

/// <summary>The driver over TLS with a login, by the connection string that MongoPerf's own client takes.</summary>
[Collection(LightTests.Name)]
public sealed class DriverConnectionTests(TlsTests.Server server, LoadedDriver driver) : IClassFixture<TlsTests.Server>, IClassFixture<LoadedDriver>
{
    [Fact]
    public void Files_of_certificates_and_logins_are_those_of_the_connection_string()
    {
        using IExecutorSource source = Open($"root:root@", $"tlsCAFile={server.Certificates.AuthorityFile}&tlsCertificateKeyFile={server.Client}&authSource=admin");
        using IOperationExecutor executor = source.OpenExecutor();
        executor.Connect();
        PlanCollection users = Documents.CollectionOf("ycsb/c");
        IPreparedOperation insert = executor.Prepare(new InsertDocuments("insert", "users", users.Documents, 5, true), new OperationContext(42, 0, new NumberSource(0, 20)));
        while (insert.Draw())
            Assert.True(insert.Execute().Succeeded, insert.LastError?.Message);
    }

    [Fact]
    public void A_server_that_our_own_client_does_not_trust_is_not_trusted()
    {
        using var others = new TestCertificates("somebody else");
        Assert.Throws<ConnectionFailedException>(() => Connect("root:root@", $"tlsCAFile={others.AuthorityFile}&tlsCertificateKeyFile={server.Client}&authSource=admin"));
        Connect("root:root@", $"tlsInsecure=true&tlsCertificateKeyFile={server.Client}&authSource=admin");
    }

    [Fact]
    public void A_wrong_password_is_refused_without_being_shown()
    {
        ConnectionFailedException e = Assert.ThrowsAny<ConnectionFailedException>(() => Connect("root:hunter2@", $"tlsCAFile={server.Certificates.AuthorityFile}&tlsCertificateKeyFile={server.Client}&authSource=admin"));
        Assert.DoesNotContain("hunter2", e.Message, StringComparison.Ordinal);
    }

    private void Connect(string login, string options)
    {
        using IExecutorSource source = Open(login, options);
        using IOperationExecutor executor = source.OpenExecutor();
        executor.Connect();
    }

    private IExecutorSource Open(string login, string options)
    {
        string uri = $"mongodb://{login}{server.Mongod.Address}/?tls=true&serverSelectionTimeoutMS=3000&{options}";
        return driver.Engine.Open(new ClientOptions
        {
            Uri = uri, Address = () => server.Mongod.Address, Connections = ConnectionSettings.From(ConnectionString.Parse(uri)), Database = "driver", Workers = 1,
        });
    }
}

using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>What clients do while 'learn' watches becomes a scenario, whether the server can record itself or not.</summary>
[Collection(OtherTests.Name)]
public sealed class LearnTrafficTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [MongodFact]
    public void A_server_that_can_records_itself_and_keeps_no_file()
    {
        string folder = Directory.CreateDirectory(_runs.At("traffic")).FullName;
        using SecuredMongod mongod = SecuredMongod.Start("--setParameter", $"trafficRecordingDirectory={folder}");
        string text = Learn(mongod.Address, mongod.Uri(), "shop", "traffic that the server recorded");
        foreach (string line in (string[])
            [
                "filter: {_id: ^key}", "filter: {n: {^field: n}}", "with: {$inc: {n: 1}}", "insertMany: orders", "batch: 2",
                "traffic that the server recorded",
            ])
            Assert.Contains(line, text, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFiles(folder));
    }

    /// <summary>A scan of the whole collection takes so long that it is seen; what is too short is at least told.</summary>
    [MongodFact]
    public void Any_other_server_is_asked_what_it_is_doing_and_how_often_it_did_that()
    {
        TestServer mongod = servers["mongod"];
        string text = Learn(mongod.Address, mongod.Uri, servers.NewDatabase(), "traffic, sampled");
        Assert.Contains("find: orders", text, StringComparison.Ordinal);
        Assert.Contains("{n: {^field: n}}", text, StringComparison.Ordinal);
        Assert.Matches("insert(Many)?: orders", text);
        Assert.Contains("# not learned: percentiles of times: a sampled server tells only means", text, StringComparison.Ordinal);
    }

    [MongodFact]
    public void Traffic_of_a_server_that_does_nothing_is_refused()
    {
        TestServer mongod = servers["mongod"];
        string quiet = servers.NewDatabase();
        using MongoConnection connection = mongod.Connect();
        connection.RunCommand(quiet, BsonDocument.Of(("insert", "orders"), ("documents", new object[] { BsonDocument.Of(("_id", 1)) })));
        ProgramRun.Run("learn", "--uri", mongod.Uri, "--db", quiet, "--from", "traffic", "1s", "-o", _runs.At("none.yaml"))
            .Expect(2).Says("was not seen doing anything in");
        Assert.False(File.Exists(_runs.At("none.yaml")));
    }

    /// <summary>Learns while two clients are at work.</summary>
    /// <returns>The file.</returns>
    private string Learn(ServerAddress address, string uri, string database, string expected)
    {
        Directory.CreateDirectory(_runs.Path);
        string file = _runs.At("learned.yaml");
        using (MongoConnection connection = MongoConnection.Open(address, ConnectionSettings.Default))
        {
            for (int part = 0; part < 10; part++)
                connection.RunCommand(database, BsonDocument.Of(("insert", "orders"), ("documents",
                    Enumerable.Range(part * 2000, 2000).Select(i => (object)BsonDocument.Of(("_id", i), ("n", i % 500))).ToArray())));
        }

        using var stop = new CancellationTokenSource();
        Task[] clients = [.. Enumerable.Range(0, 2).Select(client => Task.Run(() => Work(address, database, client, stop.Token)))];
        ProgramRun.Run("learn", "--uri", uri, "--db", database, "--from", "traffic", "2s", "-o", file)
            .Expect(0).Says($"operations: {expected}");
        stop.Cancel();
        Task.WaitAll(clients);
        ProgramRun.Run("validate", file).Expect(0);
        return File.ReadAllText(file);
    }

    private static void Work(ServerAddress address, string database, int client, CancellationToken stop)
    {
        using MongoConnection connection = MongoConnection.Open(address, ConnectionSettings.Default);
        for (int i = 0; !stop.IsCancellationRequested; i++)
        {
            BsonDocument byId = BsonDocument.Of(("_id", i * 7 % 20_000));
            _ = connection.RunCursor(database, BsonDocument.Of(("find", "orders"), ("filter", byId))).Count();
            _ = connection.RunCursor(database, BsonDocument.Of(("find", "orders"), ("filter", BsonDocument.Of(("n", i % 500))))).Count();
            connection.RunCommand(database, BsonDocument.Of(("update", "orders"), ("updates", new object[]
            {
                BsonDocument.Of(("q", byId), ("u", BsonDocument.Of(("$inc", BsonDocument.Of(("n", 1)))))),
            })));
            int id = ((client + 1) * 1_000_000) + (i * 2);
            connection.RunCommand(database, BsonDocument.Of(("insert", "orders"), ("documents", new object[]
            {
                BsonDocument.Of(("_id", id), ("n", -1)), BsonDocument.Of(("_id", id + 1), ("n", -1)),
            })));
        }
    }
}

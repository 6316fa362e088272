using System.Net.Sockets;
using MongoPerf.Server;
using MongoPerf.Server.Listening;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server;

/// <summary>Tests that measure the process's memory: no other test runs beside them.</summary>
[CollectionDefinition(nameof(MeasuredAlone), DisableParallelization = true)]
public sealed class MeasuredAlone;

/// <summary>Many clients and large messages at once.</summary>
[Collection(nameof(MeasuredAlone))]
public sealed class CrowdTests : ServerTest
{
    [Fact]
    public void Connections_beyond_the_limit_are_refused_and_those_there_go_on()
    {
        using var folder = new TemporaryFolder();
        using EmbeddedServer server = EmbeddedServer.Start(new EmbeddedServerOptions
        {
            DataPath = folder.At("data"), CacheBytes = 64 << 20, Listen = new ListenOptions { MaximumConnections = 8 },
        });
        var clients = Enumerable.Range(0, 8).Select(_ => new TestClient(server.Port)).ToList();
        Assert.All(clients, client => Assert.True(client.Run("{'ping': 1}").IsTrue("ok")));
        for (int i = 0; i < 50; i++)
        {
            using var refused = new TestClient(server.Port);
            Assert.True(IsClosed(refused));
        }

        Assert.Equal(50, server.RefusedConnections);
        Assert.All(clients, client => Assert.True(client.Run("{'ping': 1}").IsTrue("ok")));
        clients.ForEach(client => client.Dispose());
    }

    [Fact]
    public async Task Memory_of_large_messages_is_returned()
    {
        const int Clients = 60;
        const int MessageBytes = 47_000_000;
        long before = Environment.WorkingSet;
        byte[] message = LargePing(MessageBytes);
        // Ten at a time, or the system's own socket buffers would be measured.
        await Parallel.ForEachAsync(Enumerable.Range(0, Clients), new ParallelOptions { MaxDegreeOfParallelism = 10 }, (_, _) =>
        {
            using var client = new TestClient(Port);
            client.Send(message);
            Assert.NotNull(client.ReceiveMessage());
            return ValueTask.CompletedTask;
        });
        await Eventually.IsAsync(() => Server.MessageBytes == 0);
        Assert.InRange(Environment.WorkingSet - before, long.MinValue, 512L << 20);
    }

    [Fact]
    public void Header_alone_takes_no_memory_that_others_miss()
    {
        byte[] header = new byte[16];
        new MessageHeader(48_000_000, 1, 0, OpCode.Msg).Write(header);
        TestClient[] idle = [.. Enumerable.Range(0, 5).Select(_ => new TestClient(Port))];
        foreach (TestClient client in idle)
            client.Send(header);
        byte[] message = LargePing(20_000_000);
        Client.Send(message);
        Assert.NotNull(Client.ReceiveMessage());
        foreach (TestClient client in idle)
            client.Dispose();
    }

    [Fact]
    public async Task Collections_come_and_go_under_those_who_read_write_and_measure_them()
    {
        string[] commands =
        [
            "{'insert': 'x', 'documents': [{'a': [1, 2], 'b': 1}]}", "{'drop': 'x'}",
            "{'createIndexes': 'x', 'indexes': [{'key': {'a': 1}, 'name': 'a'}]}", "{'dropIndexes': 'x', 'index': 'a'}",
            "{'find': 'x', 'filter': {'a': 1}, 'batchSize': 0}", "{'serverStatus': 1}", "{'listDatabases': 1, '$db': 'admin'}",
            "{'collStats': 'x'}", "{'dbStats': 1}", "{'dropDatabase': 1}", "{'validate': 'x'}", "{'compact': 'x'}",
            "{'aggregate': 'x', 'pipeline': [{'$indexStats': {}}], 'cursor': {}}",
            "{'update': 'x', 'updates': [{'q': {}, 'u': {'$set': {'b': 2}}, 'multi': true}]}",
        ];
        await Task.WhenAll(Enumerable.Range(0, 6).Select(seed => Task.Run(() =>
        {
            var random = new Random(seed);
            using var client = new TestClient(Port);
            for (int i = 0; i < 250; i++)
                Assert.NotNull(client.Run(commands[random.Next(commands.Length)].Replace(", '$db': 'admin'", "", StringComparison.Ordinal),
                    "crowd").FindDouble("ok"));
        })));
        Assert.Equal(0, Server.Defects);
        Restart();
        foreach (BsonDocument collection in TestClient.Batch(Succeed("{'listCollections': 1}", "crowd"), "firstBatch"))
            Assert.True(Client.Run(BsonDocument.Of(("validate", collection.FindString("name"))), "crowd").IsTrue("valid"));
    }

    private static bool IsClosed(TestClient client)
    {
        try
        {
            client.Send(new OpMsgWriter().WriteCommand("admin", BsonDocument.Of(("ping", 1)), 1));
            return client.ReceiveMessage() == null;
        }
        catch (SocketException)
        {
            return true;
        }
    }

    /// <summary>A ping with documents beside it that no one wants: answered, and nothing of it kept.</summary>
    private static byte[] LargePing(int bytes)
    {
        var writer = new OpMsgWriter();
        writer.Begin(OpMsgFlags.None, 1);
        writer.Body.WriteInt32("ping"u8, 1);
        writer.EndBody("admin");
        writer.BeginSequence("documents"u8);
        byte[] text = new byte[1_000_000];
        Array.Fill(text, (byte)'x');
        var document = new BsonWriter();
        document.StartDocument();
        document.WriteString("t"u8, text);
        document.End();
        for (int at = 0; at + document.Length < bytes; at += document.Length)
            writer.Body.WriteRaw(document.Written);
        writer.EndSequence();
        return writer.Finish().ToArray();
    }
}

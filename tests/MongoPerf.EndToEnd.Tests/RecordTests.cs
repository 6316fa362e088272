using System.Text.RegularExpressions;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The program as a proxy: clients notice nothing of it, and what it recorded is replayed with the same replies.</summary>
[Collection(LightTests.Name)]
public sealed partial class RecordTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void What_goes_through_the_proxy_is_replayed_with_the_same_replies(string kind)
    {
        string shop = servers.NewDatabase();
        string file = _runs.At("shop.rec");
        using (ProgramRun record = ProgramRun.Start(
            new ProgramOptions(), "record", "--uri", servers[kind].Uri, "--listen", "127.0.0.1:0", "-o", file))
        {
            Assert.True(record.WaitForLine("recording what goes through"), record.Errors);
            int port = int.Parse(ProxyPort().Match(record.Errors).Groups[1].Value);
            using (MongoConnection through = MongoConnection.Open(new ServerAddress("127.0.0.1", port), ConnectionSettings.Default))
            {
                through.RunCommand(shop, BsonDocument.Of(("insert", "orders"),
                    ("documents", Enumerable.Range(0, 500).Select(i => (object)BsonDocument.Of(("_id", i), ("sku", i % 7))).ToArray())));
                Assert.Equal(500, through.RunCursor(shop, BsonDocument.Of(("find", "orders"), ("batchSize", 200))).Count());
                through.RunUnchecked(shop, BsonDocument.Of(("insert", "orders"),
                    ("documents", new object[] { BsonDocument.Of(("_id", 1)) })));
                Assert.Equal(72, through.RunCommand(shop, BsonDocument.Of(("count", "orders"),
                    ("query", BsonDocument.Of(("sku", 1))))).FindInt64("n"));
            }

            record.SendInterrupt();
            ProgramResult ended = record.WaitForEnd().Expect(0);
            Assert.Contains("requests of 1 connection", ended.Output, StringComparison.Ordinal);
        }

        string copy = servers.NewDatabase();
        ProgramRun.Run("replay", file, "--uri", servers[kind].Uri, "--database", $"{shop}={copy}", "--speed", "max",
            "--out", _runs.At("runs")).Expect(0);
        using var run = StoredRun.Open(Directory.GetDirectories(_runs.At("runs")).Single());
        Assert.Equal(new Accounting(5, 5, 0, 0), run.Accounting);
        Assert.All(run.Results, result => Assert.Equal((result.Operations, 0), (result.Replay!.Compared, result.Replay.Different)));
    }

    [Fact]
    public void Wrong_calls_are_told_before_anything_starts()
    {
        string file = _runs.At("a.rec");
        File.WriteAllText(file, "");
        string uri = servers["embedded"].Uri;
        foreach ((string[] typed, string expected) in ((string[], string)[])
        [
            (["--uri", uri, "-o", file], "--listen or --server is missing"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "--server", "-o", file], "--server needs none"),
            (["--uri", uri, "--listen", "127.0.0.1:0"], "--output is missing"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "-o", ""], "--output is missing"),
            (["--uri", uri, "--listen", "27018", "-o", file], "expected ADDRESS:PORT"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "-o", file], "is there already"),
            (["--uri", "mongodb://a,b", "--listen", "127.0.0.1:0", "-o", file], "leads to one server"),
            (["--uri", "mongodb://a/?tls=true", "--listen", "127.0.0.1:0", "-o", file], "can't record encrypted ones"),
            (["--uri", uri, "--server", "-o", file], "has a folder"),
        ])
            Assert.Contains(expected, ProgramRun.Run([.. typed.Prepend("record")]).Expect(2).Errors, StringComparison.Ordinal);
        // No empty file stays in the way of the next try.
        string another = _runs.At("b.rec");
        Assert.Contains("can't listen on", ProgramRun.Run("record", "--uri", uri, "--listen",
            servers["embedded"].Uri["mongodb://".Length..].Split('/')[0], "-o", another).Expect(3).Errors, StringComparison.Ordinal);
        Assert.False(File.Exists(another));
        Assert.Contains("has no startRecordingTraffic",
            ProgramRun.Run("record", "--uri", uri, "--server", "-o", "a.bin").Expect(7).Errors, StringComparison.Ordinal);
    }

    [GeneratedRegex(@"goes through 127\.0\.0\.1:(\d+)")]
    private static partial Regex ProxyPort();
}

using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Connections;

/// <summary>Unix sockets, IPv6 and compression, with a real mongod.</summary>
[Collection(OtherTests.Name)]
public sealed class TransportTests
{
    [MongodFact]
    public void A_unix_socket_is_a_host_like_any_other()
    {
        using var mongod = SecuredMongod.Start();
        using var runs = new RunsFolder();
        string uri = $"mongodb://{Uri.EscapeDataString(mongod.SocketPath)}/";
        ProgramRun.Run("series", "--target", "1k", "--step", "1k", "--tests", "batch,q4,size", "--window", "1s", "--rate", "100",
            "--max-skipped", "100%", "--threads", "1", "--uri", uri, "--out", runs.Path).Expect(0);
    }

    [MongodFact]
    public void An_address_of_IPv6_is_a_host_like_any_other()
    {
        if (!File.Exists("/proc/net/if_inet6") || !File.ReadAllText("/proc/net/if_inet6").Contains(" lo", StringComparison.Ordinal))
            return;
        using var mongod = SecuredMongod.Start("--ipv6", "--bind_ip", "127.0.0.1,::1");
        using var runs = new RunsFolder();
        string uri = $"mongodb://[::1]:{mongod.Address.Port}/";
        ProgramResult result = ProgramRun.Run(
            "series", "--target", "1k", "--step", "1k", "--tests", "batch", "--uri", uri, "--format", "json", "--out", runs.Path).Expect(0);
        Assert.Equal($"[::1]:{mongod.Address.Port}", result.Report().GetProperty("deployment").Text("address"));
    }

    /// <summary>Later ones do not start without.</summary>
    [MongodFact(UpTo = "6.0")]
    public void A_server_without_a_journal_has_a_line_of_its_own()
    {
        using var mongod = SecuredMongod.Start("--nojournal");
        using var runs = new RunsFolder();
        ProgramRun.Run("series", "--target", "1k", "--step", "1k", "--tests", "batch", "--uri", mongod.Uri(), "--out", runs.Path).Expect(2)
            .Says("this server runs without a journal").Says("start it with its journal");
    }

    [MongodTheory]
    [InlineData("snappy")]
    [InlineData("zlib")]
    [InlineData("zstd")]
    public void A_real_server_understands_each_compressor_and_answers_with_it(string name)
    {
        using var mongod = SecuredMongod.Start("--networkMessageCompressors", name);
        using MongoConnection connection = mongod.Open(mongod.Uri(options: "compressors=zstd,zlib,snappy&zlibCompressionLevel=6"));
        Assert.Equal(name, connection.CompressorName);
        TrafficCounters opened = connection.Traffic;
        string text = string.Concat(Enumerable.Repeat("compressible ", 10_000));
        connection.RunCommand(
            "shop", BsonDocument.Of(("insert", "things"), ("documents", new[] { BsonDocument.Of(("_id", 1), ("text", text)) })));
        Assert.Equal(text, connection.RunCommand("shop", BsonDocument.Of(("find", "things"))).FindString("cursor.firstBatch.0.text"));
        TrafficCounters used = connection.Traffic;
        Assert.True(used.MessageBytesSent - opened.MessageBytesSent > text.Length
            && used.MessageBytesReceived - opened.MessageBytesReceived > text.Length);
        Assert.True(used.WireBytesSent - opened.WireBytesSent < text.Length / 10, $"{used} after {opened}");
        Assert.True(used.WireBytesReceived - opened.WireBytesReceived < text.Length / 10, $"{used} after {opened}");
    }
}

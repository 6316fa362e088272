using System.Diagnostics;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Connections;

/// <summary>Unix sockets, compression, and connections by the thousand, with a real mongod.</summary>
[Collection(HeavyTests.Name)]
public sealed class TransportTests
{
    [MongodFact]
    public void A_unix_socket_is_a_host_like_any_other()
    {
        using var mongod = SecuredMongod.Start();
        using var runs = new RunsFolder();
        string uri = $"mongodb://{Uri.EscapeDataString(mongod.SocketPath)}/";
        ProgramRun.Run("series", "--target", "1k", "--step", "1k", "--tests", "batch,q4,size", "--window", "1s", "--threads", "1", "--uri", uri, "--out", runs.Path).Expect(0);
    }

    [MongodFact]
    public void An_address_of_IPv6_is_a_host_like_any_other()
    {
        if (!File.Exists("/proc/net/if_inet6") || !File.ReadAllText("/proc/net/if_inet6").Contains(" lo", StringComparison.Ordinal))
            return;
        using var mongod = SecuredMongod.Start("--ipv6", "--bind_ip", "127.0.0.1,::1");
        using var runs = new RunsFolder();
        string uri = $"mongodb://[::1]:{mongod.Address.Port}/";
        ProgramResult result = ProgramRun.Run("series", "--target", "1k", "--step", "1k", "--tests", "batch", "--uri", uri, "--format", "json", "--out", runs.Path).Expect(0);
        Assert.Equal($"[::1]:{mongod.Address.Port}", result.Report().GetProperty("deployment").Text("address"));
    }

    [MongodFact]
    public void A_server_without_a_journal_has_a_line_of_its_own()
    {
        using var mongod = SecuredMongod.Start("--nojournal");
        using var runs = new RunsFolder();
        ProgramRun.Run("series", "--target", "1k", "--step", "1k", "--tests", "batch", "--uri", mongod.Uri(), "--out", runs.Path).Expect(2).Says("this server runs without a journal").Says("start it with its journal");
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
        connection.RunCommand("shop", BsonDocument.Of(("insert", "things"), ("documents", new[] { BsonDocument.Of(("_id", 1), ("text", text)) })));
        Assert.Equal(text, connection.RunCommand("shop", BsonDocument.Of(("find", "things"))).FindString("cursor.firstBatch.0.text"));
        TrafficCounters used = connection.Traffic;
        Assert.True(used.MessageBytesSent - opened.MessageBytesSent > text.Length && used.MessageBytesReceived - opened.MessageBytesReceived > text.Length);
        Assert.True(used.WireBytesSent - opened.WireBytesSent < text.Length / 10, $"{used} after {opened}");
        Assert.True(used.WireBytesReceived - opened.WireBytesReceived < text.Length / 10, $"{used} after {opened}");
    }

    /// <summary>Ten thousand TLS connections, each with a login, leave nothing behind: neither handles nor memory outside of the collector's reach.</summary>
    [MongodFact]
    public void Ten_thousand_tls_connections_leave_no_handle_and_no_memory_behind()
    {
        using var certificates = new TestCertificates();
        using var mongod = SecuredMongod.Start(
            "--auth", "--tlsMode", "requireTLS", "--tlsCertificateKeyFile", certificates.ForLoopback(), "--tlsCAFile", certificates.AuthorityFile, "--tlsAllowConnectionsWithoutCertificates");
        string tls = $"tls=true&tlsCAFile={certificates.AuthorityFile}&compressors=zstd";
        mongod.CreateUser("root", "root", "admin", ConnectionSettings.From(ConnectionString.Parse(mongod.Uri(options: tls))));
        var settings = ConnectionSettings.From(ConnectionString.Parse(mongod.Uri("root:root", tls)));
        OpenAndClose(1_000);
        (int handles, long bytes) = (CountHandles(), ResidentBytes());
        OpenAndClose(9_000);
        Assert.InRange(CountHandles(), 0, handles + 20);
        // A leak of one SSL session each would be tens of kilobytes times 9,000.
        Assert.InRange(ResidentBytes() - bytes, long.MinValue, 64L << 20);

        void OpenAndClose(int connections) => Parallel.For(0, connections, new ParallelOptions { MaxDegreeOfParallelism = 4 }, _ =>
        {
            using MongoConnection connection = MongoConnection.Open(mongod.Address, settings);
            Assert.True(connection.RunCommand("admin", BsonDocument.Of(("ping", 1))).IsTrue("ok"));
        });
    }

    private static int CountHandles()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return Directory.GetFiles("/proc/self/fd").Length;
    }

    private static long ResidentBytes()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        using var self = Process.GetCurrentProcess();
        return self.WorkingSet64;
    }
}

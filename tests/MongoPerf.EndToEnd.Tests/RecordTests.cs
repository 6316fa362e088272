using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Platforms;
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
        using (ProgramRun record = StartProxy(servers[kind].Uri, file, out int port))
        {
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

    /// <summary>The client logs in (SCRAM) and compresses; the server takes TLS alone.</summary>
    [MongodFact]
    public void What_is_encrypted_on_both_sides_is_recorded_without_its_login()
    {
        using var certificates = new TestCertificates();
        using SecuredMongod mongod =
            SecuredMongod.Start("--tlsMode", "requireTLS", "--tlsCertificateKeyFile", certificates.ForLoopback(), "--auth");
        string tls = $"tls=true&tlsCAFile={certificates.AuthorityFile}";
        mongod.CreateUser("app", "pa55word", "admin", ConnectionSettings.From(ConnectionString.Parse(mongod.Uri(options: tls))));
        string file = _runs.At("tls.rec");
        using ProgramRun record = StartProxy(mongod.Uri(options: tls), file, out int port, "--redact", "--tls-certificate-key-file",
            certificates.ForLoopback());
        string uri = $"mongodb://app:pa55word@127.0.0.1:{port}/?{tls}&compressors=zlib";
        using (MongoConnection through = MongoConnection.Open(
            new ServerAddress("127.0.0.1", port), ConnectionSettings.From(ConnectionString.Parse(uri))))
        {
            BsonDocument secret = BsonDocument.Of(("sku", "very secret"));
            through.RunCommand("shop", BsonDocument.Of(("insert", "orders"), ("documents", new object[] { secret })));
            Assert.Single(through.RunCursor("shop", BsonDocument.Of(("find", "orders"), ("filter", secret))));
            through.RunCommand("admin", BsonDocument.Of(("createUser", "other"), ("pwd", "pa55word"), ("roles", Array.Empty<object>())));
        }

        // One who does not speak TLS ends alone.
        Assert.ThrowsAny<Exception>(() => MongoConnection.Open(new ServerAddress("127.0.0.1", port), ConnectionSettings.Default));
        Assert.True(record.WaitForLine("warning: a client could not connect with TLS"), record.Errors);
        record.SendInterrupt();
        ProgramResult ended = record.WaitForEnd().Expect(0);
        Assert.Contains("2 requests of", ended.Output, StringComparison.Ordinal);
        ReadOnlySpan<byte> stored = File.ReadAllBytes(file);
        Assert.True(stored.IndexOf("sku"u8) > 0 && stored.IndexOf("secret"u8) < 0 && stored.IndexOf("pa55word"u8) < 0
            && stored.IndexOf("sasl"u8) < 0);
        Replay(file, mongod.Uri("app:pa55word", $"{tls}&authSource=admin"), "--database", "shop=copy");
    }

    [MongodFact]
    public void A_server_records_itself_and_its_file_is_replayed_with_the_same_replies()
    {
        string folder = Directory.CreateDirectory(_runs.At("recorded")).FullName;
        using SecuredMongod mongod = SecuredMongod.Start("--setParameter", $"trafficRecordingDirectory={folder}");
        using (ProgramRun record = ProgramRun.Start(new ProgramOptions(), "record", "--uri", mongod.Uri(), "--server", "-o", "shop.bin"))
        {
            Assert.True(record.WaitForLine("records its traffic into"), record.Errors);
            using (MongoConnection client = mongod.Open(mongod.Uri()))
            {
                client.RunCommand("shop", BsonDocument.Of(("insert", "orders"),
                    ("documents", Enumerable.Range(0, 500).Select(i => (object)BsonDocument.Of(("_id", i))).ToArray())));
                Assert.Equal(500, client.RunCursor("shop", BsonDocument.Of(("find", "orders"), ("batchSize", 200))).Count());
            }

            record.SendInterrupt();
            Assert.Contains("shop.bin on localhost", record.WaitForEnd().Expect(0).Output, StringComparison.Ordinal);
        }

        string file = Path.Combine(folder, "shop.bin");
        ProgramRun.Run("record", "--uri", mongod.Uri(), "--server", "-o", "shop.bin").Expect(2).Says($"{file} is there already");
        Replay(file, mongod.Uri(), "--database", "shop=copy");
    }

    [MongodFact]
    public void A_recording_is_ended_on_a_server_that_tells_the_user_nothing_of_its_state()
    {
        string folder = Directory.CreateDirectory(_runs.At("recorded")).FullName;
        using SecuredMongod mongod = SecuredMongod.Start("--auth", "--setParameter", $"trafficRecordingDirectory={folder}");
        mongod.CreateUser("root", "secret", "admin");
        using MongoConnection root = mongod.Open(mongod.Uri("root:secret", "authSource=admin"));
        root.RunCommand("admin", BsonDocument.Of(("createUser", "host"), ("pwd", "secret"), ("roles", new[] { "hostManager" })));
        string[] record = ["record", "--uri", mongod.Uri("host:secret", "authSource=admin"), "--server", "--duration", "100ms", "-o"];
        Assert.Contains("size unknown, as serverStatus needs the role clusterMonitor",
            ProgramRun.Run([.. record, "a.bin"]).Expect(0).Output, StringComparison.Ordinal);
        root.RunCommand("admin", BsonDocument.Of(("startRecordingTraffic", 1), ("filename", "b.bin")));
        ProgramRun.Run([.. record, "c.bin"]).Expect(7).Says("already active").Says("db.adminCommand({stopRecordingTraffic: 1})");
    }

    [Fact]
    public void The_password_of_an_encrypted_key_is_asked_for()
    {
        using var certificates = new TestCertificates();
        string[] call = ["record", "--uri", servers["embedded"].Uri, "--listen", "127.0.0.1:0", "--duration", "200ms",
            "-o", _runs.At("a.rec"), "--tls-certificate-key-file", certificates.ForClient("CN=localhost", "s3cret")];
        (int exitCode, string shown) = ProgramRun.Answer("password of ", "wrong", call);
        Assert.True(exitCode == 2 && shown.Contains("can't be decrypted with that password", StringComparison.Ordinal), shown);
        (exitCode, shown) = ProgramRun.Answer("password of ", "s3cret", call);
        Assert.True(exitCode == 0 && !shown.Contains("s3cret", StringComparison.Ordinal), shown);
    }

    [Fact]
    public void Wrong_calls_are_told_before_anything_starts()
    {
        using var certificates = new TestCertificates();
        string file = _runs.At("a.rec");
        File.WriteAllText(file, "");
        string uri = servers["embedded"].Uri;
        foreach ((string[] typed, string expected) in ((string[], string)[])
        [
            (["--uri", uri, "-o", file], "--listen, --server or --pcap is missing"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "--server", "-o", file], "--listen, --server and --pcap exclude one another"),
            (["--uri", uri, "--server", "--redact", "-o", file], "a server records what it gets as it is"),
            (["--pcap", file, "--tls-certificate-key-file", file, "-o", _runs.At("c.rec")], "is for a proxy"),
            (["--pcap", file, "-o", _runs.At("c.rec")], "is not a capture of packets"),
            (["--pcap", file, "-o", _runs.At("c.rec"), "--duration", "5s"], "so --duration does not apply"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "--tls-certificate-key-file", file, "-o", _runs.At("c.rec")],
                "does not hold a certificate and its private key"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "--tls-certificate-key-file", certificates.ForClient("CN=x", "s3cret"),
                "-o", _runs.At("c.rec")], "is encrypted, and there is no terminal to prompt for its password"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "-o", _runs.Path], "is there already"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "-o", Link(file)], "is there already"),
            (["--uri", uri, "--listen", "127.0.0.1:0"], "--output is missing"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "-o", ""], "--output is missing"),
            (["--uri", uri, "--listen", "27018", "-o", file], "expected ADDRESS:PORT"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "-o", _runs.At("c.rec"), "--duration", "0"], "allowed: more than 0s"),
            (["--uri", uri, "--server", "-o", "c.bin", "--duration", "9000h"], "at most 8760h"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "-o", file], "is there already"),
            (["--uri", "mongodb://a,b", "--listen", "127.0.0.1:0", "-o", file], "leads to one server"),
            (["--uri", uri, "--server", "-o", file], "names a folder"),
            (["--uri", uri, "--server", "-o", ".."], "'..' names a folder"),
            (["--uri", uri, "--listen", "127.0.0.1:0", "-o", _runs.At("none/c.rec")], $"the folder {_runs.At("none")} does not exist"),
            (["--pcap", _runs.At("none.pcap"), "-o", _runs.At("c.rec")], "none.pcap does not exist"),
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

    [Fact]
    public void A_server_that_is_not_there_is_told_before_there_is_a_file()
    {
        string file = _runs.At("a.rec");
        ProgramRun.Run("record", "--uri", $"mongodb://127.0.0.1:{FreePort.Find()}", "--listen", "127.0.0.1:0", "--duration", "1s",
            "-o", file).Expect(3).Says("connection refused (nothing listens there)").Says("hint:  is a server running there");
        Assert.False(File.Exists(file));
    }

    /// <summary>The pipe at stderr is full. A client whose server has gone is turned away all the same, and the recording ends.</summary>
    [Fact]
    public void Warnings_that_nobody_reads_hold_up_no_client()
    {
        const int interrupt = 2;
        const string Fill = """mkfifo "$0" && exec 9<>"$0"; dd if=/dev/zero of="$0" oflag=nonblock bs=4096 2>&-; exec "$@" 2>&9""";
        int port = FreePort.Find();
        using FakeServer server = FakeServer.Replying(BsonDocument.Of(("ismaster", true), ("maxWireVersion", 17), ("ok", 1.0)));
        using var record = Process.Start(new ProcessStartInfo("/usr/bin/env",
        [
            "--default-signal=INT", "bash", "-c", Fill, _runs.At("pipe"), .. ThisProgram.Command,
            "record", "--uri", server.Uri, "--listen", $"127.0.0.1:{port}", "-o", _runs.At("a.rec"),
        ]))!;
        try
        {
            Eventually.Is(() => TryConnect(port) is { } first && Close(first));
            server.Dispose();
            using Socket client = TryConnect(port)!;
            client.ReceiveTimeout = 60_000;
            Assert.Equal(0, client.Receive(new byte[1]));
            SystemCalls.Signal(record.Id, interrupt);
            Assert.True(record.WaitForExit(60_000));
            Assert.Equal(0, record.ExitCode);
        }
        finally
        {
            record.Kill();
        }

        static bool Close(Socket socket)
        {
            socket.Dispose();
            return true;
        }
    }

    private static Socket? TryConnect(int port)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Connect(IPAddress.Loopback, port);
            return socket;
        }
        catch (SocketException)
        {
            socket.Dispose();
            return null;
        }
    }

    internal static ProgramRun StartProxy(string uri, string file, out int port, params string[] options)
    {
        ProgramRun record = ProgramRun.Start(
            new ProgramOptions(), ["record", "--uri", uri, "--listen", "127.0.0.1:0", "-o", file, .. options]);
        Assert.True(record.WaitForLine("recording what goes through"), record.Errors);
        port = int.Parse(ProxyPort().Match(record.Errors).Groups[1].Value);
        return record;
    }

    private string Link(string target)
    {
        string link = _runs.At("link");
        File.CreateSymbolicLink(link, target);
        return link;
    }

    /// <summary>Replays it and holds its replies against the recorded ones.</summary>
    private void Replay(string file, string uri, params string[] options)
    {
        string runs = _runs.At("runs");
        ProgramRun.Run(["replay", file, "--uri", uri, "--speed", "max", "--out", runs, .. options]).Expect(0);
        using var run = StoredRun.Open(Directory.GetDirectories(runs).Single());
        // What watches the server's own recording asks for its state, which is left out.
        Assert.All(run.Results, result =>
        {
            Assert.Equal((result.Operations, 0), (result.Replay!.Compared, result.Replay.Different));
            Assert.DoesNotContain("serverStatus", result.Operation, StringComparison.Ordinal);
        });
    }

    [GeneratedRegex(@"goes through 127\.0\.0\.1:(\d+)")]
    private static partial Regex ProxyPort();
}

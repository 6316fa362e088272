using System.Net.Sockets;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>Which servers are trusted over TLS, what is said of the others, and what it costs in memory.</summary>
public sealed class TlsTests : IDisposable
{
    private readonly TestCertificates _certificates = new();

    [Fact]
    public void The_hosts_name_goes_into_the_handshake()
    {
        using var server = new TlsServer(_certificates.ForLoopback());
        using MongoConnection connection = Open(server, Trusting);
        Assert.Equal("localhost", server.AskedFor);
        Assert.True(connection.RunCommand("admin", BsonDocument.Of(("ping", 1))).IsTrue("ok"));
    }

    [Fact]
    public void An_expired_certificate_is_named_so_in_one_line()
    {
        using var server = new TlsServer(_certificates.ForServer(new DateTimeOffset(2020, 2, 1, 12, 0, 0, TimeSpan.Zero), "localhost"));
        Assert.Equal(
            $"{server.Address}: the certificate 'CN=server, O=MongoPerf, OU=servers' expired on 2020-02-01 12:00 UTC: renew it, "
            + "or add tlsAllowInvalidCertificates=true where that is safe",
            Refusal(server, Trusting));
        Open(server, Trusting + "&tlsAllowInvalidCertificates=true").Dispose();
    }

    [Fact]
    public void A_certificate_of_the_future_points_at_the_clock()
    {
        using var server = new TlsServer(_certificates.ForServer(DateTimeOffset.UtcNow.AddYears(13), "localhost"));
        Assert.Contains("is this machine's clock right?", Refusal(server, Trusting), StringComparison.Ordinal);
    }

    [Fact]
    public void A_certificate_of_a_stranger_is_named_so_in_one_line()
    {
        using var server = new TlsServer(_certificates.ForLoopback());
        Assert.Equal(
            $"{server.Address}: the server's certificate is signed by 'CN=MongoPerf test authority, O=MongoPerf', "
            + "which is not trusted on this machine: "
            + "name the authority's certificate with tlsCAFile=FILE, or add tlsAllowInvalidCertificates=true where that is safe",
            Refusal(server, "tls=true"));
        Open(server, "tlsAllowInvalidCertificates=true&tls=true").Dispose();
        Open(server, "tlsInsecure=true&tls=true").Dispose();
    }

    [Fact]
    public void A_certificate_that_the_given_authorities_did_not_sign_is_named_so_in_one_line()
    {
        using var server = new TlsServer(_certificates.ForLoopback());
        using var others = new TestCertificates();
        string[] files = [others.AuthorityFile, others.ForLoopback()];
        Assert.All(files, file => Assert.Equal(
            $"{server.Address}: the server's certificate is signed by 'CN=MongoPerf test authority, O=MongoPerf', "
            + "which is none of the authorities in tlsCAFile: "
            + "add its certificate to that file, or add tlsAllowInvalidCertificates=true where that is safe",
            Refusal(server, $"tls=true&tlsCAFile={file}")));
    }

    [Fact]
    public void A_certificate_of_another_host_is_named_so_in_one_line()
    {
        using var server = new TlsServer(_certificates.ForServer(null, "db.example.test", "10.1.2.3"));
        Assert.Equal(
            $"{server.Address}: the server's certificate is not for 'localhost' but for db.example.test, 10.1.2.3: "
            + "connect by one of its names, "
            + "or add tlsAllowInvalidHostnames=true where that is safe",
            Refusal(server, Trusting));
        Refusal(server, Trusting + "&tlsAllowInvalidCertificates=true");
        Open(server, Trusting + "&tlsAllowInvalidHostnames=true").Dispose();
        Open(server, "tlsInsecure=true&tls=true").Dispose();
    }

    [Fact]
    public void All_that_is_wrong_is_said_at_once()
    {
        using var server =
            new TlsServer(_certificates.ForServer(new DateTimeOffset(2020, 2, 1, 12, 0, 0, TimeSpan.Zero), "db.example.test"));
        string refusal = Refusal(server, "tls=true");
        Assert.Contains("expired on 2020-02-01", refusal, StringComparison.Ordinal);
        Assert.Contains("which is not trusted on this machine", refusal, StringComparison.Ordinal);
        Assert.Contains("is not for 'localhost'", refusal, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', refusal);
    }

    [Fact]
    public void A_plain_server_and_a_tls_server_are_told_from_each_other()
    {
        using var plain = new ScriptedListener("plain server", AnswerMessagesAlone);
        Assert.Contains(
            "this server does not speak TLS: leave tls out",
            Assert.Throws<TlsFailedException>(() => MongoConnection.Open(plain.Address, Settings("tls=true"))).Message,
            StringComparison.Ordinal);
        using var encrypted = new TlsServer(_certificates.ForLoopback());
        Assert.Equal($"{encrypted.Address}: this server takes TLS connections only: add tls=true", Refusal(encrypted, ""));
    }

    [Theory]
    [InlineData("HTTP/1.1 400 Bad Request\r\n")]
    [InlineData("220 ")]
    [InlineData("")]
    public void A_server_that_answers_something_else_is_not_taken_for_a_plain_one(string answer)
    {
        using var other = new ScriptedListener("other server", socket =>
        {
            ScriptedListener.ReadMessage(socket);
            if (answer.Length > 0)
                socket.Send(System.Text.Encoding.ASCII.GetBytes(answer));
        });
        Assert.Null(EncryptionProbe.ExplainNoTls(other.Address, ConnectionSettings.Default));
    }

    [Fact]
    public void A_server_that_says_nothing_at_all_is_not_waited_for()
    {
        using var end = new ManualResetEventSlim();
        using var silent = new ScriptedListener("silent server", _ => end.Wait());
        ConnectionSettings settings = ConnectionSettings.Default with { ConnectTimeout = TimeSpan.FromMilliseconds(50) };
        Assert.Null(EncryptionProbe.ExplainSilence(silent.Address, settings));
        Assert.Null(EncryptionProbe.ExplainNoTls(silent.Address, settings));
        Assert.EndsWith("no answer within 0.05 s", Assert.Throws<ConnectionFailedException>(
            () => MongoConnection.Open(silent.Address, Settings("tls=true") with { ConnectTimeout = settings.ConnectTimeout })).Message);
        end.Set();
    }

    [Theory]
    [InlineData("certificate required", "the server requires a client certificate: add tlsCertificateKeyFile=FILE")]
    [InlineData("tlsv1 alert unknown ca", "the server does not trust this client's certificate (tlsCertificateKeyFile): its authority is "
        + "not the server's")]
    [InlineData("sslv3 alert certificate expired", "the server says that this client's certificate (tlsCertificateKeyFile) has expired: "
        + "renew it")]
    [InlineData("sslv3 alert bad certificate", "the server refused this client's certificate (tlsCertificateKeyFile)")]
    [InlineData("sslv3 alert Certificate Unknown", "the server refused this client's certificate (tlsCertificateKeyFile)")]
    [InlineData("tlsv1 alert protocol version", "client and server have no version of TLS in common; TLS 1.2 or later is needed")]
    [InlineData("unsupported protocol", "client and server have no version of TLS in common; TLS 1.2 or later is needed")]
    [InlineData("record layer failure\nof some kind", "TLS failed: record layer failure of some kind")]
    public void What_the_TLS_library_says_is_told_in_the_words_of_options(string said, string told) =>
        Assert.Equal(told, TlsTransport.Explain(new IOException("outer", new InvalidOperationException(said))));

    [Fact]
    public void An_encrypted_key_without_a_certificate_is_not_taken_for_a_wrong_password()
    {
        string both = System.IO.File.ReadAllText(_certificates.ForClient("CN=me", "S3cr3t"));
        string key = both[both.IndexOf("-----BEGIN ENCRYPTED", StringComparison.Ordinal)..];
        const string End = "-----END ENCRYPTED PRIVATE KEY-----";
        string file = _certificates.Write("key.pem", key[..(key.IndexOf(End, StringComparison.Ordinal) + End.Length)]);
        Assert.Contains(
            "does not hold a certificate and its private key",
            Assert.Throws<ConnectionStringException>(
                () => Settings($"tls=true&tlsCertificateKeyFile={file}&tlsCertificateKeyFilePassword=S3cr3t")).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("tlsCAFile", "no certificate at all", "holds no certificate in PEM form")]
    [InlineData("tlsCAFile", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "holds no certificate in PEM form")]
    [InlineData("tlsCertificateKeyFile", "nothing", "does not hold a certificate and its private key")]
    [InlineData("tlsCertificateKeyFile", "Proc-Type: 4,ENCRYPTED", "openssl pkcs8 -topk8")]
    public void A_file_that_can_not_be_used_is_named(string option, string content, string why)
    {
        string file = _certificates.Write("wrong.pem", content);
        string message = Assert.Throws<ConnectionStringException>(() => Settings($"tls=true&{option}={file}")).Message;
        Assert.Contains(file, message, StringComparison.Ordinal);
        Assert.Contains(why, message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_keys_password_is_never_shown()
    {
        string file = _certificates.ForClient("CN=me", "S3cr3t");
        string options = $"tls=true&tlsCertificateKeyFile={file}&tlsCertificateKeyFilePassword=";
        Assert.DoesNotContain("S3cr3t", Settings(options + "S3cr3t").ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain(
            "S3cr3tX", Assert.Throws<ConnectionStringException>(() => Settings(options + "S3cr3tX")).ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Waiting_over_tls_ends_with_the_reply_timeout_and_with_an_abort()
    {
        using var server = new TlsServer(_certificates.ForLoopback());
        using MongoConnection connection = MongoConnection.Open(
            server.Address, Settings(Trusting) with { ReplyTimeout = TimeSpan.FromMilliseconds(100) });
        Assert.Contains("no answer within 0.1 s",
            Assert.Throws<ConnectionFailedException>(() => connection.Receive().ToArray()).Message, StringComparison.Ordinal);

        using MongoConnection waiting = Open(server, Trusting);
        var thread = new Thread(() => Assert.ThrowsAny<ConnectionFailedException>(() => waiting.Receive().ToArray()));
        thread.Start();
        waiting.Abort();
        Assert.True(thread.Join(TimeSpan.FromSeconds(30)));
    }

    /// <summary>Neither does the runtime's TLS.</summary>
    [Fact]
    public void An_operation_over_tls_allocates_nothing()
    {
        const int Operations = 2_000;
        using var server = new TlsServer(_certificates.ForLoopback(), BsonDocument.Of(("ok", 1.0), ("text", new string('x', 10_000))));
        using MongoConnection connection = Open(server, Trusting);
        byte[] message = new OpMsgWriter().WriteCommand("d", BsonDocument.Of(("find", "c"), ("text", new string('y', 3000))), 1).ToArray();
        long least = -1;
        var worker = new Thread(() =>
        {
            Repeat(connection, message, 200);
            least = Allocation.LeastBytes(() => Repeat(connection, message, Operations));
        });
        worker.Start();
        worker.Join();
        Assert.Equal(0, least);
    }

    public void Dispose() => _certificates.Dispose();

    /// <summary>As mongod does: what is no message makes it hang up.</summary>
    private static void AnswerMessagesAlone(Socket socket)
    {
        byte[] header = new byte[MessageHeader.Size];
        while (ScriptedListener.ReadFully(socket, header) && MessageHeader.Read(header) is { OpCode: OpCode.Msg } message)
        {
            ScriptedListener.ReadFully(socket, new byte[message.Length - header.Length]);
            socket.Send(LyingServer.Message(LyingServer.Hello(17), message.RequestId));
        }

        socket.Shutdown(SocketShutdown.Both);
    }

    private static void Repeat(MongoConnection connection, byte[] message, int times)
    {
        for (int i = 0; i < times; i++)
            _ = connection.RoundTrip(message);
    }

    private string Trusting => $"tls=true&tlsCAFile={_certificates.AuthorityFile}";

    /// <summary>With a minute to connect: while the machine does other things, ten seconds were once too few.</summary>
    private static ConnectionSettings Settings(string options) =>
        ConnectionSettings.From(ConnectionString.Parse("mongodb://h/?connectTimeoutMS=60000&" + options));

    private static MongoConnection Open(TlsServer server, string options) => MongoConnection.Open(server.Address, Settings(options));

    private static string Refusal(TlsServer server, string options) =>
        Assert.Throws<TlsFailedException>(() => Open(server, options)).Message;
}

using System.Net;
using System.Net.Sockets;
using System.Text;
using MongoPerf.Commands.Live;
using MongoPerf.Reports.Html;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Running.Live;

/// <summary>The live page's server over a loopback socket.</summary>
public sealed class LiveServerTests : IDisposable
{
    private const string Key = "0123456789abcdef";

    private readonly TemporaryFolder _runs = new();
    private readonly LiveServer _server;

    public LiveServerTests()
    {
        _server = new LiveServer(FrozenRun.Build(_runs.Path, new FrozenShape { Steps = 2, TargetDocumentCount = 200_000 }), 0, Key,
            new LivePage("<p>page</p>", "default-src 'none'"));
        _ = _server.Start();
    }

    public void Dispose()
    {
        _server.Dispose();
        _runs.Dispose();
    }

    [Fact]
    public async Task Page_comes_whole_with_what_a_browser_may_do_with_it()
    {
        string answer = await Ask($"GET /{Key}/ HTTP/1.1\r\nHost: 127.0.0.1:{_server.Port}\r\n\r\n");

        Assert.StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 11\r\n",
            answer, StringComparison.Ordinal);
        Assert.EndsWith("\r\n\r\n<p>page</p>", answer, StringComparison.Ordinal);
        foreach (string field in new[]
        {
            "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "Cache-Control: no-store",
            "Cross-Origin-Resource-Policy: same-origin",
        })
            Assert.Contains("\r\n" + field, answer, StringComparison.Ordinal);
        Assert.Equal($"http://127.0.0.1:{_server.Port}/{Key}/", _server.Url);
    }

    [Fact]
    public async Task Everybody_who_comes_gets_the_history_from_its_beginning()
    {
        for (int reader = 0; reader < 2; reader++)
        {
            using TcpClient client = await Connect($"GET /{Key}/events HTTP/1.1\r\nHost: 127.0.0.1:{_server.Port}\r\n\r\n");
            using var lines = new StreamReader(client.GetStream());
            string plot = await Next(lines, "event: plot");
            Assert.StartsWith("data: {\"title\":\"2026-11-21-a\",\"seconds\":", plot, StringComparison.Ordinal);
            Assert.Contains("\"state\":\"finished\"", await Next(lines, "event: status"), StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n")]
    [InlineData("DELETE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\n")]
    [InlineData("nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n")]
    public async Task What_is_not_the_page_is_refused_with_a_status(string request, string expected) =>
        Assert.StartsWith(expected, await Ask(request), StringComparison.Ordinal);

    [Fact]
    public async Task Head_of_a_request_has_a_bound() =>
        Assert.StartsWith(
            "HTTP/1.1 431 ", await Ask($"GET / HTTP/1.1\r\nX: {new string('x', LiveRequest.MostBytes - 19)}"), StringComparison.Ordinal);

    [Fact]
    public async Task More_readers_than_allowed_are_told_so_and_one_who_leaves_makes_room_at_once()
    {
        var held = new List<TcpClient>();
        for (int i = 0; i < LiveServer.MostReaders; i++)
            held.Add(await Connect(Events, awaitsAnswer: true));

        Assert.StartsWith("HTTP/1.1 503 ", await Ask(Events), StringComparison.Ordinal);
        // The page itself is served all the same.
        Assert.StartsWith(
            "HTTP/1.1 200 ", await Ask($"GET /{Key}/ HTTP/1.1\r\nHost: 127.0.0.1:{_server.Port}\r\n\r\n"), StringComparison.Ordinal);
        held[3].Dispose();
        using TcpClient next = await ConnectWhenThereIsRoom();
        _server.Stop();
        foreach (TcpClient client in held)
            client.Dispose();
    }

    [Fact]
    public async Task Sockets_that_say_nothing_lock_nobody_out()
    {
        var silent = new List<TcpClient>();
        for (int i = 0; i < 2 * LiveServer.MostUnknown; i++)
            silent.Add(await Connect("GET"));

        Assert.StartsWith(
            "HTTP/1.1 200 ", await Ask($"GET /{Key}/ HTTP/1.1\r\nHost: 127.0.0.1:{_server.Port}\r\n\r\n"), StringComparison.Ordinal);
        foreach (TcpClient client in silent)
            client.Dispose();
    }

    [Fact]
    public void Port_in_use_is_an_error_before_anything_is_served() =>
        Assert.Equal(SocketError.AddressAlreadyInUse,
            Assert.Throws<SocketException>(() => new LiveServer(_runs.Path, _server.Port, Key, new LivePage("", ""))).SocketErrorCode);

    private string Events => $"GET /{Key}/events HTTP/1.1\r\nHost: 127.0.0.1:{_server.Port}\r\n\r\n";

    /// <summary>The server learns of a closed connection from the system: sooner than any heartbeat.</summary>
    private async Task<TcpClient> ConnectWhenThereIsRoom()
    {
        byte[] status = new byte[12];
        TcpClient? client = null;
        await Eventually.IsAsync(async () =>
        {
            client?.Dispose();
            client = await Connect(Events);
            await client.GetStream().ReadExactlyAsync(status);
            return Encoding.ASCII.GetString(status) == "HTTP/1.1 200";
        });
        return client!;
    }

    private async Task<string> Ask(string request)
    {
        try
        {
            using TcpClient client = await Connect(request);
            using var reader = new StreamReader(client.GetStream());
            return await reader.ReadToEndAsync();
        }
        catch (IOException)
        {
            // Closed with something unread.
            return "";
        }
    }

    private async Task<TcpClient> Connect(string request, bool awaitsAnswer = false)
    {
        var client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, _server.Port);
        await client.GetStream().WriteAsync(Encoding.ASCII.GetBytes(request));
        if (awaitsAnswer)
            Assert.Equal(1, await client.GetStream().ReadAsync(new byte[1]));
        return client;
    }

    private static async Task<string> Next(StreamReader lines, string name)
    {
        while (await lines.ReadLineAsync() is { } line)
        {
            if (line == name)
                return await lines.ReadLineAsync() ?? "";
        }

        return "";
    }
}

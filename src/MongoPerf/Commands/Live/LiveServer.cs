using System.Net;
using System.Net.Sockets;
using System.Text;
using MongoPerf.Reports.Explore;
using MongoPerf.Reports.Html;
using MongoPerf.Storage;

namespace MongoPerf.Commands.Live;

/// <summary>
/// Serves the page of a run that is under way, what happens in it as server-sent events, and its metrics, on 127.0.0.1 and to nobody
/// without the key.
/// </summary>
/// <remarks>
/// Looks at the run only while somebody reads. Each connection is one request; its cost is bounded in time, bytes and number.
/// </remarks>
internal sealed class LiveServer : IDisposable
{
    /// <summary>Who are told what happens, at the same time.</summary>
    public const int MostReaders = 16;

    /// <summary>
    /// Connections of which nothing is known yet. Anybody on this machine can make them, so of more the oldest is closed:
    /// it locks nobody out.
    /// </summary>
    public const int MostUnknown = 64;

    private static readonly TimeSpan RequestLimit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan WriteLimit = TimeSpan.FromSeconds(20);

    /// <summary>How long the last words of a run may take.</summary>
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(2);

    /// <summary>So that no proxy between takes the connection for dead.</summary>
    private static readonly TimeSpan Heartbeat = TimeSpan.FromSeconds(15);

    private readonly TcpListener _listener;
    private readonly LivePlot _plot;
    private readonly string _key;
    private readonly byte[] _page;
    private readonly string _policy;
    private readonly LiveHistory _history = new();
    private readonly LiveMetrics _metrics;
    private readonly CancellationTokenSource _stop = new();
    private readonly SemaphoreSlim _reader = new(0);
    private readonly List<Socket> _unknown = [];
    private int _readers;

    /// <param name="folder">The folder of the run.</param>
    /// <param name="port">0 for a free one.</param>
    /// <param name="key">Part of the address.</param>
    /// <param name="page">The page from <see cref="LivePage"/>.</param>
    /// <exception cref="SocketException">The port is in use.</exception>
    public LiveServer(string folder, int port, string key, LivePage page)
    {
        _plot = new LivePlot(folder);
        _metrics = new LiveMetrics(folder);
        _key = key;
        _page = Encoding.UTF8.GetBytes(page.Html);
        _policy = page.Policy;
        _listener = new TcpListener(IPAddress.Loopback, port);
        _listener.Start(MostUnknown);
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    public string Url => $"http://127.0.0.1:{Port}/{_key}/";

    /// <summary>Somebody is told what happens.</summary>
    public bool HasReaders => Volatile.Read(ref _readers) > 0;

    /// <summary>Serves until it is stopped, on threads of the pool.</summary>
    /// <returns>Ends when all is over.</returns>
    public Task Start() => Task.WhenAll(Accept(), Watch());

    /// <summary>Tells those who read how the run ended, and ends.</summary>
    public void Stop()
    {
        if (HasReaders && Task.Run(LookOnce).Wait(EndLimit))
            Thread.Sleep(TimeSpan.FromMilliseconds(200));
        _stop.Cancel();
        _listener.Stop();
    }

    public void Dispose()
    {
        _stop.Cancel();
        _listener.Dispose();
        _stop.Dispose();
        _reader.Dispose();
    }

    private async Task Accept()
    {
        while (!_stop.IsCancellationRequested)
        {
            Socket socket;
            try
            {
                socket = await _listener.AcceptSocketAsync(_stop.Token).ConfigureAwait(false);
            }
            catch (Exception e) when (e is OperationCanceledException or SocketException or ObjectDisposedException)
            {
                if (!_stop.IsCancellationRequested)
                    await Task.Delay(100).ConfigureAwait(false);
                continue;
            }

            lock (_unknown)
            {
                _unknown.Add(socket);
                if (_unknown.Count > MostUnknown)
                {
                    _unknown[0].Dispose();
                    _unknown.RemoveAt(0);
                }
            }

            _ = Task.Run(() => Serve(socket));
        }
    }

    private void Forget(Socket socket)
    {
        lock (_unknown)
            _unknown.Remove(socket);
    }

    private async Task Serve(Socket socket)
    {
        try
        {
            using var stream = new NetworkStream(socket, ownsSocket: true);
            string? head = await ReadHead(stream).ConfigureAwait(false);
            if (head is null)
            {
                await Answer(stream, "431 Request Header Fields Too Large", "").ConfigureAwait(false);
                return;
            }

            var request = LiveRequest.Read(head, Port, _key);
            // Readers of the stream stay, and have a bound of their own.
            if (request.Answer == LiveAnswer.Events)
                Forget(socket);
            await Serve(stream, request).ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or SocketException or ObjectDisposedException)
        {
            // It went away, was too slow, or all is over.
        }
        finally
        {
            Forget(socket);
        }
    }

    private Task Serve(NetworkStream stream, LiveRequest request) => request.Answer switch
    {
        LiveAnswer.Page => Write(stream,
            [
                .. Head("200 OK", $"Content-Type: text/html; charset=utf-8\r\nContent-Length: {_page.Length}\r\n"),
                .. request.IsHead ? [] : _page,
            ]),
        LiveAnswer.Metrics => SendMetrics(stream, request.IsHead),
        LiveAnswer.Events when request.IsHead => Write(stream, Head("200 OK", "Content-Type: text/event-stream\r\n")),
        LiveAnswer.Events => SendEvents(stream),
        LiveAnswer.WrongMethod => Answer(stream, "405 Method Not Allowed", "Allow: GET, HEAD\r\n"),
        LiveAnswer.Forbidden => Answer(stream, "403 Forbidden", ""),
        LiveAnswer.NotFound => Answer(stream, "404 Not Found", ""),
        _ => Answer(stream, "400 Bad Request", ""),
    };

    private async Task SendMetrics(NetworkStream stream, bool isHead)
    {
        if (await Task.Run(_metrics.Read, _stop.Token).ConfigureAwait(false) is not { } text)
        {
            await Answer(stream, "503 Service Unavailable", "").ConfigureAwait(false);
            return;
        }

        byte[] body = Encoding.UTF8.GetBytes(text);
        byte[] head = Head("200 OK", $"Content-Type: {LiveMetrics.ContentType}\r\nContent-Length: {body.Length}\r\n");
        await Write(stream, [.. head, .. isHead ? [] : body]).ConfigureAwait(false);
    }

    private Task Answer(NetworkStream stream, string status, string fields) =>
        Write(stream, Head(status, fields + "Content-Length: 0\r\n"));

    /// <summary>
    /// The page may load nothing, run nothing but its own scripts and speak to nobody but this server, and may not be put into another.
    /// </summary>
    private byte[] Head(string status, string fields) => Encoding.ASCII.GetBytes(
        $"HTTP/1.1 {status}\r\n{fields}Content-Security-Policy: {_policy}; frame-ancestors 'none'; form-action 'none'; base-uri 'none'\r\n"
        + "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n"
        + "Cache-Control: no-store\r\nConnection: close\r\n\r\n");

    /// <returns>Null when it is too long.</returns>
    private async Task<string?> ReadHead(NetworkStream stream)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token);
        limit.CancelAfter(RequestLimit);
        byte[] bytes = new byte[LiveRequest.MostBytes];
        int length = 0;
        while (length < bytes.Length)
        {
            int read = await stream.ReadAsync(bytes.AsMemory(length), limit.Token).ConfigureAwait(false);
            if (read == 0)
                throw new IOException("the request ended before its head did");
            length += read;
            int end = bytes.AsSpan(0, length).IndexOf("\r\n\r\n"u8);
            if (end >= 0)
                return Encoding.Latin1.GetString(bytes, 0, end);
        }

        return null;
    }

    private async Task SendEvents(NetworkStream stream)
    {
        if (Interlocked.Increment(ref _readers) > MostReaders)
        {
            Interlocked.Decrement(ref _readers);
            await Answer(stream, "503 Service Unavailable", "").ConfigureAwait(false);
            return;
        }

        try
        {
            await Write(stream, Head("200 OK", "Content-Type: text/event-stream\r\n")).ConfigureAwait(false);
            _reader.Release();
            Task gone = AwaitEnd(stream);
            for (long next = 0; ;)
            {
                (IReadOnlyList<LiveMessage> messages, next, Task changed) = _history.ReadFrom(next);
                foreach (LiveMessage message in messages)
                    await Write(stream, Encoding.UTF8.GetBytes($"event: {message.Name}\ndata: {message.Json}\n\n")).ConfigureAwait(false);
                Task woken = await Task.WhenAny(changed, gone, Task.Delay(Heartbeat, _stop.Token)).ConfigureAwait(false);
                if (woken == gone)
                    return;
                if (woken != changed)
                    await Write(stream, ":\n\n"u8.ToArray()).ConfigureAwait(false);
            }
        }
        finally
        {
            Interlocked.Decrement(ref _readers);
        }
    }

    /// <summary>Ends when the client closes its side: it has nothing more to say.</summary>
    private async Task AwaitEnd(NetworkStream stream)
    {
        byte[] bytes = new byte[256];
        try
        {
            while (await stream.ReadAsync(bytes, _stop.Token).ConfigureAwait(false) > 0)
            {
                // Whatever it still sends, it is not asked.
            }
        }
        catch (Exception e) when (e is IOException or OperationCanceledException or ObjectDisposedException)
        {
            // It broke off.
        }
    }

    private async Task Write(NetworkStream stream, byte[] bytes)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token);
        limit.CancelAfter(WriteLimit);
        await stream.WriteAsync(bytes, limit.Token).ConfigureAwait(false);
    }

    private async Task Watch()
    {
        try
        {
            while (!_stop.IsCancellationRequested)
            {
                if (!HasReaders)
                    await _reader.WaitAsync(_stop.Token).ConfigureAwait(false);
                TimeSpan rest = await Task.Run(LookOnce, _stop.Token).ConfigureAwait(false);
                await Task.Delay(rest, _stop.Token).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException)
        {
            // All is over.
        }
    }

    /// <returns>How long to wait before the next.</returns>
    private TimeSpan LookOnce()
    {
        lock (_plot)
        {
            try
            {
                _history.Add(_plot.Look());
            }
            catch (RunStoreException e)
            {
                // It may be deleted, or its disk away for a moment: who reads is told, and the next look may find it.
                _history.Add([LivePlot.Problem(e.Message)]);
            }

            return _plot.Rest;
        }
    }
}

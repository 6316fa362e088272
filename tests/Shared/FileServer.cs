using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;

namespace MongoPerf.Testing;

/// <summary>Serves files by HTTP on loopback, and misbehaves where it is told to.</summary>
public sealed partial class FileServer : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly ConcurrentDictionary<string, byte[]> _files = new();
    private readonly ConcurrentDictionary<string, ConcurrentQueue<int>> _cuts = new();
    private readonly ConcurrentQueue<string> _requests = new();

    public FileServer()
    {
        _listener.Start();
        new Thread(Accept) { IsBackground = true }.Start();
    }

    public string Url => $"http://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    /// <summary>False sends the whole file whatever range was asked for.</summary>
    public bool KnowsRanges { get; set; } = true;

    /// <summary>Answers that many requests with 503 first.</summary>
    public int Unavailable { get; set; }

    /// <summary>As they came: "GET /linux/a.tgz" or "GET /linux/a.tgz bytes=1000-".</summary>
    public IReadOnlyList<string> Requests => [.. _requests];

    public void Add(string path, byte[] content) => _files[path] = content;

    public void Add(string path, string content) => Add(path, Encoding.UTF8.GetBytes(content));

    /// <summary>The next answer with this file breaks off after that many bytes; call again for the one after it.</summary>
    public void Cut(string path, int bytes) => _cuts.GetOrAdd(path, _ => new()).Enqueue(bytes);

    public void Dispose() => _listener.Dispose();

    private void Accept()
    {
        try
        {
            while (true)
            {
                TcpClient client = _listener.AcceptTcpClient();
                new Thread(() => Serve(client)) { IsBackground = true }.Start();
            }
        }
        catch (Exception e) when (e is SocketException or InvalidOperationException)
        {
            // Disposed of.
        }
    }

    private void Serve(TcpClient client)
    {
        using (client)
        {
            try
            {
                NetworkStream stream = client.GetStream();
                using var reader = new StreamReader(stream, Encoding.ASCII, leaveOpen: true);
                string[] request = (reader.ReadLine() ?? "").Split(' ');
                string headers = "";
                while (reader.ReadLine() is { Length: > 0 } line)
                    headers += line + "\n";
                if (request.Length == 3)
                    Answer(stream, request[0], request[1], Range().Match(headers));
            }
            catch (IOException)
            {
                // The client went away.
            }
        }
    }

    private void Answer(NetworkStream stream, string method, string path, Match range)
    {
        _requests.Enqueue($"{method} {path}{(range.Success ? " " + range.Groups[1].Value : "")}");
        if (Unavailable > 0)
        {
            Unavailable--;
            Send(stream, "503 Service Unavailable", "", []);
        }
        else if (!_files.TryGetValue(path, out byte[]? content))
        {
            Send(stream, "404 Not Found", "", []);
        }
        else
        {
            int from = range.Success && KnowsRanges ? int.Parse(range.Groups[2].Value, CultureInfo.InvariantCulture) : 0;
            SendFile(stream, method, path, content, from);
        }
    }

    private void SendFile(NetworkStream stream, string method, string path, byte[] content, int from)
    {
        if (from > 0 && from >= content.Length)
        {
            Send(stream, "416 Range Not Satisfiable", $"Content-Range: bytes */{content.Length}\r\n", []);
            return;
        }

        byte[] part = content[from..];
        string status = from > 0 ? "206 Partial Content" : "200 OK";
        string headers = from > 0 ? $"Content-Range: bytes {from}-{content.Length - 1}/{content.Length}\r\n" : "";
        int? cut =
            method == "GET" && _cuts.TryGetValue(path, out ConcurrentQueue<int>? cuts) && cuts.TryDequeue(out int bytes) ? bytes : null;
        Send(stream, status, headers, part, method == "HEAD" ? 0 : cut);
    }

    /// <param name="stream">To the client.</param>
    /// <param name="status">Number and words.</param>
    /// <param name="headers">Whole lines.</param>
    /// <param name="body">Its length is promised.</param>
    /// <param name="most">What of it is sent; null for all.</param>
    private static void Send(NetworkStream stream, string status, string headers, byte[] body, int? most = null)
    {
        stream.Write(Encoding.ASCII.GetBytes($"HTTP/1.1 {status}\r\nContent-Length: {body.Length}\r\nConnection: close\r\n{headers}\r\n"));
        stream.Write(body, 0, Math.Min(most ?? body.Length, body.Length));
    }

    [GeneratedRegex(@"^Range: (bytes=(\d+)-)", RegexOptions.Multiline | RegexOptions.IgnoreCase)]
    private static partial Regex Range();
}

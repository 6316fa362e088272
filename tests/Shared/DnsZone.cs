using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Text;
using MongoPerf.Wire.Names;

namespace MongoPerf.Testing;

/// <summary>SRV and TXT records of a test: given directly, or as a DNS server on loopback answers.</summary>
internal sealed class DnsZone : INameResolver
{
    public Dictionary<string, List<ServiceRecord>> Services { get; } = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Each record's strings.</summary>
    public Dictionary<string, List<string[]>> Texts { get; } = new(StringComparer.OrdinalIgnoreCase);

    public DnsZone Service(string name, string host, int port, string service = "mongodb")
    {
        string key = $"_{service}._tcp.{name}";
        if (!Services.TryGetValue(key, out List<ServiceRecord>? records))
            Services[key] = records = [];
        records.Add(new ServiceRecord(host, port));
        return this;
    }

    public DnsZone Text(string name, params string[] strings)
    {
        if (!Texts.TryGetValue(name, out List<string[]>? records))
            Texts[name] = records = [];
        records.Add(strings);
        return this;
    }

    public IReadOnlyList<ServiceRecord> FindServices(string name) => Services.GetValueOrDefault(name) ?? [];

    public IReadOnlyList<string> FindTexts(string name) =>
        [.. (Texts.GetValueOrDefault(name) ?? []).Select(strings => string.Concat(strings))];

    /// <summary>The answer to a query, as bytes.</summary>
    /// <param name="query">Header and one question.</param>
    public byte[] Answer(ReadOnlySpan<byte> query)
    {
        int at = 12;
        var labels = new List<string>();
        for (int length; (length = query[at]) > 0; at += length + 1)
            labels.Add(Encoding.ASCII.GetString(query.Slice(at + 1, length)));
        string name = string.Join('.', labels);
        int type = BinaryPrimitives.ReadUInt16BigEndian(query[(at + 1)..]);
        byte[][] data = type switch
        {
            33 => [.. (Services.GetValueOrDefault(name) ?? [])
                .Select(record => (byte[])[0, 1, 0, 1, (byte)(record.Port >> 8), (byte)record.Port, .. Name(record.Host)])],
            16 => [.. (Texts.GetValueOrDefault(name) ?? [])
                .Select(strings => strings.SelectMany(text => (byte[])[(byte)text.Length, .. Encoding.UTF8.GetBytes(text)]).ToArray())],
            _ => [],
        };
        bool exists = data.Length > 0 || Services.ContainsKey(name) || Texts.ContainsKey(name);
        var answer = new List<byte>();
        // A response, authoritative, recursion wanted and available; 3 is "no such name".
        answer.AddRange([query[0], query[1], 0x85, (byte)(exists ? 0x80 : 0x83), 0, 1, 0, (byte)data.Length, 0, 0, 0, 0]);
        answer.AddRange(query[12..(at + 5)].ToArray());
        foreach (byte[] one in data)
        {
            // The name is a pointer to the question's.
            answer.AddRange([0xC0, 12, 0, (byte)type, 0, 1, 0, 0, 0, 60, (byte)(one.Length >> 8), (byte)one.Length]);
            answer.AddRange(one);
        }

        return [.. answer];
    }

    private static byte[] Name(string host) =>
        [.. host.Split('.').SelectMany(label => (byte[])[(byte)label.Length, .. Encoding.ASCII.GetBytes(label)]), 0];
}

/// <summary>Answers UDP queries on loopback from a zone, or not at all.</summary>
internal sealed class DnsServer : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
    private int _queries;

    /// <param name="answer">Null for no answer.</param>
    /// <param name="address">Where it listens; null for a free port.</param>
    /// <exception cref="SocketException">It can't listen there.</exception>
    public DnsServer(Func<byte[], byte[]?> answer, IPEndPoint? address = null)
    {
        _socket.Bind(address ?? new IPEndPoint(IPAddress.Loopback, 0));
        new Thread(() => Serve(answer)) { IsBackground = true, Name = "DNS server" }.Start();
    }

    public IPEndPoint Address => (IPEndPoint)_socket.LocalEndPoint!;

    public int Queries => Volatile.Read(ref _queries);

    public void Dispose() => _socket.Dispose();

    private void Serve(Func<byte[], byte[]?> answer)
    {
        byte[] buffer = new byte[4096];
        try
        {
            while (true)
            {
                EndPoint from = new IPEndPoint(IPAddress.Any, 0);
                int length = _socket.ReceiveFrom(buffer, ref from);
                Interlocked.Increment(ref _queries);
                if (answer(buffer[..length]) is { } bytes)
                    _socket.SendTo(bytes, from);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The test is over.
        }
    }
}

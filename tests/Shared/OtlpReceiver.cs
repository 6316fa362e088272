using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace MongoPerf.Testing;

/// <summary>A metric as a receiver sees it.</summary>
/// <param name="Name">OpenTelemetry's.</param>
/// <param name="Unit">As it was sent.</param>
/// <param name="Kind">sum, gauge or exponential histogram.</param>
/// <param name="Attributes">As key=value, with commas.</param>
/// <param name="Value">Of a histogram its count.</param>
/// <param name="Sum">Of a histogram the sum of its values.</param>
public sealed record ReceivedMetric(string Name, string Unit, string Kind, string Attributes, double Value, double Sum);

/// <summary>An OpenTelemetry receiver on loopback that reads as much of OTLP (protobuf over HTTP) as metrics take.</summary>
public sealed class OtlpReceiver : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly ConcurrentQueue<IReadOnlyList<ReceivedMetric>> _exports = new();
    private readonly ConcurrentQueue<string> _heads = new();
    private readonly SemaphoreSlim _exported = new(0);

    public OtlpReceiver()
    {
        _listener.Start();
        new Thread(Accept) { IsBackground = true }.Start();
    }

    public string Url => $"http://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    /// <summary>What it answers.</summary>
    public string Status { get; set; } = "200 OK";

    /// <summary>It takes requests and answers none.</summary>
    public bool IsSilent { get; set; }

    /// <summary>Each request's first line and headers.</summary>
    public IReadOnlyList<string> Heads => [.. _heads];

    /// <summary>What each request brought.</summary>
    public IReadOnlyList<IReadOnlyList<ReceivedMetric>> Exports => [.. _exports];

    /// <summary>The attributes of the last resource, as key=value.</summary>
    public IReadOnlyList<string> Resource { get; private set; } = [];

    /// <summary>The last value of each metric.</summary>
    public IReadOnlyList<ReceivedMetric> Latest =>
        [.. _exports.SelectMany(export => export).GroupBy(one => (one.Name, one.Attributes)).Select(same => same.Last())];

    /// <summary>Returns once one more request than at the call before has been taken.</summary>
    /// <exception cref="TimeoutException">None came in a minute.</exception>
    public void AwaitExport()
    {
        if (!_exported.Wait(TimeSpan.FromMinutes(1)))
            throw new TimeoutException("the receiver was sent nothing");
    }

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
                using NetworkStream stream = client.GetStream();
                string head = "";
                while (!head.EndsWith("\r\n\r\n", StringComparison.Ordinal) && stream.ReadByte() is >= 0 and var read)
                    head += (char)read;
                _heads.Enqueue(head);
                if (IsSilent)
                {
                    // Until the client has had enough.
                    while (stream.ReadByte() >= 0)
                    {
                    }

                    return;
                }

                string length = head.Split("\r\n").First(line => line.StartsWith("Content-Length:", StringComparison.OrdinalIgnoreCase));
                byte[] body = new byte[int.Parse(length.Split(':')[1], CultureInfo.InvariantCulture)];
                stream.ReadExactly(body);
                if (Status.StartsWith('2'))
                {
                    _exports.Enqueue([.. ReadRequest(body)]);
                    _exported.Release();
                }

                stream.Write(Encoding.ASCII.GetBytes($"HTTP/1.1 {Status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
            }
            catch (IOException)
            {
                // The client went away.
            }
        }
    }

    // The numbers of fields are those of opentelemetry/proto/metrics/v1/metrics.proto.
    private IEnumerable<ReceivedMetric> ReadRequest(byte[] body)
    {
        foreach (Field resourceMetrics in Fields(body).Where(field => field.Number == 1))
        {
            Resource = [.. Fields(resourceMetrics.Bytes).Where(field => field.Number == 1)
                .SelectMany(resource => Fields(resource.Bytes).Where(field => field.Number == 1)).Select(AttributeOf)];
            foreach (Field scopeMetrics in Fields(resourceMetrics.Bytes).Where(field => field.Number == 2))
            {
                foreach (ReceivedMetric metric in Fields(scopeMetrics.Bytes).Where(field => field.Number == 2).SelectMany(MetricsOf))
                    yield return metric;
            }
        }
    }

    private static IEnumerable<ReceivedMetric> MetricsOf(Field metric)
    {
        Field[] fields = [.. Fields(metric.Bytes)];
        string name = TextOf(fields.First(field => field.Number == 1));
        string unit = fields.Where(field => field.Number == 3).Select(TextOf).FirstOrDefault("");
        foreach (Field data in fields.Where(field => field.Number is 5 or 7 or 10))
        {
            string kind = data.Number switch { 5 => "gauge", 7 => "sum", _ => "exponential histogram" };
            foreach (Field[] point in Fields(data.Bytes).Where(field => field.Number == 1).Select(point => Fields(point.Bytes).ToArray()))
            {
                bool isHistogram = data.Number == 10;
                string attributes =
                    string.Join(',', point.Where(field => field.Number == (isHistogram ? 1 : 7)).Select(AttributeOf).Order());
                yield return isHistogram
                    ? new ReceivedMetric(name, unit, kind, attributes, point.Single(field => field.Number == 4).Bits,
                        BitConverter.UInt64BitsToDouble(point.Single(field => field.Number == 5).Bits))
                    : new ReceivedMetric(name, unit, kind, attributes, point.Select(ValueOf).OfType<double>().Single(), 0);
            }
        }
    }

    private static double? ValueOf(Field field) => field.Number switch
    {
        4 => BitConverter.UInt64BitsToDouble(field.Bits),
        6 => (long)field.Bits,
        _ => null,
    };

    private static string AttributeOf(Field keyValue)
    {
        Field[] fields = [.. Fields(keyValue.Bytes)];
        Field value = Fields(fields.First(field => field.Number == 2).Bytes).First();
        string text = value.Number switch
        {
            1 => TextOf(value),
            4 => BitConverter.UInt64BitsToDouble(value.Bits).ToString(CultureInfo.InvariantCulture),
            _ => ((long)value.Bits).ToString(CultureInfo.InvariantCulture),
        };
        return $"{TextOf(fields.First(field => field.Number == 1))}={text}";
    }

    private static string TextOf(Field field) => Encoding.UTF8.GetString(field.Bytes);

    /// <summary>A field of a protobuf message.</summary>
    /// <param name="Number">In its message.</param>
    /// <param name="Bits">Of a number.</param>
    /// <param name="Bytes">Of anything else.</param>
    private readonly record struct Field(int Number, ulong Bits, byte[] Bytes);

    private static IEnumerable<Field> Fields(byte[] message)
    {
        for (int at = 0; at < message.Length;)
        {
            ulong tag = Varint(message, ref at);
            int number = (int)(tag >> 3);
            switch (tag & 7)
            {
                case 0:
                    yield return new Field(number, Varint(message, ref at), []);
                    break;
                case 1:
                    yield return new Field(number, BinaryPrimitives.ReadUInt64LittleEndian(message.AsSpan(at)), []);
                    at += 8;
                    break;
                case 2:
                    int length = (int)Varint(message, ref at);
                    yield return new Field(number, 0, message[at..(at + length)]);
                    at += length;
                    break;
                default:
                    yield return new Field(number, BinaryPrimitives.ReadUInt32LittleEndian(message.AsSpan(at)), []);
                    at += 4;
                    break;
            }
        }
    }

    private static ulong Varint(byte[] message, ref int at)
    {
        ulong value = 0;
        for (int shift = 0; ; shift += 7)
        {
            byte next = message[at++];
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
                return value;
        }
    }
}

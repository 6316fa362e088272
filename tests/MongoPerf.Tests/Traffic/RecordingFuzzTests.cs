using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Capturing;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Traffic;

/// <summary>
/// Damaged recordings and captures are read as far as they go or refused in one line. MONGOPERF_FUZZ says how many of each kind; a
/// mutation has its number as seed.
/// </summary>
public sealed class RecordingFuzzTests : IDisposable
{
    private static readonly string Files = Path.Combine(RepositoryPaths.Root, "tests", "MongoPerf.Tests", "Traffic", "Files");
    private static readonly int Count = int.TryParse(Environment.GetEnvironmentVariable("MONGOPERF_FUZZ"), out int asked) ? asked : 400;

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void What_servers_wrote() => Mutate(
        [
            .. Directory.GetFiles(Files).Order().Select(File.ReadAllBytes),
            new TrafficFile('C').Exchange(1, 1, ServerRecordingTests.Ping(), ServerRecordingTests.Ok()).Bytes,
        ], Replay);

    [Fact]
    public void What_we_wrote()
    {
        string path = _folder.At("original.rec");
        using (var recorder = new TrafficRecorder(path))
        {
            foreach (byte[] message in Exchanges())
                recorder.Add(1, MessageHeader.Read(message).ResponseTo == 0, message);
        }

        Mutate([File.ReadAllBytes(path)], (bytes, random) =>
        {
            // Past the checksums, too: whoever damages a file on purpose has right ones.
            for (int at = RecordingFile.Magic.Length; at + 8 <= bytes.Length && random.Next(20) > 0;)
            {
                int length = BitConverter.ToInt32(bytes, at);
                if (length < 0 || length > bytes.Length - at - 8)
                    break;
                BitConverter.TryWriteBytes(bytes.AsSpan(at + 4), RecordingFile.Checksum(bytes.AsSpan(at + 8, length)));
                at += 8 + length;
            }

            return Replay(bytes, random);
        });
    }

    [Fact]
    public void Captured_packets() => Mutate(
        [
            .. Enum.GetValues<CaptureBuilder.Format>().Select(kind =>
            {
                var capture = new CaptureBuilder { Kind = kind, Link = kind == CaptureBuilder.Format.Pcap ? 1 : 113, IsIpv6 = kind > 0 };
                capture.Open();
                foreach (byte[] message in Exchanges())
                    capture.Send(MessageHeader.Read(message).ResponseTo == 0, message, segment: 120);
                return capture.Close().Bytes;
            }),
        ], (bytes, random) =>
        {
            string recording = _folder.At("made.rec");
            File.Delete(recording);
            ConvertedCapture made = CaptureConverter.Convert(Write(bytes), recording, redacts: random.Next(2) == 0);
            // What was made of it is whole, whatever it was made of.
            using Recording whole = Recording.Open(recording);
            long requests = 0;
            while (whole.TryRead(out RecordedMessage message))
                requests += message.Reply is null ? 1 : 0;
            Assert.Equal((made.Requests, (long?)null), (requests, whole.TruncatedAt));
            return true;
        });

    private static IEnumerable<byte[]> Exchanges()
    {
        using var compression = new MessageCompression(Compressors.Create("zlib", zlibLevel: -1));
        for (int i = 1; i < 8; i++)
        {
            byte[] find = CaptureTests.Find(i);
            yield return i % 2 == 0 ? find : compression.Pack(find).ToArray();
            yield return CaptureTests.Found(i, i);
        }
    }

    private bool Replay(byte[] bytes, Random random)
    {
        using Recording recording = Recording.Open(Write(bytes));
        return ReplayScriptReader.Read(recording, new ReplaySettings()).Count > 0;
    }

    private string Write(byte[] bytes)
    {
        string path = _folder.At("fuzz.bin");
        File.WriteAllBytes(path, bytes);
        return path;
    }

    /// <param name="originals">What is damaged, one after the other.</param>
    /// <param name="read">Whether anything is left; it may refuse the file.</param>
    private void Mutate(byte[][] originals, Func<byte[], Random, bool> read)
    {
        int useful = 0;
        for (int seed = 0; seed < Count; seed++)
        {
            var random = new Random(seed);
            byte[] bytes = (byte[])originals[seed % originals.Length].Clone();
            for (int changes = random.Next(1, 12); changes > 0; changes--)
            {
                int at = random.Next(bytes.Length);
                bytes[at] = random.Next(4) == 0 ? (byte)random.Next(256) : (byte)(bytes[at] ^ (1 << random.Next(8)));
            }

            if (random.Next(3) == 0)
                bytes = bytes[..random.Next(bytes.Length)];
            try
            {
                useful += read(bytes, random) ? 1 : 0;
            }
            catch (MongoPerfException e) when (e.Fault == Fault.WrongUsage && !e.Message.Contains('\n', StringComparison.Ordinal))
            {
                // Refused in one line.
            }
            catch (Exception e)
            {
                Assert.Fail($"seed {seed}: {e}");
            }
        }

        Assert.InRange(useful, Count / 20, Count);
    }
}

using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Capturing;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Traffic;

/// <summary>Captured packets become the recording that a proxy would have made, whatever happened to them on their way.</summary>
public sealed class CaptureTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private int _files;

    public void Dispose() => _folder.Dispose();

    public static TheoryData<string, int, bool> Kinds()
    {
        var kinds = new TheoryData<string, int, bool>();
        foreach (CaptureBuilder.Format kind in Enum.GetValues<CaptureBuilder.Format>())
        {
            foreach (int link in (int[])[0, 1, 101, 113, 276])
            {
                kinds.Add(kind.ToString(), link, false);
                kinds.Add(kind.ToString(), link, true);
            }
        }

        return kinds;
    }

    [Theory, MemberData(nameof(Kinds))]
    public void Every_kind_of_file_link_and_address_says_the_same(string kind, int link, bool isIpv6)
    {
        var capture = new CaptureBuilder
        {
            Kind = Enum.Parse<CaptureBuilder.Format>(kind), Link = link, IsIpv6 = isIpv6, HasVlan = link == 1,
        };
        capture.Open().Send(true, Find(1));
        capture.Microseconds += 5000;
        capture.Send(false, Found(1, 100), segment: 99).Close();
        (ConvertedCapture made, string path) = Convert(capture);
        Assert.Equal((1, 1, 0, 0), (made.Requests, made.Connections, made.Gaps, made.Unreadable));
        RecordedRequest request = Assert.Single(Read(path).Requests);
        Assert.Equal((true, 100, 5010), (request.HasReply, request.Reply.Documents, request.ReplyMicroseconds));
    }

    [Fact]
    public void What_was_overtaken_sent_twice_or_in_other_pieces_is_put_in_its_place()
    {
        byte[] requests = [.. Enumerable.Range(1, 40).SelectMany(i => Find(i))];
        byte[] replies = [.. Enumerable.Range(1, 40).SelectMany(i => Found(i, i))];
        for (int seed = 0; seed < 20; seed++)
        {
            var random = new Random(seed);
            var capture = new CaptureBuilder();
            capture.Open();
            uint first = capture.Next(true);
            uint firstReply = capture.Next(false);
            Shuffle(random, capture, true, first, requests);
            Shuffle(random, capture, false, firstReply, replies);
            (ConvertedCapture made, string path) = Convert(capture);
            Assert.Equal((40, 0), (made.Requests, made.Gaps));
            Assert.Equal(Enumerable.Range(1, 40).Select(i => (long)i), Read(path).Requests.Select(request => request.Reply.Documents));
        }

        static void Shuffle(Random random, CaptureBuilder capture, bool isRequest, uint first, byte[] bytes)
        {
            var pieces = new List<(int At, int Length)>();
            for (int at = 0; at < bytes.Length;)
            {
                int length = Math.Min(bytes.Length - at, random.Next(1, 700));
                pieces.Add((at, length));
                // Sent again from an earlier place, too.
                if (random.Next(4) == 0)
                    pieces.Add((Math.Max(0, at - random.Next(500)), length));
                at += length;
            }

            for (int i = pieces.Count - 1; i > 0; i--)
            {
                int other = Math.Max(0, i - random.Next(6));
                (pieces[i], pieces[other]) = (pieces[other], pieces[i]);
            }

            foreach ((int at, int length) in pieces)
                capture.PacketAt(isRequest, 5000, CaptureBuilder.Ack, unchecked(first + (uint)at), bytes[at..(at + length)]);
        }
    }

    [Fact]
    public void A_gap_ends_what_was_recorded_of_its_connection_alone_and_the_next_message_begins_it_anew()
    {
        var capture = new CaptureBuilder();
        capture.Open().Open(5001).Send(true, Find(1)).Send(false, Found(1, 1));
        capture.Send(true, Find(2)[..50]).Lose(true, 40);
        capture.Microseconds += 100_000;
        capture.Send(true, Find(3)).Send(true, Find(9), port: 5001).Send(false, Found(9, 2), port: 5001);
        capture.Microseconds += 5_000_000;
        capture.Send(true, Find(4)).Send(false, Found(4, 4)).Close().Close(5001);
        (ConvertedCapture made, string path) = Convert(capture);
        Assert.Equal((1, "bytes from 0.0.0.1:5000 are missing"), (made.Gaps, made.FirstGap));
        Assert.Equal((4, 3), (made.Requests, made.Connections));
        Assert.Equal([0L, 1L, 2L, 4L], Read(path).Requests.Select(request => request.Reply.Documents).Order());
    }

    [Fact]
    public void Packets_that_were_cut_are_a_gap_with_its_remedy()
    {
        var capture = new CaptureBuilder { Snap = 100 };
        capture.Open().Send(true, Find(1));
        MongoPerfException none = Assert.Throws<MongoPerfException>(() => Convert(capture));
        Assert.Contains("no request of MongoDB is in it", none.Message, StringComparison.Ordinal);
        Assert.Contains("tcpdump -s 0", none.Message, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFiles(_folder.Path, "*.rec"));
    }

    [Fact]
    public void Without_its_beginning_a_connection_is_read_from_its_next_message_on()
    {
        var capture = new CaptureBuilder();
        capture.Send(false, Found(7, 3)[60..]).Send(true, Find(1)[20..]).Send(true, Find(2)).Send(false, Found(2, 5));
        (ConvertedCapture made, string path) = Convert(capture);
        Assert.Equal((1, 0), (made.Requests, made.Gaps));
        Assert.Equal(5, Assert.Single(Read(path).Requests).Reply.Documents);
    }

    [Fact]
    public void A_port_that_is_used_again_is_another_connection_and_what_is_not_the_protocol_is_counted()
    {
        var capture = new CaptureBuilder();
        capture.Open().Send(true, Find(1)).Send(false, Found(1, 1)).Packet(true, 5000, CaptureBuilder.Reset, []);
        capture.Lose(true, 100_000).Lose(false, 100_000);
        capture.Open().Send(true, Find(1)).Send(false, Found(1, 2));
        // Again, without an end before.
        capture.Lose(true, 100_000).Lose(false, 100_000).Open().Send(true, Find(1)).Send(false, Found(1, 3));
        capture.Open(6000).Send(true, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"u8.ToArray(), port: 6000);
        (ConvertedCapture made, string path) = Convert(capture);
        Assert.Equal((3, 4, 1, 0), (made.Requests, made.Connections, made.Unreadable, made.Gaps));
        Assert.Equal([1L, 2L, 3L], Read(path).Requests.Select(request => request.Reply.Documents));
    }

    [Fact]
    public void What_is_no_capture_or_damaged_is_told_in_one_line()
    {
        foreach (byte[] bytes in (byte[][])[[], [1, 2, 3], "not a capture at all, but a text"u8.ToArray(), [0x1F, 0x8B, 8, 0, 0, 0]])
            Assert.Contains("is not a capture of packets", Assert.Throws<MongoPerfException>(() => Convert(bytes)).Message,
                StringComparison.Ordinal);
        Assert.Contains("is a folder", Assert.Throws<MongoPerfException>(
            () => CaptureConverter.Convert(_folder.Path, _folder.At("x.rec"), redacts: false)).Message, StringComparison.Ordinal);
        var whole = new CaptureBuilder();
        whole.Open().Send(true, Find(1)).Send(true, Find(2));
        byte[] packets = whole.Bytes;
        Assert.True(Convert(packets[..^3]).Made.IsTruncated);
        int last = packets.Length - (14 + 20 + 20 + Find(2).Length) - 16;
        BitConverter.TryWriteBytes(packets.AsSpan(last + 8), uint.MaxValue);
        ConvertedCapture made = Convert(packets).Made;
        Assert.Equal((1, $"the packet at byte {last} declares 4,294,967,295 bytes; allowed: up to 16,777,216"),
            (made.Requests, made.EndedBy));
        var foreign = new CaptureBuilder { Link = 195 };
        foreign.Write(new byte[100]);
        Assert.Contains("packets of link type 195 can't be read",
            Assert.Throws<MongoPerfException>(() => Convert(foreign)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_recording_that_is_there_is_not_written_over_by_a_capture()
    {
        var capture = new CaptureBuilder();
        capture.Open().Send(true, Find(1));
        string path = Convert(capture).Path;
        byte[] before = File.ReadAllBytes(path);
        Assert.Contains("is there already", Assert.Throws<MongoPerfException>(
            () => CaptureConverter.Convert(Write(capture.Bytes), path, redacts: false)).Message, StringComparison.Ordinal);
        Assert.Equal(before, File.ReadAllBytes(path));
    }

    internal static byte[] Find(int number) => TrafficFile.MessageOf(number, 0, BsonDocument.Of(
        ("find", "orders"), ("filter", BsonDocument.Of(("sku", "s-1"))), ("$db", "shop")));

    internal static byte[] Found(int number, int documents) => TrafficFile.MessageOf(1000 + number, number, BsonDocument.Of(
        ("cursor", BsonDocument.Of(
            ("firstBatch", Enumerable.Range(0, documents).Select(i => (object)BsonDocument.Of(("_id", i))).ToArray()),
            ("id", 0L), ("ns", "shop.orders"))), ("ok", 1.0)));

    private (ConvertedCapture Made, string Path) Convert(CaptureBuilder capture) => Convert(capture.Bytes);

    private (ConvertedCapture Made, string Path) Convert(byte[] capture)
    {
        string path = _folder.At($"{_files++}.rec");
        return (CaptureConverter.Convert(Write(capture), path, redacts: false), path);
    }

    private string Write(byte[] capture)
    {
        string path = _folder.At("a.pcap");
        File.WriteAllBytes(path, capture);
        return path;
    }

    private static ReplayScript Read(string path)
    {
        using Recording recording = Recording.Open(path);
        return ReplayScriptReader.Read(recording, new ReplaySettings());
    }
}

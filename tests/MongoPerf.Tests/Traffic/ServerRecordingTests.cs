using System.IO.Pipes;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Traffic;

/// <summary>What servers recorded is read whole; what is damaged, cut off or no recording is told, and never believed.</summary>
public sealed class ServerRecordingTests : IDisposable
{
    private static readonly string Files = Path.Combine(RepositoryPaths.Root, "tests", "MongoPerf.Tests", "Traffic", "Files");

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    /// <summary>Both were written by servers; their messages are OP_MSG, OP_QUERY and OP_COMPRESSED.</summary>
    [Theory]
    [InlineData("6.0.5.bin", "recorded by a server of 4.2 to 7.1")]
    [InlineData("8.0-alpha.bin", "recorded by a server of 7.2 to 8.1")]
    public void A_server_s_own_file_is_read_to_its_last_byte(string file, string format)
    {
        using Recording recording = Recording.Open(Path.Combine(Files, file));
        Assert.Equal(format, recording.Format);
        int messages = 0;
        long end = 0;
        long last = 0;
        var commands = new HashSet<string>();
        while (recording.TryRead(out RecordedMessage message))
        {
            messages++;
            end = message.Place + message.Length;
            Assert.True(message.Microseconds >= last);
            last = message.Microseconds;
            byte[] again = new byte[message.Length];
            recording.ReadMessage(message.Place, again);
            Assert.Equal(message.Length, MessageHeader.Read(again).Length);
            if (MessageHeader.Read(message.Message).OpCode == OpCode.Msg)
                commands.Add(new BsonDocument(OpMsg.Parse(message.Message).Body.ToArray()).First().Key);
        }

        Assert.InRange(messages, 100, 130);
        Assert.Equal(recording.Length, end);
        Assert.Null(recording.TruncatedAt);
        Assert.Superset(new HashSet<string> { "find", "getMore", "aggregate", "insert", "update", "commitTransaction" }, commands);
    }

    [Theory]
    [InlineData('A', "4.2 to 7.1")]
    [InlineData('B', "7.2 to 8.1")]
    [InlineData('C', "8.2 or later")]
    public void Layouts_are_told_apart_and_say_the_same(char layout, string server)
    {
        var file = new TrafficFile(layout) { At = 5 };
        file.Exchange(7, 1, Ping(), Ok(), milliseconds: 12);
        if (layout == 'C')
            file.Message(7, 2, []).Message(7, 3, []);
        using Recording recording = Recording.Open(file.Write(_folder.At("a.bin")));
        Assert.Contains(server, recording.Format, StringComparison.Ordinal);
        Assert.True(recording.TryRead(out RecordedMessage request));
        (long connection, long at) = (request.Connection, request.Microseconds);
        Assert.True(recording.TryRead(out RecordedMessage reply));
        Assert.Equal((7, 7, 12_000), (connection, reply.Connection, reply.Microseconds - at));
        Assert.Equal(1, MessageHeader.Read(reply.Message).ResponseTo);
        Assert.False(recording.TryRead(out _));
    }

    [Fact]
    public void A_record_that_is_cut_off_is_left_out_and_told()
    {
        byte[] whole = new TrafficFile().Exchange(1, 1, Ping(), Ok()).Bytes;
        int first = BitConverter.ToInt32(whole);
        foreach (int length in (int[])[first + 1, first + 4, first + 30, whole.Length - 1])
        {
            using Recording recording = Recording.Open(Write(whole[..length]));
            Assert.True(recording.TryRead(out _));
            Assert.False(recording.TryRead(out _));
            Assert.Equal(first, recording.TruncatedAt);
        }
    }

    [Fact]
    public void What_is_no_recording_is_refused_in_one_line()
    {
        foreach (byte[] bytes in (byte[][])[[], [1, 2, 3], "not a recording of anything at all"u8.ToArray(), new byte[4096]])
        {
            MongoPerfException refused = Assert.Throws<MongoPerfException>(() => Recording.Open(Write(bytes)));
            Assert.Equal(Fault.WrongUsage, refused.Fault);
            Assert.Contains("is not a recording of traffic", refused.Message, StringComparison.Ordinal);
        }

        MongoPerfException folder = Assert.Throws<MongoPerfException>(() => Recording.Open(_folder.Path));
        Assert.Contains("is a folder", folder.Message, StringComparison.Ordinal);

        MongoPerfException missing = Assert.Throws<MongoPerfException>(() => Recording.Open(_folder.At("nothing.rec")));
        Assert.EndsWith("nothing.rec does not exist", missing.Message, StringComparison.Ordinal);
    }

    /// <summary>Such as a shell's &lt;(…).</summary>
    [Fact]
    public void A_pipe_is_refused_in_one_line()
    {
        using var pipe = new AnonymousPipeServerStream(PipeDirection.In);
        MongoPerfException refused = Assert.Throws<MongoPerfException>(
            () => Recording.Open($"/proc/self/fd/{pipe.SafePipeHandle.DangerousGetHandle()}"));
        Assert.Equal(Fault.WrongUsage, refused.Fault);
        Assert.EndsWith("can be read only once, as a pipe can; a recording is read in several places", refused.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_length_that_lies_in_the_middle_is_named_with_its_place()
    {
        byte[] whole = new TrafficFile().Exchange(1, 1, Ping(), Ok()).Bytes;
        int first = BitConverter.ToInt32(whole);
        BitConverter.TryWriteBytes(whole.AsSpan(first), int.MaxValue);
        using Recording recording = Recording.Open(Write(whole));
        Assert.True(recording.TryRead(out _));
        MongoPerfException damaged = Assert.Throws<MongoPerfException>(() => recording.TryRead(out _));
        Assert.Contains($"the record at byte {first} declares 2,147,483,647 bytes", damaged.Message, StringComparison.Ordinal);
    }

    internal static BsonDocument Ping() => BsonDocument.Of(("ping", 1), ("$db", "admin"));

    internal static BsonDocument Ok() => BsonDocument.Of(("ok", 1.0));

    private string Write(byte[] bytes)
    {
        string path = _folder.At("file.bin");
        File.WriteAllBytes(path, bytes);
        return path;
    }
}

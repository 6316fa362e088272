using MongoPerf.Traffic.Proxying;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Traffic.Capturing;

/// <summary>Makes a recording of a capture of packets. One thread.</summary>
public static class CaptureConverter
{
    /// <summary>Beyond this a recording's times are nobody's; a capture's may be.</summary>
    private const long LatestMicroseconds = long.MaxValue / 2000;

    /// <param name="capture">A file, or a pipe.</param>
    /// <param name="output">The recording, which must not be there; taken away again when it would have no request.</param>
    /// <param name="redacts">Values are replaced by pseudonyms.</param>
    /// <param name="stop">Ends it early, with what was read.</param>
    /// <exception cref="MongoPerfException">
    /// The capture can't be read, or has no request, or the recording can't be made (2), or written (6).
    /// </exception>
    public static ConvertedCapture Convert(string capture, string output, bool redacts, CancellationToken stop = default)
    {
        using CaptureFile packets = CaptureFile.Open(capture);
        var writer = new TrafficWriter(TrafficRecorder.CreateFile(output), redacts);
        string? endedBy;
        TcpStreams streams;
        try
        {
            // Closing it writes, too.
            using (writer)
                (streams, endedBy) = Convert(packets, writer, stop);
        }
        catch (Exception e) when (e is IOException or InsufficientMemoryException)
        {
            throw new MongoPerfException(Fault.Refused, $"{output}: {TrafficRecorder.Explain(e)}", "it holds what came before", e);
        }

        if (writer.Requests == 0)
        {
            File.Delete(output);
            throw new MongoPerfException(Fault.WrongUsage,
                $"{capture}: no request of MongoDB is in it" + string.Concat(((string?[])[endedBy, streams.FirstGap,
                    writer.Legacy > 0 ? $"left out in a protocol before OP_MSG: {writer.Legacy:N0}" : null])
                    .Where(why => why is not null).Select(why => $"; {why}")),
                "encrypted connections can't be read; capture with: tcpdump -s 0 -w FILE port 27017");
        }

        return new ConvertedCapture(writer.Requests, streams.Connections, writer.Bytes, writer.Unreadable, writer.Unredactable)
        {
            Legacy = writer.Legacy, Gaps = streams.Gaps, FirstGap = streams.FirstGap, EndedBy = endedBy, IsTruncated = packets.IsTruncated,
        };
    }

    private static (TcpStreams Streams, string? EndedBy) Convert(CaptureFile packets, TrafficWriter writer, CancellationToken stop)
    {
        var streams = new TcpStreams(writer.Add, writer.End);
        long? start = null;
        string? endedBy = null;
        while (endedBy is null && !stop.IsCancellationRequested && packets.TryRead(out CapturedPacket packet))
        {
            start ??= packet.Microseconds;
            if (!TcpSegment.IsKnownLink(packet.Link))
                endedBy = $"packets of link type {packet.Link} can't be read; Ethernet, Linux cooked, loopback and bare IP can";
            else if (TcpSegment.TryParse(packet.Link, packet.Bytes, out TcpSegment segment)
                && !streams.TryAdd(segment, Math.Clamp(packet.Microseconds - start.Value, 0, LatestMicroseconds)))
                endedBy = $"more than {TcpStreams.MostConnections:N0} connections are open at once";
        }

        streams.End();
        return (streams, endedBy ?? packets.EndedBy);
    }
}

/// <summary>What became of a capture.</summary>
/// <param name="Requests">Stored.</param>
/// <param name="Connections">That something was read of.</param>
/// <param name="Bytes">Of the recording.</param>
/// <param name="Unreadable">Connections that are encrypted, or not MongoDB's.</param>
/// <param name="Unredactable">Requests with code, which were left out.</param>
public sealed record ConvertedCapture(long Requests, long Connections, long Bytes, long Unreadable, long Unredactable)
{
    /// <inheritdoc cref="TrafficRecorder.Legacy"/>
    public required long Legacy { get; init; }

    /// <summary>Places where bytes are missing: what was recorded of a connection ends there.</summary>
    public required long Gaps { get; init; }

    /// <summary>The first of them, for people; null for none.</summary>
    public required string? FirstGap { get; init; }

    /// <summary>Why it was not read to its end; null where it was.</summary>
    public required string? EndedBy { get; init; }

    /// <summary>Its last packet is not whole.</summary>
    public required bool IsTruncated { get; init; }
}

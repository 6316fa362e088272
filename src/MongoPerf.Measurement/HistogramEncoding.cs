using System.Buffers;
using System.Buffers.Binary;
using System.IO.Compression;

namespace MongoPerf.Measurement;

/// <summary>Bytes that are no histogram, or one of another shape than ours.</summary>
public sealed class HistogramFormatException(string message) : FormatException(message);

/// <summary>HdrHistogram's V2 encoding and its compressed form, as the tools of the field read them.</summary>
/// <remarks>
/// <para>Header, big-endian: int32 cookie, int32 length of the counts, int32 normalizing offset, int32 significant digits,
/// int64 lowest, int64 highest, double unit ratio; then the counts by index as ZigZag LEB128 words of up to 9 bytes, a negative word
/// standing for that many zeros. Compressed: int32 cookie, int32 length, then the former as a zlib stream.</para>
/// <para>Values are nanoseconds and the ratio is 1, so that programs that know nothing of the ratio show the right ones.</para>
/// <para>The overflow count has no place in the format and is lost.</para>
/// <para>Format: HdrHistogram, AbstractHistogram.encodeIntoByteBuffer and ZigZagEncoding (public domain).</para>
/// </remarks>
public static class HistogramEncoding
{
    private const int CookieBase = 0x1c849303;
    private const int CompressedCookieBase = 0x1c849304;

    /// <summary>Bits of the cookie that once held the size of a count; 1 there means words of varying length.</summary>
    private const int WordSizeMask = 0xf0;
    private const int VaryingWords = 0x10;

    private const int HeaderLength = 40;
    private const int CompressedHeaderLength = 8;
    private const int MaxWordLength = 9;

    /// <summary>Nothing of ours comes near it; a damaged length must not ask for all memory.</summary>
    private const int MaxEncodedLength = HeaderLength + (LatencyHistogram.CountsLength * MaxWordLength);

    public static byte[] Encode(LatencyHistogram histogram)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(MaxEncodedLength);
        int length = Encode(histogram, buffer);
        byte[] encoded = buffer.AsSpan(0, length).ToArray();
        ArrayPool<byte>.Shared.Return(buffer);
        return encoded;
    }

    /// <param name="histogram">What was counted.</param>
    /// <param name="level">How hard to compress it; any reader takes any.</param>
    public static byte[] EncodeCompressed(LatencyHistogram histogram, CompressionLevel level = CompressionLevel.Optimal)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(MaxEncodedLength);
        int length = Encode(histogram, buffer);
        using var output = new MemoryStream(512);
        output.Write(new byte[CompressedHeaderLength]);
        using (var zlib = new ZLibStream(output, level, leaveOpen: true))
            zlib.Write(buffer, 0, length);
        ArrayPool<byte>.Shared.Return(buffer);
        byte[] encoded = output.ToArray();
        BinaryPrimitives.WriteInt32BigEndian(encoded, CompressedCookieBase | VaryingWords);
        BinaryPrimitives.WriteInt32BigEndian(encoded.AsSpan(4), encoded.Length - CompressedHeaderLength);
        return encoded;
    }

    /// <summary>Adds the counts of either form to a histogram.</summary>
    /// <exception cref="HistogramFormatException">Not such bytes, cut short, or of another range or precision.</exception>
    public static void DecodeInto(LatencyHistogram histogram, ReadOnlySpan<byte> encoded)
    {
        int cookie = ReadCookie(encoded);
        if (cookie == CookieBase)
            DecodeCounts(histogram, encoded);
        else if (cookie == CompressedCookieBase)
            InflateCounts(histogram, encoded);
        else
            throw new HistogramFormatException(
                $"the histogram begins with 0x{cookie:x8}, V2 with 0x{CookieBase:x8} or 0x{CompressedCookieBase:x8}");
    }

    public static LatencyHistogram Decode(ReadOnlySpan<byte> encoded)
    {
        var histogram = new LatencyHistogram();
        DecodeInto(histogram, encoded);
        return histogram;
    }

    private static int Encode(LatencyHistogram histogram, Span<byte> buffer)
    {
        int length = HeaderLength;
        // An empty histogram has the one count of value 0.
        int used = Math.Max(1, histogram.UsedLength);
        for (int i = 0; i < used; i++)
        {
            long word = histogram.CountAt(i);
            if (word == 0)
            {
                int zeros = Math.Min(used, histogram.NextUsed(i)) - i;
                word = zeros > 1 ? -zeros : 0;
                i += zeros - 1;
            }

            length += WriteWord(buffer[length..], word);
        }

        BinaryPrimitives.WriteInt32BigEndian(buffer, CookieBase | VaryingWords);
        BinaryPrimitives.WriteInt32BigEndian(buffer[4..], length - HeaderLength);
        BinaryPrimitives.WriteInt32BigEndian(buffer[8..], 0);
        BinaryPrimitives.WriteInt32BigEndian(buffer[12..], LatencyHistogram.SignificantDigits);
        BinaryPrimitives.WriteInt64BigEndian(buffer[16..], LatencyHistogram.LowestNanoseconds);
        BinaryPrimitives.WriteInt64BigEndian(buffer[24..], LatencyHistogram.HighestNanoseconds);
        BinaryPrimitives.WriteDoubleBigEndian(buffer[32..], 1.0);
        return length;
    }

    private static int ReadCookie(ReadOnlySpan<byte> encoded) => encoded.Length < 4
        ? throw new HistogramFormatException($"the histogram has {encoded.Length} bytes, at least {HeaderLength} are needed")
        : BinaryPrimitives.ReadInt32BigEndian(encoded) & ~WordSizeMask;

    private static void InflateCounts(LatencyHistogram histogram, ReadOnlySpan<byte> encoded)
    {
        // A run of a day has hundreds of thousands of histograms: an array for each would keep the garbage collector busy.
        byte[] buffer = ArrayPool<byte>.Shared.Rent(MaxEncodedLength + 1);
        try
        {
            DecodeCounts(histogram, InflateInto(buffer, encoded));
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    /// <param name="buffer">Room for one byte more than the longest of ours.</param>
    /// <param name="encoded">The compressed form.</param>
    /// <returns>The part of the buffer that was filled.</returns>
    private static Span<byte> InflateInto(byte[] buffer, ReadOnlySpan<byte> encoded)
    {
        if (encoded.Length < CompressedHeaderLength)
            throw new HistogramFormatException($"the histogram has {encoded.Length} bytes and no compressed header");
        int length = BinaryPrimitives.ReadInt32BigEndian(encoded[4..]);
        if (length < 0 || length > encoded.Length - CompressedHeaderLength)
            throw new HistogramFormatException(
                $"the histogram declares {length} compressed bytes and has {encoded.Length - CompressedHeaderLength}");
        using var input = new MemoryStream(encoded.Slice(CompressedHeaderLength, length).ToArray());
        using var zlib = new ZLibStream(input, CompressionMode.Decompress);
        try
        {
            int read = zlib.ReadAtLeast(buffer, MaxEncodedLength + 1, throwOnEndOfStream: false);
            return read <= MaxEncodedLength ? buffer.AsSpan(0, read) : throw new HistogramFormatException(
                $"the histogram is longer than the {MaxEncodedLength} bytes that one of ours can have");
        }
        catch (InvalidDataException e)
        {
            throw new HistogramFormatException($"the histogram's zlib stream is damaged ({e.Message})");
        }
    }

    private static void DecodeCounts(LatencyHistogram histogram, ReadOnlySpan<byte> encoded)
    {
        if (ReadCookie(encoded) != CookieBase || encoded.Length < HeaderLength)
            throw new HistogramFormatException($"the histogram has {encoded.Length} bytes and no V2 header");
        int length = BinaryPrimitives.ReadInt32BigEndian(encoded[4..]);
        if (length < 0 || length > encoded.Length - HeaderLength)
            throw new HistogramFormatException($"the histogram declares {length} bytes of counts and has {encoded.Length - HeaderLength}");
        int offset = BinaryPrimitives.ReadInt32BigEndian(encoded[8..]);
        int digits = BinaryPrimitives.ReadInt32BigEndian(encoded[12..]);
        long lowest = BinaryPrimitives.ReadInt64BigEndian(encoded[16..]);
        // The highest value only sets how many counts there may be; the place of each is the same.
        if (offset != 0 || digits != LatencyHistogram.SignificantDigits || lowest != LatencyHistogram.LowestNanoseconds)
        {
            throw new HistogramFormatException(
                $"the histogram has {digits} digits from {lowest} ns with offset {offset}; "
                + $"ours have {LatencyHistogram.SignificantDigits} from {LatencyHistogram.LowestNanoseconds} ns with 0");
        }

        AddWords(histogram, encoded.Slice(HeaderLength, length));
    }

    /// <remarks>
    /// A report of a day adds up hundreds of millions of words, most of them one byte. Whether that is a count or stands for zeros no
    /// processor foresees, so both take the same way: a run of zeros adds 0.
    /// </remarks>
    private static void AddWords(LatencyHistogram histogram, ReadOnlySpan<byte> words)
    {
        int index = 0;
        long total = 0;
        Span<long> piece = default;
        int pieceStart = 0;
        try
        {
            for (int at = 0; at < words.Length;)
            {
                int first = words[at];
                if (first < 0x80 && (uint)(index - pieceStart) < (uint)piece.Length)
                {
                    int ofZeros = -(first & 1);
                    int size = first >> 1;
                    int count = size & ~ofZeros;
                    piece[index - pieceStart] += count;
                    total += count;
                    index += 1 + (size & ofZeros);
                    at++;
                    if (index > LatencyHistogram.CountsLength)
                        throw TooManyCounts();
                    continue;
                }

                long word = ReadWord(words, ref at);
                // Unsigned, so that the most negative word is large as well and doesn't wrap.
                ulong step = word >= 0 ? 1 : 0UL - (ulong)word;
                if (step > (ulong)(LatencyHistogram.CountsLength - index))
                    throw TooManyCounts();
                if (word > 0)
                {
                    piece = histogram.PieceOf(index, out pieceStart);
                    piece[index - pieceStart] += word;
                    total += word;
                }

                index += (int)step;
            }
        }
        finally
        {
            histogram.AddTotal(total);
        }
    }

    private static HistogramFormatException TooManyCounts() => new($"the histogram has more than {LatencyHistogram.CountsLength} counts");

    /// <summary>Low 7 bits first, the top bit saying that more follow; a ninth byte has 8 bits.</summary>
    private static int WriteWord(Span<byte> buffer, long word)
    {
        ulong zigZag = (ulong)((word << 1) ^ (word >> 63));
        int length = 0;
        while (zigZag > 0x7f && length < MaxWordLength - 1)
        {
            buffer[length++] = (byte)(zigZag | 0x80);
            zigZag >>= 7;
        }

        buffer[length++] = (byte)zigZag;
        return length;
    }

    private static long ReadWord(ReadOnlySpan<byte> words, ref int at)
    {
        ulong zigZag = 0;
        for (int i = 0; i < MaxWordLength; i++)
        {
            if (at >= words.Length)
                throw new HistogramFormatException("the histogram ends within a count");
            ulong part = words[at++];
            bool last = i == MaxWordLength - 1 || part < 0x80;
            zigZag |= (last ? part : part & 0x7f) << (7 * i);
            if (last)
                break;
        }

        return FromZigZag(zigZag);
    }

    private static long FromZigZag(ulong word) => (long)(word >> 1) ^ -(long)(word & 1);
}

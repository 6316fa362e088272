using System.Buffers.Binary;
using System.Text;
using MongoPerf.Measurement;

namespace MongoPerf.Tests.Measurement;

public sealed class HistogramEncodingTests
{
    // By hand from the format: cookie with word-size flag, length, offset 0, 3 digits, lowest 100, highest 3,600,000,000,000 =
    // 0x34630b8a000, ratio 1.0.
    private static string WithHeader(string counts) =>
        $"1c849313{counts.Length / 2:x8}000000000000000300000000000000640000034630b8a0003ff0000000000000" + counts;

    public static TheoryData<string, long[], string> Golden => new()
    {
        { "no value: the one count of value 0", [], "00" },
        // zigzag(1) = 2
        { "one 0", [0], "02" },
        // one zero is a word 0, not a run
        { "one 1", [1], "0002" },
        // two zeros are -2, zigzag 3; then three times 1, zigzag 6
        { "three 2s", [2, 2, 2], "0306" },
        // 1,000 zeros are -1000, zigzag 1999 = 0x7cf: cf 0f
        { "one 1000", [1000], "cf0f02" },
        // 2048 and 2049 share index 2048: -2048, zigzag 4095 = 0xfff: ff 1f; two there: 4
        { "both ends of the first double bucket", [2048, 2049], "ff1f04" },
        // 64 times 5: five zeros are -5, zigzag 9; 64, zigzag 128: 80 01
        { "a count of two bytes", [.. Enumerable.Repeat(5L, 64)], "098001" },
    };

    [Theory]
    [MemberData(nameof(Golden))]
    public void Encoding_is_the_published_one_byte_by_byte(string what, long[] values, string counts)
    {
        Assert.NotEmpty(what);
        string expected = WithHeader(counts);
        LatencyHistogram histogram = Of(values);
        Assert.Equal(expected, Convert.ToHexStringLower(HistogramEncoding.Encode(histogram)));
        AssertSame(histogram, HistogramEncoding.Decode(Convert.FromHexString(expected)));
    }

    [Fact]
    public void Compressed_form_is_cookie_length_and_a_zlib_stream_of_the_other()
    {
        LatencyHistogram histogram = Of([1, 1000, 1_000_000]);
        byte[] encoded = HistogramEncoding.EncodeCompressed(histogram);
        Assert.Equal(0x1c849314, BinaryPrimitives.ReadInt32BigEndian(encoded));
        Assert.Equal(encoded.Length - 8, BinaryPrimitives.ReadInt32BigEndian(encoded.AsSpan(4)));
        Assert.Equal(0x78, encoded[8]);
        Assert.StartsWith("HISTFAAAA", Convert.ToBase64String(encoded));
        using var zlib = new System.IO.Compression.ZLibStream(new MemoryStream(encoded[8..]),
            System.IO.Compression.CompressionMode.Decompress);
        using var plain = new MemoryStream();
        zlib.CopyTo(plain);
        Assert.Equal(HistogramEncoding.Encode(histogram), plain.ToArray());
        encoded[8] ^= 0xff;
        Assert.Throws<HistogramFormatException>(() => HistogramEncoding.Decode(encoded));
    }

    [Fact]
    public void A_count_that_needs_nine_bytes_survives()
    {
        var histogram = new LatencyHistogram();
        histogram.AddCount(7, long.MaxValue - 5);
        byte[] encoded = HistogramEncoding.Encode(histogram);
        // seven zeros, zigzag 13; then 0xfffffffffffffff4: eight bytes of 7 bits, the ninth of 8
        Assert.Equal("0df4ffffffffffffffff", Convert.ToHexStringLower(encoded[40..]));
        AssertSame(histogram, HistogramEncoding.Decode(encoded));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Random_histograms_come_back_the_same_from_both_forms(int seed)
    {
        var random = new Random(seed);
        for (int round = 0; round < 25; round++)
        {
            var histogram = new LatencyHistogram();
            int values = random.Next(0, 5000);
            for (int i = 0; i < values; i++)
                histogram.RecordNanoseconds((long)Math.Exp(random.NextDouble() * Math.Log(LatencyHistogram.HighestNanoseconds)));
            AssertSame(histogram, HistogramEncoding.Decode(HistogramEncoding.Encode(histogram)));
            AssertSame(histogram, HistogramEncoding.Decode(HistogramEncoding.EncodeCompressed(histogram)));
        }
    }

    [Fact]
    public void Decoding_adds_to_what_is_there()
    {
        LatencyHistogram sum = Of([5]);
        HistogramEncoding.DecodeInto(sum, HistogramEncoding.EncodeCompressed(Of([5, 6])));
        AssertSame(Of([5, 5, 6]), sum);
    }

    [Theory]
    [InlineData("", "has 0 bytes")]
    [InlineData("00000000", "begins with 0x00000000")]
    [InlineData("1c849313", "no V2 header")]
    [InlineData("1c849314000000ff78", "declares 255 compressed bytes and has 1")]
    [InlineData("1c849314000000020000", "zlib stream is damaged")]
    [InlineData("1c849314000000", "has 7 bytes and no compressed header")]
    [InlineData("1c849314ffffffff", "declares -1 compressed bytes and has 0")]
    // A stream of nothing is none of a histogram either, but has the length that it declares.
    [InlineData("1c84931400000000", "has 0 bytes, at least 40")]
    public void Bytes_that_are_no_histogram_are_refused(string hex, string expected) =>
        Assert.Contains(
            expected, Assert.Throws<HistogramFormatException>(() => HistogramEncoding.Decode(Convert.FromHexString(hex))).Message);

    [Theory]
    // zigzag of -27649, of -2^63 (nine bytes), and a word that is cut
    [InlineData("81b003", "more than 27648 counts")]
    [InlineData("ffffffffffffffffff", "more than 27648 counts")]
    [InlineData("80", "ends within a count")]
    // One count, then as many zeros as there are counts in all
    [InlineData("02ffaf03", "more than 27648 counts")]
    // 27,640 zeros, one count, 20 zeros: past the end within a piece
    [InlineData("efaf030227", "more than 27648 counts")]
    public void Damaged_counts_are_refused(string counts, string expected)
    {
        byte[] encoded = Convert.FromHexString(WithHeader(counts));
        Assert.Contains(expected, Assert.Throws<HistogramFormatException>(() => HistogramEncoding.Decode(encoded)).Message);
    }

    [Theory]
    [InlineData(1, "declares 1 bytes of counts and has 0")]
    [InlineData(-1, "declares -1 bytes of counts and has 0")]
    public void A_header_that_declares_other_counts_than_follow_is_refused(int length, string expected)
    {
        byte[] header = Convert.FromHexString(WithHeader(""));
        Assert.Equal(0, HistogramEncoding.Decode(header).TotalCount);
        BinaryPrimitives.WriteInt32BigEndian(header.AsSpan(4), length);
        Assert.Contains(expected, Assert.Throws<HistogramFormatException>(() => HistogramEncoding.Decode(header)).Message);
        Assert.Contains("no V2 header", Assert.Throws<HistogramFormatException>(() => HistogramEncoding.Decode(header[..39])).Message);
    }

    [Theory]
    [InlineData(8, "offset 16777216")]
    [InlineData(11, "offset 1")]
    [InlineData(23, "from 101 ns")]
    public void A_histogram_of_another_shape_is_refused(int at, string expected)
    {
        byte[] encoded = HistogramEncoding.Encode(Of([1]));
        encoded[at]++;
        Assert.Contains(expected, Assert.Throws<HistogramFormatException>(() => HistogramEncoding.Decode(encoded)).Message);
    }

    [Fact]
    public void The_longest_histogram_there_is_comes_back_and_a_longer_stream_is_refused()
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < LatencyHistogram.CountsLength; i++)
            histogram.AddCount(i, (1L << 56) + i);
        byte[] plain = HistogramEncoding.Encode(histogram);
        Assert.Equal(40 + (LatencyHistogram.CountsLength * 9), plain.Length);
        AssertSame(histogram, HistogramEncoding.Decode(HistogramEncoding.EncodeCompressed(histogram)));

        using var output = new MemoryStream();
        output.Write(Convert.FromHexString("1c84931400000000"));
        using (var zlib = new System.IO.Compression.ZLibStream(output, System.IO.Compression.CompressionLevel.Fastest, leaveOpen: true))
        {
            zlib.Write(plain);
            zlib.WriteByte(2);
        }

        byte[] longer = output.ToArray();
        BinaryPrimitives.WriteInt32BigEndian(longer.AsSpan(4), longer.Length - 8);
        Assert.Contains(
            $"longer than the {plain.Length} bytes",
            Assert.Throws<HistogramFormatException>(() => HistogramEncoding.Decode(longer)).Message);
    }

    /// <summary>Buffers come from a pool and hold what others left there.</summary>
    [Fact]
    public void Nothing_of_what_a_buffer_held_before_gets_into_a_histogram()
    {
        string expected = WithHeader("0002");
        byte[] buffer = System.Buffers.ArrayPool<byte>.Shared.Rent(40 + (LatencyHistogram.CountsLength * 9));
        buffer.AsSpan().Fill(0xff);
        System.Buffers.ArrayPool<byte>.Shared.Return(buffer);
        Assert.Equal(expected, Convert.ToHexStringLower(HistogramEncoding.Encode(Of([1]))));
    }

    /// <summary>A day's report has hundreds of thousands: an array of 249 kB for each would keep the collector busy.</summary>
    [Fact]
    public void Neither_direction_allocates_a_buffer_each_time()
    {
        LatencyHistogram histogram = Of([1, 1000]);
        var sum = new LatencyHistogram();
        long before = 0;
        for (int i = -10; i < 100; i++)
        {
            if (i == 0)
                before = GC.GetAllocatedBytesForCurrentThread();
            HistogramEncoding.Encode(histogram);
            HistogramEncoding.DecodeInto(sum, HistogramEncoding.EncodeCompressed(histogram));
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 1, 100 * 20_000);
    }

    [Fact]
    public void A_histogram_of_other_precision_is_refused()
    {
        byte[] encoded = HistogramEncoding.Encode(Of([1]));
        encoded[15] = 2;
        Assert.Contains("2 digits", Assert.Throws<HistogramFormatException>(() => HistogramEncoding.Decode(encoded)).Message);
    }

    [Fact]
    public void A_log_has_version_start_legend_and_a_line_per_interval()
    {
        DateTimeOffset start = DateTimeOffset.FromUnixTimeMilliseconds(1441812279474);
        var text = new StringWriter();
        var log = new HdrLogWriter(text, start, "a test");
        log.Write("q4", start.AddMilliseconds(127), TimeSpan.FromSeconds(1.007), Of([15_625, 31_250]));
        log.Write(null, start.AddSeconds(2), TimeSpan.FromSeconds(1), new LatencyHistogram());
        string[] lines = text.ToString().Split('\n');
        Assert.Equal("#[Histogram log format version 1.3]", lines[1]);
        Assert.Equal("#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]", lines[2]);
        Assert.Equal("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"", lines[4]);
        Assert.StartsWith("Tag=q4,0.127,1.007,2.001,HISTFAAAA", lines[5]);
        AssertSame(Of([15_625, 31_250]), HistogramEncoding.Decode(Convert.FromBase64String(lines[5].Split(',')[^1])));
        Assert.StartsWith("2.000,1.000,0.000,HISTFAAAA", lines[6]);
        Assert.All(
            ["", "a b", "a,b", "a\nb", "a\rb"],
            tag => Assert.Throws<ArgumentException>(() => log.Write(tag, start, default, new LatencyHistogram())));
        log.Write("q", start, default, new LatencyHistogram());
        Assert.Contains("Tag=q,0.000,", text.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void The_published_library_reads_each_histogram_of_a_log_as_it_was_recorded()
    {
        DateTimeOffset start = DateTimeOffset.FromUnixTimeMilliseconds(1441812279474);
        var random = new Random(5);
        LatencyHistogram[] written = [.. Enumerable.Range(0, 3).Select(_ => new LatencyHistogram())];
        foreach (LatencyHistogram histogram in written)
        {
            for (int i = 0; i < 5000; i++)
                histogram.RecordNanoseconds((long)Math.Exp(random.NextDouble() * Math.Log(LatencyHistogram.HighestNanoseconds)));
        }

        var text = new StringWriter();
        var log = new HdrLogWriter(text, start, "a test");
        foreach ((int i, LatencyHistogram histogram) in written.Index())
            log.Write(i == 0 ? null : $"q{i}", start.AddSeconds(i), TimeSpan.FromSeconds(1), histogram);

        using var stream = new MemoryStream(Encoding.UTF8.GetBytes(text.ToString()));
        using var reader = new HdrHistogram.HistogramLogReader(stream);
        HdrHistogram.HistogramBase[] read = [.. reader.ReadHistograms()];
        Assert.Equal([null, "q1", "q2"], read.Select(one => one.Tag));
        Assert.Equal([0L, 1000, 2000], read.Select(one => one.StartTimeStamp - start.ToUnixTimeMilliseconds()));
        foreach ((HdrHistogram.HistogramBase theirs, LatencyHistogram ours) in read.Zip(written))
        {
            Assert.Equal(ours.TotalCount, theirs.TotalCount);
            int[] filled = [.. Enumerable.Range(0, LatencyHistogram.CountsLength).Where(i => ours.CountAt(i) > 0)];
            Assert.Equal(filled.Select(ours.CountAt), filled.Select(i => theirs.GetCountAtValue(LatencyHistogram.LowestAt(i))));
        }
    }

    /// <param name="values">In widths of the finest bucket, 64 ns.</param>
    private static LatencyHistogram Of(long[] values)
    {
        var histogram = new LatencyHistogram();
        foreach (long value in values)
            histogram.RecordNanoseconds(value * 64);
        return histogram;
    }

    private static void AssertSame(LatencyHistogram expected, LatencyHistogram actual)
    {
        Assert.Equal(expected.TotalCount, actual.TotalCount);
        Assert.All(Enumerable.Range(0, LatencyHistogram.CountsLength), i => Assert.Equal(expected.CountAt(i), actual.CountAt(i)));
    }
}

using System.Globalization;
using System.IO.Compression;

namespace MongoPerf.Measurement;

/// <summary>Writes a HdrHistogram log (.hlog), which HistogramLogAnalyzer, hdr-plot and the like read.</summary>
/// <remarks>Format: HdrHistogram, HistogramLogWriter. Times are seconds; a line's start counts from the log's.</remarks>
public sealed class HdrLogWriter
{
    private readonly TextWriter _output;
    private readonly DateTimeOffset _start;

    /// <summary>Writes the head of the log.</summary>
    /// <param name="output">Stays open.</param>
    /// <param name="start">What the lines' starts count from.</param>
    /// <param name="comment">One line for people.</param>
    public HdrLogWriter(TextWriter output, DateTimeOffset start, string comment)
    {
        _output = output;
        _start = start;
        Line($"#[{comment}]");
        Line("#[Histogram log format version 1.3]");
        string seconds = Seconds(start.ToUnixTimeMilliseconds() / 1000.0);
        string date = start.UtcDateTime.ToString("ddd MMM dd HH:mm:ss 'UTC' yyyy", CultureInfo.InvariantCulture);
        Line($"#[StartTime: {seconds} (seconds since epoch), {date}]");
        Line("#[Histograms count nanoseconds; Interval_Max is in milliseconds]");
        Line("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"");
    }

    /// <param name="tag">Tells series apart in one log; no comma, blank or line end. Null for none.</param>
    /// <param name="start">When the interval starts.</param>
    /// <param name="length">How long the interval is.</param>
    /// <param name="histogram">The histogram of the interval.</param>
    public void Write(string? tag, DateTimeOffset start, TimeSpan length, LatencyHistogram histogram)
    {
        if (tag != null && (tag.Length == 0 || tag.AsSpan().ContainsAny(", \r\n")))
            throw new ArgumentException($"'{tag}' is no tag: commas, blanks and line ends are not allowed", nameof(tag));
        string prefix = tag == null ? "" : $"Tag={tag},";
        string max = Seconds((histogram.Maximum ?? 0) / 1000);
        // A report has thousands of lines. Compressed like this they take a quarter more room, and a fraction of the time.
        string encoded = Convert.ToBase64String(HistogramEncoding.EncodeCompressed(histogram, CompressionLevel.Fastest));
        Line($"{prefix}{Seconds((start - _start).TotalSeconds)},{Seconds(length.TotalSeconds)},{max},{encoded}");
    }

    // The format's line end, whatever the writer's.
    private void Line(string text)
    {
        _output.Write(text);
        _output.Write('\n');
    }

    private static string Seconds(double value) => value.ToString("F3", CultureInfo.InvariantCulture);
}

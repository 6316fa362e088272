using MongoPerf.Measurement;
using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Explore;

/// <summary>The per-second histograms of a run's measured parts, packed so that a page can hold them.</summary>
/// <remarks>
/// <para>A block is: seconds in tenths from the former block's end to its beginning (which may overlap, so ZigZag), its length in tenths,
/// the number of buckets in use, and for each of these its distance d from the one before (the first: its index + 1) as 2d and a count of
/// one, or as 2d + 1 followed by the count. All are LEB128 words. Indexes are those of <see cref="LatencyHistogram"/>.</para>
/// <para>Nothing is lost of a histogram. Where seconds take too much room, several are added up in one block.</para>
/// </remarks>
internal static class RangeHistograms
{
    private static readonly int[] BlockSeconds = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600, 21600, 86400];

    /// <summary>Reads the histograms in the finest blocks that fit.</summary>
    /// <param name="run">Its samples are read with their histograms, some of them again for each length that is tried.</param>
    /// <param name="seconds">What its operations are called.</param>
    /// <param name="axis">An axis of time.</param>
    /// <param name="mostBytes">The most bytes of all blocks together, before they are compressed; blocks of a day may take more.</param>
    /// <returns>Null when nothing was recorded.</returns>
    public static PlotRanges? Read(StoredRun run, OperationSeconds seconds, TimeAxis axis, int mostBytes)
    {
        double least = 0;
        foreach (int length in BlockSeconds.Where(length => length >= least || length == BlockSeconds[^1]))
        {
            var writer = new Writer(seconds, axis, length);
            if (writer.Read(run, length == BlockSeconds[^1] ? int.MaxValue : mostBytes) is { } series)
                return series.Count == 0 ? null : new PlotRanges(length, series);
            // Blocks k times as long take at least a k-th of the room, so shorter ones need not be tried.
            least = length * axis.Seconds / Math.Max(length, writer.ReachedSeconds);
        }

        return null;
    }

    private sealed class Writer(OperationSeconds seconds, TimeAxis axis, int length)
    {
        private readonly Dictionary<int, Line> _lines = [];

        /// <summary>How far the last reading came.</summary>
        public double ReachedSeconds { get; private set; }

        /// <returns>Null as soon as it is more than that.</returns>
        public IReadOnlyList<PlotRange>? Read(StoredRun run, int mostBytes)
        {
            long written = 0;
            foreach (Sample sample in run.ReadSamples(withHistograms: true)
                .Where(static sample => !sample.IsWarmup && !sample.Histogram.IsEmpty))
            {
                int place = seconds.PlaceOf(sample.Phase, sample.Operation);
                // A run that is under way has samples that were not there before.
                if (place < 0)
                    continue;
                if (!_lines.TryGetValue(place, out Line? line))
                    _lines.Add(place, line = new Line());
                double end = axis.At(sample.AtMilliseconds);
                // At the finest, each sample is a block of its own, however short.
                long block = length == 1 ? line.Blocks : (long)Math.Floor((end - (sample.Seconds / 2)) / length);
                if (block != line.Block || length == 1)
                    written += line.Flush();
                ReachedSeconds = end;
                if (written > mostBytes)
                    return null;
                line.Add(sample, block, end);
            }

            written += _lines.Values.Sum(static line => line.Flush());
            return written > mostBytes ? null :
            [
                .. _lines.Where(static line => line.Value.Blocks > 0).OrderBy(static line => line.Key)
                    .Select(line => new PlotRange(seconds.Lines[line.Key].Name, seconds.Lines[line.Key].Color, line.Value.IsResponse,
                        line.Value.Blocks, line.Value.Bytes.ToArray())),
            ];
        }
    }

    /// <summary>One operation, and the block of it that is being filled.</summary>
    private sealed class Line
    {
        private readonly LatencyHistogram _histogram = new();
        private long _from;
        private long _to;
        private long _before;

        public long Block { get; private set; } = long.MinValue;

        public int Blocks { get; private set; }

        public bool IsResponse { get; private set; }

        public MemoryStream Bytes { get; } = new();

        public void Add(Sample sample, long block, double end)
        {
            long from = (long)Math.Round((end - sample.Seconds) * 10);
            if (_histogram.TotalCount == 0)
                _from = from;
            _to = Math.Max(_from + 1, (long)Math.Round(end * 10));
            Block = block;
            IsResponse |= !sample.ResponseHistogram.IsEmpty;
            HistogramEncoding.DecodeInto(_histogram, (sample.ResponseHistogram.IsEmpty ? sample.Histogram : sample.ResponseHistogram).Span);
        }

        /// <returns>Bytes written.</returns>
        public long Flush()
        {
            if (_histogram.TotalCount == 0)
                return 0;
            long start = Bytes.Length;
            (int Index, long Count)[] counts = [.. _histogram.Counts()];
            PlotEncoding.WriteWord(Bytes, PlotEncoding.ZigZag(_from - _before));
            PlotEncoding.WriteWord(Bytes, (ulong)(_to - _from));
            PlotEncoding.WriteWord(Bytes, (ulong)counts.Length);
            int last = -1;
            foreach ((int index, long count) in counts)
            {
                PlotEncoding.WriteWord(Bytes, (((ulong)(index - last)) << 1) | (count == 1 ? 0UL : 1UL));
                if (count != 1)
                    PlotEncoding.WriteWord(Bytes, (ulong)count);
                last = index;
            }

            _before = _to;
            Blocks++;
            _histogram.Clear();
            return Bytes.Length - start;
        }
    }
}

using MongoPerf.Measurement;
using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Explore;

/// <summary>The per-second histograms of a run's measured parts, packed so that a page can hold them.</summary>
/// <remarks>
/// <para>A block is: seconds in tenths from the former block's end to its beginning (which may overlap, so ZigZag), its length in tenths,
/// the number of buckets in use, and for each of these its distance d from the one before (the first: its index + 1) as 2d and a count of
/// one, or as 2d + 1 followed by the count. All are LEB128 words. Indexes are those of <see cref="LatencyHistogram"/>.</para>
/// <para>Nothing is lost of a histogram. Where seconds take too much room, several are added up in one block; those of a long run come
/// added up already (<see cref="SampleThinning"/>).</para>
/// </remarks>
internal sealed class RangeHistograms
{
    private static readonly int[] BlockSeconds = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600, 21600, 86400];

    private readonly Func<int, Writer> _writerOf;
    private Writer _writer;

    /// <summary>Makes the finest blocks that fit: those that turn out too many are added up.</summary>
    /// <param name="seconds">What a run's operations are called.</param>
    /// <param name="axis">An axis of time.</param>
    /// <param name="mostBytes">The most bytes of all blocks together, before they are compressed; blocks of a day may take more.</param>
    public RangeHistograms(OperationSeconds seconds, TimeAxis axis, int mostBytes)
    {
        _writerOf = length => new Writer(seconds, axis, length, mostBytes);
        _writer = _writerOf(BlockSeconds[0]);
    }

    /// <param name="sample">The run's next one.</param>
    public void Add(MergedSample sample) => _writer.Add(sample);

    /// <param name="again">Reads what was added once more, where blocks can't be made of those that were too many.</param>
    /// <returns>Null when nothing was recorded.</returns>
    public PlotRanges? End(Func<IEnumerable<MergedSample>> again)
    {
        int length;
        while (!_writer.TryEnd(out length))
        {
            _writer = _writerOf(length);
            foreach (MergedSample sample in again().TakeWhile(_ => !_writer.HasFailed))
                _writer.Add(sample);
        }

        return _writer.Series is { Count: > 0 } series ? new PlotRanges(length, series) : null;
    }

    private sealed class Writer(OperationSeconds seconds, TimeAxis axis, int length, int mostBytes)
    {
        private readonly Dictionary<int, Line> _lines = [];
        private int _length = length;
        private long _written;
        private double _at;

        /// <summary>The length of blocks that can't be made of those that were too many; 0 for none.</summary>
        private int _instead;

        public bool HasFailed => _instead > 0;

        public IReadOnlyList<PlotRange> Series =>
        [
            .. _lines.Where(static line => line.Value.Blocks > 0).OrderBy(static line => line.Key)
                .Select(line => new PlotRange(seconds.Lines[line.Key].Name, seconds.Lines[line.Key].Color, line.Value.IsResponse,
                    line.Value.Blocks, line.Value.Bytes.ToArray())),
        ];

        public void Add(MergedSample merged)
        {
            Sample sample = merged.Sample;
            if (HasFailed || sample.IsWarmup || merged.Histograms.Service.TotalCount == 0)
                return;
            int place = seconds.PlaceOf(sample.Phase, sample.Operation);
            // A run that is under way has samples that were not there before.
            if (place < 0)
                return;
            if (!_lines.TryGetValue(place, out Line? line))
                _lines.Add(place, line = new Line());
            double end = axis.At(sample.AtMilliseconds);
            // The last row of an operation that ended early comes with the phase's last ones.
            _at = Math.Max(_at, end);
            long second = (long)Math.Floor(end - (sample.Seconds / 2));
            do
            {
                // At the finest, each sample is a block of its own, however short.
                if (_length == 1 || line.Ends(second, _length))
                    _written += line.Flush();
            }
            while (TryLengthen());
            if (!HasFailed)
                line.Add(merged, second, end);
        }

        /// <param name="length">The length of its blocks, in seconds; where they are too many, that of the next to try.</param>
        /// <returns>False where blocks of that length can't be made of those that were too many.</returns>
        public bool TryEnd(out int length)
        {
            if (!HasFailed)
            {
                do
                    Flush();
                while (TryLengthen());
            }

            length = HasFailed ? _instead : _length;
            return !HasFailed;
        }

        private void Flush() => _written += _lines.Values.Sum(static line => line.Flush());

        /// <summary>Adds blocks up where they take too much room.</summary>
        /// <returns>False where they fit as they are, or their length does not divide the one that would.</returns>
        private bool TryLengthen()
        {
            if (_written <= mostBytes || _length == BlockSeconds[^1])
                return false;
            // Blocks k times as long take at least a k-th of the room, so shorter ones need not be tried.
            double least = _length * axis.Seconds / Math.Max(_length, _at);
            int longer = BlockSeconds.First(one => one > _length && (one >= least || one == BlockSeconds[^1]));
            if (longer % _length != 0)
            {
                _instead = longer;
                return false;
            }

            Flush();
            _length = longer;
            _written = _lines.Values.Sum(line => line.AddUp(longer));
            return true;
        }
    }

    /// <summary>One operation, and the block of it that is being filled.</summary>
    private sealed class Line
    {
        private readonly LatencyHistogram _histogram = new();
        private List<Written> _blocks = [];
        private Written _open;
        private long _before;

        public int Blocks => _blocks.Count;

        public bool IsResponse { get; private set; }

        public MemoryStream Bytes { get; private set; } = new();

        /// <summary>Whether a second lies beyond the block that is being filled.</summary>
        public bool Ends(long second, int length) => FloorOf(second, length) != FloorOf(_open.Second, length);

        public void Add(MergedSample merged, long second, double end)
        {
            Extend(new Written(second, (long)Math.Round((end - merged.Sample.Seconds) * 10), (long)Math.Round(end * 10)));
            IsResponse |= merged.Histograms.Response.TotalCount > 0;
            merged.Histograms.Reported.AddTo(_histogram);
        }

        /// <summary>Joins blocks so that each is so many seconds long; the last may grow.</summary>
        /// <returns>Bytes of those before it.</returns>
        public long AddUp(int length)
        {
            byte[] bytes = Bytes.ToArray();
            List<Written> blocks = _blocks;
            Bytes = new MemoryStream();
            _blocks = [];
            _before = 0;
            int at = 0;
            foreach (Written block in blocks)
            {
                if (Ends(block.Second, length))
                    Flush();
                Extend(block);
                PlotEncoding.ReadWord(bytes, ref at);
                PlotEncoding.ReadWord(bytes, ref at);
                int index = -1;
                for (ulong left = PlotEncoding.ReadWord(bytes, ref at); left > 0; left--)
                {
                    ulong word = PlotEncoding.ReadWord(bytes, ref at);
                    index += (int)(word >> 1);
                    _histogram.AddCount(index, (word & 1) == 0 ? 1 : (long)PlotEncoding.ReadWord(bytes, ref at));
                }
            }

            return Bytes.Length;
        }

        /// <returns>Bytes written.</returns>
        public long Flush()
        {
            if (_histogram.TotalCount == 0)
                return 0;
            long start = Bytes.Length;
            long to = Math.Max(_open.From + 1, _open.To);
            (int Index, long Count)[] counts = [.. _histogram.Counts()];
            PlotEncoding.WriteWord(Bytes, PlotEncoding.ZigZag(_open.From - _before));
            PlotEncoding.WriteWord(Bytes, (ulong)(to - _open.From));
            PlotEncoding.WriteWord(Bytes, (ulong)counts.Length);
            int last = -1;
            foreach ((int index, long count) in counts)
            {
                PlotEncoding.WriteWord(Bytes, (((ulong)(index - last)) << 1) | (count == 1 ? 0UL : 1UL));
                if (count != 1)
                    PlotEncoding.WriteWord(Bytes, (ulong)count);
                last = index;
            }

            _before = to;
            _blocks.Add(_open);
            _histogram.Clear();
            return Bytes.Length - start;
        }

        private void Extend(Written block) => _open = _histogram.TotalCount == 0 ? block : _open with { To = block.To };

        private static long FloorOf(long second, int length) => (long)Math.Floor((double)second / length);

        /// <summary>A block that was written.</summary>
        /// <param name="Second">One that lies in it, on the axis.</param>
        /// <param name="From">Where it begins, in tenths of a second.</param>
        /// <param name="To">Where it ends, in tenths of a second.</param>
        private readonly record struct Written(long Second, long From, long To);
    }
}

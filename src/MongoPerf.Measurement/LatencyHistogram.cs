using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace MongoPerf.Measurement;

/// <summary>
/// Counts durations from 0.1 µs to 1 h in bounded memory; from 64 µs on, what it gives back is within 0.1 % of what was recorded.
/// </summary>
/// <remarks>
/// <para>One writer, no locks. Counts only grow, so another thread may read them meanwhile (<see cref="AddTo"/>): it sees each
/// duration either wholly or not yet, and what it missed comes with its next look.</para>
/// <para>216 KB of memory at most: a piece of 8 KB is made when the first duration falls into its power of two, so that hundreds of workers
/// with several operations each fit (an allocation that does not recur).</para>
/// <para>Longer durations go to <see cref="OverflowCount"/>, never to the last bucket; shorter ones count as 0.1 µs.</para>
/// <para>Bucket rule: G. Tene, HdrHistogram, package overview; nanoseconds, lowest 100 (so the finest buckets are 64 ns wide), highest
/// 3,600,000,000,000, 3 significant digits. Counting nanoseconds and not tenths of a microsecond is what other programs take a
/// log's values for.</para>
/// </remarks>
public sealed class LatencyHistogram
{
    public const long LowestNanoseconds = 100;
    public const long HighestNanoseconds = 3_600_000_000_000;
    public const int SignificantDigits = 3;

    /// <summary>The width of the finest buckets as a power of two: the greatest that is not more than the lowest duration.</summary>
    private const int UnitMagnitude = 6;

    /// <summary>2,048 sub-buckets keep the error at three digits under one part in a thousand.</summary>
    internal const int SubBucketCount = 2048;
    internal const int SubBucketHalfCount = SubBucketCount / 2;
    private const int SubBucketHalfCountMagnitude = 10;
    private const long SubBucketMask = (SubBucketCount - 1L) << UnitMagnitude;

    /// <summary>Buckets that cover 1 h: 2,048 times 64 ns, doubled 25 times.</summary>
    internal const int BucketCount = 26;
    internal const int CountsLength = (BucketCount + 1) * SubBucketHalfCount;

    private const double NanosecondsPerMicrosecond = 1000;
    private const int PieceBits = SubBucketHalfCountMagnitude;
    private const int PieceMask = SubBucketHalfCount - 1;
    private const int PieceCount = CountsLength >> PieceBits;

    private readonly long[]?[] _pieces = new long[PieceCount][];
    private long _overflowCount;
    private long _totalCount;

    /// <summary>Durations over one hour; part of no percentile.</summary>
    public long OverflowCount => Volatile.Read(ref _overflowCount);

    /// <summary>Recorded durations, overflow left out.</summary>
    public long TotalCount => Volatile.Read(ref _totalCount);

    /// <param name="microseconds">Microseconds as <see cref="RecordNanoseconds"/> takes them.</param>
    public void Record(double microseconds) => RecordNanoseconds((long)(microseconds * 1000));

    /// <param name="nanoseconds">Negative counts as 0, shown as 0.1 µs.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void RecordNanoseconds(long nanoseconds)
    {
        if ((ulong)nanoseconds > HighestNanoseconds)
        {
            RecordOutside(nanoseconds);
            return;
        }

        int index = IndexOf(nanoseconds);
        (_pieces[index >> PieceBits] ?? MakePiece(index >> PieceBits))[index & PieceMask]++;
        _totalCount++;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private long[] MakePiece(int piece)
    {
        long[] counts = new long[SubBucketHalfCount];
        // A reader that sees the piece must see its zeros.
        Volatile.Write(ref _pieces[piece], counts);
        return counts;
    }

    private void RecordOutside(long nanoseconds)
    {
        if (nanoseconds < 0)
            RecordNanoseconds(0);
        else
            _overflowCount++;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static int IndexOf(long nanoseconds)
    {
        int bucket = 53 - UnitMagnitude - BitOperations.LeadingZeroCount((ulong)(nanoseconds | SubBucketMask));
        int subBucket = (int)(nanoseconds >> (bucket + UnitMagnitude));
        return ((bucket + 1) << SubBucketHalfCountMagnitude) + subBucket - SubBucketHalfCount;
    }

    /// <summary>The lowest duration that is counted at an index, ns.</summary>
    internal static long LowestAt(int index)
    {
        int bucket = (index >> SubBucketHalfCountMagnitude) - 1;
        int subBucket = (index & (SubBucketHalfCount - 1)) + SubBucketHalfCount;
        if (bucket < 0)
        {
            subBucket -= SubBucketHalfCount;
            bucket = 0;
        }

        return (long)subBucket << (bucket + UnitMagnitude);
    }

    /// <summary>The highest duration that is counted at an index, ns.</summary>
    internal static long HighestAt(int index)
    {
        int bucket = Math.Max(0, (index >> SubBucketHalfCountMagnitude) - 1);
        return LowestAt(index) + (1L << (bucket + UnitMagnitude)) - 1;
    }

    /// <summary>How often durations of this index were recorded.</summary>
    internal long CountAt(int index) => _pieces[index >> PieceBits] is { } piece ? piece[index & PieceMask] : 0;

    /// <summary>
    /// Index of the first count from <paramref name="from"/> on that is not 0; <see cref="CountsLength"/> when there is none.
    /// </summary>
    internal int NextUsed(int from)
    {
        for (int piece = from >> PieceBits; piece < PieceCount; piece++)
        {
            int start = Math.Max(from, piece << PieceBits);
            if (_pieces[piece] is not { } counts)
                continue;
            // Mostly the next one.
            int at = counts[start & PieceMask] != 0 ? 0 : counts.AsSpan(start & PieceMask).IndexOfAnyExcept(0L);
            if (at >= 0)
                return start + at;
        }

        return CountsLength;
    }

    /// <summary>One beyond the last index in use; 0 when nothing was recorded.</summary>
    internal int UsedLength
    {
        get
        {
            for (int piece = PieceCount - 1; piece >= 0; piece--)
            {
                int at = _pieces[piece] is { } counts ? counts.AsSpan().LastIndexOfAnyExcept(0L) : -1;
                if (at >= 0)
                    return (piece << PieceBits) + at + 1;
            }

            return 0;
        }
    }

    /// <summary>Adds counts that were read elsewhere, such as from an encoded histogram, at a place of <see cref="Counts"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void AddCount(int index, long count)
    {
        (_pieces[index >> PieceBits] ?? MakePiece(index >> PieceBits))[index & PieceMask] += count;
        _totalCount += count;
    }

    /// <summary>The counts around an index, for who adds many; they are part of no figure until <see cref="AddTotal"/>.</summary>
    /// <param name="index">One of them.</param>
    /// <param name="start">The index of the first.</param>
    internal Span<long> PieceOf(int index, out int start)
    {
        start = index & ~PieceMask;
        return _pieces[index >> PieceBits] ?? MakePiece(index >> PieceBits);
    }

    /// <summary>Makes counts part of the total that were added to pieces.</summary>
    internal void AddTotal(long counts) => _totalCount += counts;

    /// <summary>Adds everything counted so far to another histogram. The other must not be written by anyone else meanwhile.</summary>
    public void AddTo(LatencyHistogram sum)
    {
        long total = 0;
        for (int piece = 0; piece < PieceCount; piece++)
        {
            if (Volatile.Read(ref _pieces[piece]) is not { } from)
                continue;
            long[] to = sum._pieces[piece] ?? sum.MakePiece(piece);
            for (int i = 0; i < from.Length; i++)
            {
                long count = Volatile.Read(ref from[i]);
                to[i] += count;
                total += count;
            }
        }

        sum._totalCount += total;
        sum._overflowCount += OverflowCount;
    }

    /// <summary>Sets this to what <paramref name="now"/> counts beyond <paramref name="before"/>.</summary>
    public void SetToDifference(LatencyHistogram now, LatencyHistogram before)
    {
        Clear();
        for (int i = now.NextUsed(0); i < CountsLength; i = now.NextUsed(i + 1))
        {
            long count = now.CountAt(i) - before.CountAt(i);
            if (count != 0)
                AddCount(i, count);
        }

        _overflowCount = now._overflowCount - before._overflowCount;
    }

    public void Clear()
    {
        foreach (long[]? piece in _pieces)
        {
            if (piece is not null)
                Array.Clear(piece);
        }

        _totalCount = 0;
        _overflowCount = 0;
    }

    /// <summary>The least stored duration that at least <paramref name="percent"/> % of the durations don't exceed.</summary>
    /// <param name="percent">0 to 100; 99.9 means 99.9 %.</param>
    /// <returns>Microseconds, the upper end of the bucket; null when nothing was recorded.</returns>
    /// <remarks>The rank rounds up, so that the share asked for really lies at or below the value.</remarks>
    public double? ValueAtPercentile(double percent) => ValuesAtPercentiles(percent)?[0];

    /// <summary>The same for several percentiles, in one look at the counts.</summary>
    /// <param name="percents">Ascending.</param>
    /// <returns>A value for each; null when nothing was recorded.</returns>
    public double[]? ValuesAtPercentiles(params ReadOnlySpan<double> percents)
    {
        foreach (double percent in percents)
        {
            if (!(percent >= 0 && percent <= 100))
                throw new ArgumentOutOfRangeException(nameof(percents), percent, "a percentile lies between 0 and 100");
        }

        long total = TotalCount;
        if (total == 0)
            return null;
        Span<long> ranks = stackalloc long[percents.Length];
        for (int i = 0; i < ranks.Length; i++)
            ranks[i] = RankOf(percents[i], total);
        double[] values = new double[percents.Length];
        int found = 0;
        long seen = 0;
        for (int piece = 0; piece < PieceCount && found < values.Length; piece++)
        {
            if (_pieces[piece] is not { } counts)
                continue;
            // Adding all up takes a fraction of the time of looking at each.
            long inPiece = SumOf(counts);
            if (seen + inPiece < ranks[found])
            {
                seen += inPiece;
                continue;
            }

            for (int i = 0; i < counts.Length && found < values.Length; i++)
            {
                if (counts[i] == 0)
                    continue;
                seen += counts[i];
                while (found < values.Length && seen >= ranks[found])
                    values[found++] = Shown(HighestAt((piece << PieceBits) + i));
            }
        }

        // Durations that another thread counts meanwhile may be missing.
        if (found < values.Length)
            values.AsSpan(found).Fill(Maximum!.Value);
        return values;
    }

    private static long SumOf(long[] counts)
    {
        Vector<long> sums = Vector<long>.Zero;
        foreach (Vector<long> some in MemoryMarshal.Cast<long, Vector<long>>(counts))
            sums += some;
        return Vector.Sum(sums);
    }

    /// <remarks>One part in 10^12 is taken off: 99.9 % of 1,000 must be rank 999 although 0.999 has no exact double.</remarks>
    private static long RankOf(double percent, long total) =>
        Math.Clamp((long)Math.Ceiling(percent / 100 * total * (1 - 1e-12)), 1, total);

    /// <summary>Lower end of the lowest bucket in use, microseconds.</summary>
    public double? Minimum
    {
        get
        {
            int first = NextUsed(0);
            return first == CountsLength ? null : Shown(LowestAt(first));
        }
    }

    /// <summary>Upper end of the highest bucket in use, microseconds.</summary>
    public double? Maximum
    {
        get
        {
            int length = UsedLength;
            return length == 0 ? null : Shown(HighestAt(length - 1));
        }
    }

    /// <summary>Microseconds, of bucket middles.</summary>
    public double? Mean
    {
        get
        {
            if (_totalCount == 0)
                return null;
            double sum = 0;
            for (int piece = 0; piece < PieceCount; piece++)
            {
                if (_pieces[piece] is not { } counts)
                    continue;
                // Within a piece all buckets are equally wide.
                double middle = (LowestAt(piece << PieceBits) + HighestAt(piece << PieceBits)) / 2.0;
                double width = LowestAt((piece << PieceBits) + 1) - LowestAt(piece << PieceBits);
                for (int i = 0; i < counts.Length; i++)
                    sum += counts[i] * (middle + (i * width));
            }

            return sum / _totalCount / NanosecondsPerMicrosecond;
        }
    }

    /// <summary>What was counted, from the shortest up: the upper end of each bucket in use, and how many durations it holds.</summary>
    public IEnumerable<(double Microseconds, long Count)> Buckets()
    {
        for (int i = NextUsed(0); i < CountsLength; i = NextUsed(i + 1))
            yield return (Shown(HighestAt(i)), CountAt(i));
    }

    /// <summary>Yields the same as <see cref="Buckets"/>, by the places of the bucket rule above, for an encoding.</summary>
    public IEnumerable<(int Index, long Count)> Counts()
    {
        for (int i = NextUsed(0); i < CountsLength; i = NextUsed(i + 1))
            yield return (i, CountAt(i));
    }

    private static double Shown(long nanoseconds) => Math.Max(LowestNanoseconds, nanoseconds) / NanosecondsPerMicrosecond;
}

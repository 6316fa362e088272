using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>What a reply says that is compared with another one's.</summary>
/// <param name="Code">The error's; 0 for none.</param>
/// <param name="Documents">Returned, counted, changed or removed, whatever the command does.</param>
/// <param name="Bytes">The bytes of the returned documents.</param>
public readonly record struct ReplyFacts(int Code, long Documents, long Bytes);

/// <summary>A reply beside the one that was recorded for the same request.</summary>
/// <param name="IsCompared">There are both.</param>
/// <param name="Recorded">What was recorded.</param>
/// <param name="Now">What came now.</param>
/// <param name="RecordedNanoseconds">How long the recorded reply took.</param>
public readonly record struct ReplyComparison(bool IsCompared, ReplyFacts Recorded, ReplyFacts Now, long RecordedNanoseconds)
{
    /// <summary>Both are alike, but documents are not: times, and values that the server made, are others each time.</summary>
    public bool HasOtherContent { get; init; }

    /// <summary>Documents that an update changed, then and now; null where the recording does not tell.</summary>
    public (long Recorded, long Now)? Modified { get; init; }
}

/// <summary>What a recording adds to <see cref="Counters"/>: replies that differ, and how long the recorded ones took.</summary>
internal sealed class ReplyCounters
{
    public long Compared;
    public long Codes;
    public long Counts;
    public long Modified;
    public long Sizes;
    public long Contents;
    private (ReplyFacts Recorded, ReplyFacts Now)? _firstCode;
    private (ReplyFacts Recorded, ReplyFacts Now)? _firstCount;
    private (long Recorded, long Now)? _firstModified;
    private (ReplyFacts Recorded, ReplyFacts Now)? _firstSize;

    /// <summary>Recorded times of the requests that succeeded now: they stand beside service times, which only those have.</summary>
    public LatencyHistogram Recorded { get; } = new();

    /// <summary>Counts a reply under the first way in which it differs: another error says more than the count that follows.</summary>
    public void Add(in ReplyComparison reply)
    {
        if (!reply.IsCompared)
            return;
        Compared++;
        (ReplyFacts recorded, ReplyFacts now) = (reply.Recorded, reply.Now);
        if (now.Code == 0 || now.Code == recorded.Code)
            Recorded.RecordNanoseconds(reply.RecordedNanoseconds);
        if (recorded.Code != now.Code)
            Note(ref Codes, ref _firstCode, (recorded, now));
        else if (recorded.Documents != now.Documents)
            Note(ref Counts, ref _firstCount, (recorded, now));
        else if (reply.Modified is { } modified && modified.Recorded != modified.Now)
            Note(ref Modified, ref _firstModified, modified);
        else if (recorded.Bytes != now.Bytes)
            Note(ref Sizes, ref _firstSize, (recorded, now));
        else if (reply.HasOtherContent)
            Contents++;
    }

    public void Clear()
    {
        Compared = Codes = Counts = Modified = Sizes = Contents = 0;
        _firstCode = _firstCount = _firstSize = null;
        _firstModified = null;
        Recorded.Clear();
    }

    public void AddTo(ReplyCounters sum)
    {
        sum.Compared += Volatile.Read(ref Compared);
        sum.Codes += Volatile.Read(ref Codes);
        sum.Counts += Volatile.Read(ref Counts);
        sum.Modified += Volatile.Read(ref Modified);
        sum.Sizes += Volatile.Read(ref Sizes);
        sum.Contents += Volatile.Read(ref Contents);
        sum._firstCode ??= _firstCode;
        sum._firstCount ??= _firstCount;
        sum._firstModified ??= _firstModified;
        sum._firstSize ??= _firstSize;
        Recorded.AddTo(sum.Recorded);
    }

    public ReplayResult ToResult() => new(Compared, Codes, Counts, Sizes)
    {
        Modified = Modified,
        Contents = Contents,
        RecordedMicroseconds = Recorded.TotalCount == 0 ? null : LatencySummaries.From(Recorded),
        FirstCode = _firstCode is { } code ? new ReplayPair(code.Recorded.Code, code.Now.Code) : null,
        FirstCount = _firstCount is { } count ? new ReplayPair(count.Recorded.Documents, count.Now.Documents) : null,
        FirstModified = _firstModified is { } modified ? new ReplayPair(modified.Recorded, modified.Now) : null,
        FirstSize = _firstSize is { } size ? new ReplayPair(size.Recorded.Bytes, size.Now.Bytes) : null,
    };

    private static void Note<T>(ref long count, ref (T Recorded, T Now)? first, (T Recorded, T Now) pair)
    {
        count++;
        first ??= pair;
    }
}

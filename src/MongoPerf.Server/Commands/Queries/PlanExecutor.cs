using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Rocks;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Carries out a scan: walks candidates, fetches and tests them, hands out those that match. One thread.</summary>
/// <remarks>
/// Sees the collection's state of the moment it was started; a document deleted since is passed over. Call inside the
/// collection's read lock. <see cref="Document"/> is the store's memory, valid until the next move.
/// </remarks>
internal sealed class PlanExecutor : IDisposable
{
    private const int NeighboursBeforeWalking = 3;

    private readonly List<long> _replay = [];
    private Collection? _collection;
    private Filter? _filter;
    private readonly RocksIterator _iterator = new();
    private readonly RecordWalk _walk = new();
    private PinnedValue _pinned;
    private HashSet<long>? _seen;
    private int _replayed;
    private int _range;
    private bool _isStarted;
    private long _lastFetched;
    private int _neighbours;
    private Source _source;

    public ScanPlan Plan { get; } = new();

    /// <summary>Index entries looked at.</summary>
    public long KeysExamined { get; private set; }

    /// <summary>Documents tested against the filter.</summary>
    public long DocumentsExamined { get; private set; }

    /// <summary>How many of those met it.</summary>
    public long Matched { get; private set; }

    public bool IsAtEnd { get; private set; }

    public long RecordId { get; private set; }

    public ReadOnlySpan<byte> Document => _source switch
    {
        Source.Scan => _iterator.Value,
        Source.Neighbour => _walk.Document,
        _ => _pinned.Bytes,
    };

    /// <summary>Readies for <see cref="Plan"/>; nothing is read yet.</summary>
    public void Start(Collection collection, Filter filter)
    {
        Dispose();
        _collection = collection;
        _filter = filter;
        _replay.Clear();
        _replayed = 0;
        _isStarted = false;
        _neighbours = 0;
        _lastFetched = 0;
        KeysExamined = DocumentsExamined = Matched = 0;
        IsAtEnd = false;
        _seen = Plan.Index is { IsMultikey: true } ? [] : null;
        _range = Plan.IsReverse ? Plan.RangeCount - 1 : 0;
    }

    /// <summary>Looks ahead to judge the plan; what it finds is kept and handed out first afterwards.</summary>
    public void Probe(long maximumExamined, long wanted)
    {
        while (!IsAtEnd && DocumentsExamined < maximumExamined && Matched < wanted)
        {
            if (Examine())
                _replay.Add(RecordId);
        }
    }

    /// <summary>Goes to the next match, passing over <paramref name="skip"/> others first.</summary>
    /// <returns>False when there are not that many.</returns>
    public bool MoveNext(long skip)
    {
        long fromReplay = Math.Min(skip, _replay.Count - _replayed);
        _replayed += (int)fromReplay;
        skip -= fromReplay;
        while (_replayed < _replay.Count)
        {
            RecordId = _replay[_replayed++];
            if (Fetch())
                return true;
        }

        while (!IsAtEnd)
        {
            if (Examine() && skip-- == 0)
                return true;
        }

        return false;
    }

    /// <summary>Counts index entries without fetching, up to a bound; for plans that are weighed only.</summary>
    public long CountKeys(long maximum)
    {
        long count = 0;
        while (count < maximum && Advance())
        {
            ActiveOperation.Check();
            count++;
        }

        return count;
    }

    public void Dispose()
    {
        Unpin();
        _iterator.Dispose();
        _walk.Dispose();
    }

    /// <summary>Takes one candidate; true when it matches.</summary>
    private bool Examine()
    {
        ActiveOperation.Check();
        if (!Advance())
        {
            IsAtEnd = true;
            _iterator.ThrowOnError();
            return false;
        }

        if (Plan.Index == null)
        {
            RecordId = Storage.RecordId.Read(_iterator.Key);
            _source = Source.Scan;
        }
        else
        {
            KeysExamined++;
            RecordId = Plan.Index.RecordIdOf(_iterator);
            if (_seen != null && !_seen.Add(RecordId))
                return false;
            if (!Fetch())
                return false;
        }

        if (_filter!.Part is { } part && !part.Has(Document))
        {
            KeysExamined -= Plan.Index == null ? 0 : 1;
            return false;
        }

        DocumentsExamined++;
        if (!_filter.Matches(Document))
            return false;
        Matched++;
        return true;
    }

    private bool Fetch()
    {
        Unpin();
        // An index on something that grows with the documents (a date, an _id) leads from record to neighbouring record; a
        // step of an iterator is several times cheaper than a look-up by key.
        _neighbours = Math.Abs(RecordId - _lastFetched) == 1 ? _neighbours + 1 : 0;
        _lastFetched = RecordId;
        if (_neighbours >= NeighboursBeforeWalking)
        {
            _source = Source.Neighbour;
            return _walk.MoveTo(_collection!, RecordId);
        }

        _source = Source.Key;
        _pinned = _collection!.Get(RecordId);
        return _pinned.Found;
    }

    private void Unpin()
    {
        _pinned.Dispose();
        _pinned = default;
    }

    /// <summary>Where the present document's bytes are.</summary>
    private enum Source
    {
        Key,
        Scan,
        Neighbour,
    }

    /// <summary>Moves the iterator to the next entry within the ranges.</summary>
    private bool Advance()
    {
        if (_isStarted)
        {
            Step();
        }
        else
        {
            _isStarted = true;
            _collection!.Iterate(Plan.Index, _iterator);
            EnterRange();
        }

        if (Plan.Index == null)
            return _iterator.Valid;
        while (!IsInRange())
        {
            _range += Plan.IsReverse ? -1 : 1;
            if (_range < 0 || _range >= Plan.RangeCount)
                return false;
            EnterRange();
        }

        return true;
    }

    private void Step()
    {
        if (Plan.IsReverse)
            _iterator.Previous();
        else
            _iterator.Next();
    }

    private void EnterRange()
    {
        if (Plan.Index == null)
        {
            if (Plan.IsReverse)
                _iterator.SeekToLast();
            else
                _iterator.SeekToFirst();
            return;
        }

        KeyRange range = Plan.Range(_range);
        if (!Plan.IsReverse)
        {
            _iterator.Seek(range.Low.Written);
        }
        else if (range.HasHigh)
        {
            _iterator.SeekForPrevious(range.High.Written);
            // The high end itself is out; only a key that is exactly it can be met here.
            if (_iterator.Valid && _iterator.Key.SequenceCompareTo(range.High.Written) >= 0)
                _iterator.Previous();
        }
        else
        {
            _iterator.SeekToLast();
        }
    }

    private bool IsInRange()
    {
        if (!_iterator.Valid)
            return false;
        KeyRange range = Plan.Range(_range);
        return Plan.IsReverse
            ? _iterator.Key.SequenceCompareTo(range.Low.Written) >= 0
            : !range.HasHigh || _iterator.Key.SequenceCompareTo(range.High.Written) < 0;
    }
}

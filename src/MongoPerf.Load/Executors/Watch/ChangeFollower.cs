using System.Globalization;
using System.Text;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Executors.Watch;

/// <summary>Finds the write of each event of a change stream, and what is missing, duplicated or out of order.</summary>
/// <remarks>
/// An insert is known by its document's _id, an update by the number that it writes. Both times are of this process and its clock: no
/// server's clock matters. One thread.
/// </remarks>
public sealed class ChangeFollower
{
    /// <summary>Events whose writes may not be acknowledged yet; of more the oldest are taken for writes that never will be.</summary>
    private const int MostWaiting = 4096;

    /// <summary>How long events are waited for from servers that have told all they know.</summary>
    private const double DrainSeconds = 4;

    private readonly WatchChanges _operation;
    private readonly TrackedWrites? _writes;
    private readonly byte[][] _fields;
    private readonly SeenNumbers? _inserts;
    private readonly SeenNumbers? _updates;
    private readonly Queue<(AcknowledgedTimes Times, long Number, long At)> _waiting = new(MostWaiting);
    private long[] _lastOf = [];
    private ulong _reached = ulong.MaxValue;
    private ulong? _clusterTime;

    /// <param name="operation">What is watched, bound to the phase's writes.</param>
    public ChangeFollower(WatchChanges operation)
    {
        _operation = operation;
        _writes = operation.Tracked;
        _fields = [.. operation.Fields.Select(Encoding.UTF8.GetBytes)];
        if (_writes is null)
            return;
        _inserts = new SeenNumbers(_writes.Inserts);
        _updates = new SeenNumbers(_writes.Updates);
    }

    /// <summary>What was seen since it was cleared last.</summary>
    public ChangeLog Log { get; } = new();

    /// <summary>Takes the events of one reply.</summary>
    /// <param name="batch">The array of events.</param>
    /// <param name="at">When the reply came, ticks.</param>
    /// <exception cref="BsonFormatException">An event is not as the manual describes them.</exception>
    public void TakeAll(ReadOnlySpan<byte> batch, long at)
    {
        Settle();
        var events = new BsonReader(batch);
        while (events.Read())
            Take(events.DocumentBytes, at);
    }

    /// <summary>Notes how far the stream has come, and what time it is for the servers.</summary>
    /// <param name="token">postBatchResumeToken of the last reply: _data begins with the time up to which all is told.</param>
    /// <param name="clusterTime">$clusterTime of the last reply, or null.</param>
    public void Note(ReadOnlySpan<byte> token, ulong? clusterTime)
    {
        var reader = new BsonReader(token);
        // KeyString: 82 for a timestamp, then its eight bytes. Source: mongo, resume_token.cpp and key_string.cpp.
        const int Length = 18;
        _reached = reader.Find("_data"u8) && reader.Type == BsonType.String && reader.StringBytes is [(byte)'8', (byte)'2', ..] data
            && data.Length >= Length
            && ulong.TryParse(data[2..Length], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ulong time)
            ? time : ulong.MaxValue;
        _clusterTime = clusterTime;
    }

    /// <summary>
    /// Reads on after the writers have ended, until every event has come, or none for so long that none will. What a stream that has not
    /// come to the time of the last write has not told is not missing.
    /// </summary>
    /// <param name="clock">The worker's.</param>
    /// <param name="read">Waits for events and takes them; false when the server refused.</param>
    public void Drain(IClock clock, Func<bool> read)
    {
        Log.Clear();
        long giveUpAt = clock.Now + clock.TicksOf(DrainSeconds);
        long endAt = clock.Now + clock.TicksOf(WatchChanges.LongestDrainSeconds);
        bool isSettled = false;
        ulong? due = null;
        try
        {
            do
            {
                isSettled = read();
                Settle();
                // All writes have ended by now.
                due ??= _clusterTime;
            }
            while (CountMissing() > 0 && clock.Now < (IsBehind() ? endAt : giveUpAt));

            isSettled &= !IsBehind();
        }
        catch (Exception e) when (ErrorTally.BreaksConnection(e))
        {
            isSettled = false;
        }

        if (_operation.MayLeaveOut)
            return;
        if (isSettled)
            Log.Missing = CountMissing();
        else
            Log.Unsettled = CountMissing();

        bool IsBehind() => _reached < due;
    }

    /// <inheritdoc cref="TakeAll"/>
    /// <param name="change">One event.</param>
    /// <param name="at">When the reply came, ticks.</param>
    public void Take(ReadOnlySpan<byte> change, long at)
    {
        Log.Events++;
        Log.Bytes += change.Length;
        if (_writes is null)
            return;
        long insert = -1;
        long update = -1;
        bool isInsert = false;
        bool isWhole = false;
        var reader = new BsonReader(change);
        while (reader.Read())
        {
            if (reader.NameIs("operationType"u8))
                isWhole = (isInsert = reader.StringBytes.SequenceEqual("insert"u8)) || reader.StringBytes.SequenceEqual("replace"u8);
            else if (reader.NameIs("documentKey"u8) && reader.Type == BsonType.Document)
                insert = DocumentOf(reader.DocumentBytes);
            else if (reader.NameIs("updateDescription"u8) && reader.Type == BsonType.Document)
                update = UpdateOf(reader.DocumentBytes);
            // Of an update the whole document may hold the number of an earlier one.
            else if (isWhole && reader.NameIs("fullDocument"u8) && reader.Type == BsonType.Document)
                update = NumberIn(reader.DocumentBytes);
        }

        if (isInsert && _writes.IsInsert(insert))
            Follow(_inserts!, insert, at);
        else if (_writes.IsUpdate(update))
            Follow(_updates!, update, at);
    }

    /// <summary>Times the events that came before their acknowledgements.</summary>
    public void Settle()
    {
        for (int i = _waiting.Count; i > 0; i--)
        {
            (AcknowledgedTimes times, long number, long at) = _waiting.Dequeue();
            if (!TryTime(times, number, at))
                _waiting.Enqueue((times, number, at));
        }
    }

    private long DocumentOf(ReadOnlySpan<byte> key)
    {
        var reader = new BsonReader(key);
        return reader.Find("_id"u8) ? _operation.Documents.Ids.NumberOf(reader.Type, reader.Value) : -1;
    }

    private long UpdateOf(ReadOnlySpan<byte> description)
    {
        var reader = new BsonReader(description);
        return reader.Find("updatedFields"u8) && reader.Type == BsonType.Document ? NumberIn(reader.DocumentBytes) : -1;
    }

    private long NumberIn(ReadOnlySpan<byte> fields)
    {
        var reader = new BsonReader(fields);
        while (reader.Read())
        {
            if (reader.Type != BsonType.Int64)
                continue;
            foreach (byte[] field in _fields)
            {
                if (reader.NameIs(field))
                    return reader.Int64;
            }
        }

        return -1;
    }

    /// <summary>Acknowledged writes whose events have not come.</summary>
    private long CountMissing() => (_inserts?.CountMissing() ?? 0) + (_updates?.CountMissing() ?? 0);

    private void Follow(SeenNumbers seen, long number, long at)
    {
        if (!seen.Add(number))
            Log.Duplicated++;
        else if (!TryTime(seen.Times, number, at))
            Wait(seen.Times, number, at);
    }

    private void Wait(AcknowledgedTimes times, long number, long at)
    {
        if (_waiting.Count == MostWaiting)
            _waiting.Dequeue();
        _waiting.Enqueue((times, number, at));
    }

    private bool TryTime(AcknowledgedTimes times, long number, long at)
    {
        if (!times.TryFind(number, out long acknowledged, out int worker))
            return false;
        Log.Add(Math.Max(0, at - acknowledged));
        if (worker >= _lastOf.Length)
            Array.Resize(ref _lastOf, Math.Max(worker + 1, _lastOf.Length * 2));
        // A writer waits for each reply, so what it was told earlier comes earlier; of one batch all were told at once.
        if (acknowledged < _lastOf[worker])
            Log.Misordered++;
        else
            _lastOf[worker] = acknowledged;
        return true;
    }

    /// <summary>Which numbers have come, a bit for each.</summary>
    private sealed class SeenNumbers(AcknowledgedTimes times)
    {
        private const int Words = AcknowledgedTimes.PageLength / 64;

        /// <summary>A page of which all have come.</summary>
        private static readonly ulong[] Whole = [];

        private ulong[]?[] _pages = new ulong[]?[16];
        private int[] _counts = new int[16];

        /// <summary>The page that was filled last, which need not be the one behind those before it; below 0 for none.</summary>
        private int _filled = -1;

        public AcknowledgedTimes Times => times;

        /// <returns>False when it has come before.</returns>
        public bool Add(long number)
        {
            int index = (int)((number - times.First) / AcknowledgedTimes.PageLength);
            int place = (int)((number - times.First) % AcknowledgedTimes.PageLength);
            if (index >= _pages.Length)
            {
                int length = Math.Max(index + 1, _pages.Length * 2);
                Array.Resize(ref _pages, length);
                Array.Resize(ref _counts, length);
            }

            ulong[] page = _pages[index] ??= new ulong[Words];
            if (page.Length == 0 || (page[place / 64] & (1UL << place)) != 0)
                return false;
            page[place / 64] |= 1UL << place;
            if (++_counts[index] == AcknowledgedTimes.PageLength)
            {
                // Of the page itself some acknowledgements may still be on their way.
                if (_filled >= 0)
                {
                    _pages[_filled] = Whole;
                    times.Release(_filled);
                }

                _filled = index;
            }

            return true;
        }

        public long CountMissing()
        {
            long missing = 0;
            foreach (long number in times.All())
            {
                if (!Has(number))
                    missing++;
            }

            return missing;
        }

        private bool Has(long number)
        {
            int index = (int)((number - times.First) / AcknowledgedTimes.PageLength);
            int place = (int)((number - times.First) % AcknowledgedTimes.PageLength);
            return index < _pages.Length && _pages[index] is { } page
                && (page.Length == 0 || (page[place / 64] & (1UL << place)) != 0);
        }
    }
}

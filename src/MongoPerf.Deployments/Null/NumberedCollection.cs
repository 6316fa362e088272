using System.Buffers.Binary;
using System.Text;
using MongoPerf.Load.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>A collection of the plan: it remembers which numbers came, and makes the documents again when they are requested.</summary>
/// <remarks>
/// Where an _id does not tell its number, the documents that came are taken for the first ones of the template. Deleted documents are
/// missing in counts only. Thread-safe: one lock, held for one command at most; memory is bounded however many documents come.
/// </remarks>
internal sealed class NumberedCollection(string database, string name, NumberedDocuments documents)
{
    [ThreadStatic]
    private static BsonWriter? _scratch;

    private readonly byte[] _database = Encoding.UTF8.GetBytes(database);
    private readonly byte[] _name = Encoding.UTF8.GetBytes(name);
    private readonly byte[] _namespace = Encoding.UTF8.GetBytes($"{database}.{name}");
    private readonly Lock _gate = new();

    private readonly NumberRanges _numbers = new();
    private long _count;
    private long _insertedBytes;
    private long _inserted;

    // One beyond the last number of the last list of _ids.
    private long _asked;

    public string Database { get; } = database;

    /// <summary>Database and name.</summary>
    public ReadOnlySpan<byte> Namespace => _namespace;

    /// <summary>Documents that are there.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>The bytes of these documents: those that came twice count once, with the mean length.</summary>
    public long Bytes
    {
        get
        {
            long count = Count;
            lock (_gate)
                return _inserted == 0 ? 0 : (long)((double)_insertedBytes / _inserted * count);
        }
    }

    public bool Is(ReadOnlySpan<byte> database, ReadOnlySpan<byte> name) => name.SequenceEqual(_name) && database.SequenceEqual(_database);

    /// <param name="sent">Documents back to back.</param>
    /// <returns>How many they are.</returns>
    /// <exception cref="BsonFormatException">They are none.</exception>
    public int Insert(ReadOnlySpan<byte> sent)
    {
        if (sent.IsEmpty)
            return 0;
        int count = 0;
        long first = -1;
        long last = -1;
        for (ReadOnlySpan<byte> rest = sent; rest.Length > 0; count++)
        {
            ReadOnlySpan<byte> document = TakeDocument(ref rest);
            if (documents.AreInvertible && (count == 0 || rest.IsEmpty))
                last = NumberOf(document);
            if (count == 0)
                first = last;
        }

        lock (_gate)
        {
            long before = _numbers.Count;
            long strange = 0;
            if (!documents.AreInvertible)
                _numbers.Add(new NumberRange(_numbers.End, _numbers.End + count));
            else if (first >= 0 && last == first + count - 1)
                _numbers.Add(new NumberRange(first, last + 1));
            else
                strange = AddEach(sent);
            _count += _numbers.Count - before + strange;
            _inserted += count;
            _insertedBytes += sent.Length;
        }

        return count;
    }

    /// <returns>1, or 0 when there is none.</returns>
    public long DeleteOne()
    {
        lock (_gate)
        {
            long deleted = Math.Min(_count, 1);
            _count -= deleted;
            return deleted;
        }
    }

    /// <returns>Documents that were there.</returns>
    public long Clear()
    {
        lock (_gate)
        {
            long count = _count;
            _numbers.Clear();
            _count = _inserted = _insertedBytes = 0;
            return count;
        }
    }

    /// <summary>Some document that a filter may mean; null when there is none.</summary>
    public BsonDocument? FindOne(ReadOnlySpan<byte> filter)
    {
        var found = new BsonWriter();
        found.StartDocument();
        FindOutcome outcome = Find(found, new FindRequest { Filter = filter, Limit = 1 });
        outcome.Pool?.Write(found, Math.Min(1, Count));
        found.End();
        return new BsonDocument(found.ToArray()).FindDocument("0");
    }

    /// <summary>Writes the first batch into an open array, unless any documents of a pool will do.</summary>
    public FindOutcome Find(BsonWriter array, scoped in FindRequest find)
    {
        var condition = new BsonReader(find.Filter);
        while (condition.Read())
        {
            if (TryFindRange(condition, out NumberRange range))
                return FindRange(array, range, find);
            if (condition.NameIs("_id"u8) && condition.Type == BsonType.Document && InclusionProjection.IsIdOnly(find.Projection)
                && new BsonReader(condition.DocumentBytes) is var operators && operators.Find("$in"u8))
                return new FindOutcome(WriteListed(array, operators.DocumentBytes));
        }

        return new FindOutcome(documents.Pool.Project(find.Projection));
    }

    /// <summary>Writes what comes next of a range.</summary>
    /// <param name="array">Open.</param>
    /// <param name="cursor">Advances, and has nothing left when the range is at its end.</param>
    /// <param name="count">Documents at most.</param>
    /// <returns>How many.</returns>
    public int WriteBatch(BsonWriter array, NullCursor cursor, long count)
    {
        var rest = new NumberRange(cursor.Next, cursor.End);
        int written = WriteRange(array, ref rest, Math.Min(count, cursor.Left), cursor.Projection);
        cursor.Next = rest.First;
        cursor.Left = HasAny(rest) ? cursor.Left - written : 0;
        return written;
    }

    private FindOutcome FindRange(BsonWriter array, NumberRange range, scoped in FindRequest find)
    {
        if (find.IsDescendingById)
        {
            lock (_gate)
                range = _numbers.TryFindLast(range, out long last) ? new NumberRange(last, last + 1) : default;
        }

        int written = WriteRange(array, ref range, find.FirstBatch, find.Projection);
        long left = (find.Limit > 0 ? find.Limit : long.MaxValue) - written;
        bool isWhole = find.SingleBatch || left == 0 || !HasAny(range);
        return isWhole
            ? new FindOutcome(written)
            : new FindOutcome(written, new NullCursor(this, find.Projection) { Next = range.First, End = range.End, Left = left });
    }

    private int WriteRange(BsonWriter array, ref NumberRange range, long count, ReadOnlySpan<byte> projection)
    {
        bool isIdOnly = InclusionProjection.IsIdOnly(projection);
        bool isInclusion = InclusionProjection.Is(projection);
        int start = array.Length;
        int written = 0;
        while (HasRoom() && TryFindRun(range, out NumberRange run))
        {
            long number = run.First;
            for (; number < run.End && HasRoom(); number++)
            {
                DocumentPool.WriteKey(array, written++);
                if (isIdOnly)
                    WriteId(array, number);
                else if (isInclusion)
                    WriteProjected(array, number, projection);
                else
                    documents.Write(array, number);
            }

            range = range with { First = number };
        }

        return written;

        bool HasRoom() => written < count && array.Length - start < DocumentPool.MaximumReplyBytes;
    }

    private void WriteId(BsonWriter writer, long number)
    {
        writer.StartDocument();
        documents.WriteId(writer, number);
        writer.End();
    }

    private void WriteProjected(BsonWriter array, long number, ReadOnlySpan<byte> projection)
    {
        BsonWriter whole = _scratch ??= new BsonWriter();
        whole.Clear();
        documents.Write(whole, number);
        InclusionProjection.Write(array, whole.Written, projection);
    }

    private bool TryFindRange(in BsonReader condition, out NumberRange range)
    {
        range = default;
        if (!condition.NameIs("_id"u8))
            return documents.TryFindGroup(condition.Name, condition.Type, condition.Value, out range);
        if (!documents.AreInvertible)
            return false;
        if (condition.Type == BsonType.Document)
            return TryReadBounds(condition.DocumentBytes, out range);
        long number = documents.NumberOf(condition.Type, condition.Value);
        range = new NumberRange(number, number < 0 ? number : number + 1);
        return true;
    }

    /// <summary>Reads <c>{$gte: a, $lt: b}</c> and its kin.</summary>
    private bool TryReadBounds(ReadOnlySpan<byte> bounds, out NumberRange range)
    {
        range = new NumberRange(0, long.MaxValue);
        var bound = new BsonReader(bounds);
        while (bound.Read())
        {
            long number = documents.NumberOf(bound.Type, bound.Value);
            if (number < 0)
                return false;
            if (bound.NameIs("$gte"u8))
                range = range with { First = number };
            else if (bound.NameIs("$gt"u8))
                range = range with { First = number + 1 };
            else if (bound.NameIs("$lt"u8))
                range = range with { End = number };
            else if (bound.NameIs("$lte"u8))
                range = range with { End = number + 1 };
            else
                return false;
        }

        lock (_gate)
            return documents.AreOrdered(Math.Min(range.End, _numbers.End));
    }

    /// <summary>Writes those _ids of a list whose documents are there.</summary>
    private int WriteListed(BsonWriter array, ReadOnlySpan<byte> list)
    {
        int written = 0;
        long next = -1;
        bool isFirst = true;
        var id = new BsonReader(list);
        for (; id.Read(); isFirst = false)
        {
            long number = documents.AreInvertible ? documents.NumberOf(id.Type, id.Value)
                : isFirst ? SearchNumber(id)
                : next >= 0 && HasId(next, id) ? next : -1;
            next = number < 0 ? -1 : number + 1;
            if (number < 0 || !IsThere(number))
                continue;
            DocumentPool.WriteKey(array, written++);
            array.StartDocument();
            array.WriteValue("_id"u8, id.Type, id.Value);
            array.End();
        }

        Volatile.Write(ref _asked, Math.Max(0, next));
        return written;
    }

    /// <summary>
    /// The number of an _id that does not tell it. Whoever looks for what is missing asks for numbers in their order, one list after the
    /// other: where the last list ended is tried first. Otherwise all that came are tried, some ten million in a second.
    /// </summary>
    private long SearchNumber(in BsonReader id)
    {
        long asked = Volatile.Read(ref _asked);
        if (HasId(asked, id))
            return asked;
        long end;
        lock (_gate)
            end = _numbers.End;
        for (long number = 0; number <= end; number++)
        {
            if (HasId(number, id))
                return number;
        }

        return -1;
    }

    private bool HasId(long number, in BsonReader id)
    {
        BsonWriter writer = _scratch ??= new BsonWriter();
        writer.Clear();
        WriteId(writer, number);
        var made = new BsonReader(writer.Written);
        return made.Read() && made.Type == id.Type && made.Value.SequenceEqual(id.Value);
    }

    private bool IsThere(long number)
    {
        lock (_gate)
            return _numbers.Contains(number);
    }

    private bool TryFindRun(NumberRange range, out NumberRange run)
    {
        lock (_gate)
            return _numbers.TryFindRun(range, out run);
    }

    private bool HasAny(NumberRange range) => TryFindRun(range, out _);

    /// <returns>Documents without a number; they are counted and nothing else.</returns>
    private long AddEach(ReadOnlySpan<byte> sent)
    {
        long strange = 0;
        while (sent.Length > 0)
        {
            if (NumberOf(TakeDocument(ref sent)) is >= 0 and var number)
                _numbers.Add(new NumberRange(number, number + 1));
            else
                strange++;
        }

        return strange;
    }

    private long NumberOf(ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        return reader.Find("_id"u8) ? documents.NumberOf(reader.Type, reader.Value) : -1;
    }

    /// <summary>Parts the first document off.</summary>
    /// <exception cref="BsonFormatException">Its length does not fit.</exception>
    public static ReadOnlySpan<byte> TakeDocument(ref ReadOnlySpan<byte> documents)
    {
        int length = documents.Length < BsonReader.MinimumDocumentLength ? 0 : BinaryPrimitives.ReadInt32LittleEndian(documents);
        if (length < BsonReader.MinimumDocumentLength || length > documents.Length)
            throw new BsonFormatException(0, $"document length is {length}, {documents.Length} bytes are left");
        ReadOnlySpan<byte> document = documents[..length];
        documents = documents[length..];
        return document;
    }
}

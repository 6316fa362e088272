using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>
/// A find command and its execution, from the first document to the last; used again for the next one. One thread at a time.
/// </summary>
/// <remarks>A cursor takes the whole object over; the session then makes itself a new one.</remarks>
internal sealed class FindQuery : IBatchSource
{
    private readonly Planner _planner = new();
    private readonly BlockingSort _sorter = new();
    private long _skip;
    private long _limit;
    private long _returned;
    private bool _isSorting;
    private bool _isHeld;
    private Variables? _variables;
    private CollationOption _collation;

    public FindQuery(PathCache paths)
    {
        Filter = new Filter(paths);
        Sort = new SortSpec(paths);
        Projection = new Projection(Filter);
    }

    public Filter Filter { get; }

    public SortSpec Sort { get; }

    public Projection Projection { get; }

    public IndexHint Hint { get; private set; }

    public long Skip => _skip;

    /// <summary>0: none.</summary>
    public long Limit => _limit;

    /// <summary>Documents in the first reply; null where the client left it open.</summary>
    public long? BatchSize { get; private set; }

    public bool IsSingleBatch { get; private set; }

    public bool UsesBlockingSort => _isSorting;

    /// <summary>Set by <see cref="Open"/>; null when there is no collection.</summary>
    public PlanExecutor? Runner { get; private set; }

    /// <summary>The limit is reached: no further document will come.</summary>
    public bool IsComplete => _limit > 0 && _returned >= _limit;

    public long Returned => _returned;

    private long Wanted => _limit > 0 && _skip <= long.MaxValue - _limit ? _skip + _limit : long.MaxValue;

    /// <summary>Reads the fields of a find command (or of the find inside an explain).</summary>
    /// <exception cref="CommandException">A field, operator or value that is not allowed.</exception>
    public void Parse(ReadOnlySpan<byte> body)
    {
        Restart();
        var let = new BsonReader(body);
        if (let.Find("let"u8))
            _variables = Variables.Parse(new BsonDocument(RequireDocument(let).ToArray()));
        var reader = new BsonReader(body);
        reader.Read();
        ReadOnlySpan<byte> filter = BsonDocument.Empty.Bytes;
        ReadOnlySpan<byte> projection = default;
        ReadOnlySpan<byte> sort = default;
        while (reader.Read())
        {
            if (reader.NameIs("filter"u8))
                filter = RequireDocument(reader);
            else if (reader.NameIs("projection"u8))
                projection = RequireDocument(reader);
            else if (reader.NameIs("sort"u8))
                sort = RequireDocument(reader);
            else if (!GenericFields.Contains(reader.Name) && !ParseField(reader))
                throw CommandException.UnknownField("find", reader.NameText);
        }

        // After all fields, and in this order: of several errors mongod tells the same.
        Filter.Compile(filter, _variables);
        if (!projection.IsEmpty)
            Projection.Compile(projection, _variables);
        if (!sort.IsEmpty)
            Sort.Compile(sort);
    }

    /// <summary>Prepares for a filter that comes from another command (count, update, delete).</summary>
    public void Parse(
        ReadOnlySpan<byte> filter, long skip, long limit, IndexHint hint, Variables? variables = null, CollationOption collation = default)
    {
        Restart();
        Filter.Compile(filter, variables);
        Hint = hint;
        _collation = collation;
        _skip = skip;
        _limit = limit;
    }

    /// <summary>Makes it what a mongos would ask one shard: where it is one of several, for what is to be skipped too.</summary>
    public void AskShard(ShardPart part, bool isOneOfSeveral)
    {
        Filter.Part = part;
        if (isOneOfSeveral)
            (_limit, _skip) = (_limit == 0 ? 0 : Wanted, 0);
    }

    /// <summary>Chooses the plan, and where a sort must be done beforehand does it. Call inside the collection's read lock.</summary>
    public void Open(Collection? collection)
    {
        OpenPlan(collection);
        if (Runner != null && _isSorting)
            _sorter.Fill(Runner, Sort, Wanted);
    }

    /// <summary>Whether all documents match, and the hint names no index that leaves some of them out.</summary>
    /// <exception cref="CommandException">The hint names no index.</exception>
    public bool IsOfAll(Collection collection)
    {
        if (!Filter.IsEmpty)
            return false;
        return !Hint.IsGiven || Hint.Natural != 0 || (Hint.Find(collection.Indexes) ?? throw Planner.NoSuchIndex()).Spec.IsWhole;
    }

    /// <summary>Chooses the plan and leaves it at that.</summary>
    public void OpenPlan(Collection? collection)
    {
        Runner = null;
        if (collection == null)
            return;
        Collate(_collation.For(collection));
        Runner = _planner.Choose(collection, Filter, Sort, Hint, Wanted);
        Runner.Plan.Index?.CountAccess();
        _isSorting = !Runner.Plan.ProvidesSort;
    }

    /// <summary>Goes to the next document to return. Call inside the collection's read lock.</summary>
    public bool MoveNext()
    {
        if (_isHeld)
        {
            _isHeld = false;
            _returned++;
            return true;
        }

        if (Runner == null || IsComplete)
            return false;
        long skip = _returned == 0 ? _skip : 0;
        if (!(_isSorting ? _sorter.MoveNext(skip) : Runner.MoveNext(skip)))
            return false;
        _returned++;
        return true;
    }

    /// <summary>Puts the current document back; it comes again first. Its bytes must be fetched anew then.</summary>
    public void Hold()
    {
        _isHeld = true;
        _returned--;
    }

    /// <summary>The current document as it is stored; valid until the next move.</summary>
    public ReadOnlySpan<byte> Current => _isSorting ? _sorter.Current : Runner!.Document;

    public void WriteCurrent(BsonWriter writer, ReadOnlySpan<byte> name)
    {
        if (Projection.IsGiven)
            Projection.Write(writer, name, Current);
        else
            writer.WriteDocument(name, Current);
    }

    /// <inheritdoc/>
    public bool WriteBatch(BsonWriter body, long batchSize)
    {
        int start = body.Length;
        int count = 0;
        while (count < batchSize)
        {
            if (!MoveNext())
                return false;
            if (count > 0 && body.Length - start + Current.Length > ProtocolLimits.MaximumReplyBytes)
            {
                Hold();
                return true;
            }

            int before = body.Length;
            WriteCurrent(body, ArrayNames.Of(count++));
            // A projection may have made it larger.
            if (count > 1 && body.Length - start > ProtocolLimits.MaximumReplyBytes)
            {
                body.Truncate(before);
                Hold();
                return true;
            }
        }

        return !IsComplete;
    }

    /// <inheritdoc/>
    public ForeignCollections? Foreign => null;

    /// <inheritdoc/>
    public (long Keys, long Documents, long Returned) Examined => (Runner?.KeysExamined ?? 0, Runner?.DocumentsExamined ?? 0, _returned);

    /// <summary>Lets go of iterators and pinned memory; the object can be used again.</summary>
    public void Dispose()
    {
        _planner.Dispose();
        _sorter.Clear();
    }

    private void Collate(Collation? collation)
    {
        Filter.Collation = collation;
        if (collation == null)
            return;
        if (Filter.HasExpressions)
            throw CollationLimits.NotSupported("$expr");
        if (Projection.HasOperators)
            throw CollationLimits.NotSupported("a projection with operators");
        Sort.Collate(collation);
    }

    private void Restart()
    {
        Filter.Compile(BsonDocument.Empty.Bytes);
        Sort.Clear();
        Projection.Clear();
        Hint = default;
        _variables = null;
        _collation = default;
        _skip = 0;
        _limit = 0;
        _returned = 0;
        _isHeld = false;
        _isSorting = false;
        BatchSize = null;
        IsSingleBatch = false;
        Runner = null;
    }

    private bool ParseField(BsonReader reader)
    {
        switch (reader.Name.Length)
        {
            case 4 when reader.NameIs("skip"u8): _skip = RequireCount(reader); return true;
            case 4 when reader.NameIs("hint"u8): Hint = IndexHint.Parse(reader); return true;
            case 5 when reader.NameIs("limit"u8): _limit = RequireCount(reader); return true;
            case 9 when reader.NameIs("batchSize"u8): BatchSize = RequireCount(reader); return true;
            case 11 when reader.NameIs("singleBatch"u8): IsSingleBatch = RequireBoolean(reader); return true;
            default: return IsHarmless(reader);
        }
    }

    /// <summary>Options that change nothing here, or nothing when they are off; those that would change the answer are refused.</summary>
    private bool IsHarmless(BsonReader reader)
    {
        string name = reader.NameText;
        switch (name)
        {
            case "let":
                return true;
            case "allowDiskUse" or "noCursorTimeout" or "oplogReplay" or "allowPartialResults" or "allowSpeculativeMajorityRead":
                RequireBoolean(reader);
                return true;
            case "collation":
                _collation = CollationOption.Parse(new BsonValue(reader.Type, reader.Value.ToArray()));
                return true;
            case "tailable" or "awaitData" or "returnKey" or "showRecordId" when !RequireBoolean(reader):
                return true;
            case "tailable" or "awaitData" or "returnKey" or "showRecordId" or "min" or "max":
                throw CommandException.NotSupported($"the option '{name}' of find");
            default:
                return false;
        }
    }

    private static ReadOnlySpan<byte> RequireDocument(BsonReader reader) => reader.Type switch
    {
        BsonType.Document => reader.Value,
        BsonType.Null => BsonDocument.Empty.Bytes,
        _ => throw CommandException.TypeMismatch($"Expected field {reader.NameText}to be of type object"),
    };

    private static bool RequireBoolean(BsonReader reader) => reader.Type == BsonType.Boolean ? reader.Boolean
        : throw CommandException.TypeMismatch(
            $"Field '{reader.NameText}' should be a boolean value, but found: {TypeSet.AliasOf(reader.Type)}");

    private static long RequireCount(BsonReader reader)
    {
        if (!reader.IsNumber)
            throw CommandException.TypeMismatch(
                $"BSON field 'find.{reader.NameText}' is the wrong type '{reader.Type}', expected types '[long, int, decimal, double']");
        long value = reader.ToInt64();
        return value >= 0 ? value
            : throw CommandException.Location(51024, $"BSON field '{reader.NameText}' value must be >= 0, actual value '{value}'");
    }
}

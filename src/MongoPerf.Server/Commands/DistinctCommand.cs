using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>distinct: every value of a field once, elements of arrays each for itself.</summary>
internal static class DistinctCommand
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(reader);
        string? field = null;
        CollationOption collation = default;
        BsonDocument filter = BsonDocument.Empty;
        foreach ((string option, BsonValue value) in new BsonDocument(request.Body.ToArray()).Skip(1))
        {
            switch (option)
            {
                case "key": field = value.Type == BsonType.String
                    ? value.ToString()
                    : throw CommandFields.Mismatch("distinct", option, value.Type, "string"); break;
                case "query": filter = value.Type == BsonType.Null ? filter : CommandFields.Document("distinct", option, value); break;
                case "collation": collation = CollationOption.Parse(value); break;
                default: CommandFields.RequireGeneric("distinct", option); break;
            }
        }

        ProtocolLimits.RequirePath(field ?? throw CommandException.MissingField("distinct", "key"));
        var path = new FieldPath(field);
        session.Query.Parse(filter.Bytes, 0, 0, hint: default, variables: null, collation);
        reply.Body.StartArray("values"u8);
        if (session.FindCollection(name) is { } collection)
            Collect(session, collection, path, collation, reply.Body);
        reply.Body.End();
        reply.Succeed();
    }

    private static void Collect(
        CommandSession session, Collection collection, FieldPath path, CollationOption collation, BsonWriter body)
    {
        FindQuery query = session.Query;
        using var use = CollectionUse.ToRead(session, collection);
        var collector = new DistinctSet(path, collation.For(collection));
        query.Filter.Collation = collation.For(collection);
        CollectionIndex? index = DistinctSet.FindIndex(collection, query.Filter, path);
        collector.Index = index?.Spec;
        // Of equal numbers of several types the one that is met first is returned.
        if (index != null && query.Filter.IsEmpty)
            query.Parse(BsonDocument.Empty.Bytes, 0, 0, IndexHint.On(index), variables: null, collation);
        query.Open(collection.IsDropped ? null : collection);
        while (query.MoveNext())
        {
            collector.Add(query.Current);
            if (collector.Bytes > ProtocolLimits.MaximumReplyBytes)
                throw CommandException.Location(17217, "distinct too big, 16mb cap");
        }

        collector.Write(body);
        (long keys, long documents, _) = query.Examined;
        session.Server.Counters.CountScan(keys, documents, 0);
    }
}

/// <summary>Every value of a field once, elements of arrays each for itself.</summary>
/// <param name="path">The field's.</param>
/// <param name="collation">Says which strings are equal; null for those of the same bytes.</param>
internal sealed class DistinctSet(FieldPath path, Collation? collation)
{
    private readonly KeyBuffer _key = new();
    private readonly SortedDictionary<byte[], BsonValue> _values = new(Comparer<byte[]>.Create((a, b) => a.AsSpan().SequenceCompareTo(b)));
    private ValueHandler? _take;

    /// <summary>The bytes of the reply's array with the values that are there so far.</summary>
    public long Bytes { get; private set; }

    /// <summary>The index that mongod reads the values from: a missing field is null there, and an empty array undefined.</summary>
    public IndexSpec? Index { get; set; }

    /// <summary>
    /// The index from which mongod answers alone: no filter, or one whose bounds are exact, over an index without arrays. Null
    /// where there is none.
    /// </summary>
    public static CollectionIndex? FindIndex(Collection collection, Filter filter, FieldPath path) =>
        Array.Find(collection.Indexes, index =>
        {
            IndexField[] fields = index.Spec.Fields;
            // The keys of an index with a collation are not the values.
            if (index.Spec.Collation != null || filter.Collation != null)
                return false;
            if (index.Spec.IsHidden)
                return false;
            // The key of an index on a and a.b has a whole, and mongod then looks for a.b inside that.
            if (Array.Exists(fields, field => path.Text.StartsWith(field.Path.Text + ".", StringComparison.Ordinal)))
                return false;
            if (filter.IsEmpty)
                return index.Spec.Partial == null && fields[0].Path.IsSame(path) && !(index.IsMultikey && HasPlace(path));
            return !index.IsMultikey && Planner.Serves(index, filter) && Array.Exists(fields, field => field.Path.IsSame(path))
                && filter.Root.Children.Exists(node => fields[0].Path.IsSame(node.Path))
                && filter.Root.Children.TrueForAll(node => IsExact(node) && Array.Exists(fields, field => field.Path.IsSame(node.Path)));
        });

    public void Add(ReadOnlySpan<byte> document)
    {
        if (Index == null)
            PathValues.Visit(path, document, _take ??= Take);
        else if (path.Find(document, out BsonType type, out ReadOnlySpan<byte> value) == PathResult.Array)
            AddKeys(document.ToArray());
        else
            Take(type, value);
    }

    /// <summary>Writes the elements of the reply's array, in MongoDB's order of values.</summary>
    public void Write(BsonWriter body)
    {
        int index = 0;
        foreach (BsonValue value in _values.Values)
            body.WriteValue(ArrayNames.Of(index++), value.Type, value.Bytes.Span);
    }

    private void AddKeys(byte[] document)
    {
        var keys = new ArrayKeys();
        keys.Build([new IndexField(path, IsDescending: false)], document, new KeyBuffer(), () =>
        {
            BsonValue value = keys.Values(document).First().Value;
            PathValues.VisitLast(value.Type, value.Bytes.Span, Take);
        }, isSparse: Index is { IsSparse: true, Fields.Length: 1 });
    }

    /// <summary>A step that is a number: over arrays mongod does not read such values from an index.</summary>
    private static bool HasPlace(FieldPath path) => path.Text.Split('.').Skip(1).Any(step => step.All(char.IsAsciiDigit));

    private static bool IsExact(FilterNode node) => node.Patterns == null
        && node.Operator is FilterOperator.Equal or FilterOperator.Greater or FilterOperator.GreaterOrEqual or FilterOperator.Less
            or FilterOperator.LessOrEqual
            or FilterOperator.NotEqual or FilterOperator.In or FilterOperator.NotIn
        && node.OperandType is not (BsonType.Null or BsonType.Undefined);

    private void Take(BsonType type, ReadOnlySpan<byte> value)
    {
        ActiveOperation.Check();
        _key.Clear();
        KeyEncoder.Write(_key, type, value, isDescending: false, collation);
        byte[] key = _key.Written.ToArray();
        if (_values.TryAdd(key, new BsonValue(type, value.ToArray())))
            Bytes += value.Length + ArrayNames.Of(_values.Count - 1).Length + 2;
    }
}

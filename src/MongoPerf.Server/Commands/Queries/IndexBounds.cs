using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Works out which ranges of an index can hold what a filter asks for. Ranges may be too wide, never too narrow.</summary>
/// <remarks>Every candidate is tested against the whole filter afterwards. Used again; one thread.</remarks>
internal sealed class IndexBounds
{
    private readonly KeyBuffer _prefix = new();
    private readonly KeyBuffer _low = new();
    private readonly KeyBuffer _high = new();
    private readonly KeyBuffer _scratch = new();
    private readonly KeyBuffer _intervalLow = new();
    private readonly KeyBuffer _intervalHigh = new();

    // Index and query order strings in the same way; else only conditions without strings say where to look.
    private bool _knowsStrings;

    /// <summary>
    /// Fills <paramref name="plan"/> with the ranges of <paramref name="index"/>; one over everything when the filter
    /// says nothing about it.
    /// </summary>
    public void Build(ScanPlan plan, CollectionIndex index, Filter filter)
    {
        plan.Reset(index);
        _knowsStrings = index.Spec.Collation == filter.Collation;
        _prefix.Clear();
        IndexField[] fields = index.Spec.Fields;
        // With arrays in it, bounds on a later field could belong to another element than those on the first.
        int usable = index.IsMultikey ? 1 : fields.Length;
        for (int i = 0; i < usable; i++)
        {
            FilterNode? equal = FindEqual(filter, fields[i].Path, index.IsMultikey);
            if (equal == null)
            {
                AddLastField(plan, fields[i], filter, index.IsMultikey);
                break;
            }

            AppendValue(fields[i], equal.OperandType, filter.Operand(equal));
            plan.EqualFields = i + 1;
        }

        if (plan.RangeCount == 0)
            AddPrefixRange(plan);
        plan.IsBounded = plan.EqualFields > 0 || plan.RangeCount != 1 || plan.Range(0).HasHigh || plan.Range(0).Low.Length > 0;
        plan.SortRanges();
    }

    private bool CanOrder(BsonType type) => _knowsStrings || !Collation.Concerns(type);

    private FilterNode? FindEqual(Filter filter, FieldPath path, bool isMultikey)
    {
        foreach (FilterNode node in filter.Root.Children)
        {
            if (node.Operator == FilterOperator.Equal && path.IsSame(node.Path) && IsPoint(node.OperandType, isMultikey)
                && CanOrder(node.OperandType))
                return node;
        }

        return null;
    }

    /// <summary>Values that stand in the index as one key: null also means missing and undefined, an array its elements too.</summary>
    private static bool IsPoint(BsonType type, bool isMultikey) =>
        type is not (BsonType.Null or BsonType.Undefined) && !(isMultikey && type == BsonType.Array);

    private void AppendValue(IndexField field, BsonType type, ReadOnlySpan<byte> value)
    {
        KeyEncoder.Write(_prefix, type, value, field.IsDescending, field.Collation);
    }

    private void AddLastField(ScanPlan plan, IndexField field, Filter filter, bool isMultikey)
    {
        bool isBound = false;
        foreach (FilterNode node in filter.Root.Children)
        {
            if (!field.Path.IsSame(node.Path))
                continue;
            if (node is { Operator: FilterOperator.In, Patterns: null } && !isBound
                && AddPoints(plan, field, filter.Operand(node), isMultikey))
                return;
            // Two conditions on an array may be met by two of its elements: only one of them bounds the scan.
            if (isBound && isMultikey)
                break;
            isBound |= Narrow(node, filter.Operand(node), isBound, isMultikey, field);
        }

        if (isBound)
            AddRange(plan);
    }

    /// <summary>Narrows [_low, _high) by one condition; the first one sets it.</summary>
    private bool Narrow(FilterNode node, ReadOnlySpan<byte> operand, bool isBound, bool isMultikey, IndexField field)
    {
        if (!TryInterval(node, operand, isMultikey, field, out KeyBuffer? low, out KeyBuffer? high))
            return false;
        if (!isBound || low.Written.SequenceCompareTo(_low.Written) > 0)
            Copy(low, _low);
        if (!isBound || high.Written.SequenceCompareTo(_high.Written) < 0)
            Copy(high, _high);
        return true;
    }

    /// <summary>The keys from low, included, to high, excluded, in the index's own order: downwards, what is less comes behind.</summary>
    private bool TryInterval(
        FilterNode node, ReadOnlySpan<byte> operand, bool isMultikey, IndexField field, out KeyBuffer low, out KeyBuffer high)
    {
        bool isDescending = field.IsDescending;
        low = _intervalLow;
        high = _intervalHigh;
        low.Clear();
        high.Clear();
        FilterOperator kind = isDescending ? Mirrored(node.Operator) : node.Operator;
        if (kind is not (FilterOperator.Equal or FilterOperator.Greater or FilterOperator.GreaterOrEqual or FilterOperator.Less
            or FilterOperator.LessOrEqual))
            return false;
        BsonType type = node.OperandType;
        if (type is BsonType.MinKey or BsonType.MaxKey || (isMultikey && type == BsonType.Array)
            || !CanOrder(type))
            return false;
        if (type is BsonType.Null or BsonType.Undefined)
        {
            low.Add(isDescending ? (byte)(0xFF - BsonOrder.NullRank) : BsonOrder.UndefinedRank);
            high.Add((byte)(1 + (isDescending ? (byte)(0xFF - BsonOrder.UndefinedRank) : BsonOrder.NullRank)));
            return true;
        }

        _scratch.Clear();
        KeyEncoder.Write(_scratch, type, operand, isDescending, field.Collation);
        byte rank = _scratch.Written[0];
        low.Add(rank);
        high.Add((byte)(rank + 1));
        if (kind is FilterOperator.Equal or FilterOperator.GreaterOrEqual or FilterOperator.Greater)
            Copy(_scratch, low);
        if (kind is FilterOperator.Equal or FilterOperator.LessOrEqual or FilterOperator.Less)
            Copy(_scratch, high);
        if (kind == FilterOperator.Greater)
            KeyEncoder.MoveBehind(low);
        if (kind is FilterOperator.Equal or FilterOperator.LessOrEqual)
            KeyEncoder.MoveBehind(high);
        return true;
    }

    private static FilterOperator Mirrored(FilterOperator kind) => kind switch
    {
        FilterOperator.Greater => FilterOperator.Less,
        FilterOperator.GreaterOrEqual => FilterOperator.LessOrEqual,
        FilterOperator.Less => FilterOperator.Greater,
        FilterOperator.LessOrEqual => FilterOperator.GreaterOrEqual,
        _ => kind,
    };

    private bool AddPoints(ScanPlan plan, IndexField field, ReadOnlySpan<byte> array, bool isMultikey)
    {
        var items = new BsonReader(array);
        while (items.Read())
        {
            if (!IsPoint(items.Type, isMultikey) || !CanOrder(items.Type))
                return false;
        }

        items = new BsonReader(array);
        bool any = false;
        while (items.Read())
        {
            any = true;
            _low.Clear();
            KeyEncoder.Write(_low, items.Type, items.Value, field.IsDescending, field.Collation);
            Copy(_low, _high);
            KeyEncoder.MoveBehind(_high);
            AddRange(plan);
        }

        return any;
    }

    /// <summary>Puts [_low, _high) of one field behind the prefix.</summary>
    private void AddRange(ScanPlan plan)
    {
        KeyRange range = plan.AddRange();
        range.HasHigh = true;
        Join(range.Low, _low);
        Join(range.High, _high);
    }

    private void Join(KeyBuffer target, KeyBuffer value)
    {
        target.Clear();
        target.Add(_prefix.Written);
        target.Add(value.Written);
    }

    private void AddPrefixRange(ScanPlan plan)
    {
        KeyRange range = plan.AddRange();
        Copy(_prefix, range.Low);
        if (_prefix.Length == 0)
            return;
        Copy(_prefix, range.High);
        range.HasHigh = range.High.IncrementPrefix();
    }

    private static void Copy(KeyBuffer source, KeyBuffer target)
    {
        target.Clear();
        target.Add(source.Written);
    }
}

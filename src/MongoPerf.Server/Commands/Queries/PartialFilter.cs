using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>
/// The filter of a partial index: which documents the index has, and which queries find among those all that they ask for. Immutable; any
/// thread.
/// </summary>
/// <remarks>Source of the rules: mongod 6.0, the manual's "Partial Indexes" and what its planner was seen to do.</remarks>
internal sealed class PartialFilter : IDocumentFilter
{
    private const int MaximumDepth = 4;
    private readonly Filter _filter = new(new PathCache());

    private PartialFilter(BsonDocument source, Collation? collation)
    {
        Source = source;
        _filter.Compile(source.Bytes);
        _filter.Collation = collation;
    }

    /// <inheritdoc/>
    public BsonDocument Source { get; }

    /// <param name="source">The filter as the client gave it.</param>
    /// <param name="collation">The index's.</param>
    /// <exception cref="CommandException">No filter, or with an operator that no partial index may have.</exception>
    public static PartialFilter Compile(BsonDocument source, Collation? collation)
    {
        var partial = new PartialFilter(new BsonDocument(source.Bytes.ToArray()), collation);
        Require(partial._filter.Root, level: 1);
        return partial;
    }

    /// <inheritdoc/>
    public bool Matches(ReadOnlySpan<byte> document) => _filter.Matches(document);

    /// <summary>Whether it can be shown that every document that matches the query is in the index.</summary>
    public bool IsImpliedBy(Filter query) => query.Collation == _filter.Collation && Implies(query, query.Root, _filter.Root);

    private static void Require(FilterNode node, int level)
    {
        bool isGroup = node.Operator is FilterOperator.And or FilterOperator.Or;
        // A group of one is that one.
        if (isGroup && node.Children.Count == 1)
        {
            Require(node.Children[0], level);
            return;
        }

        if (level > MaximumDepth)
            throw new CommandException(67, "CannotCreateIndex", $"partialFilterExpression depth may not exceed {MaximumDepth}");
        if (node.Operator == FilterOperator.Expression)
            throw new CommandException(224, "QueryFeatureNotAllowed", "$expr is not allowed in this context");
        bool isAllowed = node.Operator switch
        {
            FilterOperator.Equal or FilterOperator.Greater or FilterOperator.GreaterOrEqual or FilterOperator.Less
                or FilterOperator.LessOrEqual or FilterOperator.In or FilterOperator.Type => true,
            FilterOperator.Exists => node.Flag,
            _ => isGroup,
        };
        if (!isAllowed)
            throw new CommandException(67, "CannotCreateIndex", $"Expression not supported in partial index: {Name(node)}; "
                + "allowed are $and, $or, $in, $eq, $gt, $gte, $lt, $lte, $type, and $exists: true");
        foreach (FilterNode child in node.Children)
            Require(child, level + 1);
    }

    private static string Name(FilterNode node) => node.Operator switch
    {
        FilterOperator.Nor when node.Children is [{ Operator: FilterOperator.And, Children: [{ Path: not null }, ..] }] => "$not",
        FilterOperator.Nor => "$nor",
        FilterOperator.NotEqual or FilterOperator.NotIn => "$ne",
        FilterOperator.Exists => "$exists: false",
        FilterOperator.ElementMatches or FilterOperator.ElementValueMatches => "$elemMatch",
        FilterOperator.Size => "$size",
        FilterOperator.Modulo => "$mod",
        FilterOperator.Nothing => "$all: []",
        _ => "a regular expression",
    };

    /// <summary>Groups of the index are taken apart first: only together may a query's conditions meet an $and of the index.</summary>
    private bool Implies(Filter query, FilterNode left, FilterNode right)
    {
        if (right.Operator == FilterOperator.Or)
            return right.Children.Exists(child => Implies(query, left, child));
        if (right.Operator == FilterOperator.And)
            return right.Children.TrueForAll(child => Implies(query, left, child));
        return left.Operator switch
        {
            FilterOperator.And => left.Children.Exists(child => Implies(query, child, right)),
            FilterOperator.Or => left.Children.TrueForAll(child => Implies(query, child, right)),
            _ => right.Path != null && IsOnPath(left, right.Path) && ImpliesCondition(query, left, right),
        };
    }

    private static bool IsOnPath(FilterNode node, FieldPath path) => path.IsSame(node.Path);

    private bool ImpliesCondition(Filter query, FilterNode left, FilterNode right)
    {
        switch (right.Operator)
        {
            case FilterOperator.Exists:
                return MeansPresence(query, left);
            case FilterOperator.Type:
                return left.Operator == FilterOperator.Type && left.Types == right.Types;
            case FilterOperator.In:
                return ImpliesAny(query, left, _filter.Operand(right));
            default:
                return ImpliesComparison(query, left, right.Operator, right.OperandType, _filter.Operand(right));
        }
    }

    /// <summary>Whether a condition is met by no document without the field.</summary>
    private static bool MeansPresence(Filter query, FilterNode node) => node.Operator switch
    {
        FilterOperator.Exists => node.Flag,
        FilterOperator.NotEqual => node.OperandType == BsonType.Null,
        FilterOperator.NotIn => HasNull(query.Operand(node)),
        FilterOperator.In => !HasNull(query.Operand(node)),
        FilterOperator.Equal or FilterOperator.Greater or FilterOperator.GreaterOrEqual or FilterOperator.Less
            or FilterOperator.LessOrEqual => node.OperandType != BsonType.Null,
        _ => true,
    };

    public static bool HasNull(ReadOnlySpan<byte> array)
    {
        var items = new BsonReader(array);
        while (items.Read())
        {
            if (items.Type == BsonType.Null)
                return true;
        }

        return false;
    }

    /// <summary>As on mongod, a list is met by one of its values and by the same list, and not by a part of it.</summary>
    private bool ImpliesAny(Filter query, FilterNode left, ReadOnlySpan<byte> array) => left.Operator switch
    {
        FilterOperator.In => query.Operand(left).SequenceEqual(array),
        FilterOperator.Equal => IsAmong(left.OperandType, query.Operand(left), array),
        _ => false,
    };

    private bool IsAmong(BsonType type, ReadOnlySpan<byte> value, ReadOnlySpan<byte> array)
    {
        var items = new BsonReader(array);
        while (items.Read())
        {
            if (Implies(FilterOperator.Equal, type, value, FilterOperator.Equal, items.Type, items.Value))
                return true;
        }

        return false;
    }

    private bool ImpliesComparison(
        Filter query, FilterNode left, FilterOperator kind, BsonType type, ReadOnlySpan<byte> value)
    {
        if (left.Operator != FilterOperator.In)
            return Implies(left.Operator, left.OperandType, query.Operand(left), kind, type, value);
        var wanted = new BsonReader(query.Operand(left));
        while (wanted.Read())
        {
            if (!Implies(FilterOperator.Equal, wanted.Type, wanted.Value, kind, type, value))
                return false;
        }

        return left.Patterns == null;
    }

    /// <summary>Whether the right comparison takes all values that the left one takes.</summary>
    private bool Implies(
        FilterOperator left, BsonType leftType, ReadOnlySpan<byte> leftValue,
        FilterOperator right, BsonType rightType, ReadOnlySpan<byte> rightValue)
    {
        if (left is not (FilterOperator.Equal or FilterOperator.Greater or FilterOperator.GreaterOrEqual or FilterOperator.Less
                or FilterOperator.LessOrEqual)
            || BsonOrder.Rank(leftType) != BsonOrder.Rank(rightType))
            return false;
        int order = BsonOrder.Compare(leftType, leftValue, rightType, rightValue, _filter.Collation);
        if (IsNaN(leftType, leftValue) || IsNaN(rightType, rightValue))
            return order == 0 && AllowsEqual(left) && AllowsEqual(right);
        if (left == right && order == 0)
            return true;
        return right switch
        {
            FilterOperator.Less => left is FilterOperator.Less or FilterOperator.LessOrEqual or FilterOperator.Equal && order < 0,
            FilterOperator.LessOrEqual => left is FilterOperator.Less or FilterOperator.LessOrEqual or FilterOperator.Equal && order <= 0,
            FilterOperator.Greater => left is FilterOperator.Greater or FilterOperator.GreaterOrEqual or FilterOperator.Equal && order > 0,
            FilterOperator.GreaterOrEqual =>
                left is FilterOperator.Greater or FilterOperator.GreaterOrEqual or FilterOperator.Equal && order >= 0,
            _ => false,
        };
    }

    private static bool AllowsEqual(FilterOperator kind) =>
        kind is FilterOperator.Equal or FilterOperator.GreaterOrEqual or FilterOperator.LessOrEqual;

    private static bool IsNaN(BsonType type, ReadOnlySpan<byte> value) =>
        BsonOrder.Rank(type) == BsonOrder.NumberRank && double.IsNaN(new BsonValue(type, value.ToArray()).ToDouble());
}

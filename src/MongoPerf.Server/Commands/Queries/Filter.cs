using System.Buffers.Binary;
using System.Text;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>A compiled filter over its own copy of the source; compiled again and again without new memory. One thread.</summary>
internal sealed class Filter
{
    private readonly PathCache _paths;
    private readonly List<FilterNode> _nodes = [];
    private byte[] _source = new byte[256];
    private int _sourceLength;
    private int _used;
    private bool _hasExpressions;

    public Filter(PathCache paths)
    {
        _paths = paths;
        Root = NewNode(FilterOperator.And);
    }

    /// <summary>The conditions that must all hold.</summary>
    public FilterNode Root { get; private set; }

    public ReadOnlySpan<byte> Source => _source.AsSpan(0, _sourceLength);

    public bool IsEmpty => Root.Children.Count == 0;

    /// <summary>There is an $expr somewhere in it.</summary>
    public bool HasExpressions => _hasExpressions;

    /// <summary>The command's <c>let</c>, for $expr; null when it has none.</summary>
    public Variables? Variables { get; private set; }

    /// <summary>The order of strings, and when they are equal; null for that of their bytes. Holds until it is set anew.</summary>
    public Collation? Collation { get; set; }

    /// <summary>The shard whose documents alone are there for the query; null for all. Until the next <see cref="Compile"/>.</summary>
    public ShardPart? Part { get; set; }

    /// <param name="document">The filter as the client gave it.</param>
    /// <param name="variables">The command's <c>let</c>.</param>
    /// <exception cref="CommandException">An operator or operand that is not known here.</exception>
    /// <param name="keepsOrder">
    /// Conditions are asked as they are written, as by mongod in a $match that no query does; else expressions come last.
    /// </param>
    public void Compile(ReadOnlySpan<byte> document, Variables? variables = null, bool keepsOrder = false)
    {
        Variables = variables;
        Part = null;
        if (_source.Length < document.Length)
            _source = new byte[2 * document.Length];
        document.CopyTo(_source);
        _sourceLength = document.Length;
        _used = 0;
        _hasExpressions = false;
        Root = NewNode(FilterOperator.And);
        var compiler = new FilterCompiler(this, _paths);
        compiler.CompileDocument(0, Root);
        if (_hasExpressions && !keepsOrder)
            PutExpressionsLast(Root);
    }

    public ReadOnlySpan<byte> Operand(FilterNode node) => _source.AsSpan(node.OperandStart, node.OperandLength);

    public bool Matches(ReadOnlySpan<byte> document) => Matches(Root, document);

    internal FilterNode NewNode(FilterOperator kind)
    {
        if (_used == _nodes.Count)
            _nodes.Add(new FilterNode());
        FilterNode node = _nodes[_used++];
        node.Operator = kind;
        _hasExpressions |= kind == FilterOperator.Expression;
        node.Path = null;
        node.Flag = false;
        node.Patterns = null;
        node.Expression = null;
        node.Children.Clear();
        return node;
    }

    /// <summary>An expression may fail on a document that a plain condition excludes: it is asked last, as by MongoDB.</summary>
    /// <returns>Whether there is one in this node, or below it.</returns>
    private static bool PutExpressionsLast(FilterNode node)
    {
        if (node.Children.Count == 0)
            return node.Operator == FilterOperator.Expression;
        FilterNode[] plain = [.. node.Children.Where(child => !PutExpressionsLast(child))];
        if (plain.Length == node.Children.Count)
            return false;
        FilterNode[] ordered = [.. plain, .. node.Children.Except(plain)];
        node.Children.Clear();
        node.Children.AddRange(ordered);
        return true;
    }

    private bool Matches(FilterNode node, ReadOnlySpan<byte> document) => node.Operator switch
    {
        FilterOperator.And => MatchesAll(node, document),
        FilterOperator.Or => MatchesAny(node, document),
        FilterOperator.Nor => !MatchesAny(node, document),
        FilterOperator.NotEqual or FilterOperator.NotIn => !MatchesField(node, document),
        FilterOperator.Nothing => false,
        FilterOperator.Expression => node.Expression!.IsTrue(document, Variables),
        _ => MatchesField(node, document),
    };

    /// <summary>Conditions on a value without a field: the inside of {$elemMatch: {$gt: 1}}.</summary>
    private bool MatchesValue(FilterNode node, BsonType type, ReadOnlySpan<byte> value)
    {
        switch (node.Operator)
        {
            case FilterOperator.And:
                foreach (FilterNode child in node.Children)
                {
                    if (!MatchesValue(child, type, value))
                        return false;
                }

                return true;
            case FilterOperator.Nor:
                return !MatchesValue(node.Children[0], type, value);
            case FilterOperator.Nothing:
                return false;
            case FilterOperator.Exists:
                return node.Flag;
            default:
                bool isMet = new ValueTest(this, node).Visit(type, value, isElement: false);
                return node.Operator is FilterOperator.NotEqual or FilterOperator.NotIn ? !isMet : isMet;
        }
    }

    private bool MatchesAll(FilterNode group, ReadOnlySpan<byte> document)
    {
        foreach (FilterNode child in group.Children)
        {
            if (!Matches(child, document))
                return false;
        }

        return true;
    }

    private bool MatchesAny(FilterNode group, ReadOnlySpan<byte> document)
    {
        foreach (FilterNode child in group.Children)
        {
            if (Matches(child, document))
                return true;
        }

        return false;
    }

    private bool MatchesField(FilterNode node, ReadOnlySpan<byte> document)
    {
        var test = new ValueTest(this, node);
        switch (node.Path!.Find(document, out BsonType type, out ReadOnlySpan<byte> value))
        {
            case PathResult.Present:
                return node.Operator == FilterOperator.Exists ? node.Flag : test.Visit(type, value, isElement: false);
            case PathResult.Missing:
                return node.Operator == FilterOperator.Exists ? !node.Flag : test.VisitMissing();
            default:
                if (node.Operator != FilterOperator.Exists)
                    return node.Path.Visit(document, ref test);
                var exists = new ExistsTest();
                return node.Path.Visit(document, ref exists) == node.Flag;
        }
    }

    /// <summary>Whether one value meets a condition. Negated operators test their positive form; the caller negates.</summary>
    internal readonly struct ValueTest(Filter filter, FilterNode node) : IValueVisitor
    {
        public void StoppedIn(ReadOnlySpan<byte> element)
        {
        }

        public bool Visit(BsonType type, ReadOnlySpan<byte> value, bool isElement)
        {
            switch (node.Operator)
            {
                case FilterOperator.In or FilterOperator.NotIn:
                    return IsAnyOf(type, value);
                case FilterOperator.Size or FilterOperator.ElementMatches or FilterOperator.ElementValueMatches:
                    // An array inside the array is one of its elements, and not looked into.
                    return !isElement && type == BsonType.Array && filter.MatchesArray(node, value, out _);
                case FilterOperator.Type:
                    return node.Types.Contains(type);
                case FilterOperator.Modulo:
                    return HasRemainder(type, value);
                case FilterOperator.Regex:
                    return MatchesPattern(type, value)
                        || (type == BsonType.Regex && node.OperandType == BsonType.Regex && value.SequenceEqual(filter.Operand(node)));
                default:
                    return Compares(node.Operator, type, value, node.OperandType, filter.Operand(node), filter.Collation);
            }
        }

        public bool VisitMissing() =>
            node.Operator is not (FilterOperator.Size or FilterOperator.ElementMatches or FilterOperator.ElementValueMatches
                or FilterOperator.Type or FilterOperator.Modulo or FilterOperator.Regex) && Visit(BsonType.Null, default, isElement: false);

        private bool IsAnyOf(BsonType type, ReadOnlySpan<byte> value)
        {
            var items = new BsonReader(filter.Operand(node));
            while (items.Read())
            {
                if (Compares(FilterOperator.Equal, type, value, items.Type, items.Value, filter.Collation))
                    return true;
            }

            return node.Patterns != null && MatchesPattern(type, value);
        }

        private bool MatchesPattern(BsonType type, ReadOnlySpan<byte> value)
        {
            if (type is not (BsonType.String or BsonType.Symbol))
                return false;
            string text = Encoding.UTF8.GetString(value[4..^1]);
            foreach (TextPattern pattern in node.Patterns!)
            {
                ActiveOperation.Check();
                if (pattern.IsMatch(text))
                    return true;
            }

            return false;
        }

        private bool HasRemainder(BsonType type, ReadOnlySpan<byte> value) => type switch
        {
            BsonType.Int32 => BinaryPrimitives.ReadInt32LittleEndian(value) % node.Number == node.Remainder,
            BsonType.Int64 =>
                node.Number == -1 ? node.Remainder == 0 : BinaryPrimitives.ReadInt64LittleEndian(value) % node.Number == node.Remainder,
            BsonType.Double => BinaryPrimitives.ReadDoubleLittleEndian(value) is var number && Math.Abs(number) < 9.2233720368547758E18
                && (long)number % node.Number == node.Remainder,
            BsonType.Decimal128 => Decimal128.FromBytes(value) is var number && Math.Abs(number.ToDouble()) < 9.2233720368547758E18
                && number.ToInt64() % node.Number == node.Remainder,
            _ => false,
        };
    }

    /// <param name="node">A condition on the elements of an array, or on their number.</param>
    /// <param name="array">The array.</param>
    /// <param name="element">The place of the element that meets it.</param>
    internal bool MatchesArray(FilterNode node, ReadOnlySpan<byte> array, out ReadOnlySpan<byte> element)
    {
        element = default;
        long count = 0;
        var elements = new BsonReader(array);
        while (elements.Read())
        {
            count++;
            bool isMet = node.Operator switch
            {
                FilterOperator.ElementMatches => elements.Type is BsonType.Document or BsonType.Array && MatchesAll(node, elements.Value),
                FilterOperator.ElementValueMatches => MatchesValue(node.Children[0], elements.Type, elements.Value),
                _ => false,
            };
            if (isMet)
            {
                element = elements.Name;
                return true;
            }
        }

        return node.Operator == FilterOperator.Size && count == node.Number;
    }

    /// <summary>Orders hold between values of one kind only (MongoDB's type bracketing).</summary>
    private static bool Compares(
        FilterOperator kind, BsonType type, ReadOnlySpan<byte> value, BsonType operandType, ReadOnlySpan<byte> operand,
        Collation? collation)
    {
        byte rank = BsonOrder.Rank(type == BsonType.Undefined ? BsonType.Null : type);
        bool isSameKind = rank == BsonOrder.Rank(operandType);
        if (!isSameKind)
        {
            // Everything lies between MinKey and MaxKey, whatever its kind.
            return (operandType, kind) is (BsonType.MinKey, FilterOperator.Greater or FilterOperator.GreaterOrEqual)
                or (BsonType.MaxKey, FilterOperator.Less or FilterOperator.LessOrEqual);
        }

        int order = type == BsonType.Undefined ? 0 : BsonOrder.Compare(type, value, operandType, operand, collation);
        if (order != 0 && rank == BsonOrder.NumberRank && (IsNaN(type, value) || IsNaN(operandType, operand)))
            return false;
        return kind switch
        {
            FilterOperator.Greater => order > 0,
            FilterOperator.GreaterOrEqual => order >= 0,
            FilterOperator.Less => order < 0,
            FilterOperator.LessOrEqual => order <= 0,
            _ => order == 0,
        };
    }

    private static bool IsNaN(BsonType type, ReadOnlySpan<byte> value) => type switch
    {
        BsonType.Double => double.IsNaN(BinaryPrimitives.ReadDoubleLittleEndian(value)),
        BsonType.Decimal128 => Decimal128.FromBytes(value).IsNaN,
        _ => false,
    };

    private struct ExistsTest : IValueVisitor
    {
        public readonly bool Visit(BsonType type, ReadOnlySpan<byte> value, bool isElement) => true;

        public readonly bool VisitMissing() => false;

        public readonly void StoppedIn(ReadOnlySpan<byte> element)
        {
        }
    }
}

using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
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

    public Filter(PathCache paths)
    {
        _paths = paths;
        Root = NewNode(FilterOperator.And);
    }

    /// <summary>The conditions that must all hold.</summary>
    public FilterNode Root { get; private set; }

    public ReadOnlySpan<byte> Source => _source.AsSpan(0, _sourceLength);

    public bool IsEmpty => Root.Children.Count == 0;

    /// <exception cref="CommandException">An operator or operand that is not known here.</exception>
    public void Compile(ReadOnlySpan<byte> document)
    {
        if (_source.Length < document.Length)
            _source = new byte[2 * document.Length];
        document.CopyTo(_source);
        _sourceLength = document.Length;
        _used = 0;
        Root = NewNode(FilterOperator.And);
        new FilterCompiler(this, _paths).CompileDocument(0, Root);
    }

    public ReadOnlySpan<byte> Operand(FilterNode node) => _source.AsSpan(node.OperandStart, node.OperandLength);

    public bool Matches(ReadOnlySpan<byte> document) => Matches(Root, document);

    internal FilterNode NewNode(FilterOperator kind)
    {
        if (_used == _nodes.Count)
            _nodes.Add(new FilterNode());
        FilterNode node = _nodes[_used++];
        node.Operator = kind;
        node.Path = null;
        node.Flag = false;
        node.Children.Clear();
        return node;
    }

    private bool Matches(FilterNode node, ReadOnlySpan<byte> document) => node.Operator switch
    {
        FilterOperator.And => MatchesAll(node, document),
        FilterOperator.Or => MatchesAny(node, document),
        FilterOperator.Nor => !MatchesAny(node, document),
        FilterOperator.NotEqual or FilterOperator.NotIn => !MatchesField(node, document),
        _ => MatchesField(node, document),
    };

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
    private readonly struct ValueTest(Filter filter, FilterNode node) : IValueVisitor
    {
        public bool Visit(BsonType type, ReadOnlySpan<byte> value, bool isElement)
        {
            if (node.Operator is FilterOperator.In or FilterOperator.NotIn)
                return IsAnyOf(type, value);
            return Compares(node.Operator, type, value, node.OperandType, filter.Operand(node));
        }

        public bool VisitMissing() => Visit(BsonType.Null, default, isElement: false);

        private bool IsAnyOf(BsonType type, ReadOnlySpan<byte> value)
        {
            var items = new BsonReader(filter.Operand(node));
            while (items.Read())
            {
                if (Compares(FilterOperator.Equal, type, value, items.Type, items.Value))
                    return true;
            }

            return false;
        }
    }

    /// <summary>Orders hold between values of one kind only (MongoDB's type bracketing).</summary>
    private static bool Compares(FilterOperator kind, BsonType type, ReadOnlySpan<byte> value, BsonType operandType, ReadOnlySpan<byte> operand)
    {
        if (type == BsonType.Decimal128)
            throw CommandException.NotSupported("comparing decimal128 values");
        byte rank = BsonOrder.Rank(type == BsonType.Undefined ? BsonType.Null : type);
        bool isSameKind = rank == BsonOrder.Rank(operandType);
        if (!isSameKind)
        {
            // Everything lies between MinKey and MaxKey, whatever its kind.
            return (operandType, kind) is (BsonType.MinKey, FilterOperator.Greater or FilterOperator.GreaterOrEqual)
                or (BsonType.MaxKey, FilterOperator.Less or FilterOperator.LessOrEqual);
        }

        int order = type == BsonType.Undefined ? 0 : BsonOrder.Compare(type, value, operandType, operand);
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

    private static bool IsNaN(BsonType type, ReadOnlySpan<byte> value) =>
        type == BsonType.Double && double.IsNaN(System.Buffers.Binary.BinaryPrimitives.ReadDoubleLittleEndian(value));

    private struct ExistsTest : IValueVisitor
    {
        public readonly bool Visit(BsonType type, ReadOnlySpan<byte> value, bool isElement) => true;

        public readonly bool VisitMissing() => false;
    }
}

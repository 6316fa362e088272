using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

internal enum FilterOperator
{
    And,
    Or,
    Nor,
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    In,
    NotEqual,
    NotIn,
    Exists,
    Not,
}

/// <summary>One condition of a filter, or a group of conditions. Belongs to its <see cref="Filter"/> and is used again by it.</summary>
internal sealed class FilterNode
{
    public FilterOperator Operator { get; set; }

    /// <summary>Null for groups.</summary>
    public FieldPath? Path { get; set; }

    public BsonType OperandType { get; set; }

    /// <summary>The operand's place in the filter's own copy of its source.</summary>
    public int OperandStart { get; set; }

    public int OperandLength { get; set; }

    /// <summary>For <see cref="FilterOperator.Exists"/>: whether the field shall be there.</summary>
    public bool Flag { get; set; }

    public List<FilterNode> Children { get; } = [];
}

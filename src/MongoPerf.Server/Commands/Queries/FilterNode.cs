using MongoPerf.Server.Commands.Expressions;
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
    Size,
    Type,
    Modulo,
    Regex,

    /// <summary>An element of the array is a document that meets the children.</summary>
    ElementMatches,

    /// <summary>An element of the array itself meets all children.</summary>
    ElementValueMatches,

    /// <summary>$expr: an expression over the whole document.</summary>
    Expression,

    /// <summary>{$all: []}.</summary>
    Nothing,
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

    /// <summary>Whether the field shall be there, for <see cref="FilterOperator.Exists"/>.</summary>
    public bool Flag { get; set; }

    /// <summary>The length for <see cref="FilterOperator.Size"/>, the divisor for <see cref="FilterOperator.Modulo"/>.</summary>
    public long Number { get; set; }

    /// <summary>The remainder for <see cref="FilterOperator.Modulo"/>.</summary>
    public long Remainder { get; set; }

    /// <summary>The types for <see cref="FilterOperator.Type"/>.</summary>
    public TypeSet Types { get; set; }

    /// <summary>
    /// The patterns for <see cref="FilterOperator.Regex"/>, and the regular expressions among the items of <see cref="FilterOperator.In"/>;
    /// else null.
    /// </summary>
    public TextPattern[]? Patterns { get; set; }

    /// <summary>The expression for <see cref="FilterOperator.Expression"/>.</summary>
    public Expression? Expression { get; set; }

    public List<FilterNode> Children { get; } = [];
}

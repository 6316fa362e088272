using System.Globalization;
using System.Text;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Which element of an array made a document meet a filter: what the positional <c>$</c> stands for.</summary>
internal static class MatchPosition
{
    /// <param name="filter">The filter that the document meets.</param>
    /// <param name="document">The document.</param>
    /// <returns>The element's place as a path has it, of arrays in arrays the outermost's; null where no array was looked into.</returns>
    public static string? Of(Filter filter, ReadOnlySpan<byte> document) => OfAll(filter, filter.Root, document);

    /// <summary>Of several conditions the last that looked into an array decides, in mongod's order of conditions.</summary>
    private static string? OfAll(Filter filter, FilterNode group, ReadOnlySpan<byte> document)
    {
        string? found = null;
        foreach (FilterNode condition in Conditions(group).Order(Comparer<FilterNode>.Create((a, b) => Compare(filter, a, b))))
            found = OfOne(filter, condition, document) ?? found;
        return found;
    }

    private static string? OfOne(Filter filter, FilterNode condition, ReadOnlySpan<byte> document)
    {
        switch (condition.Operator)
        {
            case FilterOperator.Or:
                return OfList(filter, condition, document);
            case FilterOperator.Nor or FilterOperator.NotEqual or FilterOperator.NotIn or FilterOperator.Nothing
                or FilterOperator.Expression:
                return null;
            default:
                var test = new PositionTest(filter, condition);
                return condition.Path!.Visit(document, ref test) ? test.Element : null;
        }
    }

    /// <summary>Alternatives tell no place, but for equalities of one field, which mongod makes one $in.</summary>
    private static string? OfList(Filter filter, FilterNode alternatives, ReadOnlySpan<byte> document)
    {
        FilterNode[] equalities = [.. alternatives.Children.SelectMany(Conditions)];
        if (equalities.Length != alternatives.Children.Count
            || equalities.Any(node => node.Operator != FilterOperator.Equal || !node.Path!.IsSame(equalities[0].Path)))
            return null;
        string? first = null;
        foreach (FilterNode equality in equalities)
        {
            if (OfOne(filter, equality, document) is { } place && (first == null || Number(place) < Number(first)))
                first = place;
        }

        return first;
    }

    private static int Number(string place) => int.Parse(place, CultureInfo.InvariantCulture);

    /// <summary>The conditions of a group, those of groups in it that must hold too among them.</summary>
    private static IEnumerable<FilterNode> Conditions(FilterNode node) =>
        node.Operator == FilterOperator.And || node is { Operator: FilterOperator.Or, Children.Count: 1 }
            ? node.Children.SelectMany(Conditions)
            : [node];

    /// <summary>mongod's order: by kind, path, and what is inside. Source: mongod 6.0.5, MatchExpression::MatchType.</summary>
    private static int Compare(Filter filter, FilterNode left, FilterNode right)
    {
        int order = Rank(filter, left).CompareTo(Rank(filter, right));
        if (order == 0)
            order = string.CompareOrdinal(left.Path?.Text, right.Path?.Text);
        if (order != 0)
            return order;
        FilterNode[] leftInside = [.. left.Children.SelectMany(Conditions)];
        FilterNode[] rightInside = [.. right.Children.SelectMany(Conditions)];
        foreach ((FilterNode first, FilterNode second) in leftInside.Zip(rightInside))
        {
            if (Compare(filter, first, second) is var inside and not 0)
                return inside;
        }

        return leftInside.Length.CompareTo(rightInside.Length);
    }

    private static int Rank(Filter filter, FilterNode node) => node.Operator switch
    {
        FilterOperator.Or => 0,
        FilterOperator.ElementMatches => 1,
        FilterOperator.ElementValueMatches => 2,
        FilterOperator.Size => 3,
        FilterOperator.Equal => 4,
        FilterOperator.In when IsOfOneValue(filter, node) => 4,
        FilterOperator.LessOrEqual => 5,
        FilterOperator.Less => 6,
        FilterOperator.Greater => 7,
        FilterOperator.GreaterOrEqual => 8,
        FilterOperator.Regex => 9,
        FilterOperator.Modulo => 10,
        FilterOperator.Exists => 11,
        FilterOperator.In => 12,
        _ => 13,
    };

    private static bool IsOfOneValue(Filter filter, FilterNode node)
    {
        var items = new BsonReader(filter.Operand(node));
        return node.Patterns == null && items.Read() && !items.Read();
    }

    private struct PositionTest(Filter filter, FilterNode node) : IValueVisitor
    {
        private readonly Filter.ValueTest _test = new(filter, node);

        public string? Element { get; private set; }

        public bool Visit(BsonType type, ReadOnlySpan<byte> value, bool isElement)
        {
            if (node.Operator == FilterOperator.Exists)
                return true;
            bool isMet = _test.Visit(type, value, isElement);
            if (isMet && node.Operator is FilterOperator.ElementMatches or FilterOperator.ElementValueMatches
                && filter.MatchesArray(node, value, out ReadOnlySpan<byte> element))
                StoppedIn(element);
            return isMet;
        }

        public readonly bool VisitMissing() => node.Operator != FilterOperator.Exists && _test.VisitMissing();

        public void StoppedIn(ReadOnlySpan<byte> element) => Element = Encoding.UTF8.GetString(element);
    }
}

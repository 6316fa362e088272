using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>$bucket: a $group by the range that an expression's value lies in, as mongod makes it of one.</summary>
internal static class BucketStage
{
    /// <returns>The specification of the $group; its documents have to be sorted by _id.</returns>
    /// <exception cref="CommandException">A field that is missing, wrong or unknown.</exception>
    public static BsonDocument ToGroup(BsonValue value, Variables? variables)
    {
        if (value.Type != BsonType.Document)
            throw CommandException.Location(
                40201, $"Argument to $bucket stage must be an object, but found type: {Values.TypeName(value)}.");
        BsonValue? groupBy = null;
        BsonValue[]? boundaries = null;
        BsonValue? otherwise = null;
        BsonDocument output = BsonDocument.Of(("count", BsonDocument.Of(("$sum", 1))));
        foreach ((string name, BsonValue field) in value.ToDocument())
        {
            switch (name)
            {
                case "groupBy": groupBy = Expression(field); break;
                case "boundaries": boundaries = Boundaries(field, variables); break;
                case "default": otherwise = Constant(field, variables) ?? throw CommandException.Location(
                    40195, $"The $bucket 'default' field must be a constant expression, but found: {Values.Text(field)}."); break;
                case "output": output = field.Type == BsonType.Document ? field.ToDocument() : throw CommandException.Location(
                    40196, $"The $bucket 'output' field must be an object, but found type: {Values.TypeName(field)}."); break;
                default: throw CommandException.Location(40197, $"Unrecognized option to $bucket: {name}.");
            }
        }

        if (groupBy is not { } expression || boundaries == null)
            throw CommandException.Location(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.");
        if (otherwise is { } known)
            RequireOutside(known, boundaries);
        IEnumerable<object> branches = boundaries.Zip(boundaries[1..]).Select(range => BsonDocument.Of(
            ("case", BsonDocument.Of(("$and", new object[] { Comparison("$gte", expression, range.First),
                Comparison("$lt", expression, range.Second) }))), ("then", Literal(range.First))));
        (string, object?)[] fallback = otherwise is { } other ? [("default", Literal(other))] : [];
        BsonDocument id = BsonDocument.Of([("branches", branches.ToArray()), .. fallback]);
        return BsonDocument.Of([("_id", BsonDocument.Of(("$switch", id))), .. output.Select(field => (field.Key, (object?)field.Value))]);
    }

    private static BsonValue Expression(BsonValue field)
    {
        bool isExpression = field.Type == BsonType.Document
            ? field.ToDocument().FirstOrDefault().Key is ['$', ..]
            : field.Type == BsonType.String && field.ToString() is ['$', ..];
        return isExpression ? field : throw CommandException.Location(40202,
            $"The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: {Values.Text(field)}.");
    }

    private static BsonValue[] Boundaries(BsonValue field, Variables? variables)
    {
        if (field.Type != BsonType.Array)
            throw CommandException.Location(
                40200, $"The $bucket 'boundaries' field must be an array, but found type: {Values.TypeName(field)}.");
        BsonValue[] boundaries = [.. Values.Items(field).Select(item => Constant(item, variables) ?? throw CommandException.Location(
            40191, $"The $bucket 'boundaries' field must be an array of constant values, but found value: {Values.Text(item)}."))];
        if (boundaries.Length < 2)
            throw CommandException.Location(40192,
                $"The $bucket 'boundaries' field must have at least 2 values, but found {boundaries.Length} value(s).");
        for (int i = 1; i < boundaries.Length; i++)
        {
            (BsonValue lower, BsonValue upper) = (boundaries[i - 1], boundaries[i]);
            if (BsonOrder.Rank(lower.Type) != BsonOrder.Rank(upper.Type))
                throw CommandException.Location(40193, "All values in the the 'boundaries' option to $bucket must have the same type. "
                    + $"Found conflicting types {Values.TypeName(lower)} and {Values.TypeName(upper)}.");
            if (Values.Compare(lower, upper) >= 0)
                throw CommandException.Location(40194, $"The 'boundaries' option to $bucket must be sorted, but elements {i - 1} and {i} "
                    + $"are not in ascending order ({Values.Text(lower)} is not less than {Values.Text(upper)}).");
        }

        return boundaries;
    }

    /// <summary>A default within the boundaries would name a bucket twice.</summary>
    private static void RequireOutside(BsonValue value, BsonValue[] boundaries)
    {
        if (BsonOrder.Rank(value.Type) == BsonOrder.Rank(boundaries[0].Type)
            && Values.Compare(value, boundaries[0]) >= 0 && Values.Compare(value, boundaries[^1]) < 0)
            throw CommandException.Location(40199, "The $bucket 'default' field must be less than the lowest boundary or greater than or "
                + "equal to the highest boundary.");
    }

    /// <returns>Null for an expression whose value depends on the document.</returns>
    private static BsonValue? Constant(BsonValue value, Variables? variables) =>
        ExpressionParser.Parse(value, variables) is ConstantExpression constant ? constant.Value : null;

    private static BsonDocument Comparison(string name, BsonValue expression, BsonValue boundary) =>
        BsonDocument.Of((name, new object[] { expression, Literal(boundary) }));

    private static BsonDocument Literal(BsonValue value) => BsonDocument.Of(("$const", value));
}

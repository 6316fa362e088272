using MongoPerf.Server.Commands.Aggregation;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Reads projections, with MongoDB's codes for what they may not hold.</summary>
internal sealed class ProjectionParser(Variables? variables, bool isFind)
{
    private readonly ProjectionNode _root = new("");
    private bool? _isInclusion;
    private bool? _idFlag;
    private bool _hasSlice;
    private bool _hasElementMatch;

    /// <summary>The path that ends with the positional <c>$</c>, without it; null where there is none.</summary>
    public string? Positional { get; private set; }

    public (ProjectionKind Kind, ProjectionNode Root) Parse(BsonDocument specification)
    {
        if (!specification.Any())
            throw CommandException.Location(51272, "projection specification must have at least one field");
        ParseLevel(specification, "");
        bool isInclusion = _isInclusion ?? (_idFlag == true || (!_hasSlice && (_hasElementMatch || _idFlag == null)));
        ProjectionNode? id = _root.Find("_id");
        if (id == null && isInclusion)
            _root.Children.Insert(0, new ProjectionNode("_id") { IsKept = true });
        return (isInclusion ? ProjectionKind.Inclusion : ProjectionKind.Exclusion, _root);
    }

    public ProjectionNode ParseAddition(BsonDocument specification)
    {
        ParseAdditionLevel(specification, "");
        return _root;
    }

    private void ParseAdditionLevel(BsonDocument level, string prefix)
    {
        foreach ((string name, BsonValue value) in level)
        {
            string path = prefix + name;
            if (prefix.Length > 0 && name.Contains('.'))
                throw CommandException.Location(40183, $"cannot use dotted field name '{name}' in a sub object");
            string[] inner = value.Type == BsonType.Document ? [.. value.ToDocument().Select(field => field.Key)] : ["$"];
            if (inner.Length == 0)
                throw CommandException.Location(40180, $"an empty object is not a valid value. Found empty object at path {path}");
            bool isExpression = inner[0].StartsWith('$');
            if (!isExpression && inner.FirstOrDefault(field => field.StartsWith('$')) is { } late)
                throw CommandException.Location(40181, "an expression specification must contain exactly one field, "
                    + $"the name of the expression. Found {inner.Length} fields, one of them {late}, at path {path}");
            if (isExpression)
                PlaceAddition(path).Computed = ExpressionParser.Parse(value, variables);
            else
                ParseAdditionLevel(value.ToDocument(), path + ".");
        }
    }

    private ProjectionNode PlaceAddition(string path)
    {
        try
        {
            return Place(path);
        }
        catch (CommandException collision) when (collision.Code is 31249 or 31250)
        {
            throw CommandException.Location(40176, $"specification contains two conflicting paths: '{path}'");
        }
    }

    private void ParseLevel(BsonDocument level, string prefix)
    {
        foreach ((string name, BsonValue value) in level)
        {
            string path = prefix + name;
            if (name.EndsWith(".$", StringComparison.Ordinal))
                AddPositional(path[..^2], value);
            else if (isFind && name.Contains(".$.", StringComparison.Ordinal))
                throw CommandException.Location(
                    31394, "As of 4.4, it's illegal to specify positional operator in the middle of a path.");
            else if (value.IsNumber || value.Type == BsonType.Boolean)
                AddFlag(path, Values.IsTrue(value));
            else if (value.Type == BsonType.Document)
                AddDocument(path, value.ToDocument());
            else
                AddComputed(path, ExpressionParser.Parse(value, variables), isFind ? 31310 : 31252);
        }
    }

    private void AddDocument(string path, BsonDocument value)
    {
        if (value.FirstOrDefault().Key is not { } first)
            throw CommandException.Location(51270, $"An empty sub-projection is not a valid value. Found empty object at path '{path}'");
        if (!first.StartsWith('$'))
            ParseLevel(value, path + ".");
        else if (isFind && first == "$slice")
            AddSlice(path, value.First().Value);
        else if (isFind && first == "$elemMatch")
            AddElementMatch(path, value.First().Value);
        else if (isFind && first == "$meta")
            throw CommandException.NotSupported("$meta in projections");
        else if (!value.Skip(1).Any() && !ExpressionParser.IsKnown(first))
            throw CommandException.Location(31325, $"Unknown expression {first}");
        else
            AddComputed(path, ExpressionParser.Parse(new BsonValue(BsonType.Document, value.Memory), variables), 31252);
    }

    private void AddPositional(string path, BsonValue value)
    {
        if (!isFind)
            throw CommandException.Location(31324, "Cannot use positional projection in aggregation projection");
        if (value.Type == BsonType.Document)
            throw CommandException.Location(31271, "positional projection cannot be used with an expression or sub object");
        if (!value.IsNumber && value.Type != BsonType.Boolean)
            throw CommandException.Location(31308, "positional projection cannot be used with a literal");
        if (!Values.IsTrue(value))
            throw CommandException.Location(31395, "positional projection cannot be used with exclusion");
        if (Positional != null)
            throw CommandException.Location(31276, "Cannot specify more than one positional projection per query.");
        Positional = path;
        RequireOneArrayOperator();
        AddFlag(path, isKept: true);
    }

    private void RequireOneArrayOperator()
    {
        if (Positional != null && _hasElementMatch)
            throw CommandException.Location(31255, "Cannot specify positional operator and $elemMatch.");
    }

    private void AddFlag(string path, bool isKept)
    {
        ProjectionNode node = Place(path);
        if (path == "_id")
        {
            _idFlag = isKept;
        }
        else
        {
            if (_isInclusion.HasValue && _isInclusion != isKept)
                throw Projection.Mixed(path, isKept);
            _isInclusion = isKept;
        }

        node.IsKept = isKept;
    }

    private void AddComputed(string path, Expression expression, int codeInExclusion)
    {
        ProjectionNode node = Place(path);
        if (_isInclusion == false)
            throw CommandException.Location(codeInExclusion, $"Cannot use an expression {path} in an exclusion projection");
        _isInclusion = true;
        node.Computed = expression;
    }

    private void AddSlice(string path, BsonValue operand)
    {
        _hasSlice = true;
        (int skip, int? limit) = SliceOperand.Parse(operand);
        ProjectionNode node;
        try
        {
            node = Place(path);
        }
        catch (CommandException collision) when (collision.Code is 31249 or 31250)
        {
            // As mongod: what cannot be find's $slice is read as an expression, which has more operands.
            throw SliceOperand.Invalid($"here: {collision.Message}");
        }

        node.IsKept = true;
        node.Transform = value => value.Type == BsonType.Array ? SliceOperand.Cut(value, skip, limit) : value;
    }

    private void AddElementMatch(string path, BsonValue condition)
    {
        if (condition.Type != BsonType.Document)
            throw CommandException.Location(31274, "elemMatch: Invalid argument, object required, but got " + Values.TypeName(condition));
        if (path.Contains('.'))
            throw CommandException.Location(31275, "Cannot use $elemMatch projection on a nested field.");
        _hasElementMatch = true;
        RequireOneArrayOperator();
        var filter = new Filter(new PathCache());
        filter.Compile(BsonDocument.Of(("a", BsonDocument.Of(("$elemMatch", condition)))).Bytes, variables);
        Place(path).Computed = new ControlExpression(scope =>
        {
            if (DirectFields.Find(scope.Root, path) is not { Type: BsonType.Array } array)
                return null;
            BsonValue? first = Values.Items(array).Cast<BsonValue?>().FirstOrDefault(
                item => filter.Matches(BsonDocument.Of(("a", new object?[] { item })).Bytes));
            return first is { } found ? Values.Array([found]) : null;
        });
    }

    /// <summary>The node of a path, made anew.</summary>
    private ProjectionNode Place(string path)
    {
        ActiveOperation.Check();
        ProtocolLimits.RequirePath(path);
        PathExpression.RequirePath(path);
        string[] steps = path.Split('.');
        ProjectionNode at = _root;
        for (int i = 0; i < steps.Length; i++)
        {
            string step = steps[i];
            ProjectionNode? child = at.Find(step);
            bool isLast = i == steps.Length - 1;
            if (child != null && isLast)
                throw Projection.Collision(path);
            if (child is { Children.Count: 0 })
                throw CommandException.Location(31249, $"Path collision at {path} remaining portion {string.Join('.', steps[(i + 1)..])}");
            if (child == null)
                at.Children.Add(child = new ProjectionNode(step));
            at = child;
        }

        return at;
    }
}

/// <summary>{'path.$': 1} of find.</summary>
internal static class PositionalOperand
{
    /// <param name="document">What is left of the document otherwise.</param>
    /// <param name="path">Leads to the array or through it; without an array nothing is cut.</param>
    /// <param name="place">The place of the element that met the query; null where none did.</param>
    /// <exception cref="CommandException">51246, 51247: there is no such element.</exception>
    public static BsonDocument Cut(BsonDocument document, string[] path, string? place)
    {
        BsonDocument level = document;
        for (int i = 0; i < path.Length; i++)
        {
            BsonValue? value = DirectFields.Find(level, path[i]);
            // As on mongod: what is no document, or missing, is passed over, and the next name looked for beside it.
            if (value is { Type: BsonType.Document } inner)
                level = inner.ToDocument();
            if (value is not { Type: BsonType.Array } array)
                continue;
            if (place == null)
                throw CommandException.Location(51246, "Executor error during find command :: caused by :: "
                    + "positional operator '.$' couldn't find a matching element in the array");
            BsonValue element = DirectFields.Find(array.ToDocument(), place) ?? throw CommandException.Location(
                51247, "Executor error during find command :: caused by :: positional operator '.$' element mismatch");
            return Nested.Set(document, path.AsSpan(0, i + 1), Values.Array([element]));
        }

        return document;
    }
}

/// <summary>{$slice: count} and {$slice: [skip, count]} of find.</summary>
internal static class SliceOperand
{
    public static (int Skip, int? Limit) Parse(BsonValue operand)
    {
        if (operand.IsNumber)
        {
            int count = Clamp(operand.ToDouble());
            return count < 0 ? (count, null) : (0, count);
        }

        BsonValue[] items = operand.Type == BsonType.Array ? [.. Values.Items(operand)] : [];
        if (items.Length != 2 || !items[0].IsNumber || !items[1].IsNumber)
            throw Invalid("must be a number or an array of two numbers");
        int limit = Clamp(items[1].ToDouble());
        if (limit <= 0)
            throw CommandException.Location(
                28724, "First argument to $slice must be an array, and the count behind a position must be positive");
        return (Clamp(items[0].ToDouble()), limit);
    }

    public static CommandException Invalid(string why) =>
        CommandException.Location(28667, $"Invalid $slice syntax. The given syntax {why}");

    public static BsonValue Cut(BsonValue array, int skip, int? limit)
    {
        BsonValue[] items = [.. Values.Items(array)];
        int start = skip < 0 ? Math.Max(0, items.Length + skip) : Math.Min(skip, items.Length);
        return Values.Array(items.Skip(start).Take(limit ?? items.Length));
    }

    private static int Clamp(double value) => (int)Math.Clamp(value, int.MinValue, int.MaxValue);
}

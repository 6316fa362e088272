using System.Collections.Frozen;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>Reads aggregation expressions; refuses what it does not know with MongoDB's own codes and texts.</summary>
internal static class ExpressionParser
{
    /// <summary>Known to MongoDB 6.0 and not to this server.</summary>
    public static readonly FrozenSet<string> MongoExpressions = new[]
    {
        "$accumulator", "$acos", "$acosh", "$allElementsTrue", "$anyElementTrue", "$arrayToObject", "$asin", "$asinh",
        "$atan", "$atan2", "$atanh", "$avg",
        "$binarySize", "$bsonSize", "$cos", "$cosh", "$dateAdd", "$dateDiff", "$dateFromParts", "$dateFromString",
        "$dateSubtract", "$dateToParts",
        "$dateToString", "$dateTrunc", "$degreesToRadians", "$exp", "$firstN", "$function", "$indexOfArray", "$indexOfBytes",
        "$indexOfCP", "$isoDayOfWeek",
        "$isoWeek", "$isoWeekYear", "$lastN", "$ln", "$log", "$log10", "$ltrim", "$maxN", "$meta", "$minN", "$objectToArray",
        "$pow", "$radiansToDegrees",
        "$regexFind", "$regexFindAll", "$regexMatch", "$replaceAll", "$replaceOne", "$reverseArray", "$round", "$rtrim",
        "$sampleRate", "$setDifference",
        "$setEquals", "$setIntersection", "$setIsSubset", "$setUnion", "$sin", "$sinh", "$slice", "$sortArray", "$split", "$sqrt",
        "$stdDevPop", "$stdDevSamp",
        "$strcasecmp", "$substr", "$substrBytes", "$tan", "$tanh", "$trim", "$trunc", "$tsIncrement", "$tsSecond",
        "$week", "$zip",
    }.ToFrozenSet();

    /// <summary>Operators around the one that the thread parses.</summary>
    [ThreadStatic]
    private static int _depth;

    public static Expression Parse(BsonReader reader, Variables? variables) =>
        Parse(new BsonValue(reader.Type, reader.Value.ToArray()), variables);

    /// <param name="value">The expression as the client gave it.</param>
    /// <param name="variables">Those that it may use.</param>
    /// <exception cref="CommandException">
    /// 168 for an unknown operator, 17276 for an unknown variable, 16020 for too many or few operands.
    /// </exception>
    public static Expression Parse(BsonValue value, Variables? variables) => value.Type switch
    {
        BsonType.String when value.ToString() is ['$', ..] text => ParsePath(text, variables),
        BsonType.Document => ParseDocument(value.ToDocument(), variables),
        BsonType.Array => ParseArray(value, variables),
        _ => new ConstantExpression(value),
    };

    /// <summary>The operand of a prefix: a variable that a parser declares before its inside is parsed.</summary>
    public static Variables Declare(Variables? variables, string name) => Variables.With(variables, Variables.RequireName(name), null);

    /// <summary>The operands of an operator: an array's items, or the one value.</summary>
    public static Expression[] Operands(BsonValue value, Variables? variables) => value.Type == BsonType.Array
        ? [.. Values.Items(value).Select(item => Parse(item, variables))]
        : [Parse(value, variables)];

    /// <summary>Whether MongoDB has an operator of that name, this server or not.</summary>
    public static bool IsKnown(string name) => name is "$literal" or "$const" || ControlOperators.IsOne(name)
        || FunctionOperators.Find(name) != null || MongoExpressions.Contains(name);

    private static Expression ParseArray(BsonValue value, Variables? variables)
    {
        long held = ActiveOperation.Held;
        Expression[] items = [.. Values.Items(value).Select(item => Parse(item, variables))];
        return items.All(item => item is ConstantExpression)
            ? Folded(Values.Array(items.Select(item => ((ConstantExpression)item).Value)), held)
            : new ArrayExpression(items);
    }

    /// <summary>A constant that was worked out, and is held as long as the command runs.</summary>
    /// <param name="value">Takes the place of its operands.</param>
    /// <param name="held">What was held before they were parsed.</param>
    private static ConstantExpression Folded(BsonValue value, long held)
    {
        ActiveOperation.Release(held);
        Values.Hold(value);
        return new ConstantExpression(value);
    }

    private static PathExpression ParsePath(string text, Variables? variables)
    {
        ActiveOperation.Check();
        ProtocolLimits.RequirePath(text);
        bool hasVariable = text.StartsWith("$$", StringComparison.Ordinal);
        string[] steps = text[(hasVariable ? 2 : 1)..].Split('.');
        if (text.Length == 1)
            throw CommandException.Location(16872, "'$' by itself is not a valid FieldPath");
        if (!hasVariable)
        {
            PathExpression.RequirePath(text[1..]);
            return new PathExpression("CURRENT", steps);
        }

        string name = steps[0];
        if (!PathExpression.IsSystemVariable(name) && !Variables.TryGet(variables, name, out _))
        {
            if (name is "CLUSTER_TIME" or "USER_ROLES" or "SEARCH_META")
                throw CommandException.NotSupported($"the variable {name}");
            throw name.Length == 0
                ? CommandException.FailedToParse("empty variable names are not allowed")
                : CommandException.Location(17276, $"Use of undefined variable: {name}");
        }

        if (steps.Length > 1)
            PathExpression.RequirePath(text[(3 + name.Length)..]);
        return new PathExpression(name, steps[1..]);
    }

    private static Expression ParseDocument(BsonDocument document, Variables? variables)
    {
        KeyValuePair<string, BsonValue>[] fields = [.. document];
        if (fields.Length > 0 && fields[0].Key.StartsWith('$'))
        {
            if (fields.Length > 1)
                throw CommandException.Location(15983,
                    "an expression specification must contain exactly one field, the name of the expression. "
                    + $"Found {fields.Length} fields in {ValueText.Of(BsonType.Document, document.Bytes)}, while parsing object.");
            return ParseOperator(fields[0].Key, fields[0].Value, variables);
        }

        long held = ActiveOperation.Held;
        var parsed = new List<(string, Expression)>();
        foreach ((string name, BsonValue value) in fields)
        {
            if (name.StartsWith('$'))
                throw CommandException.Location(
                    16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField.");
            if (name.Contains('.'))
                throw CommandException.Location(16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.");
            parsed.Add((name, Parse(value, variables)));
        }

        return parsed.TrueForAll(field => field.Item2 is ConstantExpression)
            ? Folded(Values.Document(parsed.Select(field => (field.Item1, ((ConstantExpression)field.Item2).Value))), held)
            : new DocumentExpression([.. parsed]);
    }

    private static Expression ParseOperator(string name, BsonValue operand, Variables? variables)
    {
        if (_depth == ProtocolLimits.MaximumExpressionDepth)
            throw ProtocolLimits.TooDeep();
        _depth++;
        try
        {
            return ParseKnown(name, operand, variables);
        }
        finally
        {
            _depth--;
        }
    }

    private static Expression ParseKnown(string name, BsonValue operand, Variables? variables)
    {
        if (name is "$literal" or "$const")
            return new ConstantExpression(operand);
        if (ControlOperators.TryParse(name, operand, variables) is { } control)
            return control;
        if (FunctionOperators.Find(name) is { } function)
        {
            long held = ActiveOperation.Held;
            Expression[] operands = Operands(operand, variables);
            function.RequireCount(name, operands.Length);
            // As on mongod, which puts constants last: of equal numbers of several types the first is the result.
            if (name is "$min" or "$max")
                operands = [.. operands.OrderBy(operand => operand is ConstantExpression)];
            // What is constant is evaluated once, and its error is told even where no document comes.
            BsonValue?[] constants = [.. operands.OfType<ConstantExpression>().Select(constant => (BsonValue?)constant.Value)];
            if (constants.Length == operands.Length && function.Evaluate(constants) is { } value)
                return Folded(value, held);
            if (constants.Length is > 1 and var count && count < operands.Length && name is "$add" or "$multiply")
                function.Evaluate(constants);
            return new FunctionExpression(function.Evaluate, operands);
        }

        throw MongoExpressions.Contains(name)
            ? CommandException.NotSupported($"the expression {name}")
            : new CommandException(168, "InvalidPipelineOperator", $"Unrecognized expression '{name}'");
    }
}

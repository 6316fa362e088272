using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Turns a filter document into nodes; refuses what it does not know with MongoDB's own codes and texts.</summary>
internal ref struct FilterCompiler(Filter filter, PathCache paths)
{
    /// <summary>Known to MongoDB 6.0 and not to this server.</summary>
    public static readonly HashSet<string> MongoOperators =
    [
        "$where", "$text", "$jsonSchema", "$geoIntersects", "$geoWithin", "$near", "$nearSphere", "$within", "$bitsAllClear",
        "$bitsAllSet", "$bitsAnyClear",
        "$bitsAnySet", "$alwaysTrue", "$alwaysFalse", "$sampleRate",
    ];

    private readonly Filter _filter = filter;
    private readonly PathCache _paths = paths;

    /// <param name="start">Where the document starts in the filter's source.</param>
    /// <param name="group">Takes the conditions, which must all hold.</param>
    public readonly void CompileDocument(int start, FilterNode group)
    {
        var reader = new BsonReader(_filter.Source[start..]);
        while (reader.Read())
        {
            if (IsOperator(reader.Name))
                CompileTopLevel(reader, start, group);
            else
                CompileField(reader, start, group);
        }
    }

    private readonly void CompileTopLevel(BsonReader reader, int start, FilterNode group)
    {
        switch (reader.NameText)
        {
            case "$and": CompileBranches(reader, start, group); break;
            case "$or": CompileBranches(reader, start, AddGroup(group, FilterOperator.Or)); break;
            case "$nor": CompileBranches(reader, start, AddGroup(group, FilterOperator.Nor)); break;
            case "$expr": AddGroup(group, FilterOperator.Expression).Expression = ExpressionParser.Parse(reader, _filter.Variables); break;
            case "$comment": break;
            case { } name when MongoOperators.Contains(name): throw CommandException.NotSupported($"{name} in filters");
            default:
                throw CommandException.BadValue(
                    $"unknown top level operator: {reader.NameText}. If you have a field name that starts with a '$' symbol, "
                    + "consider using $getField or $setField.");
        }
    }

    private readonly void CompileBranches(BsonReader reader, int start, FilterNode group)
    {
        string name = reader.NameText;
        if (reader.Type != BsonType.Array)
            throw CommandException.BadValue($"{name} must be an array");
        var branches = new BsonReader(reader.Value);
        int count = 0;
        while (branches.Read())
        {
            if (branches.Type != BsonType.Document)
                throw CommandException.BadValue("$or/$and/$nor entries need to be full objects");
            FilterNode target = group.Operator == FilterOperator.And ? group : AddGroup(group, FilterOperator.And);
            CompileDocument(start + reader.ValueOffset + branches.ValueOffset, target);
            count++;
        }

        if (count == 0)
            throw CommandException.BadValue("$and/$or/$nor must be a nonempty array");
    }

    private readonly void CompileField(BsonReader reader, int start, FilterNode group)
    {
        if (reader.Type == BsonType.Document && StartsWithOperator(reader.Value))
            CompileOperators(reader.Name, reader.Value, start + reader.ValueOffset, group);
        else if (reader.Type == BsonType.Regex)
            AddRegex(group, reader.Name, reader, start);
        else
            AddComparison(group, FilterOperator.Equal, reader.Name, reader, start);
    }

    /// <param name="field">The field's name; empty inside an $elemMatch of values.</param>
    /// <param name="document">The operators.</param>
    /// <param name="start">Where they start in the filter's source.</param>
    /// <param name="group">Takes the conditions, which must all hold.</param>
    private readonly void CompileOperators(ReadOnlySpan<byte> field, ReadOnlySpan<byte> document, int start, FilterNode group)
    {
        var operators = new BsonReader(document);
        while (operators.Read())
        {
            ActiveOperation.Check();
            if (Comparison(operators.Name) is { } comparison)
                AddComparison(group, comparison, field, operators, start);
            else
                CompileOperator(field, operators, document, start, group);
        }
    }

    private readonly void CompileOperator(
        ReadOnlySpan<byte> field, BsonReader reader, ReadOnlySpan<byte> document, int start, FilterNode group)
    {
        switch (reader.NameText)
        {
            case "$exists": Add(group, FilterOperator.Exists, field, reader, start).Flag = IsTrue(reader); break;
            case "$not": CompileNot(field, reader, start, group); break;
            case "$all": CompileAll(field, reader, start, group); break;
            case "$elemMatch": CompileElementMatch(field, reader, start, group); break;
            case "$size": Add(group, FilterOperator.Size, field, reader, start).Number = Size(reader); break;
            case "$type": Add(group, FilterOperator.Type, field, reader, start).Types = TypeSet.Parse(reader.Type, reader.Value); break;
            case "$mod": AddModulo(group, field, reader, start); break;
            case "$regex": AddRegex(group, field, reader, document, start); break;
            case "$options" when new BsonReader(document).Find("$regex"u8): break;
            case "$options": throw CommandException.BadValue("$options needs a $regex");
            case "$comment": break;
            case { } name when MongoOperators.Contains(name): throw CommandException.NotSupported($"{name} in filters");
            default: throw CommandException.BadValue($"unknown operator: {reader.NameText}");
        }
    }

    /// <summary>{a: {$not: {...}}} is the negation of all the inner conditions together: a $nor of one branch.</summary>
    private readonly void CompileNot(ReadOnlySpan<byte> field, BsonReader not, int start, FilterNode group)
    {
        FilterNode inner = AddGroup(AddGroup(group, FilterOperator.Nor), FilterOperator.And);
        if (not.Type == BsonType.Regex)
        {
            AddRegex(inner, field, not, start);
            return;
        }

        if (not.Type != BsonType.Document)
            throw CommandException.BadValue("$not needs a regex or a document");
        if (!new BsonReader(not.Value).Read())
            throw CommandException.BadValue("$not cannot be empty");
        CompileOperators(field, not.Value, start + not.ValueOffset, inner);
    }

    private readonly void CompileAll(ReadOnlySpan<byte> field, BsonReader all, int start, FilterNode group)
    {
        if (all.Type != BsonType.Array)
            throw CommandException.BadValue("$all needs an array");
        int inner = start + all.ValueOffset;
        int count = 0;
        var items = new BsonReader(all.Value);
        for (; items.Read(); count++)
        {
            if (items.Type == BsonType.Regex)
                AddRegex(group, field, items, inner);
            else if (items.Type != BsonType.Document || !StartsWithOperator(items.Value))
                AddComparison(group, FilterOperator.Equal, field, items, inner);
            else
                CompileAllElementMatch(field, items, inner, group);
        }

        if (count == 0)
            AddGroup(group, FilterOperator.Nothing);
    }

    private readonly void CompileAllElementMatch(ReadOnlySpan<byte> field, BsonReader item, int start, FilterNode group)
    {
        var condition = new BsonReader(item.Value);
        condition.Read();
        if (!condition.NameIs("$elemMatch"u8))
            throw CommandException.BadValue("no $ expressions in $all");
        CompileElementMatch(field, condition, start + item.ValueOffset, group);
    }

    private readonly void CompileElementMatch(ReadOnlySpan<byte> field, BsonReader match, int start, FilterNode group)
    {
        if (match.Type != BsonType.Document)
            throw CommandException.BadValue("$elemMatch needs an Object");
        var first = new BsonReader(match.Value);
        bool isOfValues = first.Read() && IsOperator(first.Name) && !IsReference(first.Name)
            && first.NameText is not ("$and" or "$or" or "$nor" or "$where" or "$expr");
        int inner = start + match.ValueOffset;
        if (!isOfValues)
        {
            CompileDocument(inner, Add(group, FilterOperator.ElementMatches, field, match, start));
            return;
        }

        FilterNode node = Add(group, FilterOperator.ElementValueMatches, field, match, start);
        CompileOperators(default, match.Value, inner, AddGroup(node, FilterOperator.And));
    }

    private readonly void AddModulo(FilterNode group, ReadOnlySpan<byte> field, BsonReader reader, int start)
    {
        if (reader.Type != BsonType.Array)
            throw CommandException.BadValue("malformed mod, needs to be an array");
        FilterNode node = Add(group, FilterOperator.Modulo, field, reader, start);
        var items = new BsonReader(reader.Value);
        node.Number = ModuloOperand(ref items, "divisor");
        node.Remainder = ModuloOperand(ref items, "remainder");
        if (items.Read())
            throw CommandException.BadValue("malformed mod, too many elements");
        if (node.Number == 0)
            throw CommandException.BadValue("divisor cannot be 0");
    }

    private static long ModuloOperand(ref BsonReader items, string name)
    {
        if (!items.Read())
            throw CommandException.BadValue("malformed mod, not enough elements");
        if (!items.IsNumber)
            throw CommandException.BadValue($"malformed mod, {name} not a number");
        double number = items.ToDouble();
        if (items.Type == BsonType.Decimal128 ? !Decimal128.FromBytes(items.Value).IsFinite : !double.IsFinite(number))
            throw CommandException.BadValue(
                $"malformed mod, {name} value is invalid :: caused by :: Unable to coerce NaN/Inf to integral type");
        if (items.Type is BsonType.Double or BsonType.Decimal128 && Math.Abs(number) >= 9.2233720368547758E18)
            throw CommandException.BadValue(
                $"malformed mod, {name} value is invalid :: caused by :: Out of bounds coercing to integral value");
        return items.ToInt64();
    }

    private static long Size(BsonReader reader)
    {
        if (!reader.IsNumber || reader.ToDouble() != Math.Floor(reader.ToDouble()))
            throw CommandException.BadValue(
                $"Failed to parse $size. Expected an integer in: $size: {ValueText.Of(reader.Type, reader.Value)}");
        return reader.ToInt64() >= 0
            ? reader.ToInt64()
            : throw CommandException.BadValue($"Failed to parse $size. Expected a non-negative number in: $size: {reader.ToInt64()}");
    }

    /// <summary>{field: /pattern/options}.</summary>
    private readonly void AddRegex(FilterNode group, ReadOnlySpan<byte> field, BsonReader operand, int start) =>
        Add(group, FilterOperator.Regex, field, operand, start).Patterns = [RegexOperand.Parse(operand.Value)];

    /// <summary>{field: {$regex: …, $options: …}}.</summary>
    private readonly void AddRegex(FilterNode group, ReadOnlySpan<byte> field, BsonReader operand, ReadOnlySpan<byte> siblings, int start)
    {
        var options = new BsonReader(siblings);
        string? given = null;
        if (options.Find("$options"u8))
            given = options.Type == BsonType.String ? options.StringText : throw CommandException.BadValue("$options has to be a string");
        TextPattern pattern;
        if (operand.Type == BsonType.Regex)
        {
            (string text, string own) = RegexOperand.Parts(operand.Value);
            if (given != null && own.Length > 0)
                throw CommandException.Location(51075, "options set in both $regex and $options");
            pattern = RegexOperand.Make(text, given ?? own);
        }
        else
        {
            pattern = operand.Type == BsonType.String
                ? RegexOperand.Make(operand.StringText, given ?? "")
                : throw CommandException.BadValue("$regex has to be a string");
        }

        Add(group, FilterOperator.Regex, field, operand, start).Patterns = [pattern];
    }

    private readonly void AddComparison(FilterNode group, FilterOperator kind, ReadOnlySpan<byte> field, BsonReader operand, int start)
    {
        bool isList = kind is FilterOperator.In or FilterOperator.NotIn;
        if (isList && operand.Type != BsonType.Array)
            throw CommandException.BadValue($"{operand.NameText} needs an array");
        if (operand.Type == BsonType.Regex
            && kind is FilterOperator.Greater or FilterOperator.GreaterOrEqual or FilterOperator.Less or FilterOperator.LessOrEqual)
            throw CommandException.BadValue("Can't have RegEx as arg to predicate over field '"
                + System.Text.Encoding.UTF8.GetString(field) + "'.");
        if (operand.Type == BsonType.Regex && kind == FilterOperator.NotEqual)
            throw CommandException.BadValue("Can't have regex as arg to $ne.");
        RequireComparable(operand.Type);
        FilterNode node = Add(group, kind, field, operand, start);
        if (isList)
            node.Patterns = Patterns(operand.Value);
    }

    /// <summary>The regular expressions of an $in; null where there are none.</summary>
    private static TextPattern[]? Patterns(ReadOnlySpan<byte> array)
    {
        List<TextPattern>? patterns = null;
        var items = new BsonReader(array);
        while (items.Read())
        {
            RequireComparable(items.Type);
            if (items.Type == BsonType.Regex)
                (patterns ??= []).Add(RegexOperand.Parse(items.Value));
            else if (items.Type == BsonType.Document && StartsWithOperator(items.Value))
                throw CommandException.BadValue("cannot nest $ under $in");
        }

        return patterns?.ToArray();
    }

    private readonly FilterNode Add(FilterNode group, FilterOperator kind, ReadOnlySpan<byte> field, BsonReader operand, int start)
    {
        FilterNode node = _filter.NewNode(kind);
        node.Path = _paths.Get(field);
        if (node.Path.StepCount > ProtocolLimits.MaximumFilterPath)
            throw CommandException.Location(5729100, "FieldPath is too long");
        node.OperandType = operand.Type;
        node.OperandStart = start + operand.ValueOffset;
        node.OperandLength = operand.Value.Length;
        group.Children.Add(node);
        return node;
    }

    private static FilterOperator? Comparison(ReadOnlySpan<byte> name)
    {
        // Compared as bytes: a filter is compiled for every find, and makes no strings.
        return name switch
        {
            _ when name.SequenceEqual("$gte"u8) => FilterOperator.GreaterOrEqual,
            _ when name.SequenceEqual("$gt"u8) => FilterOperator.Greater,
            _ when name.SequenceEqual("$lte"u8) => FilterOperator.LessOrEqual,
            _ when name.SequenceEqual("$lt"u8) => FilterOperator.Less,
            _ when name.SequenceEqual("$eq"u8) => FilterOperator.Equal,
            _ when name.SequenceEqual("$ne"u8) => FilterOperator.NotEqual,
            _ when name.SequenceEqual("$in"u8) => FilterOperator.In,
            _ when name.SequenceEqual("$nin"u8) => FilterOperator.NotIn,
            _ => null,
        };
    }

    private readonly FilterNode AddGroup(FilterNode parent, FilterOperator kind)
    {
        FilterNode node = _filter.NewNode(kind);
        parent.Children.Add(node);
        return node;
    }

    private static void RequireComparable(BsonType type)
    {
        if (type == BsonType.Undefined)
            throw CommandException.BadValue("cannot compare to undefined");
    }

    private static bool IsTrue(BsonReader reader) => Values.IsTrue(new BsonValue(reader.Type, reader.Value.ToArray()));

    private static bool StartsWithOperator(ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        return reader.Read() && IsOperator(reader.Name) && !IsReference(reader.Name);
    }

    private static bool IsOperator(ReadOnlySpan<byte> name) => name.Length > 0 && name[0] == '$';

    // {$ref: ..., $id: ...} is a value (DBRef), not a condition.
    private static bool IsReference(ReadOnlySpan<byte> name) =>
        name.SequenceEqual("$ref"u8) || name.SequenceEqual("$id"u8) || name.SequenceEqual("$db"u8);
}

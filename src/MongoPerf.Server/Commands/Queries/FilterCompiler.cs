using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Turns a filter document into nodes; refuses what it does not know with MongoDB's own codes and texts.</summary>
internal ref struct FilterCompiler(Filter filter, PathCache paths)
{
    private readonly Filter _filter = filter;
    private readonly PathCache _paths = paths;

    /// <param name="start">Where the document starts in the filter's source.</param>
    /// <param name="group">Takes the conditions, which must all hold.</param>
    public readonly void CompileDocument(int start, FilterNode group)
    {
        var reader = new BsonReader(_filter.Source[start..]);
        while (reader.Read())
        {
            if (reader.Name.Length > 0 && reader.Name[0] == '$')
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
            case "$comment": break;
            default:
                throw CommandException.BadValue(
                    $"unknown top level operator: {reader.NameText}. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.");
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
            CompileOperators(reader, start, group);
        else
            Add(group, FilterOperator.Equal, reader.Name, reader, start);
    }

    private readonly void CompileOperators(BsonReader field, int start, FilterNode group)
    {
        var operators = new BsonReader(field.Value);
        int inner = start + field.ValueOffset;
        while (operators.Read())
        {
            FilterOperator kind = Operator(operators);
            if (kind == FilterOperator.Not)
            {
                CompileNot(field, operators, inner, group);
                continue;
            }

            if (kind is FilterOperator.In or FilterOperator.NotIn && operators.Type != BsonType.Array)
                throw CommandException.BadValue($"{operators.NameText} needs an array");
            FilterNode node = Add(group, kind, field.Name, operators, inner);
            node.Flag = kind == FilterOperator.Exists && (operators.ToBoolean() || !(operators.IsNumber || operators.Type is BsonType.Boolean or BsonType.Null));
        }
    }

    private readonly void CompileNot(BsonReader field, BsonReader not, int start, FilterNode group)
    {
        if (not.Type != BsonType.Document)
            throw CommandException.BadValue("$not needs a regex or a document");
        // {a: {$not: {...}}} is the negation of all the inner conditions together: a $nor of one branch.
        FilterNode negation = AddGroup(group, FilterOperator.Nor);
        FilterNode inner = AddGroup(negation, FilterOperator.And);
        var proxy = new BsonReader(not.Value);
        if (!proxy.Read())
            throw CommandException.BadValue("$not cannot be empty");
        CompileInner(field, start + not.ValueOffset, inner);
    }

    private readonly void CompileInner(BsonReader field, int at, FilterNode group)
    {
        var operators = new BsonReader(_filter.Source[at..]);
        while (operators.Read())
        {
            FilterOperator kind = Operator(operators);
            if (kind is FilterOperator.In or FilterOperator.NotIn or FilterOperator.Exists or FilterOperator.Not)
                throw CommandException.NotSupported($"{operators.NameText} inside $not");
            Add(group, kind, field.Name, operators, at);
        }
    }

    private readonly FilterNode Add(FilterNode group, FilterOperator kind, ReadOnlySpan<byte> field, BsonReader operand, int start)
    {
        RequireComparable(operand.Type);
        FilterNode node = _filter.NewNode(kind);
        node.Path = _paths.Get(field);
        node.OperandType = operand.Type;
        node.OperandStart = start + operand.ValueOffset;
        node.OperandLength = operand.Value.Length;
        if (kind is FilterOperator.In or FilterOperator.NotIn)
        {
            var items = new BsonReader(operand.Value);
            while (items.Read())
                RequireComparable(items.Type);
        }

        group.Children.Add(node);
        return node;
    }

    private static FilterOperator Operator(BsonReader reader)
    {
        // Compared as bytes: a filter is compiled for every find, and makes no strings.
        ReadOnlySpan<byte> name = reader.Name;
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
            _ when name.SequenceEqual("$exists"u8) => FilterOperator.Exists,
            _ when name.SequenceEqual("$not"u8) => FilterOperator.Not,
            _ => throw CommandException.BadValue($"unknown operator: {reader.NameText}"),
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
        if (type == BsonType.Regex)
            throw CommandException.NotSupported("regular expressions in filters");
        if (type == BsonType.Decimal128)
            throw CommandException.NotSupported("decimal128 values in filters");
    }

    private static bool StartsWithOperator(ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        return reader.Read() && reader.Name.Length > 0 && reader.Name[0] == '$' && !IsReference(reader.Name);
    }

    // {$ref: ..., $id: ...} is a value (DBRef), not a condition.
    private static bool IsReference(ReadOnlySpan<byte> name) => name.SequenceEqual("$ref"u8) || name.SequenceEqual("$id"u8);
}

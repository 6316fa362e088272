using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>Tells the form of a command from its values: which fields and operators it has, and where values stand.</summary>
/// <remarks>
/// Whatever is not known to be form is a value. Names of fields, operators, directions, 0, 1, -1, booleans and null are form, and so is a
/// text that names a field (<c>$name</c> in an expression, <c>from</c> of a <c>$lookup</c>). One for each command.
/// </remarks>
/// <param name="isTypeOnly">Values only have the types of those that were there.</param>
internal sealed class ShapeReader(bool isTypeOnly)
{
    private const int MostNodes = 1000;

    /// <summary>Their texts are names, not data.</summary>
    private static readonly HashSet<string> Naming = new(StringComparer.Ordinal) { "$count", "$unset", "$getField", "$meta", "$unionWith" };

    /// <summary>The same, as arguments of <see cref="HasNames"/>; elsewhere fields are called so, which hold data.</summary>
    private static readonly HashSet<string> NamingArguments = new(StringComparer.Ordinal)
    {
        "from", "as", "localField", "foreignField", "includeArrayIndex", "connectFromField", "connectToField", "depthField",
        "distanceField", "unit", "timezone", "granularity", "startOfWeek", "to", "coll",
    };

    private static readonly HashSet<string> HasNames = new(StringComparer.Ordinal)
    {
        "$lookup", "$graphLookup", "$unionWith", "$unwind", "$geoNear", "$bucketAuto", "$map", "$filter", "$convert",
        "$derivative", "$integral",
        "$dateAdd", "$dateSubtract", "$dateDiff", "$dateTrunc", "$dateToString", "$dateToParts", "$dateFromParts", "$dateFromString",
        "$year", "$month", "$week", "$dayOfYear", "$dayOfMonth", "$dayOfWeek", "$hour", "$minute", "$second", "$millisecond",
        "$isoWeek", "$isoWeekYear", "$isoDayOfWeek",
    };

    private static readonly HashSet<string> Units = new(StringComparer.Ordinal)
    {
        "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond",
    };

    private static readonly BsonValue One = BsonDocument.Of(("", 1)).First().Value;

    /// <summary>The arrays that an update's paths have in place of identifiers, such as lines for <c>$[line]</c>.</summary>
    private readonly Dictionary<string, string> _arrays = new(StringComparer.Ordinal);

    private int _nodes;

    /// <summary>Why it can't be learned; null if it can.</summary>
    public string? WhyNot { get; private set; }

    /// <param name="filter">A query.</param>
    /// <param name="prefix">The path of what its fields are fields of, with a dot; empty for the document.</param>
    public DocumentNode Filter(BsonDocument filter, string prefix = "")
    {
        var node = new DocumentNode(isArray: false);
        foreach ((string name, BsonValue value) in filter)
        {
            if (IsTooLarge())
                return node;
            switch (name)
            {
                case "$and" or "$or" or "$nor" when value.Type == BsonType.Array:
                    var list = new DocumentNode(isArray: true);
                    foreach ((string place, BsonValue item) in value.ToDocument())
                    {
                        list.Add(place, item.Type == BsonType.Document ? Filter(item.ToDocument(), prefix)
                            : Value(item, "", ValueRole.Other));
                    }

                    node.Add(name, list);
                    break;
                case "$expr":
                    node.Add(name, Expression(value, name));
                    break;
                case "$text" when value.Type == BsonType.Document:
                    node.Add(name, Text(value.ToDocument()));
                    break;
                case "$comment":
                    break;
                case ['$', ..]:
                    Refuse($"the operator {name}");
                    break;
                default:
                    node.Add(name, Condition(value, prefix + (prefix.Length == 0 && _arrays.Count > 0 ? OfArray(name) : name)));
                    break;
            }
        }

        return node;
    }

    /// <summary>The field that a filter of elements is about.</summary>
    private string OfArray(string name) => name.Split('.', 2) is [var first, .. var rest]
        && _arrays.TryGetValue(first, out string? array) ? string.Join('.', [array, .. rest]) : name;

    /// <param name="update">Operators, or a pipeline.</param>
    public DocumentNode Update(BsonValue update)
    {
        if (update.Type == BsonType.Array)
            return Pipeline(update.ToDocument());
        var node = new DocumentNode(isArray: false);
        foreach ((string name, BsonValue fields) in update.ToDocument())
        {
            if (IsTooLarge() || fields.Type != BsonType.Document)
                return node;
            var document = new DocumentNode(isArray: false);
            foreach ((string path, BsonValue value) in fields.ToDocument())
            {
                NoteArrays(path);
                document.Add(path, Change(name, path, value));
            }

            node.Add(name, document);
        }

        return node;
    }

    private void NoteArrays(string path)
    {
        string[] steps = path.Split('.');
        foreach ((int place, string step) in steps.Index())
        {
            if (step is ['$', '[', _, .., ']'] && _arrays.Count < MostNodes)
                _arrays[step[2..^1]] = string.Join('.', steps.Take(place).Where(one => one is not ['$', ..]));
        }
    }

    public DocumentNode Pipeline(BsonDocument pipeline)
    {
        var node = new DocumentNode(isArray: true);
        foreach ((string place, BsonValue item) in pipeline)
        {
            if (IsTooLarge() || item.Type != BsonType.Document)
                return node;
            var stage = new DocumentNode(isArray: false);
            foreach ((string name, BsonValue value) in item.ToDocument())
            {
                if (name is "$out" or "$merge")
                    Refuse($"aggregations with {name}, which write");
                if (name is "$changeStream" or "$currentOp" or "$listSessions" or "$collStats" or "$indexStats" or "$queryStats")
                    Refuse($"the stage {name}");
                stage.Add(name, name switch
                {
                    "$match" when value.Type == BsonType.Document => Filter(value.ToDocument()),
                    "$limit" or "$skip" or "$sort" or "$sample" => Structure(value),
                    "$facet" when value.Type == BsonType.Document => Facets(value.ToDocument()),
                    "$geoNear" when value.Type == BsonType.Document => GeoNear(value.ToDocument()),
                    _ => Expression(value, name),
                });
            }

            node.Add(place, stage);
        }

        return node;
    }

    /// <summary>A projection, or another document that has expressions.</summary>
    public DocumentNode Expressions(BsonDocument document)
    {
        var node = new DocumentNode(isArray: false);
        foreach ((string name, BsonValue value) in document)
            node.Add(name, Expression(value, name));
        return node;
    }

    /// <summary>Conditions on elements of arrays, one document for each name that the update has; that is read before.</summary>
    public DocumentNode ArrayFilters(BsonDocument filters)
    {
        var node = new DocumentNode(isArray: true);
        foreach ((string place, BsonValue item) in filters)
            node.Add(place, item.Type == BsonType.Document ? Filter(item.ToDocument()) : Value(item, "", ValueRole.Other));
        return node;
    }

    /// <summary>What a field must be: a value, or operators.</summary>
    private ShapeNode Condition(BsonValue value, string field)
    {
        if (value.Type == BsonType.Regex)
            return Value(value, field, RoleOfPattern(value.Bytes.Span[..value.Bytes.Span.IndexOf((byte)0)]));
        if (value.Type != BsonType.Document || value.ToDocument().FirstOrDefault().Key is not ['$', ..])
            return Value(value, field, ValueRole.Equal);
        var node = new DocumentNode(isArray: false);
        ValueNode? lower = null;
        ValueNode? upper = null;
        foreach ((string name, BsonValue argument) in value.ToDocument())
        {
            if (IsTooLarge())
                return node;
            ShapeNode made = Operator(name, argument, field);
            node.Add(name, made);
            if (name is "$gt" or "$gte")
                lower = made as ValueNode;
            else if (name is "$lt" or "$lte")
                upper = made as ValueNode;
        }

        if (lower is not null)
            upper?.Above(lower);
        return node;
    }

    private ShapeNode Operator(string name, BsonValue argument, string field)
    {
        switch (name)
        {
            case "$eq":
                return Value(argument, field, ValueRole.Equal);
            case "$gt" or "$gte":
                return Value(argument, field, ValueRole.Above);
            case "$lt" or "$lte":
                return Value(argument, field, ValueRole.Below);
            case "$ne":
                return Value(argument, field, ValueRole.NotEqual);
            case "$in" or "$all" or "$nin" when argument.Type == BsonType.Array:
                return new ValueNode(field, name == "$nin" ? ValueRole.NotEqual : ValueRole.In)
                    .Seen(argument.ToDocument().Select(item => item.Value), isTypeOnly, isList: true);
            case "$exists" or "$type" or "$size" or "$mod" or "$options" or "$bitsAllSet" or "$bitsAnySet" or "$bitsAllClear"
                or "$bitsAnyClear":
                return Structure(argument, isNaming: name is "$type" or "$options");
            case "$regex" when argument.Type == BsonType.String:
                return Value(argument, field, RoleOfPattern(argument.Bytes.Span[4..^1]));
            case "$regex" when argument.Type == BsonType.Regex:
                return Condition(argument, field);
            case "$not":
                return Condition(argument, field);
            case "$near" or "$nearSphere" when argument.Type == BsonType.Document
                && argument.ToDocument().FirstOrDefault().Key == "$geometry":
                return Near(argument.ToDocument(), field);
            case "$elemMatch" when argument.Type == BsonType.Document:
                return argument.ToDocument().FirstOrDefault().Key is ['$', ..] and not ("$and" or "$or" or "$nor")
                    ? Condition(argument, field) : Filter(argument.ToDocument(), $"{field}.");
            default:
                Refuse($"the operator {name}");
                return Constant(default);
        }
    }

    /// <summary>A place, and maybe distances from it.</summary>
    private DocumentNode Near(BsonDocument near, string field)
    {
        var node = new DocumentNode(isArray: false);
        foreach ((string name, BsonValue value) in near)
            node.Add(name, name == "$geometry" ? Place(value, field) : Value(value, "", ValueRole.Other));
        return node;
    }

    private DocumentNode GeoNear(BsonDocument stage)
    {
        var node = new DocumentNode(isArray: false);
        foreach ((string name, BsonValue value) in stage)
        {
            node.Add(name, name switch
            {
                "near" => Place(value, stage.FindString("key") ?? ""),
                "query" when value.Type == BsonType.Document => Filter(value.ToDocument()),
                "maxDistance" or "minDistance" => Value(value, "", ValueRole.Other),
                _ => Structure(value, isNaming: true),
            });
        }

        return node;
    }

    private ValueNode Place(BsonValue value, string field)
    {
        if (!isTypeOnly && (value.Type != BsonType.Document || value.ToDocument().FindString("type") != "Point"))
            Refuse("places that are no points of GeoJSON");
        return Value(value, field, ValueRole.Place);
    }

    private ShapeNode Change(string name, string path, BsonValue value)
    {
        string field = string.Join('.', path.Split('.').Where(step => step is not ['$', ..] && !step.All(char.IsAsciiDigit)));
        switch (name)
        {
            case "$inc" or "$mul":
                return Value(value, field, ValueRole.Added);
            case "$unset":
                return Constant(One);
            case "$rename" or "$pop" or "$currentDate" or "$bit":
                return Structure(value, isNaming: true);
            case "$push" or "$addToSet" when value.Type == BsonType.Document && value.ToDocument().FirstOrDefault().Key == "$each":
                var node = new DocumentNode(isArray: false);
                foreach ((string option, BsonValue argument) in value.ToDocument())
                {
                    node.Add(option, option == "$each" && argument.Type == BsonType.Array
                        ? new ValueNode(field, ValueRole.Written)
                            .Seen(argument.ToDocument().Select(item => item.Value), isTypeOnly, isList: true)
                        : Structure(argument));
                }

                return node;
            case "$pull" when value.Type == BsonType.Document:
                return value.ToDocument().FirstOrDefault().Key is ['$', ..] ? Condition(value, field)
                    : Filter(value.ToDocument(), $"{field}.");
            case "$set" or "$setOnInsert" or "$min" or "$max" or "$push" or "$addToSet" or "$pull" or "$pullAll":
                return Written(value, field);
            default:
                Refuse($"the update operator {name}");
                return Constant(default);
        }
    }

    /// <summary>A value that is stored: of a document the fields.</summary>
    private ShapeNode Written(BsonValue value, string field)
    {
        if (value.Type != BsonType.Document || value.ToDocument().FirstOrDefault().Key is ['$', ..] or null || IsTooLarge())
            return Value(value, field, ValueRole.Written);
        var node = new DocumentNode(isArray: false);
        foreach ((string name, BsonValue part) in value.ToDocument())
            node.Add(name, Written(part, $"{field}.{name}"));
        return node;
    }

    private DocumentNode Text(BsonDocument text)
    {
        var node = new DocumentNode(isArray: false);
        foreach ((string name, BsonValue value) in text)
            node.Add(name, name == "$search" ? Value(value, "", ValueRole.Other) : Constant(value));
        return node;
    }

    private DocumentNode Facets(BsonDocument facets)
    {
        var node = new DocumentNode(isArray: false);
        foreach ((string name, BsonValue value) in facets)
            node.Add(name, value.Type == BsonType.Array ? Pipeline(value.ToDocument()) : Expression(value, name));
        return node;
    }

    /// <param name="value">An expression, or a part of one.</param>
    /// <param name="key">The name that it has.</param>
    /// <param name="parent">The name of what it is an argument of.</param>
    private ShapeNode Expression(BsonValue value, string key, string parent = "")
    {
        if (IsTooLarge())
            return Constant(default);
        switch (value.Type)
        {
            case BsonType.Document or BsonType.Array when key == "pipeline":
                return Pipeline(value.ToDocument());
            case BsonType.Document or BsonType.Array:
                var node = new DocumentNode(value.Type == BsonType.Array);
                foreach ((string name, BsonValue part) in value.ToDocument())
                {
                    if (name is "$function" or "$accumulator" or "$where")
                        Refuse($"the operator {name}, which is code");
                    node.Add(name, name == "$literal" ? Value(part, "", ValueRole.Other)
                        : name == "$elemMatch" && part.Type == BsonType.Document ? Filter(part.ToDocument())
                        : value.Type == BsonType.Array ? Expression(part, key, parent)
                        : Expression(part, name, key));
                }

                return node;
            case BsonType.String when value.Bytes.Span is [_, _, _, _, (byte)'$', ..] || IsName(value, key, parent):
                return Constant(value);
            case BsonType.Boolean or BsonType.Null or BsonType.MinKey or BsonType.MaxKey:
                return Constant(value);
            case BsonType.Int32 or BsonType.Int64 or BsonType.Double when value.ToDouble() is 0 or 1 or -1:
                return Constant(value);
            default:
                return Value(value, "", ValueRole.Other);
        }
    }

    private static bool IsName(BsonValue text, string key, string parent) => Naming.Contains(key)
        || (NamingArguments.Contains(key) && HasNames.Contains(parent)) || (key == "unit" && Units.Contains(text.ToString()));

    /// <summary>Numbers that belong to the form, as a limit or a $size, and what holds such.</summary>
    /// <param name="value">Anything.</param>
    /// <param name="isNaming">Its texts are names.</param>
    private ShapeNode Structure(BsonValue value, bool isNaming = false)
    {
        if (value.Type is BsonType.Document or BsonType.Array)
        {
            var node = new DocumentNode(value.Type == BsonType.Array);
            foreach ((string name, BsonValue part) in value.ToDocument())
            {
                if (IsTooLarge())
                    break;
                node.Add(name, Structure(part, isNaming || name is "$type" or "$meta"));
            }

            return node;
        }

        return value.IsNumber || value.Type is BsonType.Boolean or BsonType.Null || (value.Type == BsonType.String && isNaming)
            ? Constant(value) : Value(value, "", ValueRole.Other);
    }

    private ValueNode Value(BsonValue value, string field, ValueRole role)
    {
        _nodes++;
        return new ValueNode(field, role).Seen([value], isTypeOnly);
    }

    private ConstantNode Constant(BsonValue value)
    {
        _nodes++;
        return new ConstantNode(value.Type == 0 ? new BsonValue(BsonType.Null, default) : value);
    }

    /// <summary>An index answers what begins with ^ and a letter or digit.</summary>
    private static ValueRole RoleOfPattern(ReadOnlySpan<byte> pattern) =>
        pattern is [(byte)'^', var first, ..] && char.IsLetterOrDigit((char)first) ? ValueRole.Prefix : ValueRole.Other;

    private bool IsTooLarge()
    {
        if (++_nodes <= MostNodes)
            return false;
        Refuse($"commands of more than {MostNodes:N0} parts");
        return true;
    }

    /// <summary>It can't be learned.</summary>
    public void Refuse(string what) => WhyNot ??= what;

    /// <summary>For the next statement of the command, which may have as many parts again.</summary>
    public ShapeReader Next()
    {
        _nodes = 0;
        _arrays.Clear();
        return this;
    }
}

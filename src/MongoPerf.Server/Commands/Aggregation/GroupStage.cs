using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>$group: one document for each value of <c>_id</c>, in no order that may be counted on.</summary>
internal sealed class GroupStage
{
    /// <summary>Known to MongoDB 6.0 and not to this server.</summary>
    public static readonly HashSet<string> MongoAccumulators =
    [
        "$accumulator", "$bottom", "$bottomN", "$firstN", "$lastN", "$maxN", "$mergeObjects", "$minN", "$stdDevPop",
        "$stdDevSamp", "$top", "$topN",
    ];

    // A group and an accumulator as objects, besides the bytes of their values.
    private const int BytesOfGroup = 160;
    private const int BytesOfAccumulator = 120;

    private readonly Variables? _variables;
    private readonly Collation? _collation;
    private readonly Expression _id;
    private readonly List<(string Name, Func<Accumulator> New, Expression Value)> _fields = [];

    /// <param name="specification">The stage's value.</param>
    /// <param name="variables">Those that its expressions may use.</param>
    /// <param name="collation">What makes strings one group; null for their bytes.</param>
    /// <exception cref="CommandException">No _id, or something else than an accumulator.</exception>
    public GroupStage(BsonDocument specification, Variables? variables, Collation? collation)
    {
        _variables = variables;
        _collation = collation;
        Expression? id = null;
        foreach ((string name, BsonValue value) in specification)
        {
            if (name != "_id")
                AddField(name, value);
            else if (id != null)
                throw CommandException.Location(15948, "a group's _id may only be specified once");
            else
                id = ExpressionParser.Parse(RequireNoInclusion(value), variables);
        }

        _id = id ?? throw CommandException.Location(15955, "a group specification must include an _id");
    }

    public IEnumerable<BsonDocument> Run(IEnumerable<BsonDocument> documents)
    {
        var groups = new Dictionary<string, (BsonValue Id, Accumulator[] Fields)>();
        long bytes = 0;
        foreach (BsonDocument document in documents)
        {
            var scope = new Scope(document, _variables);
            BsonValue id = _id is DocumentExpression parts ? parts.EvaluateAsGroup(scope) : _id.Evaluate(scope) ?? Values.Null;
            string key = Values.KeyOf(id, _collation);
            if (!groups.TryGetValue(key, out (BsonValue Id, Accumulator[] Fields) group))
            {
                bytes += (2L * key.Length) + id.Bytes.Length + BytesOfGroup + (_fields.Count * BytesOfAccumulator);
                groups.Add(key, group = (Values.Owned(id)!.Value, [.. _fields.Select(field => field.New())]));
            }

            for (int i = 0; i < group.Fields.Length; i++)
            {
                Accumulator field = group.Fields[i];
                bytes -= field.HeldBytes;
                field.Add(Values.Owned(_fields[i].Value.Evaluate(scope)));
                bytes += field.HeldBytes;
            }

            if (bytes > ActiveOperation.MaximumHeldBytes)
                throw new CommandException(292, "QueryExceededMemoryLimitNoDiskUseAllowed",
                    "Exceeded memory limit for $group, but didn't allow external spilling; the embedded server does not spill to disk");
        }

        ActiveOperation.Gather(bytes);
        return groups.Values.Select(group => Values.Document(
            [("_id", group.Id), .. group.Fields.Select((field, i) => (_fields[i].Name, field.Result))]).ToDocument());
    }

    /// <summary>A document of fields is one of expressions: {b: 1} would mean to include b.</summary>
    private static BsonValue RequireNoInclusion(BsonValue id)
    {
        if (id.Type != BsonType.Document || id.ToDocument().FirstOrDefault().Key is null or ['$', ..])
            return id;
        foreach ((_, BsonValue value) in id.ToDocument())
        {
            if (value.IsNumber || value.Type == BsonType.Boolean)
                throw CommandException.Location(17390, "$group does not support inclusion-style expressions");
        }

        return id;
    }

    private void AddField(string name, BsonValue value)
    {
        if (name.Contains('.'))
            throw CommandException.Location(40235, $"The field name '{name}' cannot contain '.'");
        if (name.StartsWith('$'))
            throw CommandException.Location(40236, $"The field name '{name}' cannot be an operator name");
        KeyValuePair<string, BsonValue>[] fields = value.Type == BsonType.Document
            ? [.. value.ToDocument()]
            : throw CommandException.Location(40234, $"The field '{name}' must be an accumulator object");
        if (fields.Length == 0 || !fields[0].Key.StartsWith('$'))
            throw CommandException.Location(40234, $"The field '{name}' must be an accumulator object");
        if (fields.Length > 1)
            throw CommandException.Location(40238, $"The field '{name}' must specify one accumulator");
        (string accumulator, BsonValue operand) = fields[0];
        if (operand.Type == BsonType.Array)
            throw CommandException.Location(40237, $"The {accumulator} accumulator is a unary operator");
        if (accumulator == "$count")
        {
            if (operand.Type != BsonType.Document || operand.ToDocument().Any())
                throw CommandException.TypeMismatch("$count takes no arguments, i.e. $count:{}");
            _fields.Add((name, () => new SumAccumulator(), new ConstantExpression(Values.Int32(1))));
            return;
        }

        Func<Accumulator> make = Accumulator.Find(accumulator) ?? throw (MongoAccumulators.Contains(accumulator)
            ? CommandException.NotSupported($"the accumulator {accumulator}")
            : CommandException.Location(15952, $"unknown group operator '{accumulator}'"));
        _fields.Add((name, make, ExpressionParser.Parse(operand, _variables)));
    }
}

using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Updates;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>What a $merge asks for, and what that is for a document.</summary>
internal sealed class MergeOptions
{
    private readonly StageContext _context;
    private readonly List<(string Name, Expression Value)> _let = [];
    private BsonValue? _pipeline;

    private MergeOptions(StageContext context) => (_context, Database) = (context, context.Database);

    public string Database { get; private set; }

    public string Name { get; private set; } = "";

    /// <summary>The fields by which documents are the same, in order of their names.</summary>
    public string[] On { get; private set; } = ["_id"];

    /// <summary>replace, keepExisting, merge, fail; pipeline for one that is given.</summary>
    public string WhenMatched { get; private set; } = "merge";

    /// <summary>insert, discard, fail.</summary>
    public string WhenNotMatched { get; private set; } = "insert";

    /// <summary>Whether the client has said which fields these are; then there has to be an index for them.</summary>
    public bool IsOnGiven { get; private set; }

    public bool HasPipeline => _pipeline != null;

    /// <exception cref="CommandException">A field that is missing, wrong or unknown.</exception>
    public static MergeOptions Parse(BsonValue value, StageContext context)
    {
        var options = new MergeOptions(context);
        if (value.Type == BsonType.String)
            options.TakeTarget(value);
        else if (value.Type == BsonType.Document)
            options.Take(value.ToDocument());
        else
            throw CommandException.TypeMismatch($"$merge requires a string or object argument, but found {Values.TypeName(value)}");
        if (options.Name.StartsWith("system.", StringComparison.Ordinal))
            throw CommandException.Location(31319, $"Cannot $merge to special collection: {options.Name}");
        if (Namespaces.IsInternal(options.Database))
            throw CommandException.Location(31320, $"Cannot $merge to internal database: {options.Database}");
        Namespaces.RequireDatabase(options.Database, System.Text.Encoding.UTF8.GetBytes(options.Database));
        Namespaces.RequireCollection(options.Database, System.Text.Encoding.UTF8.GetBytes(options.Name));
        return options;
    }

    /// <summary>The document, with a new _id in front where it has none and that is what it is looked up by.</summary>
    public BsonDocument WithOwnId(BsonDocument document) => On.Contains("_id") && DirectFields.Find(document, "_id") == null
        ? BsonDocument.Of([("_id", ObjectIds.Next()), .. document.Select(field => (field.Key, (object?)field.Value))])
        : document;

    /// <summary>What the same document in the target meets.</summary>
    /// <exception cref="CommandException">51132, 51185: a field of <see cref="On"/> has no single value.</exception>
    public BsonDocument FilterOf(BsonDocument document) =>
        Values.Document(On.Select(path => (path, Values.Document([("$eq", ValueOf(document, path))])))).ToDocument();

    /// <summary>What is done to the same document in the target, or put in its place where there is none.</summary>
    public DocumentUpdate UpdateOf(BsonDocument document)
    {
        Variables? variables = _context.Variables;
        if (_pipeline != null)
        {
            var scope = new Scope(document, variables);
            foreach ((string name, Expression expression) in _let)
                variables = Variables.With(variables, name, expression.Evaluate(scope));
            variables = Variables.With(variables, "new", Values.Of(document));
        }

        BsonValue update = WhenMatched switch
        {
            "pipeline" => _pipeline!.Value,
            "replace" => Values.Of(document),
            "keepExisting" => Values.Document([("$setOnInsert", Values.Of(document))]),
            _ => Values.Document([("$set", Values.Of(document))]),
        };
        return DocumentUpdate.Parse(update, null, variables);
    }

    private static BsonValue ValueOf(BsonDocument document, string path)
    {
        BsonValue? value = Values.Of(document);
        foreach (string step in path.Split('.'))
        {
            value = value is { Type: BsonType.Document } inner ? DirectFields.Find(inner.ToDocument(), step) : null;
            if (value is { Type: BsonType.Array })
                throw CommandException.Location(51185, $"$merge write error: 'on' field '{path}' is an array");
        }

        return Values.IsNullish(value) && path != "_id"
            ? throw CommandException.Location(
                51132, $"$merge write error: 'on' field '{path}' cannot be missing, null, undefined or an array")
            : value!.Value;
    }

    private void Take(BsonDocument fields)
    {
        BsonDocument? let = null;
        foreach ((string name, BsonValue field) in fields)
        {
            switch (name)
            {
                case "into": TakeTarget(field); break;
                case "on": TakeOn(field); break;
                case "let": let = CommandFields.Document("$merge", name, field); break;
                case "whenMatched": TakeWhenMatched(field); break;
                case "whenNotMatched": TakeWhenNotMatched(field); break;
                default: throw CommandException.UnknownField("$merge", name);
            }
        }

        if (Name.Length == 0)
            throw CommandException.MissingField("$merge", "into");
        if (let != null && !HasPipeline)
            throw CommandException.Location(51199, $"Cannot use 'let' variables with 'whenMatched: {WhenMatched}' mode");
        if (WhenMatched is "fail" or "keepExisting" && WhenNotMatched != "insert")
            throw CommandException.Location(51181, $"Combination of $merge modes 'whenMatched: {WhenMatched}' and 'whenNotMatched: "
                + $"{WhenNotMatched}' is not supported");
        foreach ((string name, BsonValue expression) in let ?? BsonDocument.Empty)
            _let.Add((Variables.RequireName(name), ExpressionParser.Parse(expression, _context.Variables)));
        // So that what is wrong in a pipeline is told even where no document comes.
        UpdateOf(BsonDocument.Empty);
    }

    private void TakeTarget(BsonValue value)
    {
        if (value.Type == BsonType.Document)
        {
            foreach ((string name, BsonValue field) in value.ToDocument())
            {
                if (name is not ("db" or "coll"))
                    throw CommandException.UnknownField("$merge.into", name);
                if (field.Type != BsonType.String)
                    throw CommandFields.Mismatch("$merge.into", name, field.Type, "string");
                if (name == "db")
                    Database = field.ToString();
                else
                    Name = field.ToString();
            }

            if (Name.Length == 0)
                throw CommandException.Location(
                    5786801, "$merge 'into' field must specify a 'coll' that is not empty, null or undefined");
            return;
        }

        if (value.Type != BsonType.String)
            throw CommandException.Location(
                51178, $"$merge 'into' field  must be either a string or an object, but found {Values.TypeName(value)}");
        Name = value.ToString();
        if (Name.Length == 0)
            throw CommandException.Location(5786800, "$merge 'into' field cannot be an empty string");
    }

    private void TakeOn(BsonValue value)
    {
        BsonValue[] items = value.Type switch
        {
            BsonType.String => [value],
            BsonType.Array => [.. Values.Items(value)],
            _ => throw CommandException.Location(51186,
                $"$merge 'on' field  must be either a string or an array of strings, but found {Values.TypeName(value)}"),
        };
        if (items.Length == 0)
            throw CommandException.Location(51187, "If explicitly specifying $merge 'on', must include at least one field");
        if (items.Cast<BsonValue?>().FirstOrDefault(item => item!.Value.Type != BsonType.String) is { } wrong)
            throw CommandException.Location(
                51134, $"$merge 'on' array elements must be strings, but found {Values.TypeName(wrong)}");
        IsOnGiven = true;
        On = [.. items.Select(item => item.ToString()).Order(StringComparer.Ordinal)];
        foreach (string path in On)
            PathExpression.RequirePath(path);
        if (On.GroupBy(path => path).FirstOrDefault(same => same.Count() > 1) is { } twice)
            throw CommandException.Location(31465, $"Found a duplicate field '{twice.Key}'");
    }

    private void TakeWhenMatched(BsonValue value)
    {
        if (value.Type is not (BsonType.String or BsonType.Array))
            throw CommandException.Location(
                51191, $"$merge 'whenMatched' field  must be either a string or an array, but found {Values.TypeName(value)}");
        _pipeline = value.Type == BsonType.Array ? value : null;
        WhenMatched = HasPipeline ? "pipeline" : value.ToString();
        if (WhenMatched is not ("replace" or "keepExisting" or "merge" or "fail" or "pipeline"))
            throw CommandException.BadValue($"Enumeration value '{WhenMatched}' for field 'whenMatched' is not a valid value.");
    }

    private void TakeWhenNotMatched(BsonValue value)
    {
        WhenNotMatched = value.Type == BsonType.String
            ? value.ToString()
            : throw CommandFields.Mismatch("$merge", "whenNotMatched", value.Type, "string");
        if (WhenNotMatched is not ("insert" or "discard" or "fail"))
            throw CommandException.BadValue(
                $"Enumeration value '{WhenNotMatched}' for field '$merge.whenNotMatched' is not a valid value.");
    }
}

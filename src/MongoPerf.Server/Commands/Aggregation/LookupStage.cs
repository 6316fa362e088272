using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>
/// $lookup: gives each document an array of documents of another collection, those with an equal field, or those that a pipeline makes.
/// </summary>
/// <remarks>
/// For each document a pipeline runs over the other collection, with the equality as its first $match: an index serves that, and no
/// comparison with a variable.
/// </remarks>
internal sealed class LookupStage
{
    private readonly StageContext _context;
    private readonly List<(string Name, Expression Value)> _let = [];
    private readonly string _nameSpace = "";
    private readonly string[] _as;
    private readonly FieldPath? _localField;
    private readonly string _foreignField = "";
    private readonly (string Name, BsonValue Value)[] _stages = [];

    /// <exception cref="CommandException">A field that is missing, wrong or unknown; a stage of its pipeline that is.</exception>
    public LookupStage(BsonValue value, StageContext context)
    {
        if (value.Type != BsonType.Document)
            throw CommandException.FailedToParse(
                $"the $lookup stage specification must be an object, but found {Values.TypeName(value)}");
        var texts = new Dictionary<string, string>();
        BsonDocument? let = null;
        bool hasPipeline = false;
        foreach ((string name, BsonValue field) in value.ToDocument())
        {
            switch (name)
            {
                case "pipeline": (_stages, hasPipeline) = (StageParser.Stages(field), true); break;
                case "let": let = field.Type == BsonType.Document ? field.ToDocument() : throw CommandException.FailedToParse(
                    $"$lookup argument 'let: {Values.Text(field)}' must be an object, is type {Values.TypeName(field)}"); break;
                case "from" or "localField" or "foreignField" or "as" when field.Type == BsonType.String:
                    texts[name] = field.ToString(); break;
                case "from" when field.Type != BsonType.Document: throw CommandException.FailedToParse(
                    $"$lookup 'from' field must be a string, but found {Values.TypeName(field)}");
                case "from": throw CommandException.FailedToParse("$lookup with syntax {from: {db:<>, coll:<>},..} is not supported");
                default: throw CommandException.FailedToParse(field.Type == BsonType.String
                    ? $"unknown argument to $lookup: {name}"
                    : $"$lookup argument '{name}' must be a string, found {name}: {Values.Text(field)}: {Values.TypeName(field)}");
            }
        }

        string? from = texts.GetValueOrDefault("from");
        RequireSense(from, texts, hasPipeline, let);
        _nameSpace = $"{context.Database}.{from}";
        _as = RequirePath(texts["as"]).Split('.');
        if (texts.GetValueOrDefault("localField") is { Length: > 0 } local)
            (_localField, _foreignField) = (new FieldPath(RequirePath(local)), RequirePath(texts["foreignField"]));
        context.Foreign.Add(_nameSpace);
        _context = context;
        DeclareAndParse(let);
    }

    public IEnumerable<BsonDocument> Run(IEnumerable<BsonDocument> documents)
    {
        using var query = new FindQuery(new PathCache());
        foreach (BsonDocument document in documents)
            yield return Nested.Set(document, _as, Found(query, document));
    }

    private static void RequireSense(string? from, Dictionary<string, string> texts, bool hasPipeline, BsonDocument? let)
    {
        if (from == null && hasPipeline)
            throw CommandException.NotSupported("$lookup without 'from'");
        if (from == null)
            throw CommandException.FailedToParse("must specify 'pipeline' when 'from' is empty");
        if (from.Length == 0)
            throw CommandException.InvalidNamespace("invalid $lookup namespace: the name of the collection is empty");
        if (texts.GetValueOrDefault("as", "").Length == 0)
            throw CommandException.FailedToParse("must specify 'as' field for a $lookup");
        bool hasLocal = texts.GetValueOrDefault("localField", "").Length > 0;
        bool hasForeign = texts.GetValueOrDefault("foreignField", "").Length > 0;
        if (hasPipeline && hasLocal != hasForeign)
            throw CommandException.FailedToParse("$lookup requires both or neither of 'localField' and 'foreignField' to be specified");
        if (!hasPipeline && !(hasLocal && hasForeign))
            throw CommandException.FailedToParse(
                "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified");
        if (!hasPipeline && let != null)
            throw CommandException.FailedToParse("$lookup with a 'let' argument must also specify 'pipeline'");
    }

    private static string RequirePath(string path)
    {
        ProtocolLimits.RequirePath(path);
        PathExpression.RequirePath(path);
        return path;
    }

    /// <summary>Parses the pipeline, so that what is wrong is told even where no document comes.</summary>
    private void DeclareAndParse(BsonDocument? let)
    {
        Variables? declared = _context.Variables;
        foreach ((string name, BsonValue expression) in let ?? BsonDocument.Empty)
        {
            _let.Add((name, ExpressionParser.Parse(expression, _context.Variables)));
            declared = ExpressionParser.Declare(declared, name);
        }

        StageParser.CheckSubPipeline(_stages, "$lookup", 51047);
        long held = ActiveOperation.Held;
        Pipeline.Parse(_stages, _context.Within(declared));
        ActiveOperation.Release(held);
    }

    private BsonValue Found(FindQuery query, BsonDocument document)
    {
        ActiveOperation.Check();
        long held = ActiveOperation.Held;
        Variables? variables = _context.Variables;
        var scope = new Scope(document, variables);
        foreach ((string name, Expression value) in _let)
            variables = Variables.With(variables, name, value.EvaluateAndHold(scope));
        (string, BsonValue)[] stages = _localField == null ? _stages : [("$match", EqualTo(document)), .. _stages];
        Pipeline pipeline = Pipeline.Parse(stages, _context.Within(variables));
        try
        {
            return Values.Array(Bounded(pipeline.Run(query, _context.Foreign.Find(_nameSpace))));
        }
        finally
        {
            query.Dispose();
            ActiveOperation.Release(held);
        }
    }

    /// <summary>The condition that a document of the other collection meets: its field is one of the local field's values.</summary>
    private BsonValue EqualTo(BsonDocument document)
    {
        var values = new List<BsonValue>();
        PathValues.Visit(_localField!, document.Bytes, (type, value) => values.Add(new BsonValue(type, value.ToArray())));
        // What is missing equals null, and what is missing there.
        if (values.Count == 0)
            values.Add(Values.Null);
        if (values.TrueForAll(CanStandInList))
            return Condition(values.Count == 1 ? ("$eq", values[0]) : ("$in", Values.Array(values)));
        return Values.Document([("$or", Values.Array(values.Select(value => Condition(("$eq", value)))))]);
    }

    private BsonValue Condition((string, BsonValue) condition) => Values.Document([(_foreignField, Values.Document([condition]))]);

    /// <summary>In an $in a regular expression would be a pattern, and a document of operators an error.</summary>
    private static bool CanStandInList(BsonValue value) => value.Type != BsonType.Regex
        && !(value.Type == BsonType.Document && value.ToDocument().FirstOrDefault().Key is ['$', ..]);

    /// <summary>What the array has so far is held; see <see cref="Values.Array"/>.</summary>
    private IEnumerable<BsonValue> Bounded(IEnumerable<BsonDocument> documents)
    {
        foreach (BsonDocument document in documents)
        {
            if (!ActiveOperation.CanHold(document.Bytes.Length))
                throw CommandException.Location(4568, $"Total size of documents in {_nameSpace} matching pipeline's $lookup stage exceeds "
                    + $"{ActiveOperation.MaximumHeldBytes} bytes");
            yield return Values.Of(document);
        }
    }
}

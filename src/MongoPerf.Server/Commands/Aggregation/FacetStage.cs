using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>$facet: several pipelines over the same documents, and one document with what each of them makes.</summary>
/// <remarks>
/// Up to 100 MB of documents are read once and kept meanwhile; more than that are read anew for each pipeline.
/// </remarks>
internal sealed class FacetStage
{
    private readonly List<(string Name, Pipeline Pipeline)> _facets = [];

    /// <exception cref="CommandException">No document of pipelines, or a stage that is wrong or has no place in a $facet.</exception>
    public FacetStage(BsonValue value, StageContext context)
    {
        if (value.Type != BsonType.Document || !value.ToDocument().Any())
            throw CommandException.Location(
                40169, $"the $facet specification must be a non-empty object, but found: $facet: {Values.Text(value)}");
        foreach ((string name, BsonValue stages) in value.ToDocument())
        {
            RequireName(name);
            if (stages.Type != BsonType.Array)
                throw CommandException.Location(40170, $"arguments to $facet must be arrays, {name} is type {Values.TypeName(stages)}");
            if (Values.Items(stages).Cast<BsonValue?>().FirstOrDefault(stage => stage!.Value.Type != BsonType.Document) is { } wrong)
                throw CommandException.Location(40171, "elements of arrays in $facet spec must be non-empty objects, "
                    + $"{name} argument contained an element of type {Values.TypeName(wrong)}");
            (string Name, BsonValue Value)[] given = StageParser.Stages(stages);
            if (given.FirstOrDefault(stage => IsForbidden(stage)).Name is { } forbidden)
                throw CommandException.Location(40600, $"{forbidden} is not allowed to be used within a $facet stage");
            _facets.Add((name, Pipeline.Parse(given, context, isOfCollection: false)));
        }
    }

    public IEnumerable<BsonDocument> Run(IEnumerable<BsonDocument> documents)
    {
        IEnumerable<BsonDocument> input = Read(documents);
        long held = ActiveOperation.Held;
        var results = new List<(string, BsonValue)>();
        foreach ((string name, Pipeline pipeline) in _facets)
        {
            BsonValue made = Values.Array(pipeline.RunOver(input).Select(document =>
            {
                if (!ActiveOperation.CanHold(document.Bytes.Length))
                    throw CommandException.Location(4031700,
                        $"document constructed by $facet is more than the limit of {ActiveOperation.MaximumHeldBytes} bytes");
                return Values.Of(document);
            }));
            Values.Hold(made);
            results.Add((name, made));
        }

        ActiveOperation.Release(held);
        return [Values.Document(results).ToDocument()];
    }

    /// <returns>The documents themselves where they fit into memory.</returns>
    private static IEnumerable<BsonDocument> Read(IEnumerable<BsonDocument> documents)
    {
        const int BytesOfDocument = 80;
        var kept = new List<BsonDocument>();
        long bytes = 0;
        foreach (BsonDocument document in documents)
        {
            ActiveOperation.Check();
            kept.Add(document);
            bytes += document.Bytes.Length + BytesOfDocument;
            if (bytes > ActiveOperation.MaximumHeldBytes)
                return documents;
        }

        return kept;
    }

    private static void RequireName(string name)
    {
        if (name.Length == 0)
            throw CommandException.Location(15998, "FieldPath field names may not be empty strings.");
        if (name.Contains('.'))
            throw CommandException.Location(16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.");
        PathExpression.RequirePath(name);
    }

    /// <summary>Also of a $lookup whose own pipeline has one of them.</summary>
    private static bool IsForbidden((string Name, BsonValue Value) stage) => stage.Name switch
    {
        "$facet" or "$out" or "$merge" or "$geoNear" or "$planCacheStats" or "$changeStream" or "$documents" or "$search" or "$searchMeta"
            or "$listSessions" or "$listLocalSessions" => true,
        "$lookup" => stage.Value.Type == BsonType.Document && DirectFields.Find(stage.Value.ToDocument(), "pipeline") is
            { Type: BsonType.Array } inner && StageParser.Stages(inner).Any(IsForbidden),
        _ => StatisticsStages.IsOne(stage.Name),
    };
}

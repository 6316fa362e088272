using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>$unionWith: the stage's own documents, then those of another collection, or what a pipeline makes of them.</summary>
internal sealed class UnionWithStage
{
    private readonly StageContext _context;
    private readonly string _nameSpace;
    private readonly Pipeline _pipeline;

    /// <exception cref="CommandException">A field that is missing, wrong or unknown; a stage of its pipeline that is.</exception>
    public UnionWithStage(BsonValue value, StageContext context)
    {
        string? collection = value.Type == BsonType.String ? value.ToString() : null;
        (string Name, BsonValue Value)[] stages = [];
        foreach ((string name, BsonValue field) in value.Type switch
        {
            BsonType.String => BsonDocument.Empty,
            BsonType.Document => value.ToDocument(),
            _ => throw CommandException.FailedToParse(
                $"the $unionWith stage specification must be an object or string, but found {Values.TypeName(value)}"),
        })
        {
            switch (name)
            {
                case "coll": collection = field.Type == BsonType.String ? field.ToString() : throw WrongType(name, field, "string"); break;
                case "pipeline": stages = field.Type == BsonType.Array ? Stages(field) : throw WrongType(name, field, "array"); break;
                default: throw CommandException.UnknownField("$unionWith", name);
            }
        }

        if (collection == null)
            throw CommandException.FailedToParse(
                "$unionWith stage without explicit collection must have a pipeline with $documents as first stage");
        if (collection.Length == 0)
            throw CommandException.InvalidNamespace("invalid $unionWith namespace: the name of the collection is empty");
        _context = context;
        _nameSpace = $"{context.Database}.{collection}";
        context.Foreign.Add(_nameSpace);
        _pipeline = Pipeline.Parse(stages, context.Within(context.Variables));
    }

    public IEnumerable<BsonDocument> Run(IEnumerable<BsonDocument> documents)
    {
        foreach (BsonDocument document in documents)
            yield return document;
        using var query = new FindQuery(new PathCache());
        Collection? collection = _context.Foreign.Find(_nameSpace);
        using IEnumerator<BsonDocument> others = _pipeline.Run(query, collection).GetEnumerator();
        // A cursor lets go of the collection between two batches, and it may be gone at the next one.
        while (_context.Foreign.Find(_nameSpace) == collection && others.MoveNext())
        {
            ActiveOperation.Check();
            yield return others.Current;
        }
    }

    private static (string Name, BsonValue Value)[] Stages(BsonValue pipeline)
    {
        (string Name, BsonValue Value)[] stages = StageParser.Stages(pipeline);
        StageParser.CheckSubPipeline(stages, "$unionWith", 31441);
        return stages;
    }

    private static CommandException WrongType(string field, BsonValue value, string expected) => CommandException.TypeMismatch(
        $"BSON field '$unionWith.{field}' is the wrong type '{Values.TypeName(value)}', expected type '{expected}'");
}

using MongoPerf.Server.Commands.Aggregation;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>A parsed update: operators, a replacement, or a pipeline. Applied to one document after the other.</summary>
internal sealed class DocumentUpdate
{
    private readonly List<(UpdatePath Path, UpdateAction Action)> _changes = [];
    private readonly List<(UpdatePath Path, UpdateAction Action)> _insertChanges = [];
    private readonly ArrayFilters? _filters;
    private readonly BsonDocument? _replacement;
    private readonly List<PipelineStage>? _pipeline;

    private DocumentUpdate(ArrayFilters? filters, BsonDocument? replacement, List<PipelineStage>? pipeline)
    {
        _filters = filters;
        _replacement = replacement;
        _pipeline = pipeline;
    }

    public bool IsReplacement => _replacement != null;

    /// <summary>Whether it asks which element met the query.</summary>
    public bool IsPositional { get; private set; }

    /// <param name="update">A document, or the array of a pipeline.</param>
    /// <param name="filters">The statement's arrayFilters; null when it has none.</param>
    /// <param name="variables">The command's <c>let</c>, for pipelines.</param>
    /// <exception cref="CommandException">An unknown operator, paths in conflict, or a value that an operator does not take.</exception>
    public static DocumentUpdate Parse(BsonValue update, ArrayFilters? filters, Variables? variables)
    {
        if (update.Type == BsonType.Array)
        {
            if (filters != null)
                throw CommandException.FailedToParse("arrayFilters may not be specified for pipeline-syle updates");
            return new DocumentUpdate(null, null, [.. Values.Items(update).Select(stage => Stage(stage, variables))]);
        }

        if (update.Type != BsonType.Document)
            throw CommandException.FailedToParse("Update argument must be either an object or an array");
        BsonDocument document = update.ToDocument();
        if (document.FirstOrDefault().Key is not ['$', ..])
        {
            if (document.FirstOrDefault(field => field.Key.StartsWith('$')).Key is { } dollar)
                throw UpdateErrors.DollarField(dollar);
            if (filters != null)
                throw CommandException.FailedToParse("arrayFilters may not be specified for replacement-style updates");
            return new DocumentUpdate(null, document, null);
        }

        var parsed = new DocumentUpdate(filters, null, null);
        UpdateParser.Parse(document, parsed._changes, parsed._insertChanges);
        parsed.RequireFilters();
        parsed.IsPositional = parsed._insertChanges.Exists(change => change.Path.IsPositional);
        return parsed;
    }

    /// <summary>The document after the update.</summary>
    /// <param name="document">The document with its _id, or the filter's equalities for an upsert.</param>
    /// <param name="isInsert">Whether $setOnInsert counts.</param>
    /// <param name="place">What the positional <c>$</c> stands for; null where no element met the query.</param>
    /// <param name="isChange">Whether the document counts as modified. A replacement without an _id always does, as on mongod.</param>
    /// <exception cref="CommandException">A value that an operator does not take; a changed _id.</exception>
    public BsonDocument Apply(BsonDocument document, bool isInsert, string? place, out bool isChange)
    {
        isChange = false;
        BsonValue? id = DirectFields.Find(document, "_id");
        BsonDocument changed = _replacement != null ? new BsonDocument(ZeroTimestamps.Replace(Replace(_replacement, id).Bytes).ToArray())
            : _pipeline != null ? RunPipeline(document, id) : Change(document, isInsert, place, out isChange);
        RequireSameId(id, DirectFields.Find(changed, "_id"), isInsert);
        isChange |= !document.Bytes.SequenceEqual((_replacement ?? changed).Bytes);
        return changed;
    }

    private static void RequireSameId(BsonValue? before, BsonValue? after, bool isInsert)
    {
        if (before is { } old && (after is not { } now || !Values.AreIdentical(now, old)) && !(isInsert && after == null))
            throw new CommandException(
                66, "ImmutableField", "Performing an update on the path '_id' would modify the immutable field '_id'");
    }

    private BsonDocument Change(BsonDocument document, bool isInsert, string? place, out bool isChange)
    {
        var root = new EditNode(Values.Of(document));
        List<(UpdatePath Path, UpdateAction Action)> changes = isInsert ? _insertChanges : _changes;
        foreach ((UpdatePath path, UpdateAction action) in place == null ? changes : UpdateParser.At(place, changes))
        {
            if (action is RenameAction rename)
                rename.Apply(root, path);
            else
                path.Apply(root, action, _filters);
            // At once, before anything else can be wrong with the update: as mongod.
            if (path.Steps[0] == "_id")
                RequireSameId(DirectFields.Find(document, "_id"), root.Child("_id")?.Value, isInsert);
        }

        isChange = root.IsMarked;
        return root.Value.ToDocument();
    }

    private BsonDocument RunPipeline(BsonDocument document, BsonValue? id)
    {
        IEnumerable<BsonDocument> documents = [document];
        foreach (PipelineStage stage in _pipeline!)
            documents = stage(documents);
        BsonDocument result = documents.Single();
        // A pipeline may leave the _id out, and it stays then.
        return id is { } kept && DirectFields.Find(result, "_id") == null ? Replace(result, kept) : result;
    }

    private static BsonDocument Replace(BsonDocument replacement, BsonValue? id) =>
        id is { } kept && DirectFields.Find(replacement, "_id") == null
            ? Values.Document([("_id", kept), .. replacement.Select(pair => (pair.Key, pair.Value))]).ToDocument()
            : replacement;

    private static PipelineStage Stage(BsonValue stage, Variables? variables)
    {
        KeyValuePair<string, BsonValue>[] fields = stage.Type == BsonType.Document
            ? [.. stage.ToDocument()]
            : throw CommandException.TypeMismatch("Each element of the 'pipeline' array must be an object");
        if (fields.Length != 1)
            throw CommandException.Location(40323, "A pipeline stage specification object must contain exactly one field.");
        // No stage of what is parsed as one, and so told first.
        if (fields[0].Key is "$out" or "$merge")
            throw NotInUpdate(fields[0].Key);
        PipelineStage parsed = StageParser.Parse(
            fields[0].Key, fields[0].Value, new StageContext(variables, Database: "", new ForeignCollections()));
        return fields[0].Key is "$addFields" or "$set" or "$project" or "$unset" or "$replaceRoot" or "$replaceWith"
            ? parsed
            : throw NotInUpdate(fields[0].Key);
    }

    private static CommandException NotInUpdate(string stage) =>
        new(72, "InvalidOptions", $"{stage} is not allowed to be used within an update");

    private void RequireFilters()
    {
        string[] used = [.. _changes.Concat(_insertChanges).SelectMany(change => change.Path.Identifiers)];
        if (used.FirstOrDefault(name => _filters?.Names.Contains(name) != true) is { } missing)
            throw CommandException.BadValue($"No array filter found for identifier '{missing}'");
        if (_filters?.Names.FirstOrDefault(name => !used.Contains(name)) is { } unused)
            throw CommandException.FailedToParse($"The array filter for identifier '{unused}' was not used in the update");
    }
}

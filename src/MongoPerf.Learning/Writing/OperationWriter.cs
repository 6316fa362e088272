using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Writes operations: their forms as they were seen, with values that the file's own data have.</summary>
/// <param name="data">What the file says of its data.</param>
internal sealed partial class OperationWriter(IWrittenData data)
{
    /// <summary>A share that tells hardly anything from none.</summary>
    private const double Hardly = 0.02;

    private readonly List<string> _notLearned = [];

    /// <summary>What was left out of operations that were written.</summary>
    public IReadOnlyList<string> NotLearned => _notLearned;

    /// <summary>Names are hashed, so that nothing may stand in the file that the deployment named.</summary>
    private bool AreHashed => data.NameOf("", "x") != "x";

    /// <summary>A name for results: kind, collection, fields of the filter, and what an update does to which fields.</summary>
    public string NameOf(LearnedOperation operation)
    {
        IEnumerable<string> fields = (operation.Filter ?? Matched(operation.Pipeline))?.Fields.Select(field => field.Key)
            .Where(name => name is not ['$', ..]).Select(name => data.NameOf(operation.Collection, name)) ?? [];
        string collection = operation.Collection.Length > 0 ? data.CollectionOf(operation.Collection) ?? operation.Collection
            : string.Join(' ', operation.Parts.Select(part => $"{part.Kind} {data.CollectionOf(part.Collection)}"));
        string kind = operation.Kind == "steps" ? "transaction" : operation.Kind;
        return Unspoken().Replace(string.Join(' ', [kind, collection, .. fields.Take(4), .. Changes(operation)]), "_").Trim();
    }

    /// <summary>What tells it from another one of the same name; empty for nothing.</summary>
    public string Distinction(LearnedOperation operation) => Unspoken().Replace(operation switch
    {
        { Sort: { } sort } => "sort " + string.Join(' ', sort.Take(3).Select(one => data.NameOf(operation.Collection, one.Key))),
        { Limit: not null } => "limit",
        { WriteConcern: { } concern } => $"w {concern.Find("w")}",
        _ => "",
    }, "_").Trim();

    /// <summary>Such as <c>set state</c>: what operations with the same filter differ in.</summary>
    private IEnumerable<string> Changes(LearnedOperation operation)
    {
        IEnumerable<KeyValuePair<string, Shape>> steps = operation.Update is not { } update ? []
            : update.IsArray ? update.Fields.Select(stage => stage.Value).OfType<DocumentShape>().SelectMany(stage => stage.Fields)
            : update.Fields;
        return steps.SelectMany(step => (step.Value as DocumentShape)?.Fields.Take(3)
            .Select(field => data.NameOf(operation.Collection, field.Key)).Prepend(step.Key.TrimStart('$')) ?? []);
    }

    /// <returns>Its keys but for name and weight, a line each; the kind comes first.</returns>
    /// <exception cref="NotWritableException">The language can't say it, or the file has no such collection.</exception>
    public IReadOnlyList<string> Write(LearnedOperation operation) => operation.Kind switch
    {
        "bulkWrite" => Bulk(operation),
        "steps" => Steps(operation),
        _ => Single(operation),
    };

    private List<string> Bulk(LearnedOperation operation)
    {
        List<string> lines = ["bulkWrite:"];
        foreach (LearnedOperation part in operation.Parts)
        {
            List<string> write = Single(part.Kind == "insertMany" ? part with { Kind = "insert" } : part with { WriteConcern = null });
            long times = Math.Max(1, (long)Math.Round(part.DocumentsPerOperation));
            lines.Add($"  - {{{string.Join(", ", write)}{(times > 1 ? $", times: {times}" : "")}}}");
        }

        if (operation.IsUnordered)
            lines.Add("ordered: false");
        if (operation.WriteConcern is { } concern)
            lines.Add($"writeConcern: {Plain(concern)}");
        return lines;
    }

    private List<string> Steps(LearnedOperation operation)
    {
        List<string> lines = ["steps:"];
        int number = 1;
        foreach (LearnedOperation part in operation.Parts)
        {
            List<string> step = Single(part with { WriteConcern = null, ReadConcern = null });
            if (part.Kind == "count")
                throw new NotWritableException("count is not allowed in transactions");
            step.Insert(1, $"name: {YamlText.Quoted($"{number++} {part.Kind}")}");
            lines.Add($"  - {{{string.Join(", ", step)}}}");
        }

        lines.Add("transaction: true");
        return lines;
    }

    private List<string> Single(LearnedOperation operation)
    {
        string collection = data.CollectionOf(operation.Collection)
            ?? throw new NotWritableException("the file has no such collection");
        // Ids that no document has can't be made up, so that what each upsert does is done in another way.
        if (IsInsertById(operation))
            return Single(operation with { Kind = "insert", Filter = null, Replies = null });
        var writer = new ShapeWriter(data, operation);
        List<string> lines = [$"{operation.Kind}: {ShapeWriter.Key(collection)}"];
        if (operation.Kind == "insertMany")
            lines.Add(FormattableString.Invariant($"batch: {Math.Max(1, Math.Round(operation.DocumentsPerOperation)):0}"));
        if (operation.Kind is "insert" or "insertMany")
            return AddConcerns(operation, lines);
        if (operation.Filter is { } filter)
            lines.Add($"filter: {writer.Filter(filter)}");
        else if (operation.Kind is "find" or "update" or "replace" or "delete" or "findAndModify")
            lines.Add("filter: {}");
        if (operation.Update is { } update)
            lines.Add($"with: {(update.IsArray ? Pipeline(writer, update) : writer.Update(update))}");
        else if (operation.Kind == "findAndModify" && !operation.IsRemove)
            throw new NotWritableException("findAndModify that replaces documents");
        if (operation.ArrayFilters is { } filters)
            lines.Add($"arrayFilters: {writer.List(filters)}");
        if (operation.Pipeline is { } pipeline)
            lines.Add($"pipeline: {Pipeline(writer, pipeline)}");
        if (operation.Field is { } field)
            lines.Add($"field: {ShapeWriter.Key(data.NameOf(operation.Collection, field))}");
        if (operation.Projection is { } projection)
        {
            if (AreHashed && projection.Fields.Any(one => one.Value is not ConstantShape))
                throw new NotWritableException("projections with expressions, since names are hashed");
            lines.Add($"projection: {writer.Expressions(projection)}");
        }

        if (operation.Sort is { } sort)
        {
            IEnumerable<string> fields =
                sort.Select(one => $"{ShapeWriter.Key(data.NameOf(operation.Collection, one.Key))}: {one.Value}");
            lines.Add($"sort: {{{string.Join(", ", fields)}}}");
        }

        if (operation.Skip is var (least, most))
            lines.Add(least == most ? $"skip: {least}" : $"skip: {{^int: [{least}, {most}]}}");
        if (Limit(operation) is { } limit)
            lines.Add($"limit: {limit}");
        if (operation.BatchSize is > 1 and var batch)
            lines.Add($"batchSize: {batch}");
        if (operation is { Kind: "find" or "aggregate", Replies: { AreEnough: true, Abandoned: > Hardly } closed })
        {
            _notLearned.Add(FormattableString.Invariant($"that {100 * closed.Abandoned:0} % of the cursors of {operation.Count:0} ")
                + FormattableString.Invariant($"operations ({operation.Kind}) were closed before their end")
                + (operation.Kind == "find" ? ": a limit stands for it" : ""));
        }

        AddFlags(operation, lines);
        AddConcerns(operation, lines);
        if (writer.Keys is { } keys)
            lines.Insert(1, $"key: {keys}");
        _notLearned.AddRange(writer.NotLearned);
        return lines;
    }

    /// <summary>An upsert by an ObjectId that always inserted.</summary>
    private static bool IsInsertById(LearnedOperation operation) => operation is { Kind: "update" or "replace", IsUpsert: true,
        Replies: { AreEnough: true, Nothing: >= 0.98, Documents: >= 0.98 } }
        && operation.Filter?.Fields is [{ Key: "_id", Value: ValueShape id }] && id.Seen.Types.ContainsKey(BsonType.ObjectId);

    /// <summary>The limit, or a draw of those that came.</summary>
    private static string? Limit(LearnedOperation operation)
    {
        const int Few = 8;
        if (operation is { Kind: "find", Replies: { AreEnough: true, Abandoned: > Hardly } replies } && operation.Limits.Count <= 1)
        {
            // A cursor is read to its end: how much of it was read is its limit.
            string read = YamlText.Number(Math.Max(1, Math.Round(replies.DocumentsOfAbandoned)));
            return replies.Abandoned > 1 - Hardly ? read : YamlText.Choice([read, YamlText.Number(operation.Limit ?? int.MaxValue)],
                [YamlText.Number(Math.Round(100 * replies.Abandoned, 1)), YamlText.Number(Math.Round(100 * (1 - replies.Abandoned), 1))]);
        }

        KeyValuePair<int, double>[] limits = [.. operation.Limits.OrderBy(one => one.Key)];
        if (limits.Length <= 1)
            return operation.Limit is { } only ? YamlText.Number(only) : null;
        double all = limits.Sum(one => one.Value);
        if (limits.Length <= Few)
        {
            return YamlText.Choice(limits.Select(one => YamlText.Number(one.Key)),
                limits.Select(one => YamlText.Number(Math.Max(0.001, Math.Round(100 * one.Value / all, 3)))));
        }

        double[] sample = [.. limits.SelectMany(one => Enumerable.Repeat((double)one.Key, (int)Math.Ceiling(10_000 * one.Value / all)))];
        return ValueWriter.OneOf([.. ValueWriter.Lengths(ValueStatistics.QuantilesOf(sample))
            .Select(part => part[0] == '[' ? $"{{^int: {part}}}" : part)]);
    }

    private void AddFlags(LearnedOperation operation, List<string> lines)
    {
        if (operation.IsMany)
            lines.Add("many: true");
        if (operation.IsUpsert)
            lines.Add("upsert: true");
        if (operation.IsRemove)
            lines.Add("remove: true");
        if (operation.IsNew)
            lines.Add("new: true");
        if (operation.Collation is { } collation)
            lines.Add($"collation: {Plain(collation)}");
        if (operation.Hint is { Type: BsonType.Document } key)
            lines.Add($"hint: {{{string.Join(", ", key.ToDocument().Select(one =>
                $"{ShapeWriter.Key(data.NameOf(operation.Collection, one.Key))}: {YamlText.Value(one.Value)}"))}}}");
        else if (operation.Hint is not null)
            _notLearned.Add("hints that name an index, since the file's indexes have names of their own");
    }

    private static List<string> AddConcerns(LearnedOperation operation, List<string> lines)
    {
        if (operation.WriteConcern is { } write && operation.Kind is not ("find" or "count" or "distinct" or "aggregate"))
            lines.Add($"writeConcern: {Plain(write)}");
        if (operation.ReadConcern is { } read && operation.Kind is "find" or "count" or "distinct" or "aggregate")
            lines.Add($"readConcern: {read.FindString("level")}");
        return lines;
    }

    private string Pipeline(ShapeWriter writer, DocumentShape pipeline)
    {
        if (AreHashed && !pipeline.Fields.All(stage =>
            stage.Value is DocumentShape { Fields: [{ Key: "$match" or "$sort" or "$limit" or "$skip" }] }))
            throw new NotWritableException("pipelines with expressions, since names are hashed");
        return writer.Pipeline(pipeline);
    }

    private static DocumentShape? Matched(DocumentShape? pipeline) =>
        pipeline?.Fields is [{ Value: DocumentShape { Fields: [{ Key: "$match", Value: DocumentShape match }] } }, ..] ? match : null;

    /// <summary>Options that have no data.</summary>
    private static string Plain(BsonDocument document) => $"{{{string.Join(", ", document.Select(one => one.Value.IsNumber
        ? FormattableString.Invariant($"{ShapeWriter.Key(one.Key)}: {one.Value.ToInt64()}")
        : $"{ShapeWriter.Key(one.Key)}: {YamlText.Value(one.Value)}"))}}}";

    /// <summary>What would make a name in results hard to type.</summary>
    [GeneratedRegex(@"[^A-Za-z0-9_. -]")]
    private static partial Regex Unspoken();
}

using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Reads the operations of a phase.</summary>
/// <param name="data">The collections that the file describes.</param>
/// <param name="defaults">The values under "defaults"; null for none.</param>
/// <param name="scale">What <c>--scale</c> multiplies counts by.</param>
/// <param name="sources">Where values come from.</param>
/// <param name="fields">Gets the fields that operations name.</param>
public sealed class OperationReader(
    IReadOnlyList<PlanCollection> data, ScenarioNode? defaults, CountScale scale, ValueSources sources, FieldCheck fields)
{
    private const int MostBatch = 100_000;

    /// <param name="node">One operation.</param>
    /// <param name="path">The path, such as the phase's name.</param>
    /// <param name="usualName">The name of one that has none; null for its kind.</param>
    public WeightedOperation Read(ScenarioNode node, string path, string? usualName = null)
    {
        (Operation operation, MappingReader reader) = Read(node, path, ScenarioLanguage.Operations, usualName, null);
        return new WeightedOperation(operation, reader.Number("weight", 0, 1e9) ?? 1);
    }

    /// <param name="node">One operation.</param>
    /// <param name="path">What it is a part of.</param>
    /// <param name="kinds">What it may be.</param>
    /// <param name="usualName">The name of one that has none; null for its kind.</param>
    /// <param name="templates">Of a step: reads its values; null for any other.</param>
    private (Operation Operation, MappingReader Reader) Read(
        ScenarioNode node, string path, IReadOnlyList<KeySet> kinds, string? usualName, Func<DocumentTemplate?, TemplateReader>? templates)
    {
        if (node is not MappingNode mapping)
            throw MappingReader.Wrong(
                node, $"{path}: an operation is {node.Describe()}; expected a mapping such as {{find: users, key: uniform}}");
        KeySet kind = KindOf(mapping, path, kinds);
        if (mapping.Entries.FirstOrDefault(entry => entry.Name.StartsWith('$')) is { } bare && kind.Names.Contains("with"))
            throw MappingReader.Wrong(bare.Key, $"{path}: {kind.Name}: unknown key '{bare.Name}'", OperationNames.HintOfWith(bare));
        var reader = new MappingReader(mapping, $"{path}: {kind.Name}", kind);
        string name = (reader.Takes("name") ? reader.Text("name") : null) ?? usualName ?? kind.Name;
        // Between an operation's name and a step's stands one where both are stored.
        if (name.Contains('\t', StringComparison.Ordinal))
            throw MappingReader.Wrong(reader.Find("name")!, $"{path}: {kind.Name}: name contains a tab");
        if (kind.Name == "bulkWrite")
            return (Bulk(reader, name, $"{path}.{name}"), reader);
        if (kind.Name == "steps")
        {
            string at = $"{path}.{name}";
            var steps = new StepReader(
                reader, at, sources, (one, usual, make) => Read(one, at, ScenarioLanguage.Steps, usual, make), WriteConcern);
            return (steps.Read(name), reader);
        }

        string collection = CollectionOf(reader, kind.Name);
        PlanCollection? about = data.FirstOrDefault(c => c.Name == collection);
        ScenarioNode? key = reader.Find("key") ?? DefaultKey;
        DocumentTemplate? known = about is { IsExisting: true } ? null : about?.Documents;
        TemplateReader values = (templates?.Invoke(known) ?? new TemplateReader(known, sources)).On(data, collection, $"{path}.{name}");
        var context = new Context(reader, values, $"{path}.{name}", name, collection, about) { HasKey = key is not null };
        RequireOfItsKind(reader, kind.Name, about);
        Operation operation = WithConcerns(Make(kind.Name, context), reader) with { Options = context.Options() };
        if (values.WriteNumbers != (ReferenceEquals(kinds, ScenarioLanguage.Operations) ? NumberFields.Of(operation).Count() : 0))
            throw MappingReader.Wrong(reader.Find("with") ?? reader.Node, $"{context.Path}: ^write is allowed as a field of $set or of a "
                + "replacement only, in an operation by itself that changes one document", "such as with: {$set: {write: ^write}}");
        operation = ShardedWrites.Of(operation, about, reader, context.Path);
        fields.Add(operation, reader, context.Path);
        if (kind.Name == "createIndexes")
            fields.Add(
                collection, IndexReader.Read(reader.List("indexes"), "createIndexes"), reader.Find("indexes")!, $"{context.Path}.indexes");
        KeyChoice? choice = operation.Inserts || known is null ? null
            : key is null ? KeyChoice.Uniform : KeyChoiceReader.Read(key, scale);
        return (operation with { Choice = choice }, reader);
    }

    private Operation Bulk(MappingReader reader, string name, string path)
    {
        Operation bulk = BulkReader.Read(reader, name, path, (node, usual) => Read(node, path, ScenarioLanguage.BulkWrites, usual, null));
        var context = new Context(reader, new TemplateReader(null, sources), path, name, bulk.Collection, null) { HasKey = false };
        return WithConcerns(bulk, reader) with { Options = context.Options() };
    }

    /// <summary>What a load does.</summary>
    public Operation Load(PlanCollection collection, MappingReader phase)
    {
        if (collection.Files is not { } files)
            return new InsertDocuments("load", collection.Name, collection.Documents,
                (int)(phase.Count("batch", 1, MostBatch) ?? UsualBatch(collection)), phase.Flag("ordered")) { Concerns = Concerns(phase) };
        if (((string[])["batch", "ordered"]).FirstOrDefault(key => phase.Find(key) is not null) is { } key)
            throw MappingReader.Wrong(phase.Find(key)!, $"load: {key} is not allowed when files are loaded, as each is written by itself");
        return WithConcerns(new UploadFile("load", collection.Name, files), phase);
    }

    /// <summary>One way of writing in a growth.</summary>
    public InsertDocuments Write(PlanCollection collection, MappingReader write, string name) =>
        new(name, collection.Name, collection.Documents, (int)(write.Count("batch", 1, MostBatch) ?? 1),
            write.Flag("ordered", usual: true)) { Concerns = Concerns(write) };

    /// <summary>Documents in a batch where the file does not say: 1000, or as many as surely fit one message.</summary>
    public static int UsualBatch(PlanCollection collection)
    {
        const int Documents = 1000;
        const int MessageBytes = 48_000_000;
        // Documents may be longer than those that are known: no more than half the message by their length.
        return Math.Clamp(MessageBytes / 2 / collection.Documents.LongLength, 1, Documents);
    }

    private static KeySet KindOf(MappingNode mapping, string path, IReadOnlyList<KeySet> allowed)
    {
        string[] names = [.. allowed.Select(keys => keys.Name)];
        string[] kinds = [.. mapping.Entries.Select(e => e.Name).Where(names.Contains)];
        if (kinds.Length == 1)
            return allowed.First(keys => keys.Name == kinds[0]);
        if (kinds.Length > 1)
            throw MappingReader.Wrong(mapping, $"{path}: {kinds[0]} and {kinds[1]} are both given; an operation does one of them",
                OperationNames.HintInside(kinds, mapping));
        foreach (MappingEntry entry in mapping.Entries)
        {
            if (ScenarioLanguage.OperationKinds.Contains(entry.Name))
                throw MappingReader.Wrong(entry.Key, $"{path}: {entry.Name} is not allowed here; allowed: {string.Join(", ", names)}",
                    OperationNames.HintElsewhere(entry.Name, names));
            if (OperationNames.FindHint(entry.Name, names) is { } hint)
                throw MappingReader.Wrong(
                    entry.Key, $"{path}: unknown operation '{entry.Name}'; allowed: {string.Join(", ", names)}", hint);
        }

        string keys = mapping.Entries.Count == 0
            ? "it has no keys"
            : $"found only {string.Join(", ", mapping.Entries.Select(e => e.Name))}";
        throw MappingReader.Wrong(
            mapping, $"{path}: no key names the operation, {keys}; allowed: {string.Join(", ", names)}");
    }

    private string CollectionOf(MappingReader reader, string kind)
    {
        string key = kind == "runCommand" ? "collection" : kind;
        string? name = reader.Text(key);
        if (name is null)
            return kind == "runCommand" ? "" : throw MappingReader.Wrong(reader.Node, $"{kind}: the collection's name is missing");
        if (data.Any(c => c.Name == name))
            return name;
        throw MappingReader.Wrong(
            reader.Find(key)!,
            $"{kind}: no collection '{name}' in data; allowed: {string.Join(", ", data.Select(c => c.Name))}",
            NearestName.Hint(name, data.Select(c => c.Name)));
    }

    /// <summary>Files are only moved whole, and documents are none; those of existing data are not drawn by their numbers.</summary>
    private static void RequireOfItsKind(MappingReader reader, string kind, PlanCollection? about)
    {
        if (about is { IsExisting: true } && (reader.Find("key") is not null || (kind == "find" && reader.Find("filter") is null)))
            throw MappingReader.Wrong(reader.Find("key") ?? reader.Node,
                $"{kind}: a key draws a document that MongoPerf made, and '{about.Name}' is existing data",
                "draw one of its values: filter: {_id: ^existing}");
        bool isOfFiles = kind is "upload" or "download";
        if (about is { Files: not null } && !isOfFiles)
            throw MappingReader.Wrong(reader.Node, $"{kind}: '{about.Name}' is a GridFS bucket; allowed: upload, download");
        if (about is { Files: null } && isOfFiles)
            throw MappingReader.Wrong(reader.Node, $"{kind}: '{about.Name}' is a collection of documents; expected a GridFS bucket",
                "such as fs: {files: {count: 1k, length: 1MB}} in data");
    }

    private Operation Make(string kind, Context c) => kind switch
    {
        "insert" => new InsertDocuments(c.Name, c.Collection, Inserted(c), 1, Ordered: true),
        "insertMany" => new InsertDocuments(c.Name, c.Collection, Inserted(c),
            (int)(c.Reader.Count("batch", 1, MostBatch) ?? UsualBatch(c.About!)), c.Reader.Flag("ordered", usual: true)),
        "find" => Find(c),
        "update" => new UpdateDocuments(c.Name, c.Collection, c.Target(), c.Update())
        {
            Many = c.Reader.Flag("many"), Upsert = c.Reader.Flag("upsert"), Hint = c.Value("hint"), ArrayFilters = c.ArrayFilters(),
        },
        "replace" => new UpdateDocuments(c.Name, c.Collection, c.Target(), c.Document("with") ?? Replacement(c.About!.Documents))
        {
            Upsert = c.Reader.Flag("upsert"), Hint = c.Value("hint"),
        },
        "delete" => new DeleteDocuments(c.Name, c.Collection, c.Target()) { Many = c.Reader.Flag("many"), Hint = c.Value("hint") },
        "findAndModify" => new FindAndModify(c.Name, c.Collection, c.Target(), c.Reader.Flag("remove") ? null : c.Update(mayReplace: true))
        {
            Sort = c.Sort(), Projection = c.Document("projection"), ReturnNew = c.Reader.Flag("new"), Upsert = c.Reader.Flag("upsert"),
            Hint = c.Value("hint"), ArrayFilters = c.Reader.Flag("remove") ? null : c.ArrayFilters(),
        },
        "readModifyWrite" => new OperationSequence(c.Name, c.Collection,
        [
            new FindDocuments(
                "read", c.Collection, c.Target()) { Projection = c.Value("projection"), Limit = One, Hint = c.Value("hint") },
            new UpdateDocuments(
                "update", c.Collection, c.Target(), c.Update()) { Hint = c.Value("hint"), ArrayFilters = c.ArrayFilters() },
        ]),
        "upload" => new UploadFile(c.Name, c.Collection, c.About!.Files!),
        "download" => new DownloadFile(c.Name, c.Collection, c.About!.Files!),
        "count" => new CountDocuments(
            c.Name, c.Collection, c.FilterOrAll()) { Skip = c.Number("skip"), Limit = c.Number("limit"), Hint = c.Value("hint") },
        "distinct" => new DistinctValues(
            c.Name, c.Collection,
            c.Reader.Text("field") ?? throw MappingReader.Wrong(c.Reader.Node, "distinct: 'field' is missing"), c.FilterOrAll())
        {
            Hint = c.Value("hint"),
        },
        "watch" => Watch(c),
        "aggregate" => new AggregateDocuments(c.Name, c.Collection, c.Pipeline())
        {
            Hint = c.Value("hint"), AllowDiskUse = c.Reader.Flag("allowDiskUse"),
        },
        _ => Administer(kind, c),
    };

    /// <summary>The collection's documents; of a step maybe with fields of its own.</summary>
    private DocumentTemplate Inserted(Context c)
    {
        DocumentTemplate documents = c.About!.Documents;
        if (!c.Reader.Takes("with") || c.Document("with") is not { } own)
            return documents;
        return new DocumentTemplate(documents.Root.With(own.Elements), sources.Seed, c.Collection);
    }

    private static LiteralValue One { get; } = new(BsonDocument.Of(("v", 1)).First().Value);

    private static FindDocuments Find(Context c)
    {
        bool isOfKey = IsByKey(c.Reader.Find("filter"));
        return new FindDocuments(c.Name, c.Collection, c.Target())
        {
            Sort = c.Sort(),
            Projection = c.Value("projection"),
            Skip = c.Number("skip"),
            Limit = c.Number("limit") ?? (c.Reader.Find("filter") is null ? One : null),
            Hint = c.Value("hint"),
            BatchSize = (int?)c.Reader.Count("batchSize", 1, int.MaxValue),
            // Under a collation other values are equal, and they stand in another order.
            Expected = c.About!.IsExisting ? null
                : (c.About.Options?.Find("collation") is null && c.Reader.Find("collation") is null) || isOfKey
                ? c.About.Documents
                : null,
            IsOfKey = isOfKey,
            MayBeRemoved = c.About.RemovedBecause is not null,
            MayReorderFields = c.About.IsTimeSeries,
        };
    }

    private static WatchChanges Watch(Context c)
    {
        if (c.About!.IsTimeSeries)
            throw MappingReader.Wrong(c.Reader.Node, $"watch: MongoDB has no change streams of time series, and '{c.Collection}' is one");
        DocumentValue stages = c.Reader.Find("pipeline") is null ? DocumentValue.Array([]) : c.Pipeline();
        return stages.IsConstant
            ? new WatchChanges(c.Name, c.Collection, c.About.Documents)
            {
                Stages = stages,
                FullDocument = c.Reader.OneOf("fullDocument", ScenarioLanguage.FullDocuments),
                BatchSize = (int?)c.Reader.Count("batchSize", 1, int.MaxValue),
            }
            : throw MappingReader.Wrong(c.Reader.Find("pipeline")!, $"{c.Path}.pipeline: generated values are not allowed here");
    }

    /// <summary>Asks for the one document that was drawn, so that it is known what must come.</summary>
    private static bool IsByKey(ScenarioNode? filter) =>
        filter is null or MappingNode { Entries: [{ Name: "_id", Value: ScalarNode { IsQuoted: false, Text: "^key" } }] };

    /// <summary>The collection's document with values drawn anew; what follows the number stays.</summary>
    private static DocumentValue Replacement(DocumentTemplate documents) => documents.Root.Without("_id");

    private static DatabaseCommand Administer(string kind, Context c)
    {
        switch (kind)
        {
            case "createIndexes":
                IReadOnlyList<BsonDocument> indexes = IndexReader.Read(c.Reader.List("indexes"), "createIndexes");
                ShardLimits.Require(c.About!, indexes, c.Reader.Find("indexes"));
                return c.Command(new CommandBuilder().AddLiteral("createIndexes", c.Collection).AddLiteral("indexes", indexes));
            case "dropIndexes":
                return c.Command(new CommandBuilder().AddLiteral("dropIndexes", c.Collection)
                    .Add("index", c.Value("index") ?? new LiteralValue(BsonDocument.Of(("v", "*")).First().Value)));
            case "compact":
                return c.Command(new CommandBuilder().AddLiteral("compact", c.Collection).AddFlag("force", c.Reader.Flag("force")));
            case "validate":
                return c.Command(new CommandBuilder().AddLiteral("validate", c.Collection).AddFlag("full", c.Reader.Flag("full")));
            default:
                DocumentValue command = c.Templates.Document(c.Reader.Find("runCommand")!, c.Path);
                if (command.Elements.Count == 0)
                    throw MappingReader.Wrong(c.Reader.Node, "runCommand: the command is empty");
                if (command.Find("$db") is not null || (command.Elements[0].Value as DocumentValue)?.Find("$db") is not null)
                    throw MappingReader.Wrong(c.Reader.Node, "runCommand: $db is not allowed in the command",
                        "name the database beside it: {runCommand: {…}, database: admin}");
                return new DatabaseCommand(c.Name, c.Collection, command) { Database = CommandDatabase(c.Reader), MayWrite = true };
        }
    }

    private static string? CommandDatabase(MappingReader reader)
    {
        try
        {
            return reader.Text("database") is { } name ? Names.CommandDatabase(name) : null;
        }
        catch (FormatException e)
        {
            throw MappingReader.Wrong(reader.Find("database")!, $"runCommand: database: {e.Message}");
        }
    }

    /// <summary>How documents are drawn for operations that don't say it themselves; null for none.</summary>
    private ScenarioNode? DefaultKey =>
        defaults is null ? null : new MappingReader(defaults, "defaults", ScenarioLanguage.Defaults).Find("key");

    private Operation WithConcerns(Operation operation, MappingReader reader)
    {
        OperationConcerns concerns = Concerns(reader);
        return operation is UploadFile && concerns.IsUnacknowledged
            ? throw MappingReader.Wrong(
                reader.Find("writeConcern") ?? reader.Node,
                $"w: 0 is not allowed for files of '{operation.Collection}': a file is complete only when the server has acknowledged it",
                "use w: 1")
            : operation with { Concerns = concerns };
    }

    /// <summary>The operation's own, else the usual ones; what an operation does not take is not sent with it.</summary>
    private OperationConcerns Concerns(MappingReader reader)
    {
        MappingReader? usual = defaults is null ? null : new MappingReader(defaults, "defaults", ScenarioLanguage.Defaults);
        var concerns = new OperationConcerns
        {
            WriteConcern = WriteConcern(From("writeConcern")?.Find("writeConcern")),
            ReadConcern = From("readConcern")?.OneOf("readConcern", ScenarioLanguage.ReadConcerns),
        };
        return From("readPreference") is { } place && place.Find("readPreference") is { } node
            ? WithReadPreference(concerns, place, node)
            : concerns;

        MappingReader? From(string key) => reader.Find(key) is not null ? reader : reader.Takes(key) ? usual : null;
    }

    private static OperationConcerns WithReadPreference(OperationConcerns concerns, MappingReader place, ScenarioNode node)
    {
        const string What = "readPreference";
        const int LeastStaleness = 90;
        if (node is not MappingNode)
            return concerns.Preferring(place.OneOf(What, ScenarioLanguage.ReadPreferences)!);
        var reader = new MappingReader(node, What, ScenarioLanguage.ReadPreference);
        reader.Require("mode", $"one of {string.Join(", ", ScenarioLanguage.ReadPreferences)}");
        string mode = reader.OneOf("mode", ScenarioLanguage.ReadPreferences)!;
        if (mode == "primary" && (reader.Find("tags") ?? reader.Find("maxStalenessSeconds")) is { } condition)
            throw MappingReader.Wrong(
                condition, $"{What}: there is only one primary, and tags and maxStalenessSeconds are for the other modes");
        IEnumerable<IReadOnlyDictionary<string, string>> tags = reader.List("tags")
            .Select(set => TemplateReader.Literal(set, $"{What}: tags").ToDictionary(tag => tag.Key, tag => tag.Value.ToString()));
        return concerns.Preferring(mode, [.. tags], (int?)reader.Count("maxStalenessSeconds", LeastStaleness, int.MaxValue));
    }

    private static BsonDocument? WriteConcern(ScenarioNode? node)
    {
        if (node is null)
            return null;
        var reader = new MappingReader(node, "writeConcern", ScenarioLanguage.WriteConcern);
        var elements = new List<(string, object?)>();
        if (reader.Text("w") is { } w)
            elements.Add(("w", int.TryParse(w, out int members) ? members : w));
        if (reader.Find("j") is not null)
            elements.Add(("j", reader.Flag("j")));
        if (reader.Count("wtimeout", 0) is { } timeout)
            elements.Add(("wtimeout", timeout));
        return elements.Count == 0 ? null : BsonDocument.Of([.. elements]);
    }

    /// <summary>What reading one operation needs.</summary>
    private sealed record Context(
        MappingReader Reader, TemplateReader Templates, string Path, string Name, string Collection, PlanCollection? About)
    {
        /// <summary>The operation, or the file's defaults, say how a document is drawn.</summary>
        public required bool HasKey { get; init; }

        public DocumentValue? Document(string key) => Reader.Find(key) is { } node ? Templates.Document(node, $"{Path}.{key}") : null;

        public TemplateValue? Value(string key) => Reader.Find(key) is { } node ? Templates.Value(node, $"{Path}.{key}") : null;

        /// <summary>A whole number, or what draws one.</summary>
        public TemplateValue? Number(string key)
        {
            TemplateValue? value = Value(key);
            bool isPossible = value switch
            {
                DocumentValue => false,
                LiteralValue { Value: var literal } =>
                    literal.IsNumber && literal.ToDouble() is >= 0 and var number && double.IsInteger(number),
                _ => true,
            };
            return isPossible ? value : throw MappingReader.Wrong(Reader.Find(key)!,
                $"{Path}.{key}: expected a whole number from 0, or a generator", $"such as {key}: 10 or {key}: {{^int: [1, 10]}}");
        }

        /// <summary>What MongoDB takes beside the command, as far as this one takes it.</summary>
        public CommandOptions Options() => new()
        {
            Collation = Find("collation") is { } collation ? TemplateReader.Literal(collation, $"{Path}.collation") : null,
            Let = Find("let") is { } let ? Templates.Document(let, $"{Path}.let") : null,
            MaxMilliseconds = Find("maxTimeMS") is null ? null : (int?)Reader.Count("maxTimeMS", 1, int.MaxValue),
            Comment = Find("comment") is not { } comment ? null
                : Templates.Value(comment, $"{Path}.comment") is { IsConstant: true } text
                    ? new LiteralValue(DocumentValue.Of(("v", text)).ToDocument(new ValueContext(0, 0)).First().Value)
                    : throw MappingReader.Wrong(comment, $"{Path}.comment: generated values are not allowed here"),
        };

        /// <summary>Null too for a key that the operation does not take.</summary>
        private ScenarioNode? Find(string key) => Reader.Takes(key) ? Reader.Find(key) : null;

        /// <returns>Null when there are none.</returns>
        public DocumentValue? ArrayFilters()
        {
            if (Reader.Find("arrayFilters") is not { } node)
                return null;
            if (node is not SequenceNode { Items: [_, ..] } list || list.Items.Any(item => item is not MappingNode))
                throw MappingReader.Wrong(node, $"{Path}.arrayFilters: expected a list of conditions",
                    "such as arrayFilters: [{item.count: {$gt: 0}}], for $[item] in with");
            foreach (ScenarioNode filter in list.Items)
                Operators.RequireFilter(filter, $"{Path}.arrayFilters");
            return Templates.Array(node, $"{Path}.arrayFilters");
        }

        public DocumentValue? Sort()
        {
            DocumentValue? sort = Document("sort");
            if (sort?.Elements.Any(element => element.Value is LiteralValue { Value.IsNumber: false }) == true)
                throw MappingReader.Wrong(Reader.Find("sort")!,
                    $"{Path}.sort: a field's direction is 1 (ascending) or -1 (descending)", "such as sort: {age: -1}");
            return sort;
        }

        /// <param name="mayReplace">Whether a whole document may stand in place of operators.</param>
        public TemplateValue Update(bool mayReplace = false)
        {
            ScenarioNode node = Reader.Require("with", "such as with: {$set: {name: ^word}}");
            // A server would take it, and replace the whole document.
            if (!mayReplace && node is MappingNode { Entries: [{ Name: [not ('$' or '^'), ..] }, ..] })
                throw MappingReader.Wrong(node, $"{Path}.with has no update operator", "write with: {$set: {…}}, or use replace");
            Operators.RequireUpdate(node, $"{Path}.with");
            return Templates.Value(node, $"{Path}.with");
        }

        public DocumentValue Pipeline()
        {
            ScenarioNode node = Reader.Require("pipeline", "such as pipeline: [{$match: {name: ^word}}]");
            Operators.RequirePipeline(node, $"{Path}.pipeline");
            return Templates.Array(node, $"{Path}.pipeline");
        }

        /// <returns>Null when there is none.</returns>
        public DocumentValue? Filter()
        {
            Operators.RequireFilter(Reader.Find("filter"), $"{Path}.filter");
            return Document("filter");
        }

        /// <summary>Which documents: those of the filter, or without one the document that the key draws.</summary>
        /// <exception cref="UserException">There is neither a filter nor a key, or more is asked for than the one document.</exception>
        public DocumentValue Target()
        {
            if (Filter() is { } filter)
                return filter;
            if (!HasKey)
                throw MappingReader.Wrong(Reader.Node, $"{Path}: neither filter nor key says which documents are meant",
                    $"write {OneDrawn}, or {All}");
            if (((string[])["sort", "skip", "limit", "many"]).FirstOrDefault(IsForSeveral) is { } wrong)
                throw MappingReader.Wrong(
                    Reader.Find(wrong)!,
                    $"{Path}: {wrong} is for several documents, but key without a filter means the one document drawn",
                    $"write {All}; or remove {wrong}");
            return DocumentValue.Of(("_id", ReferenceValue.Of(About!.Documents, About.Documents.Id)));
        }

        /// <summary>Reads the filter of a command about many documents: without a filter it is about all.</summary>
        /// <exception cref="UserException">A key of its own that nothing uses.</exception>
        public DocumentValue FilterOrAll() => Filter() ?? (Reader.Find("key") is not { } key ? DocumentValue.Empty
            : throw MappingReader.Wrong(key, $"{Path}: key draws a document, but there is no filter to name it",
                "write filter: {_id: ^key} for the one document drawn, or remove key for every document"));

        private const string OneDrawn = "key: uniform for one document, drawn each time";

        private string All => Reader.Takes("many") ? "filter: {} with many: true for every document"
            : Reader.Takes("limit") ? "filter: {} for every document"
            : "a filter, such as filter: {} for any document";

        private bool IsForSeveral(string key) => Reader.Takes(key)
            && (key == "many" ? Reader.Flag(key) : Reader.Find(key) is { } node && !(key == "limit" && node is ScalarNode { Text: "1" }));

        public DatabaseCommand Command(CommandBuilder command) => new(Name, Collection, command.Build()) { IsForOwners = true };
    }
}

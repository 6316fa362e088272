using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>
/// Finds field names that are probably misspelt: a query on a field that no document has finds nothing, and the server says nothing.
/// </summary>
/// <remarks>
/// Collects what operations and indexes name while a file is read, and judges it when all is known: an update may add
/// what a query asks for.
/// </remarks>
public sealed class FieldCheck
{
    private static readonly string[] OfStructure = ["$and", "$or", "$nor"];
    private static readonly string[] Reading = ["$unset", "$pop", "$pull", "$pullAll"];

    /// <summary>Stages that leave a document's fields as they are.</summary>
    private static readonly string[] Keeping = ["$match", "$sort", "$limit", "$skip", "$sample", "$unwind"];

    /// <summary>Stages in which every "$name" is a field.</summary>
    private static readonly string[] OfExpressions =
    [
        "$group", "$project", "$addFields", "$set", "$unwind", "$sortByCount", "$bucket", "$bucketAuto", "$replaceRoot", "$replaceWith",
    ];

    private readonly List<Use> _uses = [];
    private readonly List<(string Collection, string Path, TemplateValue Value)> _writes = [];

    /// <summary>Collections that hold what the file does not describe.</summary>
    private readonly HashSet<string> _unknown = [];

    private readonly HashSet<string> _inserted = [];

    /// <param name="Collection">Its name.</param>
    /// <param name="Path">The path of the field, dotted.</param>
    /// <param name="Place">Where it stands.</param>
    /// <param name="What">Where it stands, for the message.</param>
    /// <param name="Adds">The update makes the field where it is missing.</param>
    private sealed record Use(string Collection, string Path, ScenarioNode Place, string What, bool Adds);

    /// <summary>Notes what a collection's indexes, shard key and options name.</summary>
    public void Add(PlanCollection collection, ScenarioNode node)
    {
        if (collection.Files is not null || node is not MappingNode mapping)
            return;
        string what = $"collection '{collection.Name}'";
        Add(collection.Name, collection.Indexes, mapping.Find("indexes") ?? node, $"{what}: indexes");
        var uses = new Uses(this, collection.Name, mapping.Find("shardKey") ?? node, $"{what}: shardKey");
        foreach (KeyValuePair<string, BsonValue> field in collection.ShardKey ?? BsonDocument.Empty)
            uses.Read(field.Key);
        uses = new Uses(this, collection.Name, mapping.Find("options") ?? node, $"{what}: options.timeseries");
        foreach (string field in ((string[])["timeField", "metaField"])
            .Select(key => collection.Options?.FindString($"timeseries.{key}")).OfType<string>())
            uses.Read(field);
    }

    /// <summary>Notes what indexes name.</summary>
    public void Add(string collection, IReadOnlyList<BsonDocument> indexes, ScenarioNode node, string what)
    {
        var uses = new Uses(this, collection, node, what);
        foreach (BsonDocument index in indexes)
        {
            foreach (KeyValuePair<string, BsonValue> field in (index.FindDocument("key") ?? BsonDocument.Empty)
                .Concat(index.FindDocument("partialFilterExpression") ?? BsonDocument.Empty).Where(field => !field.Key.StartsWith('$')))
                uses.Read(field.Key.EndsWith(".$**", StringComparison.Ordinal) ? field.Key[..^4] : field.Key);
        }
    }

    /// <summary>Notes what an operation names.</summary>
    /// <param name="operation">The operation as it was read.</param>
    /// <param name="reader">The reader of the operation.</param>
    /// <param name="path">The path of the operation for messages, such as mix.read.</param>
    public void Add(Operation operation, MappingReader reader, string path)
    {
        string name = operation.Collection;
        Uses At(string key) => new(this, name, reader.Find(key) ?? reader.Node, $"{path}.{key}");
        switch (operation)
        {
            case InsertDocuments insert:
                _inserted.Add(name);
                // A step's documents may have fields of their own.
                foreach ((string field, TemplateValue value) in insert.Documents.Root.Elements)
                    _writes.Add((name, field, value));
                break;
            case OperationSequence several:
                foreach (Operation step in several.Operations)
                    Add(step, reader, path);
                break;
            case FindDocuments find:
                At("filter").Filter(find.Filter);
                At("sort").Sort(find.Sort);
                At("projection").Projection(find.Projection);
                break;
            case CountDocuments count:
                At("filter").Filter(count.Filter);
                break;
            case DistinctValues distinct:
                At("filter").Filter(distinct.Filter);
                At("field").Read(distinct.Field);
                break;
            case UpdateDocuments update:
                (update.Upsert ? At("filter").Writing : At("filter")).Filter(update.Filter);
                At("with").Update(update.Update);
                break;
            case DeleteDocuments delete:
                At("filter").Filter(delete.Filter);
                break;
            case FindAndModify modify:
                (modify.Upsert ? At("filter").Writing : At("filter")).Filter(modify.Filter);
                At("sort").Sort(modify.Sort);
                At("projection").Projection(modify.Projection);
                if (modify.Update is { } change)
                    At("with").Update(change);
                break;
            case AggregateDocuments aggregate:
                At("pipeline").Pipeline(aggregate.Pipeline);
                break;
            case DatabaseCommand { IsForOwners: false } command:
                _unknown.UnionWith([name, .. command.Arguments.Elements.Take(1).Select(first => TextOf(first.Value)).OfType<string>()]);
                break;
        }
    }

    /// <summary>A line for each field that no document has, in the file's order.</summary>
    /// <param name="collections">All that the file describes.</param>
    public IEnumerable<string> Warnings(IReadOnlyList<PlanCollection> collections) =>
        Found(collections).OrderBy(found => found.Place.Position.Line).Select(found => $"{found.Place.Position}: {found.Text}");

    private IEnumerable<(ScenarioNode Place, string Text)> Found(IReadOnlyList<PlanCollection> collections)
    {
        foreach (PlanCollection collection in collections.Where(IsKnown))
        {
            Use[] uses = [.. _uses.Where(use => use.Collection == collection.Name)];
            var written = new FieldTree();
            written.Add(collection.Documents.Root);
            string[] known = [.. written.Paths];
            foreach (Use use in uses.Where(use =>
                use.Adds && !written.Has(use.Path) && !uses.Any(other => !other.Adds && IsPartOf(other.Path, use.Path))))
                yield return Line(
                    use, $"adds the field '{use.Path}', which no document of '{collection.Name}' has and nothing reads", known);
            foreach ((_, string path, TemplateValue value) in _writes.Where(write => write.Collection == collection.Name))
                written.Add(path, value);
            foreach (Use use in uses.Where(use => !use.Adds && !written.Has(use.Path)))
                yield return Line(use, $"no document of '{collection.Name}' has a field '{use.Path}'", known);
        }
    }

    /// <summary>What the file says of its documents is all that there is: it makes them itself.</summary>
    private bool IsKnown(PlanCollection collection) => !collection.IsExisting && !_unknown.Contains(collection.Name)
        && (collection.Count > 0 || collection.IsGrown || collection.Documents.Root.Elements.Count > 1
            || _inserted.Contains(collection.Name));

    private static (ScenarioNode Place, string Text) Line(Use use, string text, string[] known) =>
        (use.Place, $"{use.What}: {text}{(NearestName.FindPath(use.Path, known) is { } near ? $" (did you mean '{near}'?)" : "")}");

    private static bool IsPartOf(string one, string other) =>
        one == other || one.StartsWith(other + ".", StringComparison.Ordinal) || other.StartsWith(one + ".", StringComparison.Ordinal);

    private static string? TextOf(TemplateValue value) =>
        value is LiteralValue { Value: { Type: BsonType.String } text } ? text.ToString() : null;

    /// <summary>Finds the fields of a document, or of each that may be chosen.</summary>
    private static IEnumerable<KeyValuePair<string, TemplateValue>> FieldsOf(TemplateValue? value) => value switch
    {
        DocumentValue { IsArray: false } document => document.Elements,
        ChoiceValue choice => choice.Parts.SelectMany(FieldsOf),
        _ => [],
    };

    private static IEnumerable<TemplateValue> ItemsOf(TemplateValue value) => value switch
    {
        DocumentValue { IsArray: true } or ArrayValue => value.Parts,
        _ => [],
    };

    /// <summary>What one key of an operation names.</summary>
    private sealed record Uses(FieldCheck Check, string Collection, ScenarioNode Node, string What)
    {
        private bool _writes;

        /// <summary>Its fields are those of a document that may be made.</summary>
        public Uses Writing => this with { _writes = true };

        public void Read(string path)
        {
            if (_writes)
                Check._writes.Add((Collection, path, DocumentValue.Empty));
            else
                Check._uses.Add(new Use(Collection, path, PlaceOf(Node, path) ?? Node, What, Adds: false));
        }

        private void Write(string path, TemplateValue value)
        {
            Check._writes.Add((Collection, path, value));
            Check._uses.Add(new Use(Collection, path, PlaceOf(Node, path) ?? Node, What, Adds: true));
        }

        public void Filter(TemplateValue? filter, string prefix = "")
        {
            foreach ((string name, TemplateValue value) in FieldsOf(filter))
            {
                if (OfStructure.Contains(name))
                {
                    foreach (TemplateValue item in ItemsOf(value))
                        Filter(item, prefix);
                }
                else if (name == "$expr")
                {
                    Expression(value);
                }
                else if (!name.StartsWith('$'))
                {
                    Read(prefix + name);
                    Conditions(value, prefix + name);
                }
            }
        }

        private void Conditions(TemplateValue value, string path)
        {
            foreach ((string name, TemplateValue inner) in FieldsOf(value))
            {
                if (name == "$not")
                    Conditions(inner, path);
                else if (name == "$elemMatch")
                    Filter(inner, path + ".");
            }
        }

        public void Sort(TemplateValue? sort)
        {
            // {$meta: textScore} stands for no field.
            foreach ((string name, TemplateValue value) in FieldsOf(sort)
                .Where(field => !field.Key.StartsWith('$') && field.Value is not DocumentValue))
                Read(name);
        }

        public void Projection(TemplateValue? projection, string prefix = "")
        {
            foreach ((string name, TemplateValue value) in FieldsOf(projection).Where(field => !field.Key.StartsWith('$')))
            {
                if (value is LiteralValue { Value: { IsNumber: true } or { Type: BsonType.Boolean } }
                    || FieldsOf(value).Any(inner => inner.Key is "$slice" or "$elemMatch"))
                    Read(prefix + name);
                else if (FieldsOf(value).Any(inner => !inner.Key.StartsWith('$')))
                    Projection(value, $"{prefix}{name}.");
                else
                    Expression(value);
            }
        }

        public void Update(TemplateValue update)
        {
            if (update is ChoiceValue choice)
            {
                foreach (TemplateValue item in choice.Parts)
                    Update(item);
                return;
            }

            foreach ((string stage, TemplateValue value) in ItemsOf(update).SelectMany(FieldsOf))
                UpdateStage(stage, value);
            foreach ((string name, TemplateValue value) in FieldsOf(update))
            {
                if (name.StartsWith('$'))
                    Operator(name, value);
                else
                    Write(name, value);
            }
        }

        private void Operator(string name, TemplateValue fields)
        {
            foreach ((string path, TemplateValue value) in FieldsOf(fields))
            {
                if (name == "$rename")
                {
                    Read(path);
                    if (TextOf(value) is { } renamed)
                        Write(renamed, value);
                }
                else if (Reading.Contains(name))
                {
                    Read(path);
                }
                else
                {
                    Write(path, FieldsOf(value).FirstOrDefault(inner => inner.Key == "$each").Value ?? value);
                }
            }
        }

        /// <summary>The stages of an update that is a pipeline.</summary>
        private void UpdateStage(string stage, TemplateValue value)
        {
            Expression(value);
            if (stage is "$set" or "$addFields")
            {
                foreach ((string name, TemplateValue set) in FieldsOf(value))
                    Write(name, set);
            }
            else if (stage == "$unset")
            {
                foreach (string name in ItemsOf(value).Prepend(value).Select(TextOf).OfType<string>())
                    Read(name);
            }
            else
            {
                Check._unknown.Add(Collection);
            }
        }

        /// <summary>Checks a pipeline up to the first stage that makes other documents of those of the collection.</summary>
        public void Pipeline(DocumentValue pipeline)
        {
            (string Name, TemplateValue Value)[] stages = [.. ItemsOf(pipeline)
                .SelectMany(FieldsOf).Select(stage => (stage.Key, stage.Value))];
            int kept = stages.TakeWhile(stage => Keeping.Contains(stage.Name)).Count();
            foreach ((string name, TemplateValue value) in stages.Take(kept + 1))
            {
                if (name == "$match")
                    Filter(value);
                else if (name == "$sort")
                    Sort(value);
                else if (name == "$project")
                    Projection(value);
                else if (OfExpressions.Contains(name))
                    Expression(value);
            }

            foreach ((_, TemplateValue into) in stages.Where(stage => stage.Name is "$out" or "$merge"))
            {
                foreach (string name in FieldsOf(into).Where(field => field.Key is "into" or "coll")
                    .Select(field => field.Value).Append(into).Select(TextOf).OfType<string>())
                    Check._unknown.Add(name);
            }
        }

        /// <summary>Every "$name" in it is a field; "$$name" is a variable.</summary>
        private void Expression(TemplateValue value)
        {
            if (TextOf(value) is ['$', not '$', ..] text)
                Read(text[1..]);
            foreach (TemplateValue inner in FieldsOf(value)
                .Where(field => field.Key != "$literal").Select(field => field.Value).Concat(ItemsOf(value)))
                Expression(inner);
        }

        /// <summary>The key or the "$name" that names the field, if it is written as one.</summary>
        private static ScenarioNode? PlaceOf(ScenarioNode node, string path) => node switch
        {
            MappingNode mapping => mapping.Entries.Select(entry =>
                path == entry.Name || path.EndsWith("." + entry.Name, StringComparison.Ordinal) ? entry.Key : PlaceOf(entry.Value, path))
                .FirstOrDefault(found => found is not null),
            SequenceNode list => list.Items.Select(item => PlaceOf(item, path)).FirstOrDefault(found => found is not null),
            ScalarNode scalar when scalar.Text == path || scalar.Text == "$" + path => scalar,
            _ => null,
        };
    }
}

using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Makes templates out of a file's values: documents, filters, updates.</summary>
/// <param name="documents">
/// The documents of the collection that the values are about, for ^key and ^field; null in a document itself.
/// </param>
/// <param name="sources">Where values come from.</param>
/// <param name="steps">What ^from may name; null outside of steps.</param>
internal sealed class TemplateReader(DocumentTemplate? documents, ValueSources sources, StepScope? steps = null)
{
    private const int MostBytes = 16 * 1024 * 1024;
    private const int MostItems = 1_000_000;

    /// <summary>Where the operation's ^existing values come from; null where there is no operation.</summary>
    private ExistingFields? _existing;

    /// <summary>How many values that it has made are numbers of the write itself.</summary>
    public int WriteNumbers { get; private set; }

    /// <summary>The same for an operation, which may take values of existing data.</summary>
    /// <param name="data">The collections that the file describes.</param>
    /// <param name="collection">The collection that the operation is about; empty for none.</param>
    /// <param name="operation">The path of the operation for messages, such as mix.read.</param>
    public TemplateReader On(IReadOnlyList<PlanCollection> data, string collection, string operation) =>
        new(documents, sources, steps) { _existing = new ExistingFields(data, collection, operation) };

    /// <param name="node">A mapping.</param>
    /// <param name="path">The path, such as users.document: random values depend on it.</param>
    public DocumentValue Document(ScenarioNode node, string path)
    {
        if (node is not MappingNode mapping)
            throw MappingReader.Wrong(node, $"{path} is {node.Describe()}; expected a mapping");
        return (mapping.Entries is [{ Name: Generator.FileName }] ? Fields(mapping, path) : Value(node, path)) as DocumentValue
            ?? (LiteralReader.IsWrapper(mapping)
                ? throw MappingReader.Wrong(node, $"{path} is a single value; expected a mapping with fields")
                : throw MappingReader.Wrong(node, $"{path} is a generated value; expected a mapping with fields"));
    }

    /// <summary>A list of documents that hold no generators, as index keys and options.</summary>
    public static BsonDocument Literal(ScenarioNode node, string what)
    {
        DocumentValue value = new TemplateReader(null, ValueSources.None).Document(node, what);
        return value.IsConstant
            ? value.ToDocument(new ValueContext(0, 0))
            : throw MappingReader.Wrong(node, $"{what}: generated values are not allowed here");
    }

    public DocumentValue Array(ScenarioNode node, string path) => node is SequenceNode list
        ? DocumentValue.Array(list.Items.Select((item, i) => Value(item, $"{path}.{i}")))
        : throw MappingReader.Wrong(node, $"{path} is {node.Describe()}; expected a list");

    public TemplateValue Value(ScenarioNode node, string path)
    {
        if (node is ScalarNode or MappingNode { Entries: [{ Name: ['^', ..] }] })
            sources.Scale.NoteValues(node);
        return Read(node, path);
    }

    private TemplateValue Read(ScenarioNode node, string path) => node switch
    {
        ScalarNode { IsQuoted: false, Text: ['^', ..] } scalar => Generate(scalar.Text, null, scalar, path),
        ScalarNode { IsQuoted: false } scalar when Generator.FindIn(scalar.Text) is { } generator => throw MappingReader.Wrong(
            scalar, $"{path}: {generator} stands within a text; a generator is a whole value",
            "^pattern and ^numbered make texts; put the text in quotes if it is meant as it is written"),
        ScalarNode scalar => new LiteralValue(LiteralReader.Scalar(scalar)),
        SequenceNode => Array(node, path),
        MappingNode { Entries: [{ Name: ['^', ..] } only] } => Generate(only.Name, only.Value, only.Key, path),
        MappingNode mapping when LiteralReader.IsWrapper(mapping) => new LiteralValue(LiteralReader.Wrapped(mapping)),
        MappingNode mapping => Fields(mapping, path),
        _ => throw MappingReader.Wrong(node, $"{path} cannot be read"),
    };

    private DocumentValue Fields(MappingNode mapping, string path)
    {
        var elements = new List<KeyValuePair<string, TemplateValue>>();
        foreach (MappingEntry entry in mapping.Entries)
        {
            if (entry.Name == Generator.FieldsName)
                elements.AddRange(GeneratedFields(new GeneratorReader(Generator.FieldsName, entry.Value, entry.Key), path).Elements);
            else if (entry.Name == Generator.FileName)
                elements.Add(new("", FileReader.Fields(new GeneratorReader(Generator.FileName, entry.Value, entry.Key), mapping, sources)));
            else if (entry.Value is MappingNode { Entries: [{ Name: Generator.OptionalName } optional] })
                elements.Add(new(CheckedName(entry.Key), Optional(optional, entry.Name, $"{path}.{entry.Name}")));
            else if (entry.Name.StartsWith('^'))
                throw MappingReader.Wrong(entry.Key, $"{path}: {entry.Name} can't be combined with other fields; only "
                    + $"{Generator.FieldsName} and {Generator.FileName} can");
            else
                elements.Add(new(CheckedName(entry.Key), Value(entry.Value, $"{path}.{entry.Name}")));
        }

        if (elements.GroupBy(e => e.Key).FirstOrDefault(g => g.Count() > 1) is { } twice)
            throw MappingReader.Wrong(mapping, $"{path}: the field '{twice.Key}' appears twice");
        PendingSequence.Resolve(elements);
        return FileReader.WithIdInFront(elements, mapping);
    }

    private static string CheckedName(ScalarNode key)
    {
        if (key.Text.Contains('\0', StringComparison.Ordinal))
            throw MappingReader.Wrong(key, "a field name contains a zero byte");
        return Generator.FindIn(key.Text) is not { } generator ? key.Text
            : throw MappingReader.Wrong(key, $"the name '{key.Text}' holds {generator}; names are not generated, only values are",
                $"one of several fields: {{{Generator.FieldsName}: {{count: 90, prefix: items., value: 1, pick: one}}}}");
    }

    private TemplateValue Generate(string name, ScenarioNode? argument, ScalarNode place, string path)
    {
        if (Generator.All.All(g => g.Name != name))
        {
            throw MappingReader.Wrong(
                place, $"{path}: unknown generator '{name}'; allowed: {string.Join(", ", Generator.All.Select(g => g.Name))}",
                NearestName.Hint(name, Generator.All.Select(g => g.Name)) ?? "put a text that begins with ^ in quotes");
        }

        var reader = new GeneratorReader(name, argument, place);
        ulong salt = Salt.Of(path);
        return name switch
        {
            "^number" => NumberReader.Sequence(reader, salt, sources.Seed),
            "^int" => NumberReader.Int(reader, salt, sources.Seed),
            "^long" => NumberReader.Long(reader, salt),
            "^double" => NumberReader.Double(reader, salt),
            "^bool" => NumberReader.Bool(reader, salt),
            "^date" => NumberReader.Date(reader, salt, sources.Seed),
            "^string" => FillerValue.Text(reader.Length("length", MostBytes), salt),
            "^binary" => FillerValue.Binary(reader.Length("size", MostBytes), salt),
            "^filler" => Filler(reader),
            "^word" => new WordValue((int)(reader.Count("first", 1, WordList.Count) ?? WordList.Count), salt),
            "^choice" => Choice(reader, path, salt),
            Generator.DistinctName => DistinctReader.Read(reader, salt, sources),
            Generator.OptionalName => throw reader.Wrong("it leaves out a field, so it must be the value of one",
                "such as note: {^optional: {share: 0.3, of: ^word}}"),
            "^array" => new ArrayValue(reader.Length("length", MostItems), Value(reader.Require("of"), $"{path}[]"), salt),
            "^numbered" =>
                new NumberedTextValue(reader.Text("prefix") ?? "", (int)(reader.Count("digits", 1, 20) ?? 1), reader.Flag("hashed")),
            "^spelled" => Spelled(reader, path),
            "^add" or "^subtract" or "^multiply" => Computed(reader, name, argument, path),
            Generator.FieldsName => OneOrAll(reader, path, salt),
            "^write" => WriteNumber(reader),
            "^sequence" => new PendingSequence(reader),
            _ when TypedValueReader.Names.Contains(name) => TypedValueReader.Read(name, reader, salt, sources),
            "^from" => From(reader, place, path),
            Generator.FileName => FileReader.Value(reader, sources),
            "^existing" => _existing?.Read(reader, path, salt) ?? throw reader.Wrong("it is allowed only in operations"),
            "^key" => Field(reader, "_id"),
            _ => Field(reader, reader.Text("field") ?? throw reader.Wrong("the field's name is missing")),
        };
    }

    private WriteNumberValue WriteNumber(GeneratorReader reader)
    {
        if (documents is null)
            throw reader.Wrong("it is allowed only in operations on a collection of 'data'");
        WriteNumbers++;
        return new WriteNumberValue();
    }

    private FromValue From(GeneratorReader reader, ScalarNode place, string path)
    {
        string text = reader.Text("path") ?? throw reader.Wrong("the path is missing");
        if (steps is null)
            throw reader.Wrong("it is allowed only in steps", "write the operations as steps: [{find: …, as: order}, …]");
        return new FromValue(steps.Path(text, place, $"{path}: ^from"),
            reader.Node("default") is { } usual ? Value(usual, $"{path}.default") : null);
    }

    private TemplateValue Field(GeneratorReader reader, string path)
    {
        if (documents is null)
            throw _existing is { IsOfExisting: true }
                ? reader.Wrong("it is allowed only in operations on a collection that the run creates",
                    $"values of existing data are sampled: {{^existing: {_existing.Collection}.{path}}}")
                : reader.Wrong("it is allowed only in operations on a collection of 'data'");
        return documents.FindNearest(path) is { } value
            ? ReferenceValue.Of(documents, value)
            : throw reader.Wrong($"the collection's documents have no field '{path}', or too few of them do", NearestField(path));
    }

    private string? NearestField(string path)
    {
        string[] known = [.. Findable(documents!.Root)];
        if (known.Contains(path))
            return "at least one of 1,000 documents must have it";
        return known.FirstOrDefault(name => name.Replace(".0", "", StringComparison.Ordinal) == path) is { } inArray ? "name an element "
            + $"of the array: {{^field: {inArray}}}"
            : NearestName.FindPath(path, known) is { } near ? $"did you mean '{near}'?" : null;
    }

    /// <summary>Paths of the fields that documents have, in arrays those of the first element.</summary>
    private static IEnumerable<string> Findable(TemplateValue value) => value switch
    {
        OptionalValue optional => Findable(optional.Value),
        DocumentValue document =>
            document.Elements.SelectMany(field => FileReader.IsSpread(field.Value) ? Findable(field.Value)
                : Findable(field.Value).Select(path => $"{field.Key}.{path}").Prepend(field.Key)),
        ArrayValue array when array.At(0) is not null => Findable(array.Parts.Single()).Select(path => $"0.{path}").Prepend("0"),
        _ => FileReader.FieldsOfAll(value),
    };

    private SpelledValue Spelled(GeneratorReader reader, string path)
    {
        const int MostTexts = 256;
        const int MostDigits = 20;
        string[] texts = [.. reader.Items("with").Select(item => item is ScalarNode { IsNull: false } text ? text.Text
            : throw MappingReader.Wrong(item, $"{path}: ^spelled: with is a list of texts, one for each digit from 0"))];
        if (texts.Length is < 2 or > MostTexts)
            throw reader.Wrong($"with has {texts.Length} texts; expected 2 to {MostTexts}, one for each digit from 0");
        return new SpelledValue(Value(reader.Require("number"), $"{path}.number"), texts,
            (int)(reader.Count("digits", 1, MostDigits) ?? throw reader.Wrong("'digits' is missing")));
    }

    private ComputedValue Computed(GeneratorReader reader, string name, ScenarioNode? argument, string path)
    {
        if (argument is not SequenceNode { Items: [_, _, ..] items })
            throw reader.Wrong("expected a list of two or more numbers");
        TemplateValue[] operands = [.. items.Select((item, i) => Value(item, $"{path}.{i}"))];
        var trial = new BsonWriter();
        bool isKnown = true;
        Number result = default;
        foreach ((int i, TemplateValue operand) in operands.Index())
        {
            if (TakesFromSteps(operand))
            {
                isKnown = false;
                continue;
            }

            if (!Number.TryTake(trial, operand, new ValueContext(0, sources.Seed), out Number number, out BsonType type))
                throw MappingReader.Wrong(items[i], $"{path}: {name}: a value of type {type} is not a number");
            if (isKnown && i > 0 && !Number.CanCompute(name, result.Type, type))
                throw MappingReader.Wrong(items[i], $"{path}: {name}: MongoDB does not {name[1..]} {result.Type} and {type}",
                    "to a date milliseconds can be added, and subtracted from it");
            result = i == 0 || !isKnown ? number : Number.Compute(name, result, number);
        }

        return new ComputedValue(name, operands);
    }

    private static bool TakesFromSteps(TemplateValue value) => value is FromValue || value.Parts.Any(TakesFromSteps);

    /// <summary>One that is to fill the document gets its length when the other fields have been read.</summary>
    private TemplateValue Filler(GeneratorReader reader)
    {
        int compressibility = (int)(reader.Count("compressibility", 0, 100) ?? 0);
        if (reader.Count("documentSize", 1, MostBytes) is { } size)
            return new FillingText((int)size, compressibility, reader);
        return new PiecedText(
            (int)(reader.Count("length", 0, MostBytes) ?? throw reader.Wrong("documentSize or length is missing")), compressibility,
            sources.Seed);
    }

    /// <summary>Stands for a filler whose length is not known yet.</summary>
    private sealed class FillingText(int documentSize, int compressibility, GeneratorReader reader) : TemplateValue
    {
        public int DocumentSize => documentSize;

        public int Compressibility => compressibility;

        public GeneratorReader Reader => reader;

        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
            throw reader.Wrong("documentSize is for a field of the document itself, not of a nested one");
    }

    /// <summary>The fields of a whole document; a filler among them takes what the others leave.</summary>
    public DocumentValue Root(ScenarioNode node, string path)
    {
        DocumentValue document = Document(node, path);
        KeyValuePair<string, TemplateValue>[] fillers = [.. document.Elements.Where(e => e.Value is FillingText)];
        if (fillers.Length == 0)
            return document;
        var filling = (FillingText)fillers[0].Value;
        if (fillers.Length > 1)
            throw filling.Reader.Wrong($"the fields {fillers[0].Key} and {fillers[1].Key} both fill the document");
        DocumentValue others = With(0);
        long[] sizes = [.. new long[] { 0, 1, 1_000_000 }
            .Select(number => (long)new DocumentTemplate(others, sources.Seed, path).Make(number).Bytes.Length)];
        if (sizes.Distinct().Count() > 1)
            throw filling.Reader.Wrong("the other fields vary in length, so no filler makes every document the same size",
                "use length instead of documentSize");
        return filling.DocumentSize >= sizes[0]
            ? With((int)(filling.DocumentSize - sizes[0]))
            : throw filling.Reader.Wrong($"documentSize is {filling.DocumentSize}, but the other fields already take {sizes[0]} bytes");

        DocumentValue With(int length) =>
            new([.. document.Elements.Select(e => e.Value is FillingText
                ? KeyValuePair.Create(e.Key, (TemplateValue)new PiecedText(length, filling.Compressibility, sources.Seed))
                : e)]);
    }

    private OptionalValue Optional(MappingEntry entry, string name, string path)
    {
        var reader = new GeneratorReader(entry.Name, entry.Value, entry.Key);
        if (name == "_id")
            throw reader.Wrong("every document has an _id");
        double share = reader.Number("share", 0, 1) ?? throw reader.Wrong("'share' is missing: of the documents that have the field");
        return new OptionalValue(share, Value(reader.Require("of"), path), Salt.Of($"{path} {Generator.OptionalName}"));
    }

    private TemplateValue Choice(GeneratorReader reader, string path, ulong salt)
    {
        if (reader.Node("by") is { } by)
        {
            if (((string[])["weights", "turns", "draw"]).FirstOrDefault(key => reader.Node(key) is not null) is { } other)
                throw reader.Wrong($"by and {other} are both given", "remove one of them");
            return reader.Node("of") is MappingNode { Entries: { Count: > 0 } entries }
                ? new MappedValue(Value(by, $"{path}.by"), [.. entries.Select(entry =>
                    KeyValuePair.Create(entry.Name, Value(entry.Value, $"{path}.{entry.Name}")))])
                : throw reader.Wrong("with by, of is a mapping", "such as {by: {^field: state}, of: {new: paid, paid: sent}}");
        }

        IReadOnlyList<ScenarioNode> items = reader.Items("of");
        double[]? weights = reader.Weights(items.Count);
        long[]? turns = reader.Turns(items.Count);
        if (weights is not null && turns is not null)
            throw reader.Wrong("weights and turns are both given; values that take turns are not drawn", "remove one of them");
        string? draw = reader.Text("draw");
        if (draw is not null && turns is not null)
            throw reader.Wrong("draw and turns are both given; values that take turns are not drawn", "remove one of them");
        return new ChoiceValue([.. items.Select((item, i) => Value(item, $"{path}.{i}"))], weights,
            draw is null ? salt : Salt.Of($"^choice {draw}"), turns);
    }

    private TemplateValue OneOrAll(GeneratorReader reader, string path, ulong salt)
    {
        DocumentValue all = GeneratedFields(reader, path);
        return reader.OneOf("pick", "all", "one") == "one"
            ? new ChoiceValue([.. all.Elements.Select(e => new DocumentValue([e]))], null, salt)
            : all;
    }

    private DocumentValue GeneratedFields(GeneratorReader reader, string path)
    {
        long count = reader.Count("count", 1, 10_000) ?? throw reader.Wrong("'count' is missing");
        string prefix = reader.Text("prefix") ?? "field";
        ScenarioNode value = reader.Require("value");
        return new DocumentValue([.. Enumerable.Range(0, (int)count)
            .Select(i => $"{prefix}{i}").Select(name => KeyValuePair.Create(name, Value(value, $"{path}.{name}")))]);
    }
}

using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.Rows;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads <c>^file</c>: rows of a file, and fields of rows.</summary>
internal static class FileReader
{
    /// <summary>A whole row as a nested document, or a field of it.</summary>
    public static TemplateValue Value(GeneratorReader reader, ValueSources sources)
    {
        RowChoice rows = Choice(reader, sources);
        if (reader.Text("field") is not { } field)
            return new RowValue(rows, isSpread: false);
        return rows.File.Fields.ShareOf(field) != RowShare.None ? rows.Field(field)
            : throw reader.Wrong($"no row of {rows.File.Name} has a field '{field}'",
                NearestName.FindPath(field, [.. rows.File.Fields.Paths]) is { } near ? $"did you mean '{near}'?"
                : $"it has {RowFields.Listed([.. rows.File.Fields.Paths])}");
    }

    /// <summary>A row's fields, without those that stand beside it.</summary>
    public static TemplateValue Fields(GeneratorReader reader, MappingNode around, ValueSources sources) => reader.Node("field") is null
        ? new RowValue(
            Choice(reader, sources), isSpread: true, [.. around.Entries.Select(e => e.Name).Where(name => !name.StartsWith('^'))])
        : throw reader.Wrong("with field it is a single value, not a document's fields", "such as name: {^file: {path: …, field: name}}");

    public static bool IsSpread(TemplateValue value) => value is RowValue { IsSpread: true };

    /// <summary>The paths of the fields that every row gives the value.</summary>
    public static IEnumerable<string> FieldsOfAll(TemplateValue value) => value switch
    {
        RowValue row => row.Paths.Where(path => row.Find(path) is not null),
        RowFieldValue field => field.Paths.Where(path => field.Find(path) is not null),
        _ => [],
    };

    /// <summary>A document whose _id may be a row's: servers put it in front, so it is written there.</summary>
    public static DocumentValue WithIdInFront(IReadOnlyList<KeyValuePair<string, TemplateValue>> elements, MappingNode mapping)
    {
        var document = new DocumentValue(elements);
        return document.Row is { } row && (elements.FirstOrDefault(e => e.Key == "_id").Value ?? IdOf(row.Rows, mapping)) is { } id
            ? new DocumentValue([new("_id", id), .. document.Without("_id").Elements])
            : document;
    }

    private static RowFieldValue? IdOf(RowChoice rows, MappingNode mapping) => rows.File.Fields.ShareOf("_id") switch
    {
        RowShare.All => rows.Field("_id"),
        RowShare.None => null,
        _ => throw MappingReader.Wrong(mapping, $"{Generator.FileName}: some rows of {rows.File.Name} have an _id, and others have none",
            "give the document an _id of its own, such as _id: ^number"),
    };

    private static RowChoice Choice(GeneratorReader reader, ValueSources sources)
    {
        string path = reader.Text("path") ?? throw reader.Wrong("the file's path is missing");
        string? weight = reader.Text("weight");
        if (weight is not null && reader.Node("pick") is not null)
            throw reader.Wrong("pick and weight are both given; with a weight, rows are picked at random", "remove one of them");
        RowOrder order = weight is not null ? RowOrder.Weighted
            : reader.OneOf("pick", "in order", "random") == "random" ? RowOrder.Random : RowOrder.InOrder;
        try
        {
            RowFile file = sources.Files.Open(path, Types(reader), weight);
            return new RowChoice(file, order, Salt.Of($"{path}\0{weight}"));
        }
        catch (RowFormatException e)
        {
            throw new DataFileException(reader.Wrong(e.Message).Message, sources.Files.Hint);
        }
    }

    private static Dictionary<string, CellType> Types(GeneratorReader reader)
    {
        string[] names = [.. Enum.GetNames<CellType>().Select(name => $"{char.ToLowerInvariant(name[0])}{name[1..]}")];
        return reader.Texts("types").ToDictionary(one => one.Key, one => Array.IndexOf(names, one.Value) is >= 0 and var index
            ? (CellType)index
            : throw reader.Wrong($"the type of {one.Key} is '{one.Value}'; allowed: {string.Join(", ", names)}",
                NearestName.Hint(one.Value, names) ?? "such as types: {born: date}"));
    }
}

using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;

namespace MongoPerf.Scenarios;

/// <summary>Reads ^existing: which field of which collection an operation's values are sampled from.</summary>
/// <param name="data">The collections that the file describes.</param>
/// <param name="collection">The collection that the operation is about; empty for none.</param>
/// <param name="operation">The path of the operation for messages, such as mix.read.</param>
internal sealed class ExistingFields(IReadOnlyList<PlanCollection> data, string collection, string operation)
{
    private const int MostSampled = 1_000_000;
    private const int UsualSample = 10_000;

    public string Collection => collection;

    /// <summary>The operation is about a collection that the run does not make.</summary>
    public bool IsOfExisting => data.Any(one => one.IsExisting && one.Name == collection);

    /// <param name="reader">What stands behind the name.</param>
    /// <param name="path">Where the value stands.</param>
    /// <param name="salt">The value's own.</param>
    public ExistingValue Read(GeneratorReader reader, string path, ulong salt)
    {
        (string name, string field) = reader.Text("of") is { } of ? Named(reader, of) : (collection, FieldOf(path));
        if (data.FirstOrDefault(one => one.Name == name) is not { IsExisting: true })
            throw reader.Wrong($"'{name}' is not a collection with existing: true in 'data'",
                data.Any(one => one.Name == name) ? "of documents that the run creates, {^field: NAME} is a value" : null);
        if (field.Length == 0)
            throw reader.Wrong("it stands in no field; the field's name is missing", $"write {{^existing: {name}.FIELD}}");
        if (field.Split('.').Any(part => part is "" or ['$', ..]) || field.Contains('\0', StringComparison.Ordinal))
            throw reader.Wrong($"'{field}' is not the path of a field", $"write {{^existing: {name}.FIELD}}");
        return new ExistingValue(name, field, reader.OneOf("draw", "uniform", "frequency") == "frequency",
            (int)(reader.Count("sample", 1, MostSampled) ?? UsualSample), salt);
    }

    /// <summary>Both names may have dots in them: the longest collection's name counts.</summary>
    private (string Collection, string Field) Named(GeneratorReader reader, string of) =>
        data.Select(one => one.Name).Where(name => of.StartsWith(name + ".", StringComparison.Ordinal))
            .MaxBy(name => name.Length) is { } found
            ? (found, of[(found.Length + 1)..])
            : throw reader.Wrong($"'{of}' does not begin with a collection of 'data'; "
                + $"those are: {string.Join(", ", data.Select(one => one.Name))}");

    /// <summary>The field whose condition a value is part of: of mix.read.filter.$or.0.sku.$gte that is sku.</summary>
    private string FieldOf(string path)
    {
        if (!path.StartsWith(operation + ".", StringComparison.Ordinal))
            return "";
        var parts = new List<string>();
        bool isOperator = true;
        foreach (string part in path[(operation.Length + 1)..].Split('.').Skip(1))
        {
            // Behind an operator a number is a place in its list; behind a field it is one in an array.
            if (!part.StartsWith('$') && !(isOperator && part.All(char.IsAsciiDigit)))
                parts.Add(part);
            isOperator = part.StartsWith('$');
        }

        return string.Join('.', parts);
    }
}

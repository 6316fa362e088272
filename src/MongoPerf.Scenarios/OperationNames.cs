using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>What operations are called in MongoDB's drivers and in other tools.</summary>
internal static class OperationNames
{
    /// <summary>How this program writes them.</summary>
    private static readonly Dictionary<string, string> Elsewhere = new(StringComparer.OrdinalIgnoreCase)
    {
        ["findOne"] = "find",
        ["query"] = "find",
        ["read"] = "find",
        ["insertOne"] = "insert",
        ["updateOne"] = "update",
        ["updateMany"] = "update: …, many: true",
        ["replaceOne"] = "replace",
        ["deleteOne"] = "delete",
        ["remove"] = "delete",
        ["deleteMany"] = "delete: …, many: true",
        ["findOneAndUpdate"] = "findAndModify",
        ["findOneAndReplace"] = "findAndModify",
        ["findOneAndDelete"] = "findAndModify: …, remove: true",
        ["countDocuments"] = "count",
        ["createIndex"] = "createIndexes",
        ["dropIndex"] = "dropIndexes",
    };

    /// <param name="name">A key that is no operation that is allowed.</param>
    /// <param name="allowed">Operations of the language.</param>
    /// <returns>Null when it resembles none.</returns>
    public static string? FindHint(string name, IReadOnlyList<string> allowed)
    {
        string? meant = Elsewhere.GetValueOrDefault(name);
        meant = meant is not null && allowed.Contains(meant.Split(':')[0]) ? meant : NearestName.Find(name, allowed);
        return meant is null ? null : $"did you mean '{meant}'?";
    }

    /// <summary>A hint for an operation of the language that can't stand among steps, or in a bulk.</summary>
    /// <param name="name">The operation.</param>
    /// <param name="allowed">The operations that can.</param>
    public static string HintElsewhere(string name, IReadOnlyList<string> allowed) => name switch
    {
        "insertMany" => "write insert, with times for several documents",
        "bulkWrite" when allowed.Contains("find") => "write each of its writes as a step, or make it an operation of its own",
        "readModifyWrite" when allowed.Contains("find") => "write find and update as two steps, or make it an operation of its own",
        _ => "make it an operation of its own",
    };

    /// <summary>A hint for an operation within another, such as the update of a findAndModify.</summary>
    /// <param name="kinds">Both operations.</param>
    /// <param name="operation">The operation that has them among its keys.</param>
    /// <returns>Null when neither holds what is to be changed.</returns>
    public static string? HintInside(IEnumerable<string> kinds, MappingNode operation) =>
        kinds.Any(kind => kind is "update" or "replace" && operation.Find(kind) is not ScalarNode) ? NodeReader.HintOfChanges : null;

    /// <summary>A hint for an update operator that stands in the operation itself.</summary>
    public static string HintOfWith(MappingEntry entry) => $"write with: {{{entry.Name}: {entry.Value.Label}}}";
}

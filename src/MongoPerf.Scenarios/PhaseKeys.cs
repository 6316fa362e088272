using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Which keys a phase may have, by what it does.</summary>
internal static class PhaseKeys
{
    private static readonly string[] Deeds = ["grow", "create", "load", "check", "checks", "balancer", "groups", "operations"];
    private static readonly string[] OfGrowths = ["to", "step", "writes", "beside", "each"];
    private static readonly string[] OfLoads = ["batch", "ordered", "writeConcern", "ranges"];
    private static readonly string[] OfMeasuring =
    [
        "operations", "groups", "duration", "count", "warmup", "rate", "until", "arrivals", "think", "connections", "explain",
    ];

    /// <exception cref="UserException">A key without meaning there, or nothing that says what is done.</exception>
    public static void Require(MappingReader reader, string phase)
    {
        (string does, string[] wrong) = Find(reader) switch
        {
            "grow" => ("grows a collection",
                [.. OfMeasuring, .. OfLoads, "create", "load", "threads", "lap", "restart", "repeat", "pause", "assert"]),
            "checks" => ("looks at checks", [.. OfMeasuring, .. OfLoads, "threads", "lap", "sizes"]),
            "check" => ("checks a collection", [.. OfMeasuring, .. OfLoads, "threads", "lap", "sizes"]),
            null when IsOfSizes(reader) => ("takes sizes", [.. OfLoads, "threads", "lap"]),
            "create" => ("creates a collection", [.. OfMeasuring, .. OfLoads, "load", "threads", "lap", "sizes"]),
            "load" => ("loads", OfMeasuring),
            "balancer" => ("sets the balancer", [.. OfMeasuring, .. OfLoads, "threads", "lap"]),
            "groups" => ("has groups",
                ["operations", "threads", "duration", "count", "warmup", "rate", "until", "arrivals", "think", "connections", .. OfLoads,
                    "lap"]),
            "operations" => ("measures operations", OfLoads),
            _ => throw MappingReader.Wrong(
                reader.Node, $"phase '{phase}': grow, create, load, check, checks, balancer, groups or operations is missing"),
        };
        if (wrong.FirstOrDefault(key => reader.Find(key) is not null) is { } found)
            throw MappingReader.Wrong(reader.Find(found)!, $"phase '{phase}': {found} is not allowed in a phase that {does}");
        if (reader.Takes("grow") && reader.Find("grow") is null
            && OfGrowths.FirstOrDefault(key => reader.Find(key) is not null) is { } ofGrowth)
            throw MappingReader.Wrong(reader.Find(ofGrowth)!,
                $"phase '{phase}': {ofGrowth} is allowed only in a phase that grows a collection", "grow names the collection");
        if (reader.Takes("until") && reader.Find("until") is { } until && reader.Find("count") is not null)
            throw MappingReader.Wrong(until, $"phase '{phase}': until is not allowed in a phase that is limited by count",
                "duration says how long it may take at most");
        if (reader.Find("lap") is { } lap && reader.Find("load") is null && reader.Find("count") is null)
            throw MappingReader.Wrong(lap, $"phase '{phase}': lap is not allowed in a phase that is limited by time",
                "use count instead of duration");
    }

    /// <summary>It only takes the sizes of the collection that it names.</summary>
    public static bool IsOfSizes(MappingReader reader) =>
        Find(reader) is null && reader.Find("sizes") is ScalarNode { Text: not ("true" or "false") };

    /// <summary>The first of these that is there says what the phase does.</summary>
    private static string? Find(MappingReader reader) => Deeds.FirstOrDefault(key => reader.Find(key) is not null);
}

using MongoPerf.Cli;
using MongoPerf.Scenarios.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Which keys a phase may have, by what it does.</summary>
internal static class PhaseKeys
{
    private static readonly string[] Deeds = ["create", "load", "balancer", "groups", "operations"];
    private static readonly string[] OfLoads = ["batch", "ordered", "writeConcern", "ranges"];
    private static readonly string[] OfMeasuring = ["operations", "groups", "duration", "count", "warmup", "rate"];

    /// <exception cref="UserException">A key without meaning there, or nothing that says what is done.</exception>
    public static void Require(MappingReader reader, string phase)
    {
        (string does, string[] wrong) = Find(reader) switch
        {
            "create" => ("makes a collection", [.. OfMeasuring, .. OfLoads, "load", "threads", "lap", "sizes"]),
            "load" => ("loads", OfMeasuring),
            "balancer" => ("sets the balancer", [.. OfMeasuring, .. OfLoads, "threads", "lap"]),
            "groups" => ("has groups", ["operations", "threads", "duration", "count", "warmup", "rate", .. OfLoads, "lap"]),
            "operations" => ("measures operations", OfLoads),
            _ => throw MappingReader.Wrong(reader.Node, $"phase '{phase}': one of create, load, balancer, groups and operations is missing"),
        };
        if (wrong.FirstOrDefault(key => reader.Find(key) is not null) is { } found)
            throw MappingReader.Wrong(reader.Find(found)!, $"phase '{phase}': {found} has no meaning in a phase that {does}");
        if (reader.Find("lap") is { } lap && reader.Find("load") is null && reader.Find("count") is null)
            throw MappingReader.Wrong(lap, $"phase '{phase}': lap has no meaning in a phase that is limited by time", "give it a count in place of a duration");
    }

    /// <summary>The first of these that is there says what the phase does.</summary>
    private static string? Find(MappingReader reader) => Deeds.FirstOrDefault(key => reader.Find(key) is not null);
}

using System.CommandLine;
using MongoPerf.Deployments.Limits;
using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary>A deployment as it was asked for, one of several perhaps.</summary>
/// <param name="Topology">Null when nothing was said.</param>
/// <param name="Uri">With its secrets; null when none was typed.</param>
/// <param name="IsListed">One of a list, or a scenario's: it starts its server, whatever the environment names.</param>
/// <param name="IsBesideShards">One of the list is sharded, and options for shards are that one's.</param>
internal sealed record NamedDeployment(Topology? Topology, string? Uri, bool IsListed = false, bool IsBesideShards = false)
{
    /// <summary>Tells it from the others; null when there are none, or their topologies and addresses do.</summary>
    public string? Name { get; init; }

    /// <summary>The scenario's deployment that it is; null for none.</summary>
    public ScenarioDeployment? Scenario { get; init; }

    /// <summary>Of a cluster that is started; null for what was typed, or the usual.</summary>
    public int? Shards { get; init; }

    /// <inheritdoc cref="Shards"/>
    public int? Members { get; init; }

    /// <summary>Of each server; null for what was typed, or the usual.</summary>
    public long? CacheBytes { get; init; }

    /// <summary>Of each server that is started, by the system; 0 for none, null for the usual.</summary>
    public long? MemoryLimitBytes { get; init; }

    /// <summary>How many each server that is started may use; null for all.</summary>
    public int? Cpus { get; init; }

    /// <summary>Those that the options name: one, or one for each value of a list.</summary>
    /// <param name="parsed">The call.</param>
    /// <param name="options">The command's shared options.</param>
    /// <exception cref="UserException">A list beside an address.</exception>
    public static IReadOnlyList<NamedDeployment> OfOptions(ParseResult parsed, SharedOptions options)
    {
        IReadOnlyList<Topology> topologies = parsed.GetValue(options.Topology) ?? [];
        string? uri = parsed.GetValue(options.Uri);
        string? against = parsed.GetValue(options.Against);
        if (topologies.Count > 1 && (uri ?? against) is not null)
            throw new UserException(ExitCode.WrongUsage, "a list of topologies starts its own servers and can't be combined with --uri or --against", "--uri A --against B compares two existing deployments");
        if (topologies.Count > 1)
            return [.. topologies.SelectMany(topology => new NamedDeployment(topology, null, IsListed: true, topologies.Contains(Engine.Runs.Topology.Sharded)).WithLimits(parsed, options, topology.Text()))];
        Topology? only = topologies.Count == 1 ? topologies[0] : null;
        var first = new NamedDeployment(only, uri);
        if (against is null)
            return first.WithLimits(parsed, options, null);
        return uri is null
            ? throw new UserException(ExitCode.WrongUsage, "--against names the second of two deployments, but the first is missing", "name it with --uri")
            : [.. new[] { first, new NamedDeployment(only, against) }.SelectMany(deployment => deployment.WithLimits(parsed, options, null))];
    }

    /// <summary>The same with each of the limits that were typed.</summary>
    /// <param name="parsed">The call.</param>
    /// <param name="options">The command's shared options.</param>
    /// <param name="name">What it is called beside its limits where there are several; null for nothing. One that is called by limits of its own is called by the typed ones.</param>
    public IReadOnlyList<NamedDeployment> WithLimits(ParseResult parsed, SharedOptions options, string? name)
    {
        IReadOnlyList<long>? limits = parsed.GetValue(options.Limits.MemoryLimit);
        IReadOnlyList<int>? counts = parsed.GetValue(options.Limits.Cpus);
        long?[] memory = limits is null ? [MemoryLimitBytes] : [.. limits];
        int?[] cpus = counts is null ? [Cpus] : [.. counts];
        bool otherMemory = limits is not null && MemoryLimitBytes is not null;
        bool otherCpus = counts is not null && Cpus is not null;
        return
        [
            .. memory.SelectMany(bytes => cpus.Select(count => this with
            {
                Name = NameOf(
                [
                    otherMemory || otherCpus ? null : name, memory.Length > 1 || otherMemory ? MemoryText(bytes) : null, cpus.Length > 1 || otherCpus ? CpuText(count) : null,
                ]),
                IsListed = IsListed || memory.Length > 1 || cpus.Length > 1,
                MemoryLimitBytes = bytes,
                Cpus = count,
            })),
        ];

        // A topology, or an address, needs no other name.
        string? NameOf(string?[] parts) => memory.Length > 1 || cpus.Length > 1 || otherMemory || otherCpus ? string.Join(", ", parts.OfType<string>()) : Name;
    }

    /// <summary>"memory 1 GiB".</summary>
    public static string MemoryText(long? bytes) => bytes is > 0 ? $"memory {CacheSize.Text(bytes.Value)}" : "memory unlimited";

    /// <summary>"2 CPUs".</summary>
    public static string CpuText(int? count) => count switch
    {
        null => "all CPUs",
        1 => "1 CPU",
        _ => $"{count} CPUs",
    };
}

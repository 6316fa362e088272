using System.CommandLine;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Limits;
using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary>A deployment as it was asked for, one of several perhaps.</summary>
/// <param name="Topology">Null when nothing was said.</param>
/// <param name="Uri">With its secrets; null when none was typed.</param>
/// <param name="IsListed">One of a list, or a scenario's: it starts its server, whatever the environment names.</param>
internal sealed record NamedDeployment(Topology? Topology, string? Uri, bool IsListed = false)
{
    /// <summary>Topologies of all in the list: options that are for some of them only are those's.</summary>
    public IReadOnlyList<Topology> Listed { get; init; } = [];

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

    /// <summary>The client that carries the operations out on it; null for the usual.</summary>
    public EngineKind? Engine { get; init; }

    /// <summary>Servers that are started take TLS connections only; null for what was typed, or the usual.</summary>
    public bool? Tls { get; init; }

    /// <summary>Clients log in to servers that are started; null for what was typed, or the usual.</summary>
    public bool? Auth { get; init; }

    /// <summary>An option for deployments of these topologies is not meant for this one, but for another of its list.</summary>
    public bool IsBeside(params IReadOnlyList<Topology> topologies) => Topology is { } own && !topologies.Contains(own) && Listed.Any(topologies.Contains);

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
            return [.. topologies.SelectMany(topology => new NamedDeployment(topology, null, IsListed: true) { Listed = topologies }.WithTyped(parsed, options, topology.Text()))];
        Topology? only = topologies.Count == 1 ? topologies[0] : TopologyIn(parsed.GetValue(options.ClusterFolder));
        var first = new NamedDeployment(only, uri);
        if (against is null)
            return first.WithTyped(parsed, options, null);
        return uri is null
            ? throw new UserException(ExitCode.WrongUsage, "--against names the second of two deployments, but the first is missing", "name it with --uri")
            : [.. new[] { first, new NamedDeployment(only, against) }.SelectMany(deployment => deployment.WithTyped(parsed, options, null))];
    }

    /// <summary>The same with each of the limits, and ways to connect, that were typed.</summary>
    /// <param name="parsed">The call.</param>
    /// <param name="options">The command's shared options.</param>
    /// <param name="name">What it is called beside them where there are several; null for nothing. One that is called by values of its own is called by the typed ones.</param>
    public IReadOnlyList<NamedDeployment> WithTyped(ParseResult parsed, SharedOptions options, string? name)
    {
        Variation[] all =
        [
            Variation.Of(parsed.GetValue(options.Limits.MemoryLimit), MemoryLimitBytes, (d, bytes) => d with { MemoryLimitBytes = bytes }, bytes => MemoryText(bytes)),
            Variation.Of(parsed.GetValue(options.Limits.Cpus), Cpus, (d, count) => d with { Cpus = count }, count => CpuText(count)),
            Variation.Of(parsed.GetValue(options.Security.Tls), Tls, (d, isOn) => d with { Tls = isOn }, TlsText),
            Variation.Of(parsed.GetValue(options.Security.Auth), Auth, (d, isOn) => d with { Auth = isOn }, AuthText),
            Variation.Of(parsed.GetValue(options.Engines), Engine, (d, engine) => d with { Engine = engine }, engine => new EngineSettings(engine).Text),
        ];
        // A topology, or an address, needs no other name.
        bool isNamed = all.Any(variation => variation.Names);
        IReadOnlyList<(NamedDeployment Deployment, IReadOnlyList<string> Parts)> made = [(this, name is null || all.Any(variation => variation.Replaces) ? [] : [name])];
        foreach (Variation variation in all.Where(variation => variation.Values.Count > 0))
            made = [.. made.SelectMany(one => variation.Values.Select(value => (value.Change(one.Deployment), Append(one.Parts, variation.Names ? value.Text : null))))];
        return [.. made.Select(one => one.Deployment with { Name = isNamed ? string.Join(", ", one.Parts) : Name, IsListed = IsListed || all.Any(variation => variation.Values.Count > 1) })];

        static IReadOnlyList<string> Append(IReadOnlyList<string> parts, string? text) => text is null ? parts : [.. parts, text];
    }

    /// <summary>Of a folder that <c>--cluster</c> names; null where there is none, and for a cluster, which need not be told.</summary>
    private static Topology? TopologyIn(string? folder) =>
        folder is not null && ClusterPlan.Read(folder) is { IsReplicaSet: true } ? MongoPerf.Engine.Runs.Topology.ReplicaSet : null;

    /// <summary>"memory 1 GiB".</summary>
    public static string MemoryText(long? bytes) => bytes is > 0 ? $"memory {CacheSize.Text(bytes.Value)}" : "memory unlimited";

    /// <summary>"2 CPUs".</summary>
    public static string CpuText(int? count) => count switch
    {
        null => "all CPUs",
        1 => "1 CPU",
        _ => $"{count} CPUs",
    };

    /// <summary>"TLS".</summary>
    public static string TlsText(bool isOn) => isOn ? "TLS" : "no TLS";

    /// <summary>"logins".</summary>
    public static string AuthText(bool isOn) => isOn ? "logins" : "no logins";

    /// <summary>The values of one option, each of which makes a deployment.</summary>
    /// <param name="Values">What each is called and what it makes of a deployment; none when nothing was typed.</param>
    /// <param name="Replaces">The deployment had a value of its own.</param>
    private sealed record Variation(IReadOnlyList<(string Text, Func<NamedDeployment, NamedDeployment> Change)> Values, bool Replaces)
    {
        public bool Names => Replaces || Values.Count > 1;

        public static Variation Of<T>(IReadOnlyList<T>? typed, T? own, Func<NamedDeployment, T, NamedDeployment> change, Func<T, string> text)
            where T : struct => new([.. (typed ?? []).Select(value => (text(value), (Func<NamedDeployment, NamedDeployment>)(d => change(d, value))))], typed is not null && own is not null);
    }
}

using System.CommandLine;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Options;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Systems;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>A deployment that a call asks for, one of several perhaps.</summary>
/// <param name="Settings">The settings that the options, the scenario or both describe.</param>
internal sealed record DeploymentChoice(DeploymentSettings Settings)
{
    /// <summary>The connection string with its secrets; null when none was named.</summary>
    public string? Uri { get; init; }

    /// <summary>One of a list, or a scenario's: it starts its server, whatever the environment names.</summary>
    public bool IsListed { get; init; }

    /// <summary>Topologies of all in the list: options that are for some of them only are those's.</summary>
    public IReadOnlyList<Topology> Listed { get; init; } = [];

    /// <summary>The scenario's deployment that it is; null for none.</summary>
    public ScenarioDeployment? Scenario { get; init; }

    /// <summary>The client that runs its operations; null for the default.</summary>
    public EngineKind? Engine { get; init; }

    /// <summary>An option for deployments of these topologies is not meant for this one, but for another of its list.</summary>
    public bool IsBeside(params IReadOnlyList<Topology> topologies) =>
        Settings.Topology is { } own && !topologies.Contains(own) && Listed.Any(topologies.Contains);

    /// <summary>Those that the options name: one, or one for each value of a list.</summary>
    /// <exception cref="UserException">A list beside an address.</exception>
    public static IReadOnlyList<DeploymentChoice> OfOptions(ParseResult parsed, SharedOptions options)
    {
        IReadOnlyList<Topology> topologies = parsed.GetValue(options.Topology) ?? [];
        string? uri = parsed.GetValue(options.Uri);
        string? against = parsed.GetValue(options.Against);
        if (topologies.Count > 1 && (uri ?? against) is not null)
            throw new UserException(
                ExitCode.WrongUsage,
                "a list of topologies starts its own servers and can't be combined with --uri or --against",
                "--uri A --against B compares two existing deployments");
        if (parsed.GetValue(options.Mongod) is { Count: > 1 } && (uri ?? against) is not null)
            throw new UserException(
                ExitCode.WrongUsage,
                "a list of programs (--mongod) starts its own servers and can't be combined with --uri or --against",
                "--uri A --against B compares two existing deployments");
        if (topologies.Count > 1)
            return [.. topologies.SelectMany(topology =>
                (Of(topology, null) with { IsListed = true, Listed = topologies }).WithTyped(parsed, options, topology.Text()))];
        Topology? only = topologies.Count == 1 ? topologies[0] : TopologyIn(parsed.GetValue(options.ClusterFolder));
        if (against is null)
            return Of(only, uri).WithTyped(parsed, options, null);
        return uri is null
            ? throw new UserException(
                ExitCode.WrongUsage, "--against names the second of two deployments, but the first is missing", "name it with --uri")
            : [.. Of(only, uri).WithTyped(parsed, options, null), .. Of(only, against).WithTyped(parsed, options, null)];
    }

    /// <summary>The same with each of the limits, and ways to connect, that were typed.</summary>
    /// <param name="parsed">The call.</param>
    /// <param name="options">The command's shared options.</param>
    /// <param name="name">
    /// What it is called beside them where there are several; null for nothing. One that is called by values of its own is
    /// called by the typed ones.
    /// </param>
    public IReadOnlyList<DeploymentChoice> WithTyped(ParseResult parsed, SharedOptions options, string? name)
    {
        Variation[] all =
        [
            Variation.OfMongods(parsed.GetValue(options.Mongod) ?? []),
            Variation.Of(parsed.GetValue(options.Limits.MemoryLimit), Settings.MemoryLimitBytes,
                (d, bytes) => d.With(s => s with { MemoryLimitBytes = bytes }), bytes => DeploymentText.Memory(bytes)),
            Variation.Of(parsed.GetValue(options.Limits.Cpus), Settings.Cpus, (d, count) => d.With(s => s with { Cpus = count }),
                count => DeploymentText.Cpus(count)),
            Variation.Of(
                parsed.GetValue(options.Security.Tls), Settings.Tls, (d, isOn) => d.With(s => s with { Tls = isOn }), DeploymentText.Tls),
            Variation.Of(parsed.GetValue(options.Security.Auth), Settings.Auth,
                (d, isOn) => d.With(s => s with { Auth = isOn }), DeploymentText.Auth),
            Variation.Of(parsed.GetValue(options.Engines), Engine, (d, engine) => d with { Engine = engine },
                engine => new EngineSettings(engine).Text),
        ];
        // A topology, or an address, needs no other name.
        bool isNamed = all.Any(variation => variation.Names);
        IReadOnlyList<(DeploymentChoice Deployment, IReadOnlyList<string> Parts)> made =
            [(this, name is null || all.Any(variation => variation.Replaces) ? [] : [name])];
        foreach (Variation variation in all.Where(variation => variation.Values.Count > 0))
            made = [.. made.SelectMany(one =>
                variation.Values.Select(value => (value.Change(one.Deployment), Append(one.Parts, variation.Names ? value.Text : null))))];
        bool isListed = IsListed || all.Any(variation => variation.Values.Count > 1);
        return [.. made.Select(one =>
            one.Deployment.With(s => isNamed ? s with { Name = string.Join(", ", one.Parts) } : s) with { IsListed = isListed })];

        static IReadOnlyList<string> Append(IReadOnlyList<string> parts, string? text) => text is null ? parts : [.. parts, text];
    }

    /// <summary>The same with what the other options say of it; those that can't go together are refused.</summary>
    /// <param name="parsed">The call.</param>
    /// <param name="options">The command's shared options.</param>
    /// <param name="isSharded">A collection will be sharded.</param>
    /// <returns>The deployment as it is run: its topology is known, and its connection string masked in <see cref="Settings"/>.</returns>
    /// <exception cref="UserException">Options that contradict one another.</exception>
    public DeploymentChoice Complete(ParseResult parsed, SharedOptions options, bool isSharded)
    {
        // Of a list, what is for the cluster is not for the others.
        string? folder = IsBeside(Topology.Sharded) ? null : parsed.GetValue(options.ClusterFolder);
        DeploymentSettings cluster = options.Cluster.Apply(parsed, Settings);
        DeploymentSettings settings = Settings with
        {
            Topology = Settings.Topology ?? (isSharded ? Topology.Sharded : Topology.Standalone),
            ClusterFolder = folder is null ? null : Path.GetFullPath(folder),
            Shards = IsBeside(Topology.Sharded) ? null : cluster.Shards,
            ConfigServers = IsBeside(Topology.Sharded) ? null : cluster.ConfigServers,
            Members = IsBeside(Topology.Sharded, Topology.ReplicaSet) ? null : cluster.Members,
            Arbiter = IsBeside(Topology.Sharded, Topology.ReplicaSet) ? null : cluster.Arbiter,
            CacheBytes = parsed.GetValue(options.Cache) ?? Settings.CacheBytes,
            ServerApi = parsed.GetValue(options.ServerApi),
        };
        var check = new DeploymentCheck(parsed, options, settings);
        // What is typed wins over the environment.
        string? uri = Uri ?? (IsListed || check.StartsServer(Listed) ? null : UriVariable.Value);
        check.Run(uri, Listed);
        return this with { Uri = uri, Settings = settings with { Uri = uri is null ? null : DatabaseSystems.Of(uri).Mask(uri) } };
    }

    private static DeploymentChoice Of(Topology? topology, string? uri) =>
        new(new DeploymentSettings { Topology = topology }) { Uri = uri };

    private DeploymentChoice With(Func<DeploymentSettings, DeploymentSettings> change) => this with { Settings = change(Settings) };

    /// <summary>
    /// The topology in a folder that <c>--cluster</c> names; null where there is none, and for a cluster, which need not be told.
    /// </summary>
    private static Topology? TopologyIn(string? folder) =>
        folder is not null && ClusterPlan.Read(folder) is { IsReplicaSet: true } ? Topology.ReplicaSet : null;

    /// <summary>The values of one option, each of which makes a deployment.</summary>
    /// <param name="Values">What each is called and what it makes of a deployment; none when nothing was typed.</param>
    /// <param name="Replaces">The deployment had a value of its own.</param>
    private sealed record Variation(IReadOnlyList<(string Text, Func<DeploymentChoice, DeploymentChoice> Change)> Values, bool Replaces)
    {
        public bool Names => Replaces || Values.Count > 1;

        public static Variation OfMongods(IReadOnlyList<string> typed) => new(
            [.. DeploymentText.Mongods(typed).Zip(typed, static (text, path) =>
                (text, (Func<DeploymentChoice, DeploymentChoice>)(d => d.With(s => s with { MongodPath = path }))))],
            Replaces: false);

        public static Variation Of<T>(
            IReadOnlyList<T>? typed, T? own, Func<DeploymentChoice, T, DeploymentChoice> change, Func<T, string> text)
            where T : struct => new(
                [.. (typed ?? []).Select(value => (text(value), (Func<DeploymentChoice, DeploymentChoice>)(d => change(d, value))))],
                typed is not null && own is not null);
    }
}

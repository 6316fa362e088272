using System.CommandLine;
using MongoPerf.Deployments.Limits;
using MongoPerf.Options;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary>Options of a cluster started on this machine; made once per command.</summary>
internal sealed class ClusterOptions
{
    public Option<long?> Shards { get; } = OptionTypes.Make<long?>("--shards", null, "Number of shards of a started cluster [default: 3]",
        "COUNT", text => Quantities.ParseCount(text, 1, ClusterLimits.MostShards));

    public Option<long?> Members { get; } = OptionTypes.Make<long?>("--members", null,
        "Members per shard, or of the replica set, 1 to 3 [default: 1 per shard, 3 of a replica set]", "COUNT",
        text => Quantities.ParseCount(text, 1, ClusterLimits.MostMembers));

    public Option<long?> ConfigServers { get; } = OptionTypes.Make<long?>(
        "--config-servers", null, "Config servers of a started cluster, 1 to 3 [default: 1]", "COUNT",
        text => Quantities.ParseCount(text, 1, ClusterLimits.MostConfigServers));

    public Option<bool> Arbiter { get; } = new(
        "--arbiter") { Description = "Add an arbiter to each shard, or to the replica set, of 2 members" };

    /// <summary>All of them, in the order of help.</summary>
    public IReadOnlyList<Option> All => [Shards, Members, ConfigServers, Arbiter];

    /// <summary>The options that were given.</summary>
    public IEnumerable<Option> Typed(ParseResult parsed) => All.Where(parsed.HasTyped);

    /// <summary>It is for a replica set without shards, or for a cluster alone.</summary>
    public bool IsForShardsOnly(Option option) => option == Shards || option == ConfigServers;

    /// <summary>What was given of a cluster wins over what a scenario, or nobody, said.</summary>
    public DeploymentSettings Apply(ParseResult parsed, DeploymentSettings settings) => settings with
    {
        Shards = (int?)parsed.GetValue(Shards) ?? settings.Shards,
        Members = (int?)parsed.GetValue(Members) ?? settings.Members,
        ConfigServers = (int?)parsed.GetValue(ConfigServers) ?? settings.ConfigServers,
        Arbiter = parsed.GetValue(Arbiter) ? true : settings.Arbiter,
    };
}

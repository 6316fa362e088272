using System.CommandLine;
using MongoPerf.Deployments.Limits;
using MongoPerf.Input;

namespace MongoPerf.Cli;

/// <summary>Options of a cluster started on this machine; made once per command.</summary>
internal sealed class ClusterOptions
{
    public Option<long?> Shards { get; } = OptionTypes.Make<long?>("--shards", null, "Number of shards of a started cluster [default: 3]", "COUNT", text => SharedOptions.Bounded(Quantities.ParseCount(text), ClusterLimits.MostShards));

    public Option<long?> Members { get; } = OptionTypes.Make<long?>("--members", null, "Members per shard, or of the replica set, 1 to 3 [default: 1 per shard, 3 of a replica set]", "COUNT", text => SharedOptions.Bounded(Quantities.ParseCount(text), ClusterLimits.MostMembers));

    /// <summary>The options that were given.</summary>
    public IEnumerable<Option> Typed(ParseResult parsed) => new Option[] { Shards, Members }.Where(parsed.HasTyped);
}

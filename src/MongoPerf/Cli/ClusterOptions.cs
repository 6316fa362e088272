using System.CommandLine;
using System.CommandLine.Parsing;
using MongoPerf.Deployments.Clusters;

namespace MongoPerf.Cli;

/// <summary>What a cluster that is started on this machine is to be, each option made once per command.</summary>
internal sealed class ClusterOptions
{
    public Option<long?> Shards { get; } = OptionTypes.Make<long?>("--shards", null, "Shards of a cluster that is started [default: 3]", "COUNT", text => SharedOptions.Bounded(Quantities.ParseCount(text), ClusterRequest.MostShards));

    public Option<long?> Members { get; } = OptionTypes.Make<long?>("--members", null, "Members of each shard's replica set, 1 to 3 [default: 1]", "COUNT", text => SharedOptions.Bounded(Quantities.ParseCount(text), ClusterRequest.MostMembers));

    /// <summary>Those that were typed.</summary>
    public IEnumerable<Option> Typed(ParseResult parsed) => new Option[] { Shards, Members }.Where(option => parsed.GetResult(option) is { Implicit: false });

    public ClusterRequest Read(ParseResult parsed) => new()
    {
        Shards = (int?)parsed.GetValue(Shards),
        Members = (int?)parsed.GetValue(Members),
    };
}

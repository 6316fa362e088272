using System.CommandLine;
using MongoPerf.Deployments.Limits;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary>Limits of started servers; the options are made once per command.</summary>
internal sealed class LimitOptions
{
    /// <summary>Bytes; 0 for none.</summary>
    public Option<IReadOnlyList<long>?> MemoryLimit { get; } = OptionTypes.List(
        "--memory-limit", "Memory limit (cgroup, page cache included) of a started server, or of each member of a replica set or shard; "
            + "or 'none'; a list compares them [default: none; for shards with --cache: the cache plus a quarter of it, "
            + "or plus 1GB if that is more]",
        "SIZE[,SIZE…]", text => text == "none" ? 0 : Quantities.ParseRoom(text)).Suggesting("none");

    public Option<IReadOnlyList<int>?> Cpus { get; } = OptionTypes.List(
        "--cpus", "Number of CPUs a started server may use, or each member of a replica set or shard; a list compares them [default: all]",
        "N[,N…]", text => (int)Quantities.ParseCount(text, 1, ClusterLimits.MostCpus));

    /// <summary>The options of a command that starts one deployment.</summary>
    /// <exception cref="UserException">A list.</exception>
    public (long? MemoryBytes, int? Cpus) ReadOne(ParseResult parsed)
    {
        IReadOnlyList<long> memory = parsed.GetValue(MemoryLimit) ?? [];
        IReadOnlyList<int> cpus = parsed.GetValue(Cpus) ?? [];
        if (memory.Count > 1 || cpus.Count > 1)
            throw new UserException(
                ExitCode.WrongUsage,
                $"{(memory.Count > 1 ? MemoryLimit.Name : Cpus.Name)} is a list; 'cluster start' takes one value",
                "'run' and 'series' can compare several");
        return (memory.Count == 1 ? memory[0] : null, cpus.Count == 1 ? cpus[0] : null);
    }
}

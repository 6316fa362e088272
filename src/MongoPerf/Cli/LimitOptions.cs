using System.CommandLine;

namespace MongoPerf.Cli;

/// <summary>What servers that are started may use of this machine, each option made once per command.</summary>
internal sealed class LimitOptions
{
    private const int MostCpus = 4096;

    /// <summary>Bytes; 0 for none.</summary>
    public Option<IReadOnlyList<long>?> MemoryLimit { get; } = OptionTypes.List(
        "--memory-limit", "Limit by the system (cgroup) of the memory of a server that is started, of a cluster of each member of a shard, page cache included; or 'none'; a list compares [default: none; on shards with --cache a quarter above it, 1GB at least]",
        "SIZE[,SIZE…]", text => text == "none" ? 0 : Quantities.ParseSize(text));

    public Option<IReadOnlyList<int>?> Cpus { get; } = OptionTypes.List(
        "--cpus", "How many of this machine's CPUs a server that is started may use, of a cluster each member of a shard; a list compares [default: all]",
        "N[,N…]", text => (int)SharedOptions.Bounded(Quantities.ParseCount(text), MostCpus));

    /// <summary>For a command that starts one deployment.</summary>
    /// <exception cref="UserException">A list.</exception>
    public (long? MemoryBytes, int? Cpus) ReadOne(ParseResult parsed)
    {
        IReadOnlyList<long> memory = parsed.GetValue(MemoryLimit) ?? [];
        IReadOnlyList<int> cpus = parsed.GetValue(Cpus) ?? [];
        if (memory.Count > 1 || cpus.Count > 1)
            throw new UserException(ExitCode.WrongUsage, $"{(memory.Count > 1 ? MemoryLimit.Name : Cpus.Name)} is a list: one cluster is started, with one value", "'run' and 'series' compare several");
        return (memory.Count == 1 ? memory[0] : null, cpus.Count == 1 ? cpus[0] : null);
    }
}

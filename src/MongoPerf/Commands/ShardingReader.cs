using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>Reads the options that say how a collection is sharded.</summary>
internal static class ShardingReader
{
    /// <param name="parsed">The call.</param>
    /// <param name="options">The command's shared options.</param>
    /// <param name="usual">Used where no option was given.</param>
    /// <param name="deployment">Which one it is.</param>
    /// <returns>Null when nothing is sharded.</returns>
    /// <exception cref="UserException">An option for shards, and no shards.</exception>
    public static ShardingSettings? Read(ParseResult parsed, SharedOptions options, ShardingSettings? usual, DeploymentChoice deployment)
    {
        Option[] all = [options.ShardKey, options.Presplit, options.ChunkSize, options.Balancer, options.Preset];
        string? given = all.FirstOrDefault(option => parsed.GetResult(option) is not null)?.Name;
        Topology? topology = deployment.Settings.Topology;
        // A deployment that is named has a topology of its own: whether that of --uri is sharded is found out when it is asked.
        bool isNamed = parsed.GetValue(options.ClusterFolder) is not null || (given is not null && deployment.Uri is not null);
        bool isSharded = topology == Topology.Sharded || (topology is null && isNamed);
        if (!isSharded)
        {
            return given is null || deployment.IsBeside(Topology.Sharded)
                ? null
                : throw new UserException(ExitCode.WrongUsage, $"{given} only applies to a sharded collection",
                    "--topology sharded creates one");
        }

        bool isOriginal = parsed.GetValue(options.Preset) is not null;
        return new ShardingSettings
        {
            ShardKey = parsed.GetValue(options.ShardKey) ?? (isOriginal ? "_id" : usual?.ShardKey),
            Presplit = parsed.GetValue(options.Presplit),
            ChunkMegabytes = parsed.GetValue(options.ChunkSize),
            Balancer = parsed.GetValue(options.Balancer) ?? (isOriginal ? "on" : null),
        };
    }
}

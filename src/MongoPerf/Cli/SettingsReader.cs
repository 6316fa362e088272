using System.CommandLine;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Execution.Sharding;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Reporting.Comparison;

namespace MongoPerf.Cli;

/// <summary>Makes settings out of what was typed and what is usual.</summary>
internal static class SettingsReader
{
    private const string DefaultName = "mongoperf";
    public const ulong DefaultSeed = 42;

    /// <summary>A request for each deployment that was named; they differ in nothing else.</summary>
    /// <param name="kind">"series", "run" or "scenario".</param>
    /// <param name="parsed">The call.</param>
    /// <param name="options">The command's shared options.</param>
    /// <param name="shape">What the command itself decides.</param>
    /// <param name="deployments">Null for those of the options.</param>
    public static IReadOnlyList<RunRequest> ReadAll(string kind, ParseResult parsed, SharedOptions options, SeriesSettings shape, IReadOnlyList<NamedDeployment>? deployments = null) =>
        [.. (deployments ?? NamedDeployment.OfOptions(parsed, options)).Select(deployment => Read(kind, parsed, options, shape, deployment))];

    /// <summary>What <c>--repeat</c> asks for.</summary>
    /// <exception cref="UserException">Too few to compare deployments run by run.</exception>
    public static int Repeats(ParseResult parsed, SharedOptions options, int deployments)
    {
        int repeats = (int)(parsed.GetValue(options.Repeat) ?? 1);
        return deployments > 1 && repeats is > 1 and < TestJudge.LeastRuns
            ? throw new UserException(ExitCode.WrongUsage, $"--repeat is {repeats}: deployments are compared run by run from {TestJudge.LeastRuns} repeats on, or by their samples without any")
            : repeats;
    }

    private static RunRequest Read(string kind, ParseResult parsed, SharedOptions options, SeriesSettings shape, NamedDeployment deployment)
    {
        ShardingSettings? sharding = ShardingReader.Read(parsed, options, shape.Sharding, deployment);
        ServerChoice server = ServerChoice.Read(parsed, options, isSharded: sharding is not null, deployment);
        string database = Names.Database(parsed.GetValue(options.Database) ?? DefaultName);
        SeriesSettings settings = shape with
        {
            BatchSize = (int)(parsed.GetValue(options.Batch) ?? 1000),
            Threads = parsed.GetValue(options.Threads) ?? shape.Threads,
            Journal = parsed.GetValue(options.Journal),
            OrderedBatches = parsed.GetValue(options.Ordered) is { } ordered ? ordered == "true" : server.Topology != "sharded" || parsed.GetValue(options.Preset) is not null,
            // The null deployment's answers are samples, not what was asked for.
            VerifyShare = server.Topology == "null" ? 0 : SharedOptions.ParseShare(parsed.GetValue(options.Verify) ?? "1%"),
            MaxErrors = parsed.GetValue(options.MaxErrors) ?? 0,
            Compressibility = (int)(parsed.GetValue(options.Compressibility) ?? 0),
            Rate = parsed.GetValue(options.Rate),
            Database = database,
            Collection = Names.Collection(parsed.GetValue(options.Collection) ?? "series", database),
            Topology = server.Topology,
            Cluster = server.Cluster,
            Sharding = sharding,
            Uri = server.Uri is null ? null : ServerUri.Mask(server.Uri),
            MongodPath = parsed.GetValue(options.Mongod),
            CacheBytes = server.CacheBytes,
            MemoryLimitBytes = deployment.MemoryLimitBytes,
            Cpus = deployment.Cpus,
        };
        return new RunRequest
        {
            Kind = kind,
            Settings = settings,
            Seed = parsed.GetValue(options.Seed) ?? DefaultSeed,
            SeedWasGiven = parsed.GetValue(options.Seed) is not null,
            CommandLine = CommandLine.Mask(parsed.Tokens.Select(t => t.Value)),
            DeploymentName = deployment.Name,
            Uri = server.Uri,
            ForceDrop = parsed.GetValue(options.ForceDrop),
            Output = new OutputRequest(RunsFolder(parsed, options.Out), "text", parsed.GetValue(options.Quiet), parsed.GetValue(options.NoTui)),
        };
    }

    public static string RunsFolder(ParseResult parsed, Option<string?> option) => parsed.GetValue(option) ?? "runs";

    /// <summary>A start for <see cref="ReadAll"/>: what holds when nothing else was asked for.</summary>
    public static SeriesSettings Shape(long target, IReadOnlyList<string> tests) => new()
    {
        TargetDocumentCount = target,
        StepDocumentCount = SeriesSchedule.DefaultStep(target),
        Shares = SeriesSchedule.DefaultShares(target),
        Tests = tests,
        BatchSize = 1000,
        Threads = [8],
        WindowSeconds = SeriesSchedule.DefaultWindow(target),
        WarmupSeconds = SeriesSchedule.DefaultWindow(target) / 4,
        Journal = false,
        OrderedBatches = true,
        DocumentSchema = DocumentGenerator.SchemaVersion,
        VerifyShare = 0.01,
        MaxErrors = 0,
        Database = DefaultName,
        Collection = "series",
        Topology = "single",
        Sharding = new ShardingSettings { ShardKey = ShardKey.HashedId },
    };

    /// <summary>Adds the options that every measuring command takes.</summary>
    public static void AddTo(Command command, SharedOptions options)
    {
        Option[] all =
        [
            options.Uri, options.Database, options.Collection, options.Mongod, options.Cache, options.Topology, options.Against, options.Repeat,
            options.Cluster.Shards, options.Cluster.Members, options.ClusterFolder, options.Limits.MemoryLimit, options.Limits.Cpus, options.Threads, options.Batch, options.Rate,
            options.ShardKey, options.Presplit, options.ChunkSize, options.Balancer, options.Preset,
            options.Seed, options.Journal, options.Ordered, options.Verify, options.MaxErrors, options.Compressibility, options.ForceDrop,
            options.Out, options.Quiet, options.NoTui,
        ];
        foreach (Option option in all)
            command.Options.Add(option);
    }
}

using System.CommandLine;
using MongoPerf.Commands.Results;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Options;
using MongoPerf.Platforms;
using MongoPerf.Reports.Comparison;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Running.Systems;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>Makes requests out of a scenario and what was typed: one for each deployment.</summary>
/// <param name="parsed">The call.</param>
/// <param name="options">The command's shared options.</param>
/// <param name="file">The scenario's.</param>
/// <param name="overrides">What the command line puts in place of the file's values.</param>
internal sealed class PlanRequests(ParseResult parsed, SharedOptions options, ScenarioFile file, PlanOverrides overrides)
{
    public const ulong DefaultSeed = 42;
    public const string DefaultDatabase = "mongoperf";

    /// <summary>What is printed at the end.</summary>
    public string Format { get; init; } = "text";

    /// <summary>The collections must exist; none is created or dropped.</summary>
    public bool IsExisting { get; init; }

    /// <summary>The database of a collection that was named with it; null for the one of <c>--db</c>.</summary>
    public string? ExistingDatabase { get; init; }

    /// <summary>Don't list what the command line changed: the command's own options say it.</summary>
    public bool HidesChanges { get; init; }

    private ulong Seed => parsed.GetValue(options.Seed) ?? DefaultSeed;

    /// <param name="picked">The value of <c>--deployment</c>; null for all of the scenario's.</param>
    /// <exception cref="UserException">The file is wrong, or options contradict it or one another.</exception>
    public IReadOnlyList<RunRequest> Read(string? picked = null)
    {
        ReadPlan read = PlanReader.Read(file, overrides, Seed);
        var deployments = new ScenarioDeployments(parsed, options, picked);
        IReadOnlyList<ScenarioDeployment> chosen = deployments.Choose(read.Deployments, Console.Error.WriteLine);
        IReadOnlyList<RunRequest> requests = chosen.Count == 0
            ? [.. DeploymentChoice.OfOptions(parsed, options).Select(deployment => Make(read, deployment))]
            : [.. chosen.SelectMany(one => deployments.Named(one, [.. chosen.Select(d => d.Settings.Topology!.Value)])
                .Select(named => Make(PlanReader.Read(file, overrides, Seed, one), named)))];
        foreach (RunRequest request in requests)
            WritePermission.Require(request);
        return requests;
    }

    /// <summary>Reads for a deployment that no option names.</summary>
    public RunRequest ReadOn(Topology topology) =>
        Make(PlanReader.Read(file, overrides, Seed), new DeploymentChoice(new DeploymentSettings { Topology = topology }));

    /// <summary>What <c>--repeat</c> asks for.</summary>
    /// <exception cref="UserException">Too few to compare deployments run by run.</exception>
    public static int Repeats(ParseResult parsed, SharedOptions options, int deployments)
    {
        int repeats = (int)(parsed.GetValue(options.Repeat) ?? 1);
        return deployments > 1 && repeats is > 1 and < OperationComparer.LeastRuns
            ? throw new UserException(ExitCode.WrongUsage, $"--repeat is {repeats}; comparing deployments run by run takes "
                + $"{OperationComparer.LeastRuns} or more (without --repeat they are compared by their samples)")
            : repeats;
    }

    /// <summary>0 for a free one, null without <c>--live</c>.</summary>
    public static int? LivePort(ParseResult parsed, SharedOptions options) => (int?)parsed.GetValue(options.Live);

    public static string RunsFolder(ParseResult parsed, Option<string?> option) =>
        parsed.GetValue(option) ?? Running.Configuration.Settings.Current.Runs;

    /// <summary>The name of the theme that is typed or configured.</summary>
    public static string Theme(ParseResult parsed, Option<string?> option) =>
        parsed.GetValue(option) ?? Running.Configuration.Settings.Current.Theme;

    /// <exception cref="UserException">The user's own plots are wrong, or there is no report to draw them in.</exception>
    public static OutputRequest OutputOf(ParseResult parsed, SharedOptions options, string format)
    {
        string? plots = parsed.GetValue(options.Plots);
        bool writesReport = !parsed.GetValue(options.NoReport);
        if (plots is not null && !writesReport)
            throw new UserException(
                ExitCode.WrongUsage, "--plots says what reports draw, and --no-report writes none", "omit one of them");
        return new OutputRequest(
            RunsFolder(parsed, options.Out), format, parsed.GetValue(options.Quiet), parsed.GetValue(options.NoTui),
            new ResultPrinter(plots))
        {
            WritesReport = writesReport,
            LivePort = LivePort(parsed, options),
            MetricsReceiver = parsed.GetValue(options.Otlp),
            IsFull = parsed.GetValue(options.Full),
        };
    }

    /// <summary>Null where no user of the shards is named.</summary>
    /// <exception cref="UserException">Only the file of the password is, or there is no mongos with shards behind it.</exception>
    public static ShardLogin? ReadShardLogin(ParseResult parsed, SharedOptions options, string? uri)
    {
        string? user = parsed.GetValue(options.ShardUser);
        string? file = parsed.GetValue(options.ShardPasswordFile);
        if (user is null)
            return file is null ? null
                : throw new UserException(
                    ExitCode.WrongUsage, $"{ShardLogin.FileOption} needs the user whose password it holds", "name it with --shard-user");
        return uri is not null ? new ShardLogin(user, file)
            : throw new UserException(
                ExitCode.WrongUsage, "--shard-user only applies to the shards behind a mongos", "name the mongos with --uri");
    }

    private RunRequest Make(ReadPlan read, DeploymentChoice choice)
    {
        // A collection that must be there has a key already.
        ShardingSettings? sharding = ShardingReader.Read(
            parsed, options, new ShardingSettings { ShardKey = IsExisting ? null : ShardKey.HashedId }, choice);
        DeploymentChoice deployment = choice.Complete(parsed, options, isSharded: sharding is not null);
        ScenarioDeployment? on = deployment.Scenario;
        PlanOverrides mine = overrides;
        ReadPlan plan = read;
        if (file.Name == SeriesScenario.Name
            && SeriesScenario.Parameters(overrides, deployment, parsed.GetValue(options.Preset) is not null) is { Count: > 0 } own)
        {
            mine = overrides with { Parameters = new Dictionary<string, string>([.. overrides.Parameters, .. own]) };
            plan = PlanReader.Read(file, mine, Seed, on);
            plan = plan with { Set = [.. plan.Set, .. own.Select(parameter => $"{parameter.Key}: {parameter.Value}")] };
        }

        RequireRestarts(plan.Plan, deployment);
        if (plan.Plan.IsOnExistingData)
            sharding = RequireGiven(plan.Plan, deployment, sharding);
        if (sharding is { ShardKey: { } key })
            ShardLimits.Require(plan.Plan.Rounds, ShardKey.Parse(key));
        plan = ShardedWrites.Of(plan, sharding?.ShardKey);
        return new RunRequest
        {
            Settings = new RunSettings
            {
                Deployment = deployment.Settings,
                Engine = new EngineSettings(deployment.Engine ?? EngineKind.Wire),
                Data = new DataSettings
                {
                    Database = ExistingDatabase ?? Names.Database(parsed.GetValue(options.Database) ?? DefaultDatabase),
                    Sharding = sharding,
                    IsExisting = IsExisting || plan.Plan.IsOnExistingData,
                },
                Plan = Describe(plan, mine, on),
            },
            Plan = HidesChanges ? plan with { Changes = [] } : plan,
            ReadPlan = seed => ShardedWrites.Of(PlanReader.Read(file, mine, seed, on), sharding?.ShardKey),
            Seed = Seed,
            DatabaseWasGiven = ExistingDatabase is not null || parsed.GetValue(options.Database) is not null,
            SeedWasGiven = parsed.GetValue(options.Seed) is not null,
            CommandLine = Masking.MaskCall(parsed.Tokens.Select(t => t.Value)),
            Uri = deployment.Uri,
            PasswordFile = parsed.GetValue(options.PasswordFile),
            ShardLogin = ReadShardLogin(parsed, options, deployment.Uri),
            ForceDrop = parsed.GetValue(options.ForceDrop),
            MayWrite = MayWriteOption.Read(parsed, options),
            Files = file.Data,
            Output = OutputOf(parsed, options, Format),
        };
    }

    private PlanSettings Describe(ReadPlan read, PlanOverrides mine, ScenarioDeployment? on) => new()
    {
        Name = file.Name,
        Description = read.Plan.Description,
        Path = file.ShownPath,
        Text = file.Text,
        Overrides = mine,
        Changes = HidesChanges ? [] : read.Changes,
        Deployment = on?.Settings.Name,
        Set = read.Set,
        Parameters = read.Parameters,
        TargetDocuments = read.Plan.TargetDocuments,
        VerifyShare = parsed.GetValue(options.Verify) ?? 0.01,
        MaxErrors = parsed.GetValue(options.MaxErrors) ?? read.MaxErrors ?? 0,
        AwaitsReplication = parsed.GetValue(options.AwaitReplication),
        MaxSkipped = parsed.GetValue(options.MaxSkipped) ?? read.MaxSkipped ?? new SkipLimit(0, 0),
        Figures = read.Figures,
        Tables = read.Tables,
    };

    /// <summary>Existing data are on a deployment that is there, and lie on it as they do.</summary>
    /// <returns>Null: nothing is sharded.</returns>
    private ShardingSettings? RequireGiven(Plan plan, DeploymentChoice deployment, ShardingSettings? sharding)
    {
        string name = plan.Collections.First(collection => collection.IsExisting).Name;
        if (deployment.Uri is null && deployment.Settings.ClusterFolder is null)
            throw new UserException(ExitCode.WrongUsage, $"'{name}' is existing data, but the server that this run would start has none",
                "name the deployment that holds it with --uri");
        if (deployment.Uri is { } uri && DatabaseSystems.Of(uri) is { HasMarkers: false } system)
            throw new UserException(
                ExitCode.WrongUsage, $"'{name}' is existing data, which are read on MongoDB only, not on {system.Name}");
        return options.TypedChange(parsed) is { } given
            ? throw new UserException(ExitCode.WrongUsage, $"{given.Name} would change the deployment, but '{name}' is only read",
                $"omit {given.Name}")
            : null;
    }

    /// <summary>Only a single server that the run starts itself can be stopped and started again.</summary>
    private static void RequireRestarts(Plan plan, DeploymentChoice deployment)
    {
        IEnumerable<Phase> phases = plan.Phases.SelectMany(p => p.Growth?.Each ?? [p]);
        if (phases.FirstOrDefault(p => p.Restart != ServerRestart.None) is not { } phase)
            return;
        string? wrong = deployment.Uri is not null ? "the server named by --uri (or MONGOPERF_URI) is not the run's to stop"
            : deployment.Settings.Topology == Topology.Sharded ? "a cluster has several servers, and none is restarted alone"
            : deployment.Settings.Topology == Topology.ReplicaSet ? "a replica set has several servers, and none is restarted alone"
            : deployment.Settings.Topology == Topology.Null ? "the null deployment stores nothing and has nothing to recover"
            : phase.Restart != ServerRestart.Kill ? Platform.Refusal("stopping a server cleanly, to start it again,")
            : null;
        if (wrong is not null)
            throw new UserException(ExitCode.WrongUsage, $"phase '{phase.Name}': restart: {wrong}",
                "let the run start its own server (--mongod), or remove restart from the file (--set, if it is a parameter)");
    }
}

using MongoPerf.Load.Plans;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Running.Systems;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Agents;

/// <summary>What <c>agent</c> was called with.</summary>
/// <param name="Coordinator">Connection string.</param>
/// <param name="Name">The name of this agent.</param>
/// <param name="Number">The only part that it takes; null for any.</param>
/// <param name="Uri">The connection string of the deployment, with its secrets; null takes the plan's, or the environment's.</param>
/// <param name="PasswordFile">The file with the password of the deployment's user.</param>
/// <param name="MayWrite">What a plan may write although its run does not create it: the coordinator's word is not enough.</param>
/// <param name="WaitSeconds">How many seconds a plan is waited for.</param>
/// <param name="Stays">It takes another plan when one is done.</param>
/// <param name="CommandLine">The command line as typed, secrets masked.</param>
/// <param name="Output">Where the run goes.</param>
public sealed record AgentRequest(
    string Coordinator, string Name, int? Number, string? Uri, string? PasswordFile, IReadOnlyList<string> MayWrite, double WaitSeconds,
    bool Stays, string CommandLine, OutputRequest Output)
{
    /// <summary>A user of the shards' own; null for none.</summary>
    public ShardLogin? ShardLogin { get; init; }

    /// <summary>Where a plan finds files of this machine: nowhere, unless its user says so.</summary>
    public FilesFolder Files { get; init; } = FilesFolder.None;

    /// <summary>
    /// What is to be run for a part of a plan: the coordinator's word starts no server and names no file or program of this machine.
    /// An engine that it has is the caller's to dispose of.
    /// </summary>
    /// <exception cref="UserException">The plan asks for more.</exception>
    public RunRequest ForPart(AgentClaim claim, IAgentRole role)
    {
        RunSettings settings = claim.Settings;
        if (settings.Deployment is not { Uri: { } stored, ClusterFolder: null, MongodPath: null, Auth: null, Tls: null,
            MemoryLimitBytes: null, Cpus: null, CacheBytes: null } || settings.Engine.Kind != EngineKind.Wire)
            throw new UserException(ExitCode.Refused, "the plan asks for more than putting load on an existing deployment",
                "agents start no servers and build no other clients");
        string uri = ConnectionSecrets.Choose(Uri, stored, UriVariable.Value);
        if (uri == stored && Uri is null)
            RequireHarmless(ServerUri.Parse(stored));
        ReplayScript? replayed = settings.Plan.Recording is null ? null : RecordedPlan.ReadPart(settings.Plan, claim.Part, Files);
        try
        {
            return ForPart(claim, role, uri, replayed);
        }
        catch
        {
            replayed?.Recording.Dispose();
            throw;
        }
    }

    /// <param name="claim">What is run.</param>
    /// <param name="role">The agent's.</param>
    /// <param name="uri">Of the deployment.</param>
    /// <param name="replayed">What of a recording; null where it replays none.</param>
    private RunRequest ForPart(AgentClaim claim, IAgentRole role, string uri, ReplayScript? replayed)
    {
        RunSettings settings = claim.Settings;
        if (replayed is null)
            Names.Database(settings.Data.Database);
        ReadPlan plan = replayed is null ? StoredPlan.Read(settings, claim.Seed, Files)
            : RecordedPlan.Of(settings.Plan.Name, settings.Plan.Description, replayed);
        if (PlanDivision.FindFault(plan.Plan, claim.Part.Count) is { } fault)
            throw new UserException(ExitCode.WrongUsage, fault);
        var request = new RunRequest
        {
            // Which databases it uses, a recording says itself.
            Settings = replayed is null ? settings : settings with { Data = RecordedPlan.DataOf(replayed) },
            Plan = plan with { Changes = settings.Plan.Changes, Set = settings.Plan.Set },
            ReadPlan = seed => replayed is null ? StoredPlan.Read(settings, seed, Files) : plan,
            Engine = replayed is null ? null : new ReplayEngine(replayed),
            ReplayedWrites = replayed?.Writes ?? [],
            ReplayedCollections = replayed?.Collections,
            Seed = claim.Seed,
            SeedWasGiven = true,
            CommandLine = CommandLine,
            Uri = uri,
            PasswordFile = PasswordFile,
            ShardLogin = ShardLogin,
            MayWrite = MayWrite,
            Files = Files,
            Agent = role,
            Output = Output with { PrintsResult = false },
        };
        return RunRequest.WithLive(ConnectionSecrets.Complete([request]))[0];
    }

    /// <summary>
    /// Whoever may write to the coordinator chooses the host, which must get no file of this machine and no password as it is.
    /// </summary>
    private static void RequireHarmless(ConnectionString offered)
    {
        string? option = offered.TlsCAFile is not null ? "tlsCAFile" : offered.TlsCertificateKeyFile is not null ? "tlsCertificateKeyFile"
            : offered.AuthMechanism == "PLAIN" ? "authMechanism=PLAIN" : null;
        if (option is not null)
            throw new UserException(
                ExitCode.Refused,
                $"the plan's connection string has {option}: "
                + "an agent opens no file and sends no plain-text password on a coordinator's request",
                "name the deployment to the agent itself, with --uri or MONGOPERF_URI");
    }
}

using MongoPerf.Deployments;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>The deployment that a run is on: found or started, and looked at.</summary>
/// <param name="Deployment">Running.</param>
/// <param name="Inspection">What its servers said.</param>
/// <param name="Connections">How clients connect.</param>
public sealed record RunDeployment(IDeployment Deployment, Inspection Inspection, ConnectionSettings Connections)
{
    /// <summary>Note of a stored run: full path of the mongod that it started.</summary>
    public const string ProgramNote = "server program";

    /// <summary>Note of a stored run: the kind of server that it chose, written before the server is started.</summary>
    public const string KindNote = "server kind";

    /// <summary>Starts or finds the server and asks it what it is.</summary>
    /// <param name="folder">The run's folder.</param>
    /// <param name="request">What to run.</param>
    /// <param name="store">
    /// Notes which server a new run chose before that is started, so that a run which is killed meanwhile continues on the same.
    /// </param>
    /// <param name="stop">Ends every wait for a server.</param>
    /// <exception cref="UserException">The plan does not fit the deployment.</exception>
    /// <exception cref="DeploymentException">It can't be started or found.</exception>
    public static RunDeployment Open(RunFolder folder, RunRequest request, RunStore store, CancellationToken stop)
    {
        DeploymentRequest wanted = Describe(folder, request, stop);
        IDeployment? kept = request.Server?.Deployment;
        IDeployment? deployment = null;
        try
        {
            // Data in another run's folder go with the server.
            if (kept is not null)
                store.SetNote(StoredRun.DeletedNote, DateTimeOffset.UtcNow.ToString("O"));
            else if (request.StartsServer)
                new RunDataFolder(folder.Path, store.Token).Claim();
            deployment = kept ?? request.System.Open(wanted);
            if (request.RequiredKind is null)
                Note(store, deployment);
            deployment.EnsureRunning();
            return Inspect(deployment, request, deployment.Connections is { } own
                ? own with { Stop = stop, ServerApi = wanted.Connections.ServerApi } : wanted.Connections);
        }
        catch
        {
            if (kept is null)
                deployment?.Dispose();
            throw;
        }
    }

    /// <summary>Stores which server a run is on.</summary>
    public static void Note(RunStore store, IDeployment deployment)
    {
        store.SetNote(KindNote, deployment.Kind.ToString());
        if (deployment.Program is { } program)
            store.SetNote(ProgramNote, program);
    }

    private static DeploymentRequest Describe(RunFolder folder, RunRequest request, CancellationToken stop)
    {
        (IReadOnlyList<ServerAddress>? hosts, ConnectionSettings connections) = request.Uri is { } uri
            ? request.System.Read(uri, request.Settings.Engine.Kind, stop)
            : (null, ConnectionSettings.Default);
        if (hosts is not null && !request.DatabaseWasGiven
            && request.System.UnusedDatabase(request.Uri!, request.Settings.Data.Database) is { } unused)
            Console.Error.WriteLine($"warning: --uri: {unused}");
        return new DeploymentRequest
        {
            Settings = request.Settings.Deployment,
            Hosts = hosts,
            Connections = ServerUri.WithServerApi(connections, request.Settings.Deployment) with
            {
                Stop = stop, ShardCredential = request.ShardLogin?.Credential,
            },
            RequiredKind = request.RequiredKind,
            ServerProgram = request.ServerProgram,
            DataFolder = folder.DataPath,
            RunFolder = folder.Path,
            FilesFolder = request.Files.FullPath,
        };
    }

    private static RunDeployment Inspect(IDeployment deployment, RunRequest request, ConnectionSettings connections)
    {
        DeploymentFit.RequireTopology(deployment, request.Settings);
        if (request.ShardLogin is not null && deployment.Cluster is null)
            throw new UserException(
                ExitCode.WrongUsage, $"{deployment.Address} has no shards that --shard-user could read", "omit --shard-user");
        DeploymentFit.RequireMembers(deployment, request.Plan.Plan, connections);
        connections = connections with { Dialect = deployment.Cluster?.Dialect ?? connections.Dialect };
        DeploymentFit.RequireRouter(request, connections.Dialect);
        Inspection inspection = request.System.Inspect(
            deployment, connections, $"{request.Settings.Data.Database}.{request.Plan.Plan.MainCollection ?? "*"}");
        DeploymentFit.RequireMongoDb(request, inspection.Info.NotMongoDb);
        DeploymentFit.RequireJournal(deployment, inspection, request.Settings);
        return new RunDeployment(deployment, inspection, connections);
    }
}

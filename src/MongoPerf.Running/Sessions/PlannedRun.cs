using MongoPerf.Deployments;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Running.Sessions;

/// <summary>Refuses what a run would refuse, as far as it can be known while nothing is started and no server is asked.</summary>
public static class PlannedRun
{
    /// <summary>Checks one of several runs before the first of them begins.</summary>
    /// <param name="request">The run; secrets of its connection string need not be there.</param>
    /// <exception cref="UserException">The plan does not fit the deployment.</exception>
    /// <exception cref="DeploymentException">A server would not start, or its disk is too small.</exception>
    public static void Check(RunRequest request) =>
        Check(request, request.Uri is { } uri ? request.System.HostsOf(uri) : null);

    /// <inheritdoc cref="Check(RunRequest)"/>
    /// <param name="request">The run.</param>
    /// <param name="hosts">The servers that its connection string names; null for none.</param>
    /// <returns>False where only the server can tell the rest.</returns>
    internal static bool Check(RunRequest request, IReadOnlyList<ServerAddress>? hosts)
    {
        PlannedServer? planned = CheckServer(request, hosts);
        if (planned is not null)
            DataPreparation.CheckDisk(request, planned);
        return planned is not null || request.Settings.Deployment.Topology == Topology.Null;
    }

    /// <summary>Of one scenario's runs those that this machine can do. Somebody who installs what is lacking can do all of them.</summary>
    /// <param name="requests">One for each of the scenario's deployments.</param>
    /// <param name="tell">Gets two lines for each of the others.</param>
    /// <exception cref="MongoPerfException">It can do none of them: says why of the first.</exception>
    public static IReadOnlyList<RunRequest> Possible(IReadOnlyList<RunRequest> requests, Action<string> tell)
    {
        (RunRequest Request, MongoPerfException? Why)[] all = [.. requests.Select(request => (request, FindFault(request)))];
        if (all.All(one => one.Why is not null))
            throw all[0].Why!;
        foreach ((RunRequest request, MongoPerfException? why) in all)
        {
            if (why is not null)
                tell(CommandText.Typed($"deployment '{request.Settings.Deployment.Name}' is left out: {why.Message}"));
            if (why?.Hint is { } hint)
                tell(CommandText.Typed($"hint:  {hint}"));
        }

        return [.. all.Where(one => one.Why is null).Select(one => one.Request)];
    }

    private static MongoPerfException? FindFault(RunRequest request)
    {
        try
        {
            CheckServer(request, null);
            return null;
        }
        catch (MongoPerfException e)
        {
            return e;
        }
    }

    private static PlannedServer? CheckServer(RunRequest request, IReadOnlyList<ServerAddress>? hosts)
    {
        PlannedServer? planned = request.System.CheckOpen(new DeploymentRequest
        {
            Settings = request.Settings.Deployment,
            Hosts = hosts,
            DataFolder = Path.Combine(request.Output.RunsFolder, "dry-run", "data"),
        });
        if (planned is not null)
            DataPreparation.CheckServer(request, planned);
        DeploymentFit.RequireMongoDb(request, request.Settings.Deployment.Topology == Topology.Null ? "null deployment"
            : planned is { IsEmbedded: true } ? "embedded server, as no mongod is found" : null);
        return planned;
    }
}

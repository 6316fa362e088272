using MongoPerf.Deployments;
using MongoPerf.Running.Secrets;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Refuses what the runs themselves would refuse, as far as it can be known while nothing is started and no server is asked.
/// </summary>
public static class DryRun
{
    /// <param name="requests">The requests of one command.</param>
    /// <param name="tell">Gets what could not be checked, a line each.</param>
    /// <exception cref="UserException">A run would be refused.</exception>
    /// <exception cref="DeploymentException">A server would not start, or its disk is too small.</exception>
    public static void Check(IReadOnlyList<RunRequest> requests, Action<string> tell)
    {
        bool isAsked = false;
        // Nobody is asked for a password that nothing uses.
        requests = new ConnectionSecrets(requests[0].PasswordFile, _ =>
        {
            isAsked = true;
            return "unknown";
        }).CompleteAll(requests);
        requests = RunRequest.WithLive(requests);
        if (RequestedEngine.ThroughDriver(requests).Count > 0)
            tell("not checked, since MongoDB.Driver is loaded only when a run begins: whether it supports every operation");
        RequireFolder(requests[0].Output.RunsFolder);
        foreach (RunRequest request in requests)
        {
            ConnectionRoom.CheckClient(request);
            request.System.Check(request.Plan.Plan);
            IReadOnlyList<ServerAddress>? hosts = request.Uri is not { } uri ? null
                : isAsked ? request.System.HostsOf(uri) : request.System.Read(uri, request.Settings.Engine.Kind).Hosts;
            if (!PlannedRun.Check(request, hosts))
                tell($"not checked, since only {request.Settings.Deployment.ClusterFolder ?? request.Settings.Deployment.Uri} can tell: "
                    + "what its collections hold, its rights, connections, batches and disk");
        }
    }

    /// <summary>A run makes its folder there.</summary>
    private static void RequireFolder(string runs)
    {
        string at = Path.GetFullPath(runs);
        while (!Directory.Exists(at))
            at = File.Exists(at) ? throw Unusable(runs, $"{at} is a file") : Path.GetDirectoryName(at)!;
        string probe = Path.Combine(at, $".mongoperf-{Guid.NewGuid():N}");
        try
        {
            Directory.CreateDirectory(probe);
            Directory.Delete(probe);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Unusable(runs, e.Message);
        }
    }

    private static RunStoreException Unusable(string runs, string why) =>
        new($"can't create a run in {runs} ({why})\nhint:  choose another folder with --out");
}

using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Processes;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>A server, or a cluster, that a killed run left behind.</summary>
internal static class LeftOver
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Ends the mongod, embedded server or cluster that works on this data folder, if a run of MongoPerf started it; anything
    /// else is left alone.
    /// </summary>
    /// <exception cref="DeploymentException">It is a cluster, and another user's.</exception>
    public static void End(string dataFolder)
    {
        if (ClusterPlan.IsIn(dataFolder))
        {
            using LocalCluster cluster = LocalCluster.Open(dataFolder);
            cluster.Stop();
            return;
        }

        ProcessTable table = ProcessTable.System;
        string folder = Path.GetFullPath(dataFolder);
        if (ProcessState.Read(folder) is { ProcessId: not 0 } state && table.IsAlive(state.Identity)
            && (table.HasFolder(state.ProcessId, "--dbpath", folder) || table.HasFolder(state.ProcessId, "--data", folder)))
            table.End(state.Identity, Limit);
    }
}

using MongoPerf.Storage;

namespace MongoPerf.Reports.Histories;

/// <summary>The versions of what a run was made with.</summary>
internal static class HistoryVersions
{
    private const int CommitCharacters = 8;

    /// <summary>"6.0.5", or "embedded".</summary>
    public static string Server(StoredRun run) => run.Deployment switch
    {
        null => Units.None,
        { OtherSystem: { } system } other => $"{system} {other.ServerVersion}",
        { IsEmbedded: true } => Words.Of(Topology.Embedded.Text()),
        { Kind: DeploymentKind.Null } => Words.Of(run.Deployment.Topology.Text()),
        _ => run.Deployment.ServerVersion,
    };

    /// <summary>"0.1.0+ed657a51".</summary>
    public static string Program(StoredRun run)
    {
        string[] parts = run.Run.Version.Split('+', 2);
        return parts.Length == 1 ? parts[0] : $"{parts[0]}+{parts[1][..Math.Min(CommitCharacters, parts[1].Length)]}";
    }

    /// <summary>What a run's server and driver are, where they are other ones than those of the run before.</summary>
    public static IEnumerable<string> NewIn(StoredRun run, StoredRun before)
    {
        if (Server(run) != Server(before))
            yield return Server(run);
        if (run.Settings.Engine != before.Settings.Engine)
            yield return run.Settings.Engine.Text;
    }
}

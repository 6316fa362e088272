using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>What a run left behind, on this machine or elsewhere.</summary>
public static class ServerData
{
    public static RunDataFolder FolderOf(StoredRun run) => new(run.Folder, run.Token);

    /// <summary>What there is, where, and how it is deleted; null when there is nothing.</summary>
    public static string? Describe(StoredRun run, RunFolder folder)
    {
        if (ReadBytes(folder.Path) is { } bytes)
            return Words.Of($"{Units.Bytes(bytes)} of server data in {CommandText.OfPath(folder.DataPath)}; to delete it: "
                + $"{CommandText.Program} clean {folder.Id}{folder.OutText}");
        bool madeCollections = CollectionCleanup.AppliesTo(run) && !run.Settings.Data.IsExisting
            && run.Makers.Count > 0 && run.Phases.Count > 0;
        return madeCollections && run.Deployment is { } deployment && run.FindNote(StoredRun.DeletedNote) is null
            ? Words.Of($"the run's collections in {run.Settings.Data.Database} at {deployment.Address}; to drop them: "
                + $"{CommandText.Program} clean {folder.Id}{folder.OutText}")
            : null;
    }

    /// <summary>Bytes that servers and the run made in its data folder; null when there are none.</summary>
    public static long? ReadBytes(string runFolder) =>
        Path.Combine(runFolder, "data") is var data && Directory.Exists(data) && !OwnFiles.IsLink(data)
            ? DataFolderSize.ReadBytes(data)
            : null;

    /// <summary>Deletes it.</summary>
    /// <returns>What is gone; null when the run has none: its server was given, or it was deleted before.</returns>
    /// <exception cref="UserException">The run is going, or a server holds the data (6).</exception>
    /// <exception cref="RunStoreException">No run, or the data are not the run's.</exception>
    /// <exception cref="IOException">Something could not be deleted.</exception>
    public static Deleted? Delete(RunFolder folder)
    {
        RunDataFolder data;
        using (StoredRun stored = StoredRun.Open(folder.Path))
        {
            if (stored.IsWriterAlive)
                throw new UserException(ExitCode.Refused, $"run {folder.Id} is still running", "stop it first");
            data = FolderOf(stored);
        }

        if (data.Look(out _) == DataFolderState.None)
            return null;
        // Held meanwhile, so that nobody resumes the run.
        using RunStore store = RunStore.Open(folder.Path);
        data.RequireOwn();
        if (FolderHolder.Find(data.Path, ProcessTable.System) is { } holder)
        {
            throw new UserException(
                ExitCode.Refused, $"{data.Path} is in use by {holder}; nothing was deleted",
                $"the server of a killed run stops by itself within {ServerGuard.Grace.TotalSeconds:0} s; stop any other process yourself");
        }

        ServerProcess.Forget(data.Path);
        foreach (string member in Directory.EnumerateDirectories(data.Path).Where(sub => !OwnFiles.IsLink(sub)))
            ServerProcess.Forget(member);
        store.SetNote(StoredRun.DeletedNote, DateTimeOffset.UtcNow.ToString("O"));
        Deleted deleted = data.Delete();
        if (deleted.Kept.Count > 0)
            Console.Error.WriteLine(Masking.Shown($"kept in {data.Path}, as neither the run nor its server made it: {deleted.KeptText}"));
        return deleted.Files > 0 ? deleted : null;
    }
}

using System.Text.Json;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>What a stored run says about whether, and from where, it can be resumed.</summary>
internal static class InterruptedRun
{
    /// <summary>Note of a stored run: documents that were there before it, by collection, as JSON.</summary>
    private const string StartNote = "start documents";

    /// <exception cref="UserException">The run can't be resumed.</exception>
    public static void Require(RunFolder folder, StoredRun stored)
    {
        if (stored.Run.State == RunState.Finished)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} is finished", $"'mongoperf report {folder.Id}' shows it");
        if (stored.IsWriterAlive)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} is still running", "wait for it, or stop it first");
        if (stored.Run.Clients.Count > 0)
            throw new UserException(
                ExitCode.WrongUsage,
                $"run {folder.Id} was merged from the runs of {stored.Run.Clients.Count} clients and can't be resumed",
                stored.FindNote(StoredRun.AgentsPlanNote) is null
                    ? "resume theirs, then merge them again"
                    : "name the coordinator of its agents with --coordinator, and start them again");
        if (stored.FindNote(StoredRun.DeletedNote) is not null)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} can't be resumed: its server data have been deleted",
                $"'mongoperf report {folder.Id}' shows what it measured");
        if (DatabaseSystems.Of(stored.Deployment) is { HasMarkers: false } system)
            throw new UserException(
                ExitCode.WrongUsage, $"run {folder.Id} was on {system.Name}: such runs can't be resumed", "start a new run");
    }

    /// <summary>Notes documents that were there before the run, by collection.</summary>
    public static void NoteStart(RunStore store, IReadOnlyDictionary<string, long> documents) =>
        store.SetNote(StartNote, JsonSerializer.Serialize(documents));

    /// <summary>What <see cref="NoteStart"/> noted; nothing when it did not.</summary>
    /// <exception cref="UserException">The note is no such list.</exception>
    public static Dictionary<string, long> ReadStart(StoredRun stored)
    {
        try
        {
            Dictionary<string, long> start =
                stored.FindNote(StartNote) is { } text ? JsonSerializer.Deserialize<Dictionary<string, long>>(text) ?? [] : [];
            return start.Values.All(documents => documents >= 0) ? start : throw new JsonException("a count is negative");
        }
        catch (JsonException e)
        {
            throw new UserException(
                ExitCode.WrongUsage, $"run {stored.Run.Id}: its note '{StartNote}' is damaged ({e.Message})", "start a new run");
        }
    }

    /// <summary>Where it continues.</summary>
    public static string Describe(StoredRun stored) => stored.Checkpoints.Count > 0
        ? $"from the checkpoint at {stored.Checkpoints[^1].Documents:N0} documents"
        : $"after {Units.Counted(stored.Phases.Count(p => p.IsComplete), "finished phase")}";
}

using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>Notes in run.db how a run failed, without hiding the failure by another one.</summary>
internal static class StoredFailure
{
    public static void Note(RunStore store, RunState state, Exception failure)
    {
        try
        {
            store.SetState(state, failure.Message, DateTimeOffset.UtcNow);
        }
        catch (Exception e)
        {
            // On a full disk the store fails too: what is told is the first failure, the run counts as interrupted.
            Console.Error.WriteLine($"note: could not write run.db: {e.Message}");
        }
    }
}

using MongoPerf.Load.Collections;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Phases;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Runs a prepared plan to its end, stores how it ended, and shows and judges what it measured.</summary>
internal sealed class PlanExecution
{
    private readonly RunSession _session;
    private readonly RunStore _store;
    private readonly PhaseExecution _phases;
    private readonly StopSignals _signals;

    private PlanExecution(RunSession session, RunStore store, PhaseExecution phases, StopSignals signals) =>
        (_session, _store, _phases, _signals) = (session, store, phases, signals);

    /// <param name="session">Begun.</param>
    /// <param name="store">The store of the run.</param>
    /// <param name="data">The plan's collections.</param>
    /// <param name="prepared">What was found there.</param>
    /// <param name="before">What the run has stored already.</param>
    /// <param name="signals">Stop it.</param>
    /// <exception cref="UserException">The run can't be stored, or its report can't be written.</exception>
    public static ExitCode Run(
        RunSession session, RunStore store, IDataStore data, PreparedData prepared, RunProgress before, StopSignals signals)
    {
        try
        {
            return new PlanExecution(session, store, new PhaseExecution(session, store, data, prepared, signals), signals).Run(before);
        }
        catch (Exception e) when (FindWriteFailure(e) is { } failure)
        {
            throw new UserException(ExitCode.Refused, failure.Message,
                $"nothing stored is damaged; make room there, then {session.Folder.CommandFor("resume")} continues the run");
        }
    }

    /// <summary>Whoever was the first to write into run.db: a sampler, a phase, or who notes how the run ended.</summary>
    private static RunStoreWriteException? FindWriteFailure(Exception e) =>
        e as RunStoreWriteException ?? (e.InnerException is { } inner ? FindWriteFailure(inner) : null);

    private ExitCode Run(RunProgress before)
    {
        PlanOutcome outcome = RunPhases(before);
        _store.SetState(outcome.State, outcome.Why, DateTimeOffset.UtcNow);
        if (outcome.Rejection is { } rejection)
            _store.SetNote(StoredRun.RejectedNote, rejection);
        if (outcome.Why is { } why)
            _store.AddEvent(new RunEvent(SystemClock.Instance.UtcNow.ToUnixTimeMilliseconds(), "stopped", why));
        _store.Flush();
        RunRequest request = _session.Request;
        // A part's report is made when somebody asks for it: the machine may have other agents' work to do.
        IRunResults? results = request.Agent is null && !request.Output.IsSilent ? request.Output.Results : null;
        results?.Show(_session.Folder, request.Output);
        using StoredRun stored = StoredRun.Open(_session.Folder.Path);
        if (!request.Output.IsSilent)
            outcome.Print(stored, results?.Next(stored, _session.Folder), request.Output.Results.FailedAssertions(stored));
        return outcome.ToExitCode(stored);
    }

    /// <summary>Runs the phases to their ends, or to what stops or breaks them.</summary>
    private PlanOutcome RunPhases(RunProgress before)
    {
        bool isDone = false;
        Exception? failure = null;
        try
        {
            isDone = _phases.Run(before);
        }
        catch (Exception) when (_signals.WasStopped || _phases.Context.StopReason is not null)
        {
            // What breaks after a stop was broken by it.
        }
        catch (Exception e) when (IsOfServer(e))
        {
            failure = e;
        }
        catch (Exception e) when (FindWriteFailure(e) is null)
        {
            NoteFailure(e);
            throw;
        }
        finally
        {
            RestoreCluster();
            _session.End();
        }

        return new PlanOutcome(_phases.Context, isDone, _signals.WasStopped, failure) { IsPart = _session.Request.Agent is not null };
    }

    /// <summary>Notes in run.db how the run failed, without hiding the failure by another one.</summary>
    private void NoteFailure(Exception failure)
    {
        try
        {
            _store.SetState(RunState.Failed, failure.Message, DateTimeOffset.UtcNow);
        }
        catch (Exception e)
        {
            // On a full disk the store fails too: what is told is the first failure, the run counts as interrupted.
            Console.Error.WriteLine($"note: could not write run.db: {e.Message}");
        }
    }

    /// <summary>The run can be resumed after it.</summary>
    private static bool IsOfServer(Exception e) =>
        ErrorTally.BreaksConnection(e)
        || e is ServerRefusesException or ServerCommandException or RefusedDocumentsException or CollectionBusyException;

    private void RestoreCluster()
    {
        try
        {
            _session.Cluster?.Restore();
        }
        catch (Exception e) when (ErrorTally.IsServerAway(e))
        {
            Console.Error.WriteLine($"warning: could not restore the balancer: {e.Message}");
        }
    }
}

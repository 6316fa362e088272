using MongoPerf.Deployments;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Phases;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>Carries a plan out from where its run was interrupted, and reports it.</summary>
public static class ResumeSession
{
    /// <summary>Continues a run that was interrupted.</summary>
    /// <param name="folder">The folder of the run.</param>
    /// <param name="request">Makes the request from what is stored.</param>
    /// <param name="given">Who stops it; null listens for signals itself.</param>
    public static ExitCode Run(RunFolder folder, Func<StoredRun, RunRequest> request, StopSignals? given = null)
    {
        using StoredRun stored = StoredRun.Open(folder.Path);
        InterruptedRun.Require(folder, stored);
        // Asks for passwords: until then Ctrl+C just ends the program.
        RunRequest read = RunRequest.WithLive([request(stored)])[0];
        if (stored.Run.Part is { } part && read.Agent is null)
            throw new UserException(
                ExitCode.WrongUsage,
                $"run {folder.Id} is part {part.Number} of {part.Count} of a plan and can't be resumed alone",
                "resume the merged run with --coordinator, and start this agent again as before");
        using StopSignals? own = given is null ? new StopSignals() : null;
        StopSignals signals = given ?? own!;
        RunRequest asked = RequestedEngine.Open([read])[0];
        WritePermission.Require(asked);
        ConnectionRoom.CheckClient(asked);
        // Before the server: of two that resume at once, the second must not touch the server of the first.
        using RunStore store = RunStore.Open(folder.Path);
        if (asked.StartsServer && stored.Phases.Count > 0)
            ResumedData.RequireFolder(new RunDataFolder(folder.Path, store.Token), folder.Id);
        using RunSession session = UnlessStopped(signals, () => RunSession.Open(folder, asked, store, signals.Token));
        using IDataStore data = session.OpenData(asked.Plan.Plan, asked.Seed);
        // A server of the run's own gets another port each time.
        string? beganOn = asked.Uri is null ? null : stored.Deployment?.Address;
        var place = new ResumedPlace(folder.Id, store.Token, asked.Settings.Data.Database, session.On.Inspection.Info.Address, beganOn,
            asked.Settings.Data.IsExisting);
        var before = new RunProgress(stored, InterruptedRun.ReadStart(stored));
        PreparedData prepared = asked.Agent is { Share.IsFirst: false }
            ? PlanSession.Follow(asked, (asked.Seed, InterruptedRun.ReadStart(stored)))
            : UnlessStopped(signals, () => DataPreparation.ExamineAgain(session, data, asked, place, before));
        ExistingSamples.Take(session, data, prepared.Plan);
        if (asked.Agent is { Share.IsFirst: true } first)
            first.Publish(prepared.Seed, prepared.StartDocuments);
        store.SetState(RunState.Running, null, null);
        store.SetNote(StoredRun.RejectedNote, "");
        // Before the first sample, where lines over time begin anew.
        var resumed = new RunEvent(SystemClock.Instance.UtcNow.ToUnixTimeMilliseconds(), RunEvent.Resumed, InterruptedRun.Describe(stored));
        session.Begin(store, prepared.Plan);
        session.Log.Report(resumed);
        if (beganOn is not null && beganOn != place.Address)
        {
            session.Log.Report("address", $"the run continues on {place.Address}; before, it was on {beganOn}");
            store.SetSettings(
                stored.Settings with { Deployment = stored.Settings.Deployment with { Uri = asked.System.Mask(asked.Uri!) } });
        }

        return PlanExecution.Run(session, store, data, prepared, new RunProgress(stored, prepared.StartDocuments), signals);
    }

    /// <summary>What breaks after a stop was broken by it.</summary>
    private static T UnlessStopped<T>(StopSignals signals, Func<T> action)
    {
        try
        {
            return action();
        }
        catch (Exception e) when (signals.WasStopped)
        {
            throw new OperationCanceledException("interrupted before the run resumed; nothing was changed", e);
        }
    }
}

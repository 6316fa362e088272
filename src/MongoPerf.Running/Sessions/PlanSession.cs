using MongoPerf.Deployments;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Phases;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>Carries a plan out on a deployment, from its start or from where it was interrupted, and reports it.</summary>
public static class PlanSession
{
    /// <summary>A new run.</summary>
    public static RunEnd Start(RunRequest request, StopSignals signals)
    {
        WritePermission.Require(request);
        ConnectionRoom.CheckClient(request.Plan.Plan);
        RunFolder folder = RunFolder.Create(request.Output.RunsFolder);
        // There before the server is: a run that is killed while it starts can be resumed and cleaned like any other.
        RunStore store = RunStore.Create(folder.Path, request.Describe(folder.Id), request.Settings);
        RunSession? session = null;
        IDataStore data;
        PreparedData prepared;
        try
        {
            session = RunSession.Open(folder, request, store, signals.Token);
            (data, prepared) = Prepare(session, store, signals);
        }
        catch (Exception e)
        {
            // Refused before anything was measured: nothing of it stays.
            session?.Dispose();
            store.Dispose();
            folder.Remove();
            if (signals.WasStopped)
                throw new OperationCanceledException("interrupted before anything was measured; nothing was stored", e);
            throw;
        }

        using (store)
        using (session)
        using (data)
        {
            session.Begin(store, prepared.Plan);
            Introduce(session, prepared);
            return new RunEnd(folder, PlanExecution.Run(session, store, data, prepared, new RunProgress(prepared.StartDocuments), signals));
        }
    }

    /// <summary>Examines the data of a new run, and makes them ready for it.</summary>
    private static (IDataStore Data, PreparedData Prepared) Prepare(RunSession session, RunStore store, StopSignals signals)
    {
        RunRequest request = session.Request;
        IDataStore data = session.OpenData(request.Plan.Plan, request.Seed);
        try
        {
            PreparedData prepared = request.Agent is { Share.IsFirst: false } follower
                ? Follow(request, follower.AwaitPrepared(signals.Token))
                : DataPreparation.Examine(session, data, request);
            if (prepared.Seed != request.Seed)
            {
                store.SetSeed(prepared.Seed);
                data.Dispose();
                data = session.OpenData(prepared.Plan, prepared.Seed);
            }

            InterruptedRun.NoteStart(store, prepared.StartDocuments);
            DataPreparation.Drop(data, prepared);
            // Of collections that the run makes, the making sees to it.
            if (request.Settings.Data is { IsExisting: true, Sharding: { } sharding } && request.Agent is not { Share.IsFirst: false })
                session.Cluster?.Apply(sharding);
            if (request.Agent is { Share.IsFirst: true } first)
                first.Publish(prepared.Seed, prepared.StartDocuments);
            return (data, prepared);
        }
        catch
        {
            data.Dispose();
            throw;
        }
    }

    /// <summary>Says what the run does otherwise than its file, and where it begins.</summary>
    private static void Introduce(RunSession session, PreparedData prepared)
    {
        RunRequest request = session.Request;
        foreach (string line in request.Plan.Changes)
            session.Log.Show($"changed: {line}");
        foreach (string line in request.Plan.Set)
            session.Log.Show($"set by the deployment: {line}");
        foreach ((string name, long documents) in prepared.StartDocuments
            .Where(start => start.Value > 0 && !request.Settings.Data.IsExisting))
            session.Log.Show(
                $"{request.Settings.Data.Database}.{name} already holds {documents:N0} documents; the growth continues from there");
        session.Log.Progress.ShowTime();
    }

    /// <summary>The first agent has looked at the data for all.</summary>
    private static PreparedData Follow(RunRequest request, (ulong Seed, IReadOnlyDictionary<string, long> StartDocuments) found) =>
        new(found.Seed == request.Seed ? request.Plan.Plan : request.ReadPlan(found.Seed).Plan, found.Seed, found.StartDocuments, []);

    /// <summary>Continues a run that was interrupted.</summary>
    /// <param name="folder">Of the run.</param>
    /// <param name="request">Makes the request from what is stored.</param>
    /// <param name="given">Who stops it; null listens for signals itself.</param>
    public static ExitCode Resume(RunFolder folder, Func<StoredRun, RunRequest> request, StopSignals? given = null)
    {
        using StoredRun stored = StoredRun.Open(folder.Path);
        InterruptedRun.Require(folder, stored);
        // Asks for passwords: until then Ctrl+C just ends the program.
        RunRequest read = RunRequest.WithLivePage([request(stored)])[0];
        if (stored.Run.Part is { } part && read.Agent is null)
            throw new UserException(
                ExitCode.WrongUsage,
                $"run {folder.Id} is part {part.Number} of {part.Count} of a plan and can't be resumed alone",
                "resume the merged run with --coordinator, and start this agent again as before");
        using StopSignals? own = given is null ? new StopSignals() : null;
        StopSignals signals = given ?? own!;
        RunRequest asked = RequestedEngine.Open([read])[0];
        WritePermission.Require(asked);
        ConnectionRoom.CheckClient(asked.Plan.Plan);
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
            ? Follow(asked, (asked.Seed, InterruptedRun.ReadStart(stored)))
            : UnlessStopped(signals, () => DataPreparation.ExamineAgain(session, data, asked, place, before));
        if (asked.Agent is { Share.IsFirst: true } first)
            first.Publish(prepared.Seed, prepared.StartDocuments);
        store.SetState(RunState.Running, null, null);
        store.SetNote(StoredRun.RejectedNote, "");
        session.Begin(store, prepared.Plan);
        session.Log.Report("resumed", InterruptedRun.Describe(stored));
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

using MongoPerf.Load.Collections;
using MongoPerf.Load.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>Carries a plan out on a deployment from its start, and reports it.</summary>
public static class PlanSession
{
    /// <summary>A new run.</summary>
    public static RunEnd Start(RunRequest request, StopSignals signals)
    {
        WritePermission.Require(request);
        ConnectionRoom.CheckClient(request);
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
            ReplayedWrites.Require(session);
            ReplayedCollections.Note(session, store);
            ExistingSamples.Take(session, data, prepared.Plan);
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
        foreach (StoredMessage change in request.Plan.Changes)
            session.Log.Show($"changed: {change}");
        if (request.Note is { } note)
            session.Log.Show($"note: {note}");
        foreach (string line in request.Plan.Set)
            session.Log.Show($"set by the deployment: {line}");
        foreach ((string name, long documents) in prepared.StartDocuments
            .Where(start => start.Value > 0 && !request.Settings.Data.IsExisting))
            session.Log.Show(
                $"{request.Settings.Data.Database}.{name} already holds {documents:N0} documents; the growth continues from there");
        if (prepared.Foreign.Count > 0)
            session.Log.Show(
                $"note: MongoPerf did not create {string.Join(", ", prepared.Foreign)}: read as found, and replies are not verified");
        session.Log.Progress.ShowTime();
    }

    /// <summary>The first agent has looked at the data for all.</summary>
    internal static PreparedData Follow(RunRequest request, (ulong Seed, IReadOnlyDictionary<string, long> StartDocuments) found) =>
        new(found.Seed == request.Seed ? request.Plan.Plan : request.ReadPlan(found.Seed).Plan, found.Seed, found.StartDocuments, []);
}

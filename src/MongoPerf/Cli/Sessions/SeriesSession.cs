using System.Globalization;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;

namespace MongoPerf.Cli.Sessions;

/// <summary>Runs a series from its start or from where it was broken off, and reports it.</summary>
internal static class SeriesSession
{
    /// <summary>A new series.</summary>
    public static RunEnd Start(RunRequest request, StopSignals signals)
    {
        RunFolder folder = RunFolder.Create(request.Output.RunsFolder);
        // There before the server is: a run that is killed while it starts can be resumed and cleaned like any other.
        RunStore store = RunStore.Create(folder.Path, RunSession.DescribeRun(folder, request, request.Seed), request.Settings);
        RunSession? session = null;
        try
        {
            session = RunSession.Open(folder, request, store);
            ExistingCollection there = CollectionPreparation.Examine(session);
            RequireRoom(session, there);
            store.SetNote(StartNote, there.Documents.ToString(CultureInfo.InvariantCulture));
            CollectionPreparation.Create(session, there);
            if (there.Documents > 0)
                session.Progress.Tell($"{session.Inspection.Info.Namespace} holds {there.Documents:N0} documents already: the series goes on from there");
        }
        catch
        {
            // Refused before anything was measured: nothing of it stays.
            session?.Dispose();
            store.Dispose();
            folder.Remove();
            throw;
        }

        using (store)
        using (session)
            return new RunEnd(folder, Finish(session, store, Grow(session, store, [], ReadStart(store.Folder), signals)));
    }

    /// <summary>Goes on with a series that was broken off.</summary>
    /// <param name="folder">Of the run.</param>
    /// <param name="request">Makes the request from the stored settings.</param>
    public static ExitCode Resume(RunFolder folder, Func<StoredRun, RunRequest> request)
    {
        using var signals = new StopSignals();
        (RunRequest asked, IReadOnlyList<StepResult> steps, long checkpoint) = ReadStored(folder, request);
        using RunSession session = RunSession.Open(folder, asked);
        CollectionState state = session.Collection.Inspect();
        // Killed before the collection was made, there is nothing yet to go on with; the null deployment never has anything.
        if (session.Deployment.Kind != "null" && (checkpoint > 0 || state.Exists))
        {
            CollectionMarker marker = CollectionPreparation.RequireExisting(session.Collection, session.Inspection.Info.Namespace);
            CollectionPreparation.CheckMarker(session, session.Inspection.Info.Namespace, marker);
            // Another run may have gone on with the collection meanwhile; of this run the stored checkpoint is what counts, since its step
            // is complete only with it.
            if (marker.RunId != folder.Id)
                checkpoint = Math.Max(checkpoint, marker.Documents);
        }

        session.CheckDisk(asked.Settings.TargetDocumentCount - checkpoint);
        // Completes indexes, should the run have been killed before they were there.
        session.Collection.Create(new CollectionMarker(asked.Seed, DocumentGenerator.SchemaVersion, asked.Settings.Compressibility, folder.Id, checkpoint));
        using RunStore store = RunStore.Open(folder.Path);
        store.SetState(RunState.Running, null, null);
        var resumed = new RunEvent(RunSession.Clock.UtcNow.ToUnixTimeMilliseconds(), "resumed", $"from the checkpoint at {checkpoint:N0} documents");
        store.AddEvent(resumed);
        session.Progress.OnEvent(resumed);
        return Finish(session, store, Grow(session, store, steps, checkpoint, signals));
    }

    private const string StartNote = "start documents";

    private static (RunRequest Request, IReadOnlyList<StepResult> Steps, long Checkpoint) ReadStored(RunFolder folder, Func<StoredRun, RunRequest> request)
    {
        using StoredRun stored = StoredRun.Open(folder.Path);
        if (stored.Run.Kind != "series")
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} is no series: only a series can go on", $"'mongoperf report {folder.Id}' shows what it measured");
        if (stored.Run.State == RunState.Finished)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} has reached its target of {stored.Settings.TargetDocumentCount:N0} documents", $"'mongoperf report {folder.Id}' shows it");
        if (stored.IsWriterAlive)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} is still going", "wait for it, or stop it first");
        long checkpoint = stored.Checkpoints.Count > 0 ? stored.Checkpoints[^1].Documents : ReadStart(stored);
        return (request(stored), stored.Steps, checkpoint);
    }

    private static long ReadStart(string folder)
    {
        using StoredRun stored = StoredRun.Open(folder);
        return ReadStart(stored);
    }

    /// <summary>Documents that were there when the run began.</summary>
    private static long ReadStart(StoredRun stored) => long.TryParse(stored.FindNote(StartNote), out long there) ? there : 0;

    private static void RequireRoom(RunSession session, ExistingCollection there)
    {
        long target = session.Settings.TargetDocumentCount;
        string ns = session.Inspection.Info.Namespace;
        // Behind the last checkpoint a run that was broken off may have left more.
        long end = there.IsToBeDropped ? 0 : Math.Max(there.Documents, session.Collection.FindEnd());
        if (end >= target)
            throw new UserException(ExitCode.WrongUsage, $"{ns} holds {end:N0} documents already, the target is {target:N0}", $"a --target above that, another --collection, or --force-drop {ns}");
        session.CheckDisk(target - there.Documents);
    }

    private static SeriesOutcome Grow(RunSession session, RunStore store, IReadOnlyList<StepResult> steps, long checkpoint, StopSignals signals)
    {
        session.Begin(store);
        session.Progress.SetDocuments(checkpoint);
        try
        {
            var runner = new SeriesRunner(RunSession.Clock, session.Phases, session.Collection, store, session.Progress, new SeriesRequest
            {
                Settings = session.Settings,
                Seed = session.Request.Seed,
                ValueRange = DocumentGenerator.ValueRange,
                MeasureDisk = session.MeasureDisk,
                ReasonToStop = session.ReasonToStop,
                ReconnectFor = RunSession.ReconnectFor,
            });
            return runner.Run(steps, checkpoint, signals.Token);
        }
        catch (Exception e)
        {
            StoredFailure.Note(store, RunState.Failed, e);
            throw;
        }
        finally
        {
            session.End();
        }
    }

    private static ExitCode Finish(RunSession session, RunStore store, SeriesOutcome outcome)
    {
        bool finished = outcome.End == SeriesEnd.TargetReached;
        store.SetState(finished ? RunState.Finished : RunState.Interrupted, outcome.Why, DateTimeOffset.UtcNow);
        if (outcome.Why is not null)
            store.AddEvent(new RunEvent(RunSession.Clock.UtcNow.ToUnixTimeMilliseconds(), "stopped", outcome.Why));
        store.Flush();
        ResultPrinter.Print(session.Folder, session.Request.Output);
        if (!finished)
        {
            Console.Error.WriteLine($"stopped at {outcome.Documents:N0} documents: {outcome.Why}");
            using StoredRun stored = StoredRun.Open(session.Folder.Path);
            Console.Error.WriteLine(ReportLines.Next(stored, session.Folder.OtherRunsFolder));
        }

        return outcome.End switch
        {
            SeriesEnd.Interrupted => ExitCode.Interrupted,
            SeriesEnd.Stopped => ExitCode.Refused,
            SeriesEnd.ServerLost => ExitCode.CannotConnect,
            _ when outcome.Wrong > 0 => ExitCode.VerificationFailed,
            _ when ReadFailures(session.Folder) > session.Settings.MaxErrors => ExitCode.TooManyErrors,
            _ => ExitCode.Done,
        };
    }

    private static long ReadFailures(RunFolder folder)
    {
        using StoredRun stored = StoredRun.Open(folder.Path);
        return stored.Failures;
    }
}

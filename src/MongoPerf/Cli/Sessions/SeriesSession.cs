using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Cli.Sessions;

/// <summary>Runs a series from its start or from where it was broken off, and reports it.</summary>
internal static class SeriesSession
{
    /// <summary>A new series.</summary>
    public static ExitCode Start(RunRequest request)
    {
        using var signals = new StopSignals();
        RunFolder folder = RunFolder.Create(request.Output.RunsFolder);
        using (RunSession session = RunSession.Open(folder, request))
        {
            try
            {
                long there = CollectionPreparation.Prepare(session);
                RequireRoom(session, there);
                using RunStore store = RunStore.Create(folder.Path, session.DescribeRun(), request.Settings);
                store.SetNote(StartNote, there.ToString());
                if (there > 0)
                    session.Progress.Tell($"{session.Inspection.Info.Namespace} holds {there:N0} documents already: the series goes on from there");
                return Finish(session, store, Grow(session, store, [], there, signals));
            }
            catch
            {
                // Refused before anything was stored: nothing of it stays.
                session.Dispose();
                folder.RemoveUnused();
                throw;
            }
        }
    }

    /// <summary>Goes on with a series that was broken off.</summary>
    /// <param name="folder">Of the run.</param>
    /// <param name="request">Makes the request from the stored settings.</param>
    public static ExitCode Resume(RunFolder folder, Func<StoredRun, RunRequest> request)
    {
        using var signals = new StopSignals();
        (RunRequest asked, IReadOnlyList<StepResult> steps, long checkpoint) = ReadStored(folder, request);
        using RunSession session = RunSession.Open(folder, asked);
        if (session.Deployment.Kind != "null")
        {
            CollectionMarker marker = CollectionPreparation.RequireExisting(session.Collection, session.Inspection.Info.Namespace);
            CollectionPreparation.CheckMarker(session, session.Inspection.Info.Namespace, marker);
        }

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
        long start = long.TryParse(stored.FindNote(StartNote), out long there) ? there : 0;
        long checkpoint = stored.Checkpoints.Count > 0 ? stored.Checkpoints[^1].Documents : start;
        return (request(stored), stored.Steps, checkpoint);
    }

    private static void RequireRoom(RunSession session, long there)
    {
        long target = session.Settings.TargetDocumentCount;
        string ns = session.Inspection.Info.Namespace;
        // Behind the last checkpoint a run that was broken off may have left more.
        long end = Math.Max(there, session.Collection.FindEnd());
        if (end >= target)
            throw new UserException(ExitCode.WrongUsage, $"{ns} holds {end:N0} documents already, the target is {target:N0}", $"a --target above that, another --collection, or --force-drop {ns}");
        session.CheckDisk(target - there);
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
            });
            return runner.Run(steps, checkpoint, signals.Token);
        }
        catch (Exception e)
        {
            store.SetState(RunState.Failed, e.Message, DateTimeOffset.UtcNow);
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
            Console.Error.WriteLine($"to go on: mongoperf resume {session.Folder.Id}{ResultPrinter.OutOption(session.Request.Output)}");
        }

        return outcome.End switch
        {
            SeriesEnd.Interrupted => ExitCode.Interrupted,
            SeriesEnd.Stopped => ExitCode.Refused,
            SeriesEnd.ServerLost => ExitCode.CannotConnect,
            _ when outcome.Wrong > 0 => ExitCode.VerificationFailed,
            _ when outcome.Failed > session.Settings.MaxErrors => ExitCode.TooManyErrors,
            _ => ExitCode.Done,
        };
    }
}

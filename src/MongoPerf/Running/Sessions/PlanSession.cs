using System.Collections.Concurrent;
using System.Text.Json;
using MongoPerf.Deployments;
using MongoPerf.Engine.Collections;
using MongoPerf.Engine.Failures;
using MongoPerf.Engine.Growth;
using MongoPerf.Engine.Keys;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Carries a plan out on a deployment, from its start or from where it was interrupted, and reports it.</summary>
internal static class PlanSession
{
    /// <summary>Of the stored run: documents that were there before it, by collection, as JSON.</summary>
    private const string StartNote = "start documents";

    /// <summary>A new run.</summary>
    public static RunEnd Start(RunRequest request, StopSignals signals)
    {
        WritePermission.Require(request);
        ConnectionRoom.CheckClient(request.Plan.Plan);
        RunFolder folder = RunFolder.Create(request.Output.RunsFolder);
        // There before the server is: a run that is killed while it starts can be resumed and cleaned like any other.
        RunStore store = RunStore.Create(folder.Path, RunSession.DescribeRun(folder, request), request.Settings);
        RunSession? session = null;
        IDataStore? data = null;
        PreparedData prepared;
        try
        {
            session = RunSession.Open(folder, request, store, signals.Token);
            data = session.OpenData(request.Plan.Plan, request.Seed);
            prepared = request.Agent is { Share.IsFirst: false } follower ? Follow(request, follower.AwaitPrepared(signals.Token)) : DataPreparation.Examine(session, data, request);
            if (prepared.Seed != request.Seed)
            {
                store.SetSeed(prepared.Seed);
                data.Dispose();
                data = session.OpenData(prepared.Plan, prepared.Seed);
            }

            store.SetNote(StartNote, JsonSerializer.Serialize(prepared.StartDocuments));
            DataPreparation.Drop(data, prepared);
            // Of collections that the run makes, the making sees to it.
            if (request.Settings.Data is { IsExisting: true, Sharding: { } sharding } && request.Agent is not { Share.IsFirst: false })
                session.Cluster?.Apply(sharding);
            if (request.Agent is { Share.IsFirst: true } first)
                first.Publish(prepared.Seed, prepared.StartDocuments);
        }
        catch (Exception e)
        {
            // Refused before anything was measured: nothing of it stays.
            data?.Dispose();
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
            foreach (string line in request.Plan.Changes)
                session.Progress.Tell($"changed: {line}");
            foreach (string line in request.Plan.Set)
                session.Progress.Tell($"set by the deployment: {line}");
            foreach ((string name, long documents) in prepared.StartDocuments.Where(start => start.Value > 0 && !request.Settings.Data.IsExisting))
                session.Progress.Tell($"{request.Settings.Data.Database}.{name} already holds {documents:N0} documents; the growth continues from there");
            session.Progress.TellTime();
            return new RunEnd(folder, Run(session, store, data, prepared, new RunProgress(prepared.StartDocuments), signals));
        }
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
        RequireUnfinished(folder, stored);
        // Asks for passwords: until then Ctrl+C just ends the program.
        RunRequest read = RunRequest.WithLivePage([request(stored)])[0];
        if (stored.Run.Part is { } part && read.Agent is null)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} is part {part.Number} of {part.Count} of a plan and can't be resumed alone", "resume the merged run with --coordinator, and start this agent again as before");
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
        var place = new ResumedPlace(folder.Id, store.Token, asked.Settings.Data.Database, session.Inspection.Info.Address, beganOn, asked.Settings.Data.IsExisting);
        var before = new RunProgress(stored, ReadStart(stored));
        PreparedData prepared = asked.Agent is { Share.IsFirst: false }
            ? Follow(asked, (asked.Seed, ReadStart(stored)))
            : UnlessStopped(signals, () => DataPreparation.ExamineAgain(session, data, asked, place, before));
        if (asked.Agent is { Share.IsFirst: true } first)
            first.Publish(prepared.Seed, prepared.StartDocuments);
        store.SetState(RunState.Running, null, null);
        store.SetNote(StoredRun.RejectedNote, "");
        session.Begin(store, prepared.Plan);
        session.Report("resumed", ResumeText(stored));
        if (beganOn is not null && beganOn != place.Address)
        {
            session.Report("address", $"the run continues on {place.Address}; before, it was on {beganOn}");
            store.SetSettings(stored.Settings with { Deployment = stored.Settings.Deployment with { Uri = ServerUri.Mask(asked.Uri!) } });
        }

        return Run(session, store, data, prepared, new RunProgress(stored, prepared.StartDocuments), signals);
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

    private static string ResumeText(StoredRun stored) => stored.Checkpoints.Count > 0
        ? $"from the checkpoint at {stored.Checkpoints[^1].Documents:N0} documents"
        : $"after {Units.Counted(stored.Phases.Count(p => p.IsComplete), "finished phase")}";

    private static void RequireUnfinished(RunFolder folder, StoredRun stored)
    {
        if (stored.Run.State == RunState.Finished)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} is finished", $"'mongoperf report {folder.Id}' shows it");
        if (stored.IsWriterAlive)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} is still running", "wait for it, or stop it first");
        if (stored.Run.Clients.Count > 0)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} was merged from the runs of {stored.Run.Clients.Count} clients and can't be resumed", stored.FindNote(StoredRun.AgentsPlanNote) is null ? "resume theirs, then merge them again" : "name the coordinator of its agents with --coordinator, and start them again");
        if (stored.FindNote(StoredRun.DeletedNote) is not null)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} can't be resumed: its server data have been deleted", $"'mongoperf report {folder.Id}' shows what it measured");
        if (stored.Deployment?.Kind == DeploymentKind.Tyrant)
            throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} was on Tokyo Tyrant: such runs can't be resumed", "start a new run");
    }

    /// <exception cref="UserException">The note is no such list.</exception>
    private static Dictionary<string, long> ReadStart(StoredRun stored)
    {
        try
        {
            Dictionary<string, long> start = stored.FindNote(StartNote) is { } text ? JsonSerializer.Deserialize<Dictionary<string, long>>(text) ?? [] : [];
            return start.Values.All(documents => documents >= 0) ? start : throw new JsonException("a count is negative");
        }
        catch (JsonException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"run {stored.Run.Id}: its note '{StartNote}' is damaged ({e.Message})", "start a new run");
        }
    }

    private static ExitCode Run(RunSession session, RunStore store, IDataStore data, PreparedData prepared, RunProgress before, StopSignals signals)
    {
        try
        {
            return RunToItsEnd(session, store, data, prepared, before, signals);
        }
        catch (Exception e) when (FindWriteFailure(e) is { } failure)
        {
            throw new UserException(ExitCode.Refused, failure.Message, $"nothing stored is damaged; make room there, then {session.Folder.CommandFor("resume")} continues the run");
        }
    }

    /// <summary>Whoever was the first to write into run.db: a sampler, a phase, or who notes how the run ended.</summary>
    private static RunStoreWriteException? FindWriteFailure(Exception e) => e as RunStoreWriteException ?? (e.InnerException is { } inner ? FindWriteFailure(inner) : null);

    private static ExitCode RunToItsEnd(RunSession session, RunStore store, IDataStore data, PreparedData prepared, RunProgress before, StopSignals signals)
    {
        var watches = new ConcurrentQueue<UntilWatch>();
        var run = new RunContext(SystemClock.Instance, session.OpenGroups(prepared.Plan), data, store, session.Progress, new PlanRunOptions
        {
            Seed = prepared.Seed,
            Repeat = store.Run.Repeat?.Number ?? store.Run.Try ?? 1,
            Share = session.Request.Agent?.Share ?? PlanShare.Whole,
            Meet = session.Request.Agent is { } agent ? agent.Meet : static (_, _) => new Meeting(),
            VerifyShare = session.Deployment.Kind == DeploymentKind.Null ? 0 : session.Settings.Plan.VerifyShare,
            ReconnectFor = ReconnectTime.Read(),
            MaxErrors = session.Settings.Plan.MaxErrors,
            ReasonToStop = session.ReasonToStop,
            MeasureDisk = session.MeasureDisk,
            Watch = (until, group) =>
            {
                var watch = new UntilWatch(until, group);
                watches.Enqueue(watch);
                return watch.Add;
            },
            Restart = session.RestartServer,
        });
        Exception? lost = null;
        bool isDone = false;
        try
        {
            Plan plan = session.Cluster is null ? WithoutShards(session, prepared.Plan) : prepared.Plan;
            try
            {
                isDone = new PlanRunner(run, before).Run(plan, session.Settings.Data.IsExisting, signals.Token);
            }
            finally
            {
                // Also of what was interrupted: it was measured all the same.
                foreach (UntilWatch watch in watches)
                    run.Report(watch.IsKnown ? RunEvent.UntilReached : RunEvent.UntilMissed, watch.Describe());
            }

            session.NoteCollections(plan);
        }
        catch (Exception e) when (signals.WasStopped || run.StopReason is not null)
        {
            // What breaks after a stop was broken by it.
            _ = e;
        }
        catch (Exception e) when (ErrorTally.BreaksConnection(e) || e is ServerRefusesException or ServerCommandException or DuplicateKeyException or CollectionBusyException)
        {
            lost = e;
        }
        catch (Exception e) when (FindWriteFailure(e) is null)
        {
            StoredFailure.Note(store, RunState.Failed, e);
            throw;
        }
        finally
        {
            RestoreCluster(session);
            session.End();
        }

        // Decided once: a signal that comes when all is done interrupts nothing any more.
        bool isInterrupted = !(isDone && lost is null) && signals.WasStopped;
        string? why = isInterrupted ? "interrupted" : run.StopReason ?? lost?.Message;
        store.SetState(isDone && why is null ? RunState.Finished : RunState.Interrupted, why, DateTimeOffset.UtcNow);
        // Resumed, it would meet the same.
        if (lost is DuplicateKeyException || (lost is not null && FailureReport.Classify(lost) is { Code: ExitCode.RejectedByServer }))
            store.SetNote(StoredRun.RejectedNote, lost.Message);
        if (why is not null)
            store.AddEvent(new RunEvent(SystemClock.Instance.UtcNow.ToUnixTimeMilliseconds(), "stopped", why));
        store.Flush();
        // A part's report is made when somebody asks for it: the machine may have other agents' work to do.
        if (session.Request.Agent is null)
            session.Request.Output.Results.Show(session.Folder, session.Request.Output);
        return Judge(session, run, why, isInterrupted, lost);
    }

    private static void RestoreCluster(RunSession session)
    {
        try
        {
            session.Cluster?.Restore();
        }
        catch (Exception e) when (ErrorTally.IsServerAway(e))
        {
            Console.Error.WriteLine($"warning: could not restore the balancer: {e.Message}");
        }
    }

    /// <summary>The first of these that holds is the exit code. What the run came to before it was interrupted counts, too.</summary>
    private static ExitCode Judge(RunSession session, RunContext run, string? why, bool isInterrupted, Exception? lost)
    {
        using StoredRun stored = StoredRun.Open(session.Folder.Path);
        (ExitCode Code, string? Hint)? loss = lost is null ? null : FailureReport.Classify(lost);
        if (why is not null)
        {
            Console.Error.WriteLine($"stopped{(stored.DocumentsReached > 0 ? $" at {stored.DocumentsReached:N0} documents" : "")}: {why}");
            if (loss?.Hint is { } hint)
                Console.Error.WriteLine($"hint:  {hint}");
            if (session.Request.Agent is null)
                Console.Error.WriteLine(session.Request.Output.Results.Next(stored, session.Folder));
        }

        string[] failed = [.. stored.Phases.SelectMany(phase => phase.Assertions.Where(one => !one.Holds).Select(one => $"{PhaseLabels.Of(phase)}: {one.Text}"))];
        foreach (string text in failed)
            Console.Error.WriteLine($"assertion failed: {text}");
        bool hasSkipped = !session.Settings.Plan.MaxSkipped.Allows(stored.Arrivals);
        if (hasSkipped && !isInterrupted)
            Console.Error.WriteLine($"{stored.Arrivals.Skipped:N0} of {stored.Arrivals.Scheduled:N0} arrivals were skipped, more than allowed\nhint:  --max-skipped allows a number or a share such as 1%");
        return isInterrupted || (why is not null && session.Request.Agent is not null) ? ExitCode.Interrupted
            : run.StopReason is not null || loss?.Code == ExitCode.Refused ? ExitCode.Refused
            : lost is not null ? loss?.Code ?? ExitCode.CannotConnect
            : stored.Results.Any(result => result.Wrong > 0) || stored.Phases.Any(phase => phase.Missing > 0) ? ExitCode.VerificationFailed
            : stored.Failures > session.Settings.Plan.MaxErrors ? ExitCode.TooManyErrors
            : hasSkipped ? ExitCode.TooManyErrors
            : failed.Length > 0 ? ExitCode.AssertionFailed
            : ExitCode.Done;
    }

    /// <summary>What only shards can do is left out, and said.</summary>
    private static Plan WithoutShards(RunSession session, Plan plan)
    {
        if (plan.Collections.Where(c => c.Shard is not null).Select(c => c.Name).ToArray() is { Length: > 0 } placed)
            session.Progress.Tell($"note: the deployment is not sharded: {string.Join(", ", placed)} {(placed.Length == 1 ? "is" : "are")} on its only server");
        Plan without = plan.WithoutBalancer();
        string[] left = [.. without.Phases.Select(p => p.Name)];
        if (plan.Phases.Select(p => p.Name).Except(left).ToArray() is { Length: > 0 } skipped)
            session.Progress.Tell($"note: the deployment is not sharded, so there is nothing to balance; skipped: {string.Join(", ", skipped)}");
        return without;
    }
}

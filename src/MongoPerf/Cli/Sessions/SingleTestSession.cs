using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Reporting;

namespace MongoPerf.Cli.Sessions;

/// <summary>How long a single test runs.</summary>
/// <param name="Seconds">Null without a limit of time; warm-up included.</param>
/// <param name="Operations">Null without a limit of number; over all threads.</param>
/// <param name="WarmupSeconds">Left out of the result.</param>
/// <param name="Records">Documents to load first when the collection is empty; null loads none.</param>
internal sealed record SingleTestLimits(double? Seconds, long? Operations, double WarmupSeconds, long? Records);

/// <summary>Runs one of the eight tests alone, on data that is there, and prints one step.</summary>
internal static class SingleTestSession
{
    public static ExitCode Run(RunRequest request, string test, SingleTestLimits limits)
    {
        using var signals = new StopSignals();
        RunFolder folder = RunFolder.Create(request.Output.RunsFolder);
        RunSession? session = null;
        RunStore store;
        CollectionMarker marker;
        try
        {
            session = RunSession.Open(folder, request);
            marker = Prepare(session, test, limits);
            store = RunStore.Create(folder.Path, RunSession.DescribeRun(folder, request, marker.Seed), request.Settings with { Compressibility = marker.Compressibility });
        }
        catch
        {
            // Refused before anything was measured: nothing of it stays.
            session?.Dispose();
            folder.Remove();
            throw;
        }

        using (store)
        using (session)
        {
            session.Begin(store);
            var job = new SingleTest(session, store, marker, limits, signals);
            ExitCode code = RunStored(job, test, session, store, signals);
            bool stopped = signals.WasStopped || job.StopReason is not null;
            store.SetState(stopped ? RunState.Interrupted : RunState.Finished, job.StopReason ?? (stopped ? "interrupted" : null), DateTimeOffset.UtcNow);
            store.Flush();
            Print(folder, request.Output);
            if (job.StopReason is not null)
                Console.Error.WriteLine($"stopped: {job.StopReason}");
            return signals.WasStopped ? ExitCode.Interrupted : code;
        }
    }

    /// <summary>Sees to the collection, and adopts the seed of the documents that are there.</summary>
    private static CollectionMarker Prepare(RunSession session, string test, SingleTestLimits limits)
    {
        string ns = session.Inspection.Info.Namespace;
        if (limits.Records is { } records)
        {
            ExistingCollection there = CollectionPreparation.Examine(session);
            session.CheckDisk(records - there.Documents);
            CollectionPreparation.Create(session, there);
        }

        CollectionMarker marker = CollectionPreparation.RequireExisting(session.Collection, ns);
        if (session.Request.SeedWasGiven || limits.Records is not null)
            CollectionPreparation.CheckMarker(session, ns, marker);
        session.Adopt(marker);
        // A shard key that does not fit is refused, chunk size and balancer are set.
        if (session.Settings.Sharding is not null)
            session.Collection.Create(marker);
        if (limits.Records is null && !SeriesTests.IsInsert(test) && session.Collection.FindEnd() == 0)
            throw new UserException(ExitCode.WrongUsage, $"{ns} is empty: {test} needs documents", "load some first, with --records 100k or a series");
        return marker;
    }

    private static ExitCode RunStored(SingleTest job, string test, RunSession session, RunStore store, StopSignals signals)
    {
        try
        {
            return job.Run(test);
        }
        catch (Exception e)
        {
            StoredFailure.Note(store, signals.WasStopped ? RunState.Interrupted : RunState.Failed, e);
            throw;
        }
        finally
        {
            session.End();
        }
    }

    private static void Print(RunFolder folder, OutputRequest output)
    {
        if (output.Format != "json")
        {
            ResultPrinter.Print(folder, output);
            return;
        }

        using StoredRun run = StoredRun.Open(folder.Path);
        if (run.Steps.Count > 0)
            JsonReport.WriteStep(run.Steps[0], Console.Out);
        Console.Out.Flush();
    }
}

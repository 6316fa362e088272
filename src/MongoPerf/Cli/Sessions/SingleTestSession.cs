using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;

namespace MongoPerf.Cli.Sessions;

/// <summary>How long a single test runs.</summary>
/// <param name="Seconds">Null without a limit of time; warm-up included.</param>
/// <param name="Operations">Null without a limit of number; over all threads.</param>
/// <param name="WarmupSeconds">Left out of the result.</param>
/// <param name="Records">Documents to load first when the collection has fewer; null loads none.</param>
/// <param name="Cold">A server that is started again finds none of its files in the system's cache.</param>
internal sealed record SingleTestLimits(double? Seconds, long? Operations, double WarmupSeconds, long? Records, bool Cold = false);

/// <summary>Runs one of the eight tests alone, or an experiment, on data that is there, and prints one step.</summary>
internal static class SingleTestSession
{
    public static RunEnd Run(RunRequest request, IRunJob job, SingleTestLimits limits, StopSignals signals)
    {
        RunFolder folder = RunFolder.Create(request.Output.RunsFolder);
        RunSession? session = null;
        RunStore store;
        CollectionMarker marker;
        try
        {
            session = RunSession.Open(folder, request);
            marker = Prepare(session, job, limits);
            store = RunStore.Create(folder.Path, RunSession.DescribeRun(folder, request, marker.Seed), request.Settings with { Compressibility = marker.Compressibility, DocumentSchema = marker.SchemaVersion });
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
            TestBench bench = RunStored(job, session, store, marker, limits, signals);
            store.SetState(bench.WasStopped ? RunState.Interrupted : RunState.Finished, bench.StopReason ?? (bench.WasStopped ? "interrupted" : null), DateTimeOffset.UtcNow);
            store.Flush();
            Print(folder, request.Output);
            if (bench.StopReason is not null)
                Console.Error.WriteLine($"stopped: {bench.StopReason}");
            return new RunEnd(folder, signals.WasStopped ? ExitCode.Interrupted : bench.Code);
        }
    }

    /// <summary>Sees to the collection, and adopts the seed of the documents that are there.</summary>
    private static CollectionMarker Prepare(RunSession session, IRunJob job, SingleTestLimits limits)
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
        if (limits.Records is null && job.NeedsDocuments && session.Collection.FindEnd() == 0)
            throw new UserException(ExitCode.WrongUsage, $"{ns} is empty: {job.Name} needs documents", "load some first, with --records 100k or a series");
        return marker;
    }

    private static TestBench RunStored(IRunJob job, RunSession session, RunStore store, CollectionMarker marker, SingleTestLimits limits, StopSignals signals)
    {
        try
        {
            var bench = new TestBench(session, store, marker, limits, signals);
            if (limits.Records is { } records)
                bench.Load(records);
            session.Progress.SetDocuments(bench.Documents);
            if (bench.Code == ExitCode.Done)
                job.Run(bench);
            return bench;
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
        if (output.Format != "json" || !output.PrintsResult)
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

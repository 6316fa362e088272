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
        using RunSession opened = RunSession.Open(folder, request);
        RunSession session = opened;
        try
        {
            if (limits.Records is not null)
                CollectionPreparation.Prepare(session);
            CollectionMarker marker = CollectionPreparation.RequireExisting(session.Collection, session.Inspection.Info.Namespace);
            if (request.SeedWasGiven || limits.Records is not null)
                CollectionPreparation.CheckMarker(session, session.Inspection.Info.Namespace, marker);
            session.Adopt(marker);
            if (limits.Records is null && !SeriesTests.IsInsert(test) && session.Collection.FindEnd() == 0)
                throw new UserException(ExitCode.WrongUsage, $"{session.Inspection.Info.Namespace} is empty: {test} needs documents", "load some first, with --records 100k or a series");
            using RunStore store = RunStore.Create(folder.Path, session.DescribeRun(), request.Settings);
            session.Begin(store);
            var job = new SingleTest(session, store, marker, limits, signals);
            ExitCode code = RunStored(job, test, session, store, signals);
            store.SetState(signals.WasStopped ? RunState.Interrupted : RunState.Finished, signals.WasStopped ? "interrupted" : null, DateTimeOffset.UtcNow);
            store.Flush();
            Print(folder, request.Output);
            return signals.WasStopped ? ExitCode.Interrupted : code;
        }
        catch
        {
            // Refused before anything was stored: nothing of it stays.
            session.Dispose();
            folder.RemoveUnused();
            throw;
        }
    }

    private static ExitCode RunStored(SingleTest job, string test, RunSession session, RunStore store, StopSignals signals)
    {
        try
        {
            return job.Run(test);
        }
        catch (Exception e)
        {
            store.SetState(signals.WasStopped ? RunState.Interrupted : RunState.Failed, e.Message, DateTimeOffset.UtcNow);
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

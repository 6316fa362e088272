using MongoPerf.Cli.Sessions;
using MongoPerf.Deployments;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Cli.Experiments;

/// <summary>
/// Ends the run's own server and starts it again, once cleanly and once by kill -9: how long until it answers, and until it is as fast as it was?
/// </summary>
/// <remarks>
/// Before each end a few documents are written and journaled, so that there is something to write out or to recover. The queries after it are
/// measured from the first one on. At the end everything that was durable must be there.
/// </remarks>
internal sealed class RestartExperiment : IRunJob
{
    /// <summary>One in twenty is written since the last checkpoint when the server ends.</summary>
    private const int UnsettledShare = 20;

    public string Name => ExperimentTests.Restart;

    public string Summary => "queries before and after a clean stop and a kill -9 of the run's own server";

    public RunDefaults Defaults { get; } = new([8], 10, 200_000);

    public bool NeedsDocuments => true;

    public void Check(RunRequest request, SingleTestLimits limits)
    {
        if (request.Uri is not null)
            throw Wrong("--uri (or MONGOPERF_URI): a server is ended and started again, which must be one that the run starts itself");
        if (request.Settings.Topology == "null")
            throw Wrong("--topology null: it stores nothing, so there is nothing to come back with");
        if (request.Settings.Topology == "sharded")
            throw Wrong("--topology sharded: one server is ended and started again, not one of several");
        if (limits.Operations is not null)
            throw Wrong("--operations: how fast a server comes back is seen over time: give --duration");
        if (request.Settings.Threads.Count > 1)
            throw Wrong("--threads: one number, such as 8");
    }

    public void Run(TestBench bench)
    {
        // Takes a checkpoint, so that loading does not go on behind the queries.
        bench.Measure();
        Query(bench, ExperimentTests.BeforeRestart, hasWarmup: true);
        foreach (string test in (string[])[ExperimentTests.AfterStop, ExperimentTests.AfterKill])
        {
            if (bench.WasStopped || bench.Code != ExitCode.Done)
                break;
            bench.Load(bench.Documents + Math.Max(1, bench.Documents / UnsettledShare));
            if (bench.WasStopped)
                break;
            Restart(bench, kills: test == ExperimentTests.AfterKill);
            Query(bench, test, hasWarmup: false);
        }

        if (!bench.WasStopped && bench.RepairWhole() > 0)
            bench.Fail(ExitCode.VerificationFailed);
        bench.Complete();
    }

    private static void Query(TestBench bench, string test, bool hasWarmup) =>
        bench.Query(ExperimentTests.RestartQuery(test, DocumentGenerator.ValueRange), bench.Settings.Threads[0], hasWarmup);

    private static void Restart(TestBench bench, bool kills)
    {
        IDeployment server = bench.Session.Deployment;
        long begun = RunSession.Clock.Now;
        ServerEnd.Wait(server, kills);
        bench.Report(kills ? ExperimentTests.KillEvent : ExperimentTests.StopEvent, kills ? "the server was killed" : "the server was asked to end, and has ended", SecondsSince(begun));
        if (bench.Limits.Cold)
            ServerEnd.ForgetFiles(server);
        long started = RunSession.Clock.Now;
        server.EnsureRunning();
        AskForOne(bench);
        bench.Report(ExperimentTests.AnswerEvent, "from its start to the reply to the first query", SecondsSince(started));
    }

    private static void AskForOne(TestBench bench)
    {
        RunSession session = bench.Session;
        using MongoConnection connection = MongoConnection.Open(session.Deployment.Address, session.Connections);
        connection.RunLongCommand(session.Settings.Database, BsonDocument.Of(("find", session.Settings.Collection), ("limit", 1), ("singleBatch", true)));
    }

    private static double SecondsSince(long ticks) => RunSession.Clock.SecondsBetween(ticks, RunSession.Clock.Now);

    private static UserException Wrong(string text) => new(ExitCode.WrongUsage, text);
}

using MongoPerf.Deployments;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Ends the run's own server and starts it again, as a phase asks for it.</summary>
internal static class ServerRestarts
{
    /// <summary>Its address stays. Nobody may be at work on it but the samplers, which look for it again.</summary>
    /// <param name="on">The run's deployment.</param>
    /// <param name="database">The database that is asked for the first reply.</param>
    /// <param name="how">Cleanly, or by kill -9; cold makes the system forget the server's files meanwhile.</param>
    /// <param name="log">Gets the events.</param>
    /// <exception cref="DeploymentException">It does not end, or does not start.</exception>
    public static void Run(RunDeployment on, string database, ServerRestart how, RunLog log)
    {
        SystemClock clock = SystemClock.Instance;
        long begun = clock.Now;
        bool kills = how == ServerRestart.Kill;
        ServerEnd.Wait(on.Deployment, kills);
        log.Report(kills ? RunEvent.Kill : RunEvent.CleanStop, kills ? "the server was killed" : "the server was stopped cleanly",
            clock.SecondsBetween(begun, clock.Now));
        if (how == ServerRestart.Cold && Platform.IsLinux)
            ServerEnd.ForgetFiles(on.Deployment);
        long started = clock.Now;
        on.Deployment.EnsureRunning();
        using (MongoConnection connection = MongoConnection.Open(on.Deployment.Address, on.Connections))
            connection.RunLongCommand(
                database, BsonDocument.Of(("find", WireCollection.MarkerCollection), ("limit", 1), ("singleBatch", true)));
        log.Report(RunEvent.FirstAnswer, "from server start to the reply to the first query", clock.SecondsBetween(started, clock.Now));
        log.Report(
            how == ServerRestart.Cold ? RunEvent.ColdStart : RunEvent.WarmStart,
            $"the server was {(kills ? "killed" : "stopped")} and restarted on {on.Deployment.Address}"
            + $"{(how == ServerRestart.Cold ? ", its files dropped from the page cache" : "")}", clock.SecondsBetween(begun, clock.Now));
    }
}

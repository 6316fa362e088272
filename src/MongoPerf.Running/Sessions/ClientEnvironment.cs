using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>The machine that a run's client is on, as it is stored with the run.</summary>
internal static class ClientEnvironment
{
    /// <param name="session">Has deployment and request.</param>
    public static EnvironmentInfo Read(RunSession session)
    {
        (IDeployment deployment, Inspection inspection, _) = session.On;
        EnvironmentInfo environment = EnvironmentReader.Read(
            inspection.DataFolder ?? session.Folder.Path, inspection.IsOnThisMachine) with { Clock = CompareClock(session) };
        // Calibrated is MongoPerf's own client, and the null deployment is what it was calibrated on.
        if (session.Request.Engine is not null || deployment.Kind == DeploymentKind.Null || !session.Request.System.IsCalibrated
            || CalibrationFolder.OfUser() is not { } calibrations)
            return environment;
        ClientCalibration? found = calibrations.Find(environment.CpuModel, out string? problem);
        if (problem is not null)
            session.Log.Show($"warning: calibration not used: {problem}");
        return environment with { Calibration = found };
    }

    /// <summary>Compares the client's clock with the server's, by which runs of several clients are laid over each other.</summary>
    private static ClientClock? CompareClock(RunSession session)
    {
        if (session.Request.Agent is { } agent)
            return agent.CompareClock();
        return session.Request.System.CompareClock(session.On.Deployment, session.On.Connections);
    }
}

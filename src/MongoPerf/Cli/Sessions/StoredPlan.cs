using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli.Sessions;

/// <summary>The plan of a run, read again from what is stored of it.</summary>
internal static class StoredPlan
{
    /// <exception cref="UserException">The stored file can't be read by this program.</exception>
    public static ReadPlan Read(RunSettings settings, ulong seed)
    {
        PlanSettings plan = settings.Plan;
        var file = new ScenarioFile(plan.Name, plan.Path, plan.Text);
        ScenarioDeployment? on = plan.Deployment is null ? null : PlanReader.Read(file, plan.Overrides, seed).Deployments.FirstOrDefault(d => d.Settings.Name == plan.Deployment);
        return PlanReader.Read(file, plan.Overrides, seed, on);
    }
}

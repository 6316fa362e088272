using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>The plan of a run, read again from what is stored of it.</summary>
public static class StoredPlan
{
    /// <exception cref="UserException">
    /// This program refuses the stored file, or would do something else than the one that began the run.
    /// </exception>
    /// <param name="settings">The run's.</param>
    /// <param name="seed">The run's.</param>
    /// <param name="files">Where it finds files, as whoever runs it says now: what is stored may be somebody else's.</param>
    public static ReadPlan Read(RunSettings settings, ulong seed, FilesFolder files)
    {
        PlanSettings plan = settings.Plan;
        try
        {
            return ShardedWrites.Of(Read(plan, plan.Overrides, seed, files), settings.Data.Sharding?.ShardKey);
        }
        catch (UserException e) when (e is not DataFileException)
        {
            throw new UserException(e.Code, $"the scenario stored with the run is not valid for this version of MongoPerf: {e.Message}",
                $"use the version that began the run, or change the file and begin a new run{(e.Hint is { } hint ? $": {hint}" : "")}");
        }
    }

    /// <summary>What the run's command line changed of its file, without what it only repeated.</summary>
    public static PlanOverrides EffectiveOverrides(StoredRun run)
    {
        PlanSettings plan = run.Settings.Plan;
        try
        {
            return Scenarios.EffectiveOverrides.Of(plan.Overrides, others => Read(plan, others, run.Run.Seed, FilesFolder.None));
        }
        catch (UserException)
        {
            // A file that this program can't read is taken at its word.
            return plan.Overrides;
        }
    }

    private static ReadPlan Read(PlanSettings plan, PlanOverrides overrides, ulong seed, FilesFolder files)
    {
        var file = new ScenarioFile(plan.Name, plan.Path, plan.Text) { Data = files };
        ScenarioDeployment? on = plan.Deployment is null ? null
            : PlanReader.Read(file, overrides, seed).Deployments.FirstOrDefault(d => d.Settings.Name == plan.Deployment);
        return PlanReader.Read(file, overrides, seed, on);
    }
}

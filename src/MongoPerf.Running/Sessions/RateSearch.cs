using MongoPerf.Load.Plans;
using MongoPerf.Running.Secrets;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Searches for the highest rate that holds: each rate is a run of its own, stored like any other. Data that a try leaves as it found them
/// are loaded by the first only.
/// </summary>
public static class RateSearch
{
    public const double UsualStart = 1000;

    /// <param name="overrides">The overrides of the command line.</param>
    /// <param name="read">Makes the request with these overrides.</param>
    /// <param name="goal">What must be true.</param>
    /// <param name="start">Rate of the first try, per second.</param>
    public static ExitCode Run(PlanOverrides overrides, Func<PlanOverrides, IReadOnlyList<RunRequest>> read, RateGoal goal, double start)
    {
        IReadOnlyList<RunRequest> requests = read(overrides with { Rates = [start] });
        if (requests.Count != 1)
            throw new UserException(ExitCode.WrongUsage, $"--find-max searches on one deployment, and {requests.Count} were named");
        if (requests[0].Output.Format is not ("text" or "json"))
            throw new UserException(ExitCode.WrongUsage, $"--find-max prints text or json, not {requests[0].Output.Format}");
        requests = RunRequest.WithLive(ConnectionSecrets.Complete(requests));
        using var signals = new StopSignals();
        RunRequest opened = RequestedEngine.Open(requests)[0];
        IReadOnlyList<string> repeated = KeepsData(opened) ? RepeatablePhases.Of(opened.Plan.Plan) : [];
        var steps = new RateSteps(start);
        var tries = new List<RateTry>();
        RunFolder? loaded = null;
        var server = new KeptServer();
        try
        {
            while (steps.Next is { } rate)
            {
                if (signals.WasStopped)
                    return ExitCode.Interrupted;
                PlanOverrides changed = overrides with { Rates = [rate] };
                if (loaded is not null)
                    changed = changed with { Phases = repeated, Records = overrides.IsAlone ? null : overrides.Records };
                RunRequest request = RequestFor(opened, read(changed)[0], tries, loaded);
                RunEnd end = PlanSession.Start(
                    repeated.Count > 0 && opened.StartsServer ? request with { Server = server } : request, signals);
                // Wrong documents are not worth a rate.
                if (!RunSequence.IsWhole(end.Code) || end.Code == ExitCode.VerificationFailed)
                    return end.Code;
                tries.Add(Evaluate(end.Folder, goal, rate, steps.Stage));
                steps.Note(tries[^1].Holds);
                Print(opened, tries, goal);
                if (repeated.Count > 0)
                    loaded ??= end.Folder;
                else
                    ServerData.Delete(end.Folder);
            }
        }
        finally
        {
            server.Dispose();
            if (loaded is not null)
                ServerData.Delete(loaded);
        }

        opened.Output.Results.Show(new RateSearchResult(goal, tries, steps.Found), opened.Output);
        return steps.Found is null ? ExitCode.AssertionFailed : ExitCode.Done;
    }

    /// <summary>The null deployment keeps none, and without markers they can't be told from others.</summary>
    private static bool KeepsData(RunRequest request) => request.Settings.Deployment.Topology != Topology.Null && request.System.HasMarkers;

    /// <param name="opened">The request of the first try.</param>
    /// <param name="read">The request of this try.</param>
    /// <param name="tries">Those before it.</param>
    /// <param name="loaded">Whose data it uses; null when it loads its own.</param>
    private static RunRequest RequestFor(RunRequest opened, RunRequest read, List<RateTry> tries, RunFolder? loaded)
    {
        StoredMessage[] changes = loaded is null
            ? [.. read.Plan.Changes]
            : [.. read.Plan.Changes, new StoredMessage(MessageCode.DataOfRun, loaded.Id)];
        return read with
        {
            Uri = opened.Uri,
            ShardLogin = opened.ShardLogin,
            Live = opened.Live,
            Engine = opened.Engine,
            Settings = read.Settings with { Engine = opened.Settings.Engine, Plan = read.Settings.Plan with { Changes = changes } },
            Plan = read.Plan with { Changes = changes },
            Try = tries.Count + 1,
            Predecessors = [.. tries.Select(one => one.Run)],
            Output = read.Output with { PrintsResult = false },
        };
    }

    private static RateTry Evaluate(RunFolder folder, RateGoal goal, double rate, string stage)
    {
        using StoredRun run = StoredRun.Open(folder.Path);
        return goal.Evaluate(run, rate, stage);
    }

    private static void Print(RunRequest request, List<RateTry> tries, RateGoal goal)
    {
        RateTry last = tries[^1];
        if (!request.Output.Quiet)
            Console.Error.WriteLine($"try {tries.Count} ({last.Stage}): {Units.Rate(last.Rate)}/s "
                + $"{(last.Holds ? $"holds, {goal.Metric} is {Units.Latency(last.Value)}" : $"does not hold: {last.Problem}")}");
    }
}

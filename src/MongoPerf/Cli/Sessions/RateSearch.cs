using MongoPerf.Cli.Live;
using MongoPerf.Cli.Secrets;
using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Reporting;

namespace MongoPerf.Cli.Sessions;

/// <summary>Searches for the highest rate that holds: each rate is a run of its own, stored like any other.</summary>
internal static class RateSearch
{
    public const double UsualStart = 1000;

    /// <param name="read">Makes the request with this rate.</param>
    /// <param name="goal">What must be true.</param>
    /// <param name="start">Rate of the first try, per second.</param>
    public static ExitCode Run(Func<double, IReadOnlyList<RunRequest>> read, RateGoal goal, double start)
    {
        IReadOnlyList<RunRequest> requests = read(start);
        if (requests.Count != 1)
            throw new UserException(ExitCode.WrongUsage, $"--find-max searches on one deployment, and {requests.Count} were named");
        if (requests[0].Output.Format is not ("text" or "json"))
            throw new UserException(ExitCode.WrongUsage, $"--find-max prints text or json, not {requests[0].Output.Format}");
        requests = LiveChild.Share(ConnectionSecrets.Complete(requests));
        using var signals = new StopSignals();
        RunRequest opened = RequestedEngine.Open(requests, () => RequestedEngine.LoadDriver(signals.Token))[0];
        var steps = new RateSteps(start);
        var tries = new List<RateTry>();
        while (steps.Next is { } rate)
        {
            if (signals.WasStopped)
                return ExitCode.Interrupted;
            RunEnd end = PlanSession.Start(RequestFor(opened, read(rate)[0], tries), signals);
            // Wrong documents are not worth a rate.
            if (!RunSequence.IsWhole(end.Code) || end.Code == ExitCode.VerificationFailed)
                return end.Code;
            tries.Add(Judge(end.Folder, goal, rate, steps.Stage));
            steps.Note(tries[^1].Holds);
            Tell(opened, tries, goal);
            // The next one needs the room; nothing needs these.
            ServerData.Delete(end.Folder);
        }

        Print(opened.Output.Format, tries, goal, steps.Found);
        return steps.Found is null ? ExitCode.AssertionFailed : ExitCode.Done;
    }

    private static RunRequest RequestFor(RunRequest opened, RunRequest read, List<RateTry> tries) => read with
    {
        Uri = opened.Uri,
        Live = opened.Live,
        Engine = opened.Engine,
        Settings = read.Settings with { Engine = opened.Settings.Engine },
        Predecessors = [.. tries.Select(one => one.Run)],
        Output = read.Output with { PrintsResult = false },
    };

    private static RateTry Judge(RunFolder folder, RateGoal goal, double rate, string stage)
    {
        using StoredRun run = StoredRun.Open(folder.Path);
        return goal.Judge(run, rate, stage);
    }

    private static void Tell(RunRequest request, List<RateTry> tries, RateGoal goal)
    {
        RateTry last = tries[^1];
        if (!request.Output.Quiet)
            Console.Error.WriteLine($"try {tries.Count} ({last.Stage}): {Units.Rate(last.Rate)}/s {(last.Holds ? $"holds, {goal.Metric} is {Units.Latency(last.Value)}" : $"does not hold: {last.Problem}")}");
    }

    private static void Print(string format, List<RateTry> tries, RateGoal goal, double? found)
    {
        if (format == "json")
        {
            JsonReport.WriteValue(Console.Out, new { schema = "mongoperf/find-max/1", assertion = goal.Text, highestRate = found, tries });
            return;
        }

        var report = new Report("MongoPerf: search for the highest rate", [new Block.Paragraph(Summary(tries, goal, found))], [Section.Of(Path(tries, goal))]);
        ConsoleReport.Write(report, Console.Out, ConsoleReportOptions.ForStandardOutput());
    }

    public static string Summary(IReadOnlyList<RateTry> tries, RateGoal goal, double? found)
    {
        if (found is not { } rate)
        {
            RateTry? held = tries.Where(one => one.Holds && !tries.Any(other => !other.Holds && other.Rate <= one.Rate)).MaxBy(one => one.Rate);
            return held is null
                ? $"no rate was found at which {goal.Text}: the lowest tried was {Units.Rate(tries.Min(one => one.Rate))}/s"
                : $"no rate was verified at which {goal.Text}: {Units.Rate(held.Rate)}/s held once, and the search ended after {Units.Counted(tries.Count, "try", "tries")}";
        }

        RateTry? failed = tries.Where(one => !one.Holds && one.Rate > rate).MinBy(one => one.Rate);
        string above = failed is null ? "no higher rate was tried" : $"{Units.Rate(failed.Rate)}/s does not ({failed.Problem})";
        return $"highest rate at which {goal.Text}: {Units.Rate(rate)}/s, verified; {above}";
    }

    private static ReportTable Path(IReadOnlyList<RateTry> tries, RateGoal goal) => new(
        "The search, in order; latency is response time, from when an operation was due",
        ["try", "<step", "rate/s", "achieved", goal.Metric, "<holds", "<run"],
        [
            .. tries.Select((one, i) => (IReadOnlyList<string>)
                [$"{i + 1}", one.Stage, Units.Rate(one.Rate), Units.Rate(one.Achieved), Units.Latency(one.Value), one.Problem is null ? "yes" : $"no: {one.Problem}", one.Run]),
        ]);
}

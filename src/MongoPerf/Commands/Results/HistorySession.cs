using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Histories;
using MongoPerf.Reports.Plots;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands.Results;

/// <summary>Which runs make a history, and how it is shown.</summary>
internal sealed record HistoryCall
{
    /// <summary>Holds the runs, and gets the folder of the history.</summary>
    public required string RunsFolder { get; init; }

    /// <summary>One scenario, one run, or several runs; empty for the newest run's scenario.</summary>
    public required IReadOnlyList<string> Names { get; init; }

    /// <summary>Null for those of the plot.</summary>
    public required IReadOnlyList<HistoryMetric>? Metrics { get; init; }

    public required int Newest { get; init; }

    public required double NoiseThreshold { get; init; }

    public bool Force { get; init; }

    public bool FailOnRegression { get; init; }

    /// <summary>Text is the whole report, not only its answer.</summary>
    public bool IsFull { get; init; }

    /// <summary>text, json, csv, markdown or junit.</summary>
    public required string Format { get; init; }

    /// <summary>Those over history are drawn.</summary>
    public required IReadOnlyList<PlotInfo> Plots { get; init; }
}

/// <summary>Finds the runs of a history, writes its folder and prints the result.</summary>
internal static class HistorySession
{
    public static ExitCode Run(HistoryCall call)
    {
        IReadOnlyList<PlotInfo> plots = [.. call.Plots.Where(static plot => plot.IsOfHistory)];
        IReadOnlyList<HistoryMetric> metrics = call.Metrics ?? [.. plots.SelectMany(HistoryMetric.Of).DistinctBy(one => one.Metric)];
        if (call.Metrics is not null)
            plots = [.. plots.Select(plot => plot with
            {
                Panels = [.. metrics.Select(one => one.Metric.Name).Distinct().Select(name => new PlotPanel(name))],
            })];
        RunHistory history;
        using (Words.InEnglish())
            history = Make(call, metrics);
        if (!Words.Language.IsEnglish)
            history = Make(call, metrics) with { InEnglish = history };
        ReportFiles files = HistoryWriter.WriteAll(
            history, Path.Combine(call.RunsFolder, RunCatalogue.HistoryPrefix + ComparisonCharts.Slug(history.Scenario)), plots);
        foreach (string warning in files.Warnings)
            Console.Error.WriteLine(warning);
        ResultFormat.Print(
            call.Format, call.IsFull,
            () => call.Format == "markdown"
                ? HistoryReport.Of(history)
                : HistoryReport.Of(history, ResultPrinter.Written(files), RunFolder.OtherThanDefault(call.RunsFolder)),
            ("json", output => HistoryJson.Write(history, output)), ("csv", output => HistoryCsv.Write(history, output)),
            ("junit", output => JunitReport.Write(history, output)));
        return call.FailOnRegression ? Gate(history) : ExitCode.Done;
    }

    private static RunHistory Make(HistoryCall call, IReadOnlyList<HistoryMetric> metrics)
    {
        HistoryRuns runs = HistoryRuns.Find(call.RunsFolder, call.Names, call.Force);
        RequireOperations(runs.Points, metrics);
        var request = new HistoryRequest { Metrics = metrics, NoiseThreshold = call.NoiseThreshold, Newest = call.Newest };
        RunHistory history = RunHistory.Of(runs.Points, request) with { LeftOut = runs.LeftOut, Unlike = runs.Unlike };
        return history.Lines.Count > 0 ? history : throw new UserException(
            ExitCode.WrongUsage,
            $"no run of {history.Scenario} measured {Words.And([.. metrics.Select(one => one.Metric.Name).Distinct()])}",
            "'mongoperf report RUN' shows what a run measured; --metric chooses among it");
    }

    private static void RequireOperations(IReadOnlyList<HistoryPoint> points, IReadOnlyList<HistoryMetric> metrics)
    {
        string[] known = [.. HistoryRow.NamesIn(points, metrics)];
        if (metrics.Select(one => one.Operation).FirstOrDefault(name => name is not null && !known.Contains(name)) is { } unknown)
            throw new UserException(
                ExitCode.WrongUsage, $"--metric: the runs have no operation '{unknown}'; they have {string.Join(", ", known)}",
                NearestName.Hint(unknown, known));
    }

    /// <summary>A gate that can't close must not look like one that was passed.</summary>
    private static ExitCode Gate(RunHistory history)
    {
        if (history.IsRegression)
            return ExitCode.Regression;
        return history.IsJudged ? ExitCode.Done : throw new UserException(
            ExitCode.WrongUsage,
            $"too few runs to tell a change from chance, so --fail-on-regression can't decide: there are {history.Points.Count}",
            $"it takes {history.Lines.Min(line => line.Needed)} runs, fewer where --metric names fewer metrics; "
                + "'mongoperf compare' judges two");
    }
}

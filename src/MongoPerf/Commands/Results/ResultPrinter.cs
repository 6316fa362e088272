using MongoPerf.Reports;
using MongoPerf.Reports.Phases;
using MongoPerf.Reports.Plots;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands.Results;

/// <summary>Writes the report's files, where they are asked for, and prints the result in the requested format.</summary>
/// <param name="ownPlots">A folder with plots of the user's own; null for the standard ones alone.</param>
/// <exception cref="UserException">The folder has no plots, or wrong ones.</exception>
internal sealed class ResultPrinter(string? ownPlots = null) : IRunResults
{
    // Read here, not when the report is drawn: a run must not measure for hours to end in a mistake of a file.
    private readonly IReadOnlyList<PlotInfo>? _plots = ownPlots is null ? null : PlotLibrary.With(ownPlots);
    private readonly PlotStyle? _style = ownPlots is null ? null : PlotStyle.In(ownPlots);

    public void Show(RunFolder folder, OutputRequest output)
    {
        using IDisposable? style = _style?.Use();
        using StoredRun run = StoredRun.Open(folder.Path);
        ReportFiles? files = null;
        UserException? unwritten = null;
        try
        {
            files = output.WritesReport ? ReportWriter.WriteAll(run, folder.ReportPath, _plots, folder.OtherRunsFolder) : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            unwritten = new UserException(ExitCode.Refused, $"{folder.ReportPath}: can't write the report: {e.Message}",
                $"the results are stored; once it can be written, {folder.CommandFor("report")} writes it");
        }

        foreach (string warning in files?.Warnings ?? [])
            Console.Error.WriteLine(warning);
        if (output.PrintsResult)
            Print(run, files, folder, output);
        if (unwritten is not null)
            throw unwritten;
    }

    public string Next(StoredRun run, RunFolder folder) => ReportLines.Next(run, folder.OtherRunsFolder);

    public IReadOnlyList<string> FailedAssertions(StoredRun run) =>
        [.. run.Phases
            .SelectMany(phase => phase.Assertions.Where(one => !one.Holds).Select(one => one.FailedIn(PhaseLabels.Of(phase))))];

    public ExitCode Compare(IReadOnlyList<string> runs, OutputRequest output)
    {
        using IDisposable? style = _style?.Use();
        return ComparisonSession.Run(new ComparisonRequest
        {
            RunsFolder = output.RunsFolder,
            Runs = runs,
            Format = output.Format,
            IsFull = output.IsFull,
            IsOfOneCommand = true,
            Plots = _plots,
        });
    }

    public void Show(RateSearchResult found, OutputRequest output)
    {
        using StoredRun last = StoredRun.Open(RunFolder.Find(output.RunsFolder, found.Tries[^1].Run).Path);
        RateSearchReport.Print(output.Format, found, last);
    }

    private static void Print(StoredRun run, ReportFiles? files, RunFolder folder, OutputRequest output)
    {
        try
        {
            Write(run, files, folder, output);
            if (output.Format != "text" && !output.Quiet && ServerData.Describe(run, folder) is { } left)
                Console.Error.WriteLine(Masking.Shown($"{Words.Of("left")}: {left}"));
        }
        catch (IOException e)
        {
            throw new UserException(ExitCode.Refused, $"standard output can't be written: {e.Message}",
                $"the results are stored; {folder.CommandFor("report")} prints them");
        }
    }

    private static void Write(StoredRun run, ReportFiles? files, RunFolder folder, OutputRequest output)
    {
        ResultFormat.Print(
            output.Format, output.IsFull, () => output.Format == "markdown"
                ? RunReport.Of(run, runsFolder: folder.OtherRunsFolder)
                : RunReport.Of(run, Written(files, ServerData.Describe(run, folder)), folder.OtherRunsFolder),
            ("json", to => JsonReport.Write(run, to)), ("csv", to => CsvReport.WriteResults(run, to)),
            ("ycsb", to => YcsbReport.Write(run, to)), ("junit", to => JunitReport.Write([run], to)));
        if (output.Format == "ycsb" && !run.Results.Any())
            Console.Error.WriteLine(
                $"run {run.Run.Id} measured no operations, so there is no YCSB output; --format text shows what it did");
    }

    /// <summary>A line per folder, as dozens of names would hide what matters, and the page last.</summary>
    /// <param name="files">Null when none were written.</param>
    /// <param name="left">What the run left behind; null for nothing.</param>
    public static IReadOnlyList<Fact> Written(ReportFiles? files, string? left = null)
    {
        List<Fact> facts = [.. (files?.Files ?? []).Where(file => file != files!.Page)
            .GroupBy(file => Path.GetDirectoryName(file)!).Select(folder => new Fact("written", Summary(folder)))];
        if (left is not null)
            facts.Add(new Fact("left", left));
        if (files is not null)
            facts.Add(new Fact("report", CommandText.OfPath(files.Page)) { Grade = Grade.Good });
        return facts;
    }

    private static string Summary(IGrouping<string, string> folder)
    {
        int pictures = folder.Count(file => file.EndsWith(".png", StringComparison.Ordinal));
        return pictures > 0
            ? Words.Of($"{CommandText.OfPath(folder.Key)}: {Words.Counted(pictures, "chart")} as PNG and SVG, with their data as CSV")
            : $"{CommandText.OfPath(folder.Key)}: {string.Join(", ", folder.Select(Path.GetFileName))}";
    }
}

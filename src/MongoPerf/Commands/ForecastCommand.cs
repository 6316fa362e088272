using System.CommandLine;
using MongoPerf.Commands.Results;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Reports.Forecasts;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>forecast RUN…</c>: continues stored growths to sizes, memory and disk that were not measured.</summary>
internal static class ForecastCommand
{
    /// <summary>More columns no screen has.</summary>
    private const int MostRuns = 4;

    public static Command Create()
    {
        var shared = new SharedOptions();
        var named = new Argument<string[]>("RUN")
        {
            Description = "Run ids or folders; several are shown side by side",
            Arity = new ArgumentArity(1, MostRuns),
        };
        Option<IReadOnlyList<long>?> documents = OptionTypes.List(
            "--documents", "Sizes of the collection to forecast [default: twice and five times the largest measured]", "COUNT[,COUNT…]",
            text => Quantities.ParseCount(text));
        Option<long?> memory = OptionTypes.Size("--memory", "Memory of each server that holds data [default: as in the run]");
        Option<long?> cache = OptionTypes.Size(
            "--cache", "Cache of each server that holds data [default: mongod's own for --memory, otherwise as in the run]");
        Option<long?> disk = OptionTypes.Size("--disk", "Disk space for all data folders [default: what was free when the run began]");
        Option<long?> reads = OptionTypes.Count("--disk-reads", "Random reads per second that the disk can serve; "
            + $"limits the forecast where the run shows nothing [default: {ForecastRequest.DefaultDiskReads}, one hard disk]");
        var check = new Option<bool>(
            "--check") { Description = "Predict the second half of the run's sizes from the first, and show the errors" };
        Option<string?> format = OptionTypes.Choice("--format", "Output format [default: text]", "text", "json", "csv", "markdown");
        var command = new Command("forecast", "Extrapolate a stored growth: bytes, when cache, memory and disk are outgrown, "
            + "rates and p99 with intervals") { named, documents, memory, cache, disk, reads, check, format, shared.Full, shared.Out };
        named.Validators.Add(result => CompareCommand.RefuseOptions(result, command));
        command.Validators.Add(result =>
        {
            if (result.GetValue(check) && result.GetValue(named) is { Length: > 1 })
                result.AddError("--check takes one run, which predicts itself");
            if (result.GetValue(check) && new Option[] { documents, memory, cache, disk }
                .FirstOrDefault(option => result.GetResult(option) is { Implicit: false }) is { } option)
                result.AddError($"{option.Name} does not apply to --check, which predicts the run's own sizes");
        });
        command.Runs(parsed =>
        {
            string runsFolder = PlanRequests.RunsFolder(parsed, shared.Out);
            string[] names = parsed.GetValue(named)!;
            RunFolder[] folders = [.. names.Select(name => RunFolder.Find(runsFolder, name))];
            List<StoredRun> runs = [];
            string form = parsed.GetValue(format) ?? "text";
            using IDisposable? english = form is "json" or "csv" ? Words.InEnglish() : null;
            try
            {
                foreach (RunFolder folder in folders)
                    runs.Add(StoredRun.Open(folder.Path));
                if (parsed.GetValue(check))
                    Print(ForecastCheck.Of(runs[0]) ?? throw TooFew(runs[0], 2 * GrowthFit.LeastSizes), form);
                else
                    Print(Forecasts(runs, RequestOf()), form, parsed.GetValue(shared.Full), RunFolder.TextOf(runsFolder, names));
            }
            finally
            {
                runs.ForEach(run => run.Dispose());
            }

            ForecastRequest RequestOf() => new()
            {
                Documents = [.. (parsed.GetValue(documents) ?? []).Order()],
                MemoryBytes = parsed.GetValue(memory),
                CacheBytes = parsed.GetValue(cache),
                DiskBytes = parsed.GetValue(disk),
                DiskReads = parsed.GetValue(reads) ?? ForecastRequest.DefaultDiskReads,
            };
        });
        return command;
    }

    private static UserException TooFew(StoredRun run, int least)
    {
        int sizes = GrowthFigures.Of(run) is [var growth, ..] ? growth.Steps.Count : 0;
        return new UserException(
            ExitCode.WrongUsage, sizes == 0
                ? $"run {run.Run.Id} has no growing collection, so there is nothing to extrapolate"
                : $"run {run.Run.Id} measured {Units.Counted(sizes, "size")}; a forecast needs {least} or more",
            "'mongoperf series' or a scenario with 'grow' measures as the data grow; a smaller --step gives more sizes");
    }

    /// <summary>All for the same sizes: those that were asked for, or those that suit the largest of them.</summary>
    private static IReadOnlyList<RunForecast> Forecasts(IReadOnlyList<StoredRun> runs, ForecastRequest request)
    {
        RunForecast[] forecasts = [.. runs.Select(run => RunForecast.Of(run, request) ?? throw TooFew(run, GrowthFit.LeastSizes))];
        if (request.Documents.Count > 0 || forecasts.Length == 1)
            return forecasts;
        return Forecasts(runs, request with { Documents = forecasts.MaxBy(forecast => forecast.LargestDocuments)!.Documents });
    }

    private static void Print(IReadOnlyList<RunForecast> forecasts, string format, bool isFull, string typed) => ResultFormat.Print(
        format, isFull,
        () => ForecastReport.Of(forecasts, typed),
        ("json", output => ForecastJson.Write(forecasts, output)),
        ("csv", output => ForecastCsv.Write(forecasts, output)));

    private static void Print(ForecastCheck check, string format) => ResultFormat.Print(
        format, isFull: true,
        () => ForecastReport.Of(check),
        ("json", output => ForecastJson.WriteCheck(check, output)),
        ("csv", output => ForecastCsv.WriteCheck(check, output)));
}

using System.CommandLine;
using MongoPerf.Commands.Results;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Reports.Forecasts;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>forecast RUN</c>: continues a stored growth to sizes, memory and disk that were not measured.</summary>
internal static class ForecastCommand
{
    public static Command Create()
    {
        var shared = new SharedOptions();
        Argument<string> run = RunArgument.Create();
        Option<IReadOnlyList<long>?> documents = OptionTypes.List(
            "--documents", "Sizes of the collection to forecast [default: twice and five times the largest measured]", "COUNT[,COUNT…]",
            text => Quantities.ParseCount(text));
        Option<long?> memory = OptionTypes.Size("--memory", "Memory of each server that holds data [default: as in the run]");
        Option<long?> cache = OptionTypes.Size(
            "--cache", "Cache of each server that holds data [default: mongod's own for --memory, otherwise as in the run]");
        Option<long?> disk = OptionTypes.Size("--disk", "Room for all data folders [default: what was free when the run began]");
        Option<long?> reads = OptionTypes.Count("--disk-reads", "Random reads per second that the disk serves; "
            + $"bounds the forecast where the run shows nothing [default: {ForecastRequest.DefaultDiskReads}, one hard disk]");
        var check = new Option<bool>(
            "--check") { Description = "Predict the second half of the run's sizes from the first, and show the errors" };
        Option<string?> format = OptionTypes.Choice("--format", "Output format [default: text]", "text", "json", "csv", "markdown");
        var command = new Command("forecast", "Extrapolate a stored growth: bytes, when cache, memory and disk are outgrown, "
            + "rates and p99 with intervals") { run, documents, memory, cache, disk, reads, check, format, shared.Out };
        command.Validators.Add(result =>
        {
            if (result.GetValue(check) && new Option[] { documents, memory, cache, disk }
                .FirstOrDefault(option => result.GetResult(option) is { Implicit: false }) is { } option)
                result.AddError($"{option.Name} does not apply to --check, which predicts the run's own sizes");
        });
        command.Runs(parsed =>
        {
            RunFolder folder = RunFolder.Find(PlanRequests.RunsFolder(parsed, shared.Out), parsed.GetValue(run)!);
            using StoredRun stored = StoredRun.Open(folder.Path);
            string form = parsed.GetValue(format) ?? "text";
            using IDisposable? english = form is "json" or "csv" ? Words.InEnglish() : null;
            if (parsed.GetValue(check))
                Print(ForecastCheck.Of(stored) ?? throw TooFew(stored, 2 * GrowthFit.LeastSizes), form);
            else
                Print(RunForecast.Of(stored, RequestOf()) ?? throw TooFew(stored, GrowthFit.LeastSizes), form);

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

    private static void Print(RunForecast forecast, string format) => ResultFormat.Print(
        format,
        () => ForecastReport.Of(forecast),
        ("json", output => ForecastJson.Write(forecast, output)),
        ("csv", output => ForecastCsv.Write(forecast, output)));

    private static void Print(ForecastCheck check, string format) => ResultFormat.Print(
        format,
        () => ForecastReport.Of(check),
        ("json", output => ForecastJson.WriteCheck(check, output)),
        ("csv", output => ForecastCsv.WriteCheck(check, output)));
}

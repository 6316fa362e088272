using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Forecasts;

/// <summary>The run that would tell what a forecast can give no more than a wide range for.</summary>
/// <param name="Command">As it is typed.</param>
/// <param name="Time">About how long it takes, from how long the stored run took.</param>
/// <param name="Operations">Of which it would tell more.</param>
public sealed record NarrowingRun(string Command, TimeSpan Time, IReadOnlyList<string> Operations)
{
    /// <summary>A range whose ends are further apart than this factor helps nobody to decide.</summary>
    public const double WidestFactor = 10;

    private const int Sizes = 12;
    private const double LeastMemoryBytes = 512 << 20;
    private const double LeastCacheBytes = 64 << 20;
    private const double MostOfDisk = 0.8;

    /// <summary>Options of the stored call that do not hold for this one.</summary>
    private static readonly string[] LeftOut = ["--memory-limit", "--cache", "--deployment", "--repeat"];

    public static bool IsTooWide(ForecastValue? value) => value is not null && value.High > WidestFactor * value.Low;

    /// <summary>A growth in which the data are as large against the memory as they were asked for.</summary>
    /// <returns>Null where no range is too wide.</returns>
    public static NarrowingRun? Of(RunForecast forecast)
    {
        string[] operations = [.. forecast.Operations.Where(operation => forecast.Documents.Select(operation.At)
            .Any(point => IsTooWide(point.PerSecond) || IsTooWide(point.P99Microseconds))).Select(operation => operation.Name)];
        if (operations.Length == 0)
            return null;
        StoredRun run = forecast.Run;
        double asked = forecast.Documents[^1];
        // Without what the run can't tell, more sizes nearer to the one that was asked for are all that helps.
        double documents = Math.Max(2 * forecast.LargestDocuments, asked / OperationForecast.FarFactor);
        string[] limits = run.DeploymentName is { } name ? [$"--deployment {CommandText.Quoted(name)}"] : [];
        bool isUnknown = forecast.Operations.Any(operation => operation.UnknownAt(forecast.Documents[^1]).Count > 0);
        if (isUnknown && forecast.Target.MemoryBytes is { } memory)
        {
            double each = memory / asked;
            if (CanLimit(run))
            {
                int servers = run.Deployment?.ShardCount ?? 1;
                double limit = Math.Max(LeastMemoryBytes, forecast.LargestDocuments * each / servers);
                double most = (run.Environment?.MemoryBytes ?? double.PositiveInfinity) / 2 / servers;
                limit = Math.Min(limit, Math.Max(LeastMemoryBytes, most));
                documents = limit * servers / each;
                double cache = Math.Max(LeastCacheBytes, limit * ((forecast.Target.CacheBytes ?? (memory / 2)) / memory));
                limits = [$"--memory-limit {Units.Megabytes(limit)}", $"--cache {Units.Megabytes(cache)}"];
            }
            else if (forecast.Measured.MemoryBytes is { } measured)
            {
                documents = Math.Max(documents, measured / each);
            }
        }

        // A run that fills the disk tells nothing, and one up to the size that is known nothing new.
        if (forecast.DocumentsOnDisk is { } fitting)
            documents = Math.Min(documents, Math.Max(fitting * MostOfDisk, 2 * forecast.LargestDocuments));
        long target = Units.TwoDigits(documents);
        string command = CommandText.Again(
            run.Run.CommandLine,
            [.. LeftOut, $"--target {Units.Count(target)}", $"--step {Units.Count(Units.TwoDigits(target / (double)Sizes))}", .. limits]);
        return new NarrowingRun(command, TimeFor(run, forecast, target), operations);
    }

    /// <summary>The program starts its servers, so that it can give them less.</summary>
    private static bool CanLimit(StoredRun run) => run is { DeploymentName: null, Settings.Deployment.Uri: null }
        && run.Deployment?.Kind is DeploymentKind.Mongod or DeploymentKind.ReplicaSet or DeploymentKind.Sharded;

    /// <summary>The windows take as long as they took, the writing as much longer as there is more of it.</summary>
    private static TimeSpan TimeFor(StoredRun run, RunForecast forecast, long documents)
    {
        PhaseRecord[] windows = [.. run.Phases.Where(phase => phase is { Growth: not null, Kind: PhaseKind.Measure })];
        double inWindows = windows.Sum(phase =>
            phase.Operations.Select(result => result.Seconds + result.WarmupSeconds).DefaultIfEmpty(0).Max());
        double all = run.Run.EndedAt is { } ended ? (ended - run.Run.StartedAt).TotalSeconds : inWindows;
        double writing = Math.Max(0, all - inWindows) * documents / forecast.LargestDocuments;
        return TimeSpan.FromSeconds(writing + (inWindows * Sizes / Math.Max(1, forecast.Growth.Steps.Count)));
    }
}

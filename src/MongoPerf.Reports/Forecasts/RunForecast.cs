using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Forecasts;

/// <summary>A size at which something is full.</summary>
/// <param name="What">"indexes", "working set of q4".</param>
/// <param name="Limit">"cache", "memory" or "disk".</param>
/// <param name="LimitBytes">The limit of all servers together, in bytes.</param>
/// <param name="Documents">How many documents there are then, with the interval.</param>
public sealed record Milestone(string What, string Limit, double LimitBytes, Prediction Documents);

/// <summary>A growth continued beyond the sizes that its run measured.</summary>
public sealed class RunForecast
{
    private RunForecast(StoredRun run, GrowthFigures growth, ForecastRequest request)
    {
        Run = run;
        Growth = growth;
        Measured = ServerMemory.Of(run);
        Target = Measured.With(request, run.Deployment?.ShardCount ?? 1);
        LargestDocuments = growth.Steps.Max(step => step.Documents);
        Documents = request.Documents.Count > 0 ? request.Documents : [2 * LargestDocuments, 5 * LargestDocuments];
        Sizes = SizeForecast.Of(growth.Sizes);
        CapacityLimit[] limits = [.. LimitsOf(request)];
        Operations = [.. growth.Lines.Where(line => !line.IsTotal)
            .Select(line => OperationForecast.Of(growth, line, growth.NameOf(line), limits, IndexCount)).OfType<OperationForecast>()];
        DiskBytes = request.DiskBytes ?? FreeDisk(run);
        Milestones = [.. MilestonesOf().OrderBy(milestone => milestone.Documents.Value)];
        Notes = [.. NotesOf(request)];
    }

    public StoredRun Run { get; }

    public GrowthFigures Growth { get; }

    /// <summary>What the run had.</summary>
    public ServerMemory Measured { get; }

    /// <summary>What is asked about.</summary>
    public ServerMemory Target { get; }

    /// <summary>The room for the data folders in bytes; null when it is not known.</summary>
    public double? DiskBytes { get; }

    public long LargestDocuments { get; }

    /// <summary>Those asked about.</summary>
    public IReadOnlyList<long> Documents { get; }

    /// <summary>Empty where fewer than four sizes were taken.</summary>
    public IReadOnlyList<SizeForecast> Sizes { get; }

    public IReadOnlyList<OperationForecast> Operations { get; }

    /// <summary>The milestones by size.</summary>
    public IReadOnlyList<Milestone> Milestones { get; }

    /// <summary>What its reader must know.</summary>
    public IReadOnlyList<string> Notes { get; }

    private int IndexCount => Growth.Sizes.Select(one => one.Sizes.Indexes.Count).DefaultIfEmpty(0).Max();

    /// <summary>Makes the forecast of the first growth.</summary>
    /// <param name="run">Stored.</param>
    /// <param name="request">What to continue it to.</param>
    /// <returns>Null when nothing grew, or with fewer than four sizes.</returns>
    public static RunForecast? Of(StoredRun run, ForecastRequest request) =>
        GrowthFigures.Of(run) is [var growth, ..] ? Of(run, growth, request) : null;

    /// <summary>Makes the forecast of a part of a run's growth.</summary>
    public static RunForecast? Of(StoredRun run, GrowthFigures growth, ForecastRequest request) =>
        growth.Steps.Count(step => step.Documents > 0) >= GrowthFit.LeastSizes ? new RunForecast(run, growth, request) : null;

    public SizeForecast? FindSize(string what) => Sizes.FirstOrDefault(size => size.What == what);

    /// <summary>What fills the disk: the data folder where it was measured, else the files of the collections.</summary>
    public SizeForecast? OnDisk => FindSize(SizeForecast.Disk) ?? FindSize(SizeForecast.Files);

    /// <summary>Documents that fill the disk of the machine that measured; null where that is not known.</summary>
    public double? DocumentsOnDisk => FreeDisk(Run) is { } free ? OnDisk?.Crossing(free).Value : null;

    /// <summary>What was free when a server began that the run started with an empty folder.</summary>
    private static double? FreeDisk(StoredRun run) =>
        run.Environment is { ServerOnSameMachine: true } machine && run.Settings.Deployment.Uri is null ? machine.DiskFreeBytes : null;

    private IEnumerable<CapacityLimit> LimitsOf(ForecastRequest request)
    {
        if (LimitOf(CapacityLimit.Cache, SizeForecast.Uncompressed, Measured.CacheBytes, Target.CacheBytes, request) is { } cache)
            yield return cache;
        if (LimitOf(CapacityLimit.Memory, SizeForecast.Files, Measured.MemoryBytes, Target.MemoryBytes, request) is { } memory)
            yield return memory;
    }

    private CapacityLimit? LimitOf(string name, string what, double? measured, double? target, ForecastRequest request) =>
        FindSize(what) is { } size && target is { } bytes
            ? new CapacityLimit(name, bytes, measured ?? bytes, size.Crossing(bytes).Value,
                measured is { } known ? size.Crossing(known).Value : double.PositiveInfinity, request.DiskReads)
            : null;

    private IEnumerable<Milestone> MilestonesOf()
    {
        (string What, string Limit, double? Bytes)[] all =
        [
            (SizeForecast.Indexes, CapacityLimit.Cache, Target.CacheBytes),
            (SizeForecast.Uncompressed, CapacityLimit.Cache, Target.CacheBytes),
            (SizeForecast.Indexes, CapacityLimit.Memory, Target.MemoryBytes),
            (SizeForecast.Files, CapacityLimit.Memory, Target.MemoryBytes),
            (OnDisk?.What ?? SizeForecast.Files, "disk", DiskBytes),
        ];
        foreach ((string what, string limit, double? bytes) in all)
        {
            if (bytes is { } known && FindSize(what) is { } size)
                yield return new Milestone(what == SizeForecast.Disk ? Words.Of("data folder") : what, limit, known, size.Crossing(known));
        }

        foreach (OperationForecast operation in Operations)
        {
            if (operation is { Outgrown: { } at, OutgrownLimit: { } limit })
                yield return new Milestone(Words.Of($"working set of {operation.Name}"), limit.Name, limit.Bytes, at.Times(limit.Scale));
        }
    }

    private IEnumerable<string> NotesOf(ForecastRequest request)
    {
        double far = Documents[^1] / (double)LargestDocuments;
        if (far > OperationForecast.FarFactor)
            yield return Words.Of($"{Units.Count(Documents[^1])} documents are {Units.Significant(far)} times the largest size measured "
                + $"({Units.Count(LargestDocuments)}): an extrapolation, whose intervals hold only if nothing new happens in between; "
                + $"a run up to {Units.Count(Documents[^1] / OperationForecast.FarFactor)} documents would support it");
        if (Milestones.FirstOrDefault(m => m.Limit == "disk") is { } disk && disk.Documents.Value < Documents[^1])
            yield return Words.Of($"the disk ({Units.Bytes(disk.LimitBytes)}) "
                + $"is full at {AxisScale.AboutText(disk.Documents.Value)} documents: larger sizes need a larger disk");
        foreach (string limit in Operations.SelectMany(operation => operation.UnknownAt(Documents[^1]))
            .Select(limit => limit.Name).Distinct())
            yield return Unknown(limit, request);
        if (Measured.MemoryBytes is null)
        {
            string consequence = Target.MemoryBytes is null
                ? Words.Of(", and --memory names none: what happens once it is outgrown is left out")
                : Words.Of(": the run is assumed to have fitted into it");
            yield return Words.Of($"the memory of the server is unknown{consequence}");
        }

        if (GrowthFigures.Of(Run).Count > 1)
            yield return Words.Of($"the run has several growths; this is '{Growth.Name}'");
        if (Sizes.Count == 0)
            yield return Words.Of("the run recorded file sizes at fewer than four sizes of the collection: bytes, cache, memory and disk "
                + "can't be forecast, nor what happens once they are outgrown");
        if (ClientLimit.Of(Run).Other is { IsTooMuch: true } other)
            yield return Words.Of(
                $"while the run was measuring, {other.Sentence}: its figures, and so the forecast, reflect that load too");
    }

    private string Unknown(string limit, ForecastRequest request)
    {
        (double? measured, double? target) = limit == CapacityLimit.Cache
            ? (Measured.CacheBytes, Target.CacheBytes)
            : (Measured.MemoryBytes, Target.MemoryBytes);
        string[] names = [.. Operations.Where(operation => operation.UnknownAt(Documents[^1]).Any(one => one.Name == limit))
            .Select(operation => operation.Name)];
        string bound = limit == CapacityLimit.Cache
            ? Words.Of("from all reads being served from there to none of them")
            : Words.Of($"from all reads being served from there to every page coming from a disk with {Units.Exact(request.DiskReads)} "
                + $"random reads/s (--disk-reads)");
        return Words.Of($"the run does not show what {Words.And(names)} cost beyond the "
            + $"{Words.Of(limit)} ({Units.BinaryBytes(measured)} in the run, {Units.BinaryBytes(target)} asked for): "
            + $"the figures in brackets are a range, {bound}; "
            + $"a run with a small --memory-limit and --cache that grows to several times their size would narrow it");
    }
}

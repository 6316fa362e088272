using System.Text.Json;

namespace MongoPerf.Storage;

/// <summary>
/// What client and loopback cost per operation of each kind, as <c>calibrate</c> measured it: one thread, on the null
/// deployment, for one CPU model.
/// </summary>
public sealed record ClientCalibration
{
    /// <summary>The format of the stored text; a newer one is not read.</summary>
    public const int CurrentFormat = 1;

    /// <summary>Kinds, which are the names of the phases in scenarios/calibrate.yaml. Stored: never rename one.</summary>
    public const string UnacknowledgedInsert = "unacknowledged insert";
    public const string BatchInsert = "batch insert";
    public const string AcknowledgedInsert = "acknowledged insert";
    public const string ShortFind = "find 10";
    public const string LongFind = "find 100";
    public const string Update = "update";

    public static IReadOnlyList<string> Kinds { get; } =
    [
        UnacknowledgedInsert, BatchInsert, AcknowledgedInsert, ShortFind, LongFind, Update,
    ];

    public int Format { get; init; } = CurrentFormat;

    public required string CpuModel { get; init; }

    public required int CpuCount { get; init; }

    public required DateTimeOffset At { get; init; }

    /// <summary>MongoPerf's.</summary>
    public required string Version { get; init; }

    /// <summary>Cores that other programs used meanwhile; null when they used too little to matter.</summary>
    public double? OtherCores { get; init; }

    /// <summary>One for each of <see cref="Kinds"/>.</summary>
    public required IReadOnlyList<OperationCost> Costs { get; init; }

    /// <summary>What the official driver cost in MongoPerf's client's place; null in a calibration of before it was measured.</summary>
    public DriverCosts? Driver { get; init; }

    /// <exception cref="JsonException">
    /// Not a calibration, one of a newer program, or values that none measures. The message is one line.
    /// </exception>
    public static ClientCalibration Read(string text)
    {
        using (var document = JsonDocument.Parse(text))
        {
            if (document.RootElement is { ValueKind: JsonValueKind.Object } root && root.TryGetProperty("format", out JsonElement format)
                && format.TryGetInt32(out int number) && number > CurrentFormat)
                throw new JsonException($"written by a newer MongoPerf (format {number}; this one reads format {CurrentFormat})");
        }

        ClientCalibration read = RunJson.Read<ClientCalibration>(text);
        return read.IsSound ? read : throw new JsonException("its costs are incomplete or out of range");
    }

    public string Write() => RunJson.Write(this);

    /// <summary>
    /// What client and loopback take of an operation like this one. Between small and large ones the cost is a line over the bytes
    /// of their documents.
    /// </summary>
    /// <returns>Null where it can't be told.</returns>
    public OperationCost? CostOf(OperationResult result) => CostOf(result, Costs);

    /// <summary>What the official driver would take on top of that.</summary>
    /// <returns>Null where it can't be told.</returns>
    public AddedCost? AddedByDriver(OperationResult result) =>
        Driver is not null && CostOf(result, Costs) is { } own && CostOf(result, Driver.Costs) is { } driver
            ? AddedCost.Between(own, driver)
            : null;

    private OperationCost? CostOf(OperationResult result, IReadOnlyList<OperationCost> costs)
    {
        // A run's copy may be somebody else's.
        if (!IsSound)
            return null;
        double bytes = result.OperationsPerSecond > 0 ? result.MegabytesPerSecond * 1e6 / result.OperationsPerSecond : 0;
        return result switch
        {
            { IsUnacknowledged: true } => Of(costs, UnacknowledgedInsert),
            { IsInsert: true } => OperationCost.Between(Of(costs, AcknowledgedInsert), Of(costs, BatchInsert), bytes),
            _ when bytes > 0 => OperationCost.Between(Of(costs, ShortFind), Of(costs, LongFind), bytes),
            _ => Of(costs, Update),
        };
    }

    private bool IsSound => Format == CurrentFormat && AreSound(Costs) && (Driver is null || AreSound(Driver.Costs));

    private static bool AreSound(IReadOnlyList<OperationCost> costs) =>
        costs.Count == Kinds.Count && Kinds.All(kind => costs.Any(cost => cost is { IsSound: true } && cost.Kind == kind));

    private static OperationCost Of(IReadOnlyList<OperationCost> costs, string kind) => costs.First(cost => cost.Kind == kind);
}

/// <summary>What operations cost through MongoDB.Driver, measured as with MongoPerf's own client.</summary>
/// <param name="Version">The version of MongoDB.Driver.</param>
/// <param name="Costs">One for each of <see cref="ClientCalibration.Kinds"/>.</param>
public sealed record DriverCosts(string Version, IReadOnlyList<OperationCost> Costs);

/// <summary>What one operation costs more with another client; nothing where that one is cheaper.</summary>
/// <param name="Microseconds">The microseconds by the clock.</param>
/// <param name="CpuMicroseconds">User and system time of the client process.</param>
/// <param name="AllocatedBytes">The bytes allocated on the managed heap.</param>
public sealed record AddedCost(double Microseconds, double CpuMicroseconds, double AllocatedBytes)
{
    public static AddedCost Between(OperationCost from, OperationCost to) => new(
        Math.Max(0, to.Microseconds - from.Microseconds),
        Math.Max(0, to.CpuMicroseconds - from.CpuMicroseconds),
        Math.Max(0, to.AllocatedBytes - from.AllocatedBytes));
}

/// <summary>The cost of one operation, on average.</summary>
public sealed record OperationCost
{
    /// <summary>One of <see cref="ClientCalibration.Kinds"/>.</summary>
    public required string Kind { get; init; }

    /// <summary>The microseconds by the clock for all of it: drawing, sending, the loopback's way, the reply.</summary>
    public required double Microseconds { get; init; }

    /// <summary>What of <see cref="Microseconds"/> is service time, as a run measures it.</summary>
    public required double ServiceMicroseconds { get; init; }

    /// <summary>User and system time of the client process.</summary>
    public required double CpuMicroseconds { get; init; }

    /// <summary>The bytes that the client allocated on the managed heap.</summary>
    public required double AllocatedBytes { get; init; }

    /// <summary>Bytes of documents sent or received.</summary>
    public required double DocumentBytes { get; init; }

    internal bool IsSound => Microseconds > 0 && new[] { Microseconds, ServiceMicroseconds, CpuMicroseconds, AllocatedBytes, DocumentBytes }
        .All(value => value is >= 0 and <= RunJson.Largest);

    /// <param name="result">The result of one thread on the null deployment.</param>
    /// <param name="kind">One of <see cref="ClientCalibration.Kinds"/>.</param>
    /// <returns>Null when it succeeded in nothing.</returns>
    public static OperationCost? From(OperationResult result, string kind)
    {
        if (result is not { Operations: > 0, Seconds: > 0, LatencyMicroseconds.Mean: { } service })
            return null;
        double all = result.Seconds * 1e6 / result.Operations;
        return new OperationCost
        {
            Kind = kind,
            Microseconds = all,
            ServiceMicroseconds = Math.Min(service, all),
            CpuMicroseconds = result.ClientCpuMicrosecondsPerOperation,
            AllocatedBytes = result.ClientAllocatedBytesPerOperation ?? 0,
            DocumentBytes = result.MegabytesPerSecond * 1e6 / result.OperationsPerSecond,
        };
    }

    /// <summary>A point of the line through both, also beyond them; never below nothing.</summary>
    internal static OperationCost Between(OperationCost small, OperationCost large, double bytes)
    {
        double span = large.DocumentBytes - small.DocumentBytes;
        double share = span > 0 ? (bytes - small.DocumentBytes) / span : 0;
        double service = At(small.ServiceMicroseconds, large.ServiceMicroseconds);
        return small with
        {
            Microseconds = Math.Max(service, At(small.Microseconds, large.Microseconds)),
            ServiceMicroseconds = service,
            CpuMicroseconds = At(small.CpuMicroseconds, large.CpuMicroseconds),
            AllocatedBytes = At(small.AllocatedBytes, large.AllocatedBytes),
            DocumentBytes = bytes,
        };

        double At(double from, double to) => Math.Max(0, from + (share * (to - from)));
    }
}

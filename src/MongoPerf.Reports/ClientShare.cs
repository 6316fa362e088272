using System.Globalization;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>What part of an operation's time client and loopback take, by the run's calibration.</summary>
/// <param name="Phase">The phase to which it belongs.</param>
/// <param name="Result">The result that was measured.</param>
/// <param name="ClientMicroseconds">
/// The client's microseconds per operation by the calibration; at most <paramref name="Microseconds"/>.
/// </param>
/// <param name="Microseconds">
/// The average microseconds per operation: service time, and what the client does before and after it; of unacknowledged inserts the time
/// by their rate.
/// </param>
internal sealed record ClientShare(PhaseRecord Phase, OperationResult Result, double ClientMicroseconds, double Microseconds)
{
    /// <summary>
    /// Operations, and documents of inserts: fewer are a moment, in which the first of them, and what else ran, weighs more than
    /// what the client costs.
    /// </summary>
    public const long LeastOperations = 100;

    /// <summary>0 to 1.</summary>
    public double Share => ClientMicroseconds / Microseconds;

    public string Label => PhaseLabels.Of(Phase, Result.Operation);

    /// <summary>
    /// What an application would pay on top, per operation, with the official driver in the client's place; null where that
    /// was not calibrated.
    /// </summary>
    public AddedCost? Driver { get; init; }

    /// <summary>"12 µs of the 96 µs per operation".</summary>
    public string Text => Words.Of($"{Units.Latency(ClientMicroseconds)} of the {Units.Latency(Microseconds)} per operation");

    /// <summary>Whether it did enough for its client to be judged.</summary>
    public static bool HasEnough(OperationResult result) =>
        (result.IsInsert ? Math.Max(result.Operations, result.Documents) : result.Operations) >= LeastOperations;

    /// <summary>Finds the shares of each operation that was done often enough.</summary>
    public static IEnumerable<ClientShare> Of(PhaseRecord phase, ClientCalibration calibration)
    {
        foreach (OperationResult result in phase.Operations)
        {
            if (!HasEnough(result) || result is not { Operations: > 0, LatencyMicroseconds.Mean: >= 0 and var service }
                || calibration.CostOf(result) is not { } cost)
                continue;
            // Nobody waits for the reply of an unacknowledged insert: what it takes is seen from how many arrive.
            double all = result.IsUnacknowledged
                ? result.Threads * 1e6 / result.OperationsPerSecond
                : service + cost.Microseconds - cost.ServiceMicroseconds;
            if (all > 0 && double.IsFinite(all))
                yield return new ClientShare(
                    phase, result, Math.Min(cost.Microseconds, all), all) { Driver = calibration.AddedByDriver(result) };
        }
    }
}

/// <summary>Those of a run that matter, in a sentence.</summary>
internal sealed record ClientShares(bool IsLimit, string Sentence)
{
    /// <summary>Beyond it most of what is measured is not the server.</summary>
    private const double Limit = 0.5;

    /// <returns>Null where the run has no calibration, or nothing was measured.</returns>
    public static ClientShares? Find(StoredRun run)
    {
        if (run.Environment?.Calibration is not { } calibration)
            return null;
        // Of a phase at several sizes, or with several numbers of threads, the one where it is most.
        ClientShare[] most = [.. run.Phases.SelectMany(phase => ClientShare.Of(phase, calibration))
            .GroupBy(one => one.Label).Select(label => label.MaxBy(one => one.Share)!)];
        if (most.Length == 0)
            return null;
        ClientShare[] beyond = [.. most.Where(one => one.Share > Limit)];
        string when =
            Words.Of($"calibrated {calibration.At.UtcDateTime.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture)} on this CPU model")
            + (calibration.OtherCores is { } cores
                ? Words.Of($" while other programs used {Units.Significant(Math.Round(cores, 1))} cores")
                : "");
        return beyond.Length == 0
            ? new ClientShares(false, Words.Of($"the client itself takes at most {InBrackets(most.MaxBy(one => one.Share)!)}; {when}"))
            : new ClientShares(true, Words.Of($"the client itself is the limit in "
                + $"{string.Join(", ", beyond.Select(one => $"{one.Label} ({one.Text}, {Percent(one)})"))}: a faster server would make "
                + $"little difference; {when}"));
    }

    /// <summary>What an application would pay for the official driver beside the server's time.</summary>
    /// <returns>Null where the run has no calibration of the driver.</returns>
    public static ReportTable? DriverTable(StoredRun run)
    {
        if (run.Environment?.Calibration is not { Driver: { } driver } calibration)
            return null;
        // Of a phase at several sizes the last.
        ClientShare[] last = [.. run.Phases.SelectMany(phase => ClientShare.Of(phase, calibration)).Where(one => one.Driver is not null)
            .GroupBy(one => (one.Label, one.Result.Threads)).Select(group => group.Last())];
        return last.Length == 0 ? null : new ReportTable(
            Words.Of($"What an application would pay for MongoDB.Driver {driver.Version}, per operation"),
            ["<operation", "threads", "time", "server and network", "added time", "added CPU", "added bytes"],
            [.. last.Select(one => (IReadOnlyList<string>)
            [
                one.Label, Units.Count(one.Result.Threads), Units.Latency(one.Microseconds),
                Units.Latency(one.Microseconds - one.ClientMicroseconds),
                Units.Latency(one.Driver!.Microseconds), Units.Latency(one.Driver.CpuMicroseconds), Units.Bytes(one.Driver.AllocatedBytes),
            ])]);
    }

    private static string InBrackets(ClientShare one) => Words.Of($"{one.Text} ({Percent(one)}), in {one.Label}");

    private static string Percent(ClientShare one) => Units.Percent(Math.Round(one.Share, 2));
}

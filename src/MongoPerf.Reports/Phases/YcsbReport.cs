using System.Globalization;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>A run in YCSB's own form, <c>[READ], 99thPercentileLatency(us), 4299</c>, for whatever reads that.</summary>
/// <remarks>
/// A block for each phase with one value of each parameter, loads too. MongoPerf's latencies are service times of succeeded
/// operations; failures are counted under <c>[READ-FAILED]</c>. A read-modify-write's parts are counted in no other line. The unit
/// stays "us", as YCSB spells it.
/// </remarks>
public static class YcsbReport
{
    public static void Write(StoredRun run, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        if (NotMongoDb.Mark(run) is { } mark)
            output.Write($"# {mark}\n");
        foreach (PhaseRecord phase in run.Phases.Where(p => p.Operations.Count > 0))
            WritePhase(phase, output);
    }

    private static void WritePhase(PhaseRecord phase, TextWriter output)
    {
        int threads = phase.Threads();
        output.Write($"# {phase.Label()}, {threads} {(threads == 1 ? "thread" : "threads")}\n");
        Line(output, "OVERALL", "RunTime(ms)", Whole(phase.Operations.Max(o => o.Seconds) * 1000));
        Line(output, "OVERALL", "Throughput(ops/sec)", Real(phase.OperationsPerSecond()));
        foreach (OperationResult operation in phase.Operations)
            WriteOperation(operation, output);
    }

    private static void WriteOperation(OperationResult operation, TextWriter output)
    {
        string name = NameOf(operation.Operation);
        LatencySummary latency = operation.LatencyMicroseconds;
        Line(output, name, "Operations", operation.Operations.ToString(CultureInfo.InvariantCulture));
        if (operation.Operations > 0)
        {
            Line(output, name, "AverageLatency(us)", Real(latency.Mean));
            Line(output, name, "MinLatency(us)", Whole(latency.Min));
            Line(output, name, "MaxLatency(us)", Whole(latency.Max));
            Line(output, name, "50thPercentileLatency(us)", Whole(latency.P50));
            Line(output, name, "95thPercentileLatency(us)", Whole(latency.P95));
            Line(output, name, "99thPercentileLatency(us)", Whole(latency.P99));
        }

        long notFound = operation.Effect is { } effect ? effect.FoundNothing ?? effect.MatchedNothing ?? 0 : 0;
        Line(output, name, "Return=OK", (operation.Operations - notFound).ToString(CultureInfo.InvariantCulture));
        if (notFound > 0)
            Line(output, name, "Return=NOT_FOUND", notFound.ToString(CultureInfo.InvariantCulture));
        if (operation.Failed > 0)
        {
            Line(output, name, "Return=ERROR", operation.Failed.ToString(CultureInfo.InvariantCulture));
            Line(output, name + "-FAILED", "Operations", operation.Failed.ToString(CultureInfo.InvariantCulture));
        }
    }

    /// <summary>The name that YCSB gives an operation; a load is its INSERT.</summary>
    private static string NameOf(string operation) => operation switch
    {
        "load" => "INSERT",
        "readmodifywrite" => "READ-MODIFY-WRITE",
        _ => operation.ToUpperInvariant(),
    };

    private static void Line(TextWriter output, string section, string metric, string value) =>
        output.Write($"[{section}], {metric}, {value}\n");

    private static string Whole(double? value) => Math.Round(value ?? 0).ToString("0", CultureInfo.InvariantCulture);

    private static string Real(double? value) => (value ?? 0).ToString("0.0###", CultureInfo.InvariantCulture);
}

using System.Globalization;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Scenarios;

/// <summary>A scenario's run in YCSB's own form, <c>[READ], 99thPercentileLatency(us), 4299</c>, for whatever reads that.</summary>
/// <remarks>
/// A block for each phase with one value of each parameter, loads too. MongoPerf's latencies are service times of succeeded operations; failures
/// are counted under <c>[READ-FAILED]</c>. What a read-modify-write does is in no other line.
/// </remarks>
internal static class YcsbReport
{
    public static void Write(StoredRun run, TextWriter output)
    {
        foreach (MeasuredPoint point in MeasuredPoint.Of(run))
            WritePoint(point, output);
    }

    private static void WritePoint(MeasuredPoint point, TextWriter output)
    {
        double seconds = point.Step.Tests.Select(t => t.Seconds).DefaultIfEmpty(0).Max();
        output.Write($"# {ScenarioTables.Label(point)}, {point.Point.Groups.Sum(g => g.Threads)} threads\n");
        Line(output, "OVERALL", "RunTime(ms)", Whole(seconds * 1000));
        Line(output, "OVERALL", "Throughput(ops/sec)", Real(point.OperationsPerSecond));
        foreach (TestResult test in point.Step.Tests)
            WriteOperation(test, output);
    }

    private static void WriteOperation(TestResult test, TextWriter output)
    {
        string name = NameOf(test.Test);
        LatencySummary latency = test.LatencyMicroseconds;
        Line(output, name, "Operations", test.Operations.ToString(CultureInfo.InvariantCulture));
        if (test.Operations > 0)
        {
            Line(output, name, "AverageLatency(us)", Real(latency.Mean));
            Line(output, name, "MinLatency(us)", Whole(latency.Min));
            Line(output, name, "MaxLatency(us)", Whole(latency.Max));
            Line(output, name, "50thPercentileLatency(us)", Whole(latency.P50));
            Line(output, name, "95thPercentileLatency(us)", Whole(latency.P95));
            Line(output, name, "99thPercentileLatency(us)", Whole(latency.P99));
        }

        Line(output, name, "Return=OK", test.Operations.ToString(CultureInfo.InvariantCulture));
        if (test.Failed > 0)
        {
            Line(output, name, "Return=ERROR", test.Failed.ToString(CultureInfo.InvariantCulture));
            Line(output, name + "-FAILED", "Operations", test.Failed.ToString(CultureInfo.InvariantCulture));
        }
    }

    /// <summary>As YCSB calls them; a load is its INSERT.</summary>
    private static string NameOf(string test) => test switch
    {
        "load" => "INSERT",
        "readmodifywrite" => "READ-MODIFY-WRITE",
        _ => test.ToUpperInvariant(),
    };

    private static void Line(TextWriter output, string section, string metric, string value) => output.Write($"[{section}], {metric}, {value}\n");

    private static string Whole(double? value) => Math.Round(value ?? 0).ToString("0", CultureInfo.InvariantCulture);

    private static string Real(double? value) => (value ?? 0).ToString("0.0###", CultureInfo.InvariantCulture);
}

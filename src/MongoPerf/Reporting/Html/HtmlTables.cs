using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Html;

/// <summary>The report's tables of figures.</summary>
internal static class HtmlTables
{
    private const string None = "–";

    public static void Growth(HtmlWriter html, StoredRun run)
    {
        var columns = run.Steps.SelectMany(static step => step.Tests).Select(static result => (result.Test, result.Threads))
            .Distinct().OrderBy(static one => TestOrder.Of(one.Test)).ThenBy(static one => one.Threads).ToList();
        bool hasSizes = run.Steps.Any(static step => step.Sizes is not null);
        List<string> heads = ["documents"];
        foreach ((string test, int threads) in columns)
            heads.Add(IsInsert(test) ? $"{test} docs/s" : $"{test}{(run.Settings.Threads.Count > 1 ? $" ×{threads}" : "")} op/s");
        if (hasSizes)
            heads.AddRange(["data", "stored", "indexes", "on disk"]);

        html.Paragraph("Documents per second for the inserts (unack, batch, safe), operations per second for the queries (q4 to q7), and sizes at each step.");
        html.Table(heads, run.Steps.Select(step =>
        {
            List<string> row = [Count(step.Documents) + (step.Complete ? "" : " (unfinished)")];
            foreach ((string test, int threads) in columns)
            {
                var result = step.Tests.FirstOrDefault(one => one.Test == test && one.Threads == threads);
                row.Add(result is null ? None : Rate(IsInsert(test) ? result.DocumentsPerSecond : result.OperationsPerSecond));
            }

            if (hasSizes)
                row.AddRange(SizeCells(step.Sizes));
            return row;
        }));
    }

    public static void Test(HtmlWriter html, StoredRun run, string test)
    {
        var results = run.Steps.SelectMany(step => step.Tests.Where(result => result.Test == test).Select(result => (step.Documents, Result: result))).ToList();
        html.Element("h3", ChartText.SeriesTitle(run.Settings, test, null));
        if (test == "unack")
            html.Paragraph("The rate is that of documents that arrived, up to the reply of the fence; latency is the time to send.");
        html.Table(
            ["documents", "threads", "operations", "failed", "seconds", "op/s", "docs/s", "MB/s", "p50", "p95", "p99", "p99.9", "max", "client CPU/op"],
            results.Select(static row => (IReadOnlyList<string>)
            [
                Count(row.Documents), Count(row.Result.Threads), Count(row.Result.Operations), Count(row.Result.Failed), Fixed(row.Result.Seconds, 1),
                Rate(row.Result.OperationsPerSecond), Rate(row.Result.DocumentsPerSecond), Fixed(row.Result.MegabytesPerSecond, 1),
                Latency(row.Result.LatencyMicroseconds.P50), Latency(row.Result.LatencyMicroseconds.P95), Latency(row.Result.LatencyMicroseconds.P99),
                Latency(row.Result.LatencyMicroseconds.P999), Latency(row.Result.LatencyMicroseconds.Max),
                Latency(row.Result.ClientCpuMicrosecondsPerOperation),
            ]));
        if (results.LastOrDefault().Result?.Plan is { } plan)
            html.Paragraph(PlanText(plan));
    }

    public static void Indexes(HtmlWriter html, StoredRun run)
    {
        var steps = run.Steps.Where(static step => step.Sizes is not null).ToList();
        var names = steps.SelectMany(static step => step.Sizes!.Indexes.Keys).Distinct().ToList();
        html.Table(
            ["documents", .. names, "all indexes", "bytes per document"],
            steps.Select(step => (IReadOnlyList<string>)
            [
                Count(step.Sizes!.Documents),
                .. names.Select(name => step.Sizes.Indexes.TryGetValue(name, out long bytes) ? AxisScale.BytesText(bytes) : None),
                AxisScale.BytesText(step.Sizes.IndexBytes),
                step.Sizes.Documents > 0 ? Fixed((double)step.Sizes.IndexBytes / step.Sizes.Documents, 1) : None,
            ]));
    }

    public static string Count(long value) => value.ToString("N0", CultureInfo.InvariantCulture);

    public static string Latency(double? microseconds) => microseconds switch
    {
        null => None,
        >= 1e6 => Three(microseconds.Value / 1e6) + " s",
        >= 1e3 => Three(microseconds.Value / 1e3) + " ms",
        _ => Three(microseconds.Value) + " µs",
    };

    private static string[] SizeCells(SizeResult? sizes) => sizes is null
        ? [None, None, None, None]
        : [AxisScale.BytesText(sizes.DataBytes), AxisScale.BytesText(sizes.StorageBytes), AxisScale.BytesText(sizes.IndexBytes),
            sizes.DiskBytes is { } disk ? AxisScale.BytesText(disk) : None];

    private static string PlanText(PlanSummary plan)
    {
        string examined = plan.DocumentsExaminedPerOperation is { } perOperation
            ? $" While it ran, the server examined {Three(perOperation)} documents and {Three(plan.KeysExaminedPerOperation ?? 0)} keys per operation."
            : "";
        return $"Plan at the last step: {plan.Index ?? "no index"}, {plan.Stages}; explain examined {Count(plan.KeysExamined)} keys and "
            + $"{Count(plan.DocumentsExamined)} documents for {Count(plan.Returned)} returned.{examined}";
    }

    private static bool IsInsert(string test) => ChartText.InsertTests.Contains(test);

    private static string Rate(double value) => value >= 100 ? Fixed(value, 0) : Three(value);

    private static string Fixed(double value, int digits) => value.ToString("N" + digits, CultureInfo.InvariantCulture);

    /// <summary>Three digits that mean something.</summary>
    private static string Three(double value) => value.ToString(value >= 100 ? "N0" : value >= 10 ? "0.#" : "0.##", CultureInfo.InvariantCulture);
}

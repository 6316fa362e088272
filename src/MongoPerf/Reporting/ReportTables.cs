using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Reporting.Experiments;
using MongoPerf.Reporting.Figures;
using MongoPerf.Reporting.Scenarios;
using MongoPerf.Reporting.Sharding;

namespace MongoPerf.Reporting;

/// <summary>The tables that console and Markdown have in common.</summary>
internal static class ReportTables
{
    /// <summary>Longer ones are thinned: a hundred sizes by eight tests is nothing to read.</summary>
    private const int MaxRows = 25;

    public static string TitleOf(string test) => test switch
    {
        "unack" => "Test 1, unack: inserts, unacknowledged (rates are of arrived documents; latency is the time to send)",
        "batch" => "Test 2, batch: inserts in batches, acknowledged (latency is of a whole batch)",
        "safe" => "Test 3, safe: single inserts, acknowledged",
        "q4" => "Test 4, q4: find by Number, 10 documents of 1 KB",
        "q5" => "Test 5, q5: find by Number and Number1, 10 documents, two small fields",
        "q6" => "Test 6, q6: find by Number, sorted by Date, skip 100, 10 documents",
        "q7" => "Test 7, q7: 100 documents, no condition",
        "size" => "Test 8, size: documents, indexes and disk",
        ExperimentTests.BeforeRestart => "before: find by Number, 10 documents, before the server's ends",
        ExperimentTests.AfterStop => "after-stop: the same from the first query on after a clean stop",
        ExperimentTests.AfterKill => "after-kill: the same from the first query on after kill -9",
        ExperimentTests.Insert => "insert: single inserts, acknowledged",
        ExperimentTests.Written => "w1: single inserts, acknowledged (w:1)",
        ExperimentTests.Journaled => "w1-j: single inserts, acknowledged when they are in the journal (w:1, j:true)",
        ExperimentTests.SortById => "sort-id: sorted by _id, skip 100, 10 documents",
        ExperimentTests.SortByNumber => "sort-number: sorted by Number, skip 100, 10 documents",
        _ => test,
    };

    /// <summary>All that a run has, in the order of a report: what an experiment came to, tests, growth, shards, what went wrong.</summary>
    public static IEnumerable<ReportTable> All(StoredRun run)
    {
        IEnumerable<ReportTable?> tables = [.. ExperimentTables.Of(run), .. Tests(run), Growth(run), .. ShardTables.Of(run), Errors(run), Events(run)];
        return tables.OfType<ReportTable>();
    }

    public static IEnumerable<ReportTable> Tests(StoredRun run) => run.Scenario is not null ? FigureTables.Of(FigureRun.Of(run)).Concat(ScenarioTables.Of(run)) : run.Steps
        .SelectMany(step => step.Tests.Select(test => (Step: step, Test: test)))
        .GroupBy(pair => pair.Test.Test)
        .OrderBy(group => TestOrder.Of(group.Key))
        .Select(group => OfTest(group.Key, [.. group]));

    /// <summary>Null when no sizes were taken.</summary>
    public static ReportTable? Growth(StoredRun run)
    {
        StepResult[] steps = [.. run.Steps.Where(s => s.Sizes != null)];
        // A scenario's phases have no common axis of documents; their sizes are in a table of their own.
        if (steps.Length == 0 || run.Scenario is not null)
            return null;
        string[] indexes = [.. steps.SelectMany(s => s.Sizes!.Indexes.Keys).Distinct()];
        var rows = steps.Select(step => Row(
            [
                Units.Count(step.Sizes!.Documents), Units.Bytes(step.Sizes.DataBytes), Units.Bytes(step.Sizes.StorageBytes),
                Units.Bytes(step.Sizes.IndexBytes),
                .. indexes.Select(name => step.Sizes.Indexes.TryGetValue(name, out long bytes) ? Units.Bytes(bytes) : Units.None),
                Units.Bytes(step.Sizes.DiskBytes),
            ])).ToList();
        return Thinned("Test 8, size: growth", ["documents", "data", "storage", "indexes", .. indexes, "disk"], rows);
    }

    public static ReportTable? Errors(StoredRun run) => run.Errors.Count == 0 ? null : new ReportTable(
        "Errors",
        ["count", "code", "<name", "<first message"],
        [.. run.Errors.Select(e => Row([Units.Exact(e.Count), e.Code.ToString(), e.Name, e.FirstMessage]))]);

    public static ReportTable? Events(StoredRun run)
    {
        // Phases have tables of their own.
        RunEvent[] events = [.. run.Events.Where(e => e.Kind != RunEvent.Phase)];
        if (events.Length == 0)
            return null;
        var rows = events.Select(e => Row(
            [
                DateTimeOffset.FromUnixTimeMilliseconds(e.AtMilliseconds).ToString("yyyy-MM-dd HH:mm:ss", CultureInfo.InvariantCulture),
                e.Kind,
                e.Seconds is { } seconds ? Units.Duration(TimeSpan.FromSeconds(seconds)) : "",
                e.Text,
            ])).ToList();
        return Thinned("Events (UTC)", ["<time", "<event", "lasted", "<what"], rows);
    }

    private static ReportTable OfTest(string test, IReadOnlyList<(StepResult Step, TestResult Test)> results)
    {
        bool manyThreads = results.Select(r => r.Test.Threads).Distinct().Count() > 1;
        bool hasPlan = results.Any(r => r.Test.Plan != null);
        bool hasLoss = results.Any(r => r.Test.Unacknowledged != null);
        bool hasResponse = results.Any(r => r.Test.ResponseMicroseconds != null);
        List<string> columns = ["documents"];
        Add(manyThreads, "threads");
        Add(true, "ops/s", "docs/s", "MB/s", "failed", "p50", "p95", "p99", "p99.9", "max");
        Add(hasResponse, "response p50", "response p99");
        Add(hasLoss, "lost", "drain");
        Add(hasPlan, "<index", "examined/op");
        var rows = new List<IReadOnlyList<string>>();
        foreach ((StepResult step, TestResult t) in results)
        {
            List<string> row = [Units.Count(step.Documents)];
            if (manyThreads)
                row.Add(t.Threads.ToString());
            LatencySummary l = t.LatencyMicroseconds;
            row.AddRange(
            [
                Units.Rate(t.OperationsPerSecond), Units.Rate(t.DocumentsPerSecond), Units.Rate(t.MegabytesPerSecond), Units.Exact(t.Failed),
                Units.Latency(l.P50), Units.Latency(l.P95), Units.Latency(l.P99), Units.Latency(l.P999), Units.Latency(l.Max),
            ]);
            if (hasResponse)
                row.AddRange([Units.Latency(t.ResponseMicroseconds?.P50), Units.Latency(t.ResponseMicroseconds?.P99)]);
            if (hasLoss)
                row.AddRange(Loss(t.Unacknowledged));
            if (hasPlan)
                row.AddRange([t.Plan == null ? Units.None : t.Plan.Index ?? "(none)", Units.Rate(Examined(t.Plan))]);
            rows.Add(row);
        }

        return Thinned(TitleOf(test), columns, rows);

        void Add(bool condition, params ReadOnlySpan<string> names)
        {
            if (condition)
                columns.AddRange(names);
        }
    }

    /// <summary>By the server's counters over the window; by explain where it has none.</summary>
    private static double? Examined(PlanSummary? plan) => plan == null ? null : plan.DocumentsExaminedPerOperation ?? plan.DocumentsExamined;

    private static string[] Loss(UnacknowledgedResult? result) => result == null
        ? [Units.None, Units.None]
        : [Units.Exact(result.Lost), Units.Duration(TimeSpan.FromSeconds(result.DrainSeconds))];

    /// <summary>As it is when it is short enough to be read; else every so manieth row.</summary>
    public static ReportTable Thinned(string title, IReadOnlyList<string> columns, List<IReadOnlyList<string>> rows)
    {
        if (rows.Count <= MaxRows)
            return new ReportTable(title, columns, rows);
        // The last row always shows, as it is what the run came to.
        int every = (rows.Count + MaxRows - 2) / (MaxRows - 1);
        var shown = rows.Where((_, i) => i == rows.Count - 1 || i % every == 0).ToList();
        return new ReportTable($"{title} ({shown.Count} of {rows.Count} rows; all are in the CSV files)", columns, shown);
    }

    private static IReadOnlyList<string> Row(IReadOnlyList<string> fields) => fields;
}

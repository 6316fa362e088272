using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Scenarios;

/// <summary>One phase of a scenario with its results.</summary>
/// <param name="Point">Which phase, with which parameters.</param>
/// <param name="Step">What it measured.</param>
internal sealed record MeasuredPoint(ScenarioPoint Point, StepResult Step)
{
    /// <summary>In the order in which they ran.</summary>
    public static IReadOnlyList<MeasuredPoint> Of(StoredRun run) =>
    [
        .. run.Points.Select(point => (Point: point, Step: run.Steps.FirstOrDefault(step => step.Step == point.Step)))
            .Where(pair => pair.Step is not null).Select(pair => new MeasuredPoint(pair.Point, pair.Step!)),
    ];

    public string? ValueOf(string parameter) => Point.Parameters.FirstOrDefault(p => p.Name == parameter)?.Value;

    public double OperationsPerSecond => Step.Tests.Sum(t => t.OperationsPerSecond);
}

/// <summary>The tables of a scenario's run: a table for each phase, a row for each value of its parameters and each operation.</summary>
internal static class ScenarioTables
{
    public static IEnumerable<ReportTable> Of(StoredRun run)
    {
        foreach (IGrouping<string, MeasuredPoint> phase in MeasuredPoint.Of(run).GroupBy(p => p.Point.Phase))
            yield return Results(phase.Key, [.. phase]);
        foreach (ReportTable laps in LapTables.Of(run))
            yield return laps;
        foreach (ReportTable? table in new[] { Fairness(run), Errors(run), Sizes(run) })
        {
            if (table is not null)
                yield return table;
        }
    }

    /// <summary>Parameters that differ between these points; threads come in a column of their own.</summary>
    public static IReadOnlyList<string> ParametersOf(IReadOnlyList<MeasuredPoint> points) =>
    [
        .. points.SelectMany(p => p.Point.Parameters).Select(p => p.Name).Distinct()
            .Where(name => name != "threads" && points.Select(p => p.ValueOf(name)).Distinct().Count() > 1),
    ];

    private static ReportTable Results(string phase, IReadOnlyList<MeasuredPoint> points)
    {
        IReadOnlyList<string> parameters = ParametersOf(points);
        bool hasResponse = points.SelectMany(p => p.Step.Tests).Any(t => t.ResponseMicroseconds is not null);
        List<string> columns = [.. parameters.Select(p => "<" + p), "<operation", "threads", "ops/s", "docs/s", "MB/s", "failed", "p50", "p95", "p99", "p99.9", "max"];
        if (hasResponse)
            columns.AddRange(["response p50", "response p99"]);
        var rows = new List<IReadOnlyList<string>>();
        foreach (MeasuredPoint point in points)
        {
            string[] values = [.. parameters.Select(p => point.ValueOf(p) ?? Units.None)];
            rows.AddRange(point.Step.Tests.Select(test => (IReadOnlyList<string>)[.. values, .. Row(test, hasResponse)]));
            if (point.Step.Tests.Count > 1)
                rows.Add([.. values, .. Total(point, columns.Count - parameters.Count)]);
        }

        return new ReportTable($"Phase {phase}", columns, rows);
    }

    private static IEnumerable<string> Row(TestResult t, bool hasResponse)
    {
        LatencySummary l = t.LatencyMicroseconds;
        IEnumerable<string> row =
        [
            t.Test, t.Threads.ToString(), Units.Rate(t.OperationsPerSecond), Units.Rate(t.DocumentsPerSecond), Units.Rate(t.MegabytesPerSecond), Units.Exact(t.Failed),
            Units.Latency(l.P50), Units.Latency(l.P95), Units.Latency(l.P99), Units.Latency(l.P999), Units.Latency(l.Max),
        ];
        return hasResponse ? [.. row, Units.Latency(t.ResponseMicroseconds?.P50), Units.Latency(t.ResponseMicroseconds?.P99)] : row;
    }

    /// <summary>Latencies of different operations are not added up.</summary>
    private static IEnumerable<string> Total(MeasuredPoint point, int columns)
    {
        IReadOnlyList<TestResult> tests = point.Step.Tests;
        string[] row =
        [
            "total", point.Point.Groups.Sum(g => g.Threads).ToString(), Units.Rate(point.OperationsPerSecond), Units.Rate(tests.Sum(t => t.DocumentsPerSecond)),
            Units.Rate(tests.Sum(t => t.MegabytesPerSecond)), Units.Exact(tests.Sum(t => t.Failed)),
        ];
        return [.. row, .. Enumerable.Repeat("", columns - row.Length)];
    }

    /// <summary>Null when no group had several threads.</summary>
    private static ReportTable? Fairness(StoredRun run)
    {
        var rows = new List<IReadOnlyList<string>>();
        foreach (MeasuredPoint point in MeasuredPoint.Of(run))
        {
            foreach (GroupShare group in point.Point.Groups.Where(g => g.Threads > 1 && g.Operations > 0))
            {
                rows.Add(
                [
                    NameOf(point, group), group.Threads.ToString(), Units.Exact(group.Least), Units.Rate(group.Mean), Units.Exact(group.Most), Units.Rate(group.Deviation),
                    Units.Percent(group.Deviation / group.Mean),
                ]);
            }
        }

        return rows.Count == 0 ? null : new ReportTable("Fairness: operations of each thread", ["<phase", "threads", "least", "mean", "most", "std. dev.", "of the mean"], rows);
    }

    private static ReportTable? Errors(StoredRun run)
    {
        IReadOnlyList<string>[] rows =
        [
            .. MeasuredPoint.Of(run).SelectMany(point => point.Step.Tests.SelectMany(test => test.Errors.Select(e =>
                (IReadOnlyList<string>)[Label(point), test.Test, Units.Exact(e.Count), e.Code.ToString(), e.Name, e.FirstMessage]))),
        ];
        return rows.Length == 0 ? null : new ReportTable("Errors by operation", ["<phase", "<operation", "count", "code", "<name", "<first message"], rows);
    }

    private static ReportTable? Sizes(StoredRun run)
    {
        MeasuredPoint[] sized = [.. MeasuredPoint.Of(run).Where(p => p.Step.Sizes is not null)];
        bool isSharded = sized.Any(p => p.Step.Sizes!.Shards.Count > 0);
        IReadOnlyList<string>[] rows =
        [
            .. sized.Select(p => (IReadOnlyList<string>)
            [
                Label(p), Units.Exact(p.Step.Sizes!.Documents), Units.Bytes(p.Step.Sizes.DataBytes), Units.Bytes(p.Step.Sizes.StorageBytes),
                Units.Bytes(p.Step.Sizes.FreeStorageBytes), Units.Bytes(p.Step.Sizes.IndexBytes), .. isSharded ? [DocumentsByShard(p.Step.Sizes)] : Array.Empty<string>(),
            ]),
        ];
        string[] columns = ["<phase", "documents", "data", "storage", "free in it", "indexes", .. isSharded ? ["<documents by shard"] : Array.Empty<string>()];
        return rows.Length == 0 ? null : new ReportTable("Sizes after", columns, rows);
    }

    private static string DocumentsByShard(SizeResult sizes) => string.Join(", ", sizes.Shards.Select(shard => $"{shard.Shard}: {Units.Exact(shard.Documents)}"));

    private static string NameOf(MeasuredPoint point, GroupShare group) => group.Name.Length > 0 ? $"{Label(point)}, {group.Name}" : Label(point);

    /// <summary>The phase with its parameters, such as "read (limit=10)".</summary>
    public static string Label(MeasuredPoint point) => point.Point.Parameters.Count == 0
        ? point.Point.Phase
        : $"{point.Point.Phase} ({string.Join(", ", point.Point.Parameters.Select(p => $"{p.Name}={p.Value}"))})";
}

using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>What came of a run, on one screen: how it ended, a line for each operation, what matters most, and what to do next.</summary>
internal static class RunAnswer
{
    /// <summary>More lines would be no screen.</summary>
    private const int MostRows = 15;
    private const int MostFindings = 3;
    private const int MostBad = 4;

    /// <summary>Of a rate, either way: where it differs as much without a finding, chance or noise may have done it.</summary>
    private const double LeastChange = 1.25;

    /// <summary>The fewest seconds of which the ends are compared.</summary>
    private const int LeastSeconds = 8;

    /// <summary>Of a part, what its total does not do as it should either.</summary>
    private static readonly string[] InvalidParts = 
    [
        FindingIds.FoundNothing, FindingIds.ChangedNothing, FindingIds.PlanScans, FindingIds.PlanExamines,
    ];

    private static readonly string[] Columns = ["<operation", "rate", "p50", "p99", "max"];

    /// <summary>Only where transactions had to be run again: the share of their attempts.</summary>
    private const string Retried = "retried";

    /// <param name="run">Finished or not.</param>
    /// <param name="verdicts">What the run's report states.</param>
    /// <param name="files">What was written; of these the page and the data that were left are named.</param>
    /// <param name="runsFolder">As typed after --out; null for the default.</param>
    public static IReadOnlyList<Block> Of(
        StoredRun run, IReadOnlyList<Verdict> verdicts, IReadOnlyList<Fact> files, string? runsFolder)
    {
        IReadOnlyList<Finding> all = RunFindings.Of(run);
        IReadOnlyList<Finding> findings = RunFindings.Shown(run);
        // How it ended, the sum of its operations, and what a replay is for: whether the replies are those that were recorded.
        Verdict[] replay = ReplayTables.Verdict(run) is { } compared ? [compared] : [];
        Verdict[] first =
        [
            .. run.RepliesDiffer ? [.. replay, .. verdicts.Take(2)] : verdicts.Take(2).Concat(replay),
            .. verdicts.Skip(2).Except(replay).Where(verdict => verdict.Grade == Grade.Bad).Take(MostBad),
        ];
        (int Place, Finding Finding)[] foremost = Foremost(findings);
        // That the server is not MongoDB stands above all else.
        int cautions = verdicts.Except(first).Count(verdict =>
            verdict.Grade != Grade.Good && verdict.Finding != VerdictFinding.EmbeddedServer);
        string? more = More(cautions, findings.Count - foremost.Length);
        var next = new Fact("next", Next(run, runsFolder));
        return
        [
            new Block.Facts([new Fact("run", $"{run.Run.Id}: {Subject(run)}")]) { In = Media.Console | Media.Markdown },
            new Block.Verdicts([.. IsQuiet(run, all) ? first : first.Select(verdict => verdict.Unsure())]),
            .. Tables(run, all).Select(table => new Block.Table(table) { IsPlain = true }),
            new Block.Facts([.. Loads(run)]),
            new Block.Foremost(foremost),
            new Block.Facts([.. Worst(run)]),
            new Block.Facts(
            [
                .. more is null ? Array.Empty<Fact>() : [new Fact("more", $"{more}: {CommandFor("report", run, runsFolder)} --full")],
                .. files.Where(file => file.Name is "left" or "report"), next,
            ]) { In = Media.Console },
            new Block.Facts(
            [
                .. more is null ? Array.Empty<Fact>() : [new Fact("more", Words.Of($"{more}, below")) { Link = "#section-notes" }], next,
            ]) { In = Media.Documents },
        ];
    }

    /// <summary>"5 cautions, 2 findings"; null for none.</summary>
    /// <param name="cautions">That the answer does not show.</param>
    /// <param name="findings">That the answer does not show.</param>
    public static string? More(int cautions, int findings)
    {
        string[] parts =
        [
            .. cautions > 0 ? [Words.Counted(cautions, "caution")] : Array.Empty<string>(),
            .. findings > 0 ? [Words.Counted(findings, "finding")] : Array.Empty<string>(),
        ];
        return parts.Length == 0 ? null : string.Join(", ", parts);
    }

    /// <summary>The heaviest of each kind before others of the same kind, which say much the same of other operations.</summary>
    private static (int Place, Finding Finding)[] Foremost(IReadOnlyList<Finding> findings)
    {
        (int Place, Finding Finding)[] all = [.. findings.Index().Select(one => (one.Index, one.Item))];
        (int Place, Finding Finding)[] kinds = [.. all.DistinctBy(one => one.Finding.Id)];
        return [.. kinds.Concat(all.Except(kinds)).Take(MostFindings).OrderBy(one => one.Place)];
    }

    /// <summary>The worst second, and what coincided.</summary>
    private static IEnumerable<Fact> Worst(StoredRun run)
    {
        if (SlowestSeconds.Of(run).Seconds is not [var worst, ..])
            yield break;
        // Nothing ends in a second of a stall.
        string p99 = worst.P99Microseconds is { } latency
            ? Words.Of($", p99 {Units.Latency(latency)} (usually {Units.Latency(worst.UsualP99Microseconds)})") : "";
        string at = SlowestSeconds.Clock(worst.Range.FromSeconds!.Value);
        yield return new Fact("worst", worst.UsualPerSecond is { } usual
            ? Words.Of($"{worst.Operation} at {at}: {Units.Rate(worst.PerSecond)}/s (usually {Units.Rate(usual)}){p99}; {worst.Why}")
            : Words.Of($"{worst.Operation} at {at}: {Units.Rate(worst.PerSecond)}/s{p99}; {worst.Why}"));
    }

    private static string Subject(StoredRun run)
    {
        string target = run.GrowthSteps.Count > 0 ? Words.Of($" to {Units.Count(run.Settings.Plan.TargetDocuments)} documents") : "";
        string took = run.Run.EndedAt is { } ended ? $", {Units.Duration(ended - run.Run.StartedAt)}" : "";
        return Words.Of($"{run.Settings.Plan.Name}{target} on {ChartText.DeploymentText(run)}{took}");
    }

    private static string CommandFor(string command, StoredRun run, string? runsFolder) =>
        $"{CommandText.Program} {command} {run.Run.Id}{CommandText.Out(runsFolder)}";

    /// <summary>The command that would tell most, and what for.</summary>
    private static string Next(StoredRun run, string? runsFolder)
    {
        if (run.StateText != "finished")
            return ReportLines.Next(run, runsFolder);
        if (run.RepliesDiffer)
            return Words.Of($"to see which replies differ: {CommandFor("report", run, runsFolder)} --full");
        if (run.Failures > run.Settings.Plan.MaxErrors)
            return Words.Of($"to see what failed: {CommandFor("report", run, runsFolder)} --full");
        if (run.Run.Repeat is not null)
            return Words.Of($"to see how much the repeats differ: {CommandFor("compare", run, runsFolder)}");
        if (run.Results.Any(result => result.Replay is { Compared: > 0 }))
            return Words.Of($"to compare its times with the recorded ones: {CommandFor("compare", run, runsFolder)}");
        if (GrowthFigures.Of(run) is [var growth, ..] && growth.Steps.Count >= Forecasts.GrowthFit.LeastSizes)
            return Words.Of($"to see how it would continue: {CommandFor("forecast", run, runsFolder)} "
                + $"--documents {Units.Count(10 * growth.LargestDocuments)}");
        return run.Results.Any() && run.Run is { Clients: [], Try: null }
            ? Words.Of($"to see how much another run differs: {CommandText.Again(run.Run.CommandLine, "--repeat 5")}")
            : ReportLines.Next(run, runsFolder);
    }

    /// <summary>All that was measured is as good as its figures; else "ok" stands nowhere above them.</summary>
    private static bool IsQuiet(StoredRun run, IReadOnlyList<Finding> findings)
    {
        (PhaseRecord Phase, OperationResult Result)[] measured = [.. run.Phases.Where(phase => phase.Kind == PhaseKind.Measure)
            .SelectMany(phase => phase.Operations.Select(result => (phase, result))).Where(one => one.result.Connections is null)];
        Finding[] telling =
            [.. findings.Where(finding => finding.Id is FindingIds.Stall or FindingIds.ClientStopped || InvalidParts.Contains(finding.Id))];
        return !measured.Any(one => one.Result.Replay is { Different: > 0 }
                || FoundIn([PhaseLabels.WithParameters(one.Phase, one.Result.Operation)], telling) is not null)
            && (measured.Length == 0 || measured.Any(one => FewOf(one.Result) is null));
    }

    private static IEnumerable<ReportTable> Tables(StoredRun run, IReadOnlyList<Finding> findings)
    {
        IReadOnlyList<GrowthFigures> growths = GrowthFigures.Of(run);
        foreach (GrowthFigures growth in growths)
        {
            Row[] rows = [.. growth.Lines.Select(line => RowOf(growth, line, findings))];
            if (rows.Length == 0)
                continue;
            // An interrupted run has begun a size at which nothing was measured.
            int largest = growth.Lines.Max(line => line.Results.Keys.Max());
            (long first, long last) = (growth.Steps[0].Documents, growth.Steps[largest].Documents);
            string name = growths.Count == 1 ? "" : $"{growth.Name} ";
            yield return Table((first == last, HasUnits(rows)) switch
            {
                _ when growth.Lines.All(line => line.Results.Values.All(result => result.Operations == 0)) =>
                    Words.Of($"{name}on the way to {Units.Count(last)} documents"),
                (true, true) => Words.Of($"{name}at {Units.Count(last)} documents"),
                (true, _) => Words.Of($"{name}at {Units.Count(last)} documents; rate: docs/s for inserts, else ops/s"),
                (_, true) => Words.Of($"{name}at {Units.Count(last)} documents; max at any size; change since {Units.Count(first)}"),
                _ => Words.Of($"{name}at {Units.Count(last)} documents; max at any size; change since {Units.Count(first)}; "
                    + $"inserts in docs/s"),
            }, rows);
        }

        RunSeries series = RunSeries.Of(run);
        ILookup<object, OperationSeries> seconds = series.Operations.Concat(series.Independent)
            .ToLookup(one => (object)one.Result, ReferenceEqualityComparer.Instance);
        // What was measured comes before what was only loaded for it.
        Row[] single = [.. run.Phases.Where(phase => phase.Growth is null && !IsInLine(run, phase)).OrderBy(IsLoad)
            .SelectMany(phase => phase.Operations.Concat(phase.Totals)
                .Select(result => RowOf(phase, result, seconds[result].FirstOrDefault(), findings)))];
        if (single.Length > 0)
            yield return Table(HasUnits(single) ? Words.Of("change: from the first quarter to the last")
                : Words.Of("rate: docs/s for inserts, else ops/s; change: from the first quarter to the last"), single);
        if (single.Length > 0 || growths.Count > 0)
            yield break;
        foreach (ReportTable sizes in PhaseTables.SizesOf(run))
            yield return sizes;
    }

    private static bool HasUnits(Row[] rows) => ShownRate.AreMixed([.. rows.Select(row => row.Result).OfType<OperationResult>()]);

    private static bool IsLoad(PhaseRecord phase) => phase.Kind == PhaseKind.Load;

    /// <summary>A load of which nothing is to be said, where others were measured.</summary>
    private static bool IsInLine(StoredRun run, PhaseRecord phase) => IsLoad(phase) && WhatIsWrong([.. phase.Operations]) is null
        && run.Phases.Any(other => !IsLoad(other) && other.Operations.Count > 0);

    /// <summary>All loads in a line, behind what was measured.</summary>
    private static IEnumerable<Fact> Loads(StoredRun run)
    {
        OperationResult[] loads = [.. run.Phases.Where(phase => phase.Growth is null && IsInLine(run, phase))
            .SelectMany(phase => phase.Operations.Where(operation => operation.IsInsert))];
        if (loads.Length == 0)
            yield break;
        long documents = loads.Sum(load => load.Documents);
        double seconds = loads.Sum(load => load.Seconds);
        yield return new Fact("loaded", Words.Of($"{Units.Exact(documents)} documents in {Words.Counted(loads.Length, "load")}, "
            + $"{Units.Rate(documents / Math.Max(seconds, 1e-9))} docs/s"));
    }

    private static ReportTable Table(string title, Row[] rows)
    {
        // Where not all have room, those stay that were measured, and of these of which something is to be said.
        HashSet<Row> shown = [.. rows.OrderBy(row => row.IsLoad).ThenBy(row => row.IsQuiet).Take(MostRows)];
        string left = rows.Length > shown.Count ? Words.Of($" ({shown.Count} of {rows.Length} operations)") : "";
        bool hasRetries = rows.Any(row => row.Retries is { All.Retried: > 0 });
        return new ReportTable(
            title + left, [.. Columns, .. hasRetries ? [Retried] : Array.Empty<string>(), "change", "<verdict"],
            [.. rows.Where(shown.Contains).Select(row => row.Cells(hasRetries, HasUnits(rows)))]);
    }

    private static Row RowOf(GrowthFigures growth, GrowthLine line, IReadOnlyList<Finding> findings)
    {
        string name = growth.NameOf(line);
        int[] steps = [.. line.Results.Keys.Order().Where(step => line.RateAt(step) > 0)];
        string? wrong = WhatIsWrong([.. line.Results.Values]);
        if (steps.Length == 0)
            return new Row(name, null, null, null, wrong ?? Words.Of("not measured"));
        OperationResult last = line.Results[steps[^1]];
        double? change = steps is [0, .., var largest] ? line.RateAt(largest) / line.RateAt(0) : null;
        string? early = steps[^1] == growth.Steps.Count - 1 ? null : Words.Of($"last at {Units.Count(growth.Steps[steps[^1]].Documents)}");
        return new Row(
            name, last, line.Results.Values.Max(result => result.ReportedMicroseconds.Max), change,
            (wrong, early) is (not null, not null) ? $"{wrong}, {early}"
                : wrong ?? early ?? OperationVerdicts.ShareOfNothing(last)
                    ?? FoundIn([name, line.FullLabel, line.Label], findings) ?? FewOf(last));
    }

    private static Row RowOf(PhaseRecord phase, OperationResult result, OperationSeries? series, IReadOnlyList<Finding> findings)
    {
        string name = PhaseLabels.WithParameters(phase, result.Operation);
        bool isEmpty = result is { Operations: 0, Connections: null } and not { Unacknowledged.Sent: > 0 };
        return new Row(
            name, result, result.ReportedMicroseconds.Max, ChangeOf(series),
            WhatIsWrong([result]) ?? (isEmpty ? Words.Of("not measured")
                : OperationVerdicts.ShareOfNothing(result) ?? FoundIn([name], findings) ?? OfParts(phase, result, findings)
                    ?? FewOf(result)))
        {
            IsLoad = IsLoad(phase),
        };
    }

    /// <summary>Of the rate; null where there are too few seconds.</summary>
    private static double? ChangeOf(OperationSeries? series)
    {
        if (series is null or { IsSteered: true } || series.Seconds.Count < LeastSeconds)
            return null;
        int part = series.Seconds.Count / 4;
        double first = series.Seconds.Take(part).Average(second => second.Rate);
        return first > 0 ? series.Seconds.TakeLast(part).Average(second => second.Rate) / first : null;
    }

    /// <summary>What is not in the figures beside it, the worst first; null for nothing.</summary>
    private static string? WhatIsWrong(OperationResult[] results)
    {
        return Sum(result => result.Accounting.Failed) is > 0 and var failed
                ? results.Any(result => result.Batch > 1)
                    ? Words.Of($"{Units.Exact(failed)} batches failed") : Words.Of($"{Units.Exact(failed)} failed")
            : Sum(result => result.Wrong) is > 0 and var wrong ? Words.Of($"{Units.Exact(wrong)} wrong")
            : Sum(result => result.Unacknowledged?.Lost ?? 0) is > 0 and var lost ? Words.Of($"{Units.Exact(lost)} lost")
            : Sum(result => result.InFlightAtEnd?.Operations ?? 0) is > 0 and var cut ? Words.Of($"{Units.Exact(cut)} cut off")
            : Sum(result => result.Accounting.Skipped) is > 0 and var skipped ? Words.Of($"{Units.Exact(skipped)} skipped")
            : Sum(result => result.Replay?.Different ?? 0) is > 0 and var different
                ? different == 1 ? Words.Of("1 reply differs") : Words.Of($"{Units.Exact(different)} replies differ")
            : null;

        long Sum(Func<OperationResult, long> of) => results.Sum(of);
    }

    /// <param name="names">Of one operation, as findings may call it.</param>
    /// <param name="findings">The heaviest first, those that are verdicts last.</param>
    private static string? FoundIn(string[] names, IEnumerable<Finding> findings) =>
        findings.FirstOrDefault(finding => finding.Id != FindingIds.FewSamples && finding.Operations.Any(names.Contains)) is { } heaviest
            ? FindingText.Word(heaviest) : null;

    /// <summary>A total is as good as what it is the sum of.</summary>
    private static string? OfParts(PhaseRecord phase, OperationResult total, IReadOnlyList<Finding> findings)
    {
        if (!total.IsTotal)
            return null;
        OperationResult[] parts =
            [.. phase.Mixes.FirstOrDefault(mix => ReferenceEquals(mix.Total, total))?.Operations ?? phase.Done];
        Finding[] telling = [.. findings.Where(finding => InvalidParts.Contains(finding.Id))];
        return parts.Any(part => part.Replay is { Different: > 0 }
            || FoundIn([PhaseLabels.WithParameters(phase, part.Operation)], telling) is not null) ? Words.Of("see its parts") : null;
    }

    /// <summary>Percentiles of so few say little.</summary>
    private static string? FewOf(OperationResult result) =>
        result.Connections is null && result.Operations < LatencyFindings.LeastForP99 ? Words.Of("few operations") : null;

    /// <param name="Operation">As tables call it.</param>
    /// <param name="Result">Null where there is none.</param>
    /// <param name="Slowest">Of the table's figures, microseconds; null where there is none.</param>
    /// <param name="Change">Of the rate, last to first.</param>
    /// <param name="Verdict">Null where there is nothing to say.</param>
    private sealed record Row(string Operation, OperationResult? Result, double? Slowest, double? Change, string? Verdict)
    {
        public bool IsQuiet => Verdict is null;

        public bool IsLoad { get; init; }

        public RetryShare? Retries => Result is null ? null : RetryShare.Of(Result);

        public IReadOnlyList<string> Cells(bool withRetries, bool withUnits) =>
        [
            Operation, Rate(withUnits),
            Units.Latency(Result?.ReportedMicroseconds.P50), Units.Latency(Result?.ReportedMicroseconds.P99),
            Units.Latency(Slowest),
            .. withRetries ? [Retries is { } retries ? Units.Percent(retries.Attempts) : Units.None] : Array.Empty<string>(),
            Change is { } change ? Units.Change(change) : Units.None,
            Verdict ?? (Change is > 1 / LeastChange and < LeastChange or null ? Words.Of("ok") : Words.Of("no clear trend")),
        ];

        private string Rate(bool withUnit) => Result is null ? Units.None
            : ShownRate.Of(Result) is var rate && withUnit ? $"{Units.Rate(rate.PerSecond)} {rate.Unit}" : Units.Rate(rate.PerSecond);
    }
}

using Spectre.Console;

namespace MongoPerf.Reporting.Comparison;

/// <summary>A comparison for a terminal: verdicts first, then what was compared, tables and files.</summary>
internal static class ComparisonConsole
{
    public static void Write(RunComparison comparison, TextWriter output, ConsoleReportOptions options) => ConsoleReport.Print(output, options, console =>
    {
        foreach (CandidateJudgement candidate in comparison.Candidates)
        {
            ConsoleReport.Labelled(console, "compared", Words.Of($"{candidate.Candidate.Name} against {comparison.Baseline.Name}: {ComparisonText.Overall(candidate)}"), Color.Grey);
            foreach (Verdict verdict in ComparisonText.Verdicts(comparison, candidate))
                ConsoleReport.Labelled(console, verdict);
        }

        console.WriteLine();
        ConsoleReport.Labelled(console, "baseline", comparison.Baseline.Title, Color.Grey);
        foreach (CandidateJudgement candidate in comparison.Candidates)
            ConsoleReport.Labelled(console, "candidate", candidate.Candidate.Title, Color.Grey);
        foreach (SetupDifference difference in comparison.Differences)
            ConsoleReport.Labelled(console, difference.IsUnlike ? "UNLIKE" : "differs", difference.ToString(), difference.IsUnlike ? Color.Red : Color.Grey);
        foreach (string note in comparison.Notes)
            ConsoleReport.Labelled(console, "note", note, Color.Yellow);
        foreach (string basis in comparison.Candidates.SelectMany(ComparisonText.Bases).Distinct())
            ConsoleReport.Labelled(console, "evidence", basis, Color.Grey);
        ConsoleReport.Labelled(console, "method", ComparisonText.Method(comparison), Color.Grey);
        foreach (ReportTable table in ComparisonTables.Of(comparison))
            ConsoleReport.WriteTable(console, table.Within(options.Width), options.IsTerminal);
        console.WriteLine();
        foreach (string file in options.FilesWritten)
            ConsoleReport.Labelled(console, "written", file, Color.Grey);
        if (options.Page is not null)
            ConsoleReport.Labelled(console, "report", options.Page, Color.Green);
    });

    /// <summary>How much the repeats of one run differ.</summary>
    public static void WriteSpread(RepeatSpread spread, TextWriter output, ConsoleReportOptions options) => ConsoleReport.Print(output, options, console =>
    {
        ConsoleReport.Labelled(console, "repeats", spread.Side.Title, Color.Grey);
        foreach (string warning in spread.SlowStarts)
            ConsoleReport.Labelled(console, "note", warning, Color.Yellow);
        ConsoleReport.WriteTable(console, ComparisonTables.Spread(spread).Within(options.Width), options.IsTerminal);
    });
}

/// <summary>A comparison as one would paste it into a ticket.</summary>
internal static class ComparisonMarkdown
{
    public static void Write(RunComparison comparison, TextWriter output)
    {
        MarkdownReport.Line(output, Words.Of($"# MongoPerf: {string.Join(", ", comparison.Candidates.Select(c => c.Candidate.Name))} against {comparison.Baseline.Name}"));
        foreach (CandidateJudgement candidate in comparison.Candidates)
        {
            MarkdownReport.Heading(output, $"{candidate.Candidate.Name}: {ComparisonText.Overall(candidate)}");
            foreach (Verdict verdict in ComparisonText.Verdicts(comparison, candidate))
                MarkdownReport.Item(output, $"**{verdict.Mark}**", verdict.Text);
        }

        MarkdownReport.Heading(output, "What was compared");
        MarkdownReport.Item(output, "baseline", comparison.Baseline.Title);
        foreach (CandidateJudgement candidate in comparison.Candidates)
            MarkdownReport.Item(output, "candidate", candidate.Candidate.Title);
        foreach (SetupDifference difference in comparison.Differences)
            MarkdownReport.Item(output, difference.IsUnlike ? "**unlike**" : "differs", difference.ToString());
        foreach (string note in comparison.Notes)
            MarkdownReport.Item(output, "note", note);
        foreach (string basis in comparison.Candidates.SelectMany(ComparisonText.Bases).Distinct())
            MarkdownReport.Item(output, "evidence", basis);
        MarkdownReport.Item(output, "method", ComparisonText.Method(comparison));
        foreach (ReportTable table in ComparisonTables.Of(comparison))
            MarkdownReport.Table(output, table);
    }

    public static void WriteSpread(RepeatSpread spread, TextWriter output)
    {
        MarkdownReport.Line(output, Words.Of($"# MongoPerf: repeats of {spread.Side.Id}"));
        MarkdownReport.Line(output, "");
        MarkdownReport.Item(output, "deployment", spread.Side.Title);
        foreach (string warning in spread.SlowStarts)
            MarkdownReport.Item(output, "note", warning);
        MarkdownReport.Table(output, ComparisonTables.Spread(spread));
    }
}

/// <summary>A comparison as comma-separated values: a row per candidate, operation and measure over all windows ("all"), and one for the rate in each window.</summary>
internal static class ComparisonCsv
{
    private const string Operation = "growth,phase,parameters,operation,threads";

    public static void Write(RunComparison comparison, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        comparison = comparison.InEnglish;
        CsvReport.Row(output, $"baseline,candidate,{Operation},window,documents,judged_by,measure,baseline_value,candidate_value,ratio,ratio_low,ratio_high,p,p_holm,verdict,enough".Split(','));
        foreach (CandidateJudgement candidate in comparison.Candidates)
        {
            foreach (OperationJudgement judged in candidate.Operations)
            {
                object?[] head = [comparison.Baseline.Id, candidate.Candidate.Id, .. Fields(judged.Operation)];
                foreach (Judgement judgement in judged.Judgements)
                    CsvReport.Row(output, [.. head, "all", null, judged.Evidence.ToString().ToLowerInvariant(), .. Fields(judged, judgement)]);
                foreach ((int i, WindowJudgement window) in judged.Windows.Index())
                    CsvReport.Row(output, [.. head, i + 1, window.Documents, null, .. Fields(judged, window.Rate)]);
            }
        }
    }

    /// <summary>A row per operation and run.</summary>
    public static void WriteSpread(RepeatSpread spread, TextWriter output)
    {
        CsvReport.Row(output, $"run,repeat,{Operation},per_second".Split(','));
        foreach (OperationSpread operation in spread.Operations)
        {
            foreach ((int i, double rate) in operation.Rates.Index())
                CsvReport.Row(output, [spread.Side.Stored[i].Run.Id, i + 1, .. Fields(operation.Operation), rate]);
        }
    }

    private static object?[] Fields(ComparedOperation o) => [o.Growth, o.Phase, o.Parameters, o.Operation, o.Threads];

    /// <summary>Rates are per second, latencies microseconds.</summary>
    private static object?[] Fields(OperationJudgement operation, Judgement judgement) =>
    [
        ComparisonText.NameOf(operation, judgement.Measure), judgement.Baseline, judgement.Candidate, judgement.Ratio.Value, judgement.Ratio.Interval?.Low, judgement.Ratio.Interval?.High,
        judgement.P, judgement.HolmP, judgement.Measure.IsService() ? null : ComparisonText.Describe(judgement.Outcome), judgement.Enough,
    ];
}

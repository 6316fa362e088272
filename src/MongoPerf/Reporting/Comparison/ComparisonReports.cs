using Spectre.Console;

namespace MongoPerf.Reporting.Comparison;

/// <summary>A comparison for a terminal: verdicts first, then what was compared, tables and files.</summary>
internal static class ComparisonConsole
{
    public static void Write(RunComparison comparison, TextWriter output, ConsoleReportOptions options) => ConsoleReport.Print(output, options, console =>
    {
        foreach (CandidateJudgement candidate in comparison.Candidates)
        {
            ConsoleReport.Labelled(console, "compared", $"{candidate.Candidate.Name} against {comparison.Baseline.Name}: {ComparisonText.Overall(candidate)}", Color.Grey);
            foreach (Verdict verdict in ComparisonText.Verdicts(candidate, comparison.NoiseThreshold))
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
            ConsoleReport.Labelled(console, "judged", basis, Color.Grey);
        ConsoleReport.Labelled(console, "reading", ComparisonText.Method(comparison), Color.Grey);
        foreach (ReportTable table in ComparisonTables.Of(comparison))
            ConsoleReport.WriteTable(console, table, options.IsTerminal);
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
        ConsoleReport.WriteTable(console, ComparisonTables.Spread(spread), options.IsTerminal);
    });
}

/// <summary>A comparison as one would paste it into a ticket.</summary>
internal static class ComparisonMarkdown
{
    public static void Write(RunComparison comparison, TextWriter output)
    {
        MarkdownReport.Line(output, $"# MongoPerf: {string.Join(", ", comparison.Candidates.Select(c => c.Candidate.Name))} against {comparison.Baseline.Name}");
        foreach (CandidateJudgement candidate in comparison.Candidates)
        {
            MarkdownReport.Heading(output, $"{candidate.Candidate.Name}: {ComparisonText.Overall(candidate)}");
            foreach (Verdict verdict in ComparisonText.Verdicts(candidate, comparison.NoiseThreshold))
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
            MarkdownReport.Item(output, "judged", basis);
        MarkdownReport.Item(output, "reading", ComparisonText.Method(comparison));
        foreach (ReportTable table in ComparisonTables.Of(comparison))
            MarkdownReport.Table(output, table);
    }

    public static void WriteSpread(RepeatSpread spread, TextWriter output)
    {
        MarkdownReport.Line(output, $"# MongoPerf: repeats of {spread.Side.Id}");
        MarkdownReport.Line(output, "");
        MarkdownReport.Item(output, "deployment", spread.Side.Title);
        foreach (string warning in spread.SlowStarts)
            MarkdownReport.Item(output, "note", warning);
        MarkdownReport.Table(output, ComparisonTables.Spread(spread));
    }
}

/// <summary>A comparison as comma-separated values: a row per candidate and test over all sizes ("all"), and one per size.</summary>
internal static class ComparisonCsv
{
    public static void Write(RunComparison comparison, TextWriter output)
    {
        CsvReport.Row(output, (
            "baseline,candidate,test,threads,documents,judged_by,baseline_per_second,candidate_per_second,ratio,ratio_low,ratio_high,p,p_holm,"
            + "p50_ratio,p50_low,p50_high,p99_ratio,p99_low,p99_high,verdict").Split(','));
        foreach (CandidateJudgement candidate in comparison.Candidates)
        {
            foreach (TestJudgement test in candidate.Tests)
            {
                object?[] head = [comparison.Baseline.Id, candidate.Candidate.Id, test.Test, test.Threads];
                bool isJudged = test.Rate is not null;
                CsvReport.Row(output,
                [
                    .. head, "all", test.Evidence.ToString().ToLowerInvariant(), isJudged ? test.BaselineRate : null, isJudged ? test.CandidateRate : null,
                    .. Fields(test.Rate), isJudged ? test.P : null, isJudged ? test.HolmP : null, .. Fields(test.P50), .. Fields(test.P99),
                    ComparisonText.Describe(test.Outcome),
                ]);
                foreach (SizeJudgement size in test.Sizes)
                {
                    bool hasRate = size.Rate is not null;
                    CsvReport.Row(output,
                    [
                        .. head, size.Documents, null, hasRate ? size.BaselineRate : null, hasRate ? size.CandidateRate : null, .. Fields(size.Rate),
                        hasRate ? size.P : null, hasRate ? size.HolmP : null, null, null, null, null, null, null, ComparisonText.Describe(size.Outcome),
                    ]);
                }
            }
        }
    }

    /// <summary>A row per test and run.</summary>
    public static void WriteSpread(RepeatSpread spread, TextWriter output)
    {
        CsvReport.Row(output, ["run", "repeat", "test", "threads", "per_second"]);
        foreach (TestSpread test in spread.Tests)
        {
            for (int i = 0; i < test.Rates.Count; i++)
                CsvReport.Row(output, [spread.Side.Stored[i].Run.Id, i + 1, test.Test, test.Threads, test.Rates[i]]);
        }
    }

    private static object?[] Fields(Ratio? ratio) => [ratio?.Value, ratio?.Interval?.Low, ratio?.Interval?.High];
}

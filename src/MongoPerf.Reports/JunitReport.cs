using System.Globalization;
using System.Xml;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Histories;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>Assertions of a run, or results of a comparison, in the form that build servers read (JUnit's XML).</summary>
/// <remarks>A run without assertions is one test: that it ended well. What is undecided is skipped, with what would decide it.</remarks>
public static class JunitReport
{
    private sealed record Case(string Group, string Name, double Seconds)
    {
        public string? Failure { get; init; }

        public string? Skipped { get; init; }

        /// <summary>The figures.</summary>
        public string? Output { get; init; }
    }

    /// <param name="runs">One, or the repeats of it, each of which is told by its id then.</param>
    /// <param name="output">Gets the XML.</param>
    public static void Write(IReadOnlyList<StoredRun> runs, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        Write($"mongoperf {string.Join(", ", runs.Select(run => run.Run.Id))}", runs,
            [.. runs.SelectMany(run => CasesOf(run, runs.Count == 1 ? "" : run.Run.Id + " "))], output);
    }

    public static void Write(RunComparison comparison, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        comparison = comparison.InEnglish;
        Write(
            $"mongoperf {string.Join(", ", comparison.Candidates.Select(c => c.Candidate.Name))} against {comparison.Baseline.Name}",
            comparison.Runs, [.. comparison.Candidates.SelectMany(candidate => candidate.Operations
                .SelectMany(operation => operation.Tested.Select(measure => CaseOf(candidate, operation, measure))))], output);
    }

    /// <summary>A test for each metric: it fails if a change among the newest runs left it worse.</summary>
    public static void Write(RunHistory history, TextWriter output)
    {
        using IDisposable english = Words.InEnglish();
        history = history.InEnglish;
        Write($"mongoperf history of {history.Scenario}", history.Runs, [.. history.Lines.Select(line => CaseOf(history, line))], output);
    }

    private static Case CaseOf(RunHistory history, HistoryLine line)
    {
        string changes = string.Join('\n', line.Changes.Select(change => HistoryText.Sentence(history, line, change)));
        return new Case(history.Scenario, line.Row.Name, 0)
        {
            Failure = line.IsRegression ? $"worse: {changes}" : null,
            Skipped = line.IsJudged ? null : $"undecided; it takes {line.Needed} runs or more to tell a change from chance",
            Output = changes.Length > 0 ? changes : null,
        };
    }

    private static IEnumerable<Case> CasesOf(StoredRun run, string prefix)
    {
        yield return new Case(prefix + "run", "finished", ((run.Run.EndedAt ?? run.Run.StartedAt) - run.Run.StartedAt).TotalSeconds)
        {
            Failure = run.Run.State == RunState.Finished ? null : run.StateText + (run.Run.StoppedBecause is { } why ? $": {why}" : ""),
        };
        foreach (PhaseRecord phase in run.Phases)
        {
            foreach (AssertionResult assertion in phase.Assertions)
                yield return CaseOf(prefix, phase, assertion);
        }
    }

    private static Case CaseOf(string prefix, PhaseRecord phase, AssertionResult assertion)
    {
        string measured = PhaseVerdicts.Measured(assertion);
        return new Case(prefix + phase.Label(), assertion.Text, phase.Operations.Select(o => o.Seconds).DefaultIfEmpty(0).Max())
        {
            Failure = assertion.Holds ? null : $"{assertion.Text}: {measured}",
            Output = measured,
        };
    }

    private static Case CaseOf(CandidateComparison candidate, OperationComparison operation, MeasureComparison measure)
    {
        string figures = $"{ComparisonText.Value(measure.Measure, measure.Baseline)} to "
            + $"{ComparisonText.Value(measure.Measure, measure.Candidate)}, ratio {ComparisonText.Number(measure.Ratio.Value)}";
        return new Case(
            $"{candidate.Candidate.Name}: {candidate.TitleOf(operation)}", ComparisonText.NameOf(operation, measure.Measure), 0)
        {
            Failure = measure.Outcome == Outcome.Slower ? $"slower: {figures}" : null,
            Skipped = measure.Outcome == Outcome.Undecided
                ? $"undecided{(measure.Enough is { } enough ? $"; a verdict would take {enough}" : "")}"
                : null,
            Output = figures,
        };
    }

    private static void Write(string suite, IReadOnlyList<StoredRun> runs, Case[] cases, TextWriter output)
    {
        if (NotMongoDb.Mark(runs) is { } mark)
            suite += $" ({mark})";
        using (var xml = XmlWriter.Create(
            output, new XmlWriterSettings { Indent = true, NewLineChars = "\n", OmitXmlDeclaration = true, CheckCharacters = false }))
        {
            xml.WriteStartElement("testsuite");
            xml.WriteAttributeString("name", Clean(suite));
            xml.WriteAttributeString("tests", Number(cases.Length));
            xml.WriteAttributeString("failures", Number(cases.Count(one => one.Failure is not null)));
            xml.WriteAttributeString("skipped", Number(cases.Count(one => one.Skipped is not null)));
            foreach (Case one in cases)
                WriteCase(xml, one);
            xml.WriteEndElement();
        }

        output.Write('\n');
    }

    private static void WriteCase(XmlWriter xml, Case one)
    {
        xml.WriteStartElement("testcase");
        xml.WriteAttributeString("classname", Clean(one.Group));
        xml.WriteAttributeString("name", Clean(one.Name));
        xml.WriteAttributeString("time", one.Seconds.ToString("0.###", CultureInfo.InvariantCulture));
        foreach ((string element, string? message) in new[] { ("failure", one.Failure), ("skipped", one.Skipped) })
        {
            if (message is null)
                continue;
            xml.WriteStartElement(element);
            xml.WriteAttributeString("message", Clean(message));
            xml.WriteEndElement();
        }

        if (one.Output is not null)
            xml.WriteElementString("system-out", Clean(one.Output));
        xml.WriteEndElement();
    }

    private static string Number(int count) => count.ToString(CultureInfo.InvariantCulture);

    /// <summary>Names of scenarios and messages of servers may hold what XML can't.</summary>
    private static string Clean(string text) =>
        string.Concat(text.EnumerateRunes().Select(rune => rune.IsBmp && !XmlConvert.IsXmlChar((char)rune.Value) ? "?" : rune.ToString()));
}

using MongoPerf.Reports.Figures;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>
/// What a reader of the phases' figures must know first: whether assertions hold, what the command line changed, what is left out.
/// </summary>
internal static class PhaseVerdicts
{
    /// <summary>Assertions that hold; all that fail are.</summary>
    private const int MostShown = 5;

    public static IEnumerable<Verdict> Of(StoredRun run)
    {
        foreach (PhaseRecord phase in run.Phases)
        {
            foreach (AssertionResult failed in phase.Assertions.Where(a => !a.Holds))
                yield return new Verdict(Grade.Bad, failed.IsCheck
                    ? Words.Of($"check failed in {phase.Label()}: {failed.Text}: {Measured(failed)}")
                    : Words.Of($"assertion failed in {phase.Label()}: {failed.Text} ({Measured(failed)})"));
        }

        AssertionResult[] checks = [.. run.Phases.SelectMany(p => p.Assertions).Where(a => a.IsCheck)];
        if (checks.Length > 0 && checks.All(a => a.Holds))
        {
            string[] names = [.. checks.Select(a => a.Text).Distinct()];
            string shown = string.Join("; ", names.Take(MostShown)) + (names.Length > MostShown ? "; …" : "");
            yield return new Verdict(Grade.Good, Words.Of($"{Words.Counted(checks.Length, "check")} found no violations: {shown}"));
        }

        AssertionResult[] assertions = [.. run.Phases.SelectMany(p => p.Assertions).Where(a => !a.IsCheck)];
        if (assertions.Length > 0 && assertions.All(a => a.Holds))
            yield return new Verdict(Grade.Good,
                $"{(assertions.Length == 1 ? Words.Of("the assertion holds") : Words.Of($"all {assertions.Length} assertions hold"))}: "
                + $"{string.Join("; ", assertions.Take(MostShown).Select(a => $"{a.Text} ({Measured(a)})"))}"
                + $"{(assertions.Length > MostShown ? "; …" : "")}");
        if (run.Settings.Plan.Note is { } note)
            yield return new Verdict(Grade.Note, note.Text) { IsChosen = true };
        foreach (string leftOut in ScenarioFigures.LeftOut(FigureRun.Of(run)))
            yield return new Verdict(Grade.Note, leftOut);
    }

    /// <summary>"measured 4.2 ms".</summary>
    public static string Measured(AssertionResult assertion) =>
        assertion.IsCheck
            ? assertion is { Value: { } violations, First: { } first }
                ? Words.Of($"{Words.Counted((long)violations, "violation")}, the first is {first}")
                : Words.Of("no violations")
        : assertion.Value is not { } value
            ? Words.Of("not measured")
            : Words.Of($"measured {(assertion.IsLatency ? Units.Latency(value) : assertion.IsShare ? Units.Percent(value)
                : Units.Rate(value))}");
}

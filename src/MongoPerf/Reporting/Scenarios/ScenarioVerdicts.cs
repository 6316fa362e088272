using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Figures;

namespace MongoPerf.Reporting.Scenarios;

/// <summary>What a reader of a scenario's figures must know first.</summary>
internal static class ScenarioVerdicts
{
    public static IEnumerable<Verdict> Of(StoredRun run)
    {
        AssertionResult[] assertions = [.. run.Points.SelectMany(p => p.Assertions)];
        foreach (MeasuredPoint point in MeasuredPoint.Of(run))
        {
            foreach (AssertionResult failed in point.Point.Assertions.Where(a => !a.Holds))
                yield return new Verdict(Grade.Bad, $"assertion failed in {ScenarioTables.Label(point)}: {failed.Text}, it was {Shown(failed)}");
        }

        if (assertions.Length > 0 && assertions.All(a => a.Holds))
            yield return new Verdict(Grade.Good, assertions.Length == 1 ? "the assertion holds" : $"all {assertions.Length} assertions hold");
        foreach (string changed in run.Scenario?.Overrides ?? [])
            yield return new Verdict(Grade.Note, $"changed on the command line: {changed}");
        foreach (string leftOut in ScenarioFigures.LeftOut(FigureRun.Of(run)))
            yield return new Verdict(Grade.Note, leftOut);
    }

    private static string Shown(AssertionResult assertion) =>
        assertion.Value is null ? "not measured" : assertion.IsLatency ? Units.Latency(assertion.Value) : Units.Rate(assertion.Value);
}

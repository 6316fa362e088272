using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Experiments;
using MongoPerf.Reporting.Scenarios;
using MongoPerf.Reporting.Sharding;

namespace MongoPerf.Reporting;

internal enum Grade
{
    Good,

    /// <summary>A reader of the figures must know it.</summary>
    Note,
    Bad,
}

/// <summary>One of the lines that come first in every report.</summary>
internal sealed record Verdict(Grade Grade, string Text)
{
    public string Mark => Grade switch
    {
        Grade.Good => "ok",
        Grade.Note => "note",
        _ => "BAD",
    };

    public static IReadOnlyList<Verdict> Of(StoredRun run)
    {
        List<Verdict> verdicts = [State(run), Accounting(run), .. DeploymentOf(run)];
        TestResult[] tests = [.. run.Steps.SelectMany(s => s.Tests)];
        AddUnacknowledged(verdicts, tests);
        AddVerified(verdicts, tests);
        verdicts.AddRange(ExperimentVerdicts.Of(run));
        if (ShardVerdict.Of(run) is { } shards)
            verdicts.Add(shards);
        verdicts.AddRange(TestVerdicts.Of(run));
        verdicts.AddRange(ScenarioVerdicts.Of(run));
        ClientLimit limit = ClientLimit.Of(run);
        verdicts.AddRange(limit.Sentences.Select(sentence => new Verdict(limit.IsLimit ? Grade.Note : Grade.Good, sentence)));
        if (run.Deployment is { IsEmbedded: true })
            verdicts.Add(new Verdict(Grade.Note, "figures are the embedded server's, not MongoDB's"));
        if (run.Run.BuildKind != "Release")
            verdicts.Add(new Verdict(Grade.Note, $"the client is a {run.Run.BuildKind} build: it is slower than a Release one"));
        foreach (string remark in run.Deployment?.Remarks ?? [])
        {
            if (verdicts.All(v => v.Text != remark))
                verdicts.Add(new Verdict(Grade.Note, remark));
        }

        return verdicts;
    }

    /// <summary>Of several that a scenario compares: which, and what is another there.</summary>
    private static IEnumerable<Verdict> DeploymentOf(StoredRun run)
    {
        if (run.DeploymentName is { } name)
            yield return new Verdict(Grade.Note, $"deployment: {name}{(run.Scenario is { Set: { Count: > 0 } set } ? $", which sets {string.Join(", ", set)}" : "")}");
    }

    private static Verdict State(StoredRun run)
    {
        string reached = run.Scenario is not null ? $"{run.Points.Count} {(run.Points.Count == 1 ? "phase" : "phases")}"
            : $"{Units.Exact(run.DocumentsReached)} of {Units.Exact(run.Settings.TargetDocumentCount)} documents";
        string because = run.Run.StoppedBecause is { } reason ? $" ({reason})" : "";
        return run.StateText switch
        {
            "finished" => new Verdict(Grade.Good, run.Run.Kind is "series" or "scenario" ? $"finished: {reached}" : "finished"),
            "running" => new Verdict(Grade.Note, $"still running: {reached} so far"),
            "broken off" => new Verdict(Grade.Bad, $"broken off at {reached}: its process has ended without saying why"),
            string other => new Verdict(Grade.Bad, $"{other} at {reached}{because}"),
        };
    }

    private static Verdict Accounting(StoredRun run)
    {
        Accounting a = run.Accounting;
        string sum = $"{Units.Exact(a.Scheduled)} operations scheduled = {Units.Exact(a.Succeeded)} succeeded "
            + $"+ {Units.Exact(a.Failed)} failed + {Units.Exact(a.Skipped)} skipped";
        if (a.Scheduled != a.Succeeded + a.Failed + a.Skipped)
            return new Verdict(Grade.Bad, sum.Replace(" = ", " but ") + ": the accounting is wrong, a fault of the program");
        if (run.Failures > a.Failed)
            sum += $"; {Units.Exact(run.Failures - a.Failed)} more failed in tests that left no result";
        if (run.Failures > run.Settings.MaxErrors)
            return new Verdict(Grade.Bad, $"{sum}: more failed than the {Units.Exact(run.Settings.MaxErrors)} allowed");
        return new Verdict(run.Failures > 0 ? Grade.Note : Grade.Good, sum);
    }

    private static void AddUnacknowledged(List<Verdict> verdicts, TestResult[] tests)
    {
        UnacknowledgedResult[] results = [.. tests.Select(t => t.Unacknowledged).OfType<UnacknowledgedResult>()];
        if (results.Length == 0)
            return;
        long sent = results.Sum(r => r.Sent);
        long lost = results.Sum(r => r.Lost);
        verdicts.Add(lost == 0
            ? new Verdict(Grade.Good, $"unacknowledged inserts: all {Units.Exact(sent)} documents arrived")
            : new Verdict(
                Grade.Note,
                $"unacknowledged inserts: {Units.Exact(lost)} of {Units.Exact(sent)} documents were lost, and written again, acknowledged"));
    }

    private static void AddVerified(List<Verdict> verdicts, TestResult[] tests)
    {
        long verified = tests.Sum(t => t.Verified);
        long wrong = tests.Sum(t => t.Wrong);
        if (wrong > 0)
            verdicts.Add(new Verdict(Grade.Bad, $"verified: {Units.Exact(wrong)} of {Units.Exact(verified)} returned documents differ from what was written"));
        else if (verified > 0)
            verdicts.Add(new Verdict(Grade.Good, $"verified: {Units.Exact(verified)} returned documents are as they were written"));
    }
}

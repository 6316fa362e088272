using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Phases;
using MongoPerf.Reports.Restarts;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>What comes first in a run's report, and what it states.</summary>
internal static class RunVerdicts
{
    /// <summary>More names hide what a line says.</summary>
    private const int MostPhases = 3;

    /// <summary>Of a server's message in a line; the table of errors has all of it.</summary>
    private const int LongestMessage = 200;

    public static IReadOnlyList<Verdict> Of(StoredRun run)
    {
        List<Verdict> verdicts = [State(run), Accounting(run), .. DeploymentOf(run)];
        AddUnacknowledged(verdicts, run);
        verdicts.AddRange(Verified(run));
        verdicts.AddRange(RestartReports.Verdicts(run));
        if (ShardVerdict.Of(run) is { } shards)
            verdicts.Add(shards);
        if (ReplicationVerdict.Of(run) is { } replication)
            verdicts.Add(replication);
        verdicts.AddRange((run.Deployment?.Collections ?? [])
            .Select(ShardVerdict.Crowded).OfType<string>().Select(text => new Verdict(Grade.Note, text)));
        verdicts.AddRange(OperationVerdicts.Of(run));
        verdicts.AddRange(ArrivalVerdicts.Of(run));
        verdicts.AddRange(PhaseVerdicts.Of(run));
        verdicts.AddRange(run.Events.Where(e => e.Kind is RunEvent.UntilReached or RunEvent.UntilMissed)
            .Select(e => new Verdict(e.Kind == RunEvent.UntilReached ? Grade.Good : Grade.Note, e.Text)));
        ClientLimit limit = ClientLimit.Of(run);
        if (limit.Other is { } other)
            verdicts.Add(new Verdict(Grade.Note, other.Sentence) { Finding = VerdictFinding.OtherLoad });
        verdicts.AddRange(limit.Sentences.Select(sentence => new Verdict(limit.IsLimit ? Grade.Note : Grade.Good,
            sentence) { Finding = limit.IsLimit ? VerdictFinding.ClientLimit : null }));
        if (limit.Share is { } share)
            verdicts.Add(new Verdict(Grade.Good, share));
        if (run.Deployment is { IsEmbedded: true })
            verdicts.Add(new Verdict(
                Grade.Note, Words.Of("results are for the embedded server, not MongoDB")) { Finding = VerdictFinding.EmbeddedServer });
        if (run.Phases.Any(phase => phase.Sizes.Any(sizes => sizes.AreOfCheckpoint)))
            verdicts.Add(new Verdict(Grade.Note, run.Settings.Data.IsExisting
                ? Words.Of("sizes may be up to a minute old: a run on existing data asks for no checkpoint")
                : run.Deployment?.Access?.FindMissing(AccessFeature.FreshSizes) is not null
                    ? Words.Of("sizes may be up to a minute old: this user may not ask for a checkpoint (fsync needs role hostManager)")
                    : Words.Of("sizes may be out of date: the server takes no checkpoint on request (fsync)")));
        if (run.Run.BuildKind != "Release")
            verdicts.Add(new Verdict(Grade.Note, Words.Of($"the client is a {run.Run.BuildKind} build, "
                + $"which is slower than a Release build")) { Finding = VerdictFinding.DebugBuild });
        foreach (string remark in run.Deployment?.Remarks ?? [])
        {
            string text = Words.Of(remark);
            if (verdicts.All(v => v.Text != text))
                verdicts.Add(new Verdict(Grade.Note, text) { IsChosen = run.Deployment!.Kind == DeploymentKind.Null
                    && remark.StartsWith("nothing is stored", StringComparison.Ordinal) });
        }

        return verdicts;
    }

    /// <summary>Says which of several deployments that a scenario compares it was, and what is different there.</summary>
    private static IEnumerable<Verdict> DeploymentOf(StoredRun run)
    {
        if (run.DeploymentName is { } name)
            yield return new Verdict(Grade.Note, Words.Of($"deployment: {name}"
                + $"{(run.Settings.Plan.Set is { Count: > 0 } set ? Words.Of($", which sets {string.Join(", ", set)}") : "")}"))
            {
                IsChosen = true,
            };
    }

    private static Verdict State(StoredRun run)
    {
        string because = run.Run.StoppedBecause is { } reason && reason != run.StateText ? $" ({reason})" : "";
        string reached = Reached(run);
        return run.StateText switch
        {
            "finished" when Unmeasured(run) is { Length: > 0 } unmeasured =>
                new Verdict(run.HasUnmeasuredPhase ? Grade.Bad : Grade.Note,
                    Words.Of($"finished: {reached}; nothing was measured in {unmeasured}")),
            "finished" => new Verdict(Grade.Good, Words.Of($"finished: {reached}")),
            "running" => new Verdict(Grade.Note, Words.Of($"still running: {reached} so far")),
            "aborted" => new Verdict(Grade.Bad, Words.Of($"aborted after {reached}: its process ended without saying why")),
            string other => new Verdict(Grade.Bad, Words.Of($"{other} after {reached}{because}")),
        };
    }

    /// <summary>The phases that were to measure and did not; empty for none.</summary>
    private static string Unmeasured(StoredRun run)
    {
        string[] phases = [.. run.Phases.Where(phase => phase.HasMeasuredNothing).Select(PhaseLabels.Of).Distinct()];
        return phases.Length > MostPhases ? Words.Counted(phases.Length, "phase") : Words.And(phases);
    }

    /// <summary>What was reached: the documents of a run that grows collections, the phases of any other run.</summary>
    private static string Reached(StoredRun run)
    {
        if (run.Phases.Any(phase => phase.Growth is not null))
            return Words.Of($"{Units.Exact(run.DocumentsOfTarget)} of {Units.Exact(run.Settings.Plan.TargetDocuments)} documents");
        return Words.Counted(run.Phases.Count(phase => phase.IsComplete), "phase");
    }

    private static Verdict Accounting(StoredRun run)
    {
        Accounting a = run.Accounting;
        string parts =
            Words.Of($"{Units.Exact(a.Succeeded)} succeeded + {Units.Exact(a.Failed)} failed + {Units.Exact(a.Skipped)} skipped");
        if (a.Scheduled != a.Succeeded + a.Failed + a.Skipped)
            return new Verdict(Grade.Bad,
                Words.Of($"{Units.Exact(a.Scheduled)} operations scheduled but {parts}: the sum is wrong, which is a bug in MongoPerf"));
        string sum = Words.Of($"{Units.Exact(a.Scheduled)} operations scheduled = {parts}");
        // They have no other latency: what hung and then failed would be slow nowhere.
        if (run.Errors.Max(error => error.SlowestMicroseconds) is >= OperationVerdicts.LeastWaitMicroseconds and var slowest)
            sum += Words.Of($"; the slowest failed after {Units.Latency(slowest)}");
        if (run.Failures > a.Failed)
            sum += Words.Of($"; {Units.Exact(run.Failures - a.Failed)} more failed in phases that left no result (in a load, each is a "
                + $"batch)");
        if (run.Failures > run.Settings.Plan.MaxErrors)
            return new Verdict(
                Grade.Bad, Words.Of($"{sum}: more failures than allowed ({Units.Exact(run.Settings.Plan.MaxErrors)})") + MostFrequent(run))
            {
                Finding = VerdictFinding.FailedOperations,
            };
        return run.Failures > 0 ? new Verdict(Grade.Note, sum + MostFrequent(run)) { Finding = VerdictFinding.FailedOperations }
            : new Verdict(Grade.Good, sum);
    }

    /// <summary>"; most frequent error, 20 of 31: IllegalOperation (20): Transaction numbers are only allowed …".</summary>
    private static string MostFrequent(StoredRun run)
    {
        if (run.Errors is not [var error, ..])
            return "";
        string name = error.Code == 0 || error.Name == $"{error.Code}" ? error.Name : $"{error.Name} ({error.Code})";
        string message = error.FirstMessage.Length <= LongestMessage ? error.FirstMessage : error.FirstMessage[..LongestMessage] + "…";
        return run.Errors.Count == 1 ? Words.Of($"; each with {name}: {message}")
            : Words.Of($"; most often ({Units.Exact(error.Count)} of {Units.Exact(run.Failures)}) with {name}: {message}");
    }

    private static void AddUnacknowledged(List<Verdict> verdicts, StoredRun run)
    {
        UnacknowledgedResult[] results = [.. run.Results.Select(result => result.Unacknowledged).OfType<UnacknowledgedResult>()];
        // An interruption comes before what arrived is counted; and it is counted only where a phase does nothing else.
        long unknown = SentBlindly(run.Phases.Where(phase => !phase.IsComplete).SelectMany(Countable));
        long mixed = SentBlindly(run.Phases.Where(phase => phase.IsComplete).SelectMany(Countable));
        long unproved = SentBlindly(run.Results.Where(result => result.IsArrivalUnknown));
        if (unproved > 0)
            verdicts.Add(new Verdict(Grade.Note, Words.Of($"unacknowledged inserts: how many of {Units.Exact(unproved)} documents arrived "
                + $"is unknown, as the server itself removes documents")));
        if (unknown > 0)
            verdicts.Add(new Verdict(Grade.Note, Words.Of($"unacknowledged inserts: how many of {Units.Exact(unknown)} documents arrived "
                + $"is unknown, as the run was interrupted while they were sent")));
        if (mixed > 0)
            verdicts.Add(new Verdict(Grade.Note, Words.Of($"unacknowledged inserts: how many of {Units.Exact(mixed)} documents arrived "
                + $"was not counted, as other operations ran beside them; their rate is that of sending")));
        if (results.Length == 0)
            return;
        long sent = results.Sum(r => r.Sent);
        long lost = results.Sum(r => r.Lost);
        long refused = sent - lost - results.Sum(r => r.Arrived);
        if (refused > 0)
            verdicts.Add(new Verdict(Grade.Note,
                Words.Of($"unacknowledged inserts: a unique index refused {Units.Exact(refused)} of {Units.Exact(sent)} documents")));
        if (refused > 0 && lost == 0)
            return;
        verdicts.Add(lost == 0
            ? new Verdict(Grade.Good, unknown + mixed > 0
                ? Words.Of($"unacknowledged inserts: all {Units.Exact(sent)} other documents arrived")
                : Words.Of($"unacknowledged inserts: all {Units.Exact(sent)} documents arrived"))
            : new Verdict(
                Grade.Note,
                Words.Of($"unacknowledged inserts: {Units.Exact(lost)} of {Units.Exact(sent)} documents were lost, "
                    + $"and written again with acknowledgement")) { Finding = VerdictFinding.LostWrites });
    }

    private static IEnumerable<OperationResult> Countable(PhaseRecord phase) => phase.Operations.Where(result => !result.IsArrivalUnknown);

    private static long SentBlindly(IEnumerable<OperationResult> results) =>
        results.Where(result => result is { IsInsert: true, IsUnacknowledged: true, Unacknowledged: null }).Sum(result => result.Documents);

    /// <summary>What was compared with what was written, and which phases' reads were not.</summary>
    private static IEnumerable<Verdict> Verified(StoredRun run)
    {
        long verified = run.Results.Sum(result => result.Verified);
        long wrong = run.Results.Sum(result => result.Wrong);
        string documents = Words.Counted(verified, "returned document");
        if (wrong > 0)
            yield return new Verdict(Grade.Bad, wrong == 1
                ? Words.Of($"verified: {Units.Exact(wrong)} of {documents} differs from what was written")
                : Words.Of($"verified: {Units.Exact(wrong)} of {documents} differ from what was written"));
        else if (verified > 0)
            yield return new Verdict(Grade.Good, verified == 1
                ? Words.Of($"verified: {documents} matches what was written")
                : Words.Of($"verified: {documents} match what was written"));
        foreach (IGrouping<string, PhaseRecord> phases in run.Phases.Where(phase => phase.NotVerified is not null)
            .GroupBy(phase => phase.NotVerified!.Text))
            yield return new Verdict(Grade.Note, Words.Of($"not verified in "
                + $"{string.Join(", ", phases.Select(phase => phase.Phase).Distinct())}: {phases.Key}"));
    }
}

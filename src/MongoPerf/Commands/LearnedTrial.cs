using System.Globalization;
using System.Net.Sockets;
using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Failures;
using OperationMix = MongoPerf.Learning.Observing.OperationMix;

namespace MongoPerf.Commands;

/// <summary>
/// Tries what <c>learn</c> is about to write: a run on an embedded server in memory, whose replies are held against those that were seen.
/// </summary>
internal static class LearnedTrial
{
    /// <summary>Changes what is simple to change, and says of each operation how close it came.</summary>
    /// <param name="sample">The deployment's database.</param>
    /// <param name="data">The file's data.</param>
    /// <param name="mix">What was seen.</param>
    /// <param name="phases">The file's phases as they would be written.</param>
    /// <returns>What is to be written, a comment on each operation that was tried, and a line or more for the screen.</returns>
    public static (OperationMix Mix, IReadOnlyDictionary<(string Phase, string Operation), string> Remarks, string Report) Calibrate(
        DatabaseSample sample, DataWriter data, OperationMix mix, PhaseWriter phases)
    {
        try
        {
            TrialRun first = TrialRun.Of(ScenarioText.Of(sample, data, phases), phases.Phases);
            Dictionary<LearnedOperation, LearnedOperation> changed = Adjust(phases, data, first);
            if (changed.Count == 0)
                return Tell(phases, mix, _ => first);
            var other = new PhaseWriter(mix.With(changed), data);
            TrialRun second = TrialRun.Of(ScenarioText.Of(sample, data, other), phases.Phases);
            // What did not help stays as it was.
            foreach ((LearnedOperation from, _) in changed.Where(one => !IsBetter(phases, one.Key, first, second)).ToArray())
                changed.Remove(from);
            return Tell(phases, mix.With(changed), operation => changed.ContainsKey(operation) ? second : first);
        }
        catch (Exception e) when (e is MongoPerfException or StorageException or SocketException or IOException
            or UnauthorizedAccessException)
        {
            return (mix, new Dictionary<(string, string), string>(), $"not tried: {e.Message}");
        }
    }

    /// <summary>Operations that found more or less than those that were seen, with what they become.</summary>
    private static Dictionary<LearnedOperation, LearnedOperation> Adjust(PhaseWriter phases, IWrittenData data, TrialRun trial)
    {
        var changed = new Dictionary<LearnedOperation, LearnedOperation>(ReferenceEqualityComparer.Instance);
        foreach ((WrittenPhase phase, PhaseOperation seen, string name) in All(phases))
        {
            if (trial.Of(phase.Name, name) is { Replies: { Share: >= 1, Nothing: { } nothing } } tried
                && Deviations(name, seen, tried).Any(one => !one.IsWithin)
                && Adjustment.Of(seen.Operation, data, nothing) is { } other)
                changed[seen.Operation] = other;
        }

        return changed;
    }

    private static bool IsBetter(PhaseWriter phases, LearnedOperation operation, TrialRun first, TrialRun second) =>
        All(phases).Where(one => ReferenceEquals(one.Seen.Operation, operation)).Sum(one => Worst(one.Phase, one.Seen, one.Name, second))
            < All(phases).Where(one => ReferenceEquals(one.Seen.Operation, operation)).Sum(one =>
                Worst(one.Phase, one.Seen, one.Name, first));

    private static double Worst(WrittenPhase phase, PhaseOperation seen, string name, TrialRun trial) =>
        trial.Of(phase.Name, name) is not { } tried ? double.MaxValue
            : Deviations(name, seen, tried).Select(one => Math.Abs(one.Share ?? 1)).DefaultIfEmpty().Max();

    private static IEnumerable<(WrittenPhase Phase, PhaseOperation Seen, string Name)> All(PhaseWriter phases) =>
        phases.Phases.SelectMany(phase => phase.Operations.Select(one => (phase, one.Operation, one.Name)));

    /// <summary>What is told and not judged, such as inserts that failed and are left out, says nothing of how close it came.</summary>
    private static Deviation[] Deviations(string name, PhaseOperation seen, MeasuredOperation tried) =>
        [.. OperationComparison.OfReplies(name, seen, tried).Where(one => one.Limit is not null)];

    /// <param name="phases">As they were without changes: what was seen is in these.</param>
    /// <param name="mix">What is written.</param>
    /// <param name="trialOf">Of what is written in place of an operation that was seen.</param>
    private static (OperationMix Mix, IReadOnlyDictionary<(string Phase, string Operation), string> Remarks, string Report) Tell(
        PhaseWriter phases, OperationMix mix, Func<LearnedOperation, TrialRun> trialOf)
    {
        var remarks = new Dictionary<(string Phase, string Operation), string>();
        var lines = new List<string>();
        int close = 0, untold = 0;
        string ofHowMany = "";
        foreach ((WrittenPhase phase, PhaseOperation seen, string name) in All(phases))
        {
            TrialRun trial = trialOf(seen.Operation);
            ofHowMany = trial.OfHowMany;
            if (trial.Of(phase.Name, name) is not { Replies: { } replies } tried || Deviations(name, seen, tried) is not [_, ..] deviations)
            {
                untold++;
                if (trial.ErrorOf(phase.Name, name) is { } error)
                    remarks[(phase.Name, name)] = $"not tried: {error}";
                continue;
            }

            // As it was measured, whatever it would be with more documents.
            Deviation[] measured = Deviations(name, seen, tried with { Replies = replies with { Share = 1 } });
            bool isClose = deviations.All(one => one.IsWithin);
            close += isClose ? 1 : 0;
            remarks[(phase.Name, name)] = string.Create(CultureInfo.InvariantCulture,
                $"tried {replies.Count:N0} times{ofHowMany}, {(isClose ? "close" : "not close")}: ")
                + string.Join(", ", measured.Where(one => one is not { Deployment: 0, Scenario: 0 }).Select(Text));
            if (!isClose)
                lines.Add($"  {name}: {string.Join(", ", measured.Where(IsFar).Select(Text))}");

            bool IsFar(Deviation one) => deviations.Any(other => other.What == one.What && !other.IsWithin);
        }

        string report = string.Create(CultureInfo.InvariantCulture,
            $"tried on the embedded server{ofHowMany}: {close:N0} of {close + lines.Count:N0} operations find and change as much as "
            + $"was seen{(untold > 0 ? $"; {untold:N0} more can't be compared" : "")}");
        return (mix, remarks, string.Join('\n', [report, .. lines]));
    }

    /// <summary>Such as <c>finds nothing 2 % (seen: 1.8 %)</c>.</summary>
    private static string Text(Deviation one)
    {
        const string Percent = " (%)";
        bool isShare = one.What.EndsWith(Percent, StringComparison.Ordinal);
        string unit = isShare ? " %" : "";
        return string.Create(CultureInfo.InvariantCulture,
            $"{(isShare ? one.What[..^Percent.Length] : one.What)} {one.Scenario:0.##}{unit} (seen: {one.Deployment:0.##}{unit})");
    }
}

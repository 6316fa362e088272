using MongoPerf.Storage;

namespace MongoPerf.Reports.Restarts;

/// <summary>How a server came back after one end.</summary>
/// <param name="End">"clean stop" or "kill -9".</param>
/// <param name="RateBefore">Operations per second before the first end.</param>
/// <param name="StopSeconds">What its end took.</param>
/// <param name="StartedAt">When it was started again, Unix milliseconds.</param>
/// <param name="AnswerSeconds">The seconds from its start to its first answer.</param>
/// <param name="Rates">Seconds since its start, and operations per second of the second that ended then.</param>
/// <param name="EndedAt">When the phase after its start ended, Unix milliseconds.</param>
internal sealed record RestartFigures(
    string End, double RateBefore, double StopSeconds, long StartedAt, double AnswerSeconds,
    IReadOnlyList<(double At, double Rate)> Rates, long EndedAt)
{
    /// <summary>The share of the rate before that counts as being back.</summary>
    public const double BackShare = 0.9;

    /// <summary>One good second may be chance: the mean of three must be good.</summary>
    public const int SecondsInARow = 3;

    public double BackRate => BackShare * RateBefore;

    /// <summary>
    /// Seconds from the server's start until the rate was back at 90 %; its first answer when it was so from the first second on.
    /// Null when it never was.
    /// </summary>
    public double? BackSeconds
    {
        get
        {
            for (int i = 0; i + Math.Min(SecondsInARow, Rates.Count) <= Rates.Count && i < Rates.Count; i++)
            {
                if (Rates.Skip(i).Take(SecondsInARow).Average(r => r.Rate) >= BackRate && Rates[i].Rate >= BackRate)
                    return i == 0 ? AnswerSeconds : Rates[i - 1].At;
            }

            return null;
        }
    }

    /// <summary>
    /// Finds the figures of each end on purpose that a phase followed, in the order in which they happened. The rate before is that of the
    /// last phase before the first end that did the same operations; where there was none, nothing can be compared.
    /// </summary>
    public static IReadOnlyList<RestartFigures> Of(StoredRun run)
    {
        RunEvent[] ends = [.. run.Events.Where(e => e.Kind is RunEvent.CleanStop or RunEvent.Kill).OrderBy(e => e.AtMilliseconds)];
        if (ends.Length == 0)
            return [];
        MeasuredSamples[] phases = [.. run.ReadSamples().GroupBy(sample => sample.Phase)
            .Select(phase => new MeasuredSamples(run.Phases.FirstOrDefault(p => p.Number == phase.Key), [.. phase]))];
        return [.. ends.Select((end, i) => Read(run, end, i + 1 < ends.Length ? ends[i + 1].AtMilliseconds : long.MaxValue,
            ends[0].AtMilliseconds, phases)).OfType<RestartFigures>()];
    }

    private sealed record MeasuredSamples(PhaseRecord? Record, Sample[] Samples)
    {
        public long Begin => Samples[0].StartMilliseconds;

        public long End => Samples[^1].AtMilliseconds;

        public bool DoesAs(MeasuredSamples other) =>
            Samples.Select(s => s.Operation).ToHashSet().SetEquals(other.Samples.Select(s => s.Operation));
    }

    private static RestartFigures? Read(StoredRun run, RunEvent end, long nextEnd, long firstEnd, MeasuredSamples[] phases)
    {
        RunEvent? answer = run.Events
            .FirstOrDefault(e => e.Kind == RunEvent.FirstAnswer && e.AtMilliseconds >= end.AtMilliseconds && e.AtMilliseconds < nextEnd);
        MeasuredSamples? after = phases.FirstOrDefault(p => answer is not null && p.End > answer.AtMilliseconds && p.Begin < nextEnd);
        MeasuredSamples? before =
            phases.LastOrDefault(p => after is not null && p.End <= firstEnd && p.Record is { Operations.Count: > 0 } && p.DoesAs(after));
        if (answer is null || after is null || before is null)
            return null;
        double toAnswer = answer.Seconds ?? 0;
        long started = answer.AtMilliseconds - (long)(toAnswer * 1000);
        // The rest of a second at the end says little.
        var rates = after.Samples.Where(s => s.Seconds > 0.5).GroupBy(s => s.AtMilliseconds)
            .Select(second => ((second.Key - started) / 1000.0, second.Sum(s => s.Operations / s.Seconds))).ToList();
        return new RestartFigures(end.Kind, before.Record!.Operations.Sum(o => o.OperationsPerSecond), end.Seconds ?? 0, started,
            toAnswer, rates, after.End);
    }
}

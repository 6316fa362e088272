using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Reporting.Experiments;

/// <summary>How a server came back after one end.</summary>
/// <param name="Test">after-stop or after-kill.</param>
/// <param name="RateBefore">Operations per second before the ends.</param>
/// <param name="StopSeconds">What its end took.</param>
/// <param name="StartedAt">When it was started again, Unix milliseconds.</param>
/// <param name="AnswerSeconds">From its start to its first answer.</param>
/// <param name="Rates">Seconds since its start, and operations per second of the second that ended then.</param>
/// <param name="EndedAt">When its queries ended, Unix milliseconds.</param>
internal sealed record RestartFigures(
    string Test, double RateBefore, double StopSeconds, long StartedAt, double AnswerSeconds, IReadOnlyList<(double At, double Rate)> Rates, long EndedAt)
{
    /// <summary>Of the rate before: what counts as being back.</summary>
    public const double BackShare = 0.9;

    /// <summary>One good second may be chance: the mean of three must be good.</summary>
    private const int SecondsInARow = 3;

    /// <summary>"clean stop" or "kill -9".</summary>
    public string End => EventOf(Test);

    public double BackRate => BackShare * RateBefore;

    /// <summary>Seconds from the server's start until the rate was back at 90 %; its first answer when it was so from the first second on. Null when it never was.</summary>
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

    /// <summary>In the order in which they happened; empty for any other run.</summary>
    public static IReadOnlyList<RestartFigures> Of(StoredRun run)
    {
        TestResult? before = run.Steps.SelectMany(s => s.Tests).FirstOrDefault(t => t.Test == ExperimentTests.BeforeRestart);
        if (before is null)
            return [];
        ILookup<string, PhaseSample> samples = run.ReadSamples().ToLookup(s => s.Test);
        return [.. ((string[])[ExperimentTests.AfterStop, ExperimentTests.AfterKill]).Select(test => Read(run, before, test, [.. samples[test]])).OfType<RestartFigures>()];
    }

    private static RestartFigures? Read(StoredRun run, TestResult before, string test, PhaseSample[] samples)
    {
        RunEvent? end = run.Events.LastOrDefault(e => e.Kind == EventOf(test));
        RunEvent? answer = run.Events.FirstOrDefault(e => e.Kind == ExperimentTests.AnswerEvent && e.AtMilliseconds >= end?.AtMilliseconds);
        if (end is null || answer is null || samples.Length == 0)
            return null;
        double toAnswer = answer.Seconds ?? 0;
        long started = answer.AtMilliseconds - (long)(toAnswer * 1000);
        // The rest of a second at the end says little.
        var rates = samples.Where(s => s.Seconds > 0.5).Select(s => ((s.AtMilliseconds - started) / 1000.0, s.Operations / s.Seconds)).ToList();
        return new RestartFigures(test, before.OperationsPerSecond, end.Seconds ?? 0, started, toAnswer, rates, samples[^1].AtMilliseconds);
    }

    private static string EventOf(string test) => test == ExperimentTests.AfterKill ? ExperimentTests.KillEvent : ExperimentTests.StopEvent;
}

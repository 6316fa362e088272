using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution;

/// <summary>Runs one test as one phase, stores its samples, and makes its result.</summary>
public sealed class TestRunner(IClock clock, PhaseRunner phases, RunStore? store, ISeriesObserver observer)
{
    /// <summary>Runs the test.</summary>
    /// <param name="step">1-based; 1 for a test run alone.</param>
    /// <param name="plan">The phase.</param>
    /// <param name="stop">Ends it early.</param>
    /// <param name="mayGoOn">Asked once per sample; false ends the phase early as <paramref name="stop"/> does.</param>
    public TestOutcome Run(int step, PhasePlan plan, Func<bool> mayGoOn, CancellationToken stop)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
        var recorder = new Recorder(clock, store, observer, step, plan, () =>
        {
            if (!mayGoOn())
                ended.Cancel();
        });
        observer.OnTestStarted(new TestProgress(
            step, plan.Operation.Test, plan.Threads, plan.CollectionDocuments, plan.Numbers is { } n ? new NumberRange(n.First, n.End) : null));
        PhaseResult phase = phases.Run(plan, recorder, ended.Token);
        store?.AddErrors(phase.Errors);
        foreach (PhasePart part in phase.Parts)
        {
            store?.AddHistogram(step, part.Operation.Test, plan.Threads, false, HistogramEncoding.EncodeCompressed(part.Service));
            if (phase.WarmupSeconds > 0)
                store?.AddHistogram(step, part.Operation.Test, plan.Threads, true, HistogramEncoding.EncodeCompressed(part.WarmupService));
        }

        return new TestOutcome(phase, [.. phase.Parts.Select(part => ToResult(plan, phase, part))]);
    }

    private static TestResult ToResult(PhasePlan plan, PhaseResult phase, PhasePart part)
    {
        // An end within the warm-up leaves nothing measured, over hardly any time: its rates are 0.
        double seconds = phase.Operations + phase.Failed > 0 && phase.Seconds > 0 ? phase.Seconds : double.PositiveInfinity;
        return new TestResult
        {
            Test = part.Operation.Test,
            Threads = plan.Threads,
            Batch = part.Operation.DocumentsPerCommand,
            Operations = part.Operations,
            Documents = part.Documents,
            Failed = part.Failed,
            ShortReplies = part.ShortReplies,
            WarmupSeconds = phase.WarmupSeconds,
            Seconds = phase.Seconds,
            OperationsPerSecond = part.Operations / seconds,
            DocumentsPerSecond = part.Documents / seconds,
            MegabytesPerSecond = part.Bytes / seconds / 1e6,
            ClientCpuMicrosecondsPerOperation = phase.Operations == 0 ? 0 : phase.ClientCpuSeconds * 1e6 / phase.Operations,
            ClientCpuCores = phase.ClientCpuSeconds / seconds,
            LatencyMicroseconds = LatencySummaries.From(part.Service),
            ResponseMicroseconds = part.Response is null ? null : LatencySummaries.From(part.Response),
            Verified = part.Verified,
            Wrong = part.Wrong,
            // What a mix left undone belongs to none of its operations.
            Accounting = phase.Parts.Count == 1 ? phase.Accounting : new Accounting(part.AllSucceeded + part.AllFailed, part.AllSucceeded, part.AllFailed, 0),
            Errors = part.Errors,
        };
    }

    /// <summary>Turns a phase's intervals and events into stored ones.</summary>
    private sealed class Recorder(
        IClock clock, RunStore? store, ISeriesObserver observer, int step, PhasePlan plan, Action afterSample) : IPhaseObserver
    {
        public void OnInterval(PhaseInterval interval)
        {
            long documents = plan.CollectionDocuments + interval.Inserted;
            foreach (IntervalPart part in interval.Parts)
            {
                PhaseSample sample = Sample(interval, part, documents);
                store?.AddSample(sample);
                observer.OnSample(sample);
            }

            afterSample();
        }

        private PhaseSample Sample(PhaseInterval interval, IntervalPart part, long documents) => new()
        {
            AtMilliseconds = clock.UtcNow.ToUnixTimeMilliseconds(),
            Step = step,
            Test = part.Test,
            Threads = plan.Threads,
            IsWarmup = interval.IsWarmup,
            HasOutage = interval.HasOutage,
            Seconds = interval.Seconds,
            Operations = part.Operations,
            Documents = part.Documents,
            Bytes = part.Bytes,
            Failed = part.Failed,
            CollectionDocuments = documents,
            LatencyMicroseconds = LatencySummaries.From(part.Service),
            Histogram = part.Service.TotalCount == 0 ? default : HistogramEncoding.EncodeCompressed(part.Service),
        };

        public void OnEvent(string kind, string text, double? seconds)
        {
            var happened = new RunEvent(clock.UtcNow.ToUnixTimeMilliseconds(), kind, $"{plan.Operation.Test}: {text}", seconds);
            store?.AddEvent(happened);
            observer.OnEvent(happened);
        }
    }
}

/// <summary>What a phase counted, and the results made of it, one for each of its operations.</summary>
public sealed record TestOutcome(PhaseResult Phase, IReadOnlyList<TestResult> Results)
{
    public TestOutcome(PhaseResult phase, TestResult result)
        : this(phase, [result])
    {
    }

    /// <summary>Of a phase that is no mix.</summary>
    public TestResult Result
    {
        get => Results[0];
        init => Results = [value];
    }
}

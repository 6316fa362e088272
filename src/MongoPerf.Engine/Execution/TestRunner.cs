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
        store?.AddHistogram(step, plan.Operation.Test, plan.Threads, false, HistogramEncoding.EncodeCompressed(phase.Service));
        if (phase.WarmupSeconds > 0)
            store?.AddHistogram(step, plan.Operation.Test, plan.Threads, true, HistogramEncoding.EncodeCompressed(phase.WarmupService));
        return new TestOutcome(phase, ToResult(plan, phase));
    }

    private static TestResult ToResult(PhasePlan plan, PhaseResult phase)
    {
        // An end within the warm-up leaves nothing measured, over hardly any time: its rates are 0.
        double seconds = phase.Operations + phase.Failed > 0 && phase.Seconds > 0 ? phase.Seconds : double.PositiveInfinity;
        return new TestResult
        {
            Test = plan.Operation.Test,
            Threads = plan.Threads,
            Batch = plan.Operation is InsertSpecification insert ? insert.BatchSize : 1,
            Operations = phase.Operations,
            Documents = phase.Documents,
            Failed = phase.Failed,
            ShortReplies = phase.ShortReplies,
            WarmupSeconds = phase.WarmupSeconds,
            Seconds = phase.Seconds,
            OperationsPerSecond = phase.Operations / seconds,
            DocumentsPerSecond = phase.Documents / seconds,
            MegabytesPerSecond = phase.Bytes / seconds / 1e6,
            ClientCpuMicrosecondsPerOperation = phase.Operations == 0 ? 0 : phase.ClientCpuSeconds * 1e6 / phase.Operations,
            ClientCpuCores = phase.ClientCpuSeconds / seconds,
            LatencyMicroseconds = LatencySummaries.From(phase.Service),
            ResponseMicroseconds = phase.Response is null ? null : LatencySummaries.From(phase.Response),
            Verified = phase.Verified,
            Wrong = phase.Wrong,
            Accounting = phase.Accounting,
        };
    }

    /// <summary>Turns a phase's intervals and events into stored ones.</summary>
    private sealed class Recorder(
        IClock clock, RunStore? store, ISeriesObserver observer, int step, PhasePlan plan, Action afterSample) : IPhaseObserver
    {
        private readonly bool _inserts = plan.Operation is InsertSpecification;

        public void OnInterval(PhaseInterval interval)
        {
            var sample = new PhaseSample
            {
                AtMilliseconds = clock.UtcNow.ToUnixTimeMilliseconds(),
                Step = step,
                Test = plan.Operation.Test,
                Threads = plan.Threads,
                IsWarmup = interval.IsWarmup,
                HasOutage = interval.HasOutage,
                Seconds = interval.Seconds,
                Operations = interval.Operations,
                Documents = interval.Documents,
                Bytes = interval.Bytes,
                Failed = interval.Failed,
                CollectionDocuments = plan.CollectionDocuments + (_inserts ? interval.AllDocuments : 0),
                LatencyMicroseconds = LatencySummaries.From(interval.Service),
                Histogram = interval.Service.TotalCount == 0 ? default : HistogramEncoding.EncodeCompressed(interval.Service),
            };
            store?.AddSample(sample);
            observer.OnSample(sample);
            afterSample();
        }

        public void OnEvent(string kind, string text, double? seconds)
        {
            var happened = new RunEvent(clock.UtcNow.ToUnixTimeMilliseconds(), kind, $"{plan.Operation.Test}: {text}", seconds);
            store?.AddEvent(happened);
            observer.OnEvent(happened);
        }
    }
}

/// <summary>What a phase counted, and the result made of it.</summary>
public sealed record TestOutcome(PhaseResult Phase, TestResult Result);

using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Engine.Execution;

/// <summary>Runs phases: starts the workers, samples them every second, adds them up.</summary>
public sealed class PhaseRunner(IClock clock, Func<IOperationExecutor> openExecutor)
{
    /// <summary>What operations under way get to end, all of them together, once the phase is stopped.</summary>
    internal TimeSpan StopGrace { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A worker calls nothing deep; hundreds of them are to fit.</summary>
    private const int WorkerStackBytes = 256 * 1024;

    /// <summary>Runs one phase to its end.</summary>
    /// <param name="plan">What to do.</param>
    /// <param name="observer">Hears of every interval.</param>
    /// <param name="stop">Ends the phase early; operations under way get 5 s to end.</param>
    /// <exception cref="Wire.Connections.ConnectionFailedException">A worker could not connect at the start, for as long as the plan lets it try.</exception>
    /// <exception cref="SamplingFailedException">The observer could not take an interval; the phase was ended for it.</exception>
    public PhaseResult Run(PhasePlan plan, IPhaseObserver observer, CancellationToken stop)
    {
        // What earlier phases left (histograms, buffers) is collected now, so that it neither piles up over hundreds of phases nor is
        // collected in the middle of this one.
        GC.Collect();
        var control = new PhaseControl(plan, clock, observer);
        List<Worker> workers = OpenWorkers(control, stop);
        try
        {
            return Run(control, workers, stop);
        }
        finally
        {
            foreach (Worker worker in workers)
                worker.Dispose();
        }
    }

    private List<Worker> OpenWorkers(PhaseControl control, CancellationToken stop)
    {
        var workers = new List<Worker>();
        try
        {
            for (int i = 0; i < control.Plan.Threads; i++)
            {
                IOperationExecutor executor = openExecutor();
                try
                {
                    Connect(executor, control, stop);
                    workers.Add(new Worker(control, executor, i));
                }
                catch
                {
                    executor.Dispose();
                    throw;
                }
            }

            return workers;
        }
        catch
        {
            foreach (Worker worker in workers)
                worker.Dispose();
            throw;
        }
    }

    /// <summary>A server that is away just when a phase begins is waited for as within it.</summary>
    private void Connect(IOperationExecutor executor, PhaseControl control, CancellationToken stop)
    {
        long begun = clock.Now;
        long giveUpAt = begun + clock.TicksOf(control.Plan.ReconnectFor.TotalSeconds);
        var backoff = new Backoff(clock, 0.05, 2);
        string? failure = null;
        while (true)
        {
            try
            {
                executor.Connect();
                break;
            }
            catch (Exception e) when (ErrorTally.IsServerAway(e) && clock.Now < giveUpAt && !stop.IsCancellationRequested)
            {
                failure = e.Message;
                backoff.Wait(() => stop.IsCancellationRequested);
            }
        }

        if (failure is null)
            return;
        double seconds = clock.SecondsBetween(begun, clock.Now);
        control.Observer.OnEvent("reconnect", $"{failure}; connected after {seconds:0.00} s", seconds);
    }

    private PhaseResult Run(PhaseControl control, List<Worker> workers, CancellationToken stop)
    {
        using var ready = new ManualResetEventSlim(false);
        long start = 0;
        Thread[] threads = [.. workers.Select((worker, i) => new Thread(() =>
        {
            ready.Wait();
            worker.Run(start);
        }, WorkerStackBytes)
        { IsBackground = true, Name = $"worker {i}" })];
        foreach (Thread thread in threads)
            thread.Start();

        start = clock.Now;
        control.Begin(start);
        var sampler = new PhaseSampler(control, workers, start);
        using (stop.Register(control.Stop))
        using (clock.Schedule(sampler.FirstDue, sampler.Tick))
        {
            ready.Set();
            Join(threads, workers, control);
        }

        sampler.TakeLast();
        if (sampler.Failure is { } failure)
            throw new SamplingFailedException(failure);
        return Summarise(control, workers, sampler, start);
    }

    private void Join(Thread[] threads, List<Worker> workers, PhaseControl control)
    {
        long? abortAt = null;
        foreach (Thread thread in threads)
        {
            while (!thread.Join(100))
            {
                if (!control.IsStopped)
                    continue;
                // Real time: operations that hang don't move a clock of tests.
                long now = Environment.TickCount64;
                abortAt ??= now + (long)StopGrace.TotalMilliseconds;
                if (now < abortAt)
                    continue;
                workers.ForEach(worker => worker.Abort());
                abortAt = now + (long)StopGrace.TotalMilliseconds;
            }
        }
    }

    private PhaseResult Summarise(PhaseControl control, List<Worker> workers, PhaseSampler sampler, long start)
    {
        PhasePart[] parts = [.. control.Plan.Operation.Parts.Select((part, i) => SummarisePart(control, workers, part, i))];
        long end = workers.Max(w => w.CompletedAt);
        long lastOperation = workers.Max(w => w.LastOperationEnd);
        double warmupSeconds = Math.Min(control.Plan.WarmupSeconds, clock.SecondsBetween(start, end));
        return new PhaseResult
        {
            Accounting = Account(control, workers, parts.Sum(p => p.AllSucceeded), parts.Sum(p => p.AllFailed)),
            Operations = parts.Sum(p => p.Operations),
            Documents = parts.Sum(p => p.Documents),
            Bytes = parts.Sum(p => p.Bytes),
            Failed = parts.Sum(p => p.Failed),
            ShortReplies = parts.Sum(p => p.ShortReplies),
            AllDocuments = workers.Sum(w => w.Warmup.Concat(w.Measured).Sum(c => c.Documents)),
            Seconds = clock.SecondsBetween(start, end) - warmupSeconds,
            WarmupSeconds = warmupSeconds,
            DrainSeconds = control.Plan.Operation is InsertSpecification { Acknowledged: false } ? clock.SecondsBetween(lastOperation, end) : 0,
            ClientCpuSeconds = sampler.MeasuredCpuSeconds,
            Service = Merge(parts.Select(p => p.Service)),
            WarmupService = Merge(parts.Select(p => p.WarmupService)),
            Response = control.Plan.Rate.HasValue ? Merge(parts.Select(p => p.Response!)) : null,
            Errors = ErrorTally.Merge(parts.Select(p => p.Errors)),
            Parts = parts,
            ThreadOperations = [.. workers.Select(w => w.Measured.Sum(c => c.Operations))],
            Verified = parts.Sum(p => p.Verified),
            Wrong = parts.Sum(p => p.Wrong),
            Laps = control.Plan.Lap is null ? [] : [.. workers.Select(w => w.Laps.Select(lap => new LapMark(lap.Done, clock.SecondsBetween(start, lap.At))).ToArray())],
            GivenUp = workers.Select(w => w.GivenUp).FirstOrDefault(e => e is not null),
            WasStopped = control.IsStopped,
        };
    }

    private static PhasePart SummarisePart(PhaseControl control, List<Worker> workers, OperationSpecification operation, int index)
    {
        var measured = new CounterSum();
        var warmup = new CounterSum();
        LatencyHistogram? response = control.Plan.Rate.HasValue ? new() : null;
        foreach (Worker worker in workers)
        {
            measured.Add(worker.Measured[index]);
            warmup.Add(worker.Warmup[index]);
            if (response is not null)
                worker.Measured[index].Response!.AddTo(response);
        }

        return new PhasePart(operation)
        {
            Operations = measured.Operations,
            Documents = measured.Documents,
            Bytes = measured.Bytes,
            Failed = measured.Failed,
            ShortReplies = measured.Short,
            AllSucceeded = measured.Operations + warmup.Operations,
            AllFailed = measured.Failed + warmup.Failed,
            Verified = workers.Sum(w => w.Measured[index].Verified + w.Warmup[index].Verified),
            Wrong = workers.Sum(w => w.Measured[index].Wrong + w.Warmup[index].Wrong),
            Service = measured.Service,
            WarmupService = warmup.Service,
            Response = response,
            Errors = control.Errors[index].Counts,
        };
    }

    private static LatencyHistogram Merge(IEnumerable<LatencyHistogram> histograms)
    {
        var sum = new LatencyHistogram();
        foreach (LatencyHistogram histogram in histograms)
            histogram.AddTo(sum);
        return sum;
    }

    /// <summary>
    /// Scheduled = Succeeded + Failed + Skipped: what a count asked for and an early end left undone is skipped, and so are arrivals of a
    /// rate that were due in a window that ran to its end and found no time in it.
    /// </summary>
    private static Accounting Account(PhaseControl control, List<Worker> workers, long succeeded, long failed)
    {
        long started = workers.Sum(w => w.Scheduled);
        // A worker that died between taking an operation and counting it leaves that one skipped.
        long missed = control.IsStopped ? 0 : workers.Sum(w => w.Missed);
        long scheduled = Math.Max(control.Plan.Operations ?? (started + missed), started);
        var accounting = new Accounting(scheduled, succeeded, failed, scheduled - succeeded - failed);
        return accounting.Skipped >= 0
            ? accounting
            : throw new InvalidOperationException($"accounting: {succeeded} succeeded and {failed} failed of {scheduled} scheduled");
    }
}

using System.Runtime.ExceptionServices;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Load.Phases;

/// <summary>Runs groups of threads: starts the workers, samples them every second, adds them up.</summary>
/// <param name="clock">The clock by which they run.</param>
/// <param name="openExecutor">Makes a worker's executor; gets the group and the worker's number, 0-based, in it.</param>
public sealed class GroupRunner(IClock clock, Func<GroupPlan, int, IOperationExecutor> openExecutor)
{
    /// <summary>Somebody waits for the end: no connection is waited for, and operations under way get <see cref="HurriedGrace"/>.</summary>
    public CancellationToken Hurry { get; init; }

    /// <summary>What operations under way get to end, all of them together, once the phase is stopped.</summary>
    internal TimeSpan StopGrace { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Ctrl+C is to end a run within a second.</summary>
    internal TimeSpan HurriedGrace { get; init; } = TimeSpan.FromMilliseconds(700);

    /// <summary>
    /// How long a server may close a new connection at once, while others are open, until that is taken for a limit: longer than a proxy
    /// mostly does it whose server starts again.
    /// </summary>
    private const double LimitSeconds = 10;

    /// <summary>Connections that are opened at once: fewer than any server lets wait to be accepted.</summary>
    private const int MostOpenings = 64;

    /// <summary>Threads for which one that opens connections is worth while.</summary>
    private const int ThreadsPerOpening = 8;

    /// <summary>A worker calls nothing deep; hundreds of them are to fit.</summary>
    private const int WorkerStackBytes = 256 * 1024;

    /// <summary>Runs one group to its end.</summary>
    /// <param name="plan">What to do.</param>
    /// <param name="observer">Hears of every interval.</param>
    /// <param name="stop">Ends it early; operations under way get 5 s to end, or 0.7 s when somebody waits.</param>
    /// <exception cref="Wire.Connections.ConnectionFailedException">
    /// A worker could not connect at the start, for as long as the plan lets it try.
    /// </exception>
    /// <exception cref="MongoPerfException">
    /// The observer could not store an interval (disk full, run.db read-only); the group was ended for it.
    /// </exception>
    public GroupResult Run(GroupPlan plan, IGroupObserver observer, CancellationToken stop)
    {
        var control = new GroupControl(plan, clock, observer);
        List<Worker> workers = [];
        try
        {
            OpenWorkers(control, workers, stop);
            if (plan.Connections is { Kind: not ConnectionKind.Pool })
            {
                // Operations have been prepared on it; from here on they open their own.
                control.Pool?.Dispose();
                control.Pool = null;
            }

            return Run(control, workers, stop);
        }
        finally
        {
            // Whoever still opens a connection is being broken off, and ends by itself.
            foreach (Worker worker in workers.Where(worker => !worker.IsOpening))
                worker.Dispose();
            control.Pool?.Dispose();
        }
    }

    /// <summary>
    /// Opens the workers' connections: the first alone, which shows whether there is a server, then many at once where there are many.
    /// </summary>
    /// <param name="control">Of the group.</param>
    /// <param name="workers">Gets those that are open, also when another one fails.</param>
    /// <param name="stop">
    /// Thousands take seconds; a stop need not wait for those that are to come. One there is, whose result is the group's.
    /// </param>
    private void OpenWorkers(GroupControl control, List<Worker> workers, CancellationToken stop)
    {
        int threads = control.Plan.Threads;
        using var end = CancellationTokenSource.CreateLinkedTokenSource(stop);
        var opened = new Worker?[threads];
        Exception? failure = null;
        int begun = 0, connected = 0;

        bool OpenNext()
        {
            try
            {
                IOperationExecutor executor;
                int index;
                lock (opened)
                {
                    if (begun == threads || (begun > 0 && end.IsCancellationRequested))
                        return false;
                    index = begun++;
                    executor = openExecutor(control.Plan, index);
                }

                try
                {
                    if (control.Plan.Connections is null || executor.HasPool)
                        Connect(executor, control, () => Volatile.Read(ref connected), end.Token);
                    lock (opened)
                    {
                        opened[index] = Prepare(control, executor, index, stop);
                        connected++;
                    }
                }
                catch
                {
                    executor.Dispose();
                    throw;
                }

                return true;
            }
            catch (Exception e)
            {
                Interlocked.CompareExchange(ref failure, e, null);
                end.Cancel();
                return false;
            }
        }

        void OpenRest()
        {
            while (OpenNext())
            {
            }
        }

        OpenNext();
        Thread[] beside = [.. Enumerable.Range(1, Math.Clamp(threads / ThreadsPerOpening, 1, MostOpenings) - 1)
            .Select(i => new Thread(OpenRest, WorkerStackBytes) { IsBackground = true, Name = $"opening {i}" })];
        Array.ForEach(beside, thread => thread.Start());
        OpenRest();
        Array.ForEach(beside, thread => thread.Join());
        workers.AddRange(opened.OfType<Worker>());
        if (failure is not null)
            ExceptionDispatchInfo.Throw(failure);
    }

    private Worker Prepare(GroupControl control, IOperationExecutor executor, int index, CancellationToken stop)
    {
        if (control.Plan.Connections is null || executor.HasPool)
            return new Worker(control, executor, index);
        control.Pool ??= OpenPool(control, stop);
        executor.Borrow(control.Pool.Executors[index % control.Pool.Executors.Count]);
        var worker = new Worker(control, executor, index);
        executor.Borrow(null);
        return worker;
    }

    /// <summary>The connections of a pool; one where operations open their own.</summary>
    private ConnectionPool OpenPool(GroupControl control, CancellationToken stop)
    {
        List<IOperationExecutor> opened = [];
        try
        {
            int count = control.Plan.Connections is { Kind: ConnectionKind.Pool, Count: var size } ? size : 1;
            for (int i = 0; i < count; i++)
            {
                opened.Add(openExecutor(control.Plan, i));
                Connect(opened[i], control, () => opened.Count - 1, stop);
            }

            return new ConnectionPool(opened);
        }
        catch
        {
            opened.ForEach(executor => executor.Dispose());
            throw;
        }
    }

    /// <summary>A server that is away just when a group begins is waited for as within it.</summary>
    private void Connect(IOperationExecutor executor, GroupControl control, Func<int> connected, CancellationToken stop)
    {
        using CancellationTokenRegistration hurry =
            Hurry.UnsafeRegister(static opened => ((IOperationExecutor)opened!).Abort(), executor);
        long begun = clock.Now;
        long giveUpAt = begun + clock.TicksOf(control.Plan.ReconnectFor.TotalSeconds);
        long? closedSince = null;
        var backoff = new Backoff(clock, 0.05, 2);
        string? failure = null;
        while (true)
        {
            try
            {
                executor.Connect();
                break;
            }
            catch (ConnectionFailedException e) when (connected() > 0 && e.WasClosed && !stop.IsCancellationRequested
                && (clock.Now >= giveUpAt || clock.Now >= closedSince + clock.TicksOf(LimitSeconds)))
            {
                throw control.Plan.Connections is { Count: var size }
                    ? new ConnectionLimitException(e, connected(), size, isPool: true)
                    : new ConnectionLimitException(e, connected(), control.Plan.Threads);
            }
            catch (Exception e) when (ErrorTally.IsServerAway(e) && clock.Now < giveUpAt && !stop.IsCancellationRequested)
            {
                failure = e.Message;
                closedSince = e is ConnectionFailedException { WasClosed: true } ? closedSince ?? clock.Now : null;
                backoff.Wait(() => stop.IsCancellationRequested);
            }
        }

        if (failure is null)
            return;
        double seconds = clock.SecondsBetween(begun, clock.Now);
        control.Observer.OnEvent("reconnect", $"{failure}; connected after {seconds:0.00} s", seconds);
    }

    private GroupResult Run(GroupControl control, List<Worker> opened, CancellationToken stop)
    {
        // Hundreds of workers that spin keep those that are still to start from a processor.
        using var ready = new ManualResetEventSlim(false, spinCount: 0);
        long? begun = null;
        var threads = new List<Thread>();
        foreach (Worker worker in opened.TakeWhile(_ => threads.Count == 0 || !stop.IsCancellationRequested))
        {
            threads.Add(new Thread(() =>
            {
                ready.Wait();
                if (begun is { } at)
                    worker.Run(at);
            }, WorkerStackBytes)
            { IsBackground = true, Name = $"worker {threads.Count}" });
            threads[^1].Start();
        }

        List<Worker> workers = opened[..threads.Count];

        long start;
        try
        {
            start = Math.Max(control.Plan.BeforeStart() ?? 0, clock.Now);
        }
        catch
        {
            ready.Set();
            foreach (Thread thread in threads)
                thread.Join();
            throw;
        }

        // All is prepared before that time, and each worker waits for it by itself: clients that begin together lie no further
        // apart than they wake up.
        begun = start;
        control.Begin(start);
        var sampler = new GroupSampler(control, workers, start);
        using (stop.Register(() => Stop(control, workers)))
        using (clock.Schedule(sampler.FirstDue, sampler.Tick))
        {
            ready.Set();
            Join(threads, workers, control);
        }

        sampler.TakeLast();
        if (sampler.Failure is { } failure)
            throw new MongoPerfException(
                Fault.Refused, $"run store: {failure.Message}", "is the disk that holds the runs folder full?", failure);
        return Summarise(control, workers, sampler);
    }

    /// <summary>
    /// Stops the group. What opens connections between operations, maybe thousands of them, is broken off at once, by a thread of its own:
    /// that may take longer than Ctrl+C may.
    /// </summary>
    private static void Stop(GroupControl control, List<Worker> workers)
    {
        control.Stop();
        Worker[] opening = [.. workers.Where(worker => worker.IsOpening)];
        if (opening.Length > 0)
            new Thread(() => Array.ForEach(opening, worker => worker.Abort())) { IsBackground = true, Name = "stop" }.Start();
    }

    private void Join(List<Thread> threads, List<Worker> workers, GroupControl control)
    {
        long? stoppedAt = null;
        foreach ((Thread thread, Worker worker) in threads.Zip(workers))
        {
            // Whoever opens a connection between operations has nothing that is waited for.
            while (!(control.IsStopped && worker.IsOpening) && !thread.Join(100))
            {
                if (!control.IsStopped)
                    continue;
                // Real time: operations that hang don't move a clock of tests.
                long now = Environment.TickCount64;
                stoppedAt ??= now;
                TimeSpan grace = Hurry.IsCancellationRequested ? HurriedGrace
                    : worker.IsDraining ? StopGrace + TimeSpan.FromSeconds(WatchChanges.LongestDrainSeconds) : StopGrace;
                if (now - stoppedAt < grace.TotalMilliseconds)
                    continue;
                control.Abort();
                workers.ForEach(other => other.Abort());
                control.Pool?.Abort();
                stoppedAt = now;
            }
        }
    }

    private GroupResult Summarise(GroupControl control, List<Worker> workers, GroupSampler sampler)
    {
        long start = control.StartedAt;
        OperationCount[] counted = [.. control.Plan.Counted.Select((part, i) => SummarisePart(control, workers, part, i))];
        OperationCount[] parts = counted[..control.Plan.Parts.Count];
        long completed = workers.Max(w => w.CompletedAt);
        // One that was stopped while it waited for its start has ended before it.
        long end = Math.Max(start, completed);
        // Of an open loop the window is what was asked for: the last replies come behind it, and must not make its rate look less.
        if (control.Arrivals is not null && !control.IsStopped && control.EndAt < end)
            end = Math.Max(control.EndAt, workers.Max(w => w.LastPacedStart));
        double warmupSeconds = Math.Min(control.Plan.WarmupSeconds, clock.SecondsBetween(start, end));
        return new GroupResult
        {
            StartedAt = workers.Min(w => w.StartedAt),
            Accounting = Account(control, workers, parts.Sum(p => p.AllSucceeded), parts.Sum(p => p.AllFailed)),
            Parts = parts,
            Connections = control.Plan.Connections is null ? null : counted[^1],
            Storms = control.Storms?.Results ?? [],
            Refused = control.Refused,
            Seconds = clock.SecondsBetween(start, end) - warmupSeconds,
            WarmupSeconds = warmupSeconds,
            DrainSeconds = control.Plan.Operations is [{ Operation: { Inserts: true, Concerns.IsUnacknowledged: true } }]
                ? clock.SecondsBetween(workers.Max(w => w.SentAt), completed)
                : 0,
            ClientCpuSeconds = sampler.MeasuredCpuSeconds,
            ClientAllocatedBytes = sampler.MeasuredAllocatedBytes,
            ThreadOperations = [.. workers.Select(w => w.Operations)],
            Laps = control.Plan.Lap is null ? []
                : [.. workers.Select(w => w.Laps.Select(lap => new LapMark(lap.Done, clock.SecondsBetween(start, lap.At))).ToArray())],
            Traffic = TrafficOf(control, workers),
            Waiting =
                control.Arrivals is { } arrivals ? new ClientWaiting(arrivals.Waited, (double)arrivals.Busy / clock.TicksPerSecond) : null,
            OversleptSeconds = workers[0].Overslept is null ? null
                : workers.Sum(w => (double)(w.Overslept ?? 0)) / clock.TicksPerSecond,
            GivenUp = workers.Select(w => w.GivenUp).FirstOrDefault(e => e is not null),
            WasStopped = control.IsStopped,
        };
    }

    private static GroupTraffic? TrafficOf(GroupControl control, List<Worker> workers)
    {
        IReadOnlyList<IOperationExecutor> lenders = control.Pool?.Executors ?? [];
        TrafficCounters[] all =
            [.. workers.Select(worker => worker.Traffic).Concat(lenders.Select(lender => lender.Traffic)).OfType<TrafficCounters>()];
        if (all.Length < workers.Count + lenders.Count)
            return null;
        TrafficCounters sum = all.Aggregate((a, b) => a + b);
        long documents = control.Lanes.Sum(lane => lane.Warmup.Concat(lane.Measured).Sum(counters => counters.Bytes));
        return new GroupTraffic(documents, sum.MessageBytesSent, sum.WireBytesSent, sum.MessageBytesReceived, sum.WireBytesReceived)
        {
            Compressor = workers.Select(worker => worker.Compressor).Concat(lenders.Select(lender => lender.Compressor))
                .FirstOrDefault(name => name is not null),
        };
    }

    private static OperationCount SummarisePart(GroupControl control, List<Worker> workers, Operation operation, int index)
    {
        bool isPaced = control.Plan.IsPaced;
        return new OperationCount(
            operation,
            Counters.Sum(control.Lanes.Select(lane => lane.Measured[index]), operation, isPaced),
            Counters.Sum(control.Lanes.Select(lane => lane.Warmup[index]), operation, isPaced),
            control.Errors[index].Counts)
        {
            TicksPerSecond = control.Clock.TicksPerSecond,
            Members = MemberCounts.Sum(workers.Select(worker => worker.Members), index),
        };
    }

    /// <summary>
    /// Scheduled = Succeeded + Failed + Skipped: what a count asked for and an early end left undone is skipped, and so are arrivals of a
    /// rate that were due before the end and found no time.
    /// </summary>
    private static Accounting Account(GroupControl control, List<Worker> workers, long succeeded, long failed)
    {
        long started = workers.Sum(w => w.Scheduled);
        // A worker that died between taking an operation and counting it leaves that one skipped.
        long missed = control.Arrivals is null || control.HasRunOut || control.DueBefore == long.MaxValue ? 0
            : workers.Sum(w => w.Missed) + control.Arrivals.TakeBefore(control.DueBefore);
        long scheduled = Math.Max(control.Plan.Count ?? control.Plan.Script?.Count ?? (started + missed), started);
        var accounting = new Accounting(scheduled, succeeded, failed, scheduled - succeeded - failed);
        return accounting.Skipped >= 0
            ? accounting
            : throw new InvalidOperationException($"accounting: {succeeded} succeeded and {failed} failed of {scheduled} scheduled");
    }
}

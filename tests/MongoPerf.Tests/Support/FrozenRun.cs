using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Support;

/// <summary>What a frozen run is like. The defaults give ten steps to 1M documents whose data outgrow the cache in the third.</summary>
internal sealed record FrozenShape
{
    public string Id { get; init; } = "2026-11-21-a";
    public int Steps { get; init; } = 10;
    public long TargetDocumentCount { get; init; } = 1_000_000;
    public long CacheBytes { get; init; } = 268_435_456;
    public int WindowSeconds { get; init; } = 5;
    public IReadOnlyList<int> Threads { get; init; } = [8];
    public RunState State { get; init; } = RunState.Finished;
    public string BuildKind { get; init; } = "Release";
    public bool IsEmbedded { get; init; }
    public bool ServerOnSameMachine { get; init; } = true;
    public int CpuCount { get; init; } = 8;

    /// <summary>Used by neither client nor server.</summary>
    public double OtherCores { get; init; }

    public double StolenCores { get; init; }

    /// <summary>In which step three unacknowledged documents are lost; 0 for none.</summary>
    public int LossStep { get; init; } = 4;

    /// <summary>In which step q5 has two failed operations; 0 for none.</summary>
    public int ErrorStep { get; init; } = 6;

    /// <summary>In which step the server restarts during the acknowledged inserts; 0 for none.</summary>
    public int OutageStep { get; init; } = 7;

    /// <summary>
    /// More than one make the deployment sharded, by ranges of _id: all documents come to the last, and chunks migrate away from it.
    /// </summary>
    public IReadOnlyList<string> Shards { get; init; } = [];

    /// <summary>Documents found to differ from the generator's, in the last step's q4.</summary>
    public long Wrong { get; init; }
}

/// <summary>
/// Stores a run with a fixed clock and invented values that agree with each other: samples add up to results, results to the accounting,
/// latency to rate and threads. Any machine makes the same figures.
/// </summary>
internal sealed class FrozenRun
{
    private readonly FrozenShape _shape;
    private readonly RunStore _store;
    private readonly FrozenServer _server;
    private readonly FrozenShards? _shards;
    private readonly LatencyHistogram _ofSample = new();
    private DateTimeOffset _now = RunParts.Start;
    private long _documents;
    private int _phases;

    private FrozenRun(FrozenShape shape, RunStore store)
    {
        _shape = shape;
        _store = store;
        _server = new FrozenServer(shape);
        _shards = shape.Shards.Count > 1 ? new FrozenShards(shape.Shards, store) : null;
    }

    /// <returns>The run's folder.</returns>
    public static string Build(string runsFolder, FrozenShape? shape = null)
    {
        shape ??= new FrozenShape();
        string folder = Path.Combine(runsFolder, shape.Id);
        using RunStore store = RunStore.Create(folder, RunParts.Run(shape.Id) with { BuildKind = shape.BuildKind },
            RunParts.Settings(shape.TargetDocumentCount));
        new FrozenRun(shape, store).Write();
        return folder;
    }

    private void Write()
    {
        DeploymentInfo deployment = RunParts.Deployment() with { CacheBytes = _shape.CacheBytes };
        if (_shape.IsEmbedded)
        {
            deployment = deployment with
            {
                Kind = DeploymentKind.Embedded, Topology = Topology.Embedded, IsEmbedded = true, StorageEngine = "lmdb",
                Remarks = ["results are for the embedded server, not MongoDB"],
            };
        }

        _store.SetDeployment(_shards is null ? deployment : deployment with { Topology = Topology.Sharded });
        _store.SetEnvironment(RunParts.Environment() with { CpuCount = _shape.CpuCount, ServerOnSameMachine = _shape.ServerOnSameMachine });
        for (int step = 1; step <= _shape.Steps; step++)
            WriteStep(step);
        _store.SetState(_shape.State, _shape.State == RunState.Interrupted ? "Ctrl+C" : null,
            _shape.State == RunState.Running ? null : _now);
    }

    private void WriteStep(int step)
    {
        long grow = _shape.TargetDocumentCount / _shape.Steps;
        WriteInsert(step, "unack", grow / 5);
        WriteInsert(step, "batch", grow * 3 / 5);
        WriteInsert(step, "safe", grow - (grow / 5) - (grow * 3 / 5));
        foreach (string phase in new[] { "q4", "q5", "q6", "q7" })
        {
            foreach (int threads in _shape.Threads)
                WriteQuery(step, phase, threads);
        }

        _store.EndPhase(Record(step, "size") with { Kind = PhaseKind.Sizes, Sizes = [Sizes(_documents)] });
        _store.AddCheckpoint(new Checkpoint(_phases, _documents, _now.ToUnixTimeMilliseconds()));
    }

    /// <summary>The next.</summary>
    private PhaseRecord Record(int step, string phase) =>
        RunParts.Grown(++_phases, phase, step, _shape.TargetDocumentCount / _shape.Steps * step) with { Documents = _documents };

    private void WriteInsert(int step, string phase, long documents)
    {
        PhaseRecord record = Record(step, phase);
        var part = new FrozenPart(step, phase, record.Number, 1, phase == "batch" ? 1000 : 1);
        if (step == _shape.OutageStep && phase == "safe")
            WriteOutage(part);
        for (int second = 0; part.Documents < documents; second++)
        {
            double rate = FrozenServer.BaseRate(phase) * _server.Slowdown(_documents) * FrozenServer.Noise(step, phase, second);
            long now = Math.Min(documents - part.Documents, (long)(rate / part.Batch) * part.Batch);
            WriteSample(part, now / rate, now / part.Batch, now, now * 1024, isWarmup: false, hasOutage: part.HasOutage && second == 0);
        }

        bool loses = phase == "unack" && step == _shape.LossStep;
        OperationResult result = part.ToResult() with
        {
            Unacknowledged =
                phase == "unack" ? new UnacknowledgedResult(documents, documents - (loses ? 3 : 0), loses ? 3 : 0, 0.125) : null,
            Repaired = (loses ? 3 : 0) + part.Failed,
        };
        _store.EndPhase(record with { Kind = PhaseKind.Write, Documents = _documents, Operations = [result] });
        _store.AddHistogram(new StoredHistogram(part.Number, part.Operation, false, HistogramEncoding.EncodeCompressed(part.Histogram)));
    }

    private void WriteQuery(int step, string phase, int threads)
    {
        PhaseRecord record = Record(step, phase);
        if (_shape.Threads.Count > 1)
            record = record with { Parameters = [new ParameterValue("threads", $"{threads}")] };
        var part = new FrozenPart(step, phase, record.Number, threads, 1);
        var warmup = new LatencyHistogram();
        double warmupSeconds = _shape.WindowSeconds / 4.0;
        int perOperation = phase == "q7" ? 100 : 10;
        int bytes = phase == "q5" ? 20 : 1024;
        double done = 0;
        for (int second = 0; done < _shape.WindowSeconds; second++)
        {
            bool isWarmup = done < warmupSeconds;
            double seconds = isWarmup ? Math.Min(1, warmupSeconds - done) : Math.Min(1, _shape.WindowSeconds - done);
            double rate = FrozenServer.BaseRate(phase) * _server.Slowdown(_documents) * FrozenServer.Noise(step, phase, second)
                * Math.Min(1, 0.25 + (threads * 0.1)) * (isWarmup ? 0.8 : 1);
            long operations = Math.Max(1, (long)(rate * seconds));
            if (step == _shape.ErrorStep && phase == "q5" && second == 2)
                part.Failed += 2;
            WriteSample(
                part, seconds, operations, operations * perOperation, operations * perOperation * bytes, isWarmup, hasOutage: false,
                isWarmup ? warmup : null);
            done += seconds;
        }

        if (part.Failed > 0)
            _store.AddErrors([new ErrorCount(50, "MaxTimeMSExpired", part.Failed, "operation exceeded time limit", [])]);
        OperationResult result = part.ToResult() with
        {
            WarmupSeconds = warmupSeconds,
            Plan = FrozenServer.Plan(phase),
            Verified = part.Operations * perOperation / 100,
            Wrong = step == _shape.Steps && phase == "q4" ? _shape.Wrong : 0,
        };
        _store.EndPhase(record with { Operations = [result] });
        _store.AddHistogram(new StoredHistogram(part.Number, part.Operation, true, HistogramEncoding.EncodeCompressed(warmup)));
        _store.AddHistogram(new StoredHistogram(part.Number, part.Operation, false, HistogramEncoding.EncodeCompressed(part.Histogram)));
    }

    private void WriteOutage(FrozenPart part)
    {
        part.Failed++;
        part.HasOutage = true;
        _store.AddErrors([new ErrorCount(0, "ConnectionClosed", 1, "127.0.0.1:27017: connection reset by peer", ["RetryableWriteError"])]);
        _store.AddEvent(new RunEvent(_now.ToUnixTimeMilliseconds(), "outage", "127.0.0.1:27017: connection reset by peer", 1.5));
        _now = _now.AddSeconds(1.5);
        _store.AddEvent(new RunEvent(_now.ToUnixTimeMilliseconds(), "reconnect", "127.0.0.1:27017: connected again"));
        _server.Restart();
    }

    private void WriteSample(
        FrozenPart part, double seconds, long operations, long documents, long bytes, bool isWarmup, bool hasOutage,
        LatencyHistogram? into = null)
    {
        LatencyHistogram histogram = _ofSample;
        FrozenServer.FillLatencies(histogram, operations, part.Threads * seconds * 1e6 / operations, _server.Slowdown(_documents));
        histogram.AddTo(into ?? part.Histogram);
        if (part.IsInsert)
            _documents += documents;
        part.Add(seconds, operations, documents, bytes, isWarmup);
        _now = _now.AddMilliseconds(Math.Max(1, Math.Round(seconds * 1000)));
        long at = _now.ToUnixTimeMilliseconds();
        _store.AddSample(new Sample
        {
            AtMilliseconds = at, Phase = part.Number, Operation = part.Operation, IsWarmup = isWarmup, HasOutage = hasOutage,
            Seconds = seconds, Operations = operations, Documents = documents, Bytes = bytes, Failed = hasOutage ? 1 : 0,
            CollectionDocuments = _documents, LatencyMicroseconds = LatencySummaries.From(histogram),
            Histogram = HistogramEncoding.EncodeCompressed(histogram),
        });
        _server.Advance(part, seconds, operations, documents, bytes, _documents);
        _store.AddServerSample(_server.ServerSample(at));
        _store.AddHostSample(_server.HostSample(at));
        _shards?.Advance(at, part.IsInsert ? documents : 0, part.IsInsert ? 0 : operations);
    }

    private SizeResult Sizes(long documents)
    {
        var indexes = new Dictionary<string, long>
        {
            ["_id_"] = (documents * 11) + 4096,
            ["Number_1"] = (documents * 14) + 4096,
            ["Number1_1"] = (documents * 14) + 4096,
            ["Date_-1"] = (documents * 12) + 4096,
        };
        long storage = (documents * 1060) + 20_480;
        IReadOnlyList<ShardSize>? shards = _shards?.Sizes(indexes);
        return new SizeResult
        {
            Documents = documents,
            DataBytes = shards?.Sum(static shard => shard.DataBytes) ?? documents * 1024,
            StorageBytes = storage,
            FreeStorageBytes = 16_384,
            IndexBytes = indexes.Values.Sum(),
            Indexes = indexes,
            Shards = shards ?? [new ShardSize("standalone", documents, documents * 1024, storage, indexes.Values.Sum(), 0)],
            DiskBytes = storage + indexes.Values.Sum() + 314_572_800,
        };
    }
}

/// <summary>Sums of one phase.</summary>
internal sealed class FrozenPart(int step, string phase, int number, int threads, int batch)
{
    private long _warmupOperations;
    private double _seconds;
    private long _bytes;

    public int Step => step;
    public string Phase => phase;
    public int Number => number;
    public int Threads => threads;
    public int Batch => batch;
    public bool IsInsert => phase is "unack" or "batch" or "safe";

    /// <summary>Those of the queries have the name that they have in a file which gives them none.</summary>
    public string Operation => IsInsert ? phase : "find";

    public LatencyHistogram Histogram { get; } = new();
    public long Operations { get; private set; }
    public long Documents { get; private set; }
    public long Failed { get; set; }
    public bool HasOutage { get; set; }

    public void Add(double seconds, long operations, long documents, long bytes, bool isWarmup)
    {
        if (isWarmup)
        {
            _warmupOperations += operations;
            return;
        }

        _seconds += seconds;
        Operations += operations;
        Documents += documents;
        _bytes += bytes;
    }

    public OperationResult ToResult() => new()
    {
        Operation = Operation,
        IsInsert = IsInsert,
        IsUnacknowledged = phase == "unack",
        Threads = threads,
        Batch = batch,
        Operations = Operations,
        Documents = Documents,
        Failed = Failed,
        WarmupSeconds = 0,
        Seconds = _seconds,
        OperationsPerSecond = Operations / _seconds,
        DocumentsPerSecond = Documents / _seconds,
        MegabytesPerSecond = _bytes / 1e6 / _seconds,
        ClientCpuCores = FrozenServer.ClientCores(phase),
        ClientCpuMicrosecondsPerOperation = FrozenServer.ClientCores(phase) * _seconds * 1e6 / Operations,
        LatencyMicroseconds = LatencySummaries.From(Histogram),
        Accounting = new Accounting(Operations + _warmupOperations + Failed, Operations + _warmupOperations, Failed, 0),
    };
}

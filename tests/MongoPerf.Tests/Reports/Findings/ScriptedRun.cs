using MongoPerf.Measurement;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>A run that is stored second by second, with noise of 3 % unless another is given, to see what is found in it.</summary>
internal sealed class ScriptedRun : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly RunStore _store;
    private readonly NoisySamples _noise;
    private readonly bool _isDrawn;
    private int _number;
    private int _second;

    public ScriptedRun(DeploymentInfo? deployment = null, RunInfo? run = null, NoisySamples? noise = null)
    {
        _isDrawn = noise is not null;
        _noise = noise ?? new NoisySamples(77, 0.03, 0.2);
        _store = RunStore.Create(_folder.At("run"), run ?? RunParts.Run("run"), RunParts.Settings());
        _store.SetDeployment(deployment ?? RunParts.Deployment());
        _store.SetEnvironment(RunParts.Environment());
    }

    /// <summary>Seconds since the run's start.</summary>
    public int Now => _second;

    public RunStore Store => _store;

    public static long At(double second) => RunParts.Start.ToUnixTimeMilliseconds() + (long)(second * 1000);

    /// <summary>Adds a phase of whole seconds.</summary>
    /// <param name="name">Of the phase and its operation.</param>
    /// <param name="rates">Per second; noise is added.</param>
    /// <param name="change">Of the phase's record.</param>
    /// <param name="ofResult">Of its operation's result.</param>
    /// <param name="warmup">The first seconds, left out of the results.</param>
    /// <param name="noise">False leaves the rates as they are.</param>
    /// <param name="latencies">Of each second, 0-based; null stores none.</param>
    public void Phase(
        string name, double[] rates, Func<PhaseRecord, PhaseRecord>? change = null, Func<OperationResult, OperationResult>? ofResult = null,
        int warmup = 0, bool noise = true,
        Func<int, LatencyHistogram>? latencies = null)
    {
        double[] all = noise ? [.. _noise.Window(rates.Length, 1).Zip(rates, (n, rate) => n * rate)] : rates;
        double rate = all.Skip(warmup).Average();
        OperationResult result = RunParts.Result(name, 8, (long)all.Sum()) with
        {
            OperationsPerSecond = rate, DocumentsPerSecond = rate, WarmupSeconds = warmup, Seconds = rates.Length - warmup,
        };
        PhaseRecord phase = RunParts.Phase(++_number, name, ofResult?.Invoke(result) ?? result);
        phase = change?.Invoke(phase) ?? phase;
        _store.BeginPhase(phase with { IsComplete = false }, continues: false);
        double written = 1000;
        var whole = new LatencyHistogram();
        for (int i = 0; i < all.Length; i++)
        {
            _second++;
            written += all[i];
            LatencyHistogram? latency = latencies?.Invoke(i);
            latency?.AddTo(whole);
            _store.AddSample(RunParts.Sample(_second, name) with
            {
                Phase = _number, IsWarmup = i < warmup, Operations = (long)all[i], Documents = (long)all[i],
                CollectionDocuments = (long)written,
                Histogram = latency is null ? default : HistogramEncoding.EncodeCompressed(latency),
            });
        }

        if (latencies is not null)
            _store.AddHistogram(new StoredHistogram(_number, name, false, HistogramEncoding.EncodeCompressed(whole)));
        _store.EndPhase(phase);
        // A process that measures phase after phase takes a moment in between.
        _second += 3;
    }

    /// <summary>Adds a phase at a size of a growth.</summary>
    public void Size(int step, string name, double[] rates, int warmup = 0) =>
        Phase(name, rates, phase => phase with
        {
            Growth = new GrowthPoint("series", step, step * 100_000L), Collection = "series", Documents = step * 100_000L,
        }, warmup: warmup);

    /// <summary>Adds what a collection takes at a size of a growth: 1,100 bytes of files a document, and 60 of indexes.</summary>
    public void Sizes(int step, Func<SizeResult, SizeResult> change) =>
        _store.EndPhase(
            RunParts.Grown(++_number, "size", step, step * 100_000L) with { Sizes = [change(RunParts.Sizes(step * 100_000L))] });

    /// <summary>Server samples every second: what is named, all else 0.</summary>
    public void Server(int from, int to, Func<int, (string Metric, double Value)[]> values) =>
        Server("127.0.0.1:27017", from, to, values);

    public void Server(string member, int from, int to, Func<int, (string Metric, double Value)[]> values) =>
        Metrics(MetricCatalogue.Server, member, from, to, values, _store.AddServerSample);

    public void Host(int from, int to, Func<int, (string Metric, double Value)[]> values) =>
        Metrics(MetricCatalogue.Host, "client", from, to, values, _store.AddHostSample);

    public void Shard(string shard, int from, int to, Func<int, (string Metric, double Value)[]> values) =>
        Metrics(MetricCatalogue.Shard, shard, from, to, values, _store.AddShardSample);

    /// <summary>Ends the run and says what it shows.</summary>
    public IReadOnlyList<Finding> Findings() => RunFindings.Shown(End());

    /// <summary>Ends the run and opens it; all that is found in it is approved, unless its noise is drawn.</summary>
    public StoredRun End()
    {
        _store.SetState(RunState.Finished, null, RunParts.Start.AddSeconds(_second));
        _store.Dispose();
        var run = StoredRun.Open(_folder.At("run"));
        if (!_isDrawn) ApprovedFindings.Check(run);
        return run;
    }

    public void Dispose()
    {
        _store.Dispose();
        _folder.Dispose();
    }

    private static void Metrics(IReadOnlyList<Metric> catalogue, string member, int from, int to,
        Func<int, (string Metric, double Value)[]> valuesAt, Action<MetricSample> add)
    {
        for (int second = from; second <= to; second++)
        {
            double[] values = new double[catalogue.Count];
            foreach ((string metric, double value) in valuesAt(second))
                values[MetricCatalogue.IndexOf(catalogue, metric)] = value;
            add(new MetricSample(At(second), member, values));
        }
    }
}

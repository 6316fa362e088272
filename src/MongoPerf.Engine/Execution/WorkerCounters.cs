using MongoPerf.Engine.Measurement;

namespace MongoPerf.Engine.Execution;

/// <summary>What one worker counted in one part (warm-up, or measured). Written by the worker, read by the sampler meanwhile.</summary>
internal sealed class WorkerCounters(bool withResponse)
{
    public long Operations;
    public long Documents;
    public long Bytes;
    public long Failed;

    /// <summary>Replies with fewer documents than the query's limit.</summary>
    public long Short;

    public LatencyHistogram Service { get; } = new();

    public LatencyHistogram? Response { get; } = withResponse ? new() : null;
}

/// <summary>The sum of workers' counters at one time.</summary>
internal sealed class CounterSum
{
    public long Operations { get; private set; }

    public long Documents { get; private set; }

    public long Bytes { get; private set; }

    public long Failed { get; private set; }

    public LatencyHistogram Service { get; } = new();

    public void Clear()
    {
        Operations = Documents = Bytes = Failed = 0;
        Service.Clear();
    }

    public void Add(WorkerCounters counters)
    {
        Operations += Volatile.Read(ref counters.Operations);
        Documents += Volatile.Read(ref counters.Documents);
        Bytes += Volatile.Read(ref counters.Bytes);
        Failed += Volatile.Read(ref counters.Failed);
        counters.Service.AddTo(Service);
    }
}

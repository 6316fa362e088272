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

    /// <summary>Documents that were compared with what must have come, and how many differed.</summary>
    public long Verified;

    /// <inheritdoc cref="Verified"/>
    public long Wrong;

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

    /// <summary>Replies with fewer documents than the query's limit.</summary>
    public long Short { get; private set; }

    public LatencyHistogram Service { get; } = new();

    public void Clear()
    {
        Operations = Documents = Bytes = Failed = Short = 0;
        Service.Clear();
    }

    public void Add(WorkerCounters counters)
    {
        Operations += Volatile.Read(ref counters.Operations);
        Documents += Volatile.Read(ref counters.Documents);
        Bytes += Volatile.Read(ref counters.Bytes);
        Failed += Volatile.Read(ref counters.Failed);
        Short += Volatile.Read(ref counters.Short);
        counters.Service.AddTo(Service);
    }
}

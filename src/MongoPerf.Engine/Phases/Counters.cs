using MongoPerf.Engine.Measurement;

namespace MongoPerf.Engine.Phases;

/// <summary>What was counted of one operation in one part of a group's time (warm-up, or measured).</summary>
/// <remarks>A worker writes its own, and the sampler reads it meanwhile: counts only grow. The same type adds up those of several workers.</remarks>
internal sealed class Counters(bool withResponse)
{
    /// <summary>Succeeded.</summary>
    public long Operations;

    /// <summary>Inserted, changed or returned; also what a refused batch got in.</summary>
    public long Documents;

    /// <summary>Of these documents.</summary>
    public long Bytes;

    /// <summary>Operations.</summary>
    public long Failed;

    /// <summary>Replies with fewer documents than the query's limit.</summary>
    public long Short;

    /// <summary>Documents that were compared with what must have come.</summary>
    public long Verified;

    /// <summary>Those among them that differed.</summary>
    public long Wrong;

    /// <summary>Service times of succeeded operations, microseconds.</summary>
    public LatencyHistogram Service { get; } = new();

    /// <summary>From the intended start; null in a closed loop.</summary>
    public LatencyHistogram? Response { get; } = withResponse ? new() : null;

    public static Counters Sum(IEnumerable<Counters> all, bool withResponse)
    {
        var sum = new Counters(withResponse);
        foreach (Counters counters in all)
            sum.Add(counters);
        return sum;
    }

    public void Clear()
    {
        Operations = Documents = Bytes = Failed = Short = Verified = Wrong = 0;
        Service.Clear();
        Response?.Clear();
    }

    public void Add(Counters counters)
    {
        Operations += Volatile.Read(ref counters.Operations);
        Documents += Volatile.Read(ref counters.Documents);
        Bytes += Volatile.Read(ref counters.Bytes);
        Failed += Volatile.Read(ref counters.Failed);
        Short += Volatile.Read(ref counters.Short);
        Verified += Volatile.Read(ref counters.Verified);
        Wrong += Volatile.Read(ref counters.Wrong);
        counters.Service.AddTo(Service);
        if (Response is not null)
            counters.Response?.AddTo(Response);
    }
}

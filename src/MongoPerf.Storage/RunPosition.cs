namespace MongoPerf.Storage;

/// <summary>How far the samples of a run have been read.</summary>
/// <param name="Samples">Last row of operations.</param>
/// <param name="Server">The last sample of the servers.</param>
/// <param name="Host">The last sample of the machine.</param>
/// <param name="Shard">The last sample of the shards.</param>
/// <param name="Replica">The last sample of the members of replica sets.</param>
/// <param name="AtMilliseconds">Unix time of the last sample of an operation; 0 for none.</param>
public readonly record struct RunPosition(long Samples, long Server, long Host, long Shard, long Replica, long AtMilliseconds)
{
    /// <summary>Rows that were there are gone: a phase began anew.</summary>
    public bool IsBehind(RunPosition other) => Samples < other.Samples;
}

/// <summary>Rows of a table of samples, from one position to another.</summary>
/// <param name="Condition">The condition, in SQL.</param>
internal sealed record RowRange(string Condition)
{
    /// <summary>Counters are read against the sample before, and members are added up: some seconds of them are read again.</summary>
    private const int MillisecondsAgain = 8000;

    /// <summary>How many rows are read again: as many seconds of some hundred members.</summary>
    private const int RowsAgain = 1000;

    public static RowRange Of(string table, RunPosition from, RunPosition to)
    {
        (long first, long last) = table switch
        {
            RunSchema.SampleTable => (from.Samples, to.Samples),
            RunSchema.ServerTable => (from.Server, to.Server),
            RunSchema.HostTable => (from.Host, to.Host),
            RunSchema.ReplicaTable => (from.Replica, to.Replica),
            _ => (from.Shard, to.Shard),
        };
        return new RowRange(table == RunSchema.SampleTable
            ? $"WHERE rowid > {first} AND rowid <= {last}"
            : $"WHERE rowid > {first - RowsAgain} AND rowid <= {last} AND at_ms > {from.AtMilliseconds - MillisecondsAgain}");
    }
}

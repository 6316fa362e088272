using System.Globalization;

namespace MongoPerf.Storage;

/// <summary>How far the samples of a run have been read.</summary>
/// <param name="Samples">Last row of operations.</param>
/// <param name="Server">The last sample of the servers.</param>
/// <param name="Host">The last sample of the machine.</param>
/// <param name="Shard">The last sample of the shards.</param>
/// <param name="Replica">The last sample of the members of replica sets.</param>
/// <param name="AtMilliseconds">Unix time of the last sample of an operation; 0 for none.</param>
/// <param name="Discards">How often samples have been discarded, because a phase began anew.</param>
public readonly record struct RunPosition(
    long Samples, long Server, long Host, long Shard, long Replica, long AtMilliseconds, long Discards = 0)
{
    /// <summary>
    /// Whether rows that were read up to another position are gone. New rows may have their numbers by now, so the last row alone can't
    /// tell; runs of earlier versions have nothing else.
    /// </summary>
    public bool IsBehind(RunPosition other) => Samples < other.Samples || (other.Samples > 0 && Discards != other.Discards);

    /// <summary>The name of the note in which a run stores <see cref="Discards"/>.</summary>
    internal const string DiscardsNote = "discards";

    /// <returns>0 where there is no such note, or another text than a number.</returns>
    internal static long DiscardsIn(string? note) => long.TryParse(note, CultureInfo.InvariantCulture, out long count) ? count : 0;
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

using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Learning.Observing;

/// <summary>What a mongod's profiler has kept of a database. It is read as it is: its level is never changed.</summary>
/// <param name="connection">To a mongod.</param>
/// <param name="database">The database whose profile is read.</param>
/// <param name="mostOperations">At most so many entries are read, the oldest first.</param>
public sealed class ProfilerSource(MongoConnection connection, string database, int mostOperations) : ObservationSource
{
    private const string Cost = "in mongosh: db.setProfilingLevel(2) keeps every operation, and db.setProfilingLevel(1, {slowms: 0, "
        + "sampleRate: 0.1}) a tenth, in 1 MB that is overwritten. Each one kept is a write; db.setProfilingLevel(0) ends it";

    /// <summary>By the server's clock: what comes later is this program's own.</summary>
    private readonly double _until = (connection.RunCommand("admin", BsonDocument.Of(("hello", 1))).FindInt64("localTime")
        ?? long.MaxValue) / 1e3;

    public override string Name => "the profiler";

    public override IEnumerable<ObservedOperation> Read()
    {
        if (connection.Server.IsMongos)
            throw new MongoPerfException(Fault.WrongUsage, $"{connection.Address} is a mongos, which has no profiler",
                "read the profiler of each shard, or record at the mongos: 'mongoperf record', then --from recording FILE");
        BsonDocument state = connection.RunCommand(database, BsonDocument.Of(("profile", -1)));
        double level = state.FindDouble("was") ?? 0;
        double rate = level == 1 && state.FindDouble("sampleRate") is > 0 and < 1 and var sampled ? sampled : 1;
        var entries = new ServerEntries();
        int read = 0;
        bool any = false;
        foreach (BsonDocument entry in connection.RunCursor(database, BsonDocument.Of(
            ("find", "system.profile"), ("filter", BsonDocument.Of(("ns", BsonDocument.Of(("$ne", $"{database}.system.profile"))))),
            ("projection", BsonDocument.Of([.. ((string[])["op", "ns", "command", "millis", "ts", "ninserted", "planSummary", "cursorid",
                "cursorExhausted", "durationMillis", "nreturned", "nMatched", "nModified", "nUpserted", "upsert", "ndeleted",
                "errCode", "keysExamined", "docsExamined"]).Select(name => (name, (object?)1))])),
            ("limit", mostOperations))))
        {
            read++;
            if (entry.FindInt64("ts") is not { } time || time / 1e3 > _until)
                continue;
            ObservedOperation? operation = entries.Add(entry, entry.FindString("op"), time / 1e3,
                entry.FindDouble("millis") ?? entry.FindDouble("durationMillis") ?? 0, null, 1 / rate);
            if (operation is null)
                continue;
            any = true;
            yield return operation;
        }

        foreach (ObservedOperation operation in entries.Open)
        {
            any = true;
            yield return operation;
        }

        if (!any)
            throw new MongoPerfException(Fault.WrongUsage, level == 0 ? $"the profiler of {database} is off, and has kept nothing"
                : $"the profiler of {database} (level {level}) has kept nothing", Cost);
        if (read == mostOperations)
            Note(FormattableString.Invariant($"what the profiler kept after its first {read:N0} entries"));
        if (level == 1)
            Note(FormattableString.Invariant($"operations of up to {state.FindDouble("slowms"):0} ms: the profiler keeps only slower ones")
                + (rate < 1 ? FormattableString.Invariant($", and {rate:P0} of these, which are counted for all") : ""));
        Note("times of less than a millisecond: the profiler has whole ones, as the server sees them, without the network");
    }
}

using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Learning.Observing;

/// <summary>
/// What a server of 7.1 or later (and 6.0.7, 7.0.12) counts of each query's shape (<c>$queryStats</c>): finds, aggregations and distincts,
/// from 8.1 on also counts, with how often they came and their mean times, and of values only their types. Writes, which later servers
/// list too, are only told.
/// </summary>
/// <param name="connection">To a mongod or mongos.</param>
/// <param name="database">Only of this database.</param>
public sealed class QueryStatsSource(MongoConnection connection, string database) : ObservationSource
{
    private const int UnknownStage = 40324;

    public override string Name => "$queryStats";

    public override IEnumerable<ObservedOperation> Read()
    {
        double first = double.MaxValue;
        double last = 0;
        bool any = false;
        var unread = new SortedDictionary<string, double>(StringComparer.Ordinal);
        foreach (BsonDocument entry in Entries())
        {
            if (entry.FindDocument("key.queryShape") is not { } shape || shape.FindString("cmdNs.db") != database
                || shape.FindString("cmdNs.coll") is not { } collection || shape.FindString("command") is not { } name
                || entry.FindDouble("metrics.execCount") is not { } count || !(count > 0))
                continue;
            if (name is not ("find" or "aggregate" or "distinct" or "count"))
            {
                // Another server may send any names.
                string known = name is "insert" or "update" or "delete" ? name : "other";
                unread[known] = unread.GetValueOrDefault(known) + count;
                continue;
            }

            double from = (entry.FindInt64("metrics.firstSeenTimestamp") ?? 0) / 1e3;
            double returned = entry.FindDouble("metrics.docsReturned.sum") ?? 0;
            double? took = entry.FindDouble("metrics.totalExecMicros.sum") / count;
            any = true;
            (first, last) = (Math.Min(first, from), Math.Max(last, (entry.FindInt64("asOf") ?? 0) / 1e3));
            yield return new ObservedOperation(from, database, collection,
                Command(shape, name, collection, (long)Math.Ceiling(returned / count)), took, count) { IsTypeOnly = true };
        }

        if (!any)
            throw new MongoPerfException(Fault.WrongUsage, $"$queryStats has counted no query of {database}",
                "Atlas counts by itself; elsewhere the parameter internalQueryStatsRateLimit must be set (-1 counts all queries; 0, the "
                + "default, none)");
        Seconds = Math.Max(1, last - first);
        foreach ((string name, double count) in unread)
            Note(FormattableString.Invariant($"{count:0} {name} commands: only reads are learned from $queryStats"));
        Note("commands that $queryStats does not list: shares are those of the reads that it lists (up to 8.0 finds, aggregations and "
            + "distincts, from 8.1 on also counts)");
        Note("how keys are drawn: $queryStats has no values, only their types");
        Note("percentiles of times: $queryStats has sums; what is compared is the mean");
        Note("limits: they are how many documents a query returned on average");
    }

    private IEnumerable<BsonDocument> Entries()
    {
        IEnumerator<BsonDocument> entries = connection.RunCursor("admin", BsonDocument.Of(("aggregate", 1),
            ("pipeline", new[] { BsonDocument.Of(("$queryStats", BsonDocument.Empty)) }), ("cursor", BsonDocument.Empty))).GetEnumerator();
        while (Next(entries))
            yield return entries.Current;
    }

    private bool Next(IEnumerator<BsonDocument> entries)
    {
        try
        {
            return entries.MoveNext();
        }
        catch (ServerCommandException e) when (e.Code == UnknownStage)
        {
            throw new MongoPerfException(Fault.RejectedByServer,
                $"{connection.Address} has no $queryStats, which 6.0.7, 7.0.12, 7.1 and later have",
                    "--from profiler, --from log FILE or --from traffic 60s learn from any version", e);
        }
    }

    /// <summary>The command that has this shape, with values of the types that stand in it.</summary>
    private static BsonDocument Command(BsonDocument shape, string name, string collection, long returned)
    {
        var writer = new BsonWriter();
        writer.StartDocument();
        writer.WriteString(System.Text.Encoding.UTF8.GetBytes(name), collection);
        foreach ((string key, BsonValue value) in shape)
        {
            if (key == "limit" && name == "find")
                writer.WriteInt64("limit"u8, Math.Max(1, returned));
            else if (key is not ("cmdNs" or "command" or "skip" or "limit"))
                Write(writer, key, value, Math.Max(1, returned));
        }

        writer.End();
        return new BsonDocument(writer.ToArray());
    }

    private static void Write(BsonWriter writer, string key, BsonValue value, long returned)
    {
        byte[] name = System.Text.Encoding.UTF8.GetBytes(key);
        if (value.Type is BsonType.Document or BsonType.Array)
        {
            if (value.Type == BsonType.Array)
                writer.StartArray(name);
            else
                writer.StartDocument(name);
            foreach ((string inner, BsonValue item) in value.ToDocument())
                Write(writer, inner, item, returned);
            writer.End();
        }
        else if (key == "$limit")
        {
            writer.WriteInt32(name, (int)Math.Min(returned, int.MaxValue));
        }
        else if (value.Type == BsonType.String && value.ToString() is ['?', ..] type)
        {
            WriteOfType(writer, name, type[1..]);
        }
        else
        {
            writer.WriteValue(name, value.Type, value.Bytes.Span);
        }
    }

    private static void WriteOfType(BsonWriter writer, ReadOnlySpan<byte> name, string type)
    {
        if (type.StartsWith("array<", StringComparison.Ordinal) && type.EndsWith('>'))
        {
            writer.StartArray(name);
            WriteOfType(writer, "0"u8, type[6..^1].TrimStart('?'));
            writer.End();
            return;
        }

        switch (type)
        {
            // As most that are no data: {$sum: 1}, {_id: 1}; no stage takes a 0.
            case "number": writer.WriteInt32(name, 1); break;
            case "bool": writer.WriteBoolean(name, true); break;
            case "date": writer.WriteDateTime(name, 0); break;
            case "objectId": writer.WriteObjectId(name, default); break;
            case "null": writer.WriteNull(name); break;
            case "binData": writer.WriteBinary(name, []); break;
            case "object": writer.WriteDocument(name, BsonDocument.Empty.Bytes); break;
            default: writer.WriteString(name, ""); break;
        }
    }
}

using System.Globalization;
using System.Text;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Replaying;

/// <summary>What recorded requests can write, under the names that they get on the target.</summary>
/// <param name="databases">Names that stand in place of recorded ones.</param>
internal sealed class RequestTargets(IReadOnlyDictionary<string, string> databases)
{
    private const int MostKnown = 100_000;

    private readonly RequestWriter _writer = new(databases);
    private readonly Dictionary<(string Command, string Database, string? Collection), IReadOnlyList<WriteTarget>> _known = [];

    /// <exception cref="BsonFormatException">The request is no BSON.</exception>
    public IReadOnlyList<WriteTarget> Of(in OpMsg message, string command, string database)
    {
        // What the application asks the server about is named by command and collection, but for these.
        bool saysMore = command is "aggregate" or "bulkWrite" or "mapReduce" or "mapreduce" or "renameCollection" or "explain"
            or "cloneCollectionAsCapped";
        var first = new BsonReader(message.Body);
        first.Read();
        string? collection = first.Type == BsonType.String ? first.StringText : null;
        if (!saysMore && _known.TryGetValue((command, database, collection), out IReadOnlyList<WriteTarget>? known))
            return known;
        string renamed = databases.GetValueOrDefault(database, database);
        IReadOnlyList<WriteTarget> found = Of(saysMore ? Whole(message) : Beginning(first), renamed);
        if (!saysMore)
        {
            if (_known.Count == MostKnown)
                _known.Clear();
            _known[(command, database, collection)] = found;
        }

        return found;
    }

    private static IReadOnlyList<WriteTarget> Of(BsonDocument command, string database) =>
        WriteTargets.Of(new DatabaseCommand("", "", DocumentValue.Of(command)) { Database = database }, database);

    private static BsonDocument Beginning(in BsonReader first)
    {
        var writer = new BsonWriter();
        writer.StartDocument();
        writer.WriteValue(first.Name, first.Type, first.Value);
        writer.End();
        return new BsonDocument(writer.ToArray());
    }

    /// <summary>The command in one document, as the target would get it, without what is inserted or updated.</summary>
    private BsonDocument Whole(in OpMsg message)
    {
        OpMsg written = OpMsg.Parse(_writer.Write(message, 0, []));
        var writer = new BsonWriter();
        writer.StartDocument();
        var reader = new BsonReader(written.Body);
        while (reader.Read())
            writer.WriteValue(reader.Name, reader.Type, reader.Value);
        foreach (DocumentSequence sequence in written.Sequences)
        {
            if (!sequence.Name.SequenceEqual("nsInfo"u8))
                continue;
            writer.StartArray("nsInfo"u8);
            int index = 0;
            for (ReadOnlySpan<byte> left = sequence.Documents; left.Length > 0;)
            {
                ReadOnlySpan<byte> document = new BsonReader(left).Document;
                writer.WriteDocument(Encoding.UTF8.GetBytes(index++.ToString(CultureInfo.InvariantCulture)), document);
                left = left[document.Length..];
            }

            writer.End();
        }

        writer.End();
        return new BsonDocument(writer.ToArray());
    }
}

using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>Sorts documents in memory; equal ones stay in their order. Bounded like <see cref="BlockingSort"/>.</summary>
internal static class DocumentSort
{
    // The row's objects and what sorting adds to them, besides the bytes of key and document.
    private const int BytesOfRow = 160;

    public static IEnumerable<BsonDocument> Sort(IEnumerable<BsonDocument> documents, SortSpec order)
    {
        var key = new KeyBuffer();
        var rows = new List<(byte[] Key, BsonDocument Document)>();
        long bytes = 0;
        foreach (BsonDocument document in documents)
        {
            ActiveOperation.Check();
            order.WriteKey(key, document.Bytes);
            rows.Add((key.Written.ToArray(), document));
            bytes += key.Length + document.Bytes.Length + BytesOfRow + (FieldGaps.Of(document)?.Bytes ?? 0);
            if (bytes > BlockingSort.MaximumBytes)
            {
                throw new CommandException(292, "QueryExceededMemoryLimitNoDiskUseAllowed",
                    $"Sort exceeded memory limit of {BlockingSort.MaximumBytes} bytes; the embedded server does not sort on disk");
            }
        }

        ActiveOperation.Gather(bytes);
        return rows.OrderBy(row => row.Key, Comparer<byte[]>.Create((a, b) => a.AsSpan().SequenceCompareTo(b))).Select(row => row.Document);
    }
}

using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage;

/// <summary>What a check of a collection found.</summary>
/// <param name="Records">Documents that are there.</param>
/// <param name="InvalidDocuments">How many of those are no BSON.</param>
/// <param name="Indexes">The indexes in the collection's order.</param>
/// <param name="Errors">One sentence each; empty when all is well.</param>
internal sealed record CollectionReport(
    long Records, long InvalidDocuments, IReadOnlyList<IndexReport> Indexes, IReadOnlyList<string> Errors)
{
    public bool IsValid => Errors.Count == 0;
}

/// <param name="Name">The index's.</param>
/// <param name="Keys">Entries in it.</param>
/// <param name="IsValid">It has the keys of all documents and no others.</param>
internal sealed record IndexReport(string Name, long Keys, bool IsValid);

/// <summary>
/// Reads a whole collection and compares: documents with BSON, each index with the keys that the documents should have, the
/// counter with the count.
/// </summary>
internal static class CollectionCheck
{
    /// <summary>Checks the collection inside its read lock and its writer's gate.</summary>
    public static CollectionReport Run(Collection collection)
    {
        CollectionIndex[] indexes = collection.Indexes;
        var tallies = indexes.Select(_ => new KeyTally()).ToArray();
        long records = 0;
        long invalid = 0;
        var keys = new IndexKeys();
        using (RocksIterator iterator = collection.IterateRecords())
        {
            for (iterator.SeekToFirst(); iterator.Valid; iterator.Next())
            {
                ActiveOperation.Check();
                records++;
                if (!IsValid(iterator.Value))
                {
                    invalid++;
                    continue;
                }

                for (int i = 0; i < indexes.Length; i++)
                {
                    keys.Build(indexes[i].Spec, iterator.Value);
                    for (int k = 0; k < keys.Count; k++)
                        tallies[i].Add(keys[k], iterator.Key);
                }
            }

            iterator.ThrowOnError();
        }

        var errors = new List<string>();
        if (invalid > 0)
            errors.Add($"{invalid} documents are damaged");
        if (records != collection.DocumentCount)
            errors.Add($"the collection holds {records} documents, and its counter says {collection.DocumentCount}");
        List<IndexReport> reports = [.. indexes.Select((index, i) => Compare(collection, index, tallies[i], errors))];
        return new CollectionReport(records, invalid, reports, errors);
    }

    private static IndexReport Compare(Collection collection, CollectionIndex index, KeyTally expected, List<string> errors)
    {
        var found = new KeyTally();
        using RocksIterator iterator = collection.Iterate(index);
        for (iterator.SeekToFirst(); iterator.Valid; iterator.Next())
        {
            ActiveOperation.Check();
            if (index.Spec.IsUnique)
                found.Add(iterator.Key, iterator.Value);
            else
                found.Add(iterator.Key[..^RecordId.Size], iterator.Key[^RecordId.Size..]);
        }

        iterator.ThrowOnError();
        bool isValid = found.Equals(expected);
        if (!isValid)
            errors.Add($"the index {index.Spec.Name} does not have the keys of the documents");
        return new IndexReport(index.Spec.Name, found.Count, isValid);
    }

    private static bool IsValid(ReadOnlySpan<byte> document)
    {
        try
        {
            BsonValidator.Validate(document);
            return true;
        }
        catch (BsonFormatException)
        {
            return false;
        }
    }

    /// <summary>A set of keys as its size and the sum of their hashes: the same in any order, and bounded in memory.</summary>
    private sealed class KeyTally : IEquatable<KeyTally>
    {
        private ulong _sum;

        public long Count { get; private set; }

        public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> record)
        {
            var hash = new HashCode();
            hash.AddBytes(key);
            hash.AddBytes(record);
            // Spread, or sums of small hashes would agree too easily.
            _sum += (ulong)(uint)hash.ToHashCode() * 0x9E3779B97F4A7C15;
            Count++;
        }

        public bool Equals(KeyTally? other) => other != null && Count == other.Count && _sum == other._sum;

        public override bool Equals(object? obj) => Equals(obj as KeyTally);

        public override int GetHashCode() => HashCode.Combine(Count, _sum);
    }
}

using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Sampling;

/// <summary>How often shards have used each index of collections since a time of their own, as $indexStats says through a router.</summary>
public sealed class IndexCounters
{
    private readonly Dictionary<(string Collection, string Index, string Shard), Counter> _counters = [];

    private IndexCounters()
    {
    }

    /// <summary>Nobody has looked.</summary>
    public static IndexCounters None { get; } = new();

    /// <param name="router">Open, speaking its dialect.</param>
    /// <param name="database">The database of the collections.</param>
    /// <param name="collections">One that is not there, or whose indexes this user may not ask for, has none.</param>
    /// <exception cref="ConnectionFailedException">The router went away.</exception>
    public static IndexCounters Read(MongoConnection router, string database, IEnumerable<string> collections)
    {
        var counters = new IndexCounters();
        foreach (string collection in collections)
        {
            try
            {
                foreach (BsonDocument one in router.RunCursor(database, BsonDocument.Of(
                    ("aggregate", collection), ("pipeline", new[] { BsonDocument.Of(("$indexStats", BsonDocument.Empty)) }),
                    ("cursor", BsonDocument.Empty))))
                {
                    // A run could not be read again with a number that none stores.
                    if (one.FindDouble("accesses.ops") is >= 0 and <= RunJson.Largest and var operations)
                        counters._counters[(collection, one.FindString("name") ?? "", one.FindString("shard") ?? "")] =
                            new Counter((long)operations, one.FindInt64("accesses.since") ?? 0, one.FindString("host"));
                }
            }
            catch (ServerCommandException)
            {
                // The run can do without.
            }
        }

        return counters;
    }

    /// <summary>What came since an earlier look; an index that was built, or a shard that was started, since then counts from 0.</summary>
    /// <returns>
    /// Nothing after <see cref="None"/>: servers may have counted long before. No index of which another member of a shard tells now: each
    /// has counted for itself.
    /// </returns>
    public IReadOnlyList<IndexUse> Since(IndexCounters before, string collection) => before == None ? [] :
    [
        .. _counters.Where(one => one.Key.Collection == collection && one.Key.Shard.Length > 0).GroupBy(one => one.Key.Index)
            .Where(index => !index.Any(one => before._counters.TryGetValue(one.Key, out Counter old) && old.Host != one.Value.Host))
            .OrderBy(index => index.Key, StringComparer.Ordinal)
            .Select(index => new IndexUse(index.Key, index.OrderBy(one => one.Key.Shard, StringComparer.Ordinal).ToDictionary(
                one => one.Key.Shard,
                one => before._counters.TryGetValue(one.Key, out Counter old) && old.Since == one.Value.Since
                    ? Math.Max(0, one.Value.Operations - old.Operations) : one.Value.Operations))),
    ];

    private readonly record struct Counter(long Operations, long Since, string? Host);
}

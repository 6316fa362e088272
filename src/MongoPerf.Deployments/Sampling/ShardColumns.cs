using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Sampling;

/// <summary>The collection that is watched.</summary>
public sealed record SampledNamespace(string Database, string Collection)
{
    public override string ToString() => $"{Database}.{Collection}";
}

/// <summary>Where the columns of <see cref="MetricCatalogue.Shard"/> are in replies.</summary>
internal static class ShardColumns
{
    private static readonly int Chunks = IndexOf("chunks");
    private static readonly int Documents = IndexOf("documents");
    private static readonly int Orphans = IndexOf("orphans");

    private static readonly (int Column, string Field)[] Sizes =
    [
        (IndexOf("data"), "size"), (IndexOf("storage"), "storageSize"), (IndexOf("storage_free"), "freeStorageSize"),
        (IndexOf("indexes"), "totalIndexSize"),
    ];

    /// <summary>Of the collection alone, and also where the shard's own counters can't be seen.</summary>
    private static readonly (int Column, string Field)[] Work =
        [(IndexOf("collection_reads"), "reads"), (IndexOf("collection_writes"), "writes")];

    private static readonly (int Column, string Field)[] Operations =
        [.. ((string[])["insert", "query", "update", "delete", "getmore"]).Select(static name => (IndexOf("opcounters_" + name), name))];

    /// <summary>What it does for sharding, by the paths that the catalogue gives.</summary>
    private static readonly (int Column, IReadOnlyList<string> Paths)[] OfSharding =
        [.. MetricCatalogue.Shard.Index().Where(static metric => metric.Item.IsOfSharding)
            .Select(static metric => (metric.Index, metric.Item.Places))];

    public static double[] Nothing()
    {
        var values = new double[MetricCatalogue.Shard.Count];
        Array.Fill(values, double.NaN);
        return values;
    }

    /// <summary>What a shard, or a router for each shard, answers with a document for: a hundredth of what collStats would send.</summary>
    public static BsonDocument PartRequest(string collection) => BsonDocument.Of(
        ("aggregate", collection),
        ("pipeline", new[]
        {
            BsonDocument.Of(
                ("$collStats", BsonDocument.Of(("storageStats", BsonDocument.Empty), ("latencyStats", BsonDocument.Empty)))),
            BsonDocument.Of(("$project", BsonDocument.Of(
                [("shard", 1), .. Work.Select(static one => ($"latencyStats.{one.Field}.ops", (object?)1)),
                    .. Sizes.Select(static one => one.Field)
                    .Append("count").Append("numOrphanDocs").Select(static field => ($"storageStats.{field}", (object?)1))]))),
        }),
        ("cursor", BsonDocument.Empty));

    /// <param name="values">The values to be set.</param>
    /// <param name="part">The answer to <see cref="PartRequest"/>; null where nothing of the collection is.</param>
    public static void SetPart(double[] values, BsonDocument? part)
    {
        BsonDocument stats = part?.FindDocument("storageStats") ?? BsonDocument.Empty;
        bool isEmpty = part is null;
        double? orphans = isEmpty ? 0 : stats.FindDouble("numOrphanDocs");
        values[Orphans] = orphans ?? double.NaN;
        // Counters of a shard that was killed may be wrong until it is asked to validate: never below nothing.
        values[Documents] = isEmpty ? 0 : Math.Max(0, (stats.FindDouble("count") ?? double.NaN) - (orphans ?? 0));
        foreach ((int column, string field) in Sizes)
            values[column] = isEmpty ? 0 : stats.FindDouble(field) ?? double.NaN;
        foreach ((int column, string field) in Work)
            values[column] = isEmpty ? 0 : part!.FindDouble($"latencyStats.{field}.ops") ?? double.NaN;
    }

    /// <param name="values">The values to be set.</param>
    /// <param name="status">The answer to <see cref="ServerStatusRequest.Counters"/>.</param>
    public static void SetOperations(double[] values, BsonDocument status)
    {
        foreach ((int column, IReadOnlyList<string> paths) in OfSharding)
            values[column] = paths.Select(status.FindDouble).FirstOrDefault(static value => value is not null) ?? double.NaN;
        BsonDocument counters = status.FindDocument("opcounters") ?? BsonDocument.Empty;
        foreach ((int column, string field) in Operations)
            values[column] = counters.FindDouble(field) ?? double.NaN;
    }

    public static void SetChunks(double[] values, double chunks) => values[Chunks] = chunks;

    private static int IndexOf(string metric) => MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric);
}

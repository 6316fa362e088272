using System.Text.Json;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Sharding;

/// <summary>The parts of schema mongoperf/1 that tell of shards: <c>collStats</c> and <c>sharding</c>.</summary>
internal static class ShardJson
{
    /// <summary>Events that are listed one by one; the sums have them all.</summary>
    private const int MostEvents = 1000;

    /// <summary>The last sizes in the form of collStats, which a router answers with a document for each shard; null without sizes.</summary>
    public static void WriteCollStats(Utf8JsonWriter json, StoredRun run)
    {
        if (run.Phases.SelectMany(static phase => phase.Sizes).LastOrDefault() is not { } sizes)
        {
            json.WriteNull("collStats");
            return;
        }

        json.WriteStartObject("collStats");
        json.WriteBoolean("sharded", sizes.Shards.Count > 1);
        json.Text("ns", CollectionStatistics.NamespaceOf(run, sizes));
        WriteFields(json, CollectionStatistics.Of(sizes));
        json.WriteStartObject("shards");
        foreach (ShardSize shard in sizes.Shards.Where(_ => sizes.Shards.Count > 1))
        {
            json.WriteStartObject(shard.Shard);
            WriteFields(json, CollectionStatistics.Of(sizes, shard));
            json.WriteEndObject();
        }

        json.WriteEndObject();
        json.WriteEndObject();
    }

    /// <summary>How the data are spread and what moved; null unless the data are on several shards.</summary>
    public static void WriteSharding(Utf8JsonWriter json, StoredRun run)
    {
        if (ShardTables.LastOf(run) is not { Shards: { } shards })
        {
            json.WriteNull("sharding");
            return;
        }

        Balance? balance = Balance.Of(shards);
        json.WriteStartObject("sharding");
        json.Number("evenDocuments", balance?.Even);
        json.Number("worstFromEven", balance?.Worst);
        json.Number("maxToMin", balance?.MaxToMin);
        var operations = ShardOperations.Of(run);
        json.Objects("shards", shards, (_, shard) => WriteShard(json, shard, balance, operations));
        WriteMoves(json, ChunkMoves.Of(run));
        int count = run.ReadChunkEvents().Count();
        json.WriteNumber("chunkEventsLeftOut", Math.Max(0, count - MostEvents));
        json.Objects("chunkEvents", run.ReadChunkEvents().Take(MostEvents), WriteEvent);
        json.WriteEndObject();
    }

    private static void WriteFields(Utf8JsonWriter json, CollectionStatistics part)
    {
        foreach ((string name, double? value) in part.Fields.Where(static field => !IsIndex(field.Name)))
            json.Number(name, value);
        json.WriteStartObject("indexSizes");
        foreach ((string name, double? value) in part.Fields.Where(static field => IsIndex(field.Name)))
            json.Number(name[CollectionStatistics.IndexPrefix.Length..], value);
        json.WriteEndObject();
    }

    private static bool IsIndex(string name) => name.StartsWith(CollectionStatistics.IndexPrefix, StringComparison.Ordinal);

    private static void WriteShard(Utf8JsonWriter json, ShardSize shard, Balance? balance, ShardOperations operations)
    {
        json.WriteString("shard", shard.Shard);
        json.WriteNumber("documents", shard.Documents);
        json.Number("fromEven", balance?.FromEven(shard));
        json.Number("shareOfOperations", operations.Share(shard.Shard));
        foreach (string metric in ShardOperations.Metrics)
            json.Integer(metric, operations.Count(shard.Shard, metric));
    }

    private static void WriteMoves(Utf8JsonWriter json, ChunkMoves moves)
    {
        json.WriteNumber("splits", moves.Splits);
        json.WriteNumber("merges", moves.Merges);
        json.WriteStartObject("migrations");
        WriteSum(json, moves.All);
        json.Objects("routes", moves.Routes, WriteRoute);
        json.WriteEndObject();
    }

    private static void WriteRoute(Utf8JsonWriter json, ((string From, string To) Route, MoveSum Sum) moved)
    {
        json.WriteString("from", moved.Route.From);
        json.WriteString("to", moved.Route.To);
        WriteSum(json, moved.Sum);
    }

    private static void WriteSum(Utf8JsonWriter json, MoveSum sum)
    {
        json.WriteNumber("done", sum.Done);
        json.WriteNumber("failed", sum.Failed);
        json.WriteNumber("running", sum.Running);
        json.WriteNumber("documents", sum.Documents);
        json.WriteNumber("bytes", sum.Bytes);
        json.Number("seconds", sum.Seconds);
        json.Number("longestSeconds", sum.LongestSeconds);
    }

    private static void WriteEvent(Utf8JsonWriter json, ChunkEvent happened)
    {
        json.WriteString("at", DateTimeOffset.FromUnixTimeMilliseconds(happened.AtMilliseconds));
        json.Number("seconds", happened.Seconds);
        json.WriteString("kind", happened.Kind.ToString().ToLowerInvariant());
        json.WriteString("outcome", happened.Outcome.ToString().ToLowerInvariant());
        json.WriteString("from", happened.From);
        json.Text("to", happened.To);
        json.Integer("documents", happened.Documents);
        json.Integer("bytes", happened.Bytes);
        json.Text("note", happened.Note);
    }
}

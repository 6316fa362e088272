using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Collections;

/// <summary>Reads what matters out of an explain with executionStats.</summary>
internal static class QueryPlanReader
{
    /// <summary>Stages that find by _id alone do not name its index.</summary>
    private const string IdIndex = "_id_";

    /// <summary>Of a shard, in characters.</summary>
    private const int LongestName = 60;

    /// <param name="reply">The server's.</param>
    /// <param name="limit">
    /// The limit of the query, 0 for none: a router adds up what its shards return, which is more than the client gets.
    /// </param>
    /// <param name="skip">The skip of the query; 0 for none.</param>
    public static PlanSummary Read(BsonDocument reply, int limit, long skip = 0)
    {
        // Of an aggregation: a router has it from each of its shards.
        if (reply.Find("queryPlanner") is null && reply.FindDocument("shards") is { } byShard)
            return Sum([.. byShard.Select(shard => (shard.Key, Read(shard.Value.ToDocument(), limit: 0)))], limit);
        // Its first stage stands for all that a find could do; the others follow it, each on its own.
        BsonDocument[] pipeline = [.. (reply.FindDocument("stages") ?? BsonDocument.Empty).Select(stage => stage.Value.ToDocument())];
        if (pipeline is [var first, .. var rest] && first.FindDocument("$cursor") is { } cursor)
        {
            PlanSummary found = Read(cursor, limit: 0);
            return found with
            {
                Stages = string.Join(" > ", [.. rest.Reverse().Select(stage => stage.First().Key), found.Stages]),
                Returned = pipeline[^1].FindInt64("nReturned") ?? found.Returned,
            };
        }

        BsonDocument? plan = PlanOf(reply, "queryPlanner.winningPlan");
        (string stages, string? index) = Follow(plan);
        int? shards = plan?.Find("shards") is { } list ? list.ToDocument().Count() : null;
        long returned = Math.Min(reply.FindInt64("executionStats.nReturned") ?? 0, limit > 0 ? limit : long.MaxValue);
        return new PlanSummary
        {
            Index = index,
            Stages = stages,
            KeysExamined = reply.FindInt64("executionStats.totalKeysExamined") ?? 0,
            DocumentsExamined = reply.FindInt64("executionStats.totalDocsExamined") ?? 0,
            Returned = returned,
            Shards = shards,
            // Each shard has to be ready to return all that the router skips and returns.
            Necessary = (skip + returned) * (limit > 0 ? shards ?? 1 : 1),
            ByShard = shards is null ? [] : ReadShards(plan!, reply),
        };
    }

    private static IReadOnlyList<ShardPlan> ReadShards(BsonDocument plan, BsonDocument reply)
    {
        ILookup<string, BsonDocument> executed = ItemsOf(reply, "executionStats.executionStages.shards").ToLookup(NameOf);
        return [.. ItemsOf(plan, "shards").Select(shard => ReadShard(shard, executed[NameOf(shard)].FirstOrDefault()))
            .OrderBy(shard => shard.Shard, StringComparer.Ordinal)];
    }

    private static string NameOf(BsonDocument shard) => shard.FindString("shardName") ?? "";

    /// <param name="shard">Of the winning plan.</param>
    /// <param name="executed">What it did; null where that is not told.</param>
    private static ShardPlan ReadShard(BsonDocument shard, BsonDocument? executed)
    {
        BsonDocument did = executed ?? BsonDocument.Empty;
        (string stages, string? index) = Follow(PlanOf(shard, "winningPlan"));
        return new ShardPlan(
            ForeignText.OneLine(NameOf(shard), LongestName), stages, did.FindInt64("totalKeysExamined") ?? 0,
            did.FindInt64("totalDocsExamined") ?? 0, did.FindInt64("nReturned") ?? 0, index);
    }

    private static (string Stages, string? Index) Follow(BsonDocument? plan)
    {
        var stages = new List<string>();
        string? index = null;
        for (BsonDocument? stage = plan; stage is not null; stage = Next(stage))
        {
            string name = stage.FindString("stage") ?? "?";
            stages.Add(name);
            index ??=
                stage.FindString("indexName") ?? (name is "IDHACK" or "CLUSTERED_IXSCAN" or "EXPRESS_CLUSTERED_IXSCAN" ? IdIndex : null);
        }

        return (string.Join(" > ", stages), index);
    }

    private static PlanSummary Sum(IReadOnlyList<(string Shard, PlanSummary Plan)> parts, int limit) =>
        parts.Count == 0 ? new PlanSummary { Stages = "" } : parts[0].Plan with
        {
            KeysExamined = parts.Sum(part => part.Plan.KeysExamined),
            DocumentsExamined = parts.Sum(part => part.Plan.DocumentsExamined),
            Returned = Math.Min(parts.Sum(part => part.Plan.Returned), limit > 0 ? limit : long.MaxValue),
            Shards = parts.Count,
            Necessary = parts.Sum(part => part.Plan.Necessary),
            ByShard = [.. parts.OrderBy(part => part.Shard, StringComparer.Ordinal).Select(part => new ShardPlan(
                ForeignText.OneLine(part.Shard, LongestName), part.Plan.Stages, part.Plan.KeysExamined, part.Plan.DocumentsExamined,
                part.Plan.Returned, part.Plan.Index))],
        };

    private static IEnumerable<BsonDocument> ItemsOf(BsonDocument document, string list) =>
        (document.FindDocument(list) ?? BsonDocument.Empty).Select(item => item.Value.ToDocument());

    /// <summary>explainVersion 2 puts the plan one level deeper.</summary>
    private static BsonDocument? PlanOf(BsonDocument parent, string path) =>
        parent.FindDocument($"{path}.queryPlan") ?? parent.FindDocument(path);

    /// <summary>The stage below; through a router, that of its first shard; of several inputs, the first.</summary>
    private static BsonDocument? Next(BsonDocument stage) =>
        stage.FindDocument("inputStage")
        ?? stage.FindDocument("inputStages.0")
        ?? PlanOf(stage, "shards.0.winningPlan");
}

using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>
/// explain of find in the shape of a mongos: the plan of each shard that is asked, carried out over that shard's documents alone.
/// </summary>
/// <remarks>
/// As there, a shard that is one of several is asked for skip and limit together, and what the shards return and examine is added up.
/// </remarks>
internal static class ShardExplain
{
    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        ReadOnlySpan<byte> inner = ExplainCommand.ReadFind(request, out bool isExecuted);
        var find = new BsonDocument(inner.ToArray());
        Collection? collection = session.FindCollection(CommandSession.CollectionName(First(inner)));
        session.Query.Parse(inner);
        bool isSorted = !session.Query.Sort.IsEmpty;
        int[] shards = [.. AskedBy(session, collection, find)];
        var parts = new Part[shards.Length];
        for (int i = 0; i < shards.Length; i++)
            parts[i] = Explain(session, collection, inner, shards[i], shards.Length > 1, isExecuted);
        string stage = shards.Length == 1 ? "SINGLE_SHARD" : isSorted ? "SHARD_MERGE_SORT" : "SHARD_MERGE";
        BsonWriter body = reply.Body;
        body.StartDocument("queryPlanner"u8);
        body.WriteDocument("winningPlan"u8,
            BsonDocument.Of(("stage", stage), ("shards", parts.Select(part => part.Plan).ToArray())).Bytes);
        body.End();
        if (isExecuted)
        {
            body.WriteDocument("executionStats"u8, BsonDocument.Of(
            [
                .. Sums(parts), ("executionStages", BsonDocument.Of(
                    [("stage", stage), .. Sums(parts), ("shards", parts.Select(part => part.Costs).ToArray())])),
            ]).Bytes);
        }

        ExplainCommand.WriteEnd(session, body, inner);
        reply.Succeed();
    }

    private static BsonReader First(ReadOnlySpan<byte> find)
    {
        var first = new BsonReader(find);
        first.Read();
        return first;
    }

    private static IEnumerable<int> AskedBy(CommandSession session, Collection? collection, BsonDocument find)
    {
        if (collection?.Shards is not { } map)
            return [session.Router.PrimaryOf(session.Database)];
        bool[] asked = ShardTargets.Of(map, find.FindDocument("filter") ?? BsonDocument.Empty, ShardRouting.IsCollated(find));
        return Enumerable.Range(0, asked.Length).Where(shard => asked[shard]);
    }

    private static Part Explain(
        CommandSession session, Collection? collection, ReadOnlySpan<byte> inner, int shard, bool isOneOfSeveral, bool isExecuted)
    {
        FindQuery query = session.Query;
        query.Parse(inner);
        if (collection?.Shards is { } map)
            query.AskShard(new ShardPart(map, shard), isOneOfSeveral);
        long milliseconds = ExplainCommand.Run(session, collection, isExecuted);
        ShardRouter router = session.Router;
        var plan = new BsonWriter();
        plan.StartDocument();
        plan.WriteString("explainVersion"u8, "1");
        plan.WriteString("shardName"u8, router.Shards[shard]);
        plan.WriteString("connectionString"u8, router.ConnectionOf(shard));
        ExplainCommand.WritePlan(plan, query, $"{session.Database}.{First(inner).StringText}");
        plan.End();
        var costs = new BsonWriter();
        costs.StartDocument();
        costs.WriteString("shardName"u8, router.Shards[shard]);
        if (isExecuted)
            ExplainCommand.WriteCosts(costs, query, milliseconds);
        costs.End();
        return new Part(new BsonDocument(plan.ToArray()), new BsonDocument(costs.ToArray()));
    }

    private static (string, object?)[] Sums(Part[] parts) =>
        [.. ((string[])["nReturned", "executionTimeMillis", "totalKeysExamined", "totalDocsExamined"])
            .Select(field => (field, (object?)parts.Sum(part => part.Costs.FindInt64(field) ?? 0)))];

    /// <param name="Plan">As the shard would plan.</param>
    /// <param name="Costs">What it cost there; only a name where it was not carried out.</param>
    private readonly record struct Part(BsonDocument Plan, BsonDocument Costs);
}

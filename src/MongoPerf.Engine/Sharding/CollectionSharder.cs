using MongoPerf.Engine.Collections;
using MongoPerf.Engine.Failures;
using MongoPerf.Engine.Measurement;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Sharding;

/// <summary>Shards a collection by its key, cuts it into chunks, and waits for the balancer. Doing it again changes nothing.</summary>
internal sealed class CollectionSharder(
    ShardedCollection collection, ShardingPlan plan, IClock clock, LongCommands longCommands)
{
    private const int Tries = 20;

    private static readonly TimeSpan BalanceLimit = TimeSpan.FromMinutes(10);

    private string Namespace => collection.Namespace;

    private ShardKey Key => plan.Key ?? ShardKey.Parse(plan.Settings.ShardKey ?? ShardKey.HashedId);

    /// <summary>Before anything is changed.</summary>
    /// <param name="router">Open.</param>
    /// <exception cref="ShardingException">It is sharded by another key, or holds documents and has no index for this one.</exception>
    public void Check(MongoConnection router)
    {
        if (collection.FindSharded() is { } there)
            RequireKey(there.FindDocument("key") ?? BsonDocument.Empty);
        else if (!IsEmpty(router))
            RequireIndex(router);
    }

    /// <param name="router">Open.</param>
    /// <exception cref="ShardingException">The cluster refuses it.</exception>
    public void Shard(MongoConnection router)
    {
        bool wasSharded = collection.FindSharded() is not null;
        bool isEmpty = IsEmpty(router);
        if (!wasSharded)
            ShardByKey(router);
        if (plan.OnlyShard is { } only)
            PlaceWhole(router, collection.Connections.Cluster.Shards[only].Name);
        // One chunk: also where a crash, or a server that was away, came before the first cut.
        if (isEmpty && !Key.IsHashed && plan.Documents is not null && plan.Settings.Presplit is > 1 and { } chunks && collection.CountChunks().Values.Sum() <= 1)
            Presplit(router, chunks);
        if (!wasSharded && !isEmpty && plan.Settings.Balancer != "off")
            AwaitBalance(router);
    }

    private bool IsEmpty(MongoConnection router) => collection.FindFirst(router, collection.Collection, BsonDocument.Empty) is null;

    private void RequireKey(BsonDocument present)
    {
        if ((plan.Key is not null || plan.Settings.ShardKey is not null) && !Key.IsThatOf(present))
        {
            throw new ShardingException(
                $"{Namespace} is sharded by {ShardKey.Describe(present)}, but this run's key is {Key}",
                $"use its key with --shard-key, another --collection, or --force-drop {Namespace} to start over");
        }
    }

    private void RequireIndex(MongoConnection router)
    {
        BsonDocument[] keys = collection.AskCatalogue(router, c => c.RunCursor(collection.Database, BsonDocument.Of(("listIndexes", collection.Collection)))
            .Select(index => index.FindDocument("key") ?? BsonDocument.Empty).ToArray());
        if (keys.Any(Key.IsServedBy))
            return;
        throw new ShardingException(
            $"{Namespace} can't be sharded by {Key}: it has documents, but no index that starts with this key "
            + $"(indexes: {string.Join(", ", keys.Select(ShardKey.Describe))})",
            $"create that index, use a key that has one, or --force-drop {Namespace} to start over");
    }

    private void ShardByKey(MongoConnection router)
    {
        try
        {
            collection.Run(router, collection.Commands.ShardCollection(collection.ReadNamespace(), Key, Key.IsHashed ? plan.Settings.Presplit : null));
        }
        catch (ServerCommandException e) when (!ErrorTally.IsServerAway(e) && !ErrorTally.MayPass(e))
        {
            throw new ShardingException($"{Namespace} can't be sharded by {Key}: {e.Message}", "try another --shard-key, or another --collection");
        }
    }

    /// <summary>Chunks of equal numbers of documents, dealt out to the shards in turn while they are empty.</summary>
    private void Presplit(MongoConnection router, int chunks)
    {
        ShardKey key = Key;
        ShardedNamespace target = collection.ReadNamespace();
        string primary = collection.FindDatabase()?.FindString("primary") ?? "";
        IReadOnlyList<string> shards = [.. collection.Connections.Cluster.Shards.Select(s => s.Name)];
        IReadOnlyList<BsonDocument> points = [key.At(Bounds.Least), .. key.SplitPoints(chunks, plan.TargetDocuments, plan.Documents!), key.At(Bounds.Greatest)];
        plan.Tell($"{Namespace}: splitting into {chunks} chunks over {shards.Count} shards");
        for (int i = 0; i + 1 < points.Count; i++)
        {
            string shard = shards[i % shards.Count];
            foreach (ShardingCommand command in collection.Commands.PlaceRange(target, points[i], points[i + 1], shard, shard == primary))
                RunPatiently(router, command);
        }
    }

    /// <summary>The one chunk that a range key begins with goes to this shard, and stays there.</summary>
    private void PlaceWhole(MongoConnection router, string shard)
    {
        using (MongoConnection config = collection.Connections.OpenConfig())
            ConfigCatalogue.LeaveUnbalanced(config, Namespace);
        bool isThere = collection.CountChunks().ContainsKey(shard);
        foreach (ShardingCommand command in collection.Commands.PlaceRange(collection.ReadNamespace(), Key.At(Bounds.Least), Key.At(Bounds.Greatest), shard, isThere))
            RunPatiently(router, command);
    }

    /// <summary>A balancer at work refuses for a moment; begun anew from the first cut, the chunks would not be the requested ones.</summary>
    private void RunPatiently(MongoConnection router, ShardingCommand command)
    {
        var backoff = new Backoff(clock, 0.05, 2);
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                collection.Run(router, command);
                return;
            }
            catch (ServerCommandException e) when (ErrorTally.MayPass(e) && attempt < Tries && !longCommands.Stop.IsCancellationRequested)
            {
                backoff.Wait(() => longCommands.Stop.IsCancellationRequested);
            }
        }
    }

    private void AwaitBalance(MongoConnection router)
    {
        plan.Tell($"{Namespace}: waiting for the balancer to spread the existing data");
        if (!BalanceWait.Until(clock, BalanceLimit.TotalSeconds, () => collection.IsBalanced(router), longCommands.Stop))
            plan.Tell($"{Namespace}: not balanced after {BalanceLimit.TotalMinutes:0} minutes; continuing");
    }
}

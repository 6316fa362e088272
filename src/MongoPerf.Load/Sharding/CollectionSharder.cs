using MongoPerf.Load.Collections;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Load.Sharding;

/// <summary>Shards a collection by its key, cuts it into chunks, and waits for the balancer. Doing it again changes nothing.</summary>
internal sealed class CollectionSharder(
    ShardedCollection collection, ShardingPlan plan, IClock clock, LongCommands longCommands)
{
    private const int Tries = 20;

    private static readonly TimeSpan BalanceLimit = TimeSpan.FromMinutes(10);

    private string Namespace => collection.Namespace;

    /// <summary>The key by which it is, or will be, sharded.</summary>
    public ShardKey Key => plan.Key ?? ShardKey.Parse(plan.Settings.ShardKey ?? ShardKey.HashedId);

    /// <summary>Checks what can be checked before anything is changed.</summary>
    /// <param name="router">Open.</param>
    /// <exception cref="MongoPerfException">It is sharded by another key, or holds documents and has no index for this one.</exception>
    public void Check(MongoConnection router)
    {
        RequireShards();
        if (collection.FindSharded() is { } there)
            RequireKey(there.FindDocument("key") ?? BsonDocument.Empty);
        else if (!IsEmpty(router))
            RequireIndex(router);
    }

    /// <param name="router">Open.</param>
    /// <exception cref="MongoPerfException">The cluster refuses it.</exception>
    public void Shard(MongoConnection router)
    {
        bool wasSharded = collection.FindSharded() is not null;
        if (wasSharded && new CollectionZones(collection, RunPatiently).AreForeign(router))
        {
            string? what = plan.OnlyShard is not null ? "shard is" : plan.Zones.Count > 0 ? "zones are"
                : plan.Chunks > 1 ? "chunks are" : null;
            if (what is not null)
                plan.Notify($"{Namespace} was already sharded before the run: the run's {what} ignored for it");
            return;
        }

        bool isEmpty = IsEmpty(router);
        if (!wasSharded)
            ShardByKey(router);
        if (plan.OnlyShard is { } only)
            PlaceWhole(router, collection.Connections.Cluster.Shards[only].Name);
        else if (plan.Zones.Count > 0)
            MakeZones(router, isEmpty);
        else if (isEmpty && plan.Chunks is > 1 and { } chunks)
            Presplit(router, chunks);
        if (!wasSharded && !isEmpty && plan.Settings.Balancer != "off")
            AwaitBalance(router);
    }

    /// <exception cref="MongoPerfException">A shard is named that the cluster does not have.</exception>
    private void RequireShards()
    {
        IReadOnlyList<ShardAddress> there = collection.Connections.Cluster.Shards;
        int most = plan.Zones.Select(static zone => zone.Shard).Append(plan.OnlyShard + 1 ?? 0).Max();
        if (most > there.Count)
            throw new MongoPerfException(
                Fault.WrongUsage, $"{Namespace}: shard {most} is to hold {(plan.Zones.Count > 0 ? "a zone of it" : "it")}, but the cluster "
                    + $"has {there.Count} ({string.Join(", ", there.Select(static shard => shard.Name))})",
                "change the file, or run it on more shards");
    }

    private bool IsEmpty(MongoConnection router) => collection.FindFirst(router, collection.Collection, BsonDocument.Empty) is null;

    private void RequireKey(BsonDocument present)
    {
        if ((plan.Key is not null || plan.Settings.ShardKey is not null) && !Key.IsThatOf(present))
        {
            throw new MongoPerfException(
                Fault.WrongUsage,
                $"{Namespace} is sharded by {ShardKey.Describe(present)}, but this run's key is {Key}",
                $"use its key with --shard-key, another --collection, or --force-drop {Namespace} to start over");
        }
    }

    private void RequireIndex(MongoConnection router)
    {
        BsonDocument[] keys = collection.AskCatalogue(
            router, c => c.RunCursor(collection.Database, BsonDocument.Of(("listIndexes", collection.Collection)))
                .Select(index => index.FindDocument("key") ?? BsonDocument.Empty).ToArray());
        if (keys.Any(Key.IsServedBy))
            return;
        throw new MongoPerfException(
            Fault.WrongUsage,
            $"{Namespace} can't be sharded by {Key}: it has documents, but no index that starts with this key "
            + $"(indexes: {string.Join(", ", keys.Select(ShardKey.Describe))})",
            $"create that index, use a key that has one, or --force-drop {Namespace} to start over");
    }

    private void ShardByKey(MongoConnection router)
    {
        try
        {
            collection.Run(router, collection.Commands.ShardCollection(collection.ReadNamespace(), Key,
                Key.IsHashed ? plan.Chunks : null));
        }
        catch (ServerCommandException e) when (!ErrorTally.IsServerAway(e) && !ErrorTally.MayPass(e))
        {
            throw new MongoPerfException(Fault.RejectedByServer, $"{Namespace} can't be sharded by {Key}: {e.Message}",
                e.Error.MeansForbidden
                    ? $"{e.Hint}, or have an administrator shard the empty collection and run again"
                        + (plan.Settings.ShardKey is null ? "" : " without --shard-key")
                    : "try another --shard-key, or another --collection");
        }
    }

    /// <summary>
    /// Chunks of equal numbers of documents, dealt out to the shards in turn while they are empty. Where a crash, or a server that was
    /// away, came before the last cut, the others follow. A hashed key is cut by shardCollection, up to 7.1: from then on it makes one
    /// chunk for each shard, whatever was asked for, and the rest is cut here.
    /// </summary>
    private void Presplit(MongoConnection router, int chunks)
    {
        IReadOnlyList<BsonDocument> there = collection.ReadChunks();
        if (collection.FindSharded() is { } sharded && ConfigCatalogue.IsTimeSeries(sharded))
        {
            if (there.Count < chunks)
                plan.Notify($"{Namespace}: {there.Count} of {chunks} chunks could be made: it is a time series");
            return;
        }

        BsonDocument[] bounds =
        [
            .. there.Select(chunk => chunk.FindDocument("min")!), .. there.TakeLast(1).Select(chunk => chunk.FindDocument("max")!),
        ];
        if (there.Count == 0 || there.Count >= chunks || (!Key.BeginsHashed && (Key.IsHashed || plan.Documents is null)))
            return;
        IReadOnlyList<BsonDocument> points = Key.BeginsHashed ? Key.HashedPoints(chunks, bounds)
            : [Key.At(Bounds.Least), .. Key.SplitPoints(chunks, plan.TargetDocuments, plan.Documents!), Key.At(Bounds.Greatest)];
        // Cut by somebody else, or for another number of documents.
        if (bounds.Any(bound => !Contains(points, bound)))
            return;
        IReadOnlyList<string> shards = [.. collection.Connections.Cluster.Shards.Select(s => s.Name)];
        plan.Notify($"{Namespace}: splitting into {chunks} chunks over {shards.Count} shards");
        // Chunks of a hashed key are on all shards already.
        Place(router, there, points, i => Key.BeginsHashed ? null : shards[i % shards.Count]);
        if (collection.CountChunks().Values.Sum() is var made && made != chunks)
            plan.Notify($"{Namespace}: {made} of {chunks} chunks could be made");
    }

    /// <summary>
    /// While it is empty its zones are cut and brought to their shards at once, before the balancer is told of them; otherwise the balancer
    /// does both.
    /// </summary>
    private void MakeZones(MongoConnection router, bool isEmpty)
    {
        var zones = new CollectionZones(collection, RunPatiently);
        if (plan.Settings.Presplit is not null)
            plan.Notify($"{Namespace} is split by its zones: --presplit is ignored for it");
        IReadOnlyList<BsonDocument> there = isEmpty ? collection.ReadChunks() : [];
        if (there.Count == 1)
        {
            plan.Notify($"{Namespace}: {plan.Zones.Count} zones: moving them to their shards");
            var points = new List<BsonDocument> { Key.At(Bounds.Least) };
            var shards = new List<string?>();
            foreach (ZoneRange zone in plan.Zones)
            {
                AddUpTo(Key.At(zone.From, Bounds.Least), null);
                AddUpTo(Key.At(zone.To, Bounds.Greatest), zones.ShardAt(zone.Shard));
            }

            AddUpTo(Key.At(Bounds.Greatest), null);
            Place(router, there, points, i => shards[i]);

            void AddUpTo(BsonDocument end, string? shard)
            {
                if (points[^1].Bytes.SequenceEqual(end.Bytes))
                    return;
                points.Add(end);
                shards.Add(shard);
            }
        }

        zones.Make(router, Key, plan.Zones);
    }

    /// <summary>Cuts ranges and brings them to their shards.</summary>
    /// <param name="router">Open.</param>
    /// <param name="there">The chunks as they are; each of their bounds is one of the points.</param>
    /// <param name="points">All bounds in order, from the least to the greatest key.</param>
    /// <param name="shardOf">The shard of the range that begins at a point; null leaves it where it is.</param>
    private void Place(
        MongoConnection router, IReadOnlyList<BsonDocument> there, IReadOnlyList<BsonDocument> points, Func<int, string?> shardOf)
    {
        ShardedNamespace target = collection.ReadNamespace();
        string owner = "";
        for (int i = 0; i + 1 < points.Count; i++)
        {
            (BsonDocument from, BsonDocument to) = (points[i], points[i + 1]);
            owner = there.FirstOrDefault(chunk => chunk.FindDocument("min")!.Bytes.SequenceEqual(from.Bytes))?.FindString("shard") ?? owner;
            string shard = shardOf(i) ?? owner;
            bool isCut = there.Any(chunk => chunk.FindDocument("max")!.Bytes.SequenceEqual(to.Bytes));
            foreach (ShardingCommand command in collection.Commands.PlaceRange(target, from, to, shard, shard == owner, isCut))
                RunPatiently(router, command);
        }
    }

    private static bool Contains(IReadOnlyList<BsonDocument> bounds, BsonDocument bound) =>
        bounds.Any(one => one.Bytes.SequenceEqual(bound.Bytes));

    /// <summary>The one chunk that a range key begins with goes to this shard, and stays there.</summary>
    private void PlaceWhole(MongoConnection router, string shard)
    {
        using (MongoConnection config = collection.Connections.OpenConfig())
            ConfigCatalogue.LeaveUnbalanced(config, Namespace);
        bool isThere = collection.CountChunks().ContainsKey(shard);
        foreach (ShardingCommand command in collection.Commands.PlaceRange(collection.ReadNamespace(), Key.At(Bounds.Least),
            Key.At(Bounds.Greatest), shard, isThere, isCut: true))
            RunPatiently(router, command);
    }

    /// <summary>
    /// A balancer at work refuses for a moment; begun anew from the first cut, the chunks would not be the requested ones.
    /// </summary>
    public void RunPatiently(MongoConnection router, ShardingCommand command)
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
        plan.Notify($"{Namespace}: waiting for the balancer to spread the existing data");
        if (!BalanceWait.Until(clock, BalanceLimit.TotalSeconds, () => collection.IsBalanced(router), longCommands.Stop))
            plan.Notify($"{Namespace}: not balanced after {BalanceLimit.TotalMinutes:0} minutes; continuing");
    }
}

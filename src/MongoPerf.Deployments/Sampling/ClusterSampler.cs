using MongoPerf.Load.Failures;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Sampling;

/// <summary>What one look at a cluster brought.</summary>
/// <param name="Shards">One for each shard, also for one that did not answer; columns of <see cref="MetricCatalogue.Shard"/>.</param>
/// <param name="ChunkEvents">Chunk events that are new, or of which more is known.</param>
public sealed record ClusterLook(IReadOnlyList<MetricSample> Shards, IReadOnlyList<ChunkEvent> ChunkEvents);

/// <summary>Looks at the shards of a cluster and at its changelog, over connections of its own.</summary>
/// <remarks>
/// One thread, which waits while servers answer: give it one of its own. Never throws. A shard that is down leaves NaN in its columns and
/// holds up no other; where no shard shows what it holds, because it can't be reached, does not know the user, or (8.0 and later) shows
/// that to nobody, the router is asked for all of them.
/// </remarks>
/// <param name="cluster">Asked at each look: addresses change when servers are started again. Null while there is none.</param>
/// <param name="settings">The settings as the run's connections have them.</param>
/// <param name="collection">What is watched.</param>
/// <param name="since">When the run began; see <see cref="ChangelogTail"/>.</param>
public sealed class ClusterSampler(
    Func<ShardedCluster?> cluster, ConnectionSettings settings, SampledNamespace collection, DateTimeOffset since) : IDisposable
{
    private const int MostAttempts = 3;

    private readonly Dictionary<string, ShardProbe> _probes = new(StringComparer.Ordinal);
    private readonly ChangelogTail _changelog = new(collection.Database, since);
    private readonly Dictionary<string, string?> _keysBefore = new(StringComparer.Ordinal);
    private string? _key, _keyEarlier;
    private ShardedCluster? _cluster;
    private SamplerConnection? _config;
    private SamplerConnection? _router;

    public ClusterLook Look()
    {
        _cluster = cluster() ?? _cluster;
        if (_cluster is null)
            return new ClusterLook([], []);
        var rows = _cluster.Shards.ToDictionary(static shard => shard.Name, static _ => ShardColumns.Nothing());
        // Not Any, which would leave the shards behind the first answer unasked.
        int parts = _cluster.Direct != DirectAccess.Allowed ? 0 : rows.Count(row => ProbeOf(row.Key).Fill(row.Value));
        if (parts == 0)
            AskRouter(rows);
        SetChunks(rows);
        long at = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        return new ClusterLook(
            [.. rows.OrderBy(static row => row.Key, StringComparer.Ordinal).Select(row => new MetricSample(at, row.Key, row.Value))],
            ReadChangelog());
    }

    public void Dispose()
    {
        foreach (ShardProbe probe in _probes.Values)
            probe.Dispose();
        _config?.Dispose();
        _router?.Dispose();
    }

    private ShardProbe ProbeOf(string shard)
    {
        if (!_probes.TryGetValue(shard, out ShardProbe? probe))
            _probes[shard] = probe = new ShardProbe(() => _cluster!.Shards.First(one => one.Name == shard).Primary, settings, collection);
        return probe;
    }

    private void AskRouter(Dictionary<string, double[]> rows)
    {
        _router ??= new SamplerConnection(
            () => _cluster!.RouterAddress,
            settings with { Dialect = _cluster!.Dialect }, longestPause: TimeSpan.FromSeconds(30));
        IReadOnlyList<BsonDocument> parts = _router.Ask([], ReadParts);
        if (parts.Count == 0)
            return;
        // The router tells of shards that have something only.
        foreach (double[] values in rows.Values)
            ShardColumns.SetPart(values, null);
        foreach (BsonDocument part in parts)
        {
            string shard = part.FindString("shard") ?? "";
            // Who may not read config.shards learns here which there are.
            if (!rows.TryGetValue(shard, out double[]? values) && _cluster!.Shards.Count == 0 && shard.Length > 0)
                rows[shard] = values = ShardColumns.Nothing();
            if (values is not null)
                ShardColumns.SetPart(values, part);
        }
    }

    private IReadOnlyList<BsonDocument> ReadParts(MongoConnection router)
    {
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                return [.. router.RunCursor(collection.Database, ShardColumns.PartRequest(collection.Collection))];
            }
            catch (ServerCommandException e) when (ErrorTally.MayPass(e) && attempt < MostAttempts)
            {
                // A migration ended meanwhile; the router looks the chunks up again.
            }
        }
    }

    private void SetChunks(Dictionary<string, double[]> rows)
    {
        if (Config.Ask(null, CountChunks) is not { } chunks)
            return;
        foreach ((string shard, double[] values) in rows)
            ShardColumns.SetChunks(values, chunks.GetValueOrDefault(shard));
    }

    /// <summary>None when the collection is not sharded.</summary>
    private IReadOnlyDictionary<string, long>? CountChunks(MongoConnection config)
    {
        BsonDocument? sharded = ConfigCatalogue.FindCollection(config, collection.ToString());
        (_keyEarlier, _key) = (_key, KeyOf(sharded));
        return sharded is null ? new Dictionary<string, long>() : ConfigCatalogue.CountChunks(config, sharded);
    }

    private IReadOnlyList<ChunkEvent> ReadChangelog() =>
        [.. Config.Ask<IReadOnlyList<ChunkEvent>>([], _changelog.ReadNew)
            .Select(one => one.Kind == ChunkEventKind.Resharding ? WithKeys(one) : one)];

    private ChunkEvent WithKeys(ChunkEvent resharding)
    {
        string name = resharding.Collection ?? "";
        bool isRunning = resharding.Outcome == ChunkEventOutcome.Running;
        string? now = Config.Ask(null, config => KeyOf(ConfigCatalogue.FindCollection(config, $"{collection.Database}.{name}")));
        // It began after the look before, when the key of the collection that is watched was read; of another one nothing was.
        if (!_keysBefore.TryGetValue(resharding.Id, out string? before))
            _keysBefore[resharding.Id] = before = name == collection.Collection && _keyEarlier is not null ? _keyEarlier
                : isRunning ? now : null;
        return resharding with { KeyBefore = before, KeyAfter = isRunning ? null : now };
    }

    private static string? KeyOf(BsonDocument? sharded) => sharded?.FindDocument("key") is { } key ? ShardKey.Of(key).ToString() : null;

    private SamplerConnection Config => _config ??= new SamplerConnection(
        () => _cluster!.ConfigAddress, settings with { Dialect = CommandDialect.Plain }, longestPause: TimeSpan.FromSeconds(10));
}

using MongoPerf.Storage;

namespace MongoPerf.Tests.Support;

/// <summary>
/// The imagined shards of a frozen run: every five seconds of inserting a chunk leaves the fullest for the emptiest; the
/// fourth time it fails.
/// </summary>
internal sealed class FrozenShards
{
    private const long MigrationEveryMilliseconds = 5000;
    private const int FailedMigration = 4;

    private readonly RunStore _store;
    private readonly Shard[] _shards;
    private long _sampledAt;
    private long _migratedAt;
    private long _insertedMilliseconds;
    private long _at;
    private int _migrations;

    public FrozenShards(IReadOnlyList<string> names, RunStore store)
    {
        _store = store;
        _shards = [.. names.Select(static name => new Shard(name))];
        _shards[^1].Chunks = 1;
    }

    public void Advance(long at, long inserted, long queried)
    {
        Shard last = _shards[^1];
        last.Documents += inserted;
        last.Inserts += inserted;
        foreach (Shard shard in _shards)
            shard.Queries += queried;
        _insertedMilliseconds += inserted > 0 && _at > 0 ? at - _at : 0;
        _at = at;
        if (inserted > 0 && _insertedMilliseconds - _migratedAt >= MigrationEveryMilliseconds)
            Migrate();
        if (at - _sampledAt < 2000)
            return;
        _sampledAt = at;
        foreach (Shard shard in _shards)
            _store.AddShardSample(new MetricSample(at, shard.Name, shard.Values()));
    }

    public IReadOnlyList<ShardSize> Sizes(IReadOnlyDictionary<string, long> indexes)
    {
        double all = _shards.Sum(static shard => shard.Documents);
        return
        [
            .. _shards.Select(shard =>
            {
                var own = shard.Chunks == 0
                    ? []
                    : indexes.ToDictionary(static index => index.Key, index => (long)(index.Value * shard.Documents / all));
                return new ShardSize(shard.Name, shard.Documents, (shard.Documents + shard.Orphans) * 1024, shard.Documents * 1060,
                    own.Values.Sum(), shard.Chunks)
                {
                    Orphans = shard.Orphans, Indexes = own,
                };
            }),
        ];
    }

    private void Migrate()
    {
        _migratedAt = _insertedMilliseconds;
        bool fails = ++_migrations == FailedMigration;
        Shard from = _shards.MaxBy(static shard => shard.Documents)!;
        Shard to = _shards.MinBy(static shard => shard.Documents)!;
        long documents = (from.Documents - to.Documents) / 2;
        _store.AddChunkEvents(
        [
            new ChunkEvent
            {
                Id = $"s{_migrations}", Kind = ChunkEventKind.Split, AtMilliseconds = _at - 900,
                EndMilliseconds = _at - 900, From = from.Name,
                Outcome = ChunkEventOutcome.Done,
            },
            new ChunkEvent
            {
                Id = $"m{_migrations}", Kind = ChunkEventKind.Migration, AtMilliseconds = _at - 800,
                EndMilliseconds = _at + (fails ? 200 : 1600), From = from.Name,
                To = to.Name, Documents = fails ? null : documents, Bytes = fails ? null : documents * 1024,
                Outcome = fails ? ChunkEventOutcome.Failed : ChunkEventOutcome.Done, Note = fails ? "aborted" : null,
            },
        ]);
        from.Chunks++;
        if (fails)
            return;
        from.Chunks--;
        to.Chunks++;
        from.Documents -= documents;
        from.Orphans += documents;
        to.Documents += documents;
        to.Orphans = 0;
    }

    private sealed class Shard(string name)
    {
        public string Name => name;
        public long Documents { get; set; }
        public long Orphans { get; set; }
        public long Chunks { get; set; }
        public long Inserts { get; set; }
        public long Queries { get; set; }

        public double[] Values()
        {
            double[] values = [.. MetricCatalogue.Shard.Select(static _ => 0.0)];
            void Put(string metric, double value) => values[MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric)] = value;
            Put("documents", Documents);
            Put("orphans", Orphans);
            Put("chunks", Chunks);
            Put("data", (Documents + Orphans) * 1024);
            Put("storage", Documents * 1060);
            Put("indexes", Documents * 51);
            Put("opcounters_insert", Inserts);
            Put("opcounters_query", Queries);
            return values;
        }
    }
}

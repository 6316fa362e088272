using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Load.Sharding;

/// <summary>
/// What runs have changed of a cluster's settings, as it is written down in the cluster: a document in config.mongoperf, which is there
/// before the first change and goes when nobody holds anything and all is put back.
/// </summary>
/// <remarks>
/// In database config, because who may change the settings may write there (role clusterManager), and not in config.settings, whose
/// documents and fields newer servers check. The empty collection remains: a mongos lets nobody drop it.
/// </remarks>
/// <param name="Settings">By their ids; what none of ours has looked at is not in it.</param>
/// <param name="Holders">Who wants what; who came last is last.</param>
/// <param name="Version">Of this record, never the same again: one that is gone and back is another. Empty when nothing is written.</param>
internal sealed record SettingsRecord(
    IReadOnlyDictionary<string, ChangedSetting> Settings, IReadOnlyList<SettingsHolder> Holders, string Version)
{
    /// <summary>How often others may be faster.</summary>
    private const int Tries = 100;

    private const string Database = "config";
    private const string Collection = "mongoperf";
    private const string Id = "settings";

    private static readonly (string, object?) Majority = ("writeConcern", BsonDocument.Of(("w", "majority"), ("j", true)));

    private static SettingsRecord Empty { get; } = new(new Dictionary<string, ChangedSetting>(), [], "");

    private bool IsEmpty => Settings.Count == 0 && Holders.Count == 0;

    /// <param name="config">A connection to the config server or a mongos.</param>
    public static SettingsRecord Read(MongoConnection config) => config.RunCursor(Database, BsonDocument.Of(
        ("find", Collection), ("filter", BsonDocument.Of(("_id", Id))), ("limit", 1), ("singleBatch", true))).FirstOrDefault() is { } found
        ? new SettingsRecord(
            (found.FindDocument("settings") ?? BsonDocument.Empty).ToDictionary(
                one => one.Key, one => ChangedSetting.Of(one.Value.ToDocument())),
            [.. (found.FindDocument("holders") ?? BsonDocument.Empty).Select(one => SettingsHolder.Of(one.Value.ToDocument()))],
            found.FindString("version") ?? "")
        : Empty;

    /// <summary>Writes down what becomes of the record; again with what is there then, when another client was faster.</summary>
    /// <param name="config">A connection to the config server or a mongos.</param>
    /// <param name="change">Makes the next record; looks at settings, if at all, after the record was read.</param>
    /// <returns>The record as it is now.</returns>
    public static SettingsRecord Update(MongoConnection config, Func<SettingsRecord, SettingsRecord> change)
    {
        SettingsRecord? now = null;
        Repeat(config, () =>
        {
            SettingsRecord read = Read(config);
            SettingsRecord next = change(read);
            now = next == read ? read : read.TryReplace(config, next);
            return now is not null;
        });
        return now!;
    }

    /// <summary>Does again what another client was faster at.</summary>
    /// <param name="config">A connection to the config server or a mongos.</param>
    /// <param name="attempt">Whether none was.</param>
    public static void Repeat(MongoConnection config, Func<bool> attempt)
    {
        for (int tries = 1; !attempt(); tries++)
        {
            if (tries == Tries)
                throw new MongoPerfException(
                    Fault.Refused, $"config.mongoperf at {config.Address} changed {Tries} times while it was being changed",
                    "other runs change the cluster's settings at the same time: try again when they have begun or ended");
        }
    }

    public SettingsRecord With(string id, ChangedSetting? setting) => this with
    {
        Settings = Settings.Where(one => one.Key != id).Concat(setting is null ? [] : [KeyValuePair.Create(id, setting)]).ToDictionary(),
    };

    /// <summary>Writes down the next record in place of this one, unless another client has written one meanwhile.</summary>
    /// <returns>That record; null when it is not written.</returns>
    public SettingsRecord? TryReplace(MongoConnection config, SettingsRecord next)
    {
        next = next with { Version = Guid.NewGuid().ToString("N") };
        BsonDocument which = BsonDocument.Of(("_id", Id), ("version", Version));
        // An insertion in place of nothing fails where there is another version by now.
        BsonDocument reply = config.RunUnchecked(Database, next.IsEmpty
            ? BsonDocument.Of(("delete", Collection), ("deletes", new[] { BsonDocument.Of(("q", which), ("limit", 1)) }), Majority)
            : BsonDocument.Of(("update", Collection),
                ("updates", new[] { BsonDocument.Of(("q", which), ("u", next.ToDocument()), ("upsert", Version.Length == 0)) }),
                Majority));
        BsonDocument? wrong = reply.IsTrue("ok") ? reply.FindDocument("writeErrors.0") ?? reply.FindDocument("writeConcernError") : reply;
        return wrong is null ? reply.FindInt64("n") == 1 ? next : null
            : ServerError.From(wrong) is { Code: ServerError.DuplicateKey } ? null
            : throw new ServerCommandException("update", ServerError.From(wrong));
    }

    private BsonDocument ToDocument() => BsonDocument.Of(
        ("_id", Id), ("version", Version),
        ("settings", BsonDocument.Of([.. Settings.Select(one => (one.Key, (object?)one.Value.ToDocument()))])),
        ("holders", Holders.Select(one => one.ToDocument()).ToArray()));
}

/// <summary>A setting that ours have changed.</summary>
/// <param name="Before">What it was before that; null when it was not set.</param>
/// <param name="Left">What the last change left.</param>
/// <param name="Changing">Changes that have begun and not ended: they are at work, or were killed.</param>
internal sealed record ChangedSetting(BsonDocument? Before, BsonDocument? Left, IReadOnlyList<SettingChange> Changing)
{
    public static ChangedSetting Of(BsonDocument document) => new(
        document.FindDocument("before"), document.FindDocument("left"),
        [.. (document.FindDocument("changing") ?? BsonDocument.Empty).Select(one => SettingChange.Of(one.Value.ToDocument()))]);

    public static bool AreSame(BsonDocument? one, BsonDocument? other) =>
        one is null || other is null ? one is null && other is null : one.Bytes.SequenceEqual(other.Bytes);

    public BsonDocument ToDocument() => BsonDocument.Of(
        ("before", Before), ("left", Left), ("changing", Changing.Select(one => one.ToDocument()).ToArray()));
}

/// <summary>A change of settings that has begun.</summary>
/// <param name="Id">By which it is known again.</param>
/// <param name="Owner">The run for which it is, and the database of that run.</param>
/// <param name="At">When it began, in milliseconds since 1970 by its client's clock.</param>
/// <param name="Targets">
/// What it may make of the setting: a document for each, null for none; null where an earlier version has not written that down.
/// </param>
internal sealed record SettingChange(string Id, string Owner, long At, IReadOnlyList<BsonDocument?>? Targets = null)
{
    /// <summary>A change takes seconds; one that began earlier was killed.</summary>
    private static readonly TimeSpan Longest = TimeSpan.FromMinutes(10);

    public bool IsKilled => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() - At > Longest.TotalMilliseconds;

    public static SettingChange For(SettingsHolder holder) =>
        new(Guid.NewGuid().ToString("N"), holder.Owner, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());

    public static SettingChange Of(BsonDocument document) => new(
        document.FindString("id") ?? "", document.FindString("owner") ?? "", SettingsHolder.TimeIn(document),
        document.FindDocument("targets")?.Select(static one => one.Value.Type == BsonType.Document ? one.Value.ToDocument() : null)
            .ToArray());

    /// <summary>
    /// Whether it may have left a setting so: wherever it was killed, each field is as it was before or as one of its targets has it.
    /// </summary>
    /// <param name="now">The setting as it is; null for none.</param>
    /// <param name="left">What the last change that ended has left; null for none.</param>
    public bool MayHaveLeft(BsonDocument? now, BsonDocument? left)
    {
        if (Targets is null)
            return true;
        BsonDocument?[] states = [left, .. Targets];
        if (now is null)
            return states.Contains(null);
        return now.Concat(left ?? BsonDocument.Empty).Select(static field => field.Key).Distinct().All(field =>
            states.Any(state => AreSame(now.Find(field), state?.Find(field))));

        static bool AreSame(BsonValue? one, BsonValue? other) => one is null || other is null
            ? one is null && other is null
            : BsonDocument.Of(("", one)).Bytes.SequenceEqual(BsonDocument.Of(("", other)).Bytes);
    }

    public BsonDocument ToDocument() => BsonDocument.Of(
    [
        ("id", Id), ("owner", Owner), ("at", DateTimeOffset.FromUnixTimeMilliseconds(At).UtcDateTime),
        .. Targets is null ? [] : ((string, object?)[])[("targets", Targets.Cast<object?>().ToArray())],
    ]);
}

/// <summary>Who wants which of a cluster's settings.</summary>
/// <param name="Key">By which it is known again.</param>
/// <param name="Database">Of the run's collections.</param>
/// <param name="Run">The id of the run.</param>
/// <param name="Host">Of the client.</param>
/// <param name="At">When it came, in milliseconds since 1970 by its client's clock.</param>
/// <param name="Balancer">on, off or hours; null for none of its business.</param>
/// <param name="ChunkMegabytes">Null for none of its business.</param>
internal sealed record SettingsHolder(
    string Key, string Database, string Run, string Host, long At, string? Balancer = null, int? ChunkMegabytes = null)
{
    /// <summary>The run by which its changes are known.</summary>
    public string Owner => $"{Database} {Run}";

    /// <summary>Until the last of our collections in the database is gone, whichever run made it.</summary>
    public static SettingsHolder ForCollections(string database, string run) => New(database, database, run);

    /// <summary>Until the run ends; no name of a database has a space.</summary>
    /// <param name="database">Of the run's collections.</param>
    /// <param name="run">The id of the run.</param>
    /// <param name="token">The run's: another user's run may have the same id.</param>
    public static SettingsHolder ForRun(string database, string run, string? token) => New($"{database} {token ?? run}", database, run);

    public static SettingsHolder Of(BsonDocument document) => new(
        document.FindString("key") ?? "", document.FindString("database") ?? "", document.FindString("run") ?? "",
        document.FindString("host") ?? "", TimeIn(document), document.FindString("balancer"), (int?)document.FindInt64("chunkMegabytes"));

    /// <summary>What it wants, and what it has wanted before of the rest.</summary>
    public SettingsHolder After(SettingsHolder? before) =>
        this with { Balancer = Balancer ?? before?.Balancer, ChunkMegabytes = ChunkMegabytes ?? before?.ChunkMegabytes };

    public BsonDocument ToDocument() => BsonDocument.Of(
    [
        ("key", Key), ("database", Database), ("run", Run), ("host", Host),
        ("at", DateTimeOffset.FromUnixTimeMilliseconds(At).UtcDateTime),
        .. Balancer is null ? [] : ((string, object?)[])[("balancer", Balancer)],
        .. ChunkMegabytes is null ? [] : ((string, object?)[])[("chunkMegabytes", ChunkMegabytes)],
    ]);

    /// <summary>Within what a date can say, whatever somebody has written there.</summary>
    internal static long TimeIn(BsonDocument document) =>
        Math.Clamp(document.FindInt64("at") ?? 0, 0, DateTimeOffset.MaxValue.ToUnixTimeMilliseconds());

    private static SettingsHolder New(string key, string database, string run) =>
        new(key, database, run, Environment.MachineName, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
}

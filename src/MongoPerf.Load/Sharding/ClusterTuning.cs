using System.Globalization;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>
/// The cluster's settings that a run changes: chunk size and balancer, and what balancerStop and balancerStart change beside the balancer,
/// which is autosplit from MongoDB 4.2 to 6.0 and automerge from 7.0 on. They hold for the whole cluster, whatever databases its runs use,
/// so a <see cref="SettingsRecord"/> in the cluster has what they were and who wants them changed. A setting that nobody wants changed any
/// more is put back, unless somebody else has changed it since.
/// </summary>
internal sealed class ClusterTuning(ClusterConnections connections, IShardingCommands commands)
{
    private const string ChunkSize = "chunksize";
    private const string Balancer = "balancer";
    private const string ActiveWindow = "activeWindow";
    private static readonly string[] Names = [ChunkSize, Balancer, "automerge", "autosplit"];

    private Setting OfChunkSize => new(
        Names[..1], static one => one.ChunkMegabytes?.ToString(CultureInfo.InvariantCulture),
        static (config, megabytes) => ConfigCatalogue.ChangeSetting(config, ChunkSize, BsonDocument.Of(("$set", ValueOf(megabytes)))),
        static (_, megabytes) => BsonDocument.Of([("_id", ChunkSize), .. ValueOf(megabytes).Select(one => (one.Key, (object?)one.Value))]));

    private Setting OfBalancer => new(Names[1..], static one => one.Balancer, SetBalancer, BalancerAs);

    /// <summary>Sets what the holder wants.</summary>
    public void Apply(SettingsHolder holder)
    {
        if (holder is { Balancer: null, ChunkMegabytes: null })
            return;
        using MongoConnection config = connections.OpenConfig();
        SettingsRecord.Update(config, record => record with
        {
            Holders = [.. record.Holders.Where(one => one.Key != holder.Key),
                holder.After(record.Holders.FirstOrDefault(one => one.Key == holder.Key))],
        });
        foreach (Setting setting in ((Setting[])[OfChunkSize, OfBalancer]).Where(setting => setting.Wish(holder) is not null))
            Settle(config, setting, SettingChange.For(holder), isNew: true, isHeld: true);
    }

    /// <summary>What is held under a key; null for nothing.</summary>
    public SettingsHolder? Find(string key)
    {
        using MongoConnection config = connections.OpenConfig();
        return SettingsRecord.Read(config).Holders.FirstOrDefault(one => one.Key == key);
    }

    /// <summary>Gives settings up. What nobody else wants is put back; of what others want, what was wanted last holds.</summary>
    /// <param name="holder">Who gives up.</param>
    /// <param name="held">
    /// What <see cref="Find"/> found of it before it was known that nobody else needs that; it is kept if it has changed meanwhile.
    /// </param>
    /// <returns>
    /// A line for each setting that is not as it was before, with the shell's command that repairs it; empty when all is as it was, or
    /// wanted by others; null when nothing was held.
    /// </returns>
    public IReadOnlyList<string>? GiveUp(SettingsHolder holder, SettingsHolder? held)
    {
        using MongoConnection config = connections.OpenConfig();
        // Before anything is put back: of several that go at once, the last to go finds that nobody is left.
        if (held is not null)
            SettingsRecord.Update(config, record => !record.Holders.Contains(held) ? record
                : record with { Holders = [.. record.Holders.Where(one => one != held)] });
        // Also what a run left that was killed when it had gone.
        string[] differing = [.. ((Setting[])[OfChunkSize, OfBalancer]).SelectMany(
            setting => Settle(config, setting, SettingChange.For(holder), isNew: false, held is not null))];
        return held is null && differing.Length == 0 ? null : differing;
    }

    /// <summary>Puts back what differs, and looks again.</summary>
    /// <param name="config">Open.</param>
    /// <param name="before">
    /// The settings as an earlier version of MongoPerf noted them; a setting that they do not name is left alone.
    /// </param>
    /// <returns>What still differs, a line each, with the shell's command that repairs it; empty when all is as it was.</returns>
    public static IReadOnlyList<string> Restore(MongoConnection config, BsonDocument before) =>
        [.. Names.Where(id => before.Find(id) is not null).Select(id => PutBack(config, id, before.FindDocument(id))).OfType<string>()];

    /// <summary>
    /// Makes a setting what the last of its holders wants, or what it was before when nobody wants it changed. A change is noted before it
    /// begins and until it has ended, and ends only if nobody has changed the record meanwhile; else it is done again by the record as it
    /// is then. So whoever of several is the last to end knows what all of them want, and while one is at work none forgets what the
    /// setting was before.
    /// </summary>
    /// <returns>As <see cref="GiveUp"/>.</returns>
    private static IEnumerable<string> Settle(MongoConnection config, Setting setting, SettingChange change, bool isNew, bool isHeld)
    {
        var made = new Dictionary<string, BsonDocument?>();
        var differing = new Dictionary<string, string?>();
        (string Id, string Line)[] left = [];
        SettingsRecord.Repeat(config, () =>
        {
            SettingsRecord record = SettingsRecord.Update(config, Begin);
            foreach ((string id, string line) in left)
                differing[id] = line;
            string[] changing = [.. setting.Ids.Where(id => record.Settings.GetValueOrDefault(id)?.Changing.Any(IsThis) is true)];
            string? wished = Wished(record);
            if (wished is not null && changing.Length > 0)
                setting.Set(config, wished);
            foreach (string id in changing)
            {
                differing[id] = wished is null ? PutBack(config, id, record.Settings[id].Before) : null;
                made[id] = ConfigCatalogue.FindSetting(config, id);
            }

            return changing.Length == 0 || record.TryReplace(config, changing.Aggregate(record, End)) is not null;
        });
        return differing.Values.OfType<string>();

        SettingsRecord Begin(SettingsRecord record)
        {
            left = [];
            var now = setting.Ids.ToDictionary(static id => id, id => ConfigCatalogue.FindSetting(config, id));
            string[] ours = [.. setting.Ids.Where(id => IsOurs(id, record.Settings.GetValueOrDefault(id), now[id]))];
            string? wished = Wished(record);
            bool isWished = wished is not null;
            bool hasBegun = ours.Any(id => record.Settings[id].Changing.Any(one => one.Owner == change.Owner));
            if (isNew || (isWished && ours.Length > 0 && (isHeld || hasBegun)))
                return setting.Ids.Aggregate(record, (next, id) => next.With(id, Begun(
                    id, ours.Contains(id) ? record.Settings[id] : new ChangedSetting(now[id], now[id], []), wished)));
            if (isWished)
                return record;
            foreach (string id in setting.Ids.Where(record.Settings.ContainsKey))
            {
                bool isOurs = ours.Contains(id);
                if (!isOurs && !ChangedSetting.AreSame(now[id], record.Settings[id].Before))
                    left = [.. left, (id, $"config.settings '{id}' is left as it is, {Text(now[id])}: it was changed after MongoPerf had "
                        + $"set it; before that it was {Text(record.Settings[id].Before)}")];
                record = record.With(id, isOurs ? Begun(id, record.Settings[id], null) : null);
            }

            return record;
        }

        // Nobody else has changed it since, as far as can be known.
        bool IsOurs(string id, ChangedSetting? noted, BsonDocument? now) => noted is not null
            && (noted.Changing.Any(one => !IsThis(one) && one.MayHaveLeft(now, noted.Left)) || ChangedSetting.AreSame(now, noted.Left)
                || (made.TryGetValue(id, out BsonDocument? own) && ChangedSetting.AreSame(now, own)));

        // What it was noted to make of it in an earlier attempt it may have made.
        ChangedSetting Begun(string id, ChangedSetting noted, string? wished) => noted with
        {
            Changing =
            [
                .. noted.Changing.Where(one => !IsThis(one)),
                change with
                {
                    Targets = [.. noted.Changing.FirstOrDefault(IsThis)?.Targets ?? [],
                        wished is null ? noted.Before : setting.As(id, wished)],
                },
            ],
        };

        bool IsThis(SettingChange one) => one.Id == change.Id;

        SettingsRecord End(SettingsRecord record, string id)
        {
            ChangedSetting noted = record.Settings[id];
            SettingChange[] others = [.. noted.Changing.Where(one =>
                !IsThis(one) && !one.IsKilled && (isNew || one.Owner != change.Owner))];
            return record.With(id, others.Length == 0 && Wished(record) is null ? null : noted with { Left = made[id], Changing = others });
        }

        string? Wished(SettingsRecord record) => record.Holders.Select(setting.Wish).LastOrDefault(static one => one is not null);
    }

    private static BsonDocument ValueOf(string megabytes) =>
        BsonDocument.Of(("value", int.Parse(megabytes, CultureInfo.InvariantCulture)));

    /// <summary>What balancerStart and balancerStop make of a setting, and the hours that are set before.</summary>
    private static BsonDocument BalancerAs(string id, string mode) => id != Balancer
        ? BsonDocument.Of(("_id", id), ("enabled", mode != "off"))
        : BsonDocument.Of(
        [
            ("_id", id), ("mode", mode == "off" ? "off" : "full"), ("stopped", mode == "off"),
            .. mode is "on" or "off" ? [] : ((string, object?)[])[(ActiveWindow, HoursOf(mode))],
        ]);

    private static BsonDocument HoursOf(string mode) =>
        mode.Split('-') is var times ? BsonDocument.Of(("start", times[0]), ("stop", times[^1])) : BsonDocument.Empty;

    private static string? PutBack(MongoConnection config, string id, BsonDocument? before)
    {
        if (!ChangedSetting.AreSame(ConfigCatalogue.FindSetting(config, id), before))
            ConfigCatalogue.ChangeSetting(config, id, before);
        BsonDocument? now = ConfigCatalogue.FindSetting(config, id);
        if (ChangedSetting.AreSame(now, before))
            return null;
        string filter = $"{{_id: \"{id}\"}}";
        string repair = before is null ? $"deleteOne({filter})" : $"replaceOne({filter}, {Text(before)}, {{upsert: true}})";
        return $"config.settings '{id}' is {Text(now)} and was {Text(before)}; to repair it: db.getSiblingDB(\"config\").settings.{repair}";
    }

    private static string Text(BsonDocument? setting) => setting is null ? "not set" : ExtendedJson.Write(setting.Bytes);

    /// <param name="config">Open.</param>
    /// <param name="mode">on, off, or the hours of the day in which it may work, such as 22:00-06:00.</param>
    private void SetBalancer(MongoConnection config, string mode)
    {
        if (mode == "on")
        {
            ConfigCatalogue.ChangeSetting(config, Balancer, BsonDocument.Of(("$unset", BsonDocument.Of((ActiveWindow, "")))));
        }
        else if (mode != "off")
        {
            ConfigCatalogue.ChangeSetting(
                config, Balancer, BsonDocument.Of(("$set", BsonDocument.Of((ActiveWindow, HoursOf(mode))))));
        }

        ShardingCommand command = commands.SwitchBalancer(mode != "off");
        config.RunCommand(command.Database, command.Command);
    }

    /// <param name="Ids">Of the documents that it changes.</param>
    /// <param name="Wish">What a holder wants it to be; null for none of its business.</param>
    /// <param name="Set">Makes it so.</param>
    /// <param name="As">The document of an id when it is so.</param>
    private sealed record Setting(
        string[] Ids, Func<SettingsHolder, string?> Wish, Action<MongoConnection, string> Set, Func<string, string, BsonDocument> As);
}

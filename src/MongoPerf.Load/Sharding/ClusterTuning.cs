using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>
/// The cluster's settings that a run changes: chunk size and balancer, and what balancerStop and balancerStart change beside the balancer,
/// which is autosplit from MongoDB 4.2 to 6.0 and automerge from 7.0 on. They hold for the whole cluster, so what they were is noted, put
/// back and compared.
/// </summary>
internal sealed class ClusterTuning(ClusterConnections connections, IShardingCommands commands)
{
    private const string ChunkSize = "chunksize";
    private const string Balancer = "balancer";
    private static readonly string[] Names = [ChunkSize, Balancer, "automerge", "autosplit"];

    /// <summary>What is set now, to be kept for <see cref="Restore"/>.</summary>
    public static BsonDocument Read(MongoConnection config) =>
        BsonDocument.Of([.. Names.Select(id => (id, (object?)ConfigCatalogue.FindSetting(config, id)))]);

    public void Apply(ShardingSettings settings)
    {
        using MongoConnection config = connections.OpenConfig();
        if (settings.ChunkMegabytes is { } megabytes)
            ConfigCatalogue.ChangeSetting(config, ChunkSize, BsonDocument.Of(("$set", BsonDocument.Of(("value", megabytes)))));
        if (settings.Balancer is { } balancer)
            SetBalancer(config, balancer);
    }

    /// <param name="config">Open.</param>
    /// <param name="mode">on, off, or the hours of the day in which it may work, such as 22:00-06:00.</param>
    public void SetBalancer(MongoConnection config, string mode)
    {
        switch (mode)
        {
            case "off":
                Switch(config, on: false);
                break;
            case "on":
                ConfigCatalogue.ChangeSetting(config, Balancer, BsonDocument.Of(("$unset", BsonDocument.Of(("activeWindow", "")))));
                Switch(config, on: true);
                break;
            case var window:
                string[] times = window.Split('-');
                BsonDocument active = BsonDocument.Of(("activeWindow", BsonDocument.Of(("start", times[0]), ("stop", times[1]))));
                ConfigCatalogue.ChangeSetting(config, Balancer, BsonDocument.Of(("$set", active)));
                Switch(config, on: true);
                break;
        }
    }

    /// <summary>Puts back what differs, and looks again.</summary>
    /// <param name="config">Open.</param>
    /// <param name="before">
    /// The settings from <see cref="Read"/>, maybe of an earlier version; a setting that they do not name is left alone.
    /// </param>
    /// <returns>What still differs, a line each, with the shell's command that repairs it; empty when all is as it was.</returns>
    public static IReadOnlyList<string> Restore(MongoConnection config, BsonDocument before)
    {
        foreach (string id in Differing(config, before))
            ConfigCatalogue.ChangeSetting(config, id, before.FindDocument(id));
        return [.. Differing(config, before).Select(id => Describe(id, ConfigCatalogue.FindSetting(config, id), before.FindDocument(id)))];
    }

    private static string[] Differing(MongoConnection config, BsonDocument before) =>
        [.. Names.Where(id => before.Find(id) is not null && !AreSame(ConfigCatalogue.FindSetting(config, id), before.FindDocument(id)))];

    private static bool AreSame(BsonDocument? one, BsonDocument? other) =>
        one is null || other is null ? one is null && other is null : one.Bytes.SequenceEqual(other.Bytes);

    private static string Describe(string id, BsonDocument? now, BsonDocument? before)
    {
        string filter = $"{{_id: \"{id}\"}}";
        string repair = before is null ? $"deleteOne({filter})" : $"replaceOne({filter}, {Text(before)}, {{upsert: true}})";
        return $"config.settings '{id}' is {Text(now)} and was {Text(before)}; to repair it: db.getSiblingDB(\"config\").settings.{repair}";

        static string Text(BsonDocument? setting) => setting is null ? "not set" : ExtendedJson.Write(setting.Bytes);
    }

    private void Switch(MongoConnection config, bool on)
    {
        ShardingCommand command = commands.SwitchBalancer(on);
        config.RunCommand(command.Database, command.Command);
    }
}

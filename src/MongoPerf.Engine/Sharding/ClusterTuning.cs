using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Sharding;

/// <summary>The cluster's settings that a run changes: chunk size and balancer. They hold for the whole cluster, so what they were is noted and put back.</summary>
internal sealed class ClusterTuning(ClusterConnections connections, IShardingCommands commands)
{
    private const string ChunkSize = "chunksize";
    private const string Balancer = "balancer";

    /// <summary>What is set now, to be kept for <see cref="Restore"/>.</summary>
    public static BsonDocument Read(MongoConnection config) => BsonDocument.Of(
        (ChunkSize, ConfigCatalogue.FindSetting(config, ChunkSize)), (Balancer, ConfigCatalogue.FindSetting(config, Balancer)));

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

    /// <param name="before">From <see cref="Read"/>.</param>
    public void Restore(BsonDocument before)
    {
        using MongoConnection config = connections.OpenConfig();
        foreach (string id in (string[])[ChunkSize, Balancer])
            ConfigCatalogue.ChangeSetting(config, id, before.FindDocument(id));
    }

    /// <param name="config">Open.</param>
    /// <param name="before">What the balancer's setting was; null for none.</param>
    public static void RestoreBalancer(MongoConnection config, BsonDocument? before) => ConfigCatalogue.ChangeSetting(config, Balancer, before);

    public static BsonDocument? ReadBalancer(MongoConnection config) => ConfigCatalogue.FindSetting(config, Balancer);

    private void Switch(MongoConnection config, bool on)
    {
        ShardingCommand command = commands.SwitchBalancer(on);
        config.RunCommand(command.Database, command.Command);
    }
}

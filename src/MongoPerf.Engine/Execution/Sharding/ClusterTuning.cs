using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Execution.Sharding;

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
        switch (settings.Balancer)
        {
            case null:
                break;
            case "off":
                Switch(on: false);
                break;
            case "on":
                ConfigCatalogue.ChangeSetting(config, Balancer, BsonDocument.Of(("$unset", BsonDocument.Of(("activeWindow", "")))));
                Switch(on: true);
                break;
            case var window:
                string[] times = window.Split('-');
                BsonDocument active = BsonDocument.Of(("activeWindow", BsonDocument.Of(("start", times[0]), ("stop", times[1]))));
                ConfigCatalogue.ChangeSetting(config, Balancer, BsonDocument.Of(("$set", active)));
                Switch(on: true);
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

    private void Switch(bool on)
    {
        ShardingCommand command = commands.SwitchBalancer(on);
        using MongoConnection connection = connections.OpenConfig();
        connection.RunCommand(command.Database, command.Command);
    }
}

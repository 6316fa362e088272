using System.CommandLine;
using MongoPerf.Commands;
using MongoPerf.Load.Plans;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Commands;

/// <summary>What the options of a sharded collection come to.</summary>
public sealed class ShardingSettingsTests
{
    [Theory]
    [InlineData("", null)]
    [InlineData("--topology sharded", "sharded by hashed _id")]
    [InlineData("--cluster /some/where", "sharded by hashed _id")]
    [InlineData("--topology sharded --shard-key Number --presplit 12 --chunk-size 8MB --balancer 22:00-06:00",
        "sharded by Number, presplit into 12 chunks, chunk size 8 MiB, balancer 22:00-06:00")]
    [InlineData("--topology sharded --preset 2011", "sharded by _id, balancer on")]
    [InlineData("--topology sharded --preset 2011 --balancer off --shard-key Date", "sharded by Date, balancer off")]
    [InlineData("--uri mongodb://host --shard-key _id", "sharded by _id")]
    [InlineData("--uri mongodb://host", null)]
    public void Options_are_stored_and_told(string options, string? told)
    {
        RunSettings settings = Read(options).Settings;
        Assert.Equal(told, settings.Data.Sharding is { } sharding ? ReportLines.Sharding(sharding) : null);
        Assert.Equal(told is null ? Topology.Standalone : Topology.Sharded, settings.Deployment.Topology);
    }

    /// <summary>What the cluster has in the end, whether option or file asked for it; the option alone where nobody could count.</summary>
    [Fact]
    public void Chunks_are_those_that_were_counted()
    {
        var settings = new ShardingSettings { ShardKey = "hashed", Presplit = 12 };
        CollectionSharding users = Lying("users", "{_id: hashed}", 4, 4), events = Lying("events", "{user: 1}", 1, 0);
        Assert.Equal("sharded by {_id: hashed} in 8 chunks", ReportLines.Sharding(settings, [users]));
        Assert.Equal("sharded by users {_id: hashed} in 8 chunks, events {user: 1} in one chunk",
            ReportLines.Sharding(settings with { Presplit = null }, [users, events]));
        Assert.Equal("sharded by {user: 1}, presplit into 12 chunks",
            ReportLines.Sharding(settings, [Lying("events", "{user: 1}", 3, null)]));

        static CollectionSharding Lying(string name, string key, params long?[] chunks) =>
            new(name, IsPlaced: false, [.. chunks.Select((count, i) => new ShardPart($"s{i}", Chunks: count))], key);
    }

    [Theory]
    [InlineData("", true)]
    [InlineData("--ordered false", false)]
    [InlineData("--topology sharded", false)]
    [InlineData("--cluster /some/where", false)]
    [InlineData("--topology sharded --ordered true", true)]
    [InlineData("--topology sharded --preset 2011", true)]
    [InlineData("--topology sharded --preset 2011 --ordered false", false)]
    public void Batches_are_ordered_on_one_server_and_unordered_on_shards_unless_told_otherwise(string options, bool ordered) =>
        Assert.Equal(ordered, Batch(Read(options).Plan.Plan).Ordered);

    [Fact]
    public void A_run_on_data_that_must_be_there_names_no_key() =>
        Assert.Equal("sharded by the key it had, balancer on", ReportLines.Sharding(new ShardingSettings { Balancer = "on" }));

    private static InsertDocuments Batch(Plan plan) =>
        (InsertDocuments)plan.Rounds[0].Phases[0].Growth!.Writes
            .Single(write => write.Name == "batch").Groups.Values.Single().Operations[0].Operation;

    private static RunRequest Read(string options)
    {
        var shared = new SharedOptions();
        var command = new Command("series");
        shared.AddTo(command);
        ParseResult parsed = command.Parse(options.Split(' ', StringSplitOptions.RemoveEmptyEntries));
        Assert.Empty(parsed.Errors);
        var overrides = new PlanOverrides
        {
            Parameters = new Dictionary<string, string>(SeriesScenario.Parameters(parsed, shared)) { ["collection"] = "series" },
        };
        return Assert.Single(new PlanRequests(parsed, shared, SeriesScenario.Find(), overrides).Read());
    }
}

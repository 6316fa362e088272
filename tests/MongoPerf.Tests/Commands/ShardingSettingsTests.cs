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

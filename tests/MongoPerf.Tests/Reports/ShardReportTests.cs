using System.Text.Json;
using System.Text.Json.Nodes;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>A frozen run on three shards: what its report adds to that of one server.</summary>
public sealed class ShardReportTests : IClassFixture<ShardReportTests.Fixture>
{
    private readonly StoredRun _run;

    public ShardReportTests(Fixture fixture) => _run = fixture.Run;

    public sealed class Fixture : IDisposable
    {
        private readonly TemporaryFolder _runs = new();

        public Fixture() =>
            Run = StoredRun.Open(FrozenRun.Build(_runs.Path, new FrozenShape { Id = "sharded", Shards = ["s0", "s1", "s2"] }));

        public StoredRun Run { get; }

        public void Dispose()
        {
            Run.Dispose();
            _runs.Dispose();
        }
    }

    [Fact]
    public void Tables_of_shards_are_approved()
    {
        string[] lines = Text(o => ConsoleReport.Write(RunReport.Of(_run), o, new ConsoleReportOptions { IsFull = true })).Split('\n');
        int first = Array.FindIndex(lines, static line => line.StartsWith("Shards at", StringComparison.Ordinal));
        int end = Array.FindIndex(lines, static line => line.StartsWith("Errors", StringComparison.Ordinal));
        Approved.Check("shards.txt", string.Join('\n', lines[first..end]));
        Assert.All(lines, line => Assert.True(line.Length <= ConsoleReport.FullWidth, line));
        Assert.Contains(lines, static line => line.Contains("shards: s0 has ", StringComparison.Ordinal) || line.Contains(
            "documents are spread evenly over all 3 shards (at most 1.82 % from an even share)", StringComparison.Ordinal));
    }

    [Fact]
    public void Json_of_shards_is_approved()
    {
        JsonNode json = JsonNode.Parse(Text(o => JsonReport.Write(_run, o)))!;
        var part = new JsonObject { ["collStats"] = json["collStats"]!.DeepClone(), ["sharding"] = json["sharding"]!.DeepClone() };
        Approved.Check("shards.json", part.ToJsonString(new JsonSerializerOptions { WriteIndented = true, NewLine = "\n" }) + "\n");
    }

    [Fact]
    public void A_comparison_has_the_shards_of_each_sharded_run_by_themselves()
    {
        using var runs = new TemporaryFolder();
        using StoredRun standalone = StoredRun.Open(FrozenRun.Build(runs.Path, new FrozenShape { Id = "standalone" }));
        ChartSet charts = ComparisonCharts.Build(RunComparer.Compare([new ComparedSide([standalone]), new ComparedSide([_run])], [],
            RunComparer.DefaultNoiseThreshold));
        Chart chart = Assert.Single(charts.Charts, c => c.Name.StartsWith("shards-", StringComparison.Ordinal));
        Assert.Equal("shards-sharded", chart.Name);
        Assert.Equal(
            [.. new[] { "inserts", "documents", "chunks", "orphans", "operations" }.Select(table => $"shards-sharded-{table}.csv")],
            chart.Tables.Select(t => t.FileName));
    }

    [Fact]
    public void The_parts_of_the_shards_add_up_to_the_collection()
    {
        JsonNode stats = JsonNode.Parse(Text(o => JsonReport.Write(_run, o)))!["collStats"]!;
        Assert.True((bool)stats["sharded"]!);
        Assert.Equal(4, (int)stats["nindexes"]!);
        foreach (string field in new[] { "count", "nchunks", "numOrphanDocs" })
            Assert.Equal((long)stats[field]!, stats["shards"]!.AsObject().Sum(shard => (long)shard.Value![field]!));
    }

    [Fact]
    public void Migrations_are_the_same_in_steps_and_routes()
    {
        var moves = ChunkMoves.Of(_run);
        Assert.Equal(1, moves.All.Failed);
        Assert.True(moves.All.Done > 3);
        Assert.Equal(moves.All.Documents, moves.Routes.Sum(static one => one.Sum.Documents));
        Assert.Equal(moves.All.Documents, moves.Steps.Sum(static one => one.Documents));
        Assert.Equal(moves.All.Done + moves.All.Failed, moves.Splits);
    }

    [Fact]
    public void Shares_of_operations_add_up_to_all()
    {
        var operations = ShardOperations.Of(_run);
        Assert.Equal(1, new[] { "s0", "s1", "s2" }.Sum(shard => operations.Share(shard)!.Value), 9);
        Assert.True(operations.Share("s2") > operations.Share("s0"));
        Assert.Null(operations.Share("s9"));
    }

    /// <param name="name">The chart.</param>
    /// <param name="purpose">What its approved file is to notice.</param>
    [Theory]
    [InlineData("shards", "A line for each shard in panels of inserts, documents, chunks, orphans and operations; migrations as bands")]
    [InlineData("migrations", "Rates over the seconds spent inserting, with the migrations that ran meanwhile as bands")]
    public void Chart_of_the_shards_is_as_approved(string name, string purpose) =>
        Approved.Check($"chart-{name}.txt", ChartDump.Of(Assert.Single(ChartCatalogue.Build(_run), chart => chart.Name == name), purpose));

    [Fact]
    public void A_run_on_one_server_has_neither_charts_nor_tables_nor_files_of_shards()
    {
        using var folder = new TemporaryFolder();
        using StoredRun standalone = StoredRun.Open(FrozenRun.Build(folder.Path, new FrozenShape { Steps = 2 }));
        Assert.Empty(ShardTables.Of(standalone));
        Assert.DoesNotContain(ChartCatalogue.Build(standalone), static chart => chart.Name is "shards" or "migrations");
        Assert.DoesNotContain(ChartCatalogue.Build(standalone)[^1].Bands, static band => band.Kind == "migration");
        Assert.DoesNotContain("shards.csv", ReportWriter.WriteTextFiles(standalone, folder.At("report")).Select(Path.GetFileName));
        JsonNode json = JsonNode.Parse(Text(o => JsonReport.Write(standalone, o)))!;
        Assert.Null(json["sharding"]);
        Assert.False((bool)json["collStats"]!["sharded"]!);
    }

    [Fact]
    public void Files_of_shards_have_a_row_for_each_sample_and_event()
    {
        using var folder = new TemporaryFolder();
        string[] files = [.. ReportWriter.WriteTextFiles(_run, folder.At("report")).Select(Path.GetFileName).OfType<string>()];
        Assert.Contains("shards.csv", files);
        Assert.Equal(_run.ReadShardSamples().Count() + 1, File.ReadLines(folder.At("report/shards.csv")).Count());
        Assert.Equal(_run.ReadChunkEvents().Count() + 1, File.ReadLines(folder.At("report/chunk-events.csv")).Count());
    }

    [Theory]
    [InlineData(new long[] { 100, 100, 100 }, 0, 1.0)]
    [InlineData(new long[] { 110, 100, 90 }, 0.1, 110.0 / 90)]
    [InlineData(new long[] { 300, 0, 0 }, 2, null)]
    public void Imbalance_is_the_farthest_from_even(long[] documents, double worst, double? maxToMin)
    {
        Balance balance = Balance.Of([.. documents.Select(static (count, i) => new ShardHolding($"s{i}", count, 0, 0, 0, 0, 0))])!;
        Assert.Equal(worst, balance.Worst, 9);
        Assert.Equal(maxToMin, balance.MaxToMin);
    }

    [Fact]
    public void Nothing_is_uneven_on_one_shard_or_without_documents()
    {
        Assert.Null(Balance.Of([new ShardHolding("s0", 5, 0, 0, 0, 0, 0)]));
        Assert.Null(Balance.Of([new ShardHolding("s0", 0, 0, 0, 0, 0, 0), new ShardHolding("s1", 0, 0, 0, 0, 0, 0)]));
    }

    private static string Text(Action<TextWriter> write)
    {
        using var output = new StringWriter();
        write(output);
        return output.ToString();
    }
}

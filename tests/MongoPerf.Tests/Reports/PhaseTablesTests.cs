using MongoPerf.Reports;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Figures;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>Phases as tables, verdicts and YCSB's form have them.</summary>
public sealed class PhaseTablesTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Each_phase_has_a_table_with_a_row_for_each_value_and_operation_and_their_total()
    {
        using StoredRun run = new SweptRun { Millions = [1, 10], Phases = ["mix"] }.Write(_folder.Path);
        ReportTable[] tables = [.. PhaseTables.Of(run)];
        Assert.Equal(["Phase mix", "Fairness: operations per thread", "Sizes after each phase", "Index sizes after each phase"],
            tables.Select(t => t.Title));
        Assert.Equal(["<records", "<operation", "threads", "ops/s", "docs/s", "MB/s", "failed", "p50", "p95", "p99", "p99.9", "max"],
            tables[0].Columns);
        Assert.Equal(["1M read 1,050", "1M write 350", "1M total 1,400", "10M read 7,800", "10M write 2,600", "10M total 10,400"],
            tables[0].Rows.Select(row => $"{row[0]} {row[1]} {row[3]}"));
        Assert.Equal(["mix (records=1M)", "1,000,000", "1.02 GB", "1.1 GB", "-", "60 MB", "1.3 GB"], tables[2].Rows[0]);
    }

    /// <summary>Theirs are over size.</summary>
    [Fact]
    public void Phases_of_a_growth_have_no_tables_of_their_own()
    {
        using StoredRun run = new SweptRun { IsGrowth = true }.Write(_folder.Path);
        Assert.Empty(PhaseTables.Of(run));
        Assert.Equal("b at 1M", run.Phases[0].Label());
    }

    [Fact]
    public void Sizes_of_several_collections_have_their_names()
    {
        using StoredRun run = Write(new PhaseRecord { Number = 1, Phase = "load", Sizes =
        [
            RunParts.Sizes(10) with { Collection = "users" }, RunParts.Sizes(20) with { Collection = "orders" },
        ] });
        ReportTable[] tables = [.. PhaseTables.Of(run)];
        ReportTable sizes = tables[0];
        Assert.Equal(["<phase", "<collection", "documents", "data", "storage", "free", "indexes", "disk"], sizes.Columns);
        Assert.Equal(["users 10", "orders 20"], sizes.Rows.Select(row => $"{row[1]} {row[2]}"));
        Assert.Equal(
            ["users _id_", "users Number_1", "orders _id_", "orders Number_1"], tables[1].Rows.Select(row => $"{row[1]} {row[2]}"));
    }

    /// <summary>There is no chart of a single size. A column for each index made tables of q2's nine that nobody could read.</summary>
    [Fact]
    public void Sizes_of_one_collection_have_a_row_for_each_index_and_what_is_on_the_disk()
    {
        using StoredRun run = Write(new PhaseRecord { Number = 1, Phase = "load", Sizes = [RunParts.Sizes(1000)] });
        ReportTable[] tables = [.. PhaseTables.Of(run)];
        Assert.Equal(["<phase", "documents", "data", "storage", "free", "indexes", "disk"], tables[0].Columns);
        Assert.Equal(["1.3 MB"], tables[0].Rows.Single().TakeLast(1));
        Assert.Equal(["<phase", "<index", "size"], tables[1].Columns);
        Assert.Equal(["load _id_ 15 kB", "load Number_1 15 kB"], tables[1].Rows.Select(row => string.Join(' ', row)));
    }

    /// <summary>Found on 8.0 for a user without fsync: "indexes 16.4 kB" at 3,000 documents, and nothing beside it.</summary>
    [Theory]
    [InlineData(true, " (storage and indexes as of the last checkpoint, up to a minute old)")]
    [InlineData(false, "")]
    public void Sizes_without_a_checkpoint_are_marked_where_they_are_shown(bool areOfCheckpoint, string mark)
    {
        using StoredRun run = Write(new PhaseRecord { Number = 1, Phase = "load", Sizes =
        [
            RunParts.Sizes(3000) with { AreOfCheckpoint = areOfCheckpoint },
        ] });
        Assert.Equal(["Sizes after each phase" + mark, "Index sizes after each phase" + mark],
            PhaseTables.SizesOf(run).Select(table => table.Title));
        using var csv = new StringWriter();
        CsvReport.WriteSizes(run, csv);
        string[] lines = csv.ToString().Split('\n');
        int column = Array.IndexOf(lines[0].Split(','), "files_of_checkpoint");
        Assert.Equal(areOfCheckpoint ? "true" : "false", lines[1].Split(',')[column]);
    }

    /// <summary>Found on 8.0, which does not tell how many indexes are being built.</summary>
    [Fact]
    public void What_a_server_does_not_tell_is_no_column()
    {
        using StoredRun run = Write(
            new PhaseRecord { Number = 1, Phase = "load" }, RunParts.Deployment() with { UntoldMetrics = ["index_builds"] });
        using var csv = new StringWriter();
        CsvReport.WriteServerSamples(run, csv);
        string header = csv.ToString().Split('\n')[0];
        Assert.Contains(",uptime", header, StringComparison.Ordinal);
        Assert.DoesNotContain("index_builds", header, StringComparison.Ordinal);
    }

    [Fact]
    public void A_single_index_has_no_table()
    {
        using StoredRun run = Write(new PhaseRecord { Number = 1, Phase = "load", Sizes =
        [
            RunParts.Sizes(1000) with { Indexes = new Dictionary<string, long> { ["_id_"] = 15_000 } },
        ] });
        Assert.Equal("Sizes after each phase", Assert.Single(PhaseTables.Of(run)).Title);
    }

    [Fact]
    public void Failed_assertions_say_what_was_measured()
    {
        using StoredRun run = Write(new PhaseRecord
        {
            Number = 1, Phase = "read", Parameters = [new("limit", "10")],
            Assertions =
            [
                new AssertionResult("read.p99 < 10ms", false, 12_500) { IsLatency = true },
                new AssertionResult("read.rate > 5", false),
                new AssertionResult("read.failed == 0", true, 0),
            ],
        });
        Assert.Equal(
            [
                "assertion failed in read (limit=10): read.p99 < 10ms (measured 12.5 ms)",
                "assertion failed in read (limit=10): read.rate > 5 (not measured)",
            ],
            PhaseVerdicts.Of(run).Select(v => v.Text));
    }

    [Fact]
    public void Errors_name_the_phase_and_operation_also_in_a_growth()
    {
        using StoredRun run = Write(new PhaseRecord
        {
            Number = 1, Phase = "q4", Growth = new GrowthPoint("series", 1, 2_000_000),
            Operations =
                [RunParts.Result("q4") with { Errors = [new ErrorCount(50, "MaxTimeMSExpired", 3, "operation exceeded time limit", [])] }],
        });
        Assert.Equal(["q4 at 2M", "q4", "3", "-", "50", "MaxTimeMSExpired", "operation exceeded time limit"],
            Assert.Single(PhaseTables.Of(run)).Rows.Single());
    }

    [Fact]
    public void Ycsbs_form_has_a_block_for_each_phase()
    {
        using StoredRun run = new SweptRun { Millions = [1], Phases = ["a"] }.Write(_folder.Path);
        using var output = new StringWriter();
        YcsbReport.Write(run, output);
        string[] lines = output.ToString().Split('\n');
        Assert.Equal(["# a (records=1M), 4 threads", "[OVERALL], RunTime(ms), 3750", "[OVERALL], Throughput(ops/sec), 1400.0",
            "[READ], Operations, 100"], lines.Take(4));
        Assert.Contains("[READ], 99thPercentileLatency(us), 400", lines);
    }

    private StoredRun Write(PhaseRecord phase, DeploymentInfo? deployment = null)
    {
        string folder = _folder.At("run");
        using (RunStore store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings()))
        {
            if (deployment is not null)
                store.SetDeployment(deployment);
            store.BeginPhase(phase, continues: false);
            store.EndPhase(phase with { IsComplete = true });
            store.SetState(RunState.Finished, null, RunParts.Start);
        }

        return StoredRun.Open(folder);
    }
}

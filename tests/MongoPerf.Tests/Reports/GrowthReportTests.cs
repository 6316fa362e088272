using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>Growths whose phases have names, operations and parameters of their own.</summary>
public sealed class GrowthReportTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void An_operation_is_followed_over_the_sizes_under_its_phases_name_and_its_own_where_the_phase_has_several()
    {
        using StoredRun run = Stored([.. Sizes("users", 1, steps: 3)]);
        GrowthFigures growth = Assert.Single(GrowthFigures.Of(run));
        Assert.Equal(["fill", "mix read", "mix update", "mix total", "page"], growth.Labels);
        Assert.Equal(
            [
                ("fill", "", 1), ("mix read", "", 8), ("mix update", "", 8), ("mix total", "", 8),
                ("page", "limit=10", 8), ("page", "limit=100", 8),
            ],
            growth.Lines.Select(line => (line.Label, line.Parameters, line.Threads)));
        Assert.Equal(["fill"], growth.Inserts.Select(line => line.Label));
        Assert.All(growth.Lines, line => Assert.Equal([0, 1, 2], line.Results.Keys));
    }

    [Fact]
    public void A_table_has_a_row_for_each_size_and_value_of_a_parameter()
    {
        using StoredRun run = Stored([.. Sizes("users", 1, steps: 2)]);
        ReportTable[] tables = [.. GrowthTables.Of(run)];
        Assert.Equal(
            [
                "fill: inserts, one per command", "mix read: 8 threads", "mix update: 8 threads", "mix total: 8 threads", "page: 8 threads",
                "size: data, indexes and disk",
            ],
            tables.Select(t => t.Title));
        Assert.Equal([("1k", "limit=10"), ("1k", "limit=100"), ("2k", "limit=10"), ("2k", "limit=100")],
            tables[4].Rows.Select(row => (row[0], row[1])));
        ReportTable rates = GrowthTables.Rates(run, GrowthFigures.Of(run)[0]);
        Assert.Equal(["documents", "fill", "mix read", "mix update", "mix total", "page limit=10", "page limit=100"], rates.Columns);
        Assert.Equal(["1k (incomplete)", "2k (incomplete)"], rates.Rows.Select(row => row[0]));
    }

    [Fact]
    public void A_tables_title_has_the_plans_description_and_what_its_figures_are()
    {
        OperationResult unack = RunParts.Result("unack") with { Unacknowledged = new UnacknowledgedResult(1, 1, 0, 0.1) };
        using StoredRun run = Stored(
            RunParts.Grown(1, "unack", 1, 1000, unack),
            RunParts.Grown(2, "batch", 1, 1000, RunParts.Result("batch")) with { Description = "in batches" },
            RunParts.Grown(3, "q4", 1, 1000, RunParts.Result("find", 8)) with { Description = "find by Number" },
            RunParts.Grown(4, "q5", 1, 1000, RunParts.Result("find", 1)), RunParts.Grown(5, "q5", 1, 1000, RunParts.Result("find", 8)));
        Assert.Equal(
            [
                "unack: unacknowledged inserts; rates are of documents that arrived, latency is the time to send",
                "batch: in batches; 1,000 per command, latency is that of a whole command", "q4: find by Number; 8 threads", "q5",
            ],
            GrowthTables.Of(run).Select(table => table.Title));
    }

    [Fact]
    public void Sizes_that_each_collection_has_a_phase_for_are_added_up_too()
    {
        using StoredRun run = Stored(
            RunParts.Grown(1, "batch", 1, 1000, RunParts.Result("batch")),
            RunParts.Grown(2, "size of users", 1, 1000) with { Sizes = [RunParts.Sizes(1000) with { Collection = "users" }] },
            RunParts.Grown(3, "size of orders", 1, 1000) with { Sizes = [RunParts.Sizes(5000) with { Collection = "orders" }] });
        SizeResult sum = Assert.Single(GrowthFigures.Of(run)[0].Sizes).Sizes;
        Assert.Equal((6000, 6000 * 1024, 4), (sum.Documents, sum.DataBytes, sum.Indexes.Count));
        Assert.Equal(["size of users: data, indexes and disk", "size of orders: data, indexes and disk"],
            GrowthTables.Of(run).TakeLast(2).Select(table => table.Title));
    }

    [Fact]
    public void Indexes_whose_names_come_to_one_are_added_up()
    {
        SizeResult[] sizes =
        [
            RunParts.Sizes(1000) with { Collection = "a", Indexes = new Dictionary<string, long> { ["b.c_1"] = 5 } },
            RunParts.Sizes(1000) with { Collection = "a.b", Indexes = new Dictionary<string, long> { ["c_1"] = 7 } },
        ];
        using StoredRun run = Stored(RunParts.Grown(1, "batch", 1, 1000, RunParts.Result("batch")),
            RunParts.Grown(2, "size", 1, 1000) with { Sizes = sizes });
        Assert.Equal([new("a.b.c_1", 12)], Assert.Single(GrowthFigures.Of(run)[0].Sizes).Sizes.Indexes);
    }

    [Fact]
    public void Sizes_of_collections_that_grow_together_are_added_up_in_charts_and_have_a_table_each()
    {
        SizeResult[] sizes = [RunParts.Sizes(1000) with { Collection = "users" }, RunParts.Sizes(500) with { Collection = "orders" }];
        using StoredRun run = Stored(RunParts.Grown(1, "batch", 1, 1000, RunParts.Result("batch")),
            RunParts.Grown(2, "size", 1, 1000) with { Sizes = sizes });
        (long documents, SizeResult sum) = Assert.Single(GrowthFigures.Of(run)[0].Sizes);
        Assert.Equal((1000, 1500 * 1024L, 1_300_000L), (documents, sum.DataBytes, sum.DiskBytes));
        Assert.Equal(["size of users: data, indexes and disk", "size of orders: data, indexes and disk"],
            GrowthTables.Of(run).Skip(1).Select(t => t.Title));
    }

    [Fact]
    public void Each_growth_gets_its_charts_under_names_and_titles_of_their_own()
    {
        using StoredRun run = Stored([.. Sizes("users", 1, steps: 3), .. Sizes("orders", 100, steps: 2)]);
        RenderedCharts charts = ChartRenderer.Render(run, _runs.At("charts"));
        Assert.Empty(charts.Warnings);
        Assert.Equal(
            [
                "insert-rate", "query-rate", "query-throughput", "latency", "size", "insert-rate-2", "query-rate-2",
                "query-throughput-2", "latency-2", "size-2",
            ],
            charts.Drawn.Select(drawn => drawn.Chart.Name).Take(10));
        Assert.Equal("Insert rate as users grows, 1 thread", charts.Drawn[0].Chart.Title);
        Assert.Equal("Query rate as orders grows", charts.Drawn[6].Chart.Title);
    }

    private static IEnumerable<PhaseRecord> Sizes(string growth, int number, int steps)
    {
        for (int step = 1; step <= steps; step++)
        {
            long documents = step * 1000L;
            PhaseRecord[] phases =
            [
                RunParts.Grown(number++, "fill", step, documents, RunParts.Result("insert") with { IsInsert = true }),
                RunParts.Grown(number++, "mix", step, documents, RunParts.Result("read", 8), RunParts.Result("update", 8)),
                .. new[] { "10", "100" }.Select(limit =>
                    RunParts.Grown(number++, "page", step, documents,
                        RunParts.Result("find", 8, 100 * step)) with { Parameters = [new ParameterValue("limit", limit)] }),
                RunParts.Grown(number++, "size", step, documents) with { Sizes = [RunParts.Sizes(documents)] },
            ];
            foreach (PhaseRecord phase in phases)
                yield return phase with { Growth = new GrowthPoint(growth, step, documents), Collection = growth };
        }
    }

    private StoredRun Stored(params PhaseRecord[] phases)
    {
        using (RunStore store = RunStore.Create(_runs.At("run"), RunParts.Run(), RunParts.Settings()))
        {
            foreach (PhaseRecord phase in phases)
                store.EndPhase(phase);
            store.SetState(RunState.Finished, null, RunParts.Start.AddMinutes(1));
        }

        return StoredRun.Open(_runs.At("run"));
    }
}

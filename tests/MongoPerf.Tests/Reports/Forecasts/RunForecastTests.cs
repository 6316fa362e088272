using MongoPerf.Reports;
using MongoPerf.Reports.Forecasts;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports.Forecasts;

/// <summary>What a stored growth lets expect, and what it does not.</summary>
public sealed class RunForecastTests : IDisposable
{
    private const double Gibibyte = 1 << 30;

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Bytes_per_document_lead_to_the_sizes_at_which_cache_memory_and_disk_are_full()
    {
        RunForecast forecast = Forecast(
            new GrownRun(), new ForecastRequest { Documents = [500_000_000], MemoryBytes = 24L << 30, CacheBytes = 8L << 30 });
        Near(1024, forecast.FindSize("data")!.Fit.At(5e8).Value);
        Near(15, forecast.FindSize("index Number_1")!.Fit.At(5e8).Value);
        Near(24 * Gibibyte / GrownRun.FileBytes, At("storage and indexes", "memory"));
        Near(8 * Gibibyte / 60, At("indexes", "cache"));
        Near(8 * Gibibyte / 1084, At("data and indexes", "cache"));
        Near(120e9 / 1300, At("data folder", "disk"));
        Assert.Contains(forecast.Notes, note => note.Contains("the disk (120 GB) is full at", StringComparison.Ordinal));

        double At(string what, string limit) => forecast.Milestones.Single(m => m.What == what && m.Limit == limit).Documents.Value;
    }

    [Fact]
    public void A_run_that_outgrew_its_memory_tells_what_a_larger_one_will_do()
    {
        // 3M documents fit into the run's memory, 6M into that which is asked for.
        long memory = (long)(3e6 * GrownRun.FileBytes);
        static double Rate(double documents, double fits) => 8000 / (1 + (20 * Math.Max(0, 1 - (fits / documents))));
        RunForecast forecast = Forecast(
            new GrownRun { Steps = 12, MemoryLimitBytes = memory, CacheBytes = memory / 2, Rate = n => Rate(n, 3e6) },
            new ForecastRequest { Documents = [5_000_000, 24_000_000, 100_000_000], MemoryBytes = 2 * memory, CacheBytes = memory });
        OperationForecast q4 = Assert.Single(forecast.Operations);
        Assert.Equal("memory", q4.OutgrownLimit!.Name);
        Assert.InRange(q4.Outgrown!.Value.Value, 2.7e6, 3.3e6);
        Assert.All(new[] { 5e6, 2.4e7, 1e8 }, n =>
        {
            ForecastValue rate = q4.At((long)n).PerSecond!;
            Assert.True(rate.Holds(Rate(n, 6e6)), $"{n}: {rate} is not {Rate(n, 6e6)}");
            Assert.InRange(rate.Value!.Value / Rate(n, 6e6), 0.85, 1.15);
        });
        Assert.Equal([Reach.Continued, Reach.Continued, Reach.Extrapolated], forecast.Documents.Select(n => q4.At(n).Reach));
        Assert.Contains(forecast.Notes, note => note.Contains("an extrapolation", StringComparison.Ordinal));
        Assert.InRange(forecast.Milestones.Single(m => m.What == "working set of q4").Documents.Value, 5.4e6, 6.6e6);
        // "Memory (7.3 GiB) outgrown at 6M documents" alone was a riddle.
        Assert.Matches(@"memory \(.+\) outgrown by (working set of q4|storage and indexes) at ", string.Join('\n',
            ForecastAnswer.Of([forecast], "a").OfType<Block.Facts>().SelectMany(facts => facts.Lines).Select(fact => fact.Text)));
    }

    /// <summary>
    /// Found by a review: beside 300 MB of journal, which mongod makes at once, 20,000 documents told nothing of what 10M take up.
    /// </summary>
    [Fact]
    public void A_journal_is_no_part_of_what_documents_take_up_on_the_disk()
    {
        const long Journal = 300_000_000;
        (long Documents, SizeResult Sizes)[] sizes =
        [
            .. Enumerable.Range(1, 10).Select(step => step * 2000L)
                .Select(documents => (documents,
                    RunParts.Sizes(documents) with { DiskBytes = Journal + 5_000_000 + (documents * 400), JournalBytes = Journal })),
        ];
        SizeForecast disk = SizeForecast.Of(sizes).Single(size => size.What == SizeForecast.Disk);
        Assert.InRange(disk.At(10_000_000).Value, 0.85 * 4.3e9, 1.15 * 4.3e9);
        Assert.Equal(disk.At(10_000_000).Value / 10_000_000, disk.EachAt(10_000_000).Value, 1e-9);
        Assert.InRange(disk.Crossing(4.3e9).Value, 0.85e7, 1.15e7);
        Assert.Equal(sizes[^1].Sizes.DiskBytes!.Value, disk.Measured);
        // Less than the journal: no document fits.
        Assert.Equal(0, disk.Crossing(2e8).Value);
    }

    [Fact]
    public void A_run_that_never_outgrew_its_memory_gives_a_range_and_says_why()
    {
        RunForecast forecast = Forecast(
            new GrownRun(), new ForecastRequest { Documents = [15_000_000, 500_000_000], MemoryBytes = 24L << 30, DiskReads = 1000 });
        OperationForecast q4 = Assert.Single(forecast.Operations);
        ForecastPoint beyond = q4.At(500_000_000);
        Assert.Equal(Reach.Unknown, beyond.Reach);
        Assert.Equal(["cache", "memory"], beyond.Unknown);
        Assert.Null(beyond.PerSecond!.Value);
        // An operation reads 10 documents and a page of the index, nearly all of them from a disk with 1,000 reads a second.
        Assert.InRange(beyond.PerSecond.Low, 80, 110);
        Assert.InRange(beyond.PerSecond.High, 8000, 12_000);
        Assert.Contains(forecast.Notes,
            note => note.Contains("the run does not show what q4 cost beyond the memory", StringComparison.Ordinal)
                && note.Contains("the figures in brackets are a range", StringComparison.Ordinal));
        // As much as the run's own memory holds is what it showed.
        Assert.Equal(Reach.Continued,
            Assert.Single(Forecast(new GrownRun(), new ForecastRequest { Documents = [15_000_000] }).Operations).At(15_000_000).Reach);
    }

    [Fact]
    public void What_stayed_in_a_memory_that_the_data_outgrew_stays_in_a_larger_one_as_much_longer()
    {
        long memory = (long)(2e6 * GrownRun.FileBytes);
        RunForecast forecast = Forecast(
            new GrownRun { MemoryLimitBytes = memory, CacheBytes = memory / 2 },
            new ForecastRequest { Documents = [20_000_000, 60_000_000], MemoryBytes = 4 * memory, CacheBytes = 2 * memory });
        OperationForecast q4 = Assert.Single(forecast.Operations);
        // 10M were measured with a quarter of the memory.
        Assert.Equal([Reach.Continued, Reach.Unknown], forecast.Documents.Select(n => q4.At(n).Reach));
    }

    [Fact]
    public void The_second_half_of_a_growth_is_predicted_from_the_first()
    {
        long memory = (long)(2e6 * GrownRun.FileBytes);
        new GrownRun
        {
            Steps = 20, MemoryLimitBytes = memory, CacheBytes = memory / 2, Rate = n => 9000 / (1 + (30 * Math.Max(0, 1 - (2e6 / n)))),
        }.Write(_runs.At("a"));
        using StoredRun run = StoredRun.Open(_runs.At("a"));
        ForecastCheck check = ForecastCheck.Of(run)!;
        Assert.Equal(10_000_000, check.Forecast.LargestDocuments);
        Assert.All(check.Operations, one =>
        {
            Assert.Equal((10, 10, 0), (one.Sizes, one.Inside, one.Ranges));
            Assert.InRange(one.MedianError!.Value, 0, 0.05);
        });
        Assert.Equal(["rate", "p99"], check.Operations.Select(one => one.Measure));
        Assert.All(check.Sizes, size => Assert.InRange(size.MedianError!.Value, 0, 0.01));
    }

    [Fact]
    public void A_fall_that_only_the_second_half_holds_is_not_predicted_but_lies_in_the_range()
    {
        long memory = (long)(1.2e7 * GrownRun.FileBytes);
        new GrownRun { Steps = 20, MemoryLimitBytes = memory, Rate = n => 9000 / (1 + (30 * Math.Max(0, 1 - (1.2e7 / n)))) }
            .Write(_runs.At("a"));
        using StoredRun run = StoredRun.Open(_runs.At("a"));
        CheckedOperation rate = ForecastCheck.Of(run)!.Operations.Single(one => one.Measure == "rate");
        Assert.InRange(rate.Ranges, 7, 9);
        Assert.Equal(rate.Sizes, rate.Inside);
    }

    [Fact]
    public void The_run_that_would_narrow_a_range_leaves_room_on_the_disk()
    {
        // 120 GB are free, and each document takes 1,300 bytes there.
        NarrowingRun? run = NarrowingRun.Of(Forecast(
            new GrownRun { Rate = n => (n / 1e6) % 2 == 0 ? 400 : 40_000 },
            new ForecastRequest { Documents = [5_000_000_000], MemoryBytes = 1L << 50 }));
        Assert.Contains(" --target 74M --step 6.2M", run!.Command, StringComparison.Ordinal);
    }

    /// <summary>Found in a run of a busy machine: "run 1" stood in place of the rate, and beside it "+3 %" and "continues".</summary>
    [Fact]
    public void A_rate_that_is_not_told_has_no_change_and_nothing_to_continue()
    {
        RunForecast forecast = Forecast(
            new GrownRun { Rate = n => (n / 1e6) % 2 == 0 ? 400 : 40_000 }, new ForecastRequest { Documents = [12_000_000] });
        ReportTable table = ForecastAnswer.Of([forecast], "a").OfType<Block.Table>().Single().Content;
        Assert.Equal(["<operation", "measured", "forecast", "95 %", "change", "p99", "<verdict"], table.Columns);
        IReadOnlyList<string> row = Assert.Single(table.Rows);
        Assert.Equal(("run 1", Units.None, Units.None, "not known"), (row[2], row[3], row[4], row[6]));
    }

    private RunForecast Forecast(GrownRun shape, ForecastRequest request)
    {
        string folder = _runs.At($"run-{Directory.GetDirectories(_runs.Path).Length}");
        shape.Write(folder);
        using StoredRun run = StoredRun.Open(folder);
        RunForecast forecast = RunForecast.Of(run, request)!;
        ApprovedReports.Check(ForecastReport.Of([forecast], "a"));
        return forecast;
    }

    private static void Near(double expected, double actual) => Assert.InRange(actual / expected, 0.98, 1.02);
}

using MongoPerf.Measurement;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>What server, link and files had nothing left of is found from its limit on, and not below it.</summary>
public sealed class LimitTests : IDisposable
{
    private readonly ScriptedRun _run = new();

    public void Dispose() => _run.Dispose();

    [Theory]
    [InlineData(118e6, 118e6, null, "the client received 118 MB/s throughout q4: as much as a link of 1 Gbit/s carries")]
    [InlineData(11.9e6, 11.9e6, null, "the client received 11.9 MB/s throughout q4: as much as a link of 0.1 Gbit/s carries")]
    [InlineData(105e6, 105e6, null, null)]
    [InlineData(108e6, 128e6, null, null)]
    [InlineData(238e6, 238e6, null, null)]
    [InlineData(238e6, 238e6, 250_000_000L, "the client received 238 MB/s throughout q4: as much as a link of 2 Gbit/s carries")]
    [InlineData(118e6, 118e6, 1_250_000_000L, "the client received 118 MB/s throughout q4: as much as a link of 1 Gbit/s carries")]
    public void A_link_that_is_full_all_the_time_is_the_limit(double early, double late, long? own, string? text)
    {
        _run.Store.SetEnvironment(RunParts.Environment() with { ServerOnSameMachine = false, LinkBytesPerSecond = own });
        _run.Phase("q4", Flat(30));
        _run.Host(0, 31, second => [("network_received", (early * Math.Min(second, 15)) + (late * Math.Max(0, second - 15)))]);
        Assert.Equal(text, Find(FindingIds.NetworkLimit)?.Text);
    }

    [Fact]
    public void Loopback_is_no_link()
    {
        _run.Phase("q4", Flat(30));
        _run.Host(0, 31, second => [("network_sent", 118e6 * second)]);
        Assert.Null(Find(FindingIds.NetworkLimit));
    }

    [Theory]
    [InlineData(1.04, 1, 1, "the files of the documents grow faster than the collection: 1.14 kB a document at 100k, 1.98 kB at 1.5M")]
    [InlineData(1, 1.04, 1, "the indexes grow faster than the collection: 62.4 B a document at 100k, 108 B at 1.5M")]
    [InlineData(1.01, 1.01, 1, null)]
    [InlineData(1, 1, 1, null)]
    [InlineData(1.04, 1.04, 0.001, null)]
    public void Files_that_take_ever_more_for_each_document_are_found_once_they_are_large(
        double storage, double indexes, double size, string? text)
    {
        for (int step = 1; step <= 15; step++)
        {
            int at = step;
            _run.Sizes(step, sizes => sizes with
            {
                StorageBytes = (long)(size * sizes.StorageBytes * Math.Pow(storage, at)),
                IndexBytes = (long)(size * sizes.IndexBytes * Math.Pow(indexes, at)),
            });
        }

        Assert.Equal(text, Find(FindingIds.BytesGrow)?.Text);
    }

    [Fact]
    public void Files_of_a_second_growth_are_shown_by_its_own_chart()
    {
        _run.Phase("q4", Flat(10), phase => phase with { Growth = new GrowthPoint("first", 1, 1000) });
        for (int step = 1; step <= 15; step++)
        {
            int at = step;
            _run.Sizes(step, sizes => sizes with { StorageBytes = (long)(sizes.StorageBytes * Math.Pow(1.04, at)) });
        }

        Assert.Equal("size-2", Find(FindingIds.BytesGrow)?.Evidence[0].Chart);
    }

    [Theory]
    [InlineData(5, true)]
    [InlineData(20, false)]
    public void Tickets_that_run_out_in_a_tenth_of_a_phase_are_a_queue(int every, bool isFound)
    {
        _run.Phase("q4", Flat(60));
        Server(second => [("tickets_read_available", second % every == 0 ? 0 : 128)]);
        Assert.Equal(isFound, Find(FindingIds.TicketQueue) is not null);
    }

    [Theory]
    [InlineData(0.2, false, true)]
    [InlineData(0.19, false, false)]
    [InlineData(0.25, true, false)]
    public void A_fifth_of_the_cache_that_is_dirty_is_found_where_it_is_WiredTiger_s(double share, bool isEmbedded, bool isFound)
    {
        _run.Store.SetDeployment(RunParts.Deployment() with { IsEmbedded = isEmbedded });
        _run.Phase("q4", Flat(60));
        Server(_ => [("cache_dirty", share * 1e9)]);
        Assert.Equal(isFound, Find(FindingIds.DirtyCache) is not null);
    }

    [Theory]
    [InlineData(1100, true)]
    [InlineData(900, false)]
    public void Application_threads_that_evict_a_thousand_pages_a_second_are_found(double pages, bool isFound)
    {
        _run.Phase("q4", Flat(60));
        Server(second => [("cache_evicted_by_clients", pages * second)]);
        Assert.Equal(isFound, Find(FindingIds.EvictionByClients) is not null);
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(14, false)]
    public void Two_peaks_count_when_they_stand_side_by_side_and_not_when_a_phase_is_slow_in_the_end(int slowFrom, bool isFound)
    {
        var random = new RandomStream(8);
        _run.Phase("q4", Flat(20), latencies: second =>
        {
            var histogram = new LatencyHistogram();
            for (int i = 0; i < 300; i++)
                histogram.Record((slowFrom == 0 ? i % 10 < 7 : second < slowFrom)
                    ? 150 + (100 * random.NextDouble())
                    : 3000 + (2000 * random.NextDouble()));
            return histogram;
        });
        Finding? found = Find(FindingIds.TwoPeaks);
        Assert.Equal(isFound, found is not null);
        if (isFound)
            Assert.Matches(
                "^q4's latency has two peaks: 70 % of the operations near [12][0-9]{2} µs, 30 % near [3-5]\\.?[0-9]* ms$", found!.Text);
    }

    private void Server(Func<int, (string Metric, double Value)[]> values) => _run.Server(
        0, 61, second =>
        [
            ("tickets_read_available", 128), ("tickets_write_available", 128), ("cache_max", 1e9), ("connections_available", 1000),
            ("uptime", second), .. values(second),
        ]);

    private static double[] Flat(int seconds) => [.. Enumerable.Repeat(1000.0, seconds)];

    private Finding? Find(string id) => _run.Findings().SingleOrDefault(finding => finding.Id == id);
}

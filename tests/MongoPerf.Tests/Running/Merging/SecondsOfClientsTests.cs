using MongoPerf.Measurement;
using MongoPerf.Running.Merging;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Running.Merging;

/// <summary>Seconds of several clients become one second of all, and what several saw of their machine becomes one view of it.</summary>
public sealed class SecondsOfClientsTests
{
    private const long Start = 1_800_000_000_000;

    /// <summary>Whatever a second counts or times is in the sum, once.</summary>
    [Fact]
    public void Every_figure_of_a_second_comes_to_that_of_all_clients()
    {
        Sample[] parts = [.. Enumerable.Range(0, 3).Select(Second)];
        Filled.Require(
            parts, [], [nameof(Sample.Phase), nameof(Sample.Operation), nameof(Sample.IsWarmup), nameof(Sample.HasOutage)]);
        // Only one of them met an outage.
        Sample sum = Merge(parts[0] with { HasOutage = false }, parts[1], parts[2] with { HasOutage = false }).Single();
        Assert.Equal(
            (Start + 30, 5, "q4", true, true, 1.5, 600L, 60L, 6000L, 6L),
            (sum.AtMilliseconds, sum.Phase, sum.Operation, sum.IsWarmup, sum.HasOutage, sum.Seconds, sum.Operations, sum.Documents,
                sum.Bytes, sum.Failed));
        Assert.Equal(LatencySummaries.From(Of(1, 2, 3)), sum.LatencyMicroseconds);
        Assert.Equal(LatencySummaries.From(Of(10, 20, 30)), sum.ResponseMicroseconds);
        Assert.Equal(LatencySummaries.From(Of(100, 200, 300)), sum.LatenessMicroseconds);
        Assert.Equal([Encoded(1, 2, 3), Encoded(10, 20, 30), Encoded(100, 200, 300)],
            new[] { sum.Histogram, sum.ResponseHistogram, sum.LatenessHistogram }.Select(bytes => bytes.ToArray()));
        // They all began with the same documents; the first with the fewest.
        Assert.Equal(10, sum.CollectionDocuments);
        Assert.Null(sum.OfGroup);
        Sample alone = Merge(parts[1]).Single();
        Assert.Equal((parts[1].Operations, null), (alone.Operations, alone.OfGroup));
    }

    /// <summary>In a closed loop nothing is due; where nothing was recorded there is no histogram, and no latency.</summary>
    [Fact]
    public void Where_nothing_is_due_there_is_no_response_and_where_nothing_was_recorded_no_latency()
    {
        Sample idle = Second(0) with
        {
            ResponseMicroseconds = null, LatenessMicroseconds = null,
            Histogram = default, ResponseHistogram = default, LatenessHistogram = default,
        };
        Sample sum = Merge(idle, idle).Single();
        Assert.Equal((null, null), (sum.ResponseMicroseconds, sum.LatenessMicroseconds));
        Assert.Equal(LatencySummary.None, sum.LatencyMicroseconds);
        Assert.True(sum.Histogram.IsEmpty && sum.ResponseHistogram.IsEmpty && sum.LatenessHistogram.IsEmpty);
        // With a rate both are there, though nothing succeeded in that second.
        Sample due = idle with { ResponseMicroseconds = LatencySummary.None };
        sum = Merge(due, due).Single();
        Assert.Equal((LatencySummary.None, LatencySummary.None), (sum.ResponseMicroseconds, sum.LatenessMicroseconds));
    }

    /// <summary>A client that stopped short has two parts of a second in one place: they follow one another.</summary>
    [Fact]
    public void Parts_of_one_clients_second_last_longer_together_and_those_of_two_clients_do_not()
    {
        var merger = new SampleMerger();
        Sample half = Second(0) with { AtMilliseconds = Start, Seconds = 0.25 };
        merger.Add(0, [half, half with { AtMilliseconds = Start + 400, Seconds = 0.5 }]);
        merger.Add(1, [Second(0) with { AtMilliseconds = Start + 100, Seconds = 0.6 }]);
        Sample sum = Assert.Single(merger.Take());
        Assert.Equal((0.75, Start + 400, 300L), (sum.Seconds, sum.AtMilliseconds, sum.Operations));
    }

    /// <summary>
    /// A property, held by seconds at random: each second of each client is in exactly one sum, within half a second of the others; sums
    /// come in time order, and documents grow by what all clients have added so far.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void No_second_is_lost_or_added_twice_and_documents_grow_by_what_all_add(int seed)
    {
        var random = new Random(seed);
        var merger = new SampleMerger();
        var all = new List<(int Client, Sample Sample, long Added)>();
        for (int client = 0; client < 3; client++)
        {
            // The last one began so much later that a thousandth of it is a second.
            (long at, long documents) = (Start + random.Next(0, 3000) + (client == 2 ? 990_000 : 0), 1000);
            var own = new List<Sample>();
            for (int i = random.Next(1200, 1500); i > 0; i--, at += 1000 + random.Next(-2, 3))
            {
                own.Add(Second(0) with
                {
                    AtMilliseconds = at, Operations = random.Next(1, 1000), CollectionDocuments = documents, HasOutage = false,
                });
                all.Add((client, own[^1], documents - 1000));
                documents += random.Next(0, 50);
            }

            merger.Add(client, own);
        }

        Sample[] sums = [.. merger.Take()];
        Assert.Equal(all.Sum(one => one.Sample.Operations), sums.Sum(sum => sum.Operations));
        Assert.Equal(sums.OrderBy(sum => sum.AtMilliseconds), sums);
        // Each client's seconds are a second apart, and so are the sums: an error of a thousandth would show after 1,000 seconds.
        long[] distances = [.. sums.Zip(sums.Skip(1), (a, b) => b.AtMilliseconds - a.AtMilliseconds)];
        Assert.All(distances, distance => Assert.InRange(distance, 1, 2000));
        long[] times = [.. all.Select(one => one.Sample.AtMilliseconds)];
        Assert.InRange(sums.Length, all.GroupBy(one => one.Client).Max(own => own.Count()), 1 + ((times.Max() - times.Min() + 500) / 1000));
        Assert.Equal(1000 + all.GroupBy(one => one.Client).Sum(own => own.Last().Added), sums[^1].CollectionDocuments);
        Assert.Equal(sums.Select(sum => sum.CollectionDocuments).Order(), sums.Select(sum => sum.CollectionDocuments));
        Assert.All(sums, sum => Assert.InRange(sum.CollectionDocuments,
            1000 + AddedBefore(sum.AtMilliseconds - 1010), 1000 + AddedBefore(sum.AtMilliseconds + 10)));

        // By a look through all seconds: what each client had added at that time.
        long AddedBefore(long at) => all.GroupBy(one => one.Client)
            .Sum(own => own.LastOrDefault(one => one.Sample.AtMilliseconds <= at).Added);
    }

    [Fact]
    public void Operations_and_their_warmups_are_added_apart()
    {
        Sample one = Second(0);
        var merger = new SampleMerger();
        merger.Add(0, [one, one with { IsWarmup = false }, one with { Operation = "other" }]);
        merger.Add(1, [one, one with { IsWarmup = false }]);
        Assert.Equal(
            [("other", true, 100L), ("q4", false, 200), ("q4", true, 200)],
            merger.Take().Select(sum => (sum.Operation, sum.IsWarmup, sum.Operations)).Order());
    }

    /// <summary>The client with the most samples says what the machine did; the others' use is added to its own.</summary>
    [Fact]
    public void A_machine_is_as_its_most_watchful_client_saw_it_with_the_use_of_all()
    {
        int[] columns = [.. new[] { "client_cpu_user", "client_cpu_system", "client_resident" }
            .Select(name => MetricCatalogue.IndexOf(MetricCatalogue.Host, name))];
        int ended = 0;
        // One that began later, and one that could not tell its use for a while and ended sooner.
        MetricSample[] merged =
        [
            .. new HostMerger([Seen((2000, 1), (4000, 2)), Seen((0, 10), (1000, 20), (2000, 30), (3000, 40), (4000, 50)),
                Seen((500, 100), (1500, double.NaN), (2500, 300))]).Merge(),
        ];
        Assert.Equal(
            [(0, 111.0), (1000, 121), (2000, 31), (3000, 341), (4000, 352)],
            merged.Select(sample => ((int)sample.AtMilliseconds, sample.Values[columns[0]])));
        foreach (int column in Enumerable.Range(0, MetricCatalogue.Host.Count))
            Assert.Equal(columns.Contains(column) ? 111 : 10, merged[0].Values[column]);
        // Rows of run.db are read as they are asked for: nobody keeps the file open. Each was counted first.
        Assert.Equal(6, ended);
        Assert.Empty(new HostMerger([]).Merge());

        IEnumerable<MetricSample> Seen(params (long At, double Use)[] samples)
        {
            try
            {
                foreach ((long at, double use) in samples)
                    yield return new MetricSample(at, "client", [.. Enumerable.Repeat(use, MetricCatalogue.Host.Count)]);
                yield break;
            }
            finally
            {
                ended++;
            }
        }
    }

    [Fact]
    public void Reading_of_a_client_that_saw_more_than_is_asked_for_ends_with_the_merge()
    {
        int open = 0;
        // The other has samples behind the watcher's last.
        Assert.Equal(4, new HostMerger([Seen(0, 1, 2, 3), Seen(2, 5, 6)]).Merge().Count());
        Assert.Equal(0, open);

        IEnumerable<MetricSample> Seen(params long[] at)
        {
            open++;
            try
            {
                foreach (long one in at)
                    yield return new MetricSample(one, "client", new double[MetricCatalogue.Host.Count]);
            }
            finally
            {
                open--;
            }
        }
    }

    private static IEnumerable<Sample> Merge(params Sample[] one)
    {
        var merger = new SampleMerger();
        foreach ((int client, Sample sample) in one.Index())
            merger.Add(client, [sample]);
        return merger.Take();
    }

    private static Sample Second(int client)
    {
        int i = client + 1;
        return new Sample
        {
            AtMilliseconds = Start + (10 * i), Phase = 5, Operation = "q4", IsWarmup = true, HasOutage = true,
            Seconds = client == 1 ? 1.5 : 1 + (client / 8.0), Operations = 100 * i, Documents = 10 * i, Bytes = 1000 * i, Failed = i,
            CollectionDocuments = 10 * i, LatencyMicroseconds = RunParts.Latency(i), ResponseMicroseconds = RunParts.Latency(10 * i),
            LatenessMicroseconds = RunParts.Latency(100 * i), OfGroup = new GroupLatency(i, i, i),
            Histogram = Encoded(i), ResponseHistogram = Encoded(10 * i), LatenessHistogram = Encoded(100 * i),
        };
    }

    private static byte[] Encoded(params double[] microseconds) => HistogramEncoding.EncodeCompressed(Of(microseconds));

    private static LatencyHistogram Of(params double[] microseconds)
    {
        var histogram = new LatencyHistogram();
        foreach (double one in microseconds)
            histogram.Record(one);
        return histogram;
    }
}

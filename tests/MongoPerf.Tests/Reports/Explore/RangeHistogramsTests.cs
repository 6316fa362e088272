using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Explore;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Explore;

public sealed class RangeHistogramsTests : IDisposable
{
    private static readonly int[] Lengths = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600, 21600, 86400];
    private static readonly string[] Operations = ["read", "update"];

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    /// <summary>Blocks of most lengths can be made of shorter ones; of 5, 30 and 300 seconds they can't.</summary>
    [Fact]
    public void Blocks_are_the_finest_that_fit_and_hold_what_their_seconds_hold()
    {
        using StoredRun run = Measured(seconds: 700);
        OperationSeconds seconds = OperationSeconds.Of(run);
        Dictionary<int, PackedPlot.Block[][]> expected = Lengths.ToDictionary(length => length,
            length => Operations.Select(operation => Expected(run, seconds.Axis, operation, length).ToArray()).ToArray());
        Dictionary<int, long> sizes = expected.ToDictionary(one => one.Key, one => one.Value.Sum(BytesOf));
        var read = new Dictionary<int, byte[][]>();
        foreach (int mostBytes in sizes.Values.SelectMany(size => new[] { (int)size, (int)size - 1 }).Append(int.MaxValue).Distinct())
        {
            var histograms = new RangeHistograms(seconds, seconds.Axis, mostBytes);
            foreach (MergedSample sample in SampleThinning.Merge(run, 1))
                histograms.Add(sample);
            PlotRanges ranges = histograms.End(() => SampleThinning.Merge(run, 1))!;
            int length = Lengths.FirstOrDefault(one => sizes[one] <= mostBytes, Lengths[^1]);
            Assert.Equal((mostBytes, length), (mostBytes, ranges.BlockSeconds));
            byte[][] bytes = [.. ranges.Series.Select(series => series.Bytes)];
            Assert.Equal(expected[length].Select(BytesOf), bytes.Select(series => (long)series.Length));
            // What makes no difference to the page's script need not be read by it again.
            if (read.TryGetValue(length, out byte[][]? known))
            {
                Assert.Equal(known, bytes);
                continue;
            }

            read.Add(length, bytes);
            var packed = new PackedPlot(PlotEncoding.Write(new Plot(seconds.Axis.Seconds, []) { Ranges = ranges }, "x"));
            Assert.Equal(Operations, packed.Ranges);
            foreach ((int range, PackedPlot.Block[] blocks) in expected[length].Index())
            {
                IReadOnlyList<PackedPlot.Block> back = packed.Blocks(range);
                Assert.Equal(blocks.Select(block => (block.From, block.To)), back.Select(block => (block.From, block.To)));
                Assert.All(blocks.Zip(back), pair => Assert.Equal(pair.First.Counts, pair.Second.Counts));
            }
        }
    }

    /// <summary>A run of more samples than the page has rows comes with several seconds in one.</summary>
    [Fact]
    public void A_page_says_that_its_blocks_are_as_long_as_rows()
    {
        using StoredRun run = Measured(seconds: 4000, mostCounts: 1);
        Assert.Equal(2, SampleThinning.PerRow(run));
        Assert.Equal(2, RunPlot.Of(run)!.Ranges!.BlockSeconds);
    }

    [Fact]
    public void Blocks_are_no_longer_for_an_operation_that_ended_early()
    {
        using StoredRun run = Measured(seconds: 700, updates: 1);
        Assert.Equal("update", SampleThinning.Merge(run, 2).Last().Sample.Operation);
        long whole = Packed(int.MaxValue).Series.Sum(series => (long)series.Bytes.Length);
        // Rows are two seconds long, so blocks of two would be no fewer.
        Assert.Equal(5, Packed((int)whole - 1).BlockSeconds);

        PlotRanges Packed(int mostBytes)
        {
            OperationSeconds seconds = OperationSeconds.Of(run);
            var histograms = new RangeHistograms(seconds, seconds.Axis, mostBytes);
            foreach (MergedSample sample in SampleThinning.Merge(run, 2))
                histograms.Add(sample);
            return histograms.End(() => SampleThinning.Merge(run, 2))!;
        }
    }

    private static long BytesOf(PackedPlot.Block[] blocks)
    {
        using var bytes = new MemoryStream();
        long before = 0;
        foreach (PackedPlot.Block block in blocks)
        {
            (long from, long to) = ((long)Math.Round(block.From * 10), (long)Math.Round(block.To * 10));
            PlotEncoding.WriteWord(bytes, PlotEncoding.ZigZag(from - before));
            PlotEncoding.WriteWord(bytes, (ulong)(to - from));
            PlotEncoding.WriteWord(bytes, (ulong)block.Counts.Count);
            int last = -1;
            foreach ((int index, long count) in block.Counts)
            {
                PlotEncoding.WriteWord(bytes, ((ulong)(index - last) << 1) | (count == 1 ? 0UL : 1UL));
                if (count != 1)
                    PlotEncoding.WriteWord(bytes, (ulong)count);
                last = index;
            }

            before = to;
        }

        return bytes.Length;
    }

    private static IEnumerable<PackedPlot.Block> Expected(StoredRun run, TimeAxis axis, string operation, int length)
    {
        Sample[] samples = [.. run.ReadSamples(withHistograms: true).Where(sample => sample.Operation == operation && !sample.IsWarmup)];
        foreach (Sample[] block in samples.GroupBy(sample => length == 1 ? sample.AtMilliseconds
            : (long)Math.Floor((axis.At(sample.AtMilliseconds) - (sample.Seconds / 2)) / length)).Select(block => block.ToArray()))
        {
            var sum = new LatencyHistogram();
            foreach (Sample sample in block)
                HistogramEncoding.DecodeInto(sum, sample.Histogram.Span);
            double from = Math.Round((axis.At(block[0].AtMilliseconds) - block[0].Seconds) * 10);
            double to = Math.Round(axis.At(block[^1].AtMilliseconds) * 10);
            yield return new PackedPlot.Block(from / 10, Math.Max(from + 1, to) / 10, [.. sum.Counts()]);
        }
    }

    /// <summary>Its first second is a warm-up, and its last sample is short.</summary>
    private StoredRun Measured(int seconds, int mostCounts = 19, int updates = int.MaxValue)
    {
        var random = new Random(7);
        using (RunStore store = RunStore.Create(_runs.At("run"), RunParts.Run(), RunParts.Settings()))
        {
            PhaseRecord phase = RunParts.Phase(1, "a", [.. Operations.Select(name => RunParts.Result(name))]);
            store.BeginPhase(phase with { IsComplete = false }, continues: false);
            for (int i = 0; i <= seconds; i++)
            {
                foreach (string operation in Operations.Take(i > updates ? 1 : 2))
                {
                    var histogram = new LatencyHistogram();
                    for (int j = random.Next(1, mostCounts + 1); j > 0; j--)
                        histogram.Record(500 * random.Next(1, 20));
                    store.AddSample(RunParts.Sample(i, operation) with
                    {
                        Seconds = i == seconds ? 0.02 : 1, Histogram = HistogramEncoding.EncodeCompressed(histogram),
                    });
                }
            }

            store.EndPhase(phase);
        }

        return StoredRun.Open(_runs.At("run"));
    }
}

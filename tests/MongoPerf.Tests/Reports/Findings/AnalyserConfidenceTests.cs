using System.Globalization;
using MongoPerf.Measurement;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>
/// How often the analysers of growths, threads, caches, migrations and latencies take noise for a finding, and how often they find an
/// effect: stored runs that have all they judge, with noise of seconds and of sizes, once without any effect and once with all.
/// </summary>
public sealed class AnalyserConfidenceTests
{
    private const string TableVariable = "MONGOPERF_ANALYSERS_TABLE";
    private const string Windows = " over windows";
    private const int Sizes = 12;

    private static readonly string[] Judged =
    [
        FindingIds.LinearGrowth, FindingIds.SizeDecline, FindingIds.SizeRise, FindingIds.BytesGrow, FindingIds.SlowStart + Windows,
        FindingIds.SlowDrift + Windows, FindingIds.SlowStartGrows,
        FindingIds.Variation, FindingIds.ThreadPeak, FindingIds.RateFollowsCache, FindingIds.MigrationCost,
        FindingIds.IndexBuildCost, FindingIds.TwoPeaks,
    ];

    /// <summary>Seeded: what they count now they always count.</summary>
    [Fact]
    public void Of_ten_noisy_runs_none_has_a_false_finding_and_all_show_what_was_put_in()
    {
        int[] clean = Count(10, 70, 0.05, 0.5, isClean: true);
        int[] found = Count(5, 71, 0.03, 0.2, isClean: false);
        Assert.All(Judged.Zip(clean), one => Assert.Equal((one.First, 0), one));
        Assert.All(Judged.Zip(found), one => Assert.True(one.Second >= 4, $"{one.First}: {one.Second} of 5"));
    }

    /// <summary>Skipped unless the variable names a file: it takes some minutes.</summary>
    [Fact]
    public void The_table_of_the_analysers_is_made_from_four_hundred_runs_a_column()
    {
        string? path = Environment.GetEnvironmentVariable(TableVariable);
        Assert.SkipUnless(path is not null, $"needs {TableVariable}: {TableVariable}=FILE, for a table of docs, which takes minutes");
        (double Variation, double Correlation)[] noises = [(0.03, 0.2), (0.05, 0.5)];
        const int times = 400;
        const int withEffect = 100;
        int[][] clean = [.. noises.Select(noise => Count(times, 72, noise.Variation, noise.Correlation, isClean: true))];
        int[][] found = [.. noises.Select(noise => Count(withEffect, 73, noise.Variation, noise.Correlation, isClean: false))];
        string Share(int count, int of) => (100.0 * count / of).ToString("0.0#", CultureInfo.InvariantCulture) + " %";
        File.WriteAllLines(path, Judged.Select((id, i) => $"| `{id}` | {string.Join(" | ", clean.Select(one => Share(one[i], times)))} | "
            + $"{string.Join(" | ", found.Select(one => Share(one[i], withEffect)))} |"));
    }

    /// <summary>In how many runs each has a finding.</summary>
    private static int[] Count(int times, ulong seed, double variation, double correlation, bool isClean)
    {
        int[] counts = new int[Judged.Length];
        Parallel.For(0, times, run =>
        {
            string[] found = Script(new NoisySource((seed * 100_000) + (ulong)run, variation, correlation), isClean);
            for (int i = 0; i < counts.Length; i++)
            {
                if (found.Contains(Judged[i]))
                    Interlocked.Increment(ref counts[i]);
            }
        });
        return counts;
    }

    private static string[] Script(NoisySource noise, bool isClean)
    {
        using var run = new ScriptedRun(noise: noise.Seconds);
        Growth(run, noise, isClean);
        double[] rates = isClean ? [1000, 3000, 5000, 5000, 5000] : [1000, 3000, 5000, 5000, 3800];
        for (int i = 0; i < rates.Length; i++)
        {
            int threads = 1 << (2 * i);
            run.Phase("read", Flat(30, rates[i]), phase => phase with { Parameters = [new ParameterValue("threads", $"{threads}")] },
                result => result with { Threads = threads });
        }

        Scan(run, noise, isClean);
        double inside = isClean ? 1 : 0.85;
        run.Store.AddChunkEvents([.. new[] { 10, 50, 90 }.Select(from => Migration(run.Now + from, run.Now + from + 10))]);
        run.Phase("moved", [.. Enumerable.Range(0, 120).Select(i => i % 40 is >= 10 and < 20 ? 1000 * inside : 1000)]);
        run.Phase("mixed", Flat(20, 1000), latencies: _ => Latencies(noise, isClean));
        int begin = run.Now;
        run.Phase("indexed", [.. Enumerable.Range(0, 60).Select(i => i is >= 20 and < 35 ? 1000 * inside : 1000)]);
        run.Server(
            begin + 1, begin + 60, second => [("index_builds", second - begin is > 20 and <= 35 ? 1 : 0), .. Unstrained(second)]);
        return [.. run.Findings().Select(finding => finding.Id
            + (finding.Evidence.Any(one => one.Text.StartsWith("second half of each window", StringComparison.Ordinal)) ? Windows
                : "")).Distinct()];
    }

    /// <summary>
    /// Each line of a growth has an effect of its own. Windows last 10 s after 2 s of warm-up, and sizes vary by 3 % beside their seconds.
    /// </summary>
    private static void Growth(ScriptedRun run, NoisySource noise, bool isClean)
    {
        (string Name, Func<int, int, double> Rate)[] lines =
        [
            ("linear", (size, _) => 12.0 / size),
            ("falling", (size, _) => Math.Exp(-0.05 * size)),
            ("rising", (size, _) => Math.Exp(0.05 * size)),
            ("starting", (_, second) => second < 7 ? 0.85 : 1),
            ("tiring", (_, second) => second < 7 ? 1 : 0.85),
            ("warming", (size, second) => second < 6 ? 1 - (0.04 * size) : 1),
            ("wild", (size, _) => size == 8 ? 1 + (noise.Uniform() * 0.9) - 0.45 : 1),
        ];
        double[] bytes = noise.OfSizes(Sizes, 0.02);
        double[][] wander = [.. lines.Select(_ => noise.OfSizes(Sizes, 0.03))];
        for (int size = 1; size <= Sizes; size++)
        {
            for (int line = 0; line < lines.Length; line++)
                run.Size(size, lines[line].Name, [.. Enumerable.Range(0, 12)
                    .Select(second => 1000 * wander[line][size - 1] * (isClean ? 1 : lines[line].Rate(size, second)))], warmup: 2);
            double grown = bytes[size - 1] * (isClean ? 1 : Math.Exp(0.05 * size));
            run.Sizes(size, sizes => sizes with { StorageBytes = (long)(sizes.StorageBytes * grown) });
        }
    }

    /// <summary>Bytes read for an operation vary by a third; with the effect, its time follows them.</summary>
    private static void Scan(ScriptedRun run, NoisySource noise, bool isClean)
    {
        const int seconds = 120;
        double[] misses = [.. noise.Misses(seconds).Select(miss => 20_000 * Math.Exp(miss - 1))];
        double[] rates = [.. noise.Seconds.Window(seconds, 1000)
            .Zip(misses, (rate, miss) => isClean ? rate : rate * 2 / (1 + (miss / 20_000)))];
        double[] read = new double[seconds + 1];
        for (int i = 0; i < seconds; i++)
            read[i + 1] = read[i] + (misses[i] * rates[i]);
        int begin = run.Now;
        run.Phase("scan", rates, noise: false);
        run.Server(
            begin, begin + seconds,
            second => [("cache_read", read[second - begin]), .. Unstrained(second)]);
    }

    private static (string Metric, double Value)[] Unstrained(int second) =>
        [
            ("cache_max", 1e9), ("tickets_read_available", 128), ("tickets_write_available", 128),
            ("connections_available", 1000), ("uptime", second),
        ];

    /// <summary>A body with a tail of one in fifty; with the effect, a quarter lies at ten times as much.</summary>
    private static LatencyHistogram Latencies(NoisySource noise, bool isClean)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 200; i++)
            histogram.Record(200 * Math.Exp(0.4 * noise.Normal()) * (noise.Uniform() < (isClean ? 0.02 : 0.25) ? 10 : 1));
        return histogram;
    }

    private static double[] Flat(int seconds, double rate) => [.. Enumerable.Repeat(rate, seconds)];

    private static ChunkEvent Migration(int from, int to) => new()
    {
        Id = $"{from}", Kind = ChunkEventKind.Migration, AtMilliseconds = ScriptedRun.At(from), EndMilliseconds = ScriptedRun.At(to),
        From = "a", To = "b", Outcome = ChunkEventOutcome.Done,
    };

    /// <summary>All that is drawn for a run.</summary>
    private sealed class NoisySource(ulong seed, double variation, double correlation)
    {
        private readonly NoisySamples _misses = new(seed + 20_000, 0.33, correlation);
        private RandomStream _random = new(seed + 30_000);
        private ulong _lines = seed + 40_000;

        public NoisySamples Seconds { get; } = new(seed + 10_000, variation, correlation);

        public double Uniform() => _random.NextDouble();

        public double Normal() => Math.Sqrt(-2 * Math.Log(1 - _random.NextDouble())) * Math.Cos(2 * Math.PI * _random.NextDouble());

        public double[] Misses(int seconds) => _misses.Window(seconds, 1);

        public double[] OfSizes(int sizes, double deviation) => new NoisySamples(++_lines, deviation, 0.2).Window(sizes, 1);
    }
}

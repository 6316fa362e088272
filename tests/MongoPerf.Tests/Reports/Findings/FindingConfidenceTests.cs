using System.Diagnostics;
using System.Globalization;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>How often noise alone is called a finding, and how often an effect is found: what docs/findings.md promises.</summary>
public sealed class FindingConfidenceTests
{
    private const string TableVariable = "MONGOPERF_FINDINGS_TABLE";

    /// <summary>As a run with one operation has it.</summary>
    private const double Level = 0.01;

    [Theory]
    [InlineData(60, 0.03, 0.5, 41)]
    [InlineData(120, 0.03, 0.5, 42)]
    [InlineData(300, 0.1, 0.7, 43)]
    public void At_most_five_of_a_hundred_runs_of_noise_have_a_finding(int seconds, double variation, double correlation, ulong seed) =>
        Assert.InRange(Count(100, seed, seconds, variation, correlation, _ => 1, IsAny), 0, 5);

    [Theory]
    [InlineData(60, 0.03, 0, 44)]
    [InlineData(120, 0.02, 0.5, 45)]
    public void A_tenth_less_for_ten_seconds_is_found_in_95_of_a_hundred_runs(
        int seconds, double variation, double correlation, ulong seed) =>
        Assert.InRange(
            Count(100, seed, seconds, variation, correlation, Dip(seconds / 2, 10, 0.9), judged => HasStretch(judged, seconds / 2, 10)),
            95, 100);

    /// <summary>Seconds of real runs on two idle cores: nothing was done to the first two, and in the third an index was dropped.</summary>
    [Theory]
    [InlineData(false, new double[]
    {
        10181, 9436, 9136, 9149, 9625, 9383, 9412, 8545, 9299, 9089, 9095, 8921, 8932, 8947, 8464, 8526, 9024, 8649, 8094, 7763, 8210,
        7797, 7324, 8324, 7421, 8373,
    })]
    [InlineData(false, new double[]
    {
        8083, 8206, 7637, 8064, 8823, 9630, 8674, 8326, 8259, 9141, 9369, 8892, 8494, 9107, 7940, 8882, 7619, 8298, 8119, 7860, 7959,
        8397, 7877, 8045, 7976, 8283,
    })]
    [InlineData(true, new double[]
    {
        9197, 9464, 7939, 7673, 9493, 9102, 8985, 8933, 7118, 60, 64, 48, 47, 54, 57, 56, 57, 68, 59, 64, 66, 68, 60, 72, 66, 67, 76,
    })]
    public void A_short_phase_has_a_stretch_only_where_something_was_done(bool isFound, double[] rates) =>
        Assert.Equal(isFound, SecondAnalysis.Of(rates, Level).Shifts.Count > 0);

    /// <summary>As migrations and index builds are judged, whose times the servers tell.</summary>
    [Theory]
    [InlineData(26, 10, 0)]
    [InlineData(26, 10, 0.5)]
    [InlineData(26, 10, 0.8)]
    [InlineData(60, 15, 0.5)]
    public void A_known_stretch_differs_by_chance_in_no_more_runs_than_its_level_says(int seconds, int length, double correlation)
    {
        const int runs = 500;
        bool?[] stretch = Stretch(seconds, seconds / 3, length);
        int found = 0, foundBeside = 0;
        for (ulong run = 0; run < runs; run++)
        {
            double[] rates = new NoisySamples(90_000 + run, 0.05, correlation).Window(seconds);
            // Processors whose speed wanders by a tenth: what an operation takes of the client's time tells it, with some noise of its own.
            double[] speeds = new NoisySamples(91_000 + run, 0.1, correlation).Window(seconds);
            double[] cpu = [.. new NoisySamples(92_000 + run, 0.02, 0).Window(seconds).Zip(speeds, (noise, speed) => noise / speed)];
            found += KnownStretches.P(rates, stretch) < 0.01 ? 1 : 0;
            foundBeside += KnownStretches.P([.. rates.Zip(speeds, (rate, speed) => rate * speed)], stretch, cpu) < 0.01 ? 1 : 0;
        }

        Assert.InRange(found, 0, 0.02 * runs);
        Assert.InRange(foundBeside, 0, 0.02 * runs);
    }

    /// <summary>
    /// Seconds of a real run on a machine whose speed wandered: indexes were built from the 10th to the 20th. What an operation took of the
    /// client's time, microseconds, tells the one from the other.
    /// </summary>
    [Fact]
    public void Index_builds_are_told_apart_from_processors_that_get_slower()
    {
        double[] rates =
        [
            12220, 11232, 10120, 11460, 11693, 12179, 13734, 14998, 14333, 13140, 7163, 9534, 7695, 11389, 7197, 6983, 7530, 7363, 6013,
            6252, 9819, 10126, 11389, 11069, 11462, 12318,
        ];
        double[] cpu =
        [
            22.3, 24.0, 26.0, 23.5, 23.5, 21.9, 20.1, 18.6, 19.9, 20.0, 24.1, 14.8, 20.1, 19.7, 26.3, 27.5, 20.5, 24.7, 24.0, 25.3, 24.8,
            26.0, 23.9, 24.3, 23.7, 22.5,
        ];
        bool?[] stretch = Stretch(rates.Length, 10, 10);
        Assert.True(KnownStretches.P(rates, stretch) > 0.002);
        Assert.True(KnownStretches.P(rates, stretch, cpu) < 0.002);
    }

    /// <summary>
    /// Seconds of real runs on two cores: indexes were built from the 12th to the 22nd of the first two, which costs nothing for two
    /// seconds in the second one, and none in the last two.
    /// </summary>
    [Theory]
    [InlineData(true, new double[]
    {
        8062, 8460, 7155, 8354, 8957, 9045, 9510, 9358, 9759, 9858, 9818, 9237, 4842, 5306, 4888, 5036, 4792, 5314, 5246, 5657, 5177, 4928,
        9544, 9663, 9938, 9028, 9818, 10086,
    })]
    [InlineData(true, new double[]
    {
        7045, 8690, 8556, 8081, 7805, 8732, 8850, 9628, 10044, 9032, 10106, 10032, 7567, 5522, 5871, 5399, 5464, 4978, 5205, 5247, 7300,
        6649, 8721, 9460, 8993, 8416, 8821, 7774,
    })]
    [InlineData(false, new double[]
    {
        10181, 9436, 9136, 9149, 9625, 9383, 9412, 8545, 9299, 9089, 9095, 8921, 8932, 8947, 8464, 8526, 9024, 8649, 8094, 7763, 8210,
        7797, 7324, 8324, 7421, 8373,
    })]
    [InlineData(false, new double[]
    {
        7239, 9189, 7429, 8745, 7840, 8991, 8800, 7887, 7628, 8367, 9016, 8214, 7441, 8036, 7447, 7382, 8311, 7397, 8039, 8614, 8903, 9286,
        9584, 9760, 10384, 9848, 10193, 9992,
    })]
    public void Index_builds_differ_from_what_wanders_by_itself(bool isFound, double[] rates) =>
        Assert.Equal(isFound, KnownStretches.P(rates, Stretch(rates.Length, 11, 11)) < 0.002);

    /// <summary>Its two seconds at either end are uncertain.</summary>
    private static bool?[] Stretch(int seconds, int from, int length) =>
        [.. Enumerable.Range(0, seconds)
            .Select(i => i >= from + 2 && i < from + length - 2 ? true : i < from || i >= from + length ? false : (bool?)null)];

    [Fact]
    public void A_slow_drift_by_a_fifth_is_found_and_is_no_step() =>
        Assert.InRange(
            Count(100, 46, 120, 0.03, 0.5, i => 1 - (0.2 * i / 120), judged => judged.Drift is { Ratio: > 0.7 and < 0.9 }), 95, 100);

    [Fact]
    public void A_drop_that_stays_is_no_drift() =>
        Assert.InRange(
            Count(100, 47, 120, 0.03, 0.5, i => i < 70 ? 1 : 0.8, judged => judged.Drift is null && HasStretch(judged, 70, 50)), 95, 100);

    [Fact]
    public void A_period_of_15_seconds_is_found_within_2_seconds() =>
        Assert.InRange(Count(100, 48, 180, 0.03, 0.3, i => 1 + (0.1 * Math.Sin(2 * Math.PI * i / 15)),
            judged => judged.Period is { Length: > 13 and < 17, Amplitude: > 0.07 and < 0.15 }), 95, 100);

    [Fact]
    public void Sizes_that_only_vary_have_no_cliff_and_a_fall_by_half_is_found_at_its_place()
    {
        int clean = 0;
        int found = 0;
        for (ulong seed = 0; seed < 200; seed++)
        {
            double[] noise = new NoisySamples(5000 + seed, 0.05, 0.2).Window(12);
            var power = Scaling.Of([.. Enumerable.Range(1, 12).Select(i => 100_000L * i)], [.. noise.Select(v => 1 / v)]);
            bool falls = (Trend.Of(noise) is { } trend && trend.P < Level && trend.Ratio < 0.9)
                || (power.IsPower && power.P < Level && power.Growth > 1 / 0.9);
            clean += SizeStep.Find(noise, Level, 0.1) is null && !falls ? 0 : 1;
            found += SizeStep.Find([.. noise.Select((v, i) => i < 7 ? v : v * 0.5)], Level,
                0.1) is { IsCliff: true, From: >= 5 and <= 7, To: >= 6 and <= 8 } ? 1 : 0;
        }

        Assert.InRange(clean, 0, 6);
        Assert.InRange(found, 190, 200);
    }

    [Fact]
    public void A_day_of_seconds_is_judged_in_one_go()
    {
        double[] day = new NoisySamples(49).Window(86_400);
        for (int i = 40_000; i < 43_600; i++)
            day[i] *= 0.9;
        Assert.True(HasStretch(SecondAnalysis.Of(day, Level), 40_000, 3600));
    }

    /// <summary>
    /// What docs/findings.md says of a day: a stored run with samples of operations, server and machine each second. Skipped unless
    /// the variable names a file.
    /// </summary>
    [Fact]
    public void A_day_of_a_run_is_judged_and_timed()
    {
        string? path = Environment.GetEnvironmentVariable("MONGOPERF_FINDINGS_DAY");
        Assert.SkipUnless(path is not null, "needs MONGOPERF_FINDINGS_DAY: MONGOPERF_FINDINGS_DAY=FILE, for what a day takes");
        const int day = 86_400;
        using var scripted = new ScriptedRun();
        scripted.Server(1, day, i =>
        [
            ("connections_available", 50_000), ("tickets_read_available", 128), ("tickets_write_available", 128),
            ("uptime", i), ("cache_read", 1e6 * i),
        ]);
        scripted.Host(1, day, i => [("client_cpu_user", 3e5 * i), ("cpu_idle", 1e6 * i)]);
        scripted.Phase("q4", [.. Enumerable.Range(0, day).Select(i => i is >= 40_000 and < 43_600 ? 900.0 : 1000)]);
        using StoredRun run = scripted.End();
        TimeSpan before = Process.GetCurrentProcess().TotalProcessorTime;
        IReadOnlyList<Finding> found = RunFindings.Shown(run);
        TimeSpan used = Process.GetCurrentProcess().TotalProcessorTime - before;
        File.WriteAllText(path, string.Create(CultureInfo.InvariantCulture, $"{used.TotalSeconds:F2} s of CPU, {found.Count} findings\n"));
        Assert.Contains(found, finding => finding.Range is { FromSeconds: > 39_990 and < 40_010, ToSeconds: > 43_590 and < 43_610 });
    }

    /// <summary>Skipped unless the variable names a file: it takes a minute or two.</summary>
    [Fact]
    public void The_table_of_the_documentation_is_made_from_four_hundred_runs_a_row()
    {
        string? path = Environment.GetEnvironmentVariable(TableVariable);
        Assert.SkipUnless(path is not null, $"needs {TableVariable}: {TableVariable}=FILE, for a table of docs, which takes minutes");
        (int Seconds, double Variation, double Correlation)[] rows =
        [
            (30, 0.02, 0.5), (60, 0.02, 0.5), (60, 0.03, 0), (60, 0.03, 0.5), (60, 0.05, 0), (60, 0.05, 0.5), (60, 0.05, 0.8),
            (120, 0.02, 0.5), (120, 0.03, 0.5), (120, 0.05, 0.5), (600, 0.03, 0.5), (600, 0.05, 0.5), (600, 0.05, 0.8),
        ];
        string[] lines = new string[rows.Length];
        Parallel.For(0, rows.Length, i => lines[i] = Row(rows[i].Seconds, rows[i].Variation, rows[i].Correlation));
        File.WriteAllLines(path, lines);
    }

    private static string Row(int seconds, double variation, double correlation)
    {
        const int times = 400;
        int half = seconds / 2;
        double Share(Func<int, double> effect, Func<SecondAnalysis, bool> counts) =>
            100.0 * Count(times, 50, seconds, variation, correlation, effect, counts) / times;
        double[] cells =
        [
            Share(_ => 1, IsAny),
            Share(Dip(half, 10, 0.9), one => HasStretch(one, half, 10)),
            Share(Dip(half, 10, 0.8), one => HasStretch(one, half, 10)),
            Share(i => i < half ? 1 : 0.9, one => HasStretch(one, half, seconds - half)),
            Share(i => 1 - (0.15 * i / seconds), one => one.Drift is not null),
            Share(i => 1 + (0.1 * Math.Sin(2 * Math.PI * i / 8)), one => one.Period is { Length: > 6 and < 10 }),
        ];
        return string.Create(CultureInfo.InvariantCulture, $"| {seconds} | {variation * 100:0} % | {correlation:0.0} | "
            + $"{string.Join(" | ", cells.Select(cell => cell.ToString("0.0", CultureInfo.InvariantCulture) + " %"))} |");
    }

    private static int Count(int times, ulong seed, int seconds, double variation, double correlation, Func<int, double> effect,
        Func<SecondAnalysis, bool> counts)
    {
        var noise = new NoisySamples(seed, variation, correlation);
        return Enumerable.Range(0, times)
            .Count(_ => counts(SecondAnalysis.Of([.. noise.Window(seconds).Select((rate, i) => Math.Max(1, rate * effect(i)))], Level)));
    }

    private static Func<int, double> Dip(int from, int seconds, double speed) => i => i >= from && i < from + seconds ? speed : 1;

    private static bool IsAny(SecondAnalysis one) => one.Drift is not null || one.Shifts.Count > 0 || one.Period is not null;

    /// <summary>Both ends within a few seconds.</summary>
    private static bool HasStretch(SecondAnalysis one, int from, int length)
    {
        int reach = Math.Max(4, length / 10);
        return one.Shifts.Any(s => s.Ratio < 1 && Math.Abs(s.From - from) <= reach && Math.Abs(s.To - (from + length)) <= reach)
            || one.Shifts.Any(s => s.Ratio > 1 && s.From == 0 && Math.Abs(s.To - from) <= reach);
    }
}

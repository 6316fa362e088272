using MongoPerf.Reports.Forecasts;
using MongoPerf.Tests.Reports.Comparison;

namespace MongoPerf.Tests.Reports.Forecasts;

/// <summary>
/// Laws with known truth: how often the interval of a size that was not measured holds what would have been measured there.
/// </summary>
public sealed class GrowthFitTests
{
    private const int Runs = 100;

    /// <summary>A tenth of the target each.</summary>
    private static readonly double[] Tenths = [.. Enumerable.Range(1, 10).Select(i => i * 1e6)];

    [Theory]
    [InlineData(0.0, 0.02, 101)]
    [InlineData(0.05, 0.05, 102)]
    [InlineData(0.2, 0.1, 103)]
    public void An_interval_at_five_times_the_largest_size_holds_a_new_measurement_in_90_of_a_hundred_runs(
        double slope, double noise, ulong seed)
    {
        int held = CountHeld(
            seed, noise, 5e7, n => Math.Pow(n / 1e6, slope), (Prediction p, double truth) => p.Value / truth is > 0.4 and < 2.5);
        Assert.InRange(held, 90, Runs);
    }

    [Theory]
    [InlineData(3.3e6, 8, 0.05, 2e7, 1, 104)]
    [InlineData(2.2e6, 100, 0.1, 2e7, 1, 105)]
    [InlineData(3.3e6, 8, 0.05, 2e8, 10, 106)]
    public void Beyond_a_memory_that_was_outgrown_in_the_run_the_interval_holds_90_of_a_hundred_at_other_memories_too(
        double fits, double height, double noise, double documents, double scale, ulong seed)
    {
        double Time(double n, double of) => 1 + (height * Math.Max(0, 1 - (fits * of / n)));
        int held = 0;
        for (ulong run = 0; run < Runs; run++)
        {
            double[] drawn = Noise(seed, run, noise, Tenths.Length + 1);
            GrowthFit fit = Fit([.. Tenths.Select((n, i) => Time(n, 1) * drawn[i])])!;
            Prediction expected = fit.At(documents, scale);
            double measured = Time(documents, scale) * drawn[^1];
            held += measured >= expected.Low && measured <= expected.High ? 1 : 0;
        }

        Assert.InRange(held, 90, Runs);
    }

    /// <summary>The pages of a B-tree: between half full and full, whatever its size.</summary>
    [Fact]
    public void What_comes_in_waves_is_as_uncertain_at_any_size_beyond_and_no_more_than_measured_within()
    {
        double[] flat = [.. Tenths.Select(_ => 20.0)];
        GrowthFit steady = GrowthFit.Of(Tenths, flat, new FitRequest(0.005, 0.05, 0, []))!;
        GrowthFit waves = GrowthFit.Of(Tenths, flat, new FitRequest(0.005, 0.05, 0, []) { Waves = 0.12 })!;
        Assert.Equal(steady.At(1e7), waves.At(1e7));
        Assert.InRange(steady.At(2e7).High / steady.At(2e7).Low, 1, 1.1);
        foreach (double documents in (double[])[2e7, 5e8])
        {
            Prediction expected = waves.At(documents);
            Assert.InRange(expected.Value, 19.5, 20.5);
            Assert.InRange(20 * 1.3, expected.Value, expected.High);
            Assert.InRange(expected.High / expected.Low, 1.6, 2.2);
        }
    }

    [Fact]
    public void A_memory_that_is_outgrown_is_found_near_its_place_and_slow_falls_are_not_taken_for_one()
    {
        int found = 0;
        int mistaken = 0;
        for (ulong run = 0; run < Runs; run++)
        {
            double[] drawn = Noise(107, run, 0.04, Tenths.Length);
            GrowthFit outgrown = Fit([.. Tenths.Select((n, i) => (1 + (9 * Math.Max(0, 1 - (4.2e6 / n)))) * drawn[i])])!;
            GrowthFit slow = Fit([.. Tenths.Select((n, i) => Math.Pow(n, 0.05) * drawn[i])])!;
            found +=
                outgrown.ShapeWeight > 0.5 && outgrown.Where<Outgrown>(shape => shape.Documents)!.Value.Value is > 3.4e6 and < 5e6 ? 1 : 0;
            mistaken += slow.ShapeWeight > 0.5 ? 1 : 0;
        }

        Assert.InRange(found, 95, Runs);
        Assert.InRange(mistaken, 0, 5);
    }

    [Fact]
    public void One_size_at_which_something_else_happened_moves_the_forecast_by_less_than_a_tenth()
    {
        double[] drawn = Noise(108, 1, 0.02, Tenths.Length);
        double[] disturbed = [.. drawn.Select((v, i) => i == 5 ? 4 * v : v)];
        Assert.InRange(Fit(disturbed)!.At(2e7).Value / Fit(drawn)!.At(2e7).Value, 0.9, 1.1);
    }

    [Fact]
    public void The_interval_widens_with_the_distance_and_three_sizes_give_none()
    {
        GrowthFit fit = Fit(Noise(109, 1, 0.03, Tenths.Length))!;
        double[] widths = [.. new[] { 1e7, 5e7, 5e8, 5e9 }.Select(n => fit.At(n)).Select(p => p.High / p.Low)];
        Assert.Equal(widths.Order(), widths);
        Assert.True(widths[^1] > 1.5 * widths[0]);
        Assert.Null(GrowthFit.Of([1, 2, 3], [1, 1, 1], new FitRequest(0.02, 0.25, 0.03, [])));
    }

    [Fact]
    public void What_is_there_from_the_start_is_told_from_what_each_document_takes()
    {
        double[] journal = [.. Tenths.Select(n => 1300 + (3e8 / n))];
        GrowthFit fit = GrowthFit.Of(Tenths, journal,
            new FitRequest(0.005, 0.05, 0.005, [[.. new[] { 0.05, 0.1, 0.2, 0.25, 0.5, 1 }.Select(share => new Offset(share * 1e6))]]))!;
        Assert.InRange(fit.At(5e8).Value, 1250, 1350);
    }

    private static GrowthFit? Fit(double[] times) => GrowthFit.Of(Tenths, times, OperationForecast.RequestFor(Tenths, 0.02, 0));

    private static double[] Noise(ulong seed, ulong run, double variation, int count) =>
        [.. new NoisySamples((seed * 1000) + run, variation, 0).Window(count, 1)];

    private static int CountHeld(
        ulong seed, double noise, double documents, Func<double, double> truth, Func<Prediction, double, bool> isUseful)
    {
        int held = 0;
        for (ulong run = 0; run < Runs; run++)
        {
            double[] drawn = Noise(seed, run, noise, Tenths.Length + 1);
            Prediction expected = Fit([.. Tenths.Select((n, i) => truth(n) * drawn[i])])!.At(documents);
            double measured = truth(documents) * drawn[^1];
            held += measured >= expected.Low && measured <= expected.High && isUseful(expected, measured) ? 1 : 0;
        }

        return held;
    }
}

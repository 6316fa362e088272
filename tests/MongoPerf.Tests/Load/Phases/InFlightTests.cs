using System.Text.Json;
using MongoPerf.Reports;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Load.Growth;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>
/// The worst moment of a run is in its result: nothing in the samples of the measured part is worse than what the result and
/// the findings admit.
/// </summary>
public sealed class InFlightTests
{
    /// <summary>
    /// Found by a user: four finds of 2.44 to 2.49 s lay across the end of the warm-up; the result said "0 operations/s", and
    /// no finding said more.
    /// </summary>
    [Fact]
    public void A_stall_across_the_end_of_a_warm_up_is_in_the_result_and_a_finding()
    {
        using StoredRun run = Measure(
            "warmup: 1s, duration: 3s", (clock, _) => clock.Seconds is > 0.8 and < 1 ? 2.46 : 0.1, out GrowthHarness plan);
        using GrowthHarness owner = plan;
        OperationResult result = run.Phases[^1].Operations.Single();
        Assert.Equal(2_460_000, result.LatencyMicroseconds.Max!.Value, 3000.0);
        Assert.Equal(1, result.InFlightAtStart!.Operations);
        Assert.InRange(result.Operations, 1, 5);
        Finding finding = Assert.Single(RunFindings.Of(run), finding => finding.Id == FindingIds.InFlight);
        Assert.StartsWith("read: an operation that was in flight when the warm-up ended took 2.4", finding.Text, StringComparison.Ordinal);
        Assert.Contains(RunVerdicts.Of(run), verdict => verdict.Text == finding.Text);
    }

    [Theory]
    [InlineData("warmup: 1s, duration: 3s")]
    [InlineData("warmup: 750ms, duration: 2s")]
    [InlineData("warmup: 1s, count: 150")]
    [InlineData("warmup: 1s, duration: 3s, rate: 40, arrivals: poisson")]
    [InlineData("warmup: 500ms, duration: 2s, think: {mean: 30ms}")]
    public void Nothing_in_the_samples_is_worse_than_what_the_result_admits(string length)
    {
        for (int seed = 1; seed <= 12; seed++)
        {
            var random = new Random(seed);
            // Waits that begin in the second before the end of the warm-up and in that before the end of the phase.
            using StoredRun run = Measure(
                length, (_, _) => random.Next(8) == 0 ? random.NextDouble() * 2.5 : random.NextDouble() * 0.02, out GrowthHarness plan);
            using GrowthHarness owner = plan;
            OperationResult result = run.Phases[^1].Operations.Single();
            Sample[] samples = [.. run.ReadSamples()
                .Where(sample => sample is { IsWarmup: false, Operation: "find" } && sample.Phase == run.Phases[^1].Number)];
            Assert.True(Worst(samples.Select(sample => sample.LatencyMicroseconds)) <= Worst([result.LatencyMicroseconds]),
                $"{length}, seed {seed}: service time");
            Assert.True(Worst(samples.Select(sample => sample.ResponseMicroseconds)) <= Worst([result.ResponseMicroseconds]),
                $"{length}, seed {seed}: response time");
            Assert.Equal(samples.Sum(sample => sample.Operations), result.Operations);
            Assert.DoesNotContain(RunFindings.Of(run), finding => finding.Id == FindingIds.InFlight && !finding.IsVerdict);
        }
    }

    /// <summary>
    /// Replies that come after the window count, so those that were under way at its start must not: ten a second stay ten a second.
    /// </summary>
    [Fact]
    public void Arrivals_in_flight_when_measuring_begins_do_not_raise_the_rate()
    {
        using StoredRun run = Measure("warmup: 1s, duration: 3s, rate: 10", (_, _) => 0.07, out GrowthHarness plan);
        using GrowthHarness owner = plan;
        OperationResult result = run.Phases[^1].Operations.Single();
        Assert.Equal(10, result.OperationsPerSecond, 6);
    }

    /// <summary>A rate of 0 beside a latency is of no operation.</summary>
    [Fact]
    public void The_only_operation_has_a_rate_though_it_was_in_flight_when_measuring_began()
    {
        using StoredRun run = Measure(
            "warmup: 1s, duration: 2s, rate: 10", (clock, _) => clock.Seconds > 0.8 ? 5 : 0.01, out GrowthHarness plan);
        using GrowthHarness owner = plan;
        OperationResult result = run.Phases[^1].Operations.Single();
        Assert.Equal((1, 1), (result.Operations, result.InFlightAtStart!.Operations));
        Assert.Equal(1 / result.Seconds, result.OperationsPerSecond, 6);
    }

    /// <summary>Of a run of an earlier version, whose operations counted where they began.</summary>
    [Fact]
    public void A_sample_that_is_worse_than_the_stored_result_is_a_finding()
    {
        using var folder = new TemporaryFolder();
        string path = folder.At("run");
        using (RunStore store = RunStore.Create(path, RunParts.Run("x"), RunParts.Settings()))
        {
            PhaseRecord phase = RunParts.Grown(1, "q4", 1, 135_000, RunParts.Result("find"));
            store.BeginPhase(phase, continues: false);
            store.AddSample(new Sample
            {
                AtMilliseconds = RunParts.Start.ToUnixTimeMilliseconds() + 1000, Phase = 1, Operation = "find", IsWarmup = false,
                Seconds = 1, Operations = 4, Documents = 4,
                Bytes = 4, Failed = 0, CollectionDocuments = 135_000, LatencyMicroseconds = RunParts.Latency(61_500),
            });
            store.EndPhase(phase);
            store.SetState(RunState.Finished, null, RunParts.Start.AddMinutes(1));
        }

        using StoredRun run = StoredRun.Open(path);
        Finding finding = Assert.Single(RunFindings.Of(run), finding => finding.Id == FindingIds.InFlight);
        Assert.Equal(
            "q4 took up to 2.46 s at 135k documents, which its result leaves out: the operation was in flight when the warm-up ended",
            finding.Text);
    }

    /// <summary>Found by a review: what hung for 30 s and then failed was slow nowhere.</summary>
    [Theory]
    [InlineData("count: 20")]
    [InlineData("count: 20, rate: 1")]
    public void An_operation_that_fails_after_a_hang_is_as_slow_as_it_was_in_tables_findings_and_files(string length)
    {
        using var harness = new GrowthHarness
        {
            Text = $"data: {{users: {{count: 1, document: {{n: ^number}}}}}}\nphases:\n"
                + $"  - {{name: read, threads: 1, {length}, operations: [{{find: users, key: uniform}}]}}\n",
        };
        Assert.True(harness.Run(i => i switch
        {
            7 => Scripted.Refused(50, "MaxTimeMSExpired", "late", 30),
            9 => Scripted.Refused(50, "MaxTimeMSExpired", "late"),
            _ => Scripted.Ok(),
        }));
        using StoredRun run = harness.OpenStored();
        ErrorCount error = Assert.Single(run.Phases[^1].Operations.Single().Errors);
        Assert.Equal(2, error.Count);
        Assert.Equal(30_000_000, error.SlowestMicroseconds!.Value, 30_000.0);
        Assert.Equal(error.SlowestMicroseconds, Assert.Single(run.Errors).SlowestMicroseconds);
        Finding finding = Assert.Single(RunFindings.Of(run), finding => finding.Id == FindingIds.FailedOperations);
        Assert.Contains("; the slowest failed after 30", finding.Text, StringComparison.Ordinal);
        Assert.StartsWith("30", ReportTables.Errors(run)!.Rows[0][1], StringComparison.Ordinal);
        using var json = new StringWriter();
        JsonReport.Write(run, json);
        using JsonDocument report = JsonDocument.Parse(json.ToString());
        Assert.Equal(error.SlowestMicroseconds, report.RootElement.GetProperty("errors")[0].GetProperty("slowestMicroseconds").GetDouble());
        Assert.Equal(error.SlowestMicroseconds,
            report.RootElement.GetProperty("phases")[1].GetProperty("errors")[0].GetProperty("slowestMicroseconds").GetDouble());
    }

    /// <param name="length">Of the phase.</param>
    /// <param name="seconds">Of each operation: of the clock and the operation's number.</param>
    /// <param name="plan">Holds the run's folder.</param>
    private static StoredRun Measure(string length, Func<ManualClock, int, double> seconds, out GrowthHarness plan)
    {
        GrowthHarness harness = plan = new GrowthHarness
        {
            Text = $"data: {{users: {{count: 1, document: {{n: ^number}}}}}}\nphases:\n"
                + $"  - {{name: read, threads: 1, {length}, operations: [{{find: users, key: uniform}}]}}\n",
        };
        Assert.True(plan.Run(i => i == 0 ? Scripted.Ok(0) : Scripted.Ok(seconds(harness.Clock, i))));
        return plan.OpenStored();
    }

    private static double Worst(IEnumerable<LatencySummary?> latencies) => latencies.Max(latency => latency?.Max) ?? 0;
}

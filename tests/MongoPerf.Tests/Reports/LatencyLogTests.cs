using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

public sealed class LatencyLogTests
{
    [Fact]
    public void A_name_with_blanks_and_commas_becomes_a_tag_without() =>
        Assert.Equal(["build_price__twice"], Tags([RunParts.Phase(1, "build", RunParts.Result("build price, twice"))]));

    [Fact]
    public void Operations_of_growths_are_tagged_with_their_phase_and_with_threads_where_these_vary() =>
        Assert.Equal(["q4-1", "q4-8", "q5", "find"], Tags(
        [
            RunParts.Grown(1, "q4", 1, 1000, RunParts.Result("find", 1)), RunParts.Grown(2, "q4", 1, 1000, RunParts.Result("find", 8)),
            RunParts.Grown(3, "q5", 1, 1000, RunParts.Result("find", 8)), RunParts.Phase(4, "after", RunParts.Result("find", 8)),
        ]));

    /// <summary>Operations that take turns would leave nothing to join if only neighbours were.</summary>
    [Fact]
    public void Samples_of_a_mix_are_joined_by_operation()
    {
        using var runs = new TemporaryFolder();
        using StoredRun run = Stored(runs, [RunParts.Phase(1, "mix", RunParts.Result("read"), RunParts.Result("update"))], seconds: 50);
        List<(string Operation, double Seconds)> joined = [.. SampleThinning.Merge(run, perRow: 5)
            .Select(merged => (merged.Sample.Operation, merged.Sample.Seconds))];
        Assert.Equal(20, joined.Count);
        Assert.All(joined.GroupBy(one => one.Operation), operation => Assert.Equal(50, operation.Sum(one => one.Seconds)));
    }

    private static string[] Tags(IReadOnlyList<PhaseRecord> phases)
    {
        using var runs = new TemporaryFolder();
        using StoredRun run = Stored(runs, phases, seconds: 2);
        var output = new StringWriter();
        SampleFiles.Write(run, TextWriter.Null, output);
        return [.. output.ToString().Split('\n')
            .Where(line => line.StartsWith("Tag=", StringComparison.Ordinal)).Select(line => line[4..line.IndexOf(',')]).Distinct()];
    }

    private static StoredRun Stored(TemporaryFolder runs, IReadOnlyList<PhaseRecord> phases, int seconds)
    {
        var histogram = new LatencyHistogram();
        histogram.Record(100);
        using (RunStore store = RunStore.Create(runs.At("run"), RunParts.Run(), RunParts.Settings()))
        {
            int second = 0;
            foreach (PhaseRecord phase in phases)
            {
                for (int i = 0; i < seconds; i++)
                {
                    second++;
                    foreach (OperationResult result in phase.Operations)
                        store.AddSample(RunParts.Sample(second, result.Operation) with
                        {
                            Phase = phase.Number, IsWarmup = false, Histogram = HistogramEncoding.EncodeCompressed(histogram),
                        });
                }

                store.EndPhase(phase);
            }
        }

        return StoredRun.Open(runs.At("run"));
    }
}

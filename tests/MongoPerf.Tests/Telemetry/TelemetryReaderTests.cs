using System.Globalization;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Telemetry;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Telemetry;

/// <summary>Whenever a run is looked at, its totals are those of the rows that it has then.</summary>
public sealed class TelemetryReaderTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Totals_are_the_sums_of_the_rows_whatever_happened_between_looks(int seed)
    {
        var random = new Random(seed);
        using RunStore store = RunStore.Create(_runs.At("r"), RunParts.Run("r"), RunParts.Settings());
        for (int phase = 1; phase <= 2; phase++)
            store.BeginPhase(RunParts.Phase(phase, $"p{phase}") with { IsComplete = false }, continues: false);
        var reader = new TelemetryReader(_runs.At("r"));
        for (int step = 1; step <= 60; step++)
        {
            int phase = random.Next(1, 3);
            switch (random.Next(6))
            {
                // Begun anew, with fewer, as many or more rows than it had.
                case 0:
                    store.BeginPhase(RunParts.Phase(phase, $"p{phase}") with { IsComplete = false }, continues: false);
                    break;
                case 1:
                    store.BeginPhase(RunParts.Phase(phase, $"p{phase}") with { IsComplete = false }, continues: true);
                    break;
            }

            for (int row = random.Next(4); row > 0; row--)
            {
                string operation = random.Next(2) == 0 ? "read" : "write";
                store.AddSample(SampledRun.SampleOf(step, operation, random.Next(1, 50)) with { Phase = phase });
            }

            store.Flush();
            for (int look = random.Next(3); look > 0; look--)
                AssertSame(step, reader.Look());
        }

        AssertSame(61, reader.Look());

        void AssertSame(int step, TelemetrySnapshot found)
        {
            using StoredRun run = StoredRun.Open(_runs.At("r"));
            ILookup<(int Phase, string Operation), Sample> all =
                run.ReadSamples(withHistograms: true).ToLookup(row => (row.Phase, row.Operation));
            Assert.Equal(all.Count, found.Points.Count(point => point.Metric == TelemetryMetric.Operations));
            foreach (IGrouping<(int Phase, string Operation), Sample> rows in all)
            {
                var latencies = new LatencyHistogram();
                foreach (Sample row in rows)
                    HistogramEncoding.DecodeInto(latencies, row.Histogram.Span);
                string where = string.Create(CultureInfo.InvariantCulture, $"seed {seed}, step {step}, {rows.Key}");
                Assert.Equal((where, rows.Sum(row => row.Operations)), (where, Value(TelemetryMetric.Operations)));
                Assert.Equal((where, rows.Sum(row => row.Failed)), (where, Value(TelemetryMetric.Errors)));
                Assert.Equal((where, rows.Sum(row => row.Documents)), (where, Value(TelemetryMetric.Documents)));
                Assert.Equal((where, rows.Sum(row => row.Bytes)), (where, Value(TelemetryMetric.DocumentBytes)));
                Assert.Equal(latencies.Buckets(), Point(TelemetryMetric.Duration).Latencies!.Buckets());
                string count = $"db_client_operation_duration_seconds_count{{mongoperf_phase=\"p{rows.Key.Phase}\","
                    + $"db_operation_name=\"{rows.Key.Operation}\"}} {latencies.TotalCount}\n";
                Assert.Contains(count, PrometheusText.Write(found), StringComparison.Ordinal);

                double Value(TelemetryMetric metric) => Point(metric).Value;

                TelemetryPoint Point(TelemetryMetric metric) => found.Points.Single(point => point.Metric == metric
                    && point.Attributes.Select(one => one.Value).SequenceEqual([$"p{rows.Key.Phase}", rows.Key.Operation]));
            }
        }
    }
}

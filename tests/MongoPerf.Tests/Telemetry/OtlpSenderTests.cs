using System.Collections.Concurrent;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Telemetry;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Telemetry;

/// <summary>A run's metrics at an OpenTelemetry receiver, which may be away.</summary>
public sealed class OtlpSenderTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();
    private readonly OtlpReceiver _receiver = new();
    private readonly ConcurrentQueue<string> _warnings = new();

    public void Dispose()
    {
        _receiver.Dispose();
        _runs.Dispose();
    }

    [Fact]
    public void Operations_servers_and_machine_arrive_under_their_names_with_their_values()
    {
        SampledRun.Write(_runs.At("r"));
        new OtlpSender(_runs.At("r"), new Uri(_receiver.Url), _warnings.Enqueue).Dispose();

        Assert.Empty(_warnings);
        Assert.StartsWith("POST /v1/metrics HTTP/1.1", _receiver.Heads[0], StringComparison.Ordinal);
        IReadOnlyList<ReceivedMetric> latest = _receiver.Latest;
        ReceivedMetric duration = Assert.Single(latest, one => one.Name == "db.client.operation.duration");
        Assert.Equal(("s", "exponential histogram"), (duration.Unit, duration.Kind));
        Assert.Equal("db.operation.name=q4,mongoperf.phase=q4", duration.Attributes);
        Assert.Equal(SampledRun.Operations, duration.Value);
        const double Sum = SampledRun.Operations * SampledRun.LatencySeconds;
        Assert.Equal(Sum, duration.Sum, Sum * 0.01);
        Assert.Equal(("sum", SampledRun.Operations), Of("mongoperf.operations"));
        Assert.Equal(("sum", SampledRun.Failed), Of("mongoperf.errors"));
        // The run has ended, so nothing is done any more.
        Assert.Equal(("gauge", 0), Of("mongoperf.operation.rate"));
        Assert.Equal(("gauge", 0), Of("mongoperf.run.active"));
        ReceivedMetric queries = Assert.Single(latest, one => one.Name == "mongodb.operation.count" && one.Attributes.Contains("=query"));
        Assert.Equal("operation=query,server.address=127.0.0.1,server.port=27017", queries.Attributes);
        Assert.Equal(700, queries.Value);
        ReceivedMetric memory = Assert.Single(latest, one => one.Name == "mongodb.memory.usage" && one.Attributes.Contains("=resident"));
        Assert.Equal(("By", 100.0 * (1 << 20)), (memory.Unit, memory.Value));
        ReceivedMetric cpu = Assert.Single(latest, one => one.Name == "system.cpu.time" && one.Attributes == "cpu.mode=user");
        Assert.Equal(("s", 2.5), (cpu.Unit, cpu.Value));
        Assert.Contains("service.instance.id=r", _receiver.Resource);
        Assert.Contains("mongoperf.server.version=6.0.5", _receiver.Resource);
        Assert.Contains("db.system.name=mongodb", _receiver.Resource);

        (string, double) Of(string name) => latest.Where(one => one.Name == name).Select(one => (one.Kind, one.Value)).Single();
    }

    [Fact]
    public void Damaged_latencies_take_nothing_else_away()
    {
        SampledRun.Write(_runs.At("r"), damaged: [1, 2, 3]);
        var reader = new TelemetryReader(_runs.At("r"));
        for (int look = 0; look < 2; look++)
            Assert.Equal(
                SampledRun.Operations, reader.Look().Points.Single(point => point.Metric == TelemetryMetric.Operations).Value);
    }

    [Fact]
    public void Latencies_are_sent_once_however_often_the_same_seconds_are_looked_at()
    {
        SampledRun.Write(_runs.At("r"));
        Send(() => { });
        Assert.Equal([SampledRun.Operations], Durations.Select(one => one.Value).Distinct());
        Assert.Empty(_warnings);
    }

    [Fact]
    public void A_look_that_fails_sends_no_latency_again()
    {
        SampledRun.Write(_runs.At("r"));
        Send(() => File.Delete(_runs.At("r/run.db")));
        Assert.Equal([SampledRun.Operations], Durations.Select(one => one.Value).Distinct());
        Assert.Contains("has no run.db", Assert.Single(_warnings), StringComparison.Ordinal);
    }

    [Fact]
    public void Latencies_add_up_over_looks()
    {
        SampledRun.Write(_runs.At("r"));
        // Some of the second look's are in a bucket that was sent before.
        Send(() => Store(store =>
        {
            store.AddSample(SampledRun.SampleOf(3, "q4", 7));
            store.AddSample(SampledRun.SampleOf(4, "q4", 5, latencySeconds: 0.5));
        }));
        Assert.Equal([SampledRun.Operations, SampledRun.Operations + 12], Durations.Select(one => one.Value).Distinct());
        Assert.Equal(((SampledRun.Operations + 7) * SampledRun.LatencySeconds) + 2.5, Durations[^1].Sum, 0.05);
    }

    [Fact]
    public void Latencies_of_an_attempt_that_was_discarded_do_not_come_twice()
    {
        SampledRun.Write(_runs.At("r"));
        // As many rows as were there before, so that the last row's number tells nothing.
        Send(() => Store(store =>
        {
            store.BeginPhase(RunParts.Phase(1, "q4") with { IsComplete = false }, continues: false);
            store.AddSample(SampledRun.SampleOf(3, "q4", 15));
            store.AddSample(SampledRun.SampleOf(4, "q4", 20));
        }));
        Assert.Equal([SampledRun.Operations, 35], Durations.Select(one => one.Value).Distinct());
        Assert.Equal(35, _receiver.Latest.Single(one => one.Name == "mongoperf.operations").Value);
    }

    [Fact]
    public void An_absurd_number_of_latencies_holds_nobody_up()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(1000);
        byte[] encoded = HistogramEncoding.EncodeCompressed(histogram);
        for (int doubled = 0; doubled < 40; doubled++)
        {
            HistogramEncoding.DecodeInto(histogram, encoded);
            encoded = HistogramEncoding.EncodeCompressed(histogram);
        }

        SampledRun.Write(_runs.At("r"), damaged: encoded);
        Send(() => { });
        Assert.Equal(2_000_000, Durations[0].Value);
    }

    private IReadOnlyList<ReceivedMetric> Durations =>
        [.. _receiver.Exports.Select(export => export.Single(one => one.Name == "db.client.operation.duration"))];

    /// <summary>Sends a run twice, and does something in between.</summary>
    private void Send(Action meanwhile)
    {
        using var sender = new OtlpSender(_runs.At("r"), new Uri(_receiver.Url), _warnings.Enqueue);
        _receiver.AwaitExport();
        meanwhile();
    }

    private void Store(Action<RunStore> write)
    {
        using RunStore store = RunStore.Open(_runs.At("r"));
        write(store);
    }

    [Fact]
    public void A_redirect_is_a_refusal_and_nothing_is_sent_where_it_leads()
    {
        SampledRun.Write(_runs.At("r"));
        using var other = new OtlpReceiver();
        _receiver.Status = $"307 Temporary Redirect\r\nLocation: {other.Url}/v1/metrics";
        new OtlpSender(_runs.At("r"), new Uri(_receiver.Url), _warnings.Enqueue).Dispose();
        Assert.EndsWith("it answered 307 RedirectKeepVerb", Assert.Single(_warnings), StringComparison.Ordinal);
        Assert.Empty(other.Heads);
    }

    [Theory]
    [InlineData("503 Service Unavailable", "it answered 503 ServiceUnavailable")]
    [InlineData(null, "Connection refused")]
    public void A_receiver_that_takes_nothing_is_told_once(string? status, string why)
    {
        SampledRun.Write(_runs.At("r"));
        var address = new Uri(_receiver.Url);
        if (status is null)
            _receiver.Dispose();
        else
            _receiver.Status = status;
        new OtlpSender(_runs.At("r"), address, _warnings.Enqueue).Dispose();
        string warning = Assert.Single(_warnings);
        Assert.StartsWith($"--otlp: {address}v1/metrics took no metrics: ", warning, StringComparison.Ordinal);
        Assert.Contains(why, warning, StringComparison.Ordinal);
    }

    [Fact]
    public void A_receiver_that_does_not_answer_is_asked_once_more_when_the_run_ends_and_given_up()
    {
        SampledRun.Write(_runs.At("r"));
        _receiver.IsSilent = true;
        new OtlpSender(_runs.At("r"), new Uri(_receiver.Url), _warnings.Enqueue).Dispose();
        Assert.Contains("no answer in 5 s", Assert.Single(_warnings), StringComparison.Ordinal);
    }

    [Fact]
    public void A_path_of_the_address_is_taken_as_it_is()
    {
        SampledRun.Write(_runs.At("r"));
        new OtlpSender(_runs.At("r"), new Uri(_receiver.Url + "/otlp/metrics"), _warnings.Enqueue).Dispose();
        Assert.StartsWith("POST /otlp/metrics HTTP/1.1", _receiver.Heads[0], StringComparison.Ordinal);
    }
}

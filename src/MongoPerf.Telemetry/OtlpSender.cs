using System.Diagnostics.Metrics;
using System.Runtime.InteropServices;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using OpenTelemetry;
using OpenTelemetry.Exporter;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;

namespace MongoPerf.Telemetry;

/// <summary>Sends a run's metrics to an OpenTelemetry receiver by OTLP over HTTP, from the run's folder.</summary>
/// <remarks>
/// A receiver that is away costs nobody anything but its data: it is told once, and counters catch up when it is back. Where the
/// conventions of OpenTelemetry have environment variables, they count: OTEL_METRIC_EXPORT_INTERVAL, OTEL_EXPORTER_OTLP_HEADERS,
/// OTEL_RESOURCE_ATTRIBUTES.
/// </remarks>
public sealed class OtlpSender : IDisposable
{
    private const string MeterName = "MongoPerf";
    private const string MetricsPath = "/v1/metrics";
    private const string HeadersVariable = "OTEL_EXPORTER_OTLP_HEADERS";
    private const string IntervalVariable = "OTEL_METRIC_EXPORT_INTERVAL";
    private const int MillisecondsToAnswer = 5000;

    /// <summary>Enough for one metric of a run with many phases.</summary>
    private const int MostPointsOfMetric = 2000;

    /// <summary>
    /// The SDK takes latencies one by one, 0.06 µs of CPU time each (measured with 1.20.1); it has no call for many at once. This many
    /// take 0.12 s; what is left over comes with the sends that follow.
    /// </summary>
    private const long MostRecordsOfSend = 2_000_000;

    private static readonly TimeSpan UsualInterval = TimeSpan.FromSeconds(5);

    private readonly TelemetryReader _reader;
    private readonly Uri _endpoint;
    private readonly Action<string> _warn;
    private readonly TimeSpan _interval;
    private readonly Meter _meter = new(MeterName);
    private readonly ManualResetEventSlim _stop = new();
    private readonly AnswerWatch _answers = new();
    private readonly OtlpMetricExporter _exporter;
    private readonly Thread _thread;
    private TelemetrySnapshot _snapshot = new([], []);
    private readonly Dictionary<string, SentLatencies> _sent = [];
    private Histogram<double>? _durations;
    private bool _hasWarned;

    /// <summary>Starts to send.</summary>
    /// <param name="runFolder">Of a run, under way or not.</param>
    /// <param name="receiver">Such as http://localhost:4318; a path of its own is taken as it is, and a query is sent with it.</param>
    /// <param name="warn">Gets a line for people, once, on another thread.</param>
    /// <exception cref="FormatException">A variable of OpenTelemetry's is wrong; says which.</exception>
    public OtlpSender(string runFolder, Uri receiver, Action<string> warn)
    {
        _reader = new TelemetryReader(runFolder);
        _endpoint = receiver.AbsolutePath == "/" ? new UriBuilder(receiver) { Path = MetricsPath }.Uri : receiver;
        _warn = warn;
        _interval = int.TryParse(Environment.GetEnvironmentVariable(IntervalVariable), out int milliseconds) && milliseconds > 0
            ? TimeSpan.FromMilliseconds(milliseconds) : UsualInterval;
        try
        {
            _exporter = new OtlpMetricExporter(new OtlpExporterOptions
            {
                Endpoint = _endpoint, Protocol = OtlpExportProtocol.HttpProtobuf, TimeoutMilliseconds = MillisecondsToAnswer,
                HttpClientFactory = () => new HttpClient(_answers) { Timeout = TimeSpan.FromMilliseconds(MillisecondsToAnswer) },
            });
        }
        catch (ArgumentException)
        {
            // What it holds is for nobody's eyes.
            throw new FormatException($"{HeadersVariable} is not a list of headers");
        }

        _thread = new Thread(Send) { IsBackground = true, Name = "otlp" };
        _thread.Start();
    }

    /// <summary>Sends what is new for the last time, and ends; takes no longer than a receiver may take to answer.</summary>
    public void Dispose()
    {
        _stop.Set();
        _thread.Join(2 * MillisecondsToAnswer);
        _meter.Dispose();
        _exporter.Dispose();
    }

    private void Send()
    {
        MeterProvider? provider = null;
        BaseExportingMetricReader? exporting = null;
        try
        {
            for (bool isLast = false; ; isLast = _stop.Wait(_interval))
            {
                try
                {
                    _snapshot = _reader.Look();
                }
                catch (RunStoreException e)
                {
                    Warn(e.Message.Split('\n')[0]);
                }

                if (provider is null && _snapshot.Points.Count > 0)
                    (provider, exporting) = Open(_snapshot.Resource);
                bool hasAll = RecordDurations();
                for (long until = Environment.TickCount64 + MillisecondsToAnswer; isLast && !hasAll && Environment.TickCount64 < until;)
                    hasAll = RecordDurations();
                if (isLast && !hasAll)
                    Warn("the run has more latencies than can be sent at its end: the last ones are left out");
                if (exporting?.Collect(MillisecondsToAnswer) == false)
                    // Without the query, which may hold a key.
                    Warn($"{_endpoint.GetLeftPart(UriPartial.Path)} took no metrics: {_answers.Problem ?? "no answer"}");
                if (isLast)
                    return;
            }
        }
        finally
        {
            provider?.Dispose();
        }
    }

    private void Warn(string text)
    {
        if (!_hasWarned)
            _warn($"--otlp: {text}");
        _hasWarned = true;
    }

    private (MeterProvider Provider, BaseExportingMetricReader Reader) Open(IReadOnlyList<KeyValuePair<string, object>> resource)
    {
        foreach (TelemetryMetric metric in TelemetryMetric.All)
            Make(metric);
        var reader = new BaseExportingMetricReader(_exporter);
        MeterProvider provider = Sdk.CreateMeterProviderBuilder()
            .SetResourceBuilder(ResourceBuilder.CreateEmpty().AddAttributes(resource).AddTelemetrySdk().AddEnvironmentVariableDetector())
            .AddMeter(MeterName)
            .AddView(
                TelemetryMetric.Duration.Name, new Base2ExponentialBucketHistogramConfiguration { CardinalityLimit = MostPointsOfMetric })
            .AddReader(reader).Build();
        return (provider, reader);
    }

    private void Make(TelemetryMetric metric)
    {
        switch (metric.Kind)
        {
            case TelemetryKind.Counter:
                _meter.CreateObservableCounter<double>(metric.Name, () => ValuesOf(metric), metric.Unit, metric.Description);
                break;
            case TelemetryKind.Gauge:
                _meter.CreateObservableGauge<double>(metric.Name, () => ValuesOf(metric), metric.Unit, metric.Description);
                break;
            default:
                _durations = _meter.CreateHistogram<double>(metric.Name, metric.Unit, metric.Description);
                break;
        }
    }

    private IEnumerable<Measurement<double>> ValuesOf(TelemetryMetric metric) => _snapshot.Points
        .Where(point => point.Metric.Name == metric.Name).Select(point => new Measurement<double>(point.Value, point.Attributes));

    /// <summary>
    /// Records what a look has beyond what was recorded before, so that a look at the same rows again adds nothing. Where a phase began
    /// anew, and has fewer latencies than before, nothing is added until it has more.
    /// </summary>
    /// <returns>False when there are more than one send may record.</returns>
    private bool RecordDurations()
    {
        if (_durations is null)
            return true;
        long most = MostRecordsOfSend;
        foreach (TelemetryPoint point in _snapshot.Points)
        {
            if (point.Latencies is not { } latencies)
                continue;
            string key = string.Join('\0', point.Attributes.Select(static one => one.Value));
            if (!_sent.TryGetValue(key, out SentLatencies? sent))
                _sent[key] = sent = new SentLatencies(_durations, [.. point.Attributes]);
            most -= sent.Advance(latencies, most);
        }

        return most > 0;
    }

    /// <summary>The latencies of one operation that the SDK has, by the values of their buckets.</summary>
    private sealed class SentLatencies(Histogram<double> durations, KeyValuePair<string, object?>[] attributes)
    {
        private const double LongestMicroseconds = LatencyHistogram.HighestNanoseconds / 1e3;

        private readonly Dictionary<double, long> _counts = [];

        /// <returns>How many were recorded, <paramref name="most"/> at most.</returns>
        public long Advance(LatencyHistogram all, long most)
        {
            long recorded = 0;
            foreach ((double microseconds, long count) in all.Buckets().Append((double.PositiveInfinity, all.OverflowCount)))
            {
                ref long sent = ref CollectionsMarshal.GetValueRefOrAddDefault(_counts, microseconds, out _);
                long due = Math.Min(count - sent, most - recorded);
                for (long i = 0; i < due; i++)
                    durations.Record(Math.Min(microseconds, LongestMicroseconds) / 1e6, attributes);
                sent += Math.Max(0, due);
                recorded += Math.Max(0, due);
            }

            return recorded;
        }
    }

    /// <summary>Keeps what went wrong, which the exporter does not tell.</summary>
    private sealed class AnswerWatch() : DelegatingHandler(
        // Wherever an answer leads, what logs in to the receiver is for nobody else.
        new SocketsHttpHandler { AllowAutoRedirect = false })
    {
        public string? Problem { get; private set; }

        protected override HttpResponseMessage Send(HttpRequestMessage request, CancellationToken cancellationToken) =>
            Watched(() => base.Send(request, cancellationToken));

        protected override async Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
        {
            try
            {
                return Noted(await base.SendAsync(request, cancellationToken).ConfigureAwait(false));
            }
            catch (Exception e) when (e is HttpRequestException or OperationCanceledException)
            {
                Problem = TextOf(e);
                throw;
            }
        }

        private HttpResponseMessage Watched(Func<HttpResponseMessage> send)
        {
            try
            {
                return Noted(send());
            }
            catch (Exception e) when (e is HttpRequestException or OperationCanceledException)
            {
                Problem = TextOf(e);
                throw;
            }
        }

        private HttpResponseMessage Noted(HttpResponseMessage answer)
        {
            Problem = answer.IsSuccessStatusCode ? null : $"it answered {(int)answer.StatusCode} {answer.StatusCode}";
            return answer;
        }

        private static string TextOf(Exception e) =>
            e is OperationCanceledException ? $"no answer in {MillisecondsToAnswer / 1000} s" : e.Message;
    }
}

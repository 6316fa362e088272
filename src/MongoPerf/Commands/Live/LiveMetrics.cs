using System.Diagnostics;
using MongoPerf.Storage;
using MongoPerf.Telemetry;

namespace MongoPerf.Commands.Live;

/// <summary>A run's metrics as Prometheus reads them. Safe for all threads.</summary>
/// <remarks>
/// Nothing is read while nobody asks. Who asks more often than the run's folder is worth a look gets what was found last.
/// </remarks>
/// <param name="folder">Of the run.</param>
internal sealed class LiveMetrics(string folder)
{
    public const string ContentType = PrometheusText.ContentType;

    /// <summary>So many times as long as a look took is rested, so that reading takes a bounded share of a core.</summary>
    private const double RestsPerLook = 100;
    private static readonly TimeSpan ShortestRest = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private TelemetryReader? _reader;
    private string? _text;
    private long _lookedAt;
    private TimeSpan _rest;

    /// <returns>Null when the run's folder can't be read.</returns>
    public string? Read()
    {
        lock (_lock)
        {
            if (_text is not null && Stopwatch.GetElapsedTime(_lookedAt) < _rest)
                return _text;
            long begun = Stopwatch.GetTimestamp();
            try
            {
                _reader ??= new TelemetryReader(folder);
                _text = PrometheusText.Write(_reader.Look());
            }
            catch (RunStoreException)
            {
                _text = null;
            }

            _lookedAt = Stopwatch.GetTimestamp();
            TimeSpan rest = RestsPerLook * Stopwatch.GetElapsedTime(begun, _lookedAt);
            _rest = rest > ShortestRest ? rest : ShortestRest;
            return _text;
        }
    }
}

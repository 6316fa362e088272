using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Running.Merging;

/// <summary>
/// Adds up the seconds of several clients: those of a phase that lie nearest to one another, by the clocks' common time, become one.
/// </summary>
/// <remarks>
/// A client's own seconds keep their order and their distance, so each of them is in exactly one sum. Holds the seconds of
/// one phase at a time.
/// </remarks>
internal sealed class SampleMerger
{
    private readonly Dictionary<(string Operation, bool IsWarmup), List<(int Client, Sample Sample)>> _seconds = [];

    /// <param name="client">0-based.</param>
    /// <param name="samples">The samples of one phase, in time order, by the common clock.</param>
    public void Add(int client, IEnumerable<Sample> samples)
    {
        foreach (Sample sample in samples)
        {
            if (!_seconds.TryGetValue((sample.Operation, sample.IsWarmup), out List<(int, Sample)>? all))
                _seconds[(sample.Operation, sample.IsWarmup)] = all = [];
            all.Add((client, sample with { OfGroup = null }));
        }
    }

    /// <returns>The sums, in time order.</returns>
    public IEnumerable<Sample> Take() => _seconds.Values.SelectMany(Sums).OrderBy(sample => sample.AtMilliseconds);

    /// <summary>Adds encoded histograms.</summary>
    /// <returns>Empty when all are.</returns>
    public static (LatencyHistogram? Sum, ReadOnlyMemory<byte> Encoded) Add(IEnumerable<ReadOnlyMemory<byte>> encoded)
    {
        ReadOnlyMemory<byte>[] all = [.. encoded.Where(bytes => !bytes.IsEmpty)];
        if (all.Length == 0)
            return (null, default);
        var sum = new LatencyHistogram();
        foreach (ReadOnlyMemory<byte> bytes in all)
            HistogramEncoding.DecodeInto(sum, bytes.Span);
        return (sum, HistogramEncoding.EncodeCompressed(sum));
    }

    private static IEnumerable<Sample> Sums(List<(int Client, Sample Sample)> seconds)
    {
        long origin = seconds.Min(one => one.Sample.AtMilliseconds);
        var first = seconds.GroupBy(one => one.Client).ToDictionary(own => own.Key, own => own.First().Sample);
        long start = first.Values.Min(sample => sample.CollectionDocuments);
        var known = new Dictionary<int, long>();
        foreach (var second in seconds.GroupBy(one => Place(one.Sample, first[one.Client], origin)).OrderBy(second => second.Key))
        {
            foreach ((int client, Sample sample) in second)
                known[client] = sample.CollectionDocuments - first[client].CollectionDocuments;
            yield return Sum([.. second]) with { CollectionDocuments = start + known.Values.Sum() };
        }
    }

    /// <summary>
    /// Whole seconds behind the first of all: rounded once for each client, so that none of its seconds changes places with the next.
    /// </summary>
    private static long Place(Sample sample, Sample first, long origin) =>
        (long)Math.Round((first.AtMilliseconds - origin) / 1000.0) + (long)Math.Round(
            (sample.AtMilliseconds - first.AtMilliseconds) / 1000.0);

    private static Sample Sum((int Client, Sample Sample)[] all)
    {
        Sample[] samples = [.. all.Select(one => one.Sample)];
        if (samples.Length == 1)
            return samples[0];
        (LatencyHistogram? service, ReadOnlyMemory<byte> histogram) = Add(samples.Select(sample => sample.Histogram));
        (LatencyHistogram? response, ReadOnlyMemory<byte> responses) = Add(samples.Select(sample => sample.ResponseHistogram));
        (LatencyHistogram? lateness, ReadOnlyMemory<byte> latenesses) = Add(samples.Select(sample => sample.LatenessHistogram));
        bool hasRate = samples.Any(sample => sample.HasRate);
        return samples[0] with
        {
            AtMilliseconds = samples.Max(sample => sample.AtMilliseconds),
            HasOutage = samples.Any(sample => sample.HasOutage),
            // One client's two short ones follow one another; two clients' lie side by side.
            Seconds = all.GroupBy(one => one.Client).Max(own => own.Sum(one => one.Sample.Seconds)),
            Operations = samples.Sum(sample => sample.Operations),
            Documents = samples.Sum(sample => sample.Documents),
            Bytes = samples.Sum(sample => sample.Bytes),
            Failed = samples.Sum(sample => sample.Failed),
            LatencyMicroseconds = LatencySummaries.From(service ?? new LatencyHistogram()),
            ResponseMicroseconds = hasRate ? LatencySummaries.From(response ?? new LatencyHistogram()) : null,
            LatenessMicroseconds = hasRate ? LatencySummaries.From(lateness ?? new LatencyHistogram()) : null,
            Histogram = histogram,
            ResponseHistogram = responses,
            LatenessHistogram = latenesses,
        };
    }
}

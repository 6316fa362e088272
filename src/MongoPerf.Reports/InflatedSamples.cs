using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>A run's samples for those who read their histograms several times.</summary>
internal static class InflatedSamples
{
    /// <summary>Few enough that not much waits, and enough that handing them over costs next to nothing.</summary>
    private const int Batch = 64;

    /// <summary>Reads the samples in time order; idle processors inflate their histograms ahead. Streams.</summary>
    /// <exception cref="HistogramFormatException">A histogram is damaged.</exception>
    public static IEnumerable<Sample> Of(StoredRun run)
    {
        var ahead = new Queue<Task<Sample[]>>();
        foreach (Sample[] batch in run.ReadSamples(withHistograms: true).Chunk(Batch))
        {
            ahead.Enqueue(Task.Run(() => Array.ConvertAll(batch, Inflated)));
            if (ahead.Count > Environment.ProcessorCount)
            {
                foreach (Sample sample in ahead.Dequeue().GetAwaiter().GetResult())
                    yield return sample;
            }
        }

        foreach (Sample sample in ahead.SelectMany(static batch => batch.GetAwaiter().GetResult()))
            yield return sample;
    }

    private static Sample Inflated(Sample sample) => sample with
    {
        Histogram = HistogramEncoding.Inflate(sample.Histogram),
        ResponseHistogram = HistogramEncoding.Inflate(sample.ResponseHistogram),
        LatenessHistogram = HistogramEncoding.Inflate(sample.LatenessHistogram),
    };
}

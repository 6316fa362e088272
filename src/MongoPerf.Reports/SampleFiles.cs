using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>The two files that hold all samples of a run.</summary>
internal static class SampleFiles
{
    /// <summary>Writes both while it reads the samples once: a day has hundreds of thousands of histograms to decode.</summary>
    /// <param name="run">Its samples are read with their histograms.</param>
    /// <param name="rows">Gets the comma-separated values of <see cref="CsvReport.BeginSamples"/>.</param>
    /// <param name="log">Gets the <see cref="LatencyLog"/>.</param>
    /// <param name="also">Gets each row too; null for nobody else.</param>
    public static void Write(StoredRun run, TextWriter rows, TextWriter log, Action<MergedSample>? also = null)
    {
        Action<MergedSample> addRow = CsvReport.BeginSamples(run, rows);
        Action<MergedSample> addLines = LatencyLog.Begin(run, log);
        foreach (MergedSample sample in SampleThinning.Merge(run, SampleThinning.PerRow(run)))
        {
            addRow(sample);
            addLines(sample);
            also?.Invoke(sample);
        }
    }
}

using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>The two files that hold all samples of a run.</summary>
internal static class SampleFiles
{
    /// <summary>Writes both while it reads the samples once: a day has hundreds of thousands of histograms to decode.</summary>
    /// <param name="run">Its samples are read with their histograms.</param>
    /// <param name="rows">Gets the comma-separated values of <see cref="CsvReport.BeginSamples"/>.</param>
    /// <param name="log">Gets the <see cref="LatencyLog"/>.</param>
    public static void Write(StoredRun run, TextWriter rows, TextWriter log)
    {
        Action<MergedSample> addRow = CsvReport.BeginSamples(run, rows);
        Action<MergedSample> addLines = LatencyLog.Begin(run, log);
        foreach (MergedSample sample in SampleThinning.Merge(run))
        {
            addRow(sample);
            addLines(sample);
        }
    }
}

using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>The service times of a run's tests as a HdrHistogram log, one tag per test; the warm-up is left out.</summary>
internal static class LatencyLog
{
    public static void Write(StoredRun run, TextWriter output)
    {
        bool manyThreads = run.Settings.Threads.Count > 1;
        var log = new HdrLogWriter(output, run.Run.StartedAt, $"MongoPerf {run.Run.Version}, run {run.Run.Id}; the tag is the test");
        foreach (MergedSample merged in SampleThinning.Merge(run))
        {
            PhaseSample sample = merged.Sample;
            if (sample.IsWarmup || merged.Histogram.TotalCount == 0)
                continue;
            log.Write(TagOf(manyThreads ? $"{sample.Test}-{sample.Threads}" : sample.Test), merged.Start, TimeSpan.FromSeconds(sample.Seconds), merged.Histogram);
        }
    }

    /// <summary>Operations of scenarios are named as their authors like; a tag has no commas and no blanks.</summary>
    private static string TagOf(string name) => string.Concat(name.Select(c => c == ',' || char.IsWhiteSpace(c) ? '_' : c));
}

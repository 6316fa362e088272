using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>The latencies of a run's operations as a HdrHistogram log, one tag per operation; the warm-up is left out.</summary>
/// <remarks>The tag alone is of service times; with a rate there are NAME.response and NAME.lateness too.</remarks>
internal static class LatencyLog
{
    /// <summary>Writes the head of the log.</summary>
    /// <returns>Writes the lines of a sample.</returns>
    public static Action<MergedSample> Begin(StoredRun run, TextWriter output)
    {
        Dictionary<int, PhaseRecord> phases = run.Phases.ToDictionary(phase => phase.Number);
        HashSet<string> varied =
        [
            .. run.Phases.SelectMany(phase => phase.Operations.Select(result => (Name: NameOf(phase, result.Operation), result.Threads)))
                .GroupBy(one => one.Name).Where(same => same.Select(one => one.Threads).Distinct().Count() > 1).Select(same => same.Key),
        ];
        var log = new HdrLogWriter(output, run.Run.StartedAt, $"MongoPerf {run.Run.Version}, run {run.Run.Id}"
            + $"{(NotMongoDb.Of(run) is { } other ? $" ({other}, not MongoDB)" : "")}; the tag is the operation: "
            + "its service times, with a rate also .response and .lateness");
        return merged =>
        {
            Sample sample = merged.Sample;
            if (sample.IsWarmup || merged.Histograms.Service.TotalCount == 0)
                return;
            string tag = TagOf(phases.GetValueOrDefault(sample.Phase), sample.Operation, varied);
            Write(tag, merged.Histograms.Service);
            if (sample.HasRate)
            {
                Write(tag + ".response", merged.Histograms.Response);
                Write(tag + ".lateness", merged.Histograms.Lateness);
            }

            void Write(string name, LatencyHistogram histogram) =>
                log.Write(name, merged.Start, TimeSpan.FromSeconds(sample.Seconds), histogram);
        };
    }

    private static string NameOf(PhaseRecord phase, string operation) =>
        phase.Growth is null ? operation : PhaseLabels.Of(phase, operation);

    /// <summary>
    /// The tag of an operation, such as "q4", or "q4-8" where the number of threads varies. Names are their authors' choice, but a tag has
    /// neither commas nor blanks.
    /// </summary>
    private static string TagOf(PhaseRecord? phase, string operation, HashSet<string> varied)
    {
        string name = phase is null ? operation : NameOf(phase, operation);
        if (varied.Contains(name) && phase?.Operations.FirstOrDefault(result => result.Operation == operation) is { } result)
            name += $"-{result.Threads}";
        return string.Concat(name.Select(c => c == ',' || char.IsWhiteSpace(c) ? '_' : c));
    }
}

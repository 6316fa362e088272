using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>
/// Makes figures that no scenario file has to name: rate and latency of each phase against the parameter that it was run with several
/// values of. Growths have charts over size instead.
/// </summary>
internal static class SweepFigures
{
    public static IEnumerable<FigureInfo> Of(IReadOnlyList<FigureRun> runs)
    {
        foreach (IGrouping<string, PhaseRecord> phase in runs.SelectMany(run => run.Stored.Phases)
            .Where(p => p.Growth is null && p.Kind != PhaseKind.Create).GroupBy(p => p.Phase))
        {
            PhaseRecord[] records = [.. phase];
            string[] varied = [.. Varied(records)];
            if (varied.Length == 0)
                continue;
            // Operations times other parameters would be more lines than one can tell apart.
            bool hasOthers = varied.Length > 1 || runs.Select(r => r.Deployment).Distinct().Count() > 1;
            bool showsLatency = !hasOthers || records.All(p => p.Operations.Count <= 1);
            yield return new FigureInfo
            {
                Title = Words.Of($"{phase.Key}: {(showsLatency ? Words.Of("rate and latency") : Words.Of("rate"))} by {varied[0]}"),
                X = varied[0],
                Y = !showsLatency ? ["rate"]
                    : records.Any(p => p.Operations.Any(o => o.HasRate)) ? ["rate", "p99", "serviceP99"] : ["rate", "p99"],
                Of = new ResultChoice { Phases = [phase.Key] },
            };
        }
    }

    /// <summary>
    /// Orders the parameters with several values, the one for the axis first: numbers before names, then the one with the most values.
    /// </summary>
    private static IEnumerable<string> Varied(IReadOnlyList<PhaseRecord> records) =>
        records.SelectMany(p => p.Parameters).Select(p => p.Name).Distinct()
            .Where(name => name != Dimension.Repeat && records.Select(p => p.ValueOf(name)).Distinct().Count() > 1)
            .OrderByDescending(name => records.All(p => FigureAxis.NumberOf(p.ValueOf(name)) is not null))
            .ThenByDescending(name => records.Select(p => p.ValueOf(name)).Distinct().Count());
}

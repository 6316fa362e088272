using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Scenarios;

namespace MongoPerf.Reporting.Figures;

/// <summary>Figures that nobody asked for: rate and latency of each phase against the parameter that it was run with several values of.</summary>
internal static class SweepFigures
{
    public static IEnumerable<FigureInfo> Of(IReadOnlyList<FigureRun> runs)
    {
        foreach (IGrouping<string, MeasuredPoint> phase in runs.SelectMany(run => MeasuredPoint.Of(run.Stored)).Where(p => !p.Point.IsCreate).GroupBy(p => p.Point.Phase))
        {
            MeasuredPoint[] points = [.. phase];
            string[] varied = [.. Varied(points)];
            if (varied.Length == 0)
                continue;
            // Operations times other parameters would be more lines than one can tell apart.
            bool hasOthers = varied.Length > 1 || runs.Select(r => r.Deployment).Distinct().Count() > 1;
            bool showsLatency = !hasOthers || points.All(p => p.Step.Tests.Count <= 1);
            yield return new FigureInfo
            {
                Title = $"{phase.Key}: {(showsLatency ? "rate and latency" : "rate")} by {varied[0]}",
                X = varied[0],
                Y = showsLatency ? ["rate", "p99"] : ["rate"],
                Of = new ResultChoice { Phases = [phase.Key] },
            };
        }
    }

    /// <summary>First the one for the axis: numbers before names, then the one with the most values.</summary>
    private static IEnumerable<string> Varied(IReadOnlyList<MeasuredPoint> points) => points.SelectMany(p => p.Point.Parameters).Select(p => p.Name).Distinct()
        .Where(name => name != Dimension.Repeat && points.Select(p => p.ValueOf(name)).Distinct().Count() > 1)
        .OrderByDescending(name => points.All(p => FigureAxis.NumberOf(p.ValueOf(name)) is not null))
        .ThenByDescending(name => points.Select(p => p.ValueOf(name)).Distinct().Count());
}

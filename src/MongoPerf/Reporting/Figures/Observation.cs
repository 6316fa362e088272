using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Scenarios;

namespace MongoPerf.Reporting.Figures;

/// <summary>What one phase of one run measured with one value of each parameter, or what one of its operations did.</summary>
/// <param name="Run">Whose it is.</param>
/// <param name="Point">The phase and its parameters.</param>
/// <param name="Operation">Its name, or <see cref="Total"/>.</param>
/// <param name="Tests">The results of the operation, or of several.</param>
internal sealed record Observation(FigureRun Run, MeasuredPoint Point, string Operation, IReadOnlyList<TestResult> Tests)
{
    public const string Total = "total";

    /// <returns>Null where the phase does not have the dimension.</returns>
    public string? ValueOf(string dimension) => dimension switch
    {
        Dimension.Phase => Point.Point.Phase,
        Dimension.Operation => Operation,
        Dimension.Deployment => Run.Deployment,
        Dimension.Documents => Point.Step.Documents.ToString(CultureInfo.InvariantCulture),
        Dimension.Threads => Point.ValueOf(dimension) ?? Point.Point.Groups.Sum(g => g.Threads).ToString(CultureInfo.InvariantCulture),
        _ => Point.ValueOf(dimension) ?? Run.Stored.Scenario?.Parameters.FirstOrDefault(p => p.Name == dimension)?.Value,
    };

    public double? Measure(FigureMetric metric) => metric.Of(Point.Step, Tests);
}

/// <summary>Observations of one or several runs, and the dimensions that tell them apart.</summary>
/// <param name="All">Those that were chosen.</param>
/// <param name="Mixed">Dimensions that nobody named but without which unlike results would fall together.</param>
internal sealed record Observations(IReadOnlyList<Observation> All, IReadOnlyList<string> Mixed)
{
    /// <param name="runs">One, or those of a comparison.</param>
    /// <param name="choice">Of the figure or table.</param>
    /// <param name="metrics">Shown. Latencies tell operations apart, named or not.</param>
    /// <param name="named">Dimensions that the figure or table spreads out.</param>
    public static Observations Of(IReadOnlyList<FigureRun> runs, ResultChoice choice, IReadOnlyList<string> metrics, IReadOnlyList<string> named)
    {
        bool isOperationNamed = named.Contains(Dimension.Operation);
        bool byOperation = isOperationNamed || metrics.Any(name => FigureMetric.All.Any(m => m.Name == name && m.IsPerOperation));
        bool withTotal = byOperation && !isOperationNamed && choice.Operations.Count == 0 && metrics.Contains("rate");
        Observation[] all =
        [
            .. runs.SelectMany(run => MeasuredPoint.Of(run.Stored).Select(point => (Run: run, Point: point)))
                .Where(one => choice.Phases.Count == 0 || choice.Phases.Contains(one.Point.Point.Phase))
                .OrderBy(one => IndexOf(choice.Phases, one.Point.Point.Phase))
                .SelectMany(one => Of(one.Run, one.Point, choice, byOperation, withTotal))
                .Where(o => choice.Where.All(w => o.ValueOf(w.Name) == w.Value)),
        ];
        return new Observations(all, MixedIn(all, named));
    }

    private static IEnumerable<Observation> Of(FigureRun run, MeasuredPoint point, ResultChoice choice, bool byOperation, bool withTotal)
    {
        TestResult[] tests =
        [
            .. point.Step.Tests.Where(t => choice.Operations.Count == 0 || choice.Operations.Contains(t.Test)).OrderBy(t => IndexOf(choice.Operations, t.Test)),
        ];
        if (tests.Length > 0 && (!byOperation || (withTotal && tests.Length > 1)))
            yield return new Observation(run, point, tests.Length == 1 ? tests[0].Test : Observation.Total, tests);
        if (!byOperation)
            yield break;
        foreach (TestResult test in tests)
            yield return new Observation(run, point, test.Test, [test]);
    }

    /// <summary>What varies among observations that are alike in all that is named. Runs are always told apart.</summary>
    private static List<string> MixedIn(Observation[] all, IReadOnlyList<string> named)
    {
        var mixed = new List<string>();
        // Documents and time run along the axis: that two phases never met there is no reason to join them.
        List<string> known = [.. named.Where(d => d is not (Dimension.Documents or Dimension.Time))];
        IEnumerable<string> parameters = all.SelectMany(o => o.Point.Point.Parameters).Select(p => p.Name).Where(name => name != Dimension.Repeat);
        foreach (string dimension in parameters.Prepend(Dimension.Phase).Append(Dimension.Operation).Append(Dimension.Deployment).Distinct().Except(named))
        {
            bool isMixed = dimension == Dimension.Deployment
                ? all.Select(o => o.ValueOf(dimension)).Distinct().Count() > 1
                : all.GroupBy(o => Key(o, [.. known, .. mixed])).Any(group => group.Select(o => o.ValueOf(dimension)).Distinct().Count() > 1);
            if (isMixed)
                mixed.Add(dimension);
        }

        return mixed;
    }

    /// <summary>Equal for observations with the same values.</summary>
    public static string Key(Observation one, IEnumerable<string> dimensions) => string.Join('\u001f', dimensions.Select(one.ValueOf));

    /// <summary>The mean over repeats; null when none has it.</summary>
    public static double? Mean(IEnumerable<Observation> same, FigureMetric metric)
    {
        double[] values = [.. same.Select(o => o.Measure(metric)).OfType<double>().Where(double.IsFinite)];
        return values.Length == 0 ? null : values.Average();
    }

    private static int IndexOf(IReadOnlyList<string> order, string name) => order.TakeWhile(n => n != name).Count();
}

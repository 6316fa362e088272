using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Histories;

/// <summary>The values of a metric of an operation on one deployment, a value for each point of a history.</summary>
/// <param name="Operation">What was measured.</param>
/// <param name="Metric">What of it.</param>
/// <param name="Title">The operation among the others of the history, such as "q4" or "mix read".</param>
/// <param name="Deployment">What tells its deployment from the others'; empty where there is only one.</param>
/// <param name="Values">NaN where a point has none; otherwise above 0.</param>
/// <param name="Low">The least of a point's repeats; NaN for a single run.</param>
/// <param name="High">The greatest of them.</param>
public sealed record HistoryRow(
    ComparedOperation Operation, FigureMetric Metric, string Title, string Deployment, IReadOnlyList<double> Values,
    IReadOnlyList<double> Low, IReadOnlyList<double> High)
{
    /// <summary>The metric that counts documents of inserts and operations of others, as comparisons do.</summary>
    private const string Rate = "rate";

    /// <summary>The latency is response time, because a rate was set.</summary>
    public bool HasRate { get; init; }

    /// <summary>Its rate is that of documents.</summary>
    public bool IsInsert { get; init; }

    public bool IsBetterHigh => Metric.IsRate;

    /// <summary>"q4 rate", "q4 p99 (2 shards)".</summary>
    public string Name => $"{Title} {Metric.Name}{(Deployment.Length > 0 ? $" ({Deployment})" : "")}";

    /// <summary>What the values are, for an axis.</summary>
    public string AxisTitle =>
        IsInsert && Metric.Name == Rate ? FigureMetric.Find("documentRate").TitleOf(false) : Metric.TitleOf(HasRate);

    /// <summary>A result at one size of a growth, or in one repeat of a phase.</summary>
    private readonly record struct Measured(WindowKey Key, FigureMetric Metric, double Value, OperationResult? Result);

    /// <summary>Makes the rows for which the points have values, by operation, metric and deployment.</summary>
    /// <param name="points">In the order in which they ran.</param>
    /// <param name="metrics">What is wanted.</param>
    internal static IEnumerable<HistoryRow> Of(IReadOnlyList<HistoryPoint> points, IReadOnlyList<HistoryMetric> metrics)
    {
        Measured[][][] measured = [.. points.Select(point => point.Runs.Select(run => MeasuredIn(run, metrics).ToArray()).ToArray())];
        ComparedOperation[] operations = [.. measured.SelectMany(point => point.SelectMany(run => run))
            .Select(one => one.Key.Operation).Distinct()];
        IReadOnlyList<string> deployments = HistoryDeployments.Of(points);
        foreach (ComparedOperation operation in operations)
        {
            string title = operation.TitleAmong(operations);
            foreach (HistoryMetric wanted in metrics.Where(one => Fits(one.Operation, operation, title)).DistinctBy(one => one.Metric))
            {
                foreach (string deployment in deployments.Distinct())
                {
                    Measured[][][] own = [.. measured.Select((point, i) => deployments[i] != deployment ? []
                        : point.Select(run => run.Where(one => one.Key.Operation == operation && one.Metric == wanted.Metric).ToArray())
                            .Where(run => run.Length > 0).ToArray())];
                    if (RowOf(operation, wanted.Metric, title, deployment, own) is { } row)
                        yield return row;
                }
            }
        }
    }

    /// <summary>The names that metrics may have before their dot: those of operations as reports call them, and of phases.</summary>
    public static IEnumerable<string> NamesIn(IReadOnlyList<HistoryPoint> points, IReadOnlyList<HistoryMetric> metrics)
    {
        ComparedOperation[] operations = [.. points.SelectMany(point => point.Runs)
            .SelectMany(run => MeasuredIn(run, metrics)).Select(one => one.Key.Operation).Distinct()];
        return operations.SelectMany(one => new[] { one.TitleAmong(operations), one.Phase, one.Operation }).Distinct();
    }

    private static bool Fits(string? wanted, ComparedOperation operation, string title) =>
        wanted is null || wanted == title || wanted == operation.Phase || wanted == operation.Operation;

    private static HistoryRow? RowOf(
        ComparedOperation operation, FigureMetric metric, string title, string deployment, Measured[][][] points)
    {
        Measured[][] runs = [.. points.SelectMany(point => point)];
        if (runs.Length == 0)
            return null;
        // Of growths the sizes that all runs have.
        HashSet<long> common = [.. runs.Select(run => run.Select(one => one.Key.At)).Aggregate(static (all, one) => all.Intersect(one))];
        double[][] values = [.. points.Select(point => point.Select(run => run.Where(one => common.Contains(one.Key.At)).ToArray())
            .Where(run => run.Length > 0).Select(run => Math.Exp(run.Average(one => Math.Log(one.Value)))).ToArray())];
        return values.All(point => point.Length == 0) ? null : new HistoryRow(
            operation, metric, title, deployment,
            [.. values.Select(point => point.Length == 0 ? double.NaN : Math.Exp(point.Average(value => Math.Log(value))))],
            [.. values.Select(point => point.Length < 2 ? double.NaN : point.Min())],
            [.. values.Select(point => point.Length < 2 ? double.NaN : point.Max())])
        {
            HasRate = runs.Any(run => run.Any(one => one.Result?.HasRate == true)),
            IsInsert = runs.All(run => run.All(one => one.Result?.IsInsert == true)),
        };
    }

    private static IEnumerable<Measured> MeasuredIn(StoredRun run, IReadOnlyList<HistoryMetric> metrics)
    {
        foreach (PhaseRecord phase in run.Phases.Where(phase => phase.Kind != PhaseKind.Create))
        {
            foreach (FigureMetric metric in metrics.Select(one => one.Metric).Distinct())
            {
                foreach ((WindowKey key, OperationResult? result) in ResultsFor(metric, phase))
                {
                    if (ValueOf(run, metric, phase, result) is > 0 and < double.PositiveInfinity and { } value)
                        yield return new Measured(key, metric, value, result);
                }
            }
        }
    }

    /// <summary>A mix has one rate, its total's; sizes are those of a phase.</summary>
    private static IEnumerable<(WindowKey Key, OperationResult? Result)> ResultsFor(FigureMetric metric, PhaseRecord phase)
    {
        if (metric.Unit != MetricUnit.Bytes)
            return (metric.IsRate ? phase.Independent : phase.Operations)
                .Select(result => (WindowKey.Of(phase, result), (OperationResult?)result));
        var ofPhase = new ComparedOperation(phase.Growth?.Growth, phase.Phase, PhaseLabels.Parameters(phase.Parameters), phase.Phase, 0);
        return phase.Sizes.Count == 0 ? [] : [(new WindowKey(ofPhase, phase.Growth?.Documents ?? 1), null)];
    }

    private static double? ValueOf(StoredRun run, FigureMetric metric, PhaseRecord phase, OperationResult? result) =>
        metric.Name == Rate && result is { IsInsert: true } ? result.DocumentsPerSecond
            : metric.Of(run, phase, result is null ? [] : [result]);
}

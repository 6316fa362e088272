using System.Globalization;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>
/// What one phase of one run measured with one value of each parameter, of a growth at one size; or what one of its operations did.
/// </summary>
/// <param name="Run">The run that it is of.</param>
/// <param name="Phase">The phase with its parameters.</param>
/// <param name="Operation">The operation's name, or that of a total.</param>
/// <param name="Results">The results of the operation, of the phase's total, or of several operations that were chosen; none where a phase
/// only took sizes.</param>
internal sealed record Observation(FigureRun Run, PhaseRecord Phase, string Operation, IReadOnlyList<OperationResult> Results)
{
    /// <returns>The value; null where the phase does not have the dimension.</returns>
    public string? ValueOf(string dimension) => dimension switch
    {
        Dimension.Phase => Phase.Phase,
        Dimension.Operation => Operation,
        Dimension.Deployment => Run.Deployment,
        Dimension.Documents => Phase.DocumentsAtEnd().ToString(CultureInfo.InvariantCulture),
        Dimension.Size => Phase.Growth is { } growth ? Units.Count(growth.Documents) : null,
        Dimension.Threads => Phase.ValueOf(dimension) ?? Phase.Threads().ToString(CultureInfo.InvariantCulture),
        // A scenario may have a parameter of this name.
        Dimension.Clients => Phase.ValueOf(dimension) ?? Math.Max(1, Run.Stored.Run.Clients.Count).ToString(CultureInfo.InvariantCulture),
        _ => Phase.ValueOf(dimension) ?? Run.Stored.Settings.Plan.Parameters.FirstOrDefault(p => p.Name == dimension)?.Value,
    };

    /// <summary>The operations whose samples it has.</summary>
    public IEnumerable<string> OperationNames =>
        (Results.Any(result => result.IsTotal) ? Phase.Done : Results).Select(result => result.Operation);

    public double? Measure(FigureMetric metric) => metric.Of(Run.Stored, Phase, Results);
}

/// <summary>Observations of one or several runs, and the dimensions that tell them apart.</summary>
/// <param name="All">The observations that were chosen.</param>
/// <param name="Mixed">The dimensions that nobody named but without which unlike results would fall together.</param>
internal sealed record Observations(IReadOnlyList<Observation> All, IReadOnlyList<string> Mixed)
{
    /// <param name="runs">One run, or those of a comparison.</param>
    /// <param name="choice">What the figure or table chooses.</param>
    /// <param name="metrics">The metrics that are shown. Latencies tell operations apart, named or not.</param>
    /// <param name="named">The dimensions that the figure or table spreads out.</param>
    public static Observations Of(
        IReadOnlyList<FigureRun> runs, ResultChoice choice, IReadOnlyList<string> metrics, IReadOnlyList<string> named)
    {
        if (named.Contains(Dimension.Clients))
            runs = [.. runs.Select(run => run with { Deployment = run.Server })];
        bool isOperationNamed = named.Contains(Dimension.Operation);
        bool byOperation = isOperationNamed || metrics.Any(static name => LatencyMetric.Find(name) is not null);
        bool withTotal = byOperation && !isOperationNamed && choice.Operations.Count == 0 && metrics.Contains("rate");
        // What took no sizes would only be one more line without a value.
        bool areSizes = metrics.All(static name => FigureMetric.All.Any(metric => metric.Name == name && metric.Unit == MetricUnit.Bytes));
        Observation[] all =
        [
            .. runs.SelectMany(run => run.Stored.Phases.Select(phase => (Run: run, Phase: phase)))
                .Where(one => choice.Phases.Count == 0 || choice.Phases.Contains(one.Phase.Phase))
                .OrderBy(one => IndexOf(choice.Phases, one.Phase.Phase))
                .Where(one => !areSizes || one.Phase.Sizes.Count > 0)
                .SelectMany(one => Of(one.Run, one.Phase, choice, byOperation, withTotal))
                .Where(o => choice.Where.GroupBy(w => w.Name).All(allowed => allowed.Any(w => o.ValueOf(w.Name) == w.Value))),
        ];
        return new Observations(all, MixedIn(all, named));
    }

    /// <summary>Chooses the observations of a figure.</summary>
    /// <param name="runs">One run, or those of a comparison.</param>
    /// <param name="figure">A figure of a scenario or plot.</param>
    /// <param name="lines">The dimensions that tell its lines apart.</param>
    public static IReadOnlyList<Observation> Of(IReadOnlyList<FigureRun> runs, FigureInfo figure, out IReadOnlyList<string> lines)
    {
        IReadOnlyList<string> given = figure.Lines is { } dimension ? [dimension] : [];
        Observations chosen = Of(runs, figure.Of, figure.Y, [figure.X, .. given]);
        lines = [.. given, .. chosen.Mixed];
        return chosen.All;
    }

    private static IEnumerable<Observation> Of(FigureRun run, PhaseRecord phase, ResultChoice choice, bool byOperation, bool withTotal)
    {
        OperationResult[] results =
        [
            .. phase.Operations.Where(o => choice.Operations.Count == 0 || choice.Operations.Contains(o.Operation))
                .OrderBy(o => IndexOf(choice.Operations, o.Operation)),
        ];
        // What others wrote, or what it took to have a connection, adds to a sum only where it is named.
        OperationResult[] summed = choice.Operations.Count == 0 && phase.Done.Any() ? [.. phase.Done] : results;
        bool hasOnlySizes = phase.Operations.Count == 0 && phase.Sizes.Count > 0 && choice.Operations.Count == 0;
        if (hasOnlySizes || (summed.Length > 0 && (!byOperation || (withTotal && summed.Length > 1))))
        {
            OperationResult[] shown = phase.Total is { } total && phase.Done.ToHashSet().SetEquals(summed) ? [total] : summed;
            yield return new Observation(run, phase, shown.Length == 1 ? shown[0].Operation : OperationResult.TotalName, shown);
        }

        if (!byOperation)
            yield break;
        foreach (OperationResult result in results)
            yield return new Observation(run, phase, result.Operation, [result]);
    }

    /// <summary>Finds what varies among observations that are alike in all that is named. Runs are always told apart.</summary>
    private static List<string> MixedIn(Observation[] all, IReadOnlyList<string> named)
    {
        var mixed = new List<string>();
        // Documents and time run along the axis: that two phases never met there is no reason to join them.
        List<string> known = [.. named.Where(d => d is not (Dimension.Documents or Dimension.Time))];
        IEnumerable<string> parameters = all.SelectMany(o => o.Phase.Parameters)
            .Select(p => p.Name).Where(name => name != Dimension.Repeat);
        IEnumerable<string> others = named.Contains(Dimension.Documents)
            ? [Dimension.Operation, Dimension.Deployment]
            : [Dimension.Size, Dimension.Operation, Dimension.Deployment];
        foreach (string dimension in parameters.Prepend(Dimension.Phase).Concat(others).Distinct().Except(named))
        {
            bool isMixed = dimension == Dimension.Deployment
                ? all.Select(o => o.ValueOf(dimension)).Distinct().Count() > 1
                : all.GroupBy(o => Key(o, [.. known, .. mixed]))
                    .Any(group => group.Select(o => o.ValueOf(dimension)).Distinct().Count() > 1);
            if (isMixed)
                mixed.Add(dimension);
        }

        return mixed;
    }

    /// <summary>Makes a key that is equal for observations with the same values.</summary>
    public static string Key(Observation one, IEnumerable<string> dimensions) => string.Join('\u001f', dimensions.Select(one.ValueOf));

    /// <summary>Takes the mean over repeats; null when none has it.</summary>
    public static double? Mean(IEnumerable<Observation> same, FigureMetric metric)
    {
        double[] values = [.. same.Select(o => o.Measure(metric)).OfType<double>().Where(double.IsFinite)];
        return values.Length == 0 ? null : values.Average();
    }

    private static int IndexOf(IReadOnlyList<string> order, string name) => order.TakeWhile(n => n != name).Count();
}

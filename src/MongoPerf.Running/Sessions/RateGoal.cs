using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>What one rate came to.</summary>
/// <param name="Rate">The rate per second, as requested.</param>
/// <param name="Stage">The stage that <see cref="RateSteps.Stage"/> had.</param>
/// <param name="Run">Its id.</param>
/// <param name="Achieved">Operations per second over the phases that were paced.</param>
/// <param name="Value">The value of the metric in microseconds, the worst of all operations; null when nothing was measured.</param>
/// <param name="Problem">Why it does not hold; null when it does.</param>
public sealed record RateTry(double Rate, string Stage, string Run, double Achieved, double? Value, string? Problem)
{
    public bool Holds => Problem is null;
}

/// <summary>What a search came to.</summary>
/// <param name="Goal">What must be true.</param>
/// <param name="Tries">The tries in order.</param>
/// <param name="Found">The highest rate that held twice, per second; null for none.</param>
public sealed record RateSearchResult(RateGoal Goal, IReadOnlyList<RateTry> Tries, double? Found);

/// <summary>
/// What must be true of a rate that holds, such as "p99 &lt; 10ms" or "read.p99 &lt; 10ms": of response times, in every paced phase.
/// </summary>
public sealed class RateGoal
{
    /// <summary>The share of the arrivals that may be left when the window closes.</summary>
    private const double MostSkipped = 0.001;

    private static readonly string[] Comparisons = ["<=", "<"];

    private readonly LatencyMetric _metric;
    private readonly Assertion _assertion;

    private RateGoal(LatencyMetric metric, Assertion assertion) => (_metric, _assertion) = (metric, assertion);

    public string Text => _assertion.Text;

    public string Metric => _assertion.Metric;

    /// <exception cref="FormatException">It is no upper limit of a latency.</exception>
    public static RateGoal Parse(string text)
    {
        string? comparison = Comparisons.FirstOrDefault(c => text.Contains(c, StringComparison.Ordinal));
        string[] sides = comparison is null ? [] : text.Split(comparison, 2, StringSplitOptions.TrimEntries);
        if (sides.Length != 2)
            throw new FormatException($"'{text}' is not an upper limit of a latency, such as 'p99 < 10ms' or 'read.p99 < 10ms'");
        int dot = sides[0].LastIndexOf('.');
        string metric = sides[0][(dot + 1)..];
        AllowedNames allowed = LatencyMetric.AllowedWith(LatencyMetric.Usual);
        if (LatencyMetric.Find(metric) is not { } found)
            throw new FormatException($"'{metric}' is not a latency; allowed: {allowed}"
                + (allowed.Hint(metric) is { } hint ? $" ({hint})" : ""));
        return new RateGoal(found, new Assertion(text.Trim(), dot < 1 ? Assertion.Total : sides[0][..dot], metric, comparison!,
            Quantities.ParseDuration(sides[1]) * 1e6));
    }

    /// <exception cref="UserException">No phase of it was paced, or none does the operation.</exception>
    public RateTry Evaluate(StoredRun run, double rate, string stage)
    {
        PhaseRecord[] paced = [.. run.Phases.Where(phase => phase.Rate is not null)];
        OperationResult[] results = [.. paced.SelectMany(phase => _assertion.Operation == Assertion.Total
            ? phase.Done
            : phase.Operations.Where(result => result.Operation == _assertion.Operation))];
        if (results.Length == 0)
        {
            throw new UserException(
                ExitCode.WrongUsage, $"--assert: no phase with a rate measured '{_assertion.Operation}'; there are: "
                    + $"{string.Join(", ", paced.SelectMany(phase => phase.Operations).Select(result => result.Operation).Distinct())}");
        }

        double?[] values = [.. results.Select(result => run.ValueOf(_metric, result))];
        double? worst = values.All(value => value is not null) ? values.Max() : null;
        return new RateTry(rate, stage, run.Run.Id, paced.Average(phase => phase.Done.Sum(result => result.OperationsPerSecond)),
            worst, ProblemOf(paced, worst));
    }

    private string? ProblemOf(PhaseRecord[] paced, double? worst)
    {
        Accounting all = paced.SelectMany(phase => phase.Groups.Count > 0
            ? phase.Groups.Select(group => group.Accounting)
            : phase.Operations.Select(result => result.Accounting))
            .Aggregate(Accounting.None, (sum, one) => sum.Plus(one));
        return all.Failed > 0 ? $"{Units.Counted(all.Failed, "operation")} failed"
            : all.Skipped > MostSkipped
                * all.Scheduled ? $"{Units.Exact(all.Skipped)} of {Units.Exact(all.Scheduled)} arrivals were skipped"
            : worst is null ? "nothing was measured"
            : _assertion.Holds(worst) ? null
            : $"{Metric} is {Units.Latency(worst)}";
    }
}

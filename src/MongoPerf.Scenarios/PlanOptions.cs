using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Scenarios;

/// <summary>The options that take the place of a scenario file's values.</summary>
public static class PlanOptions
{
    private static readonly Func<string, object> Count = text => Quantities.ParseCount(text);
    private static readonly Func<string, object> Seconds = text => Quantities.ParseDuration(text);

    public static PlanOption Threads { get; } = new(
        "--threads", "N[,N…]", "Threads of the query phases; a list runs each in turn [default: 8]",
        text => Quantities.ParseList(text, one => (int)Quantities.ParseCount(one, 1, PhaseReader.MostThreads)))
    {
        Alias = "-t",
        IsList = true,
        Place = PlanPlace.Phases,
        Key = "threads",
        ValueIn = overrides => overrides.Threads,
        With = (overrides, value) => overrides with { Threads = (IReadOnlyList<int>?)value },
    };

    public static PlanOption Records { get; } = new(
        "--records", "COUNT",
        "Scenario: documents in its only collection; phase of the series: first load up to this many documents", Count)
    {
        Place = PlanPlace.Collection,
        Key = "count",
        ValueIn = overrides => overrides.Records,
        With = (overrides, value) => overrides with { Records = (long?)value },
    };

    public static PlanOption Operations { get; } = new(
        "--operations", "COUNT", "Number of operations over all threads, warm-up included", Count)
    {
        Place = PlanPlace.Phases,
        Key = "count",
        Displaces = ["duration", "warmup"],
        ValueIn = overrides => overrides.Operations,
        With = (overrides, value) => overrides with { Operations = (long?)value },
    };

    public static PlanOption Duration { get; } = new(
        "--duration", "DURATION",
        "Length of each measurement, warm-up included [default: the file's; 30s for a phase of the series without --operations]", Seconds)
    {
        Place = PlanPlace.Phases,
        Key = "duration",
        Displaces = ["count", "warmup"],
        ValueIn = overrides => overrides.Duration,
        With = (overrides, value) => overrides with { Duration = (double?)value },
    };

    public static PlanOption Warmup { get; } = new(
        "--warmup", "DURATION",
        "Warm-up, excluded from results [default: a quarter of the duration; none with --operations, or where the file says 0s]", Seconds)
    {
        Place = PlanPlace.Phases,
        Key = "warmup",
        ValueIn = overrides => overrides.Warmup,
        With = (overrides, value) => overrides with { Warmup = (double?)value },
    };

    public static PlanOption Until { get; } = new(
        "--until", "PRECISION",
        "Measure until a percentile is known to this precision, such as 'p99 ±2 %' (half its 95 % interval), "
        + "for --duration at most [default: 10m]",
        text => UntilReader.Parse(text).Text)
    {
        Place = PlanPlace.Phases,
        Key = "until",
        Displaces = ["duration", "count", "warmup"],
        Conflict = new PlanConflict(
            "--operations", "--until measures as long as it takes, so --operations does not apply",
            "--duration says how long it may take at most"),
        ValueIn = overrides => overrides.Until,
        With = (overrides, value) => overrides with { Until = (string?)value },
    };

    public static PlanOption Rates { get; } = new(
        "--rate", "RATE[,RATE…]",
        "Target operations per second over all threads, in the query phases; response times then count from when each operation "
        + "is due; a list runs each in turn [default: as fast as possible]",
        text => Quantities.ParseList(text, one => (double)Quantities.ParseCount(one)))
    {
        IsList = true,
        Place = PlanPlace.Phases,
        Key = "rate",
        Displaces = ["think"],
        ValueIn = overrides => overrides.Rates,
        With = (overrides, value) => overrides with { Rates = (IReadOnlyList<double>?)value },
    };

    public static PlanOption Target { get; } = new("--target", "COUNT", "Scenario with a growth: documents at the end", Count)
    {
        Place = PlanPlace.Growth,
        Key = "to",
        OtherKey = "sizes",
        // Without a step of its own the growth gets one that fits the target.
        Displaces = ["sizes", "step"],
        ValueIn = overrides => overrides.Target,
        With = (overrides, value) => overrides with { Target = (long?)value },
    };

    public static PlanOption Step { get; } = new("--step", "COUNT", "Scenario with a growth: documents per step", Count)
    {
        Place = PlanPlace.Growth,
        Key = "step",
        ValueIn = overrides => overrides.Step,
        With = (overrides, value) => overrides with { Step = (long?)value },
    };

    /// <summary>All options, in the order in which changes are listed.</summary>
    public static IReadOnlyList<PlanOption> All { get; } = [Threads, Records, Operations, Duration, Until, Warmup, Rates, Target, Step];

    /// <summary>Those that only <c>run</c> has, in the order of its help; <see cref="OfGrowths"/> apart.</summary>
    public static IReadOnlyList<PlanOption> OfRuns { get; } = [Duration, Until, Operations, Warmup, Records];

    /// <summary>Those that only a scenario with a growth takes, in the order of help.</summary>
    public static IReadOnlyList<PlanOption> OfGrowths { get; } = [Target, Step];

    /// <summary>Those that mean nothing to a phase that does not measure for a time, in the order in which a refusal lists them.</summary>
    public static IReadOnlyList<PlanOption> OfTimes { get; } = [Duration, Until, Warmup, Operations, Rates];

    /// <summary>Refuses options that exclude one another.</summary>
    /// <exception cref="UserException">Two of those that were typed do.</exception>
    public static void RequireCompatible(PlanOverrides overrides)
    {
        string[] typed = [.. All.Where(option => option.IsIn(overrides)).Select(option => option.Name)];
        foreach (PlanOption option in All)
        {
            if (option.Conflict is { } conflict && typed.Contains(option.Name) && typed.Contains(conflict.Other))
                throw new UserException(ExitCode.WrongUsage, conflict.Message, conflict.Hint);
        }
    }
}

using System.CommandLine;
using MongoPerf.Load.Plans;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary><c>--find-max --assert "p99 &lt; 10ms"</c>.</summary>
internal sealed class RateSearchOptions
{
    public Option<bool> FindMax { get; } = new("--find-max")
    {
        Description = "Search for the highest rate at which --assert holds, starting at --rate [default: 1000]; each rate is a run",
    };

    public Option<RateGoal?> Assert { get; } = OptionTypes.Make<RateGoal?>("--assert", null,
        "With --find-max: limit of a response time, such as 'p99 < 10ms' or 'read.p99 < 10ms'", "LIMIT", RateGoal.Parse)
        .Suggesting([.. LatencyMetric.Usual.Select(latency => $"{latency} < 10ms")]);

    /// <summary>Searches with --find-max, otherwise runs once or in sequence.</summary>
    /// <param name="parsed">The call.</param>
    /// <param name="shared">Its shared options.</param>
    /// <param name="overrides">The overrides of the command line.</param>
    /// <param name="read">Makes the requests, with the command line's overrides or with what a search changes in them.</param>
    /// <param name="otherwise">Runs requests that are no search.</param>
    public ExitCode Run(
        ParseResult parsed, SharedOptions shared, PlanOverrides overrides, Func<PlanOverrides, IReadOnlyList<RunRequest>> read,
        Func<IReadOnlyList<RunRequest>, ExitCode> otherwise)
    {
        RateGoal? goal = parsed.GetValue(Assert);
        if (!parsed.GetValue(FindMax))
            return goal is null ? otherwise(read(overrides)) : throw new UserException(
                ExitCode.WrongUsage, "--assert only applies with --find-max", "a scenario file has assert for its phases");
        if (parsed.CommandResult.Command.Options.FirstOrDefault(option => option.Name == "--agents") is { } agents
            && parsed.HasTyped(agents))
            throw new UserException(ExitCode.WrongUsage, "--find-max searches on one machine; --agents does not apply");
        if (goal is null)
            throw new UserException(ExitCode.WrongUsage, "--find-max needs --assert", "such as --assert 'p99 < 10ms'");
        if (parsed.GetValue(shared.Repeat) is > 1)
            throw new UserException(ExitCode.WrongUsage, "--find-max verifies its result with a second run; --repeat does not apply");
        return overrides.Rates is { Count: > 1 }
            ? throw new UserException(ExitCode.WrongUsage, "--find-max starts at one rate, and --rate names several")
            : RateSearch.Run(overrides, read, goal, overrides.Rates?[0] ?? RateSearch.UsualStart);
    }
}

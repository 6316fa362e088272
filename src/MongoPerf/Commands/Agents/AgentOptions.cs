using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Running.Agents;
using MongoPerf.Running.Sessions;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands.Agents;

/// <summary><c>--agents N --coordinator URI</c>.</summary>
internal sealed class AgentOptions
{
    public Option<int?> Agents { get; } = OptionTypes.Make<int?>("--agents", null,
        "Divide the plan among this many 'mongoperf agent' processes, and merge their results; allowed: "
        + $"1 to {Running.Agents.Coordinator.MostAgents}", "COUNT", text => ParseCount(text));

    public Option<double?> Within { get; } = OptionTypes.Duration(
        "--agents-within", "With --agents: how long to wait for all agents to join [default: 2m]", allowsZero: false);

    public static Option<string?> Coordinator() => OptionTypes.Uri(
        "--coordinator",
        "Connection string of a MongoDB through which agents get the plan; preferably not the one under load ('mongoperf serve' will do)");

    public Option<string?> Uri { get; } = Coordinator();

    public void AddTo(Command command)
    {
        command.Options.Add(Agents);
        command.Options.Add(Uri);
        command.Options.Add(Within);
    }

    /// <summary>Hands the work to agents where that was asked for; otherwise does it here.</summary>
    public ExitCode Run(ParseResult parsed, IReadOnlyList<RunRequest> requests, int repeats)
    {
        Check(parsed, requests, repeats);
        return parsed.GetValue(Agents) is { } count
            ? AgentsSession.Start(
                requests[0], count, parsed.GetValue(Uri)!, parsed.GetValue(Within) ?? AgentsSession.UsualComeWithinSeconds)
            : RunSequence.Run(requests, repeats, PlanSession.Start);
    }

    /// <exception cref="UserException">Agents can't do it.</exception>
    public void Check(ParseResult parsed, IReadOnlyList<RunRequest> requests, int repeats)
    {
        string? coordinator = parsed.GetValue(Uri);
        if (parsed.GetValue(Agents) is not { } count)
        {
            if (((Option[])[Uri, Within]).FirstOrDefault(parsed.HasTyped) is { } typed)
                throw new UserException(
                    ExitCode.WrongUsage, $"{typed.Name} only applies with --agents", "--agents 4 divides the work among four");
            return;
        }

        if (coordinator is null)
            throw new UserException(ExitCode.WrongUsage,
                "--agents needs --coordinator: the connection string of a MongoDB that all machines reach", "'mongoperf serve' starts one");
        if (requests.Count > 1 || repeats > 1)
            throw new UserException(
                ExitCode.WrongUsage, "--agents makes one run on one deployment; --repeat and several deployments do not apply");
        AgentsSession.Check(requests[0], count);
    }

    private static int ParseCount(string text) =>
        int.TryParse(text, out int count) && count is >= 1 and <= Running.Agents.Coordinator.MostAgents ? count
            : throw new FormatException($"'{text}' is not a number of agents; allowed: 1 to {Running.Agents.Coordinator.MostAgents}");
}

using System.CommandLine;
using MongoPerf.Commands.Results;
using MongoPerf.Options;
using MongoPerf.Running.Agents;
using MongoPerf.Running.Sessions;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands.Agents;

/// <summary><c>agent --coordinator URI --name NAME</c>: does one part of a plan that somebody started with <c>--agents</c>.</summary>
internal static class AgentCommand
{
    /// <summary>Kubernetes sets it in each pod of an Indexed Job: 0, 1, …</summary>
    private const string IndexVariable = "JOB_COMPLETION_INDEX";
    private const int LongestName = 60;
    private const double UsualWaitSeconds = 600;

    public static Command Create()
    {
        var shared = new SharedOptions();
        Option<string?> coordinator = AgentOptions.Coordinator();
        Option<string?> name = OptionTypes.Make<string?>("--name", null,
            $"Name of this agent, unique among all agents [default: agent-N in a Kubernetes Indexed Job, which sets {IndexVariable}]",
            "NAME", ParseName);
        Option<double?> wait = OptionTypes.Duration("--wait", "How long to wait for a plan [default: 10m]");
        Option<bool> stay = new("--stay")
        {
            Description = "Run one plan after another, until none is offered within --wait or you interrupt it",
        };
        var command = new Command("agent", "Run one share of a plan that 'series', 'run' or 'replay' divides among --agents")
        {
            coordinator, name, wait, stay, shared.Uri, shared.PasswordFile, shared.ShardUser, shared.ShardPasswordFile,
            shared.MayWrite, shared.Files, shared.Otlp, shared.Out, shared.Quiet,
        };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            int? index = int.TryParse(Environment.GetEnvironmentVariable(IndexVariable), out int number)
                && number is >= 0 and < Running.Agents.Coordinator.MostAgents ? number : null;
            return AgentSession.Run(new AgentRequest(
                parsed.GetValue(coordinator) ?? throw new UserException(ExitCode.WrongUsage,
                    "--coordinator is missing: the same connection string as that of the command with --agents"),
                parsed.GetValue(name) ?? (index is null
                    ? throw new UserException(ExitCode.WrongUsage,
                        "--name is missing: a name that no other agent has, such as the machine's")
                    : $"agent-{index}"),
                index + 1,
                parsed.GetValue(shared.Uri),
                parsed.GetValue(shared.PasswordFile),
                MayWriteOption.Read(parsed, shared),
                parsed.GetValue(wait) ?? UsualWaitSeconds,
                parsed.GetValue(stay),
                Masking.MaskCall(parsed.Tokens.Select(t => t.Value)),
                new OutputRequest(PlanRequests.RunsFolder(parsed, shared.Out), "text", parsed.GetValue(shared.Quiet),
                    true, new ResultPrinter()) { MetricsReceiver = parsed.GetValue(shared.Otlp) })
            {
                // Whether there is a mongos the plan says.
                ShardLogin = PlanRequests.ReadShardLogin(parsed, shared, parsed.GetValue(coordinator)),
                Files = FilesOption.Read(parsed, shared.Files),
            });
        }));
        return command;
    }

    private static string ParseName(string text) =>
        text.Length is > 0 and <= LongestName && text.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_' or '.')
            ? text
            : throw new FormatException($"'{text}' is not a name; allowed: up to {LongestName} letters, digits, '-', '_' and '.'");
}

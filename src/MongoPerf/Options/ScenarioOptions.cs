using System.CommandLine;
using MongoPerf.Commands.Agents;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary>The options of <c>run</c> that only scenarios take, apart from those that replace a value of the file.</summary>
internal sealed class ScenarioOptions
{
    public AgentOptions Agents { get; } = new();

    public Option<string[]?> Set { get; } = new("--set")
    {
        Description = "Scenario: set a parameter to a value, or to several separated by commas",
        HelpName = "NAME=VALUE",
        AllowMultipleArgumentsPerToken = false,
    };

    public Option<double?> Scale { get; } = OptionTypes.Make<double?>(
        "--scale", null, "Scenario: multiply its document and operation counts [default: 1]", "FACTOR", ParseScale);

    public Option<string?> Deployment { get; } = OptionTypes.Text(
        "--deployment", "Scenario with deployments: run on these only [default: all]", "NAME[,NAME…]");

    public Option<bool> DryRun { get; } = new(
        "--dry-run") { Description = "Scenario: check everything and show what would run, without running it" };

    /// <exception cref="UserException">A text that sets no parameter, or one that is set twice.</exception>
    public Dictionary<string, string> ReadParameters(ParseResult parsed)
    {
        var values = new Dictionary<string, string>();
        foreach (string text in parsed.GetValue(Set) ?? [])
        {
            int at = text.IndexOf('=', StringComparison.Ordinal);
            if (at < 1)
                throw new UserException(ExitCode.WrongUsage, $"--set: '{text}' is not of the form name=value",
                    "such as --set fieldcount=5");
            if (!values.TryAdd(text[..at].Trim(), text[(at + 1)..].Trim()))
                throw new UserException(ExitCode.WrongUsage, $"--set: '{text[..at]}' is set twice", "separate several values with commas");
        }

        return values;
    }

    private static double? ParseScale(string text) => double.TryParse(text, out double factor) && factor is > 0 and <= 1e6
        ? factor
        : throw new FormatException($"'{text}' is not a factor; allowed: numbers above 0, such as 0.01");
}

using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Reports;
using MongoPerf.Running.Configuration;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>config</c>: each setting's value, and where it comes from.</summary>
internal static class ConfigCommand
{
    public static Command Create()
    {
        Option<string?> format = OptionTypes.Choice("--format", "Output format [default: text]", "text", "json");
        var command = new Command(
            "config", "Show each setting's value and where it comes from: environment, project file (mongoperf.yaml), user file")
        {
            format,
        };
        command.Runs(parsed =>
        {
            Settings settings = Settings.Current;
            if (parsed.GetValue(format) == "json")
                WriteJson(settings, Console.Out);
            else
                WriteText(settings, Console.Out);
        });
        return command;
    }

    private static void WriteText(Settings settings, TextWriter output)
    {
        TextColumns.Write(
        [
            ["setting", "value", "from"],
            .. SettingRule.All.Select(rule => new[]
            {
                rule.Key, settings.Find(rule) is { } found ? Shown(found.Value) : rule.Default is { Length: > 0 } usual ? usual : "-",
                settings.Find(rule)?.Source ?? "default",
            }),
        ], output);
        output.WriteLine();
        NamedDeployment[] deployments = [.. settings.Deployments.Where(one => one.Problem is null)];
        if (deployments.Length > 0)
        {
            TextColumns.Write(
            [
                ["deployment", "connection string", "password file", "from"],
                .. deployments.Select(one => new[] { $"@{one.Name}", Shown(one.Uri), one.PasswordFile ?? "-", one.Source }),
            ], output);
            output.WriteLine();
        }

        (string Name, string Value)[] variables = [.. EnvironmentVariable.All
            .Where(one => SettingRule.All.All(rule => rule.Variable != one.Name))
            .Select(one => (one.Name, Environment.GetEnvironmentVariable(one.Name) ?? "")).Where(one => one.Item2.Length > 0)];
        if (variables.Length > 0)
        {
            TextColumns.Write([["variable", "value"], .. variables.Select(one => new[] { one.Name, Shown(one.Value) })], output);
            output.WriteLine();
        }

        output.WriteLine($"user's file:    {Described(settings.UserPath)}");
        output.WriteLine($"project's file: {Described(settings.ProjectPath)}");
    }

    private static void WriteJson(Settings settings, TextWriter output) => JsonReport.WriteValue(output, new
    {
        schema = "mongoperf/config/1",
        userFile = settings.UserPath,
        projectFile = settings.ProjectPath,
        settings = SettingRule.All.Select(rule => new
        {
            name = rule.Key,
            value = (settings.Find(rule)?.Value ?? rule.Default) is { Length: > 0 } value ? Shown(value) : null,
            source = settings.Find(rule)?.Source ?? "default",
        }),
        deployments = settings.Deployments.Where(one => one.Problem is null).Select(one => new
        {
            name = one.Name, uri = Shown(one.Uri), passwordFile = one.PasswordFile, source = one.Source,
        }),
    });

    private static string Described(string? path) => path is null ? "none" : File.Exists(path) ? path : $"{path} (there is none)";

    private static string Shown(string value) => Masking.Shown(Masking.MaskArgument(value));
}

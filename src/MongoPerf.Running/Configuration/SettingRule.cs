using MongoPerf.Texts.Yaml;

namespace MongoPerf.Running.Configuration;

/// <summary>Something that an option, a variable of the environment or a configuration file may say.</summary>
/// <param name="Key">Of the files.</param>
/// <param name="Variable">Of the environment; it wins over the files.</param>
/// <param name="Option">Of commands; it wins over the variable.</param>
/// <param name="Default">What holds when nobody says anything; empty for nothing.</param>
/// <param name="Description">A sentence.</param>
public sealed record SettingRule(string Key, string Variable, string Option, string Default, string Description)
{
    public static SettingRule Uri { get; } = new("uri", "MONGOPERF_URI", "--uri", "",
        "The deployment under load where none is named: a connection string, or @NAME of one below; otherwise a server is started.")
    {
        IsForProjects = false,
    };

    public static SettingRule Language { get; } = new("language", Texts.Language.Variable, "--lang", "en",
        "The language of reports, charts and help.") { Allowed = Texts.Language.Names };

    public static SettingRule Runs { get; } = new("runs", "MONGOPERF_RUNS", "--out", "runs",
        "The runs folder; in a file, relative to that file. A project's must lie within the project.");

    public static SettingRule Theme { get; } = new("theme", "MONGOPERF_THEME", "--theme", "light",
        "The colors of the charts that plot draws.") { Allowed = ["light", "dark", "print"] };

    /// <summary>In the order in which they are shown.</summary>
    public static IReadOnlyList<SettingRule> All { get; } = [Uri, Language, Runs, Theme];

    /// <summary>The only values that are allowed; null for any.</summary>
    public IReadOnlyList<string>? Allowed { get; init; }

    /// <summary>A project's file may say it.</summary>
    public bool IsForProjects { get; init; } = true;
}

/// <summary>Every key of a configuration file.</summary>
internal static class ConfigurationLanguage
{
    public const string Deployments = "deployments";
    public const string Uri = "uri";
    public const string PasswordFile = "passwordFile";

    public static KeySet Deployment { get; } = new("deployment", "A deployment that --uri names as @NAME.",
    [
        new(Uri, KeyKind.Text, "Its connection string."),
        new(PasswordFile, KeyKind.Text, "The file with the password that it lacks; relative to the configuration file."),
    ]);

    public static KeySet File { get; } = new("configuration", "What is typed each time otherwise.",
    [
        .. SettingRule.All.Select(rule => new Key(rule.Key, KeyKind.Text, rule.Description) { Allowed = rule.Allowed }),
        new(Deployments, KeyKind.NamedMappings, Deployment.Description, Deployment),
    ]);
}

using MongoPerf.Running.Secrets;
using MongoPerf.Running.Systems;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Configuration;

/// <summary>The value of a setting, and who says so.</summary>
/// <param name="Rule">Which.</param>
/// <param name="Value">As it counts: folders are full paths.</param>
/// <param name="Source">A variable, or file and line.</param>
public sealed record Setting(SettingRule Rule, string Value, string Source)
{
    /// <summary>What is wrong with it, for whoever uses it; null for nothing.</summary>
    public UserException? Problem { get; init; }
}

/// <summary>
/// What environment, project's file and user's file say; each wins over those behind it, and what is typed wins over all. Immutable.
/// </summary>
public sealed class Settings
{
    private const string Folder = "mongoperf";
    private const string UserName = "config.yaml";

    private static readonly AsyncLocal<Lazy<Settings>?> Here = new();

    private readonly IReadOnlyList<Setting> _settings;

    private Settings(IReadOnlyList<Setting> settings, IReadOnlyList<NamedDeployment> deployments, string? userPath, string? projectPath) =>
        (_settings, Deployments, UserPath, ProjectPath) = (settings, deployments, userPath, projectPath);

    /// <summary>What is wrong with single entries of the user's file; whoever uses one of them gets its own as an exception.</summary>
    public IReadOnlyList<UserException> Problems { get; private init; } = [];

    /// <summary>Those of the present command, read when they are first asked for; none before <see cref="Begin"/>.</summary>
    /// <exception cref="UserException">A file is wrong, or a variable has a value that is not allowed.</exception>
    public static Settings Current => Here.Value?.Value ?? None;

    private static Settings None { get; } = new([], [], null, null);

    /// <summary>The user's before the project's.</summary>
    public IReadOnlyList<NamedDeployment> Deployments { get; }

    /// <summary>Where the user's file is or would be; null when the environment names no place for it.</summary>
    public string? UserPath { get; }

    /// <summary>Null when there is none.</summary>
    public string? ProjectPath { get; }

    /// <summary>The runs folder where none is typed.</summary>
    public string Runs => ValueOf(SettingRule.Runs);

    /// <summary>The colors of charts where none are typed.</summary>
    public string Theme => ValueOf(SettingRule.Theme);

    /// <summary>The connection string where none is typed; null where nobody says anything.</summary>
    /// <exception cref="UserException">It is the name of no deployment.</exception>
    public string? Uri => ValueOf(SettingRule.Uri) is { Length: > 0 } uri ? Resolve(uri) : null;

    /// <summary>From now on, in this flow of execution, those of the environment and the current folder count.</summary>
    /// <param name="variable">Of the environment, by name.</param>
    public static void Begin(Func<string, string?> variable) => Here.Value = new(() => Read(variable, CurrentFolder()));

    /// <param name="variable">Of the environment, by name.</param>
    /// <param name="folder">The current one: the project's file lies there or above.</param>
    /// <exception cref="UserException">A file is wrong, or a variable has a value that is not allowed.</exception>
    public static Settings Read(Func<string, string?> variable, string folder)
    {
        string? home = Named("HOME") ?? Named("USERPROFILE");
        string? userPath = (Named("XDG_CONFIG_HOME") ?? (home is null ? null : Path.Combine(home, ".config"))) is { } config
            ? Path.GetFullPath(Path.Combine(config, Folder, UserName)) : null;
        string? projectPath = FindProject(folder, home);
        ConfigurationFile? user = userPath is null ? null : ConfigurationFile.TryRead(userPath, isProject: false, home);
        ConfigurationFile? project = projectPath is null ? null : ConfigurationFile.TryRead(projectPath, isProject: true, home);
        var settings = new List<Setting>();
        foreach (SettingRule rule in SettingRule.All)
        {
            if (Named(rule.Variable) is { } value)
                settings.Add(new Setting(rule, Checked(rule, value), rule.Variable));
            else if ((FindIn(project, rule) ?? FindIn(user, rule)) is { } found)
                settings.Add(found);
        }

        return new Settings(settings, Join(user?.Deployments ?? [], project?.Deployments ?? []), userPath, projectPath)
        {
            Problems = user?.Problems ?? [],
        };

        string? Named(string name) => variable(name) is { Length: > 0 } value ? value : null;

        static Setting? FindIn(ConfigurationFile? file, SettingRule rule) =>
            file?.Settings.TryGetValue(rule.Key, out (string Value, string Source, UserException? Problem) found) is true
                ? new Setting(rule, found.Value, found.Source) { Problem = found.Problem } : null;
    }

    /// <returns>Null when nobody says anything.</returns>
    public Setting? Find(SettingRule rule) => _settings.FirstOrDefault(setting => setting.Rule == rule);

    /// <summary>What somebody says, or the default.</summary>
    /// <exception cref="UserException">What the user's file says is wrong.</exception>
    public string ValueOf(SettingRule rule) =>
        Find(rule) is not { } found ? rule.Default : found.Problem is null ? found.Value : throw found.Problem;

    /// <summary>The connection string of @NAME, with its password if a file has it; any other text as it is.</summary>
    /// <exception cref="UserException">There is no such name, its entry is wrong, or its password can't be read.</exception>
    public string Resolve(string uri)
    {
        string whole = uri.StartsWith('@') ? Named(uri[1..]) : uri;
        // Messages must not show its password.
        if (!Masking.Typed.Contains(whole))
            Masking.Typed = [.. Masking.Typed, whole];
        return whole;
    }

    private string Named(string name)
    {
        NamedDeployment named = Deployments.FirstOrDefault(one => one.Name == name) ?? throw new UserException(
            ExitCode.WrongUsage,
            Deployments.Count == 0 ? $"no deployment has the name '{name}': {UserPath ?? "the configuration file"} names none"
                : $"no deployment has the name '{name}'; there are: {string.Join(", ", Deployments.Select(one => one.Name))}",
            NearestName.Hint(name, Deployments.Select(one => one.Name)) ?? "'mongoperf config' shows what is configured, and where");
        if (named.Problem is { } problem)
            throw problem;
        if (named.PasswordFile is null)
            return named.Uri;
        string password = PasswordFile.Read(named.PasswordFile, $"{named.Source}: passwordFile");
        ConnectionString parsed = ServerUri.Parse(named.Uri);
        // As with --password-file: the user's if that is missing, else the key's.
        return parsed.LacksPassword ? parsed.With(password: password) : parsed.With(keyPassword: password);
    }

    /// <summary>Another's name must not lead elsewhere because of the folder that one is in.</summary>
    private static NamedDeployment[] Join(IReadOnlyList<NamedDeployment> user, IReadOnlyList<NamedDeployment> project)
    {
        foreach (NamedDeployment one in project)
        {
            if (user.FirstOrDefault(own => own.Name == one.Name) is { } own)
                throw new UserException(
                    ExitCode.WrongUsage, $"{one.Source}: deployment '{one.Name}' has this name in {own.Source} already",
                    "a project's configuration can't replace the user's own; give one of them another name");
        }

        return [.. user, .. project];
    }

    private static string CurrentFolder()
    {
        try
        {
            return Environment.CurrentDirectory;
        }
        catch (IOException)
        {
            throw new UserException(ExitCode.WrongUsage, "the current folder has been deleted", "change to another one");
        }
    }

    /// <summary>In this folder or the nearest above, as far as the repository or the user's home reaches.</summary>
    private static string? FindProject(string folder, string? home)
    {
        for (string? at = Path.GetFullPath(folder); at is not null; at = Path.GetDirectoryName(at))
        {
            string path = Path.Combine(at, ConfigurationFile.ProjectName);
            if (File.Exists(path))
                return path;
            if (at == home || Path.Exists(Path.Combine(at, ".git")))
                return null;
        }

        return null;
    }

    private static string Checked(SettingRule rule, string value) => rule.Allowed?.Contains(value) is false
        ? throw new UserException(
            ExitCode.WrongUsage, $"{rule.Variable} is '{value}'; allowed: {string.Join(", ", rule.Allowed)}", $"or use {rule.Option}")
        : value;
}

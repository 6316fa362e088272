using MongoPerf.Running.Secrets;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Files;

namespace MongoPerf.Running.Configuration;

/// <summary>A deployment that has a name in a configuration file.</summary>
/// <param name="Name">Without the @.</param>
/// <param name="Uri">As it is written.</param>
/// <param name="PasswordFile">Full path; null for none.</param>
/// <param name="Source">File and line.</param>
public sealed record NamedDeployment(string Name, string Uri, string? PasswordFile, string Source)
{
    /// <summary>What is wrong with it, for whoever uses it; null for nothing.</summary>
    public UserException? Problem { get; init; }
}

/// <summary>A configuration file: the user's own, or a project's, which anybody may have written.</summary>
/// <param name="Path">Full path.</param>
/// <param name="Settings">By key: values as they count, where they stand, and what is wrong with them.</param>
/// <param name="Deployments">By name.</param>
internal sealed record ConfigurationFile(
    string Path, IReadOnlyDictionary<string, (string Value, string Source, UserException? Problem)> Settings,
    IReadOnlyList<NamedDeployment> Deployments)
{
    public const string ProjectName = "mongoperf.yaml";

    /// <summary>What is wrong with single entries.</summary>
    public IReadOnlyList<UserException> Problems { get; init; } = [];

    private const int MostCharacters = 1_000_000;
    private const int LongestName = 60;
    private const string WhyNot = "a project's folder may come from somebody else; the user's own file may say it";

    /// <param name="path">Full path.</param>
    /// <param name="isProject">It must not name servers by itself, bring secrets, or lead out of its folder.</param>
    /// <param name="home">What ~ stands for; null where nothing says.</param>
    /// <returns>Null when there is no such file.</returns>
    /// <exception cref="UserException">
    /// It can't be read, or says what it may not; names file and line. Wrong entries of the user's own file are <see cref="Problems"/>.
    /// </exception>
    public static ConfigurationFile? TryRead(string path, bool isProject, string? home)
    {
        if (!File.Exists(path))
            return null;
        string text = ReadText(path, isProject);
        // Nothing but comments, as after a first edit.
        if (text.Split('\n').All(line => line.Trim() is "" or ['#', ..]))
            return new ConfigurationFile(path, new Dictionary<string, (string, string, UserException?)>(), []);
        return new Reader(path, isProject, home).Read(text);
    }

    /// <exception cref="IOException">It is a link that leads nowhere.</exception>
    private static void RefuseForeign(string path, bool isProject)
    {
        if (!isProject && !OperatingSystem.IsWindows() && (File.GetUnixFileMode(path) & UnixFileMode.OtherWrite) != 0)
            throw new UserException(ExitCode.WrongUsage, $"{path}: every user of this machine can write it, so it is not read",
                $"chmod 600 {CommandText.Quoted(path)}");
    }

    private static string ReadText(string path, bool isProject)
    {
        try
        {
            RefuseForeign(path, isProject);
            string text = NamedFile.ReadText(path, MostCharacters);
            return text.Length <= MostCharacters ? text : throw new UserException(
                ExitCode.WrongUsage, $"{path}: longer than {MostCharacters:N0} characters, the limit for a configuration file");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or TimeoutException)
        {
            throw new UserException(ExitCode.WrongUsage, $"{path}: can't be read: {e.Message}");
        }
    }

    private sealed class Reader(string path, bool isProject, string? home)
    {
        private readonly string _shown = CommandText.OfPath(path);
        private readonly List<UserException> _problems = [];

        private string Folder => System.IO.Path.GetDirectoryName(path)!;

        public ConfigurationFile Read(string text)
        {
            MappingNode top = ScenarioYaml.Read(_shown, text, "expected a mapping, such as language: zh", null);
            if (isProject && (top.Find("phases") ?? top.Find("data")) is not null)
                throw new UserException(
                    ExitCode.WrongUsage, $"{_shown}: is this a scenario? A file of this name is a project's configuration",
                    "give the scenario another name");
            MappingReader reader = Known(top, "configuration", ConfigurationLanguage.File);
            var settings = new Dictionary<string, (string, string, UserException?)>();
            foreach (SettingRule rule in SettingRule.All)
            {
                if (reader.Find(rule.Key) is not { } node)
                    continue;
                string value = Tried(() => ReadSetting(reader, rule, node), out UserException? problem) ?? "";
                settings[rule.Key] = (value, node.Position.ToString(), problem);
            }

            IReadOnlyList<NamedDeployment> deployments = Tried(() => ReadDeployments(reader), out _) ?? [];
            return new ConfigurationFile(path, settings, deployments) { Problems = _problems };
        }

        /// <summary>The user's own file is no worse for a wrong entry than for one that is missing.</summary>
        /// <returns>Null for a wrong one.</returns>
        private T? Tried<T>(Func<T> read, out UserException? problem)
            where T : class
        {
            problem = null;
            try
            {
                return read();
            }
            catch (UserException e) when (!isProject)
            {
                _problems.Add(problem = e);
                return null;
            }
        }

        /// <summary>Reads what has keys that are allowed; each other key is a problem of its own.</summary>
        private MappingReader Known(MappingNode node, string what, KeySet keys)
        {
            MappingEntry[] known = [.. node.Entries.Where(one =>
                Tried(() => new MappingReader(node with { Entries = [one] }, what, keys), out _) is not null)];
            return new MappingReader(node with { Entries = known }, what, keys);
        }

        private string ReadSetting(MappingReader reader, SettingRule rule, ScenarioNode node)
        {
            string value = (rule.Allowed is { } allowed ? reader.OneOf(rule.Key, allowed) : reader.Text(rule.Key))!;
            if (isProject && !rule.IsForProjects)
                throw Refuse(node, $"a project's configuration may not set {rule.Key}");
            return rule == SettingRule.Runs ? RunsFolder(node, value) : value;
        }

        private string RunsFolder(ScenarioNode node, string value)
        {
            string full = FullPath(value);
            if (!isProject)
                return full;
            if (!full.StartsWith(Folder + System.IO.Path.DirectorySeparatorChar, StringComparison.Ordinal))
                throw Refuse(node, $"runs is '{value}', which leads out of the project's folder");
            for (string at = full; at != Folder; at = System.IO.Path.GetDirectoryName(at)!)
            {
                if (OwnFiles.IsLink(at))
                    throw Refuse(
                        node, $"runs is '{value}', and {CommandText.OfPath(at)} is a link, which may lead out of the project's folder");
            }

            return full;
        }

        private NamedDeployment[] ReadDeployments(MappingReader reader)
        {
            if (reader.Find(ConfigurationLanguage.Deployments) is not { } node)
                return [];
            MappingNode named = node as MappingNode
                ?? throw MappingReader.Wrong(node, $"deployments is {node.Describe()}; expected names with a mapping each");
            return [.. named.Entries.Select(entry => Tried(() => ReadDeployment(entry), out UserException? problem)
                ?? new NamedDeployment(entry.Name, "", null, entry.Key.Position.ToString()) { Problem = problem })];
        }

        private NamedDeployment ReadDeployment(MappingEntry entry)
        {
            string what = $"deployment '{entry.Name}'";
            if (entry.Name.Length is 0 or > LongestName || !entry.Name.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_' or '.'))
                throw MappingReader.Wrong(
                    entry.Key, $"{what}: a name has up to {LongestName} letters, digits, '-', '_' and '.'");
            // The short form has the connection string alone.
            if (entry.Value is ScalarNode { IsNull: false } alone)
                return new NamedDeployment(entry.Name, Checked(alone, what), null, entry.Key.Position.ToString());
            var deployment = new MappingReader(entry.Value, what, ConfigurationLanguage.Deployment);
            ScenarioNode uri = deployment.Require(ConfigurationLanguage.Uri, "such as uri: mongodb://USER@HOST/");
            string? file = deployment.Text(ConfigurationLanguage.PasswordFile);
            if (isProject && file is not null)
                throw Refuse(
                    deployment.Find(ConfigurationLanguage.PasswordFile)!,
                    $"{what}: a project's configuration may not name a password file");
            return new NamedDeployment(
                entry.Name, Checked(deployment.ScalarOf(ConfigurationLanguage.Uri, uri), what), file is null ? null : FullPath(file),
                entry.Key.Position.ToString());
        }

        private string Checked(ScalarNode node, string what)
        {
            string uri = node.Text;
            if (uri.StartsWith('@'))
                throw MappingReader.Wrong(node, $"{what}: '{uri}' is a name; expected a connection string");
            if (DatabaseSystems.Of(uri) != DatabaseSystems.MongoDb)
                return uri;
            try
            {
                ConnectionString parsed = ServerUri.Parse(uri);
                if (isProject && SecretOf(parsed) is { } secret)
                    throw Refuse(node, $"{what}: a project's configuration may not have {secret}");
                return uri;
            }
            catch (ConnectionStringException e)
            {
                throw MappingReader.Wrong(
                    node, $"{what}: {e.Message}", e.Typed is { } typed ? NearestName.Hint(typed, e.Allowed) : null);
            }
        }

        /// <summary>What could send a secret of this user to a server that somebody else has chosen.</summary>
        private static string? SecretOf(ConnectionString uri) =>
            uri.Password is not null || uri.TlsCertificateKeyFilePassword is not null ? "a password"
            : uri.AuthMechanism is not (null or "SCRAM-SHA-256" or "SCRAM-SHA-1") ? $"authMechanism={uri.AuthMechanism}"
            : uri.TlsCertificateKeyFile is not null ? "tlsCertificateKeyFile"
            : null;

        private static UserException Refuse(ScenarioNode node, string message) => MappingReader.Wrong(node, message, WhyNot);

        private string FullPath(string named) =>
            System.IO.Path.GetFullPath(home is not null && (named == "~" || named.StartsWith("~/", StringComparison.Ordinal))
                ? home + named[1..] : named, Folder);
    }
}

using MongoPerf.Running.Configuration;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Running.Configuration;

/// <summary>What environment, project and user say, which of them counts, and what a project may not say.</summary>
public sealed class SettingsTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly Dictionary<string, string> _variables = [];

    public SettingsTests() => _variables["HOME"] = _folder.At("home");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Nobody_says_anything_where_there_is_no_file()
    {
        Settings settings = Read();
        Assert.Equal(["", "en", "runs", "light"], SettingRule.All.Select(settings.ValueOf));
        Assert.All(SettingRule.All, rule => Assert.Null(settings.Find(rule)));
        Assert.Equal(_folder.At("home/.config/mongoperf/config.yaml"), settings.UserPath);
        Assert.Null(settings.ProjectPath);
    }

    [Fact]
    public void The_environment_wins_over_the_project_and_the_project_over_the_user()
    {
        User("language: zh\nruns: ~/all\ntheme: dark\nuri: mongodb://u");
        Project("runs: measured\ntheme: print");
        _variables["MONGOPERF_THEME"] = "light";
        Settings settings = Read();
        Assert.Equal(["mongodb://u", "zh", _folder.At("work/measured"), "light"], SettingRule.All.Select(settings.ValueOf));
        Assert.Equal([_folder.At("home/.config/mongoperf/config.yaml:4"), _folder.At("home/.config/mongoperf/config.yaml:1"),
            _folder.At("work/mongoperf.yaml:1"), "MONGOPERF_THEME"], SettingRule.All.Select(rule => settings.Find(rule)!.Source));
        File.Delete(_folder.At("work/mongoperf.yaml"));
        Assert.Equal(_folder.At("home/all"), Read().Runs);
    }

    [Fact]
    public void XDG_CONFIG_HOME_names_another_place_for_the_users_file()
    {
        _variables["XDG_CONFIG_HOME"] = _folder.At("xdg");
        Write("xdg/mongoperf/config.yaml", "language: zh");
        Assert.Equal("zh", Read().ValueOf(SettingRule.Language));
    }

    [Fact]
    public void A_projects_file_counts_below_its_folder_as_far_as_the_repository_reaches()
    {
        Project("theme: dark");
        Directory.CreateDirectory(_folder.At("work/a/b"));
        Assert.Equal("dark", Read("work/a/b").ValueOf(SettingRule.Theme));
        Directory.CreateDirectory(_folder.At("work/a/.git"));
        Assert.Equal("light", Read("work/a/b").ValueOf(SettingRule.Theme));
    }

    [Theory]
    [InlineData("", "# nothing yet\n\n", "runs")]
    [InlineData("", "runs: here", "here")]
    public void A_file_may_hold_comments_alone(string project, string user, string runs)
    {
        if (project.Length > 0)
            Project(project);
        User(user);
        Assert.Equal(runs == "runs" ? "runs" : _folder.At($"home/.config/mongoperf/{runs}"), Read().Runs);
    }

    [Theory]
    [InlineData("langauge: zh", "config.yaml:1: configuration: unknown key 'langauge'; allowed: uri, language, runs, theme, deployments",
        "did you mean 'language'?")]
    [InlineData("theme: light\nlanguage: zhh",
        "config.yaml:2: configuration: language is 'zhh'; allowed: en, zh, zh-CN", "did you mean 'zh'?")]
    [InlineData("theme: [dark]", "config.yaml:1: configuration: theme is a list; expected a single value", null)]
    [InlineData("- a", "config.yaml:1: expected a mapping, such as language: zh", null)]
    [InlineData("deployments: staging", "config.yaml:1: deployments is 'staging'; expected names with a mapping each", null)]
    [InlineData("deployments:\n  a b: mongodb://h", "config.yaml:2: deployment 'a b': a name has up to 60 letters", null)]
    [InlineData("deployments:\n  a: {url: mongodb://h}", "config.yaml:2: deployment 'a': unknown key 'url'; allowed: uri, passwordFile",
        "did you mean 'uri'?")]
    [InlineData("deployments:\n  a: {passwordFile: x}", "config.yaml:2: deployment 'a': 'uri' is missing",
        "such as uri: mongodb://USER@HOST/")]
    [InlineData("deployments:\n  a: '@b'", "config.yaml:2: deployment 'a': '@b' is a name; expected a connection string", null)]
    [InlineData("deployments:\n  a: mongodb://h/?tsl=true", "config.yaml:2: deployment 'a': ", "did you mean 'ssl'?")]
    [InlineData("runs: a\nruns: b", "config.yaml:2: the key 'runs' appears twice", null)]
    [InlineData("deployments:\n  a: {uri: [mongodb://h]}", "config.yaml:2: deployment 'a': uri is a list; expected a single value", null)]
    public void A_mistake_is_told_with_its_line(string text, string message, string? hint)
    {
        User(text);
        UserException e = Mistake();
        Assert.Contains(message, e.Message, StringComparison.Ordinal);
        Assert.Equal((ExitCode.WrongUsage, hint), (e.Code, e.Hint));
        // In a project's file nothing is left out.
        File.Delete(_folder.At("home/.config/mongoperf/config.yaml"));
        Project(text);
        Assert.Contains(
            message.Replace("config.yaml", "mongoperf.yaml", StringComparison.Ordinal), Assert.Throws<UserException>(() => Read()).Message,
            StringComparison.Ordinal);

        UserException Mistake()
        {
            try
            {
                return Assert.Single(Read().Problems);
            }
            catch (UserException ofFile)
            {
                return ofFile;
            }
        }
    }

    [Fact]
    public void A_wrong_entry_of_the_users_file_is_only_wrong_for_those_that_use_it()
    {
        User("""
            langauge: zh
            theme: blue
            runs: [a, b]
            uri: [mongodb://h]
            deployments:
              staging: {url: mongodb://h}
              a b: mongodb://h
              local: mongodb://h2
              cut: mongodb://h/?tsl=true
            """);
        Settings settings = Read();
        Assert.Equal("mongodb://h2", settings.Resolve("@local"));
        Assert.Equal("en", settings.ValueOf(SettingRule.Language));
        Assert.Equal(["unknown key 'langauge'", "uri is a list", "runs is a list", "theme is 'blue'", "unknown key 'url'", "'a b': a name",
            "'cut': "], settings.Problems.Select((problem, i) => Fragment(problem.Message, i)));
        foreach ((Action use, string said) in ((Action, string)[])[(() => _ = settings.Theme, "theme is 'blue'"),
            (() => _ = settings.Runs, "runs is a list"), (() => _ = settings.Uri, "uri is a list"),
            (() => settings.Resolve("@staging"), "unknown key 'url'"), (() => settings.Resolve("@cut"), "deployment 'cut'")])
            Assert.Contains(said, Assert.Throws<UserException>(use).Message, StringComparison.Ordinal);

        static string Fragment(string message, int i)
        {
            string[] said = ["unknown key 'langauge'", "uri is a list", "runs is a list", "theme is 'blue'", "unknown key 'url'",
                "'a b': a name", "'cut': "];
            return message.Contains(said[i], StringComparison.Ordinal) ? said[i] : message;
        }
    }

    [Theory]
    [InlineData("uri: mongodb://other", "mongoperf.yaml:1: a project's configuration may not set uri")]
    [InlineData("runs: ../elsewhere", "mongoperf.yaml:1: runs is '../elsewhere', which leads out of the project's folder")]
    [InlineData("runs: ~/.ssh", "which leads out of the project's folder")]
    [InlineData("runs: /etc", "which leads out of the project's folder")]
    [InlineData("deployments:\n  a:\n    uri: mongodb://u@h\n    passwordFile: ~/.loader",
        "mongoperf.yaml:4: deployment 'a': a project's configuration may not name a password file")]
    [InlineData("deployments:\n  a: mongodb://u:secret@h",
        "mongoperf.yaml:2: deployment 'a': a project's configuration may not have a password")]
    [InlineData("deployments:\n  a: mongodb://u@h/?tls=true&authMechanism=PLAIN",
        "deployment 'a': a project's configuration may not have authMechanism=PLAIN")]
    [InlineData("deployments:\n  a: mongodb://h/?tls=true&tlsCertificateKeyFile=/home/u/key.pem",
        "deployment 'a': a project's configuration may not have tlsCertificateKeyFile")]
    public void A_project_can_neither_choose_a_server_nor_get_at_secrets(string text, string message)
    {
        Project(text);
        UserException e = Assert.Throws<UserException>(() => Read());
        Assert.Contains(message, e.Message, StringComparison.Ordinal);
        Assert.Equal("a project's folder may come from somebody else; the user's own file may say it", e.Hint);
        Assert.DoesNotContain("secret", e.Message, StringComparison.Ordinal);
        // The user's own file may, unless it is wrong otherwise.
        File.Delete(_folder.At("work/mongoperf.yaml"));
        User(text);
        Read();
    }

    [Theory]
    [InlineData("runs: out/runs\nlanguage: zh", "work/out")]
    [InlineData("runs: out/", "work/out")]
    [InlineData("runs: a/b/c", "work/a/b")]
    public void A_project_can_not_lead_runs_elsewhere_by_a_link(string text, string link)
    {
        Project(text);
        Directory.CreateDirectory(Path.GetDirectoryName(_folder.At(link))!);
        Directory.CreateSymbolicLink(_folder.At(link), _folder.At("home"));
        UserException e = Assert.Throws<UserException>(() => Read());
        Assert.EndsWith(" is a link, which may lead out of the project's folder", e.Message, StringComparison.Ordinal);
        File.Delete(_folder.At(link));
        Assert.StartsWith(_folder.At("work/"), Read().Runs, StringComparison.Ordinal);
    }

    [Fact]
    public void A_project_can_not_lead_a_name_of_the_users_elsewhere()
    {
        User("deployments:\n  staging: mongodb://mine");
        Project("deployments:\n  staging: mongodb://theirs\n  other: mongodb://theirs");
        UserException e = Assert.Throws<UserException>(() => Read());
        Assert.Contains(
            $"{_folder.At("work/mongoperf.yaml")}:2: deployment 'staging' has this name in", e.Message, StringComparison.Ordinal);
        User("deployments:\n  mine: mongodb://mine");
        Assert.Equal(["mine", "staging", "other"], Read().Deployments.Select(one => one.Name));
    }

    [Fact]
    public void A_scenario_that_is_called_like_a_projects_file_is_recognised()
    {
        Project("data: {}\nphases: []");
        UserException e = Assert.Throws<UserException>(() => Read());
        Assert.Contains("is this a scenario?", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_file_that_every_user_can_write_is_not_read()
    {
        User("language: zh");
        File.SetUnixFileMode(_folder.At("home/.config/mongoperf/config.yaml"), UnixFileMode.UserRead | UnixFileMode.OtherWrite);
        UserException e = Assert.Throws<UserException>(() => Read());
        Assert.Contains("every user of this machine can write it", e.Message, StringComparison.Ordinal);
        Assert.StartsWith("chmod 600 ", e.Hint, StringComparison.Ordinal);
    }

    [Fact]
    public void A_variable_with_a_value_that_is_not_allowed_is_refused()
    {
        _variables["MONGOPERF_THEME"] = "black";
        UserException e = Assert.Throws<UserException>(() => Read());
        Assert.Equal(("MONGOPERF_THEME is 'black'; allowed: light, dark, print", "or use --theme"), (e.Message, e.Hint));
    }

    [Fact]
    public void A_name_stands_for_a_connection_string_with_the_password_of_its_file()
    {
        Write("home/.loader", "p4ssw:rd\n");
        File.SetUnixFileMode(_folder.At("home/.loader"), UnixFileMode.UserRead | UnixFileMode.UserWrite);
        User("deployments:\n  staging:\n    uri: mongodb://loader@db1/?tls=true\n    passwordFile: ~/.loader\n  local: localhost:27018");
        Settings settings = Read();
        Assert.Equal("mongodb://loader:p4ssw%3Ard@db1:27017/?tls=true", settings.Resolve("@staging"));
        Assert.DoesNotContain("p4ssw", Masking.MaskText("no route to mongodb://loader:p4ssw%3Ard@db1"), StringComparison.Ordinal);
        Assert.Equal("localhost:27018", settings.Resolve("@local"));
        Assert.Equal("mongodb://h", settings.Resolve("mongodb://h"));
        UserException e = Assert.Throws<UserException>(() => settings.Resolve("@stagin"));
        Assert.Equal(("no deployment has the name 'stagin'; there are: staging, local", "did you mean 'staging'?"), (e.Message, e.Hint));
    }

    [Fact]
    public void Every_variable_that_the_sources_name_is_listed_here_and_in_the_docs()
    {
        string[] named = [.. RepositoryPaths.SourcesIn("src").SelectMany(path => Texts.SourceTexts.In(File.ReadAllText(path)))
            .Select(text => text.Key)
            .Where(key => key.StartsWith("MONGOPERF_", StringComparison.Ordinal) && key.All(c => char.IsAsciiLetterUpper(c) || c == '_'))];
        Assert.Empty(named.Except(EnvironmentVariable.All.Select(one => one.Name)));
        string docs = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "configuration.md"));
        Assert.Equal(EnvironmentVariable.All.Select(one => one.Name).Order(), docs.Split('\n')
            .Where(line => line.StartsWith("| `MONGOPERF_", StringComparison.Ordinal)).Select(line => line.Split('`')[1]).Order());
        Assert.All(EnvironmentVariable.All, one => Assert.Contains($"\n| `{one.Name}` | ", docs, StringComparison.Ordinal));
        Assert.All(SettingRule.All, rule => Assert.Contains(
            $"\n| `{rule.Key}` | `{rule.Option}` | `{rule.Variable}` | ", docs, StringComparison.Ordinal));
    }

    private Settings Read(string folder = "work")
    {
        Directory.CreateDirectory(_folder.At(folder));
        return Settings.Read(name => _variables.GetValueOrDefault(name), _folder.At(folder));
    }

    private void User(string text) => Write("home/.config/mongoperf/config.yaml", text);

    private void Project(string text) => Write("work/mongoperf.yaml", text);

    private void Write(string path, string text)
    {
        string full = _folder.At(path);
        Directory.CreateDirectory(Path.GetDirectoryName(full)!);
        File.WriteAllText(full, text);
    }
}

using System.CommandLine;
using System.Diagnostics;
using System.Text.RegularExpressions;
using MongoPerf.Commands;
using MongoPerf.Completion;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Completion;

/// <summary>What bash offers, by the script that is printed for it, with no other program at hand.</summary>
public sealed class CompletionTests : IDisposable
{
    private static readonly IReadOnlyList<CompletedCommand> Commands = CompletedCommand.AllOf(CommandTree.Build());
    private static readonly string Script = CompletionScript.Of("bash", CommandTree.Build());

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("mongoperf ser", "series server serve")]
    [InlineData("mongoperf list ", "runs scenarios plots phases metrics")]
    [InlineData("./mongoperf --lang zh lis", "list")]
    [InlineData("mongoperf help resu", "resume")]
    [InlineData("mongoperf series --forma", "--format")]
    [InlineData("mongoperf series --format ", "csv json junit markdown text")]
    [InlineData("mongoperf series --target 1M --format=j", "json junit")]
    [InlineData("mongoperf report --format y", "ycsb")]
    [InlineData("mongoperf series --topology standalone,s", "standalone,sharded standalone,standalone")]
    [InlineData("mongoperf series --topology null,re", "null,replicaset")]
    [InlineData("mongoperf series --tests q4,si", "q4,size")]
    [InlineData("mongoperf series --tls ", "off on")]
    [InlineData("mongoperf run q", "q4 q5 q6 q7")]
    [InlineData("mongoperf run ycsb/a", "ycsb/a")]
    [InlineData("mongoperf run q4 --eng", "--engine")]
    [InlineData("mongoperf series --target ", "")]
    [InlineData("mongoperf series --target 1M ", "--target --step", true)]
    public void Bash_offers_what_can_follow(string line, string expected, bool andMore = false)
    {
        string[] offered = Offered(line);
        Assert.Equal(expected.Split(' ', StringSplitOptions.RemoveEmptyEntries), andMore ? offered[..2] : offered);
    }

    [Fact]
    public void Bash_quotes_what_it_would_take_for_more_than_a_word() =>
        Assert.Equal([@"p99\ \<\ 10ms", @"p999\ \<\ 10ms"], Offered("mongoperf run q4 --assert p99"));

    [Fact]
    public void Bash_offers_every_command_and_every_option_of_each()
    {
        string[][] offered = Offer([.. Commands.SelectMany(
            command => new[] { $"mongoperf {command.Path} ", $"mongoperf {command.Path} -" })]);
        foreach ((int index, CompletedCommand command) in Commands.Index())
        {
            if (command.Commands.Count > 0)
                Assert.Equal(command.Commands.Select(one => one.Name), offered[2 * index]);
            Assert.Equal(command.Options.SelectMany(option => option.Names), offered[(2 * index) + 1]);
        }
    }

    [Theory]
    [InlineData("bash")]
    [InlineData("zsh")]
    [InlineData("fish")]
    [InlineData("pwsh")]
    public void A_script_of_each_shell_has_every_command_and_option(string shell)
    {
        string script = CompletionScript.Of(shell, CommandTree.Build());
        Assert.DoesNotContain("@TABLES@", script, StringComparison.Ordinal);
        Assert.All(Commands, command => Assert.Contains($"{command.Path}'", script, StringComparison.Ordinal));
        Assert.All(Commands.SelectMany(command => command.Options).SelectMany(option => option.Names), name => Assert.Contains(
            shell != "fish" ? $"'{name}" : name.StartsWith("--", StringComparison.Ordinal) ? $" -l {name[2..]} " : $" -s {name[1..]} ",
            script, StringComparison.Ordinal));
    }

    [Fact]
    public void Bash_lists_the_runs_of_the_runs_folder_that_counts()
    {
        foreach (string run in (string[])["runs/2026-11-21-a", "runs/2026-11-21-b", "other/x", "third/y"])
            WriteFile($"{run}/run.db");
        Directory.CreateDirectory(_folder.At("runs/compare-a-b"));
        Assert.Equal(["2026-11-21-a", "2026-11-21-b"], Offered("mongoperf report "));
        Assert.Equal(["2026-11-21-b,2026-11-21-a"], Offered("mongoperf compare x 2026-11-21-b,2026-11-21-a"));
        Assert.Equal(["x"], Offered("mongoperf resume --out other "));
        Assert.Equal(["x"], Offered("mongoperf clean --out=other "));
        Assert.Equal(["y"], Offer(["mongoperf report "], ("MONGOPERF_RUNS", _folder.At("third")))[0]);
        Assert.Equal(["2026-11-21-a", "2026-11-21-b"], Offered("mongoperf compare a b --baseline 2026"));
    }

    [Fact]
    public void Bash_reads_the_configuration_for_names_and_the_runs_folder()
    {
        WriteFile("config/mongoperf/config.yaml", "runs: ../measured # here\ndeployments:\n  staging:\n    uri: mongodb://h\n  db-2: h2\n");
        WriteFile("mongoperf.yaml", "deployments: # ours\n  local: {uri: localhost}\ntheme: dark\n");
        WriteFile("config/measured/a/run.db");
        (string, string) place = ("XDG_CONFIG_HOME", _folder.At("config"));
        Assert.Equal(["@local", "@staging", "@db-2"], Offer(["mongoperf series --uri "], place)[0]);
        // Bash takes an @ for the end of a word.
        Assert.Equal(["staging"], Offer(["mongoperf run q4 --against @st"], place, ("COMP_WORDBREAKS", " @="))[0]);
        Assert.Equal(["a"], Offer(["mongoperf report "], place)[0]);
    }

    [Fact]
    public void A_pipe_in_place_of_a_projects_file_is_not_waited_for()
    {
        Process.Start("mkfifo", [_folder.At("mongoperf.yaml")]).WaitForExit();
        Assert.Empty(Offered("mongoperf series --uri "));
    }

    [Fact]
    public void Bash_lists_own_scenarios_and_files_beside_those_of_the_program()
    {
        foreach (string file in (string[])["scenarios/own/mine.yaml", "scenarios/examples/start.yaml", "my.yaml", "my.txt"])
            WriteFile(file);
        Assert.Equal(["own/mine"], Offered("mongoperf run own"));
        Assert.Equal(["my.yaml"], Offered("mongoperf validate my"));
        Assert.Equal(["my.yaml"], Offered("mongoperf plot x --plot my"));
        Assert.Contains("ycsb/a", Offered("mongoperf show document "));
        Assert.Contains("latency", Offered("mongoperf plot x --plot "));
    }

    [Fact]
    public void The_name_of_a_run_is_never_run()
    {
        WriteFile("runs/$(touch pwned)/run.db");
        WriteFile("runs/`touch pwned`/run.db");
        WriteFile("runs/a;touch pwned/run.db");
        Assert.Equal([@"\$\(touch\ pwned\)", @"\`touch\ pwned\`", @"a\;touch\ pwned"], Offered("mongoperf report ").Order());
        Assert.Empty(Directory.GetFiles(_folder.Path, "pwned"));
    }

    [Fact]
    public void PowerShell_quotes_every_name_that_is_more_than_a_word()
    {
        string script = CompletionScript.Of("pwsh", CommandTree.Build());
        string word = Regex.Match(script, @"\$text = if \(\$word -match '(.*?)'\)").Groups[1].Value;
        Assert.All(["2026-11-21-a", "other/x", "my.yaml", @"own\mine"], name => Assert.Matches(word, name));
        Assert.All(["a b", "a;calc", "a|b", "a&b", "(a)", "{a}", "`a", "it's", "$a", "a\nb", "a\n", ""],
            name => Assert.DoesNotMatch(word, name));
        Assert.Contains("""'$before$($word -replace "'", "''")'""", script, StringComparison.Ordinal);
    }

    [Fact]
    public void Descriptions_are_a_clause_long()
    {
        CompletedCommand series = Commands.First(command => command.Path == "series");
        Assert.Equal("Cache size of a started server, at least 64MB",
            series.Options.First(option => option.Names[0] == "--cache").Description);
        Assert.All(Commands.SelectMany(command => command.Options), option => Assert.InRange(option.Description.Length, 3, 120));
    }

    private string[] Offered(string line) => Offer([line])[0];

    private string[][] Offer(string[] lines, params (string Name, string Value)[] environment)
    {
        string script = $$"""
            {{Script}}
            while IFS= read -r COMP_LINE; do
              COMP_POINT=${#COMP_LINE}
              _mongoperf
              printf '%s\n' "${COMPREPLY[@]}" --
            done
            """;
        var start = new ProcessStartInfo("bash", ["--norc", "-c", script])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = _folder.Path,
        };
        start.Environment.Remove("MONGOPERF_RUNS");
        start.Environment["XDG_CONFIG_HOME"] = "/nonexistent";
        start.Environment["PATH"] = "/nonexistent";
        foreach ((string name, string value) in environment)
            start.Environment[name] = value;
        using Process bash = Process.Start(start)!;
        Task<string> errors = bash.StandardError.ReadToEndAsync();
        Task<string> output = bash.StandardOutput.ReadToEndAsync();
        foreach (string line in lines)
            bash.StandardInput.Write(line + "\n");
        bash.StandardInput.Close();
        bash.WaitForExit();
        Assert.Equal("", errors.Result);
        var answers = new List<List<string>> { new() };
        foreach (string line in output.Result.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            if (line == "--")
                answers.Add([]);
            else
                answers[^1].Add(line);
        }

        return [.. answers.SkipLast(1).Select(answer => answer.ToArray())];
    }

    private void WriteFile(string path, string text = "")
    {
        string full = _folder.At(path);
        Directory.CreateDirectory(Path.GetDirectoryName(full)!);
        File.WriteAllText(full, text);
    }
}

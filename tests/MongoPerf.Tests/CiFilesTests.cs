using System.Text.RegularExpressions;
using MongoPerf.Running.Sessions;
using YamlDotNet.RepresentationModel;

namespace MongoPerf.Tests;

/// <summary>action.yml, its script and the Containerfile agree with each other, and with what is there.</summary>
public sealed partial class CiFilesTests
{
    private static string Action => Read("action.yml");

    private static string Script => Read("scripts/compare-in-turns");

    [Fact]
    public void The_action_hands_the_script_what_it_reads()
    {
        var action = new YamlStream();
        action.Load(new StringReader(Action));
        var top = (YamlMappingNode)action.Documents[0].RootNode;
        var inputs = (YamlMappingNode)top["inputs"];
        YamlMappingNode step = ((YamlSequenceNode)top["runs"]["steps"]).Children.Cast<YamlMappingNode>()
            .Single(one => one.Children.ContainsKey("run"));
        // An input within a script would be run.
        Assert.DoesNotContain("${{", step["run"].ToString(), StringComparison.Ordinal);
        var variables = (YamlMappingNode)step["env"];
        string[] read = [.. Documented().Matches(Script).Select(match => match.Groups[1].Value).SelectMany(names => names.Split(", "))];
        Assert.True(read.Length >= 8, string.Join(' ', read));
        Assert.Empty(read.Except(variables.Children.Keys.Select(key => key.ToString())));
        string[] used = [.. Used().Matches(Action).Select(match => match.Groups[1].Value).Distinct()];
        Assert.Equal(inputs.Children.Keys.Select(key => key.ToString()).Order(), used.Order());
    }

    [Fact]
    public void The_documentation_has_the_inputs_of_the_action()
    {
        string docs = Read("docs/ci.md");
        var example = new YamlStream();
        example.Load(new StringReader(Example().Match(docs).Groups[1].Value));
        var steps = (YamlSequenceNode)example.Documents[0].RootNode["jobs"]["compare"]["steps"];
        var with = (YamlMappingNode)steps.Children.Last()["with"];
        string[] inputs = [.. Used().Matches(Action).Select(match => match.Groups[1].Value)];
        Assert.Empty(with.Children.Keys.Select(key => key.ToString()).Except(inputs));
    }

    [Fact]
    public void The_image_is_made_of_files_that_there_are_and_runs_the_program_that_is_built()
    {
        string[] lines = [.. Read("Containerfile").Split('\n').Where(line => line.Length > 0 && line[0] != '#')];
        Assert.All(lines, line => Assert.Matches("^(FROM|WORKDIR|COPY|RUN|USER|VOLUME|ENTRYPOINT|CMD) ", line));
        string[] copied = [.. lines
            .Where(line => line.StartsWith("COPY ", StringComparison.Ordinal) && !line.Contains("--from", StringComparison.Ordinal))
            .SelectMany(line => line.Split(' ')[1..^1])];
        Assert.All(copied, path => Assert.True(Path.Exists(Path.Combine(RepositoryPaths.Root, path)), path));
        string framework = Framework().Match(Read("Directory.Build.props")).Groups[1].Value;
        Assert.Contains(lines, line => line.Contains($"/bin/Release/net{framework}/", StringComparison.Ordinal));
        Assert.Equal(
            [$"FROM mcr.microsoft.com/dotnet/sdk:{framework} AS build", $"FROM mcr.microsoft.com/dotnet/runtime:{framework}"],
            lines.Where(line => line.StartsWith("FROM", StringComparison.Ordinal)));
        // Nobody is root in it.
        Assert.Contains("USER $APP_UID", lines);
    }

    [Fact]
    public void The_newest_release_of_the_changelog_is_the_programs_version()
    {
        string[] releases = [.. Release().Matches(Read("CHANGELOG.md")).Select(match => match.Groups[1].Value)];
        Assert.Equal(ThisBuild.Number, releases[0]);
        Assert.Equal(releases.Select(Version.Parse).OrderDescending().Distinct(), releases.Select(Version.Parse));
        Assert.Single(Directory.GetFiles(RepositoryPaths.Root, "*.props").Concat(Directory.GetFiles(
            Path.Combine(RepositoryPaths.Root, "src"), "*.csproj", SearchOption.AllDirectories)),
            file => File.ReadAllText(file).Contains("<Version>", StringComparison.Ordinal));
    }

    private static string Read(string path) => File.ReadAllText(Path.Combine(RepositoryPaths.Root, path));

    [GeneratedRegex(@"^#   ([A-Z][A-Z_, ]+?)  ", RegexOptions.Multiline)]
    private static partial Regex Documented();

    [GeneratedRegex(@"inputs\.([a-z]+)")]
    private static partial Regex Used();

    [GeneratedRegex("```yaml\n(name: performance.*?)```", RegexOptions.Singleline)]
    private static partial Regex Example();

    [GeneratedRegex(@"^## ([0-9.]+) \((?:unreleased|\d{4}-\d\d-\d\d)\)$", RegexOptions.Multiline)]
    private static partial Regex Release();

    [GeneratedRegex("<TargetFramework>net([0-9.]+)</TargetFramework>")]
    private static partial Regex Framework();
}

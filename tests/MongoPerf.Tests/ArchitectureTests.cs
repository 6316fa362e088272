using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace MongoPerf.Tests;

/// <summary>The arrows of docs/design.md, section 3, read from the sources: MongoPerf → {Engine, Server} → Wire, and the rooms inside Engine.</summary>
public sealed partial class ArchitectureTests
{
    private const string Any = "*";

    /// <summary>Which of our namespaces a namespace may use, besides itself and what lies in it. The longest entry that fits counts.</summary>
    private static readonly Dictionary<string, string[]> Allowed = new(StringComparer.Ordinal)
    {
        ["MongoPerf.Wire"] = [],
        ["MongoPerf.Wire.Messages"] = ["MongoPerf.Wire.Bson"],
        ["MongoPerf.Wire.Authentication"] = ["MongoPerf.Wire.Bson"],
        ["MongoPerf.Wire.Compression"] = ["MongoPerf.Wire.Messages"],
        ["MongoPerf.Wire.Names"] = [],
        ["MongoPerf.Wire.Connections"] =
            ["MongoPerf.Wire.Bson", "MongoPerf.Wire.Messages", "MongoPerf.Wire.Authentication", "MongoPerf.Wire.Compression", "MongoPerf.Wire.Names"],
        ["MongoPerf.Wire.Tyrant"] = ["MongoPerf.Wire.Bson", "MongoPerf.Wire.Messages", "MongoPerf.Wire.Connections"],
        ["MongoPerf.Engine.Measurement"] = [],
        ["MongoPerf.Engine.Documents"] = ["MongoPerf.Engine.Measurement", "MongoPerf.Wire"],
        ["MongoPerf.Engine.Workloads"] = ["MongoPerf.Engine.Measurement", "MongoPerf.Engine.Documents", "MongoPerf.Wire"],
        ["MongoPerf.Engine.Runs"] = ["MongoPerf.Engine.Measurement", "MongoPerf.Wire"],
        ["MongoPerf.Engine.Execution"] =
            ["MongoPerf.Engine.Measurement", "MongoPerf.Engine.Documents", "MongoPerf.Engine.Workloads", "MongoPerf.Engine.Runs", "MongoPerf.Wire"],
        ["MongoPerf.Server"] = ["MongoPerf.Wire"],
        ["MongoPerf.OfficialDriver"] = ["MongoPerf.Engine", "MongoPerf.Wire"],
        ["MongoPerf"] = [Any],
    };

    /// <summary>What is forbidden although a room above allows it.</summary>
    private static readonly (string From, string To)[] Forbidden =
    [
        // A report is made from the stored run, also when the deployment is long gone.
        ("MongoPerf.Reporting", "MongoPerf.Wire.Connections"),
    ];

    private static readonly Dictionary<string, string[]> ProjectReferences = new(StringComparer.Ordinal)
    {
        ["MongoPerf.Wire"] = [],
        ["MongoPerf.Engine"] = ["MongoPerf.Wire"],
        ["MongoPerf.Server"] = ["MongoPerf.Wire"],
        ["MongoPerf"] = ["MongoPerf.Engine", "MongoPerf.Server"],
        ["MongoPerf.OfficialDriver"] = ["MongoPerf.Engine"],
    };

    private static string Source => Path.Combine(RepositoryPaths.Root, "src");

    [Fact]
    public void Sources_use_only_the_namespaces_their_room_may_use()
    {
        var wrong = new List<string>();
        int files = 0;
        foreach (string path in SourceFiles())
        {
            files++;
            wrong.AddRange(WrongUses(File.ReadAllText(path)).Select(use => $"{Path.GetRelativePath(RepositoryPaths.Root, path)}: {use}"));
        }

        Assert.True(files > 5, $"only {files} source files found under {Source}");
        Assert.True(wrong.Count == 0, string.Join('\n', wrong));
    }

    [Fact]
    public void Namespace_of_a_source_is_its_folder()
    {
        string[] wrong = SourceFiles()
            .Where(path => NamespaceOf(File.ReadAllText(path)) is { } name && name != Path.GetRelativePath(Source, Path.GetDirectoryName(path)!).Replace(Path.DirectorySeparatorChar, '.'))
            .ToArray();
        Assert.True(wrong.Length == 0, string.Join('\n', wrong));
    }

    [Fact]
    public void Projects_reference_only_the_projects_below_them()
    {
        foreach (string path in Directory.GetFiles(Source, "*.csproj", SearchOption.AllDirectories))
        {
            var project = XDocument.Load(path);
            IEnumerable<string> references = project.Descendants("ProjectReference")
                .Select(reference => Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value.Replace('\\', '/')));
            Assert.Empty(references.Except(ProjectReferences[Path.GetFileNameWithoutExtension(path)]));
        }
    }

    [Fact]
    public void Wire_references_no_package() =>
        Assert.Empty(XDocument.Load(Path.Combine(Source, "MongoPerf.Wire", "MongoPerf.Wire.csproj")).Descendants("PackageReference"));

    [Theory]
    [InlineData("namespace MongoPerf.Wire.Bson;", "using MongoPerf.Wire.Messages;")]
    [InlineData("namespace MongoPerf.Engine.Measurement;", "using MongoPerf.Wire.Bson;")]
    [InlineData("namespace MongoPerf.Engine.Runs;", "using MongoPerf.Engine.Execution;")]
    [InlineData("namespace MongoPerf.Engine.Workloads;", "using MongoPerf.Engine.Runs;")]
    [InlineData("namespace MongoPerf.Server.Commands;", "using MongoPerf.Engine.Documents;")]
    [InlineData("namespace MongoPerf.Reporting.Charts;", "using static MongoPerf.Wire.Connections.ConnectionString;")]
    [InlineData("namespace MongoPerf.Reporting;", "using Connection = MongoPerf.Wire.Connections.MongoConnection;")]
    [InlineData("namespace MongoPerf.Engine.Measurement;", "var x = MongoPerf.Wire.Bson.ObjectId.Parse(y);")]
    public void Wrong_arrow_is_found(string declaration, string use) => Assert.Single(WrongUses($"{use}\n{declaration}\n"));

    [Theory]
    [InlineData("namespace MongoPerf.Engine.Execution;", "using MongoPerf.Engine.Runs;")]
    [InlineData("namespace MongoPerf.Engine.Measurement;", "using System.Numerics;")]
    [InlineData("namespace MongoPerf.Cli;", "using MongoPerf.Wire.Connections;")]
    [InlineData("namespace MongoPerf.Reporting;", "using MongoPerf.Engine.Runs;")]
    [InlineData("namespace MongoPerf.Server.Commands;", "using MongoPerf.Server.Storage;")]
    public void Right_arrow_is_let_pass(string declaration, string use) => Assert.Empty(WrongUses($"{use}\n{declaration}\n"));

    private static IEnumerable<string> WrongUses(string source)
    {
        if (NamespaceOf(source) is not { } from)
            return [];
        IEnumerable<string> uses = Uses().Matches(source).Select(match => match.Value)
            .Where(name => name != from && !(from + ".").StartsWith(name + ".", StringComparison.Ordinal));
        return uses.Where(to => !IsAllowed(from, to)).Distinct().Select(to => $"{from} must not use {to}");
    }

    private static bool IsAllowed(string from, string to)
    {
        if (Forbidden.Any(rule => IsWithin(from, rule.From) && IsWithin(to, rule.To)))
            return false;
        string? room = Allowed.Keys.Where(key => IsWithin(from, key)).MaxBy(key => key.Length);
        return room is not null && (Allowed[room].Contains(Any) || IsWithin(to, room) && room != "MongoPerf.Wire" || Allowed[room].Any(allowed => IsWithin(to, allowed)));
    }

    private static bool IsWithin(string name, string room) => name == room || name.StartsWith(room + ".", StringComparison.Ordinal);

    private static string? NamespaceOf(string source) => Declaration().Match(source) is { Success: true } match ? match.Groups[1].Value : null;

    private static IEnumerable<string> SourceFiles() => Directory.EnumerateFiles(Source, "*.cs", SearchOption.AllDirectories)
        .Where(path => !path.Contains($"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal)
            && !path.Contains($"{Path.DirectorySeparatorChar}bin{Path.DirectorySeparatorChar}", StringComparison.Ordinal));

    [GeneratedRegex(@"^namespace\s+([\w.]+)", RegexOptions.Multiline)]
    private static partial Regex Declaration();

    /// <summary>Names of our namespaces, in using lines and written out in full; a type's name at the end does no harm. Comments count too.</summary>
    [GeneratedRegex(@"(?<![\w.""])MongoPerf(\.[A-Z]\w*)+(?!"")")]
    private static partial Regex Uses();
}

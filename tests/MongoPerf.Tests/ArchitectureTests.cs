using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace MongoPerf.Tests;

/// <summary>The arrows of docs/design.md, section 3, read from the sources: MongoPerf → {Driver → Engine, Server} → Wire, and the rooms inside Engine and MongoPerf.</summary>
public sealed partial class ArchitectureTests
{
    private const string Any = "*";
    private const string Wire = "MongoPerf.Wire";
    private const string Measurement = "MongoPerf.Engine.Measurement";
    private const string Documents = "MongoPerf.Engine.Documents";
    private const string Keys = "MongoPerf.Engine.Keys";
    private const string Plans = "MongoPerf.Engine.Plans";
    private const string Runs = "MongoPerf.Engine.Runs";
    private const string Failures = "MongoPerf.Engine.Failures";
    private const string Collections = "MongoPerf.Engine.Collections";
    private const string Sharding = "MongoPerf.Engine.Sharding";

    /// <summary>Which of our namespaces a namespace may use, besides itself and what lies in it. The longest entry that fits counts.</summary>
    private static readonly Dictionary<string, string[]> Allowed = new(StringComparer.Ordinal)
    {
        ["MongoPerf.Wire"] = [],
        ["MongoPerf.Wire.Bson"] = ["MongoPerf.Wire.Failures"],
        ["MongoPerf.Wire.Messages"] = ["MongoPerf.Wire.Bson", "MongoPerf.Wire.Failures"],
        ["MongoPerf.Wire.Authentication"] = ["MongoPerf.Wire.Bson"],
        ["MongoPerf.Wire.Compression"] = ["MongoPerf.Wire.Messages"],
        ["MongoPerf.Wire.Names"] = [],
        ["MongoPerf.Wire.Connections"] =
            ["MongoPerf.Wire.Bson", "MongoPerf.Wire.Messages", "MongoPerf.Wire.Authentication", "MongoPerf.Wire.Compression", "MongoPerf.Wire.Names", "MongoPerf.Wire.Files", "MongoPerf.Wire.Failures"],
        ["MongoPerf.Wire.Discovery"] = ["MongoPerf.Wire.Bson", "MongoPerf.Wire.Connections", "MongoPerf.Wire.Failures"],
        ["MongoPerf.Wire.Tyrant"] = ["MongoPerf.Wire.Bson", "MongoPerf.Wire.Messages", "MongoPerf.Wire.Connections", "MongoPerf.Wire.Failures"],
        ["MongoPerf.Engine.Measurement"] = [],
        ["MongoPerf.Engine.Documents"] = [Measurement, Wire],
        ["MongoPerf.Engine.Keys"] = [Measurement, Documents],
        ["MongoPerf.Engine.Plans"] = [Measurement, Documents, Keys, Wire],
        ["MongoPerf.Engine.Runs"] = [Measurement, "MongoPerf.Wire.Files", "MongoPerf.Wire.Failures"],
        ["MongoPerf.Engine.Failures"] = [Measurement, Runs, Wire],
        ["MongoPerf.Engine.Collections"] = [Measurement, Documents, Keys, Plans, Runs, Failures, Wire],
        ["MongoPerf.Engine.Sharding"] = [Measurement, Documents, Plans, Runs, Failures, Collections, Wire],
        // How connections, and all else, fail; nothing of messages.
        ["MongoPerf.Engine.Phases"] = [Measurement, Documents, Keys, Plans, Runs, Failures, Collections, "MongoPerf.Wire.Connections", "MongoPerf.Wire.Failures"],
        ["MongoPerf.Engine.Growth"] = [Measurement, Documents, Keys, Plans, Runs, Failures, Collections, "MongoPerf.Engine.Phases", "MongoPerf.Wire.Failures"],
        ["MongoPerf.Engine.Merging"] = [Measurement, Plans, Runs, Failures, "MongoPerf.Engine.Phases"],
        ["MongoPerf.Engine.Executors"] = [Measurement, Documents, Keys, Plans, Runs, Failures, Collections, Sharding, "MongoPerf.Engine.Phases", Wire],
        ["MongoPerf.Server"] = ["MongoPerf.Wire"],
        ["MongoPerf.Driver"] = ["MongoPerf.Engine", "MongoPerf.Wire"],
        ["MongoPerf"] = [Any],
        // Messages hold what servers and files say.
        ["MongoPerf.Input"] = [Collections, "MongoPerf.Wire.Messages", "MongoPerf.Wire.Failures"],
        // A run is carried out, whoever asked for it. Of reports it needs what a group's precision, a crowded shard and a full disk are judged by.
        ["MongoPerf.Running"] =
            ["MongoPerf.Input", "MongoPerf.Scenarios", "MongoPerf.Deployments", "MongoPerf.Engine", "MongoPerf.Driver", Wire,
                "MongoPerf.Reporting.Comparison", "MongoPerf.Reporting.Sharding", "MongoPerf.Reporting.Forecasts"],
        ["MongoPerf.Deployments"] = ["MongoPerf.Engine", Wire],
        // The embedded server's user is written into its folder before it starts.
        ["MongoPerf.Deployments.Security"] = ["MongoPerf.Engine", Wire, "MongoPerf.Server.Users"],
        // The null server is the embedded server with a session of its own before each of its sessions.
        ["MongoPerf.Deployments.Null"] = ["MongoPerf.Deployments.Processes", "MongoPerf.Engine", Wire, "MongoPerf.Server"],
        // A scenario names what its report shows, and is held to what a server can be started with.
        ["MongoPerf.Scenarios"] = ["MongoPerf.Input", "MongoPerf.Deployments.Limits", "MongoPerf.Reporting.Figures", Measurement, Documents, Keys, Plans, Runs, Sharding, "MongoPerf.Engine.Growth", "MongoPerf.Wire.Bson", "MongoPerf.Wire.Files"],
        // A report is made from the stored run, also when the deployment is long gone.
        ["MongoPerf.Reporting"] = [Measurement, Runs],
        // A plot is a file in the language of scenarios' figures, with messages as theirs.
        ["MongoPerf.Reporting.Plots"] = [Measurement, Runs, "MongoPerf.Reporting", "MongoPerf.Input", "MongoPerf.Scenarios", "MongoPerf.Wire.Files"],
    };

    private static readonly Dictionary<string, string[]> ProjectReferences = new(StringComparer.Ordinal)
    {
        ["MongoPerf.Wire"] = [],
        ["MongoPerf.Engine"] = ["MongoPerf.Wire"],
        ["MongoPerf.Server"] = ["MongoPerf.Wire"],
        ["MongoPerf"] = ["MongoPerf.Engine", "MongoPerf.Server", "MongoPerf.Driver"],
        ["MongoPerf.Driver"] = ["MongoPerf.Engine"],
    };

    private static string Source => Path.Combine(RepositoryPaths.Root, "src");

    [Fact]
    public void Sources_use_only_the_namespaces_their_room_may_use()
    {
        var wrong = new List<string>();
        int files = 0;
        foreach (string path in RepositoryPaths.SourcesIn("src"))
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
        string[] wrong = RepositoryPaths.SourcesIn("src")
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
    public void Wire_references_packages_for_names_and_compression_only() =>
        Assert.Equal(["DnsClient", "Snappier", "ZstdSharp.Port"], XDocument.Load(Path.Combine(Source, "MongoPerf.Wire", "MongoPerf.Wire.csproj")).Descendants("PackageReference").Select(package => package.Attribute("Include")!.Value).Order(StringComparer.Ordinal));

    [Theory]
    [InlineData("namespace MongoPerf.Wire.Bson;", "using MongoPerf.Wire.Messages;")]
    [InlineData("namespace MongoPerf.Engine.Measurement;", "using MongoPerf.Wire.Bson;")]
    [InlineData("namespace MongoPerf.Engine.Runs;", "using MongoPerf.Engine.Plans;")]
    [InlineData("namespace MongoPerf.Engine.Plans;", "using MongoPerf.Engine.Runs;")]
    [InlineData("namespace MongoPerf.Engine.Documents;", "using MongoPerf.Engine.Keys;")]
    [InlineData("namespace MongoPerf.Engine.Phases;", "using MongoPerf.Engine.Growth;")]
    [InlineData("namespace MongoPerf.Engine.Growth;", "using MongoPerf.Engine.Executors.Wire;")]
    [InlineData("namespace MongoPerf.Engine.Sharding;", "using MongoPerf.Engine.Phases;")]
    [InlineData("namespace MongoPerf.Server.Commands;", "using MongoPerf.Engine.Documents;")]
    [InlineData("namespace MongoPerf.Reporting.Charts;", "using static MongoPerf.Wire.Connections.ConnectionString;")]
    [InlineData("namespace MongoPerf.Reporting;", "using Connection = MongoPerf.Wire.Connections.MongoConnection;")]
    [InlineData("namespace MongoPerf.Reporting.Figures;", "using MongoPerf.Scenarios;")]
    [InlineData("namespace MongoPerf.Reporting;", "using MongoPerf.Input;")]
    [InlineData("namespace MongoPerf.Scenarios.Yaml;", "using MongoPerf.Cli;")]
    [InlineData("namespace MongoPerf.Scenarios;", "using MongoPerf.Deployments.Clusters;")]
    [InlineData("namespace MongoPerf.Scenarios;", "using MongoPerf.Reporting;")]
    [InlineData("namespace MongoPerf.Deployments.Sampling;", "using MongoPerf.Cli;")]
    [InlineData("namespace MongoPerf.Input;", "using MongoPerf.Scenarios;")]
    [InlineData("namespace MongoPerf.Running.Sessions;", "using MongoPerf.Cli;")]
    [InlineData("namespace MongoPerf.Running.Agents;", "using MongoPerf.Reporting;")]
    [InlineData("namespace MongoPerf.Reporting;", "using MongoPerf.Running.Sessions;")]
    [InlineData("namespace MongoPerf.Scenarios;", "string? x = Cli.NearestName.Find(y);")]
    [InlineData("namespace MongoPerf.Engine.Measurement;", "var x = MongoPerf.Wire.Bson.ObjectId.Parse(y);")]
    public void Wrong_arrow_is_found(string declaration, string use) => Assert.Single(WrongUses($"{use}\n{declaration}\n"));

    [Theory]
    [InlineData("namespace MongoPerf.Engine.Executors.Wire;", "using MongoPerf.Engine.Phases;")]
    [InlineData("namespace MongoPerf.Scenarios;", "using MongoPerf.Deployments.Limits;")]
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
            .Concat(IsWithin(from, Wire) || IsWithin(from, "MongoPerf.Engine") || IsWithin(from, "MongoPerf.Server") ? [] : ShortUses().Matches(source).Select(match => $"MongoPerf.{match.Value}"))
            .Where(name => name != from && !(from + ".").StartsWith(name + ".", StringComparison.Ordinal));
        return uses.Where(to => !IsAllowed(from, to)).Distinct().Select(to => $"{from} must not use {to}");
    }

    private static bool IsAllowed(string from, string to)
    {
        string? room = Allowed.Keys.Where(key => IsWithin(from, key)).MaxBy(key => key.Length);
        return room is not null && (Allowed[room].Contains(Any) || IsWithin(to, room) && room != "MongoPerf.Wire" || Allowed[room].Any(allowed => IsWithin(to, allowed)));
    }

    private static bool IsWithin(string name, string room) => name == room || name.StartsWith(room + ".", StringComparison.Ordinal);

    private static string? NamespaceOf(string source) => Declaration().Match(source) is { Success: true } match ? match.Groups[1].Value : null;

    [GeneratedRegex(@"^namespace\s+([\w.]+)", RegexOptions.Multiline)]
    private static partial Regex Declaration();

    /// <summary>Names of our namespaces, in using lines and written out in full; a type's name at the end does no harm. Comments count too.</summary>
    [GeneratedRegex(@"(?<![\w.""])MongoPerf(\.[A-Z]\w*)+(?!"")")]
    private static partial Regex Uses();

    /// <summary>From inside MongoPerf its rooms can be named without it.</summary>
    [GeneratedRegex(@"(?<![\w.""])(Cli|Deployments|Input|Reporting|Running|Scenarios)(\.[A-Z]\w*)+")]
    private static partial Regex ShortUses();
}

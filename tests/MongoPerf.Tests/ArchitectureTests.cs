using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace MongoPerf.Tests;

/// <summary>The arrows of docs/design.md, section 3, read from the sources: between projects, and within them.</summary>
public sealed partial class ArchitectureTests
{
    private const string Any = "*";
    private const string Platforms = "MongoPerf.Platforms";
    private const string Wire = "MongoPerf.Wire";
    private const string Measurement = "MongoPerf.Measurement";
    private const string Storage = "MongoPerf.Storage";
    private const string Load = "MongoPerf.Load";
    private const string Texts = "MongoPerf.Texts";
    private const string Reports = "MongoPerf.Reports";
    private const string Documents = "MongoPerf.Load.Documents";
    private const string Keys = "MongoPerf.Load.Keys";
    private const string Plans = "MongoPerf.Load.Plans";
    private const string Failures = "MongoPerf.Load.Failures";
    private const string Collections = "MongoPerf.Load.Collections";
    private const string Sharding = "MongoPerf.Load.Sharding";
    private const string Phases = "MongoPerf.Load.Phases";
    private const string FailureKinds = "MongoPerf.Wire.Failures";

    /// <summary>
    /// Which of our namespaces a namespace may use, besides itself and what lies in it: what the compiler does not hold, because it is
    /// within a project, or less than all of a project that is referred to. The longest entry that fits counts.
    /// </summary>
    private static readonly Dictionary<string, string[]> Allowed = new(StringComparer.Ordinal)
    {
        ["MongoPerf"] = [Any],
        ["MongoPerf.Wire.Bson"] = [FailureKinds],
        ["MongoPerf.Wire.Messages"] = ["MongoPerf.Wire.Bson", FailureKinds],
        ["MongoPerf.Wire.Authentication"] = ["MongoPerf.Wire.Bson"],
        ["MongoPerf.Wire.Compression"] = ["MongoPerf.Wire.Messages"],
        ["MongoPerf.Wire.Names"] = [],
        ["MongoPerf.Wire.Connections"] =
        [
            "MongoPerf.Wire.Bson", "MongoPerf.Wire.Messages", "MongoPerf.Wire.Authentication", "MongoPerf.Wire.Compression",
            "MongoPerf.Wire.Names", "MongoPerf.Wire.Files", FailureKinds, Platforms,
        ],
        ["MongoPerf.Wire.Discovery"] = ["MongoPerf.Wire.Bson", "MongoPerf.Wire.Connections", FailureKinds],
        ["MongoPerf.Wire.Tyrant"] = ["MongoPerf.Wire.Bson", "MongoPerf.Wire.Messages", "MongoPerf.Wire.Connections", FailureKinds],
        [Storage] = [Measurement, Texts, "MongoPerf.Wire.Files", FailureKinds, Platforms],
        [Texts] = ["MongoPerf.Wire.Messages", FailureKinds],
        [Documents] = [Measurement, Platforms, Wire],
        [Keys] = [Measurement, Documents],
        [Plans] = [Measurement, Documents, Keys, Wire],
        [Failures] = [Measurement, Storage, Wire],
        [Collections] = [Measurement, Documents, Keys, Plans, Storage, Failures, Wire],
        [Sharding] = [Measurement, Documents, Plans, Storage, Failures, Collections, Wire],
        // How connections, and all else, fail; nothing of messages.
        [Phases] = [Measurement, Documents, Keys, Plans, Storage, Failures, Collections, "MongoPerf.Wire.Connections", FailureKinds],
        ["MongoPerf.Load.Growth"] = [Measurement, Documents, Keys, Plans, Storage, Failures, Collections, Phases, FailureKinds],
        ["MongoPerf.Load.Executors"] = [Measurement, Documents, Keys, Plans, Storage, Failures, Collections, Sharding, Phases, Wire],
        ["MongoPerf.Deployments"] = [Load, Measurement, Platforms, Storage, Wire],
        // The embedded server's user is written into its folder before it starts.
        ["MongoPerf.Deployments.Security"] = [Load, Storage, Wire, "MongoPerf.Server.Users"],
        // The null server is the embedded server with a session of its own before each of its sessions.
        ["MongoPerf.Deployments.Null"] = [Load, Measurement, Storage, Wire, "MongoPerf.Server", "MongoPerf.Deployments.Processes"],
        // A report is made from the stored run, also when the deployment is long gone.
        [Reports] = [Measurement, Platforms, Storage, Texts],
        ["MongoPerf.Reports.Plots"] = [Measurement, Storage, Texts, Reports, "MongoPerf.Wire.Files"],
        // What is told to monitoring systems comes from the stored run, too.
        ["MongoPerf.Telemetry"] = [Measurement, Storage],
        // What was recorded is read by itself, and replayed as any load is.
        ["MongoPerf.Traffic.Recordings"] = [Phases, "MongoPerf.Load.Executors", Wire],
        ["MongoPerf.Traffic.Proxying"] = ["MongoPerf.Traffic.Recordings", "MongoPerf.Traffic.Redacting", Platforms, Wire],
        ["MongoPerf.Traffic.Redacting"] = [Wire],
        // Captured packets are written as those of a proxy are.
        ["MongoPerf.Traffic.Capturing"] = ["MongoPerf.Traffic.Proxying", Wire],
        ["MongoPerf.Traffic.Replaying"] =
            ["MongoPerf.Traffic.Recordings", Documents, Plans, Phases, "MongoPerf.Load.Executors", Storage, Platforms, Wire],
        // What is learned of a deployment is what its collections hold, and what it was seen doing.
        ["MongoPerf.Learning.Sampling"] = [Documents, Collections, Measurement, Storage, Wire],
        ["MongoPerf.Learning.Observing"] = ["MongoPerf.Traffic.Recordings", "MongoPerf.Traffic.Proxying", Measurement, Wire],
        ["MongoPerf.Learning.Comparing"] =
            ["MongoPerf.Learning.Sampling", "MongoPerf.Learning.Observing", "MongoPerf.Learning.Writing", Measurement, Storage, Wire],
        ["MongoPerf.Learning.Writing"] =
            ["MongoPerf.Learning.Sampling", "MongoPerf.Learning.Observing", Documents, Measurement, Texts, Wire],
        // A scenario names what its report shows, and is held to what a server can be started with.
        ["MongoPerf.Scenarios"] =
        [
            Texts, "MongoPerf.Deployments.Limits", "MongoPerf.Reports.Figures", Measurement, Storage, Documents, Keys,
            Plans, Collections, Sharding,
            "MongoPerf.Load.Growth", "MongoPerf.Wire.Bson", "MongoPerf.Wire.Files", FailureKinds,
        ],
        // A run is carried out, whoever asked for it. Of reports it needs what a group's precision, a crowded shard and a full
        // disk are judged by, and the words for what its user may see.
        ["MongoPerf.Running"] =
        [
            Texts, "MongoPerf.Scenarios", "MongoPerf.Deployments", Load, Measurement, Platforms, Storage, "MongoPerf.Driver", Wire,
            "MongoPerf.Traffic.Recordings", "MongoPerf.Traffic.Replaying",
            "MongoPerf.Reports.Comparison", "MongoPerf.Reports.Sharding", "MongoPerf.Reports.Forecasts", "MongoPerf.Reports.Access",
        ],
    };

    private static readonly Dictionary<string, string[]> ProjectReferences = new(StringComparer.Ordinal)
    {
        ["MongoPerf.Platforms"] = [],
        ["MongoPerf.Wire"] = ["MongoPerf.Platforms"],
        ["MongoPerf.Measurement"] = ["MongoPerf.Platforms"],
        ["MongoPerf.Server"] = ["MongoPerf.Wire"],
        ["MongoPerf.Texts"] = ["MongoPerf.Wire"],
        ["MongoPerf.Storage"] = ["MongoPerf.Measurement", "MongoPerf.Texts", "MongoPerf.Wire"],
        ["MongoPerf.Load"] = ["MongoPerf.Storage"],
        ["MongoPerf.Driver"] = ["MongoPerf.Load"],
        ["MongoPerf.Traffic"] = ["MongoPerf.Load"],
        ["MongoPerf.Learning"] = ["MongoPerf.Traffic"],
        ["MongoPerf.Deployments"] = ["MongoPerf.Load", "MongoPerf.Server"],
        ["MongoPerf.Reports"] = ["MongoPerf.Storage", "MongoPerf.Texts"],
        ["MongoPerf.Telemetry"] = ["MongoPerf.Storage"],
        ["MongoPerf.Scenarios"] = ["MongoPerf.Deployments", "MongoPerf.Reports"],
        ["MongoPerf.Running"] = ["MongoPerf.Scenarios", "MongoPerf.Driver", "MongoPerf.Traffic"],
        ["MongoPerf"] = ["MongoPerf.Running", "MongoPerf.Telemetry", "MongoPerf.Learning"],
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
            .Where(path => NamespaceOf(File.ReadAllText(path)) is { } name
                && name != Path.GetRelativePath(Source, Path.GetDirectoryName(path)!).Replace(Path.DirectorySeparatorChar, '.'))
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
        Assert.Equal(["DnsClient", "Snappier", "ZstdSharp.Port"],
            XDocument.Load(Path.Combine(Source, "MongoPerf.Wire", "MongoPerf.Wire.csproj"))
                .Descendants("PackageReference").Select(package => package.Attribute("Include")!.Value).Order(StringComparer.Ordinal));

    [Theory]
    [InlineData("namespace MongoPerf.Wire.Bson;", "using MongoPerf.Wire.Messages;")]
    [InlineData("namespace MongoPerf.Storage;", "using MongoPerf.Load.Plans;")]
    [InlineData("namespace MongoPerf.Load.Plans;", "using MongoPerf.Storage;")]
    [InlineData("namespace MongoPerf.Load.Documents;", "using MongoPerf.Load.Keys;")]
    [InlineData("namespace MongoPerf.Load.Phases;", "using MongoPerf.Load.Growth;")]
    [InlineData("namespace MongoPerf.Load.Growth;", "using MongoPerf.Load.Executors.Wire;")]
    [InlineData("namespace MongoPerf.Load.Sharding;", "using MongoPerf.Load.Phases;")]
    [InlineData("namespace MongoPerf.Reports.Charts;", "using static MongoPerf.Wire.Connections.ConnectionString;")]
    [InlineData("namespace MongoPerf.Reports;", "using Connection = MongoPerf.Wire.Connections.MongoConnection;")]
    [InlineData("namespace MongoPerf.Reports.Figures;", "using MongoPerf.Scenarios;")]
    [InlineData("namespace MongoPerf.Reports;", "using MongoPerf.Deployments;")]
    [InlineData("namespace MongoPerf.Texts.Yaml;", "using MongoPerf.Commands;")]
    [InlineData("namespace MongoPerf.Scenarios;", "using MongoPerf.Deployments.Clusters;")]
    [InlineData("namespace MongoPerf.Scenarios;", "using MongoPerf.Reports;")]
    [InlineData("namespace MongoPerf.Deployments.Sampling;", "using MongoPerf.Commands;")]
    [InlineData("namespace MongoPerf.Texts.Input;", "using MongoPerf.Scenarios;")]
    [InlineData("namespace MongoPerf.Running.Sessions;", "using MongoPerf.Commands;")]
    [InlineData("namespace MongoPerf.Running.Agents;", "using MongoPerf.Reports;")]
    [InlineData("namespace MongoPerf.Reports;", "using MongoPerf.Running.Sessions;")]
    [InlineData("namespace MongoPerf.Scenarios;", "string? x = Commands.NearestName.Find(y);")]
    [InlineData("namespace MongoPerf.Traffic.Recordings;", "using MongoPerf.Load.Plans;")]
    [InlineData("namespace MongoPerf.Storage;", "var x = MongoPerf.Wire.Bson.ObjectId.Parse(y);")]
    public void Wrong_arrow_is_found(string declaration, string use) => Assert.Single(WrongUses($"{use}\n{declaration}\n"));

    [Theory]
    [InlineData("namespace MongoPerf.Load.Executors.Wire;", "using MongoPerf.Load.Phases;")]
    [InlineData("namespace MongoPerf.Scenarios;", "using MongoPerf.Deployments.Limits;")]
    [InlineData("namespace MongoPerf.Measurement;", "using System.Numerics;")]
    [InlineData("namespace MongoPerf.Commands;", "using MongoPerf.Wire.Connections;")]
    [InlineData("namespace MongoPerf.Reports;", "using MongoPerf.Storage;")]
    [InlineData("namespace MongoPerf.Server.Commands;", "using MongoPerf.Server.Storage;")]
    public void Right_arrow_is_let_pass(string declaration, string use) => Assert.Empty(WrongUses($"{use}\n{declaration}\n"));

    private static IEnumerable<string> WrongUses(string source)
    {
        if (NamespaceOf(source) is not { } from)
            return [];
        IEnumerable<string> uses = Uses().Matches(source).Select(match => match.Value)
            .Concat(IsWithin(from, Wire) || IsWithin(from, "MongoPerf.Load") || IsWithin(from, "MongoPerf.Server") ? []
                : ShortUses().Matches(source).Select(match => $"MongoPerf.{match.Value}"))
            .Where(name => name != from && !(from + ".").StartsWith(name + ".", StringComparison.Ordinal));
        return uses.Where(to => !IsAllowed(from, to)).Distinct().Select(to => $"{from} must not use {to}");
    }

    private static bool IsAllowed(string from, string to)
    {
        string? room = Allowed.Keys.Where(key => IsWithin(from, key)).MaxBy(key => key.Length);
        return room is not null && (Allowed[room].Contains(Any) || IsWithin(to, room) && room != "MongoPerf.Wire"
            || Allowed[room].Any(allowed => IsWithin(to, allowed)));
    }

    private static bool IsWithin(string name, string room) => name == room || name.StartsWith(room + ".", StringComparison.Ordinal);

    private static string? NamespaceOf(string source) =>
        Declaration().Match(source) is { Success: true } match ? match.Groups[1].Value : null;

    [GeneratedRegex(@"^namespace\s+([\w.]+)", RegexOptions.Multiline)]
    private static partial Regex Declaration();

    /// <summary>
    /// Names of our namespaces, in using lines and written out in full; a type's name at the end does no harm. Comments count too.
    /// </summary>
    [GeneratedRegex(@"(?<![\w.""])MongoPerf(\.[A-Z]\w*)+(?!"")")]
    private static partial Regex Uses();

    /// <summary>From inside MongoPerf its rooms can be named without it.</summary>
    [GeneratedRegex(@"(?<![\w.""])(Commands|Deployments|Reports|Running|Scenarios|Texts)(\.[A-Z]\w*)+")]
    private static partial Regex ShortUses();
}

using System.Text.Json;
using System.Text.RegularExpressions;
using MongoPerf.Reports.Access;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Deployments;

/// <summary>Where each version of MongoDB, 4.2 to 8.0, keeps each figure, and which are gone.</summary>
public sealed partial class MetricVersionTests
{
    private static readonly string[][] Rows =
    [
        .. File.ReadAllLines(Path.Combine(RepositoryPaths.Root, "tests", "MongoPerf.Tests", "Deployments", "status-paths.txt"))
            .Where(line => !line.StartsWith('#')).Select(line => Columns().Match(line))
            .Select(row => (string[])[row.Groups["path"].Value,
                .. row.Groups["marks"].Value.Split(' ', StringSplitOptions.RemoveEmptyEntries)]),
    ];

    private static readonly string[] Versions = Rows[0][1..];

    /// <summary>The versions that have a place.</summary>
    private static readonly Dictionary<string, string[]> Told = Rows.Skip(1).ToDictionary(
        row => row[0], row => Versions.Where((_, i) => row[i + 1] == "+").ToArray());

    public static TheoryData<string> AllVersions => [.. Versions];

    [Theory]
    [MemberData(nameof(AllVersions))]
    public void Every_figure_is_at_one_place_of_each_version_or_listed_as_not_told(string version)
    {
        foreach (Metric metric in MetricCatalogue.OfStatus)
        {
            string[] places = [.. metric.Places.Where(place => Told.GetValueOrDefault(place, []).Contains(version))];
            bool isTold = metric.IsToldBy(Version.Parse(version.Split('-')[0]));
            Assert.True(
                places.Length == (isTold ? 1 : 0), $"{metric.Name} in {version}: [{string.Join(", ", places)}], listed as {isTold}");
        }
    }

    [Fact]
    public void The_table_goes_from_the_oldest_to_the_newest_known_version()
    {
        Assert.Equal(MetricCatalogue.OldestVersion, Version.Parse(Versions[0]));
        Version newest = Version.Parse(Versions[^1]);
        Assert.Equal(MetricCatalogue.NewestVersion, new Version(newest.Major, newest.Minor));
        // What no metric reads is no fact of ours.
        Assert.Empty(Told.Keys.Except(MetricCatalogue.OfStatus.SelectMany(metric => metric.Places)));
    }

    [VectorFact]
    public void Recorded_versions_are_as_recorded()
    {
        BsonDocument six = ExtendedJson.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Replies!, "serverStatus.json")))
            .FindDocument("reply")!;
        HashSet<string> eight = [.. Names("serverStatus.json", 0), .. Names("mongos_stats.json", 16)];
        Assert.True(eight.Count > 500);
        // The single server that was recorded has nothing of sharding.
        foreach ((string place, string[] versions) in Told.Where(one => !one.Key.StartsWith("sharding", StringComparison.Ordinal)))
            Assert.True(six.Find(place) is not null == versions.Contains("6.0"), place);
        string[] ofShards = [.. MetricCatalogue.Shard.Where(metric => metric.IsOfSharding).SelectMany(metric => metric.Places)];
        foreach ((string place, string[] versions) in Told.Where(one => !ofShards.Contains(one.Key)))
            Assert.True(eight.Contains(place) == versions.Contains("8.0-alpha"), place);

        static IEnumerable<string> Names(string file, int exchange)
        {
            using var recorded = JsonDocument.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Replies!, "..", "replies-8.0", file)));
            return [.. recorded.RootElement.GetProperty("exchanges")[exchange].GetProperty("value").EnumerateArray()
                .Select(one => one.GetString()!.Split(": ")[0])];
        }
    }

    [Fact]
    public void The_manual_has_each_place_that_not_all_versions_have()
    {
        var rows = DocsRow().Matches(File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "monitoring.md")))
            .Select(row => (Name: row.Groups["name"].Value, Place: row.Groups["place"].Value, When: row.Groups["when"].Value)).ToList();
        var expected = MetricCatalogue.OfStatus.SelectMany(metric => metric.Places.Select(place => (metric.Name, Place: place)))
            .Where(one => Told.TryGetValue(one.Place, out string[]? versions) && versions.Length < Versions.Length).ToList();
        Assert.NotEmpty(expected);
        foreach ((string name, string place) in expected)
        {
            var found = rows.Where(row => Meets(row.Name, name) && Meets(row.Place, place)).ToList();
            Assert.True(found.Count == 1 && found[0].When == When(Told[place]), $"| `{name}` | `{place}` | {When(Told[place])} |");
        }

        Assert.All(rows, row => Assert.Contains(expected, one => Meets(row.Name, one.Name) && Meets(row.Place, one.Place)));

        static bool Meets(string pattern, string text) =>
            Regex.IsMatch(text, $"^{Regex.Escape(pattern).Replace(@"\*", ".*", StringComparison.Ordinal)}$");

        static string When(string[] versions) => versions switch
        {
            [var only] when only != Versions[^1] => only,
            _ when versions[^1] == Versions[^1] => $"from {versions[0]} on",
            _ when versions[0] == Versions[0] => $"to {versions[^1]}",
            _ => $"{versions[0]} to {versions[^1]}",
        };
    }

    [Theory]
    [InlineData("8.0.4", "index_builds", "index builds: MongoDB 8.0.4 does not tell them", false)]
    [InlineData("4.2.24", "asked_find_one asked_find_all range_deletions_due",
        "shards that operations asked, ranges waiting to be deleted: MongoDB 4.2.24 does not tell them", false)]
    [InlineData("6.0.5", "index_builds", "index builds: this server does not tell them where MongoPerf looks", false)]
    [InlineData("9.1.0", "index_builds", "index builds: MongoDB 9.1.0 does not tell them", false)]
    [InlineData("9.1.0-rc2", "index_builds tickets_read_out checkpoints",
        "index builds: MongoDB 9.1.0-rc2 does not tell them|read tickets in use, checkpoints: not found in serverStatus of MongoDB "
        + "9.1.0-rc2, which is newer than 8.0, the newest that MongoPerf knows", true)]
    [InlineData(DeploymentInfo.UnknownVersion, "checkpoints", "checkpoints: this server does not tell them where MongoPerf looks", false)]
    public void What_a_version_does_not_tell_is_said_once_and_a_newer_one_is_a_warning(
        string version, string untold, string lines, bool isWarning)
    {
        DeploymentInfo info = RunParts.Deployment() with { ServerVersion = version, UntoldMetrics = untold.Split(' ') };
        Assert.Equal(lines.Split('|'), UntoldText.Of(info));
        Assert.Equal(isWarning ? lines.Split('|')[^1] : null, UntoldText.Warning(info));
        Assert.Empty(UntoldText.Of(info with { UntoldMetrics = [] }));
    }

    [GeneratedRegex(@"^(?<path>.*?\S)\s+(?<marks>(?:[+-]|\d[\w.-]*)(?:\s+(?:[+-]|\d[\w.-]*))*)\s*$")]
    private static partial Regex Columns();

    [GeneratedRegex(@"^\| `(?<name>[a-z_*]+)` \| `(?<place>[^`]+)` \| (?<when>[^|]+?) \|$", RegexOptions.Multiline)]
    private static partial Regex DocsRow();
}

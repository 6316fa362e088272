using System.Reflection;
using System.Text.RegularExpressions;
using MongoPerf.Reports.Findings;

namespace MongoPerf.Tests.Scenarios;

/// <summary>
/// docs/published-tests.md against its own rule: a conclusion that is judged names the finding, comparison or forecast that decides it.
/// </summary>
public sealed partial class PublishedConclusionsTests
{
    private static readonly string[] Judged = ["yes", "more", "less", "no"];
    private static readonly string[] Unjudged = ["shown", "open", "not seen here"];

    [Fact]
    public void Each_conclusion_that_is_judged_names_what_decides_it()
    {
        HashSet<string> findings =
            [.. typeof(FindingIds)
                .GetFields(BindingFlags.Public | BindingFlags.Static).Select(field => (string)field.GetRawConstantValue()!)];
        Assert.All(Rows(), row =>
        {
            string verdict = row.Today.Split(':')[0];
            Assert.Contains(verdict, Judged.Concat(Unjudged));
            bool isDecided = Codes().Matches(row.DecidedBy).Any(code => findings.Contains(code.Groups[1].Value))
                || (row.DecidedBy.StartsWith("comparison", StringComparison.Ordinal) && Interval().IsMatch(row.DecidedBy))
                || (row.DecidedBy.StartsWith("`forecast --check`", StringComparison.Ordinal)
                    && row.DecidedBy.Contains(" %", StringComparison.Ordinal));
            Assert.Equal(Judged.Contains(verdict), isDecided);
        });
    }

    [Fact]
    public void Each_published_test_has_a_conclusion()
    {
        string[] expected =
        [
            .. Enumerable.Range(1, 9).Select(i => $"i{i}"), .. Enumerable.Range(1, 15).Select(i => $"q{i}"), "o1", "o2",
            "ycsb-sharded", "news", "six-nodes",
        ];
        Assert.Empty(expected.Except(Rows().SelectMany(row => row.Tests)));
    }

    private static IReadOnlyList<Row> Rows()
    {
        string page = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "published-tests.md"));
        string section = page.Split("## Do the published conclusions still hold?")[1].Split("\n## ")[0];
        Row[] rows =
        [
            .. section.Split('\n').Where(line => line.StartsWith("| ", StringComparison.Ordinal)).Skip(2)
                .Select(line => line.Trim('|', ' ').Split(" | ")).Select(cells => new Row(cells[1].Split(", "), cells[2], cells[3])),
        ];
        Assert.NotEmpty(rows);
        return rows;
    }

    [GeneratedRegex("`([a-z-]+)`")]
    private static partial Regex Codes();

    /// <summary>"0.15 (95 %: 0.12 to 0.16)", or the numbers alone after the first.</summary>
    [GeneratedRegex(@"\(95 %: [\d.]+ to [\d.]+\)")]
    private static partial Regex Interval();

    /// <param name="Tests">Names of the tests.</param>
    /// <param name="Today">The verdict, a colon and what was seen.</param>
    /// <param name="DecidedBy">A finding, a comparison or a forecast; for what is not judged what would decide it.</param>
    private sealed record Row(IReadOnlyList<string> Tests, string Today, string DecidedBy);
}

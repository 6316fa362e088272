using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads assertions such as <c>read.p99 &lt; 10ms</c>.</summary>
internal static class AssertionReader
{
    /// <summary>Those of an operation's that may be a share of all: a limit such as 1%.</summary>
    private static readonly string[] Parts = ["failed", "foundNothing", "matchedNothing", "changedNothing"];

    /// <summary>rate is operations per second, perMinute the same per minute.</summary>
    private static readonly AllowedNames Metrics = LatencyMetric.AllowedWith(
        [.. LatencyMetric.Usual, "rate", "perMinute", "documentRate", "operations", "documents", .. Parts]);

    /// <param name="node">A text.</param>
    /// <param name="operations">Names that may stand in it.</param>
    public static Assertion Read(ScenarioNode node, IReadOnlyList<string> operations)
    {
        if (node is not ScalarNode scalar)
            throw MappingReader.Wrong(node, $"assert is {node.Describe()}; expected a text such as 'read.p99 < 10ms'");
        string text = scalar.Text;
        string? comparison = Assertion.Comparisons.FirstOrDefault(c => text.Contains(c, StringComparison.Ordinal));
        string[] sides = comparison is null ? [] : text.Split(comparison, 2, StringSplitOptions.TrimEntries);
        int dot = sides.Length == 2 ? sides[0].LastIndexOf('.') : -1;
        if (dot < 1)
            throw MappingReader.Wrong(node, $"assert: '{text}' does not have the form operation.metric < value",
                "such as 'read.p99 < 10ms' or 'total.rate > 1000'");
        string operation = sides[0][..dot];
        string metric = sides[0][(dot + 1)..];
        RequireOneOf(node, "operation", operation, new AllowedNames([.. operations, Assertion.Total]));
        RequireOneOf(node, "metric", metric, Metrics);
        bool isShare = sides[1].EndsWith('%') && Parts.Contains(metric);
        return new Assertion(text, operation, metric, comparison!, Limit(node, metric, sides[1], isShare)) { IsShare = isShare };
    }

    private static double Limit(ScenarioNode node, string metric, string text, bool isShare)
    {
        try
        {
            return isShare ? SkipLimits.ParseShare(text)
                : LatencyMetric.Find(metric) is not null ? Quantities.ParseDuration(text) * 1e6
                : Quantities.ParseCount(text, 0);
        }
        catch (FormatException e)
        {
            throw MappingReader.Wrong(node, $"assert: {e.Message}");
        }
    }

    private static void RequireOneOf(ScenarioNode node, string what, string found, AllowedNames allowed)
    {
        if (!allowed.Contain(found))
            throw MappingReader.Wrong(node, $"assert: no {what} '{found}'; allowed: {allowed}", allowed.Hint(found));
    }
}

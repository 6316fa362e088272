using System.Text.RegularExpressions;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Wire;

/// <summary>docs/connecting.md says of every option what the code does with it.</summary>
public sealed partial class ConnectingDocsTests
{
    [Fact]
    public void The_table_of_options_is_the_codes()
    {
        string text = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "connecting.md"));
        IEnumerable<(string, string)> documented = Row().Matches(text).Select(row => (row.Groups[1].Value, row.Groups[2].Value));
        IEnumerable<(string, string)> known = ConnectionOptionRule.ByName.Values.OrderBy(rule => rule.Name, StringComparer.Ordinal)
            .Select(rule => (rule.Name, rule.Use switch
            {
                ConnectionOptionUse.Applied => "applied",
                ConnectionOptionUse.WithoutEffect => "no effect",
                _ => "refused",
            }));
        Assert.Equal(known, documented);
    }

    [GeneratedRegex(@"^\| `(\w+)` \| ([a-z ]+) \|", RegexOptions.Multiline)]
    private static partial Regex Row();
}

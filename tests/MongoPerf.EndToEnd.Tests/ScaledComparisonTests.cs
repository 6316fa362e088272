using System.Net;
using System.Text.Json;
using System.Text.RegularExpressions;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Reports;
using MongoPerf.Texts;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>A scaled scenario: all that runs and their comparison show is what ran.</summary>
[Collection(LightTests.Name)]
public sealed partial class ScaledComparisonTests(TestServers servers) : IDisposable
{
    /// <summary>Counts that are nowhere else.</summary>
    private const string Text = """
        description: Reads of the first 610M among up to 970M documents
        parameters: {recordcount: [730M, 970M], operationcount: 590M, hot: 610M}
        data: {users: {count: $(recordcount), document: {n: ^number}}}
        phases:
          - {load: users}
          - name: mix
            description: 590M operations
            count: $(operationcount)
            sizes: true
            operations:
              - {find: users, name: read, weight: 50, key: {first: $(hot)}}
              - {update: users, name: write, weight: 50, key: {first: $(hot)}, with: {$set: {x: 1}}}
        figures: [{title: "The first 610M", x: recordcount, y: [rate, p99], phases: mix}]
        tables: [{title: "Up to 970M documents", rows: [recordcount, operation], values: [documents, rate, p99], phases: mix}]

        """;

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Every_number_of_a_scaled_comparison_and_of_its_runs_is_of_what_ran()
    {
        string file = Path.Combine(_runs.Path, ".scaled.yaml");
        File.WriteAllText(file, Text);
        for (int run = 0; run < 2; run++)
        {
            ProgramRun.Run(
                new ProgramOptions { WriteReport = true }, "run", file, "--uri", servers["embedded"].Uri, "--db", servers.NewDatabase(),
                "--scale", "0.000001", "--quiet", "--out", _runs.Path).Expect(0);
        }

        string[] ids = [.. _runs.Ids];
        ProgramRun.Run("compare", ids[0], ids[1], "--out", _runs.Path, "--format", "markdown", "--force").Expect(0);
        string compared = _runs.At($"compare-{ids[0]}-{ids[1]}");
        string[] written = [.. ids.Select(id => _runs.At(Path.Combine(id, "report")))
            .Append(compared).SelectMany(folder => Directory.GetFiles(folder, "*", SearchOption.AllDirectories)).Where(IsText)];
        Assert.True(written.Length > 20);
        foreach (string path in written)
            AssertOfWhatRan(path);
        JsonElement[] results =
            [.. ids.Select(id => JsonDocument.Parse(File.ReadAllText(_runs.At(Path.Combine(id, "report", "result.json")))).RootElement)];
        AssertTables(File.ReadAllText(Path.Combine(compared, "index.html")), ids, results);
        AssertJudgements(JsonDocument.Parse(File.ReadAllText(Path.Combine(compared, "comparison.json"))).RootElement, results);
    }

    /// <summary>The file's own counts stand where they are named as such, and nowhere else; a parameter has the counts that ran.</summary>
    private static void AssertOfWhatRan(string path)
    {
        string text = OfTheFile().Replace(File.ReadAllText(path), "");
        Match found = Unscaled().Match(text);
        Assert.False(found.Success, $"{path}: …{text[Math.Max(0, found.Index - 80)..Math.Min(text.Length, found.Index + 40)]}…");
        Assert.All(Named("recordcount", text), value => Assert.Contains(value, (string[])["730", "970"]));
        Assert.All(Named("operationcount", text), value => Assert.Equal("590", value));
        Assert.All(Named("hot", text), value => Assert.Equal("610", value));
    }

    /// <summary>The scenario's table and the verdicts' table on the page, cell by cell.</summary>
    private static void AssertTables(string page, string[] ids, JsonElement[] results)
    {
        string[][] rows = [.. Row().Matches(page).Select(row => Cell()
            .Matches(row.Groups[1].Value).Select(cell => WebUtility.HtmlDecode(Tag().Replace(cell.Groups[1].Value, "")).Trim()).ToArray())];
        int checkedCells = 0;
        foreach ((int i, JsonElement result) in results.Index())
        {
            foreach (JsonElement phase in result.Items("phases").Where(phase => phase.Text("phase") == "mix"))
            {
                string records = phase.GetProperty("parameters").Text("recordcount");
                Assert.Equal(long.Parse(records), phase.Number("documents"));
                foreach (JsonElement operation in phase.Items("operations").Append(phase.Items("totals").Single()))
                {
                    string name = operation.Text("operation");
                    string rate = Units.Rate(operation.GetProperty("operationsPerSecond").GetDouble());
                    string p99 = Units.Latency(operation.GetProperty("latencyMicroseconds").GetProperty("p99").GetDouble());
                    // The scenario's own table asks for operations.
                    if (name != "total")
                    {
                        string[] row = Assert.Single(rows, row =>
                            row.Length > 5 && row[0] == records && row[1] == name && row[2].Contains(ids[i], StringComparison.Ordinal));
                        Assert.Equal([Units.Exact(long.Parse(records)), rate, p99], row[3..6]);
                    }

                    Assert.Contains(rows, row => row.Length > 4 && row[0] == $"mix {name} (recordcount={records})" && row[2 + i] == rate);
                    checkedCells++;
                }
            }
        }

        Assert.Equal(12, checkedCells);
    }

    private static void AssertJudgements(JsonElement comparison, JsonElement[] results)
    {
        foreach (JsonElement judged in comparison.Items("candidates").Single()
            .Items("operations").Where(judged => judged.Text("operation") is "read" or "write"))
        {
            foreach ((int i, string side) in ((string[])["baseline", "candidate"]).Index())
            {
                double ran = results[i].Items("phases").Where(phase => phase.Text("phase") == "mix"
                    && judged.Text("parameters") == $"recordcount={phase.GetProperty("parameters").Text("recordcount")}")
                    .SelectMany(phase => phase.Items("operations"))
                    .Single(operation => operation.Text("operation") == judged.Text("operation"))
                    .GetProperty("operationsPerSecond").GetDouble();
                Assert.Equal(ran, judged.GetProperty("perSecond").GetProperty(side).GetDouble(), 0.01);
                // Their weights tie them to the total's, which is judged.
                Assert.Equal(JsonValueKind.Null, judged.GetProperty("perSecond").GetProperty("verdict").ValueKind);
            }
        }

        Assert.All(
            comparison.Items("candidates").Single().Items("operations").Where(judged => judged.Text("operation") == "total"), total =>
            {
                Assert.NotEqual(JsonValueKind.Null, total.GetProperty("perSecond").GetProperty("verdict").ValueKind);
                Assert.Equal(JsonValueKind.Null, total.GetProperty("p99Microseconds").GetProperty("verdict").ValueKind);
            });
    }

    private static bool IsText(string path) => Path.GetExtension(path) is ".html" or ".md" or ".json" or ".csv" or ".xml";

    private static IEnumerable<string> Named(string parameter, string text) =>
        Regex.Matches(text, $@"\b{parameter}(?:=|"": ?"")([^\s,;:""()<&]+)").Select(match => match.Groups[1].Value);

    [GeneratedRegex(@"\(file: [^)]*\)|(?<=This is the file itself; the run multiplied its counts by 0\.000001 "
        + @"<span class=""whole"">\(--scale\)\.</span></p>\s*)<pre>.*?</pre>", RegexOptions.Singleline)]
    private static partial Regex OfTheFile();

    [GeneratedRegex(@"\b(730|970|590|610)(M|,?000,?000)\b")]
    private static partial Regex Unscaled();

    [GeneratedRegex("<tr[^>]*>(.*?)</tr>", RegexOptions.Singleline)]
    private static partial Regex Row();

    [GeneratedRegex("<t[dh][^>]*>(.*?)</t[dh]>", RegexOptions.Singleline)]
    private static partial Regex Cell();

    [GeneratedRegex("<[^>]*>")]
    private static partial Regex Tag();
}

using MongoPerf.Scenarios;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Figures and tables as a file says them.</summary>
public sealed class FigureReaderTests
{
    private const string Start = ScenarioTexts.Data + """
        parameters: {limit: [1, 10], skip: 5}
        phases:
          - load: users
          - name: find
            count: 10
            operations: [{find: users, filter: {}, name: read, limit: $(limit), skip: $(skip)}, {count: users}]

        """;

    [Fact]
    public void Figure_and_table_are_read()
    {
        ReadPlan read = ScenarioTexts.Read(Start + """
            figures:
              - {title: A, x: limit, y: [rate, p99], lines: phase, phases: [find], operation: read, where: {limit: 10, deployment: 2 shards}}
              - {title: B, x: time, y: cache_read}
            tables:
              - {title: C, rows: [limit, skip], columns: deployment, values: rate}
            """);
        FigureInfo figure = read.Figures[0];
        Assert.Equal(("A", "limit", "phase"), (figure.Title, figure.X, figure.Lines));
        Assert.Equal(["rate", "p99"], figure.Y);
        Assert.Equal(["find"], figure.Of.Phases);
        Assert.Equal(["read"], figure.Of.Operations);
        Assert.Equal([new ParameterValue("limit", "10"), new ParameterValue("deployment", "2 shards")], figure.Of.Where);
        Assert.Equal(["cache_read"], read.Figures[1].Y);
        Assert.Equal(["limit", "skip"], read.Tables[0].Rows);
        Assert.Equal([new ParameterValue("skip", "5")], read.Parameters);
    }

    [Theory]
    [InlineData(
        "{title: A, x: limt, y: rate}",
        "test.yaml:12: figure 1: x is 'limt'; allowed: phase, operation, deployment, threads, clients, repeat, "
        + "limit, skip, documents, time",
        "did you mean 'limit'?")]
    [InlineData("{title: A, y: rate}", "figure 1: 'x' is missing", "limit")]
    [InlineData("{title: A, x: limit}", "figure 1: 'y' is missing", "rate")]
    [InlineData("{x: limit, y: rate}", "figure 1: 'title' is missing", "")]
    [InlineData(
        "{title: A, x: limit, y: p980}", "figure 1: y is 'p980'; allowed: rate, perMinute, documentRate, min, mean,", "percentiles are")]
    [InlineData("{title: A, x: limit, y: cache_read}", "figure 1: y is 'cache_read'; allowed: rate,", "")]
    [InlineData("{title: A, x: time, y: storageSize}", "figure 1: y is 'storageSize'; allowed: rate,", "")]
    [InlineData("{title: A, x: limit, y: rate, lines: phases}", "figure 1: lines is 'phases'; allowed: phase,", "did you mean 'phase'?")]
    [InlineData(
        "{title: A, x: limit, y: rate, phases: [fnd]}", "figure 1: phases is 'fnd'; allowed: load users, find", "did you mean 'find'?")]
    [InlineData("{title: A, x: limit, y: rate, operation: raed}", "figure 1: operation is 'raed'; allowed: load, read, count", "")]
    [InlineData("{title: A, x: limit, y: rate, where: {limit: 7}}", "figure 1: where.limit is '7'; allowed: 1, 10", "")]
    [InlineData(
        "{title: A, x: limit, y: rate, where: {phase: find}}", "figure 1: where is 'phase'; allowed: deployment, threads, limit, skip", "")]
    [InlineData("{title: A, x: limit, y: []}", "figure 1: y has 0 metrics; allowed: 1 to 8", "")]
    [InlineData("{title: A, x: limit, y: rate, colour: red}", "figure 1: unknown key 'colour'; allowed: title,", "")]
    public void Wrong_figure_is_refused_at_its_line(string figure, string message, string hint)
    {
        (string found, string foundHint) = ScenarioTexts.Refusal(Start + $"figures:\n  - {figure}\n");
        Assert.Contains(message, found, StringComparison.Ordinal);
        Assert.StartsWith("test.yaml:12: ", found, StringComparison.Ordinal);
        Assert.Contains(hint, foundHint, StringComparison.Ordinal);
    }

    [Fact]
    public void Wrong_table_is_refused()
    {
        Assert.Contains("table 1: values is 'cache_read'",
            ScenarioTexts.Refusal(Start + "tables: [{title: A, rows: limit, values: cache_read}]\n").Message, StringComparison.Ordinal);
        Assert.Contains("table 1: 'rows' is missing",
            ScenarioTexts.Refusal(Start + "tables: [{title: A, values: rate}]\n").Message, StringComparison.Ordinal);
        Assert.Contains("tables is a mapping; expected a list",
            ScenarioTexts.Refusal(Start + "tables: {title: A}\n").Message, StringComparison.Ordinal);
    }

    [Fact]
    public void What_the_command_line_leaves_out_may_still_be_named()
    {
        var overrides = new PlanOverrides { Parameters = new Dictionary<string, string> { ["limit"] = "7" } };
        ReadPlan read = ScenarioTexts.Read(Start + "figures: [{title: A, x: limit, y: rate, where: {limit: 10}}]\n", overrides);
        Assert.Equal([new ParameterValue("limit", "10")], read.Figures[0].Of.Where);
        Assert.Equal([new ParameterValue("limit", "7"), new ParameterValue("skip", "5")], read.Parameters);
    }
}

using System.Text.Json;
using MongoPerf.Tests.Reports.Forecasts;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary><c>forecast</c> on stored runs, without any server.</summary>
[Collection(ConsoleTests.Name)]
public sealed class ForecastCommandTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData("text", "run        a: series, 10 sizes up to 10M documents")]
    [InlineData("json", "{\n  \"schema\": \"mongoperf/forecast/1\"")]
    [InlineData("csv", "run,of,measure,documents,value,low,high,reach,not_mongodb\r\na,data,bytes,500000000,")]
    [InlineData("markdown", "# MongoPerf: forecast from a\n")]
    public void Each_form_is_printed_alone(string format, string start)
    {
        new GrownRun().Write(_runs.At("a"));
        (int code, string output, string errors) = Run("a", "--documents", "500M", "--memory", "24GB", "--format", format);
        Assert.Equal((0, ""), (code, errors));
        Assert.StartsWith(start, output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("text", "run        a")]
    [InlineData("json", "{\n  \"schema\": \"mongoperf/forecast-check/1\"")]
    [InlineData("csv", "run,of,measure,sizes,")]
    [InlineData("markdown", "# MongoPerf: forecast checked on a\n")]
    public void The_check_has_the_same_forms(string format, string start)
    {
        new GrownRun().Write(_runs.At("a"));
        (int code, string output, string errors) = Run("a", "--check", "--format", format);
        Assert.Equal((0, ""), (code, errors));
        Assert.StartsWith(start, output, StringComparison.Ordinal);
    }

    [Fact]
    public void What_can_not_be_known_has_no_value_in_the_json()
    {
        new GrownRun().Write(_runs.At("a"));
        using JsonDocument json = JsonDocument.Parse(Run("a", "--documents", "20M,500M", "--memory", "24GB", "--format", "json").Output);
        JsonElement[] points = [.. json.RootElement.GetProperty("operations")[0].GetProperty("forecast").EnumerateArray()];
        Assert.Equal(["unknown", "unknown"], points.Select(point => point.GetProperty("reach").GetString()));
        Assert.All(points, point => Assert.Equal(JsonValueKind.Null, point.GetProperty("perSecond").GetProperty("value").ValueKind));
    }

    /// <summary>What the run can't tell is asked for, not printed: its range would be from 100 to 8,000.</summary>
    [Fact]
    public void In_place_of_a_range_wider_than_tenfold_stands_the_run_that_would_narrow_it()
    {
        new GrownRun().Write(_runs.At("a"));
        foreach (string form in (string[])["text", "markdown"])
        {
            string output = Run("a", "--documents", "500M", "--memory", "24GB", "--format", form).Output;
            Assert.Contains("run 1", output, StringComparison.Ordinal);
            Assert.Contains("run 1 (about ", output, StringComparison.Ordinal);
            Assert.Contains("mongoperf series --target 11M --step 920k --memory-limit 512MB --cache 246MB", Joined(output),
                StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Deployments_are_set_beside_each_other_and_the_one_that_is_surely_ahead_is_named()
    {
        new GrownRun { MemoryLimitBytes = 24L << 30 }.Write(_runs.At("a"));
        new GrownRun { MemoryLimitBytes = 24L << 30, Rate = _ => 2000 }.Write(_runs.At("b"));
        (int code, string output, string errors) = Run("a", "b", "--documents", "15M");
        Assert.Equal((0, ""), (code, errors));
        string[] lines = output.Split('\n');
        Assert.StartsWith("A          a: series, 10 sizes up to 10M documents", lines[0], StringComparison.Ordinal);
        string head = Assert.Single(lines, line => line.StartsWith("operation ", StringComparison.Ordinal));
        Assert.Matches("A rate +A p99 +B rate +B p99 +ahead", head);
        Assert.Matches("^q4 .*A × [34]", Assert.Single(lines, line => line.StartsWith("q4 ", StringComparison.Ordinal)));
        using JsonDocument json = JsonDocument.Parse(Run("a", "b", "--documents", "15M", "--format", "json").Output);
        Assert.Equal(["a", "b"],
            json.RootElement.GetProperty("forecasts").EnumerateArray().Select(one => one.GetProperty("run").GetString()));
    }

    [Fact]
    public void Runs_of_two_folders_are_compared_by_a_command_that_finds_both()
    {
        new GrownRun().Write(_runs.At("a"));
        new GrownRun().Write(_runs.At("other/b"));
        string b = Path.GetRelativePath(Environment.CurrentDirectory, _runs.At("other/b"));
        Assert.Contains($"compare a {_runs.At("other/b")} --out {_runs.Path}", Joined(Run("a", b, "--documents", "15M").Output),
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_run_that_did_not_grow_enough_is_refused_with_what_helps()
    {
        new GrownRun { Steps = 3 }.Write(_runs.At("a"));
        (int code, string output, string errors) = Run("a");
        Assert.Equal((2, ""), (code, output));
        Assert.Contains("run a measured 3 sizes; a forecast needs 4 or more", errors, StringComparison.Ordinal);
        Assert.Contains("a smaller --step", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_check_takes_no_sizes_to_forecast()
    {
        new GrownRun().Write(_runs.At("a"));
        (int code, _, string errors) = Run("a", "--check", "--documents", "5M");
        Assert.Equal(2, code);
        Assert.Contains("--documents does not apply to --check", errors, StringComparison.Ordinal);
    }

    /// <summary>Long lines are wrapped.</summary>
    private static string Joined(string output) =>
        string.Join(' ', output.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));

    private (int Code, string Output, string Errors) Run(params string[] arguments) =>
        InProcess.Run(["forecast", .. arguments, "--out", _runs.Path]);
}

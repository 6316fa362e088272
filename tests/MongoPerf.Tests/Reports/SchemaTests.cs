using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Forecasts;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Reports.Forecasts;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>The schemas in docs/schemas describe what the program writes, every field of it.</summary>
public sealed class SchemaTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_run_is_as_its_schema_says()
    {
        JsonSchema schema = JsonSchema.Read("result");
        Assert.Empty(schema.Check(
            File.ReadAllText(Path.Combine(RepositoryPaths.Root, "tests", "MongoPerf.Tests", "Reports", "Approved", "result.json"))));
        using StoredRun run = new GrowingRun().Write(_runs.At("a"));
        string json = Written(output => JsonReport.Write(run, output));
        Assert.Empty(schema.Check(json));
        // A schema that lets everything pass would say nothing.
        Assert.Equal(
            ["$.schema: is not mongoperf/1"], schema.Check(json.Replace("\"mongoperf/1\"", "\"mongoperf/0\"", StringComparison.Ordinal)));
        Assert.Contains(
            "$.accounting: is missing", schema.Check(json.Replace("\n  \"accounting\"", "\n  \"renamed\"", StringComparison.Ordinal)));
        Assert.Contains(
            "$.renamed: is not described", schema.Check(json.Replace("\n  \"accounting\"", "\n  \"renamed\"", StringComparison.Ordinal)));
    }

    [Fact]
    public void A_comparison_is_as_its_schema_says()
    {
        var shape = new NoisyRun { Sizes = 2, Seconds = 40, Phases = ["batch", "q4"] };
        using StoredRun a = StoredRun.Open((shape with { Id = "a" }).Write(_runs.Path));
        using StoredRun b = StoredRun.Open((shape with { Id = "b", NoiseSeed = 2, Speed = _ => 0.7 }).Write(_runs.Path));
        RunComparison comparison = RunComparer.Compare([new ComparedSide([a]), new ComparedSide([b])], [],
            RunComparer.DefaultNoiseThreshold);
        Assert.Empty(JsonSchema.Read("comparison").Check(Written(output => ComparisonJson.Write(comparison, output))));
    }

    [Fact]
    public void A_forecast_is_as_its_schema_says()
    {
        new GrownRun().Write(_runs.At("a"));
        using StoredRun run = StoredRun.Open(_runs.At("a"));
        JsonSchema schema = JsonSchema.Read("forecast");
        foreach (long documents in new[] { 20_000_000L, 500_000_000L })
        {
            RunForecast forecast = RunForecast.Of(run, new ForecastRequest { Documents = [documents], MemoryBytes = 24L << 30 })!;
            Assert.Empty(schema.Check(Written(output => ForecastJson.Write([forecast], output))));
            Assert.Empty(schema.Check(Written(output => ForecastJson.Write([forecast, forecast], output))));
        }
    }

    private static string Written(Action<TextWriter> write)
    {
        using var output = new StringWriter();
        write(output);
        return output.ToString();
    }
}

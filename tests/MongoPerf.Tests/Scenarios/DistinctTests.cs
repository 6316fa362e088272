using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>So many values as ^distinct says are different, as far as their generator has so many.</summary>
public sealed class DistinctTests
{
    [Theory]
    [InlineData("{^pattern: \"vbd[0-9]{1,2}\"}", 50, 50)]
    [InlineData("{^int: [1, 100]}", 100, 100)]
    [InlineData("{^string: 2}", 4000, 4000)]
    [InlineData("{^string: [20, 22]}", 20_000, 20_000)]
    [InlineData("{code: {^int: [1, 40]}, kind: {^choice: {of: [a, b]}}}", 80, 80)]
    [InlineData("^number", 1000, 1000)]
    [InlineData("^bool", 10, 2)]
    public void Values_are_different(string of, int values, int expected)
    {
        BsonDocument[] made = Make($"{{^distinct: {{values: {values}, of: {of}}}}}", 30 * values);
        // Nearly all come once at least; of those that do, none is there twice.
        Assert.InRange(made.Select(Text).Distinct().Count(), expected, expected);
    }

    /// <summary>Data and operations have the same values, whoever reads the file.</summary>
    [Fact]
    public void They_are_the_same_ones_each_time() =>
        Assert.Equal(Make("{^distinct: {values: 50, of: {^pattern: \"vbd[0-9]{1,2}\"}}}", 500).Select(Text),
            Make("{^distinct: {values: 50, of: {^pattern: \"vbd[0-9]{1,2}\"}}}", 500).Select(Text));

    private static string Text(BsonDocument document) => Convert.ToHexString(document.Find("x")!.Value.Bytes.Span);

    private static BsonDocument[] Make(string x, int count)
    {
        PlanCollection collection = ScenarioTexts.Plan(
            $"data: {{d: {{count: 10, document: {{x: {x}}}}}}}\nphases: [{{load: d}}]\n").Collections.Single();
        return [.. Enumerable.Range(0, count).Select(i => collection.Documents.Make(i))];
    }
}

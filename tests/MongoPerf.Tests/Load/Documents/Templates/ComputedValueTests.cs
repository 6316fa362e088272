using System.Globalization;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Documents.Templates;

/// <summary>Numbers computed from others, and what is made of numbers: permutations, NURand, texts in place of digits.</summary>
public sealed class ComputedValueTests
{
    /// <summary>Types and values are those of MongoDB's $add, $subtract and $multiply.</summary>
    [Theory]
    [InlineData("{^add: [{^int: [2, 2]}, 3]}", BsonType.Int32, "5")]
    [InlineData("{^add: [{^int: [2, 2]}, {^long: [3, 3]}]}", BsonType.Int64, "5")]
    [InlineData("{^subtract: [{^int: [9, 9]}, 3, 0.5]}", BsonType.Double, "5.5")]
    [InlineData("{^multiply: [{^int: [2147483647, 2147483647]}, 2]}", BsonType.Int64, "4294967294")]
    [InlineData("{^add: [{^long: [9223372036854775807, 9223372036854775807]}, 1]}", BsonType.Double, "9.223372036854776E+18")]
    [InlineData("{^multiply: [{$numberDecimal: '1.10'}, {^int: [3, 3]}]}", BsonType.Decimal128, "3.30")]
    [InlineData("{^add: [{$numberDecimal: '0.1'}, {$numberDecimal: '0.2'}]}", BsonType.Decimal128, "0.3")]
    [InlineData("{^subtract: [{$numberDecimal: '1E+3'}, {^int: [1, 1]}]}", BsonType.Decimal128, "999")]
    [InlineData("{^multiply: [{$numberDecimal: '9999999999999999999999999999999999'}, {$numberDecimal: '1.5'}]}", BsonType.Decimal128,
        "1.500000000000000000000000000000000E+34")]
    [InlineData("{^add: [{$numberDecimal: NaN}, 1]}", BsonType.Decimal128, "NaN")]
    [InlineData("{^add: [{$numberDecimal: '1'}, 0.1]}", BsonType.Decimal128, "1.100000000000000005551115123125783")]
    [InlineData("{^subtract: [{$numberDecimal: '1'}, 0.1]}", BsonType.Decimal128, "0.900000000000000")]
    [InlineData("{^multiply: [{$numberDecimal: '1.10'}, 0.1]}", BsonType.Decimal128, "0.11000000000000000")]
    [InlineData("{^subtract: [{$date: '2024-01-01T01:00:00Z'}, {$date: '2024-01-01T00:00:00Z'}]}", BsonType.Int64, "3600000")]
    public void A_result_has_the_type_that_the_server_would_give_it(string value, BsonType type, string expected)
    {
        BsonValue found = Documents($"{{v: {value}}}").Make(0).First(e => e.Key == "v").Value;
        Assert.Equal(type, found.Type);
        Assert.Equal(expected, type == BsonType.Decimal128 ? Decimal128.FromBytes(found.Bytes.Span).ToString() : found.ToString());
    }

    [Theory]
    [InlineData("{^add: [{^date: {start: 2024-01-01, step: 1s}}, 3600000]}", "2024-01-01T01:00:00Z")]
    [InlineData("{^add: [0.6, {^date: {start: 2024-01-01, step: 1s}}]}", "2024-01-01T00:00:00.001Z")]
    [InlineData("{^subtract: [{^date: {start: 2024-01-01, step: 1s}}, {^long: [1000, 1000]}]}", "2023-12-31T23:59:59Z")]
    public void Milliseconds_are_added_to_dates(string value, string expected)
    {
        BsonValue found = Documents($"{{v: {value}}}").Make(0).First(e => e.Key == "v").Value;
        Assert.Equal(BsonType.DateTime, found.Type);
        Assert.Equal(DateTimeOffset.Parse(expected, CultureInfo.InvariantCulture).ToUnixTimeMilliseconds(), found.ToInt64());
    }

    [Theory]
    [InlineData("{^add: [{$date: '2024-01-01T00:00:00Z'}, {$date: '2024-01-01T00:00:00Z'}]}", "MongoDB does not add DateTime and DateTime")]
    [InlineData("{^subtract: [5, {$date: '2024-01-01T00:00:00Z'}]}", "MongoDB does not subtract Int32 and DateTime")]
    [InlineData("{^multiply: [{$date: '2024-01-01T00:00:00Z'}, 2]}", "MongoDB does not multiply DateTime and Int32")]
    public void What_the_server_can_not_do_with_dates_is_refused(string value, string expected) => Assert.Contains(expected,
        ScenarioTexts.Refusal($"data: {{c: {{count: 9, document: {{v: {value}}}}}}}\nphases: [{{load: c}}]").Message,
        StringComparison.Ordinal);

    [Fact]
    public void What_is_computed_from_whole_numbers_is_one_wherever_it_stands()
    {
        Plan plan = ScenarioTexts.Plan("parameters: {sites: 3}\ndata: {a: {count: {^multiply: [$(sites), 1k]}, document: {x: ^number}}}\n"
            + "phases: [{name: p, count: 1, threads: {^add: [$(sites), {^subtract: [5, 3]}]}, operations: [{find: a, key: uniform}]}]\n");
        Assert.Equal((3000, 5), (plan.Rounds[0].Collections[0].Count, plan.Rounds[0].Phases[^1].Groups[0].Threads));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(97)]
    [InlineData(3000)]
    public void A_shuffled_cycle_has_each_number_once_and_another_order_each_time(int cycle)
    {
        DocumentTemplate documents = Documents($"{{v: {{^number: {{start: 1, cycle: {cycle}, shuffled: true}}}}}}");
        long[][] rounds = [.. Enumerable.Range(0, 3)
            .Select(round => Enumerable.Range(0, cycle).Select(i => documents.Make((round * cycle) + i).FindInt64("v")!.Value).ToArray())];
        Assert.All(rounds, round => Assert.Equal(Enumerable.Range(1, cycle).Select(n => (long)n), round.Order()));
        if (cycle > 2)
            Assert.Equal(3, rounds.Select(round => string.Join(' ', round)).Distinct().Count());
    }

    [Fact]
    public void Nurand_reaches_every_number_of_its_range_and_prefers_some()
    {
        DocumentTemplate documents = Documents("{v: {^int: {min: 10, max: 109, nurand: 63}}}");
        int[] counts = new int[100];
        for (int i = 0; i < 100_000; i++)
            counts[documents.Make(i).FindInt64("v")!.Value - 10]++;
        Assert.DoesNotContain(0, counts);
        Assert.True(counts.Max() > 4 * counts.Min(), $"{counts.Min()} to {counts.Max()}");
    }

    [Theory]
    [InlineData(0, "BARBAR")]
    [InlineData(7, "OUGHTABLE")]
    [InlineData(24, "ESEESE")]
    [InlineData(25, "BARBAR")]
    public void A_spelled_number_has_a_text_for_each_digit(int number, string expected)
    {
        DocumentTemplate documents = Documents(
            "{v: {^spelled: {number: {^number: {cycle: 25}}, digits: 2, with: [BAR, OUGHT, ABLE, PRI, ESE]}}}");
        Assert.Equal(expected, documents.Make(number).FindString("v"));
    }

    private static DocumentTemplate Documents(string document) => ScenarioTexts.Plan(
        string.Create(CultureInfo.InvariantCulture, $"data: {{a: {{count: 1, document: {document}}}}}\nphases: [{{load: a}}]\n"))
        .Rounds[0].Collections.Single().Documents;
}

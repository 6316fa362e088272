using MongoPerf.Load.Executors.Steps;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>Conditions of steps compare as a filter of MongoDB does.</summary>
public sealed class StepComparisonTests
{
    [Theory]
    [InlineData("{'$timestamp': {'t': 1, 'i': 256}}", "{'$timestamp': {'t': 1, 'i': 255}}", 1)]
    [InlineData("{'$timestamp': {'t': 256, 'i': 0}}", "{'$timestamp': {'t': 255, 'i': 9}}", 1)]
    [InlineData("{'$timestamp': {'t': 4294967295, 'i': 0}}", "{'$timestamp': {'t': 1, 'i': 0}}", 1)]
    [InlineData("{'$date': {'$numberLong': '-1'}}", "{'$date': {'$numberLong': '256'}}", -1)]
    [InlineData("{'$numberLong': '9007199254740993'}", "{'$numberLong': '9007199254740992'}", 1)]
    [InlineData("{'$numberLong': '9007199254740993'}", "{'$numberDouble': '9007199254740992'}", 1)]
    [InlineData("{'$numberDecimal': '9007199254740992.5'}", "{'$numberLong': '9007199254740992'}", 1)]
    [InlineData("{'$numberDecimal': '0.1'}", "0.1", -1)]
    [InlineData("5", "{'$numberLong': '5'}", 0)]
    [InlineData("{'$binary': {'base64': 'AAA=', 'subType': '00'}}", "{'$binary': {'base64': '/w==', 'subType': '00'}}", 1)]
    [InlineData("{'a': {'$numberLong': '2'}}", "{'a': 2}", 0)]
    [InlineData("[1, 256]", "[1, 2]", 1)]
    [InlineData("'b'", "'aa'", 1)]
    [InlineData("{'$symbol': 'a'}", "'a'", 0)]
    [InlineData("'5'", "5", null)]
    [InlineData("{'$date': {'$numberLong': '1'}}", "{'$timestamp': {'t': 1, 'i': 1}}", null)]
    [InlineData("true", "1", null)]
    public void Values_of_one_kind_compare_by_value_and_others_do_not(string left, string right, int? order)
    {
        (string Comparison, bool Holds)[] expected =
            [("$eq", order == 0), ("$ne", order != 0), ("$gt", order > 0), ("$gte", order >= 0), ("$lt", order < 0), ("$lte", order <= 0)];
        foreach ((string comparison, bool holds) in expected)
        {
            Assert.Equal((comparison, holds), (comparison, Holds(comparison, Value(left), Value(right))));
            string turned = comparison.Replace("$g", "$x", StringComparison.Ordinal).Replace("$l", "$g", StringComparison.Ordinal)
                .Replace("$x", "$l", StringComparison.Ordinal);
            Assert.Equal((turned, holds), (turned, Holds(turned, Value(right), Value(left))));
        }
    }

    [Theory]
    [InlineData("0", false)]
    [InlineData("{'$numberLong': '0'}", false)]
    [InlineData("-0.0", false)]
    [InlineData("{'$numberDecimal': '0E+3'}", false)]
    [InlineData("{'$numberDecimal': '1E-6176'}", true)]
    [InlineData("{'$numberDouble': 'NaN'}", true)]
    [InlineData("false", false)]
    [InlineData("true", true)]
    [InlineData("null", false)]
    [InlineData("[]", false)]
    [InlineData("{}", false)]
    [InlineData("[0]", true)]
    [InlineData("''", true)]
    public void Zero_false_null_and_what_is_empty_are_nothing(string value, bool isAnything) =>
        Assert.Equal(isAnything, StepComparison.IsAnything(Value(value).Type, Value(value).Bytes.Span));

    private static bool Holds(string comparison, BsonValue value, BsonValue expected) =>
        StepComparison.Holds(comparison, isThere: true, value.Type, value.Bytes.Span, expected.Type, expected.Bytes.Span);

    private static BsonValue Value(string text) => ExtendedJson.Parse($"{{'v': {text}}}".Replace('\'', '"')).Find("v")!.Value;
}

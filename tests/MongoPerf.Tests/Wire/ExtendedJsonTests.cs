using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Wire;

public sealed class ExtendedJsonTests
{
    private static readonly BsonDocument Sample = BsonDocument.Of(
        ("_id", new ObjectId(1, 2)), ("n", 5), ("big", 5_000_000_000L), ("x", 2.0), ("t", DateTime.UnixEpoch),
        ("a", new object[] { 1, "zwei" }), ("e", BsonDocument.Empty));

    [Fact]
    public void Relaxed_form_shows_numbers_and_dates_as_people_write_them() => Assert.Equal(
        """{"_id": {"$oid": "000000010000000000000002"}, "n": 5, "big": 5000000000, "x": 2.0, "t": {"$date": "1970-01-01T00:00:00Z"}, "a": [1, "zwei"], "e": {}}""",
        ExtendedJson.Write(Sample.Bytes));

    [Fact]
    public void Canonical_form_reads_back_to_the_same_bytes()
    {
        string json = ExtendedJson.Write(Sample.Bytes, ExtendedJsonMode.Canonical);
        Assert.Contains("\"n\": {\"$numberInt\": \"5\"}", json, StringComparison.Ordinal);
        Assert.Equal(Sample.Memory.ToArray(), ExtendedJson.Parse(json).Memory.ToArray());
    }

    [Fact]
    public void Indented_form_has_an_element_per_line_and_wrappers_on_theirs() => Assert.Equal(
        """
        {
          "_id": {"$oid": "000000010000000000000002"},
          "n": 5,
          "big": 5000000000,
          "x": 2.0,
          "t": {"$date": "1970-01-01T00:00:00Z"},
          "a": [
            1,
            "zwei"
          ],
          "e": {}
        }
        """,
        ExtendedJson.Write(Sample.Bytes, indented: true));

    [Theory]
    [InlineData("", "not JSON")]
    [InlineData("[1]", "an array, an object is expected")]
    [InlineData("""{"a": {"b": {"$oid": "xyz"}}}""", "'a.b': $oid is 'xyz', 24 hexadecimal digits")]
    [InlineData("""{"a": {"$numberInt": "2147483648"}}""", "-2147483648 to 2147483647")]
    [InlineData("""{"a": {"$date": "2026-11-21"}}""", "'2026-11-21'")]
    [InlineData("""{"a": {"$date": "2026-11-21T08:00:00"}}""", "2026-11-21T08:00:00")]
    [InlineData("""{"a": {"$binary": {"base64": "*", "subType": "00"}}}""", "not base64")]
    [InlineData("""{"a": {"$binary": {"base64": 1, "subType": "00"}}}""", "'a': $binary.base64 is the number 1")]
    [InlineData("""{"a": {"$regularExpression": {"pattern": "x", "options": []}}}""", "'a': $regularExpression.options is an array")]
    [InlineData("""{"a": "\ud800"}""", "surrogate")]
    [InlineData("""{"\ud800": 1}""", "surrogate")]
    [InlineData("""{"a": {"$uuid": "x", "\ud800": 1}}""", "2 keys")]
    public void Wrong_text_is_refused_with_path_found_and_allowed(string json, string expected) =>
        Assert.Contains(expected, Assert.Throws<ExtendedJsonException>(() => ExtendedJson.Parse(json)).Message, StringComparison.Ordinal);

    [Fact]
    public void Nesting_beyond_the_writers_room_is_refused_and_up_to_it_is_read()
    {
        static string Nested(int depth) => string.Concat(Enumerable.Repeat("{\"a\": ", depth)) + "{}" + new string('}', depth);
        Assert.Throws<ExtendedJsonException>(() => ExtendedJson.Parse(Nested(100)));
        Assert.Equal(Nested(99), ExtendedJson.Write(ExtendedJson.Parse(Nested(99)).Bytes));
        Assert.Throws<ExtendedJsonException>(() => ExtendedJson.Parse(Nested(5000)));
    }

    [Fact]
    public void Date_with_an_offset_or_fractions_is_read_in_milliseconds()
    {
        BsonDocument parsed =
            ExtendedJson.Parse("""{"a": {"$date": "1970-01-01T01:00:00.5+01:00"}, "b": {"$date": "1969-12-31T23:59:59.999Z"}}""");
        Assert.Equal((500L, -1L), (parsed.FindInt64("a"), parsed.FindInt64("b")));
    }

    [Theory]
    [InlineData("1", "1")]
    [InlineData("-0", "-0")]
    [InlineData("+1.50", "1.50")]
    [InlineData(".5", "0.5")]
    [InlineData("12E3", "1.2E+4")]
    [InlineData("0.0000001", "1E-7")]
    [InlineData("iNf", "Infinity")]
    [InlineData("10000000000000000000000000000000000", "1.000000000000000000000000000000000E+34")]
    public void Decimal_is_read_and_written_as_its_specification_says(string text, string expected)
    {
        Assert.True(Decimal128.TryParse(text, out Decimal128 value));
        Assert.Equal(expected, value.ToString());
    }

    [Theory]
    [InlineData("")]
    [InlineData(".")]
    [InlineData("1e")]
    [InlineData("1 ")]
    [InlineData("--1")]
    [InlineData("1e99999999999")]
    [InlineData("12345678901234567890123456789012345")]
    [InlineData("1E-6177")]
    public void Decimal_that_is_none_or_not_exact_is_refused(string text) => Assert.False(Decimal128.TryParse(text, out _));
}

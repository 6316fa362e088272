using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>Small figures on the way from a deployment to its scenario: bytes of indexes, ends of ranges, numbers.</summary>
public sealed class LearnedFiguresTests
{
    /// <summary>Each entry is its values and three bytes for the document's place; an array has one for each of its values.</summary>
    [Theory]
    [InlineData("{'key': {'a': 1}}", "{'a': null}", 1 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': true}", 1 + 3)]
    [InlineData("{'key': {'a': 1}}", "{}", 1 + 3)]
    [InlineData("{'key': {'a': 1}, 'sparse': true}", "{}", 0)]
    [InlineData("{'key': {'a': 1, 'b': 1}, 'sparse': true}", "{'b': 1}", 1 + 2 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': 0}", 2 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': -1}", 2 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': 254}", 2 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': 255}", 3 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': -257}", 3 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': {'$numberLong': '9223372036854775807'}}", 9 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': {'$numberLong': '-9223372036854775808'}}", 9 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': 1.5}", 9 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': {'$numberDecimal': '1'}}", 17 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': 'four'}", 4 + 2 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': {'$oid': '0123456789abcdef01234567'}}", 1 + 12 + 3)]
    [InlineData("{'key': {'a': 'hashed'}}", "{'a': 'a long text, which is hashed'}", 9 + 3)]
    [InlineData("{'key': {'a': 1, 'b': -1}}", "{'a': 1.5, 'b': 1.5}", 9 + 9 + 3)]
    [InlineData("{'key': {'a': 1}}", "{'a': [1.5, 2.5, 3.5]}", 3 * (9 + 3))]
    [InlineData("{'key': {'a': 1, 'b': 1}}", "{'a': [1.5, 2.5], 'b': null}", 2 * (9 + 1 + 3))]
    [InlineData("{'key': {'a.b': 1}}", "{'a': {'b': 1.5, 'c': 1}}", 9 + 3)]
    [InlineData("{'key': {'a.b': 1}}", "{'a': [{'b': 1.5}, {'b': 2.5}, {'c': 1}, 7]}", 2 * (9 + 3))]
    [InlineData("{'key': {'a.1': 1}}", "{'a': [null, 1.5]}", 9 + 3)]
    [InlineData("{'key': {'a.b': 1}}", "{'a': 1.5}", 1 + 3)]
    [InlineData("{}", "{'a': 1.5}", 3)]
    public void Bytes_of_an_indexs_entries_follow_from_the_document(string index, string document, long bytes) =>
        Assert.Equal(bytes, new IndexKeys(Parse(index)).BytesOf(Parse(document)));

    [Theory]
    [InlineData("{'key': {'a': 1, 'b': -1.0, 'c': 'hashed'}}", true)]
    [InlineData("{'key': {'a': 'text'}}", false)]
    [InlineData("{'key': {'a': 1, 'b': '2dsphere'}}", false)]
    [InlineData("{'key': {'$**': 1}}", false)]
    [InlineData("{'key': {'a.$**': 1}}", false)]
    public void Entries_are_known_where_they_follow_from_values_alone(string index, bool isKnown) =>
        Assert.Equal(isKnown, new IndexKeys(Parse(index)).IsKnown);

    /// <summary>Outward, so that no value of the deployment is an end: to a hundredth to a tenth of the range.</summary>
    [Theory]
    [InlineData(0, 0, 0, 0)]
    [InlineData(3, 97, 3, 97)]
    [InlineData(3.2, 97.1, 3, 98)]
    [InlineData(123, 4567, 100, 4600)]
    [InlineData(-4567, -123, -4600, -100)]
    [InlineData(0.0123, 0.4567, 0.01, 0.46)]
    [InlineData(1234, 1234, 1200, 1300)]
    [InlineData(-1234, -1234, -1300, -1200)]
    public void Ends_of_ranges_are_rounded_outward(double low, double high, double from, double to)
    {
        Assert.Equal((from, to), Rounding.Outward(low, high));
        Assert.Equal(((long)Math.Floor(from), (long)Math.Ceiling(to)), Rounding.OutwardWhole(low, high, long.MinValue, long.MaxValue));
    }

    [Fact]
    public void Whole_ends_stay_within_their_type()
    {
        Assert.Equal((-5, 7), Rounding.OutwardWhole(-1000, 1000, -5, 7));
        Assert.Equal((long.MinValue, long.MaxValue), Rounding.OutwardWhole(-9.2e18, 9.2e18, long.MinValue, long.MaxValue));
        Assert.Equal((double.NegativeInfinity, 1), Rounding.Outward(double.NegativeInfinity, 1));
    }

    [Theory]
    [InlineData("2026-03-05T10:20:30.500Z", 60 * 86_400.0, "2026-03-05", "2026-05-05")]
    [InlineData("2026-03-05T10:20:30.500Z", (60 * 86_400.0) - 0.001, "2026-03-05T10:00:00Z", "2026-05-04T11:00:00Z")]
    [InlineData("2026-03-05T10:20:30.500Z", 2 * 86_400.0, "2026-03-05T10:00:00Z", "2026-03-07T11:00:00Z")]
    [InlineData("2026-03-05T10:20:30.500Z", (2 * 86_400.0) - 0.001, "2026-03-05T10:20:00Z", "2026-03-07T10:21:00Z")]
    [InlineData("2026-03-05T10:20:30.500Z", 2 * 3600.0, "2026-03-05T10:20:00Z", "2026-03-05T12:21:00Z")]
    [InlineData("2026-03-05T10:20:30.500Z", (2 * 3600.0) - 0.001, "2026-03-05T10:20:30Z", "2026-03-05T12:20:31Z")]
    public void Dates_are_rounded_outward_by_how_long_a_time_they_span(string first, double seconds, string from, string to)
    {
        double low = DateTimeOffset.Parse(first, System.Globalization.CultureInfo.InvariantCulture).ToUnixTimeMilliseconds();
        (long start, long end) = Rounding.OutwardDates(low, low + (seconds * 1000));
        Assert.Equal((from, to), (Rounding.Date(start), Rounding.Date(end)));
    }

    [Fact]
    public void Dates_that_no_calendar_has_end_with_it_and_durations_are_a_millisecond_to_a_year()
    {
        (long start, long end) = Rounding.OutwardDates(-1e18, 1e18);
        Assert.Equal(("0001-01-01", "9999-12-31"), (Rounding.Date(start), Rounding.Date(end)));
        Assert.Equal(["1ms", "1ms", "2ms", "31536000000ms", "31536000000ms"],
            new[] { 0, 1.4, 1.6, 365.0 * 86_400_000, 1e15 }.Select(Rounding.Duration));
    }

    [Theory]
    [InlineData(0, "0", "0.0")]
    [InlineData(-3, "-3", "-3.0")]
    [InlineData(999_999_999_999_999, "999999999999999", "999999999999999.0")]
    [InlineData(1e15, "1000000000000000", "1000000000000000.0")]
    [InlineData(1e21, "1000000000000000000000", "1000000000000000000000.0")]
    [InlineData(0.1234567, "0.123457", "0.123457")]
    [InlineData(1e-9, "1E-09", "1E-09")]
    public void Numbers_are_written_as_they_are_read(double number, string shown, string asDouble) =>
        Assert.Equal((shown, asDouble), (YamlText.Number(number), YamlText.Double(number)));

    /// <summary>The newest hundredth is the densest, then each band; of what is chosen alike none is.</summary>
    [Fact]
    public void Requests_for_the_newest_are_told_from_requests_for_any()
    {
        var random = new Random(5);
        var population = new FieldPopulation(1000, 1000);
        ulong[] any = [.. Enumerable.Range(0, 3000).Select(_ => (ulong)random.Next(1000))];
        Assert.Null(LatestFit.Of(any, population));
        // Each request asks for one of the newest by a zipfian, while one document comes every three requests.
        ulong[] newest =
            [.. Enumerable.Range(0, 3000).Select(i => (ulong)Math.Max(0, 1000 + (i / 3) - Math.Pow(1000, random.NextDouble())))];
        Assert.InRange(LatestFit.Of(newest, population)!.Value, 0.85, 0.999);
    }

    private static BsonDocument Parse(string json) => ExtendedJson.Parse(json.Replace('\'', '"'));
}

using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>decimal128 is a number like the others; the differential tests compare much more of it with mongod.</summary>
public sealed class DecimalTests : ServerTest
{
    private const string Inserted = "{'insert': 'c', 'documents': [{'_id': 0, 'a': {'$numberDecimal': '0.1'}}, {'_id': 1, 'a': 0.1}, "
        + "{'_id': 2, 'a': {'$numberDecimal': '1.50'}}, {'_id': 3, 'a': 1.5}, {'_id': 4, 'a': {'$numberDecimal': '-7'}}, "
        + "{'_id': 5, 'a': {'$numberDecimal': 'NaN'}}, {'_id': 6, 'a': {'$numberDecimal': '1E+400'}}, {'_id': 7, 'a': 2}]}";

    [Theory]
    [InlineData(null)]
    [InlineData("{'a': 1}")]
    [InlineData("{'a': -1}")]
    [InlineData("{'a': -1, '_id': 1}")]
    public void They_are_found_and_sorted_among_other_numbers_with_and_without_an_index(string? key)
    {
        Succeed(Inserted);
        if (key != null)
            Succeed($"{{'createIndexes': 'c', 'indexes': [{{'key': {key}, 'name': 'x'}}]}}");
        Assert.Equal([2, 3], Found("{'$eq': 1.5}"));
        Assert.Equal([1, 2, 3, 7, 6], Found("{'$gt': {'$numberDecimal': '0.1'}}"));
        Assert.Equal([4, 0], Found("{'$lt': 0.1}"));
        Assert.Equal([4, 0, 1], Found("{'$lte': 0.1}"));
        Assert.Equal([2, 3, 7, 6], Found("{'$gt': 0.1}"));
        Assert.Equal([5], Found("{'$gte': {'$numberDecimal': 'NaN'}}"));
        Assert.Equal([0, 7], Found("{'$in': [{'$numberDecimal': '2.0'}, {'$numberDecimal': '0.10'}]}"));
        Assert.Equal([5, 4, 0, 1, 2, 3, 7, 6], Found("{'$exists': true}"));
        Assert.True(Succeed("{'validate': 'c'}").IsTrue("valid"));
    }

    [Fact]
    public void An_equal_number_of_another_type_is_the_same_id_before_and_after_a_restart()
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': {'$numberDecimal': '1.0'}}, {'_id': {'$numberDecimal': '0.1'}}, {'_id': 0.1}]}");
        Restart();
        Assert.Equal(11000, Run("{'insert': 'c', 'documents': [{'_id': 1}]}").FindInt64("writeErrors.0.code"));
        Assert.Equal(11000, Run("{'insert': 'c', 'documents': [{'_id': {'$numberDecimal': '0.100'}}]}").FindInt64("writeErrors.0.code"));
        Assert.Equal(3, Succeed("{'count': 'c'}").FindInt64("n"));
    }

    [Theory]
    [InlineData("{'$inc': {'a': 0.1}}", "1.350000000000000")]
    [InlineData("{'$mul': {'a': 3}}", "3.75")]
    [InlineData("{'$mul': {'a': {'$numberDecimal': '1E+6144'}}}", "1.250000000000000000000000000000000E+6144")]
    [InlineData("{'$inc': {'a': {'$numberDecimal': 'Infinity'}}}", "Infinity")]
    public void They_are_added_to_and_multiplied_by_numbers_of_any_type(string update, string expected)
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1, 'a': {'$numberDecimal': '1.25'}}]}");
        Succeed($"{{'update': 'c', 'updates': [{{'q': {{}}, 'u': {update}}}]}}");
        Assert.Equal(expected, Succeed("{'find': 'c'}").Find("cursor.firstBatch.0.a")!.Value.ToString());
    }

    [Theory]
    [InlineData("1", "3", "0.3333333333333333333333333333333333")]
    [InlineData("2", "3", "0.6666666666666666666666666666666667")]
    [InlineData("10.0", "2", "5.0")]
    [InlineData("1", "8", "0.125")]
    [InlineData("0E+5", "1E-3", "0E+8")]
    [InlineData("1E-6176", "2", "0E-6176")]
    [InlineData("3E-6176", "2", "2E-6176")]
    public void Quotients_have_34_digits_and_are_rounded_to_the_even_one_of_two_as_near(string left, string right, string expected) =>
        Assert.Equal(expected, DecimalArithmetic.Divide(Decimal(left), Decimal(right)).ToString());

    [Theory]
    [InlineData("1E+6000", "1E-6000", "1.000000000000000000000000000000000E+6000")]
    [InlineData("9999999999999999999999999999999999", "0.5", "1.000000000000000000000000000000000E+34")]
    [InlineData("9999999999999999999999999999999998", "0.5", "9999999999999999999999999999999998")]
    [InlineData("1", "-1E-40", "1.000000000000000000000000000000000")]
    [InlineData("9E+6144", "9E+6144", "Infinity")]
    [InlineData("1.5", "-1.50", "0.00")]
    [InlineData("-0", "-0", "-0")]
    [InlineData("Infinity", "-Infinity", "NaN")]
    public void Sums_have_34_digits_and_the_lesser_exponent_of_both(string left, string right, string expected) =>
        Assert.Equal(expected, DecimalArithmetic.Add(Decimal(left), Decimal(right)).ToString());

    private int[] Found(string condition) => [.. Succeed($"{{'find': 'c', 'filter': {{'a': {condition}}}, 'sort': {{'a': 1, '_id': 1}}}}")
        .FindDocument("cursor.firstBatch")!.Select(pair => (int)pair.Value.ToDocument().FindInt64("_id")!)];

    private static Decimal128 Decimal(string text) =>
        Decimal128.TryParse(text, out Decimal128 value) ? value : throw new ArgumentException(text);
}

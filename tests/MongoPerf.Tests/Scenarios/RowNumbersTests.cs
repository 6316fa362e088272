using System.Globalization;
using System.Numerics;
using System.Text;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.Rows;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>What rows say is what is stored: no digit is lost silently, no field is there twice, and each refusal names its line.</summary>
public sealed class RowNumbersTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("5", BsonType.Int32, "5")]
    [InlineData("-2147483648", BsonType.Int32, "-2147483648")]
    [InlineData("2147483648", BsonType.Int64, "2147483648")]
    [InlineData("9223372036854775807", BsonType.Int64, "9223372036854775807")]
    [InlineData("9223372036854775808", BsonType.Decimal128, "9223372036854775808")]
    [InlineData("-9223372036854775809", BsonType.Decimal128, "-9223372036854775809")]
    [InlineData("100000000000000000000", BsonType.Decimal128, "100000000000000000000")]
    [InlineData("1234567890123456789012345678901234", BsonType.Decimal128, "1234567890123456789012345678901234")]
    [InlineData("12345678901234567890123456789012345", BsonType.String, "12345678901234567890123456789012345")]
    [InlineData("0.1", BsonType.Double, "0.1")]
    [InlineData("52.520006599999995", BsonType.Double, "52.520006599999995")]
    [InlineData("52.520006599999998", BsonType.Decimal128, "52.520006599999998")]
    [InlineData("0.10000000000000000555", BsonType.Double, "0.1")]
    [InlineData("0.1234567890123456789", BsonType.Decimal128, "0.1234567890123456789")]
    [InlineData("9007199254740993.0", BsonType.Decimal128, "9007199254740993.0")]
    [InlineData("1e5", BsonType.Double, "100000")]
    [InlineData("1e308", BsonType.Double, "1E+308")]
    [InlineData("1e400", BsonType.Decimal128, "1E+400")]
    [InlineData("-1e-400", BsonType.Decimal128, "-1E-400")]
    [InlineData("1e-7000", BsonType.String, "1e-7000")]
    [InlineData("5e-324", BsonType.Double, "5E-324")]
    [InlineData("1.23456789e-320", BsonType.Decimal128, "1.23456789E-320")]
    [InlineData("-0.0", BsonType.Double, "-0")]
    [InlineData("0.000", BsonType.Double, "0")]
    [InlineData("0049123456789", BsonType.String, "0049123456789")]
    [InlineData("2024-01-01", BsonType.String, "2024-01-01")]
    [InlineData("1-2", BsonType.String, "1-2")]
    [InlineData("1.2.3", BsonType.String, "1.2.3")]
    public void A_cell_keeps_its_digits(string cell, BsonType type, string shown)
    {
        Write("a.csv", $"n\n{cell}\n");
        BsonValue value = Single("a.csv");
        Assert.Equal((type, shown), (value.Type, value.Type == BsonType.Double
            ? value.ToDouble().ToString(CultureInfo.InvariantCulture) : value.ToString()));
    }

    [Theory]
    [InlineData("long", "9223372036854775808", "n is '9223372036854775808'; expected a whole number of 64 bits")]
    [InlineData("double", "-1e-400", "n is '-1e-400'; expected a number within the range of a double")]
    [InlineData("double", "1e400", "n is '1e400'; expected a number within the range of a double")]
    [InlineData("decimal", "12345678901234567890123456789012345", "n is '12345678901234567890123456789012345'; expected a decimal")]
    public void A_cell_that_its_type_does_not_hold_is_refused(string type, string cell, string said)
    {
        Write("a.csv", $"n\n1\n{cell}\n");
        Assert.Contains($"a.csv, line 3: {said}", Refusal($"{{path: a.csv, types: {{n: {type}}}}}").Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("decimal", "1e-400", "1E-400")]
    [InlineData("decimal", "-12.50", "-12.50")]
    [InlineData("double", "12345678901234567890", "1.2345678901234567E+019")]
    [InlineData("string", "12345678901234567890", "12345678901234567890")]
    public void A_type_that_is_given_holds_what_it_can(string type, string cell, string shown)
    {
        Write("a.csv", $"n\n{cell}\n");
        BsonValue value = Single($"{{path: a.csv, types: {{n: {type}}}}}");
        Assert.Equal(
            shown, value.Type == BsonType.Double ? value.ToDouble().ToString("E16", CultureInfo.InvariantCulture) : value.ToString());
    }

    [Theory]
    [InlineData("12345678901234567890", "n: 12345678901234567890 is beyond 64 bits, and a double would lose digits of it; write "
        + "{\"$numberDecimal\": \"12345678901234567890\"}, or put it in quotes for a text")]
    [InlineData("9223372036854775808", "n: 9223372036854775808 is beyond 64 bits")]
    [InlineData("-1e-400", "n: -1e-400 is beyond the range of a double; write {\"$numberDecimal\": \"-1e-400\"}")]
    [InlineData("1e400", "n: 1e400 is beyond the range of a double")]
    [InlineData("[1, {\"m\": 12345678901234567890}]", "m: 12345678901234567890 is beyond 64 bits")]
    public void A_number_of_JSON_that_no_type_of_JSON_holds_is_refused(string number, string said)
    {
        Write("a.jsonl", $"{{\"n\": 1}}\n\n{{\"n\": {number}}}\n");
        Assert.Contains($"a.jsonl, line 3: {said}", Refusal("a.jsonl").Message, StringComparison.Ordinal);
    }

    /// <summary>As JavaScript writes doubles below 1e21.</summary>
    [Theory]
    [InlineData("100000000000000000000", 1e20)]
    [InlineData("-123456789012345680000", -123456789012345680000.0)]
    [InlineData("9223372036854776000", 9223372036854775808.0)]
    public void A_whole_number_of_JSON_that_is_how_a_double_is_written_is_that_double(string number, double expected)
    {
        Write("a.jsonl", $"{{\"n\": {number}}}\n");
        Assert.Equal((BsonType.Double, expected), (Single("a.jsonl").Type, Single("a.jsonl").ToDouble()));
    }

    [Theory]
    [InlineData("{\"a\": 1, \"b\": 2, \"a\": 3}", "a")]
    [InlineData("{\"a\": 1, \"\\u0061\": 3}", "a")]
    [InlineData("{\"x\": {\"b\": 1, \"b\": 2}}", "b")]
    [InlineData("{\"x\": [{\"b\": 1}, {\"b\": 1, \"c\": 2, \"b\": 2}]}", "b")]
    [InlineData("{\"_id\": 1, \"a\": 1, \"_id\": 2}", "_id")]
    public void A_field_that_a_line_has_twice_is_refused(string line, string field)
    {
        Write("a.jsonl", $"{{\"a\": 1, \"x\": [{{\"b\": 1}}, {{\"b\": 2}}]}}\n{line}\n");
        Assert.Contains($"a.jsonl, line 2: the field '{field}' appears twice", Refusal("a.jsonl").Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_field_that_comes_twice_is_found_among_very_many()
    {
        string many = string.Join(", ", Enumerable.Range(0, 12_000).Select(i => $"\"f{i}\": {i}"));
        Write("a.jsonl", $"{{{many}}}\n{{{many}, \"f11999\": 1}}\n");
        Assert.Contains("a.jsonl, line 2: the field 'f11999' appears twice", Refusal("a.jsonl").Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Any_number_of_columns_is_read_with_an_id_or_without(bool hasId)
    {
        string[] names = [.. Enumerable.Range(0, 12_000).Select(i => $"f{i}"), .. hasId ? ["_id"] : Array.Empty<string>()];
        Write("a.csv", $"{string.Join(',', names)}\n{string.Join(',', names.Select((_, i) => i))}\n");
        DocumentTemplate documents = Documents("{^file: a.csv}");
        Assert.Equal(11_999, documents.Make(0).FindInt64("f11999"));
        Assert.Equal(hasId ? 12_000 : null, documents.Make(0).FindInt64("_id"));
        // Each column is known by its name.
        Assert.Equal(11_500, Documents("{n: {^file: {path: a.csv, field: f11500}}}").Make(0).FindInt64("n"));
        string refusal = Refusal("{path: a.csv, field: nosuchfield}", "v").Message;
        Assert.True(refusal.Length < 500, $"{refusal.Length} characters");
    }

    [Fact]
    public void Documents_of_very_many_fields_have_an_id_where_they_have_one()
    {
        string many = string.Join(", ", Enumerable.Range(0, 12_000).Select(i => $"\"f{i}\": {i}"));
        Write("a.jsonl", $"{{{many}, \"_id\": 5}}\n");
        Assert.Equal(5, Documents("{^file: a.jsonl}").Make(0).FindInt64("_id"));
        Write("b.jsonl", $"{{{many}}}\n");
        Assert.Equal(BsonType.ObjectId, Documents("{^file: b.jsonl}").Make(0).Find("_id")!.Value.Type);
        Write("c.jsonl", $"{{{many}}}\n{{\"_id\": 1}}\n");
        Assert.Contains("some rows of c.jsonl have an _id", Refusal("c.jsonl").Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Weights_beyond_all_numbers_are_refused()
    {
        Write("a.csv", "n,w\n1,1e308\n2,1e308\n");
        Assert.Contains("a.csv, line 3: w adds up to more than a number holds", Refusal("{path: a.csv, field: n, weight: w}", "v").Message,
            StringComparison.Ordinal);
    }

    /// <summary>Every number that a row can say is stored as it is written, as exactly as its type can; or its line is refused.</summary>
    [Fact]
    public void Any_number_is_stored_exactly_or_its_line_is_refused()
    {
        const int Rows = 4000;
        var random = new Random(56);
        string[] numbers = [.. Enumerable.Range(0, Rows).Select(_ => NumberOf(random))];
        Write("a.csv", "n\n" + string.Concat(numbers.Select(number => number + "\n")));
        DocumentTemplate documents = Documents("{n: {^file: {path: a.csv, field: n}}}");
        var kinds = new HashSet<BsonType>();
        foreach ((int i, string number) in numbers.Index())
        {
            BsonValue value = documents.Make(i).Find("n")!.Value;
            kinds.Add(value.Type);
            Assert.True(IsExact(number, value, mayRound: false), $"{number} became {value.Type} {value}");
        }

        Assert.Equal(5, kinds.Count);
        int refused = 0;
        foreach (string number in numbers.Take(Rows / 10))
        {
            Write("b.jsonl", $"{{\"n\": {number}}}\n");
            try
            {
                BsonValue value = Single("b.jsonl");
                Assert.True(IsExact(number, value, mayRound: true), $"{number} became {value.Type} {value}");
            }
            catch (UserException e)
            {
                refused++;
                Assert.Contains("b.jsonl, line 1: n: ", e.Message, StringComparison.Ordinal);
            }
        }

        Assert.InRange(refused, 1, Rows / 20);
    }

    [Fact]
    public void A_double_that_is_written_in_any_usual_way_stays_that_double()
    {
        var random = new Random(57);
        for (int i = 0; i < 20_000; i++)
        {
            double number = BitConverter.Int64BitsToDouble(random.NextInt64());
            if (!double.IsFinite(number))
                continue;
            foreach (string form in (string[])["G17", "E16", "E25"])
            {
                string text = number.ToString(form, CultureInfo.InvariantCulture);
                Assert.True(NumberText.KeepsDigits(number, Encoding.UTF8.GetBytes(text)), text);
            }
        }
    }

    /// <summary>Whole and not, small and far beyond every type; no zeros in front, which make a text.</summary>
    private static string NumberOf(Random random)
    {
        string Digits(int most) => string.Concat(Enumerable.Range(0, random.Next(1, most)).Select(_ => (char)('0' + random.Next(10))));
        string whole = random.Next(4) == 0 ? "0" : (char)('1' + random.Next(9)) + Digits(random.Next(2) == 0 ? 10 : 40)[1..];
        string fraction = random.Next(2) == 0 ? "" : "." + Digits(random.Next(2) == 0 ? 6 : 40);
        string exponent = random.Next(3) > 0 ? "" : $"e{random.Next(-30, 30) * (random.Next(3) == 0 ? 20 : 1)}";
        return (random.Next(3) == 0 ? "-" : "") + whole + fraction + exponent;
    }

    private static bool IsExact(string text, BsonValue value, bool mayRound)
    {
        if (value.Type == BsonType.String)
            return value.ToString() == text;
        (BigInteger coefficient, int exponent) = Parse(text);
        switch (value.Type)
        {
            case BsonType.Int32 or BsonType.Int64:
                return AreEqual(coefficient, exponent, value.ToInt64(), 0);
            case BsonType.Decimal128:
                Decimal128 found = value.ToDecimal128();
                return AreEqual(coefficient, exponent, (BigInteger)found.Coefficient * (found.IsNegative ? -1 : 1), found.Exponent);
        }

        double number = value.ToDouble();
        // A double is so many halves, or so often two: exactly a decimal number.
        long bits = BitConverter.DoubleToInt64Bits(number);
        int scale = Math.Max(1, (int)((bits >> 52) & 0x7FF)) - 1075;
        BigInteger mantissa = (bits & 0xFFFFFFFFFFFFF) | (((bits >> 52) & 0x7FF) == 0 ? 0 : 1L << 52);
        mantissa *= number < 0 ? -1 : 1;
        (BigInteger exact, int power) = scale >= 0 ? (mantissa << scale, 0) : (mantissa * BigInteger.Pow(5, -scale), scale);
        // As near as half a unit of the last digit that was written, or of the fifteenth.
        int least = Math.Min(exponent, power);
        BigInteger apart =
            BigInteger.Abs((coefficient * BigInteger.Pow(10, exponent - least)) - (exact * BigInteger.Pow(10, power - least)));
        int digits = BigInteger.Abs(coefficient).ToString(CultureInfo.InvariantCulture).Length;
        int unit = mayRound ? Math.Max(exponent, exponent + digits - 15) : exponent;
        return 2 * apart <= BigInteger.Pow(10, unit - least);
    }

    private static (BigInteger Coefficient, int Exponent) Parse(string text)
    {
        string[] parts = text.Split('e');
        int point = parts[0].IndexOf('.', StringComparison.Ordinal);
        int places = point < 0 ? 0 : parts[0].Length - point - 1;
        return (BigInteger.Parse(parts[0].Replace(".", "", StringComparison.Ordinal), CultureInfo.InvariantCulture),
            (parts.Length > 1 ? int.Parse(parts[1], CultureInfo.InvariantCulture) : 0) - places);
    }

    private static bool AreEqual(BigInteger a, int power, BigInteger b, int otherPower)
    {
        if (a.IsZero || b.IsZero)
            return a.IsZero && b.IsZero;
        int least = Math.Min(power, otherPower);
        return a * BigInteger.Pow(10, power - least) == b * BigInteger.Pow(10, otherPower - least);
    }

    private BsonValue Single(string file) => Documents($"{{^file: {file}}}").Make(0).Find("n")!.Value;

    private DocumentTemplate Documents(string document) => Read($"document: {document}").Plan.Collections.Single().Documents;

    private UserException Refusal(string file, string? field = null) => Assert.ThrowsAny<UserException>(
        () => Read(field is null ? $"document: {{^file: {file}}}" : $"document: {{{field}: {{^file: {file}}}}}"));

    private ReadPlan Read(string collection) => PlanReader.Read(
        new ScenarioFile("test", "test.yaml", $"data:\n  c: {{count: 1, {collection}}}\nphases: [{{load: c}}]")
        {
            Data = new FilesFolder(_folder.Path),
        },
        new PlanOverrides(), 42);

    private void Write(string name, string text) => File.WriteAllText(_folder.At(name), text);
}

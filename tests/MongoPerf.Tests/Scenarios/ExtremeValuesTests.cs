using System.Globalization;
using System.Numerics;
using MongoPerf.Load.Documents;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Generators at the ends of what their types hold: values are within their bounds, or the file is refused with a line.</summary>
public sealed class ExtremeValuesTests
{
    private const int Documents = 200;

    private static readonly string[] Wholes =
    [
        "-9223372036854775808", "-9223372036854775807", "-2147483649", "-2147483648", "-1", "0", "1", "2147483647", "2147483648",
        "9223372036854775806", "9223372036854775807",
    ];

    private static readonly string[] Reals =
    [
        "-1.7976931348623157e308", "-1.7e308", "-1", "-5e-324", "0", "5e-324", "1", "1.0000000000000002", "9007199254740993", "1.7e308",
        "1.7976931348623157e308",
    ];

    private static readonly string[] Decimals = ["-999999999999999999", "-999999999999999998", "-1", "0", "1", "999999999999999999"];

    private static readonly string[] SmallDecimals =
        ["-0.999999999999999999", "-0.000000000000000001", "0.0", "0.5", "0.999999999999999999"];

    private static readonly string[] Dates =
    [
        "0001-01-01", "1582-10-15", "1969-12-31T23:59:59.999Z", "1970-01-01", "2000-02-29", "2038-01-19T03:14:08Z",
        "9999-12-31T23:59:59.999Z",
    ];

    [Fact]
    public void Every_range_gives_values_within_it()
    {
        foreach ((string generator, string[] ends) in ((string, string[])[])[("^int", Wholes[3..8]), ("^long", Wholes), ("^double", Reals),
            ("^decimal", Decimals), ("^decimal", SmallDecimals)])
        {
            foreach ((string low, string high) in Pairs(ends))
                CheckRange($"{{{generator}: [{low}, {high}]}}", low == high, Number(low), Number(high));
        }

        foreach ((string low, string high) in Pairs(Dates))
            CheckRange($"{{^date: {{from: '{low}', to: '{high}'}}}}", low == high, Milliseconds(low), Milliseconds(high));
    }

    [Theory]
    [InlineData("{^int: [-2147483649, 0]}", "is not a valid range between -2147483648 and 2147483647")]
    [InlineData("{^int: [0, 2147483648]}", "is not a valid range between -2147483648 and 2147483647")]
    [InlineData("{^long: [0, 9223372036854775808]}", "'9223372036854775808' is out of range; allowed: 0 to 1e15")]
    [InlineData("{^long: [1, 0]}", "1 to 0: the least value comes first")]
    [InlineData("{^double: [1, 0]}", "1 to 0: the least value comes first")]
    [InlineData("{^double: [0, 1e309]}", "'1e309' is not a finite number; the greatest is 1.7976931348623157e308")]
    [InlineData("{^decimal: [0, 1000000000000000000]}", "expected two numbers of at most 18 digits")]
    [InlineData("{^decimal: [1, 0.5]}", "1 to 0.5: the least value comes first")]
    [InlineData("{^date: {from: 2012-01-01, to: 2011-01-01}}", "'from' is later than 'to'")]
    [InlineData("{^date: {from: 2011-01-01, to: 2012-01-01, step: 1s}}", "'from' and 'to' draw dates")]
    [InlineData("{^date: {start: 2011-01-01, step: 100us}}", "step is 0.1ms; a date has whole milliseconds")]
    [InlineData("{^uuid: {version: 7, start: 1969-12-31}}", "start is before 1970, when the times of UUIDs begin")]
    [InlineData("{^choice: {of: [1, 2], weights: [1e308, 1e308]}}", "their sum a finite number")]
    [InlineData("{^choice: {of: [1, 2], weights: [1, 1], turns: [1, 1]}}", "weights and turns are both given")]
    [InlineData("{^choice: {of: [1, 2], turns: [1]}}", "1 turn for 2 values")]
    [InlineData("{^choice: {of: [1, 2], turns: [0, 0]}}", "turns must be 0 or more, and at least one above 0")]
    [InlineData("{^number: {start: 2147483648, type: int}}", "its values go beyond 32 bits")]
    [InlineData("{^number: {start: 9223372036854775807, cycle: 2}}", "its values go beyond 64 bits")]
    [InlineData("{^number: {step: 1000000, cycle: 1000000, type: int}}", "its values go beyond 32 bits")]
    [InlineData("12345678901234567890", "'12345678901234567890' is beyond 64 bits, and a double would lose digits of it")]
    [InlineData("-1e-400", "'-1e-400' is beyond the range of a double")]
    [InlineData("1e400", "'1e400' is beyond the range of a double")]
    [InlineData("{^int: [0, 1e308]}", "'1e308' is out of range; allowed: 0 to 1e15")]
    public void What_no_value_can_be_is_refused_with_its_line(string value, string said)
    {
        (string message, string hint) = ScenarioTexts.Refusal(Text(value));
        Assert.Contains(said, message, StringComparison.Ordinal);
        Assert.StartsWith("test.yaml:2: ", message, StringComparison.Ordinal);
        Assert.True(message.Length + hint.Length < 300, message);
    }

    [Theory]
    [InlineData("{start: 0, type: int}", 2147483649, "n has values for 2,147,483,648 documents, and 2,147,483,649 are asked for")]
    [InlineData("{start: 0, step: 1000000, type: int}", 2149, "n has values for 2,148 documents, and 2,149 are asked for")]
    [InlineData("{start: -2147483648, step: -1, type: int}", 2, "n has values for 1 documents, and 2 are asked for")]
    [InlineData("{start: 9223372036854775806}", 3, "n has values for 2 documents, and 3 are asked for")]
    [InlineData("{start: 2147483647, every: 10, type: int}", 11, "n has values for 10 documents, and 11 are asked for")]
    public void A_sequence_that_ends_before_its_collection_is_refused(string number, long count, string said)
    {
        string text = $"data:\n  c: {{count: {count}, document: {{n: {{^number: {number}}}}}}}\nphases: [{{load: c}}]";
        (string message, string hint) = ScenarioTexts.Refusal(text);
        Assert.Contains(said, message, StringComparison.Ordinal);
        Assert.NotEqual("", hint);
        ScenarioTexts.Read(text.Replace($"count: {count}", $"count: {count - 1}", StringComparison.Ordinal));
        // A growth asks for as many at its end.
        Assert.Contains(said, ScenarioTexts.Refusal(text.Replace($"count: {count}, ", "", StringComparison.Ordinal)
            .Replace("{load: c}", $"{{grow: c, to: {count}}}", StringComparison.Ordinal)).Message, StringComparison.Ordinal);
    }

    /// <summary>Held against arithmetic without bounds, a sequence is right or refused.</summary>
    [Fact]
    public void Every_sequence_is_what_its_formula_says()
    {
        var random = new Random(56);
        int right = 0, refused = 0;
        for (int i = 0; i < 2000; i++)
        {
            string type = random.Next(2) == 0 ? "int" : "long";
            string start = Wholes[random.Next(Wholes.Length)];
            string step = random.Next(3) == 0 ? Wholes[random.Next(Wholes.Length)] : $"{random.Next(-9, 9)}";
            long every = random.Next(3) == 0 ? random.Next(1, 9) : 1, cycle = random.Next(3) == 0 ? random.Next(1, 20) : 0;
            string text = Text($"{{^number: {{start: {start}, step: {step}, type: {type}{(every > 1 ? $", every: {every}" : "")}"
                + $"{(cycle > 0 ? $", cycle: {cycle}" : "")}}}}}");
            DocumentTemplate? documents = null;
            try
            {
                documents = ScenarioTexts.Plan(text).Collections.Single().Documents;
            }
            catch (UserException)
            {
                refused++;
            }

            BigInteger Expected(int number) => Whole(start) + (Whole(step) * (number / every % (cycle > 0 ? cycle : long.MaxValue)));
            (BigInteger least, BigInteger most) = type == "int" ? (int.MinValue, int.MaxValue) : (long.MinValue, (BigInteger)long.MaxValue);
            bool fits = Enumerable.Range(0, cycle > 0 ? (int)(cycle * every) : Documents).Select(Expected)
                .All(value => value >= least && value <= most);
            Assert.True(fits == documents is not null, text);
            if (documents is null)
                continue;
            right++;
            for (int number = 0; number < Documents; number++)
                Assert.Equal((long)Expected(number), documents.Make(number).FindInt64("v"));
        }

        Assert.True(right > 200 && refused > 200, $"{right} right, {refused} refused");
    }

    [Fact]
    public void Values_take_turns()
    {
        DocumentTemplate documents =
            ScenarioTexts.Plan(Text("{^choice: {of: [a, b, c], turns: [3, 0, 2]}}")).Collections.Single().Documents;
        Assert.Equal("aaaccaaaccaa", string.Concat(Enumerable.Range(0, 12).Select(i => documents.Make(i).FindString("v"))));
    }

    [Fact]
    public void Consecutive_documents_may_have_one_date()
    {
        DocumentTemplate documents =
            ScenarioTexts.Plan(Text("{^date: {start: '1969-12-31T23:59:59Z', step: 1s, every: 2}}")).Collections.Single().Documents;
        Assert.Equal([-1000L, -1000, 0, 0, 1000],
            Enumerable.Range(0, 5).Select(i => BitConverter.ToInt64(documents.Make(i).Find("v")!.Value.Bytes.Span)));
    }

    [Theory]
    [InlineData("{update: c, key: uniform, filter: {_id: ^key}, with: {$set: {\"items.{^int: [1, 90]}.a\": 5}}}",
        "items.{^int: [1, 90]}.a", "^int")]
    [InlineData("{update: c, filter: {_id: ^key}, with: {$set: {items.^int.a: 5}}}", "items.^int.a", "^int")]
    [InlineData("{find: c, filter: {\"a.{ ^word }\": 5}}", "a.{ ^word }", "^word")]
    [InlineData("{aggregate: c, pipeline: [{$project: {\"x{^key}\": 1}}]}", "x{^key}", "^key")]
    public void A_generator_in_a_name_is_refused(string operation, string name, string generator)
    {
        (string message, string hint) = ScenarioTexts.Refusal($"{ScenarioTexts.Data}phases:\n  - {{load: users}}\n"
            + $"  - {{count: 1, operations: [{operation.Replace(": c,", ": users,", StringComparison.Ordinal)}]}}\n");
        Assert.StartsWith("test.yaml:7: ", message, StringComparison.Ordinal);
        Assert.Contains(
            $"the name '{name}' holds {generator}; names are not generated, only values are", message, StringComparison.Ordinal);
        Assert.StartsWith("one of several fields: {^fields: ", hint, StringComparison.Ordinal);
    }

    [Fact]
    public void A_generator_within_a_text_is_refused_unless_the_text_is_quoted()
    {
        Assert.Contains("test.yaml:5: c.document.v: ^word stands within a text; a generator is a whole value",
            ScenarioTexts.Refusal(
                "data:\n  c:\n    count: 1\n    document:\n      v: user-{^word}\nphases: [{load: c}]").Message, StringComparison.Ordinal);
        Assert.Equal("user-{^word}", Value("'user-{^word}'").ToString());
        Assert.Equal("a^b.c^word", Value("a^b.c^word").ToString());
    }

    [Fact]
    public void A_mistake_is_told_shortly_however_long_it_is()
    {
        string digits = new('9', 3000);
        foreach (string value in (string[])[digits, $"-1e-{digits}", $"{{^int: [0, {digits}]}}", $"{{^double: [0, {digits}e99]}}",
            $"{{^choice: {{of: [1], weights: [x{digits}]}}}}", $"{{^{digits}: 1}}", $"{{^date: {{start: '{digits}'}}}}"])
        {
            using var errors = new StringWriter();
            MongoPerf.Running.FailureReport.Write(Assert.Throws<UserException>(() => ScenarioTexts.Read(Text(value))), errors);
            Assert.True(errors.ToString().Length < 2000, errors.ToString());
        }
    }

    private static IEnumerable<(string Low, string High)> Pairs(string[] ends) =>
        ends.SelectMany((low, i) => ends.Skip(i).Select(high => (low, high)));

    private static void CheckRange(string generator, bool isOne, double low, double high)
    {
        DocumentTemplate documents = ScenarioTexts.Plan(Text(generator)).Collections.Single().Documents;
        var different = new HashSet<string>();
        for (int number = 0; number < Documents; number++)
        {
            BsonValue value = documents.Make(number).Find("v")!.Value;
            double found = value.Type == BsonType.DateTime ? BitConverter.ToInt64(value.Bytes.Span) : value.ToDouble();
            Assert.True(double.IsFinite(found) && found >= low && found <= high, $"{generator} gave {value}");
            different.Add(Convert.ToHexString(value.Bytes.Span));
        }

        Assert.True(isOne ? different.Count == 1 : different.Count > 1, $"{generator} gave {different.Count} values");
        if (high - low > 1e6)
            Assert.True(different.Count > Documents / 2, $"{generator} gave {different.Count} values");
    }

    private static BigInteger Whole(string text) => BigInteger.Parse(text, CultureInfo.InvariantCulture);

    private static double Number(string text) => double.Parse(text, CultureInfo.InvariantCulture);

    private static double Milliseconds(string text) =>
        DateTimeOffset.Parse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal).ToUnixTimeMilliseconds();

    private static BsonValue Value(string text) => ScenarioTexts.Plan(Text(text)).Collections.Single().Documents.Make(0).Find("v")!.Value;

    private static string Text(string value) => $"data:\n  c: {{count: {Documents}, document: {{v: {value}}}}}\nphases: [{{load: c}}]";
}

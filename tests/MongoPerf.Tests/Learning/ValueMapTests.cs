using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>A value that operations name is one made-up value wherever it stands, with its own share of the documents.</summary>
public sealed class ValueMapTests
{
    private const int Documents = 2000;

    private static readonly CollectionSample Orders = new("orders", Documents, [.. Enumerable.Range(0, Documents).Select(i =>
        BsonDocument.Of(("_id", i), ("customer", $"kunde {i * 7919L % 1009:0000}"), ("code", i % 50 == 7 ? 4711 : 1000 + (i * 389 % 997)),
            ("weight", Math.Pow((i * 1013 % Documents) / (double)Documents, 3) * 1000), ("state", i % 4 == 0 ? "neu" : "fertig"),
            ("at", new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddMinutes(i * 1013 % Documents)),
            ("tags", new object[] { $"t{i % 5}", "immer" })))], AreInOrder: true);

    /// <summary>Bounds by which so many documents are found, whether they are spread evenly or not.</summary>
    [Theory]
    [InlineData("weight", "{'$gte': 512.3}", 0.2)]
    [InlineData("weight", "{'$gte': 970.4}", 0.01)]
    [InlineData("weight", "{'$gte': 1500.5}", 0)]
    [InlineData("weight", "{'$lt': 0.37}", 0.07)]
    [InlineData("at", "{'$gte': {'$date': '2026-01-02T09:00:01Z'}}", 0.01)]
    [InlineData("at", "{'$lte': {'$date': '2026-01-01T08:20:01Z'}}", 0.25)]
    public void A_bound_that_never_moves_has_the_same_share_below_it(string field, string bound, double share)
    {
        (string text, BsonDocument[] made) = Learn(ListSource.Of(60, _ => $"{{'find': 'orders', 'filter': {{'{field}': {bound}}}}}"));
        Match written = Regex.Match(text, "filter: \\{" + field + @": \{\$(gte|lte|lt): (\{.*?\}\}|\{.*?\}|[^}]*)\}");
        Assert.True(written.Success, text);
        double at = Regex.Match(written.Groups[2].Value, "-?[0-9][0-9T:.Z-]*") is { Success: true } number
            ? field == "at" ? Milliseconds(number.Value) : double.Parse(number.Value, CultureInfo.InvariantCulture) : double.NaN;
        double found = made.Count(one => one.Find(field)!.Value is var value && ValueStatistics.NumberOf(value) is var own
            && (written.Groups[1].Value == "gte" ? own >= at : own <= at)) / (double)Documents;
        // By chance of what is drawn, three standard deviations.
        Assert.InRange(found, share - Chance(share), share + Chance(share));
    }

    [Theory]
    [InlineData("code", "4711", 0.02)]
    [InlineData("code", "5555", 0)]
    [InlineData("state", "'neu'", 0.25)]
    [InlineData("state", "'weg'", 0)]
    [InlineData("tags", "'t3'", 0.2)]
    [InlineData("customer", "'kunde 0042'", 0.001)]
    public void A_value_that_is_always_asked_for_is_as_frequent_as_it_was(string field, string value, double share)
    {
        (string text, BsonDocument[] made) = Learn(
            ListSource.Of(60, _ => $"{{'find': 'orders', 'filter': {{'{field}': {value}}}}}"));
        Match written = Regex.Match(text, $"filter: {{{field}: (\"[^\"]*\"|-?[0-9.]+)}}");
        Assert.True(written.Success, text);
        string token = written.Groups[1].Value.Trim('"');
        double found = made.Count(one => one.Find(field)!.Value is var there && (there.Type == BsonType.Array
            ? there.ToDocument().Any(element => element.Value.ToString() == token) : there.ToString() == token)) / (double)Documents;
        Assert.InRange(found, share - Chance(share), share + Chance(share));
        Assert.DoesNotMatch("4711|5555|neu\"|weg|kunde|immer", text);
    }

    /// <summary>Replies tell whether a state beside an _id is that of the document, or one that it has by chance.</summary>
    [Theory]
    [InlineData(1, "filter: {_id: ^key, state: {^field: state}}")]
    [InlineData(4, "filter: {_id: ^key, state: \"")]
    [InlineData(0, "filter: {_id: ^key, state: {^field: state}}")]
    public void A_value_beside_a_key_is_what_replies_make_likely(int every, string expected)
    {
        IEnumerable<ObservedOperation> finds = ListSource.Of(400, i =>
            $"{{'find': 'orders', 'filter': {{'_id': {i * 7 % Documents}, 'state': 'neu'}}}}")
            .Select((one, i) => every == 0 ? one : one with { Reply = new ObservedReply(i % every == 0 ? 1 : 0, 0, null, null) });
        Assert.Contains(expected, Learn(finds).Text, StringComparison.Ordinal);
    }

    /// <summary>A state that is written is the one that others ask for.</summary>
    [Fact]
    public void Few_values_that_are_written_are_written_as_often()
    {
        const string Update = "{'update': 'orders', 'updates': [{'q': {'_id': ID}, 'u': {'$set': {'state': 'S'}}}]}";
        string text = Learn([.. ListSource.Of(100, i => Update.Replace("ID", $"{i * 13}", StringComparison.Ordinal)
                .Replace("'S'", i % 10 == 0 ? "'neu'" : "'bezahlt'", StringComparison.Ordinal)),
            .. ListSource.Of(40, _ => "{'count': 'orders', 'query': {'state': 'bezahlt'}}")]).Text;
        string paid = Regex.Match(text, "filter: {state: (\"[^\"]+\")}").Groups[1].Value;
        Assert.Matches($"with: {{\\$set: {{state: {{\\^choice: {{of: \\[{paid}, \"[^\"]+\"\\], weights: \\[90, 10\\]}}}}}}}}", text);
    }

    /// <summary>What was found then, and is in no document now, can't be asked for here.</summary>
    [Fact]
    public void A_value_that_is_gone_is_told()
    {
        string text = Learn(ListSource.Of(60, _ => "{'find': 'orders', 'filter': {'state': 'offen'}}")
            .Select(one => one with { Reply = new ObservedReply(3, 0, null, null) })).Text;
        Assert.Contains("filter: {state: {^field: state}}", text, StringComparison.Ordinal);
        Assert.Contains("# not learned: a value that 100 % of these operations found, and that no document has now", text,
            StringComparison.Ordinal);
    }

    private static double Chance(double share) => Math.Max(0.001, 3 * Math.Sqrt(share * (1 - share) / Documents)) + (0.1 * share);

    private static double Milliseconds(string text) => text.Contains('T', StringComparison.Ordinal)
        ? DateTimeOffset.Parse(text, CultureInfo.InvariantCulture).ToUnixTimeMilliseconds()
        : double.Parse(text, CultureInfo.InvariantCulture);

    private static (string Text, BsonDocument[] Made) Learn(IEnumerable<ObservedOperation> operations)
    {
        OperationMix mix = ListSource.Mix(operations);
        var database = new DatabaseSample("shop", [Orders], new SamplingCost(0, 0, 0, 0), "", "", []);
        var data = new DataWriter(database, new WrittenNames(null), new HashSet<string>(), mix);
        string text = ScenarioText.Of(database, data, new PhaseWriter(mix, data));
        PlanCollection collection = ScenarioTexts.Plan(text).Collections.Single();
        return (text, [.. Enumerable.Range(0, Documents).Select(i => collection.Documents.Make(i))]);
    }
}

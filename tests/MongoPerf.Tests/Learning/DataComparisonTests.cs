using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>A file that was just learned is like its deployment, and one of a deployment that has changed since is not.</summary>
public sealed class DataComparisonTests
{
    private static readonly DateTime Start = new(2025, 3, 1, 0, 0, 0, DateTimeKind.Utc);
    private static readonly WrittenNames Names = new(null);

    [Theory]
    [MemberData(nameof(Seeds))]
    public void A_file_that_was_just_learned_passes(int seed)
    {
        CollectionSample[] all = Database(seed);
        Deviation[] figures = [.. DataComparison.Of(all, Copy(all), Names)];
        Assert.True(figures.Length > 60, $"{figures.Length}");
        Assert.Equal([], figures.Where(one => !one.IsWithin));
    }

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 12)];

    /// <summary>Each of these changes makes the work another one, so the file no longer fits.</summary>
    [Theory]
    [MemberData(nameof(Changes))]
    public void A_deployment_that_has_changed_since_does_not_pass(string change, string subject, string figure)
    {
        CollectionSample[] all = Database(77);
        CollectionSample[] copy = Copy(all);
        Deviation[] wrong = [.. DataComparison.Of([.. all.Select(one => Changed(one, change))], copy, Names).Where(one => !one.IsWithin)];
        Assert.Contains(wrong, one => one.Subject == subject && one.What == figure);
        Assert.All(wrong, one => Assert.Equal(subject, one.Subject));
    }

    public static TheoryData<string, string, string> Changes => new()
    {
        { "an index is dropped", "visits", "index patient_1_at_-1" },
        { "an index is new", "visits", "index ward_1" },
        { "an index becomes partial", "visits", "index patient_1_at_-1 (partial {open: True})" },
        { "a partial index has all", "visits", "index at_1 (partial {open: True})" },
        { "an index becomes unique", "patients", "index ssn_1 (unique)" },
        { "an index becomes sparse", "patients", "index ssn_1 (sparse)" },
        { "numbers become texts", "visits", "patient: texts (%)" },
        { "a few numbers become texts", "visits", "patient: texts (%)" },
        { "a field goes", "patients", "kg: presence (%)" },
        { "a field comes", "patients", "height: presence (%)" },
        { "a field is often missing", "patients", "kg: presence (%)" },
        { "a range moves", "visits", "fee: below the deployment's median (%)" },
        { "few values move", "visits", "floor: values within the scenario's range (%)" },
        { "the hot key moves", "visits", "floor: below the most frequent value (%)" },
        { "values get fewer", "patients", "ssn: distinct values" },
        { "documents grow", "patients", "mean document (B)" },
        { "documents are removed", "patients", "documents" },
        { "a collection becomes capped", "patients", "option capped (1: yes)" },
    };

    /// <summary>Of few documents chance explains much, of many little.</summary>
    [Theory]
    [InlineData(40, 0.10, 0.20, true)]
    [InlineData(4000, 0.10, 0.20, false)]
    [InlineData(40, 0, 0.10, true)]
    [InlineData(4000, 0, 0.10, false)]
    [InlineData(4000, 0, 0.0005, true)]
    public void What_chance_explains_is_not_judged(int count, double there, double here, bool isWithin)
    {
        Deviation one = Deviation.OfShares("a", "b", (there, count), (here, count), 0.01);
        Assert.Equal(isWithin, one.IsWithin);
        Assert.Equal(isWithin && here - there > 0.01, one.IsByChance);
    }

    [Fact]
    public void Means_may_differ_by_what_chance_has_it()
    {
        Assert.True(Deviation.OfMeans("a", "b", (10, 10, 100), (14, 10, 100), 0.1).IsByChance);
        Assert.False(Deviation.OfMeans("a", "b", (10, 10, 10_000), (14, 10, 10_000), 0.1).IsWithin);
        Assert.True(Deviation.OfMeans("a", "b", (0, 0, 100), (0.05, 0, 100), 0.1).IsWithin);
        Assert.False(Deviation.OfMeans("a", "b", (0, 0, 100), (1, 0, 100), 0.1).IsWithin);
    }

    /// <summary>A clinic: many visits of few patients, a few of which are open, and collections of some documents.</summary>
    private static CollectionSample[] Database(int seed)
    {
        var random = new Random(seed);
        string Text(int length) => new([.. Enumerable.Range(0, length).Select(_ => (char)('a' + random.Next(26)))]);
        (string, object?)[] Maybe(double share, string name, Func<object> value) => random.NextDouble() < share ? [(name, value())] : [];
        CollectionSample patients = Of("patients", 1500, i =>
        [
            ("_id", i), ("ssn", $"{random.Next(1_000_000_000):000000000}"), ("sex", random.Next(2) == 0 ? "f" : "m"),
            ("kg", Math.Round(40 + (60 * random.NextDouble()), 1)), ("born", Start.AddDays(-random.Next(30_000))),
            .. Maybe(0.12, "allergies", () => Enumerable.Range(0, random.Next(1, 4)).Select(_ => (object)Text(1)).ToArray()),
            .. Maybe(0.02, "note", () => Text(random.Next(5, 60))),
        ], "{'key': {'ssn': 1}}");
        CollectionSample visits = Of("visits", 6000, i =>
        [
            ("_id", i), ("patient", random.Next(1500)), ("at", Start.AddMinutes((7 * i) + random.Next(5))), ("open", random.Next(100) == 0),
            ("fee", random.NextDouble() * 200), ("ward", $"{"abc"[random.Next(3)]}{random.Next(2)}"),
            ("floor", random.Next(10) < 4 ? 2 : random.Next(8)),
        ], "{'key': {'at': 1}, 'partialFilterExpression': {'open': true}}", "{'key': {'patient': 1, 'at': -1}}");
        IEnumerable<CollectionSample> few = Enumerable.Range(0, 12).Select(c => Of($"c{c}", new[] { 5, 20, 60, 300 }[c % 4], i =>
        [
            ("_id", i), ("k", random.Next(1, 20)), ("s", Text(random.Next(3, 8))), ("b", random.Next(3) == 0),
            .. Maybe(0.1, "opt", () => random.Next(1, 9)), ("when", Start.AddDays(random.Next(365))),
            ("sub", BsonDocument.Of(("a", random.Next(4)), ("x", random.NextDouble()))),
        ], "{'key': {'k': 1}}"));
        return [patients, visits, .. few];
    }

    private static CollectionSample Of(string name, int count, Func<int, (string, object?)[]> document, params string[] indexes) =>
        new(name, count, [.. Enumerable.Range(0, count).Select(i => BsonDocument.Of(document(i)))], AreInOrder: true)
        {
            Indexes = [.. indexes.Select(index => ExtendedJson.Parse(index.Replace('\'', '"')))],
        };

    private static CollectionSample Changed(CollectionSample one, string change)
    {
        BsonDocument Index(string text) => ExtendedJson.Parse(text.Replace('\'', '"'));
        CollectionSample With(Func<BsonDocument, int, (string, object?)[]> of) => one with
        {
            Documents = [.. one.Documents.Select((document, i) => BsonDocument.Of(of(document, i)))],
        };
        (string, object?)[] Fields(BsonDocument document, string but, params (string, object?)[] more) =>
            [.. document.Where(field => field.Key != but).Select(field => (field.Key, (object?)field.Value)), .. more];
        return (one.Name, change) switch
        {
            ("visits", "an index is dropped") => one with { Indexes = [one.Indexes[0]] },
            ("visits", "an index is new") => one with { Indexes = [.. one.Indexes, Index("{'key': {'ward': 1}}")] },
            ("visits", "an index becomes partial") => one with
            {
                Indexes = [one.Indexes[0], Index("{'key': {'patient': 1, 'at': -1}, 'partialFilterExpression': {'open': true}}")],
            },
            ("visits", "a partial index has all") => one with { Indexes = [Index("{'key': {'at': 1}}"), one.Indexes[1]] },
            ("patients", "a collection becomes capped") => one with { Options = Index("{'capped': true, 'size': 1000000}") },
            ("patients", "an index becomes unique") => one with { Indexes = [Index("{'key': {'ssn': 1}, 'unique': true}")] },
            ("patients", "an index becomes sparse") => one with { Indexes = [Index("{'key': {'ssn': 1}, 'sparse': true}")] },
            ("visits", "numbers become texts") => With((document, _) =>
                Fields(document, "patient", ("patient", $"{document.FindInt64("patient")}"))),
            ("visits", "a few numbers become texts") => With((document, i) => i % 6 != 0 ? Fields(document, "")
                : Fields(document, "patient", ("patient", $"{document.FindInt64("patient")}"))),
            ("patients", "a field goes") => With((document, _) => Fields(document, "kg")),
            ("patients", "a field comes") => With((document, i) => Fields(document, "", ("height", i))),
            ("patients", "a field is often missing") => With((document, i) => Fields(document, i % 2 == 0 ? "kg" : "")),
            ("visits", "a range moves") => With((document, i) => Fields(document, "fee", ("fee", (i * 7919 % 6000 / 30.0) + 100))),
            ("visits", "few values move") => With((document, _) =>
                Fields(document, "floor", ("floor", (int)document.FindInt64("floor")! + 500_000))),
            ("visits", "the hot key moves") => With((document, _) => Fields(document, "floor", ("floor",
                document.FindInt64("floor") is var floor && floor == 2 ? 6 : floor == 6 ? 2 : (int)floor!))),
            ("patients", "values get fewer") => With((document, i) => Fields(document, "ssn", ("ssn", $"{i % 400:000000000}"))),
            ("patients", "documents grow") => With((document, _) => Fields(document, "sex", ("sex", new string('m', 60)))),
            ("patients", "documents are removed") => one with { Count = 1200, Documents = [.. one.Documents.Take(1200)] },
            _ => one,
        };
    }

    private static CollectionSample[] Copy(CollectionSample[] all)
    {
        var database = new DatabaseSample("clinic", all, new SamplingCost(0, 0, 0, 0), "", "", []);
        string text = ScenarioText.Of(database, new DataWriter(database, Names, new HashSet<string>()), null);
        return [.. ScenarioTexts.Plan(text).Collections.Select(one => new CollectionSample(one.Name, one.Count,
            [.. Enumerable.Range(0, (int)one.Count).Select(i => one.Documents.Make(i))], AreInOrder: true) { Indexes = one.Indexes })];
    }
}

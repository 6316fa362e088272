using MongoPerf.Load.Documents;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Documents.Templates;

public sealed class TemplateTests
{
    private static readonly DocumentValue EveryKind = DocumentValue.Of(
        ("number", new SequenceValue(NumberKind.Int64, 5, 2)),
        ("int", new IntegerValue(NumberKind.Int32, 20, 1020, Salt.Of("int"))),
        ("double", new DoubleValue(0, 1, Salt.Of("double"))),
        ("flag", new BooleanValue(0.5, Salt.Of("flag"))),
        ("text", FillerValue.Text(new LengthRange(128, 128), Salt.Of("text"))),
        ("short", FillerValue.Text(new LengthRange(0, 9), Salt.Of("short"))),
        ("binary", FillerValue.Binary(new LengthRange(3000, 3000), Salt.Of("binary"))),
        ("uuid", FillerValue.Uuid(Salt.Of("uuid"))),
        ("word", new WordValue(100, Salt.Of("word"))),
        ("key", new NumberedTextValue("user", 1, isHashed: true)),
        ("tags", new ArrayValue(new LengthRange(2, 10), new WordValue(WordList.Count, Salt.Of("tags[]")), Salt.Of("tags"))),
        ("nested", DocumentValue.Of(("a", new IntegerValue(NumberKind.Int32, 0, 9, Salt.Of("a"))))));

    private static readonly DocumentValue FixedOnly = DocumentValue.Of(
        ("_id", new ObjectIdValue(42)),
        ("number", new SequenceValue(NumberKind.Int32, 0, 1)),
        ("nested", DocumentValue.Of(
            ("date", new SequenceValue(NumberKind.Date, 0, 1000)), ("text", FillerValue.Text(new LengthRange(10, 10), Salt.Of("t"))))));

    [Fact]
    public void Document_is_a_function_of_seed_and_number()
    {
        var template = new DocumentTemplate(EveryKind, 42, "c");
        Assert.Equal(template.Make(7).Bytes.ToArray(), new DocumentTemplate(EveryKind, 42, "c").Make(7).Bytes.ToArray());
        Assert.NotEqual(template.Make(7).Bytes.ToArray(), template.Make(8).Bytes.ToArray());
        Assert.NotEqual(
            template.Make(7).Find("int")!.Value.ToInt64(), new DocumentTemplate(EveryKind, 43, "c").Make(7).Find("int")!.Value.ToInt64());
    }

    /// <summary>Frozen: stored data depend on it.</summary>
    [Fact]
    public void First_document_never_changes() => Assert.Equal(
        "{\"_id\": {\"$oid\": \"4d7c6d0054014b0000000000\"}, \"word\": \"cles\", \"int\": 761, \"key\": \"user6284781860667377211\"}",
        ExtendedJson.Write(new DocumentTemplate(DocumentValue.Of(
            ("word", new WordValue(WordList.Count, Salt.Of("word"))),
            ("int", new IntegerValue(NumberKind.Int32, 20, 1020, Salt.Of("products.document.price"))),
            ("key", new NumberedTextValue("user", 1, isHashed: true))), 42, "products").Make(0).Bytes));

    [Fact]
    public void Field_that_is_added_leaves_the_others_as_they_are()
    {
        var more =
            new DocumentValue([.. EveryKind.Elements, KeyValuePair.Create("more", (TemplateValue)new BooleanValue(0.5, Salt.Of("more")))]);
        BsonDocument before = new DocumentTemplate(EveryKind, 42, "c").Make(3);
        BsonDocument after = new DocumentTemplate(more, 42, "c").Make(3);
        Assert.All(before, e => Assert.Equal(e.Value.Bytes.ToArray(), after.Find(e.Key)!.Value.Bytes.ToArray()));
    }

    [Fact]
    public void Values_stay_within_their_bounds_and_reach_them()
    {
        var template = new DocumentTemplate(EveryKind, 42, "c");
        BsonDocument[] documents = [.. Enumerable.Range(0, 20_000).Select(i => template.Make(i))];
        long[] ints = [.. documents.Select(d => d.FindInt64("int")!.Value)];
        Assert.Equal((20, 1020), (ints.Min(), ints.Max()));
        int[] lengths = [.. documents.Select(d => d.FindDocument("tags")!.Count())];
        Assert.Equal((2, 10), (lengths.Min(), lengths.Max()));
        Assert.Equal(100, documents.Select(d => d.FindString("word")).Distinct().Count());
        Assert.InRange(documents.Count(d => d.IsTrue("flag")), 9_700, 10_300);
        Assert.All(
            documents.Take(100), d => Assert.All(d.FindDocument("tags")!, t => Assert.False(string.IsNullOrEmpty(t.Value.ToString()))));
    }

    [Fact]
    public void Every_document_is_valid_bson()
    {
        var template = new DocumentTemplate(EveryKind, 1, "c");
        for (int i = 0; i < 1000; i++)
            BsonValidator.Validate(template.Make(i).Bytes);
    }

    [Fact]
    public void Patched_document_is_the_same_as_one_written_anew()
    {
        var template = new DocumentTemplate(FixedOnly, 42, "c");
        byte[] document = template.Make(0).Bytes.ToArray();
        PatchPlan plan = PatchPlan.TryMake(template.Root, document)!;
        for (int i = 1; i < 1000; i++)
        {
            plan.Apply(document, template.ContextOf(i));
            Assert.Equal(template.Make(i).Bytes.ToArray(), document);
        }
    }

    [Fact]
    public void Document_with_varying_lengths_is_not_patched() =>
        Assert.Null(PatchPlan.TryMake(EveryKind, EveryKind.ToDocument(new ValueContext(0, 0)).Bytes));

    [Fact]
    public void Writing_allocates_nothing()
    {
        var template = new DocumentTemplate(EveryKind, 42, "c");
        var writer = new BsonWriter(1 << 16);
        long number = 0;
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                writer.Clear();
                template.Write(writer, number++);
            }
        }));
    }

    [Fact]
    public void Words_are_as_many_as_the_report_had_and_all_different()
    {
        Assert.Equal(WordList.Count, WordList.Words.Length);
        Assert.Equal(WordList.Count, WordList.Words.Select(Convert.ToHexString).Distinct().Count());
    }

    [Fact]
    public void Reference_recomputes_the_field_of_the_document()
    {
        var template = new DocumentTemplate(EveryKind, 42, "c");
        DocumentValue filter = DocumentValue.Of(
            ("int", ReferenceValue.Of(template, template.Find("int")!)),
            ("tag", ReferenceValue.Of(template, template.Find("tags.0")!)),
            ("a", ReferenceValue.Of(template, template.Find("nested.a")!)));
        BsonDocument document = template.Make(123);
        BsonDocument made = filter.ToDocument(new ValueContext(123, 5));
        Assert.Equal(document.FindInt64("int"), made.FindInt64("int"));
        Assert.Equal(document.FindString("tags.0"), made.FindString("tag"));
        Assert.Equal(document.FindInt64("nested.a"), made.FindInt64("a"));
        Assert.Null(template.Find("tags.2"));
    }

    [Theory]
    [InlineData(new[] { 1.0, 0, 3 }, new[] { 25_000, 0, 75_000 })]
    [InlineData(new[] { 95.0, 5 }, new[] { 95_000, 5_000 })]
    public void Choice_follows_its_weights(double[] weights, int[] expected)
    {
        double[] ends = WeightedChoice.Ends(weights);
        var random = new MongoPerf.Measurement.RandomStream(7);
        int[] counts = new int[weights.Length];
        for (int i = 0; i < 100_000; i++)
            counts[WeightedChoice.Pick(ends, random.Next())]++;
        // Chi-square with at most 2 degrees of freedom: 13.8 is exceeded once in a thousand; seed 7 is fixed.
        double chi = counts.Zip(expected).Where(p => p.Second > 0).Sum(p => Math.Pow(p.First - p.Second, 2) / p.Second);
        Assert.InRange(chi, 0, 13.8);
        Assert.All(counts.Zip(expected).Where(p => p.Second == 0), p => Assert.Equal(0, p.First));
    }
}

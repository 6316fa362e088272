using MongoPerf.Load.Collections;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Collections;

/// <summary>Values are taken out of sampled documents as a filter on the field would find them.</summary>
public sealed class FieldSampleTests
{
    [Theory]
    [InlineData("sku", "1")]
    [InlineData("tags", "2 3")]
    [InlineData("items.price", "4 5")]
    [InlineData("items.1.price", "5")]
    [InlineData("nested.deep", "6")]
    [InlineData("missing", "")]
    [InlineData("sku.x", "")]
    public void A_path_leads_through_documents_and_arrays(string path, string expected) =>
        Assert.Equal(expected, string.Join(' ', Sample(path, ExtendedJson.Parse("""
            {"sku": 1, "tags": [2, 3], "items": [{"price": 4}, {"price": 5}], "nested": {"deep": 6}}
            """))));

    /// <summary>In a filter such a value would be carried out, and not compared.</summary>
    [Theory]
    [InlineData("""{"a": {"$where": "sleep(100)"}}""")]
    [InlineData("""{"a": [{"$gt": 5}]}""")]
    [InlineData("""{"a": {"$regularExpression": {"pattern": "(a+)+", "options": ""}}}""")]
    public void What_a_filter_would_carry_out_is_left_out(string json)
    {
        var sample = new FieldSample(["a"]);
        sample.Add(ExtendedJson.Parse(json));
        Assert.Empty(sample.Values[0]);
    }

    [Fact]
    public void Only_the_fields_are_asked_for_and_none_within_another()
    {
        BsonDocument command = new FieldSample(["a.b", "a", "items.0.x", "c"]).CommandOn("products", 7);
        Assert.Equal("a items c", string.Join(' ', command.FindDocument("pipeline.1.$project")!.Select(field => field.Key)));
        Assert.Equal(7, command.FindInt64("pipeline.0.$sample.size"));
        Assert.Equal(FieldSample.MostMilliseconds, command.FindInt64("maxTimeMS"));
        // No server takes an aggregate without it.
        Assert.Empty(command.FindDocument("cursor")!);
    }

    /// <summary>Found by a review: null has no bytes, and a server could send any number of them.</summary>
    [Fact]
    public void A_sample_of_values_without_bytes_has_an_end_too()
    {
        var sample = new FieldSample(["a"]);
        var nulls = BsonDocument.Of(("a", new object?[100_000]));
        int added = 1;
        while (sample.Add(nulls) && added < 100)
            added++;
        Assert.InRange(added, 2, 50);
        int count = sample.Values[0].Count;
        Assert.False(sample.Add(nulls));
        Assert.Equal(count, sample.Values[0].Count);
    }

    private static IEnumerable<long> Sample(string path, BsonDocument document)
    {
        var sample = new FieldSample([path]);
        Assert.True(sample.Add(document));
        return sample.Values[0].Select(value => new BsonValue(value.Type, value.Bytes).ToInt64());
    }
}

using MongoPerf.Load.Documents;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Documents.Templates;

/// <summary>Groups of documents of drawn sizes, as the news of a category.</summary>
public sealed class NumberGroupsTests
{
    private const int Groups = 20_000;

    [Theory]
    [InlineData(10, 100, 1)]
    [InlineData(10, 100, 42)]
    [InlineData(1, 2, 7)]
    [InlineData(5, 5, 3)]
    [InlineData(1, 1000, ulong.MaxValue)]
    public void Groups_follow_each_other_without_a_gap_and_their_mean_is_exact(long least, long most, ulong seed)
    {
        long[] sizes = SizesOf(new NumberGroups(least, most, seed), (least + most) * Groups / 2);
        Assert.Equal(Groups, sizes.Length);
        Assert.All(sizes, size => Assert.InRange(size, least, most));
        Assert.All(sizes.Chunk(2), pair => Assert.Equal(least + most, pair.Sum()));
    }

    [Fact]
    public void Every_size_is_as_likely_as_any_other()
    {
        // Of a pair the second is what the first leaves: only the first are independent of each other.
        long[] first = [.. SizesOf(new NumberGroups(10, 100, 42), 110 * Groups).Where((_, i) => i % 2 == 0)];
        Assert.Equal((10, 100), (first.Min(), first.Max()));
        ChiSquare.AssertAgrees(
            [.. Enumerable.Repeat(1.0 / 91, 91)], [.. Enumerable.Range(10, 91).Select(size => first.LongCount(f => f == size))]);
    }

    [Fact]
    public void Another_seed_draws_other_sizes_and_far_numbers_cost_no_more()
    {
        Assert.NotEqual(SizesOf(new NumberGroups(10, 100, 1), 11_000), SizesOf(new NumberGroups(10, 100, 2), 11_000));
        Assert.InRange(new NumberGroups(10, 100, 1).Of(1_000_000_000_000_000), 2 * (1_000_000_000_000_000 / 110),
            (2 * (1_000_000_000_000_000 / 110)) + 1);
    }

    [Fact]
    public void A_query_for_a_group_asks_for_the_one_of_the_document_that_was_drawn()
    {
        DocumentTemplate news = ScenarioTexts.Plan(
            "data: {news: {count: 1, document: {category: {^number: {every: [10, 100], start: 5, step: 2}}}}}\n"
            + "phases: [{load: news}]\n").Rounds[0].Collections.Single().Documents;
        TemplateValue asked = ReferenceValue.Of(news, news.Find("category")!);
        for (long number = 0; number < 2000; number++)
        {
            BsonDocument filter = DocumentValue.Of(("category", asked)).ToDocument(new ValueContext(number, 99));
            Assert.Equal(news.Make(number).FindInt64("category"), filter.FindInt64("category"));
        }

        Assert.Equal(5 + (2 * 39), news.Make(2199).FindInt64("category"));
    }

    private static long[] SizesOf(NumberGroups groups, long numbers)
    {
        var sizes = new List<long>();
        for (long number = 0; number < numbers; number++)
        {
            long group = groups.Of(number);
            Assert.InRange(group, sizes.Count - 1, sizes.Count);
            if (group == sizes.Count)
                sizes.Add(0);
            sizes[^1]++;
        }

        return [.. sizes];
    }
}

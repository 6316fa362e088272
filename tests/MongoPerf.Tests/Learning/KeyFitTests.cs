using MongoPerf.Learning.Observing;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>From the keys of requests follows how they were drawn, whatever the keys are.</summary>
public sealed class KeyFitTests
{
    private const int Draws = 20_000;
    private const int Keys = 10_000;

    [Theory]
    [InlineData(0.5, false, 1)]
    [InlineData(0.8, false, 2)]
    [InlineData(0.99, false, 3)]
    [InlineData(0.8, true, 4)]
    [InlineData(0.99, true, 5)]
    public void Theta_is_found_again(double theta, bool isScrambled, int seed)
    {
        var keys = new KeySpace(Keys);
        KeyDistribution found = Learn(isScrambled ? new ScrambledZipfianKeys(keys, Keys, theta) : new ZipfianKeys(keys, theta), seed,
            Number);
        Assert.Equal((KeyDistributionKind.Zipfian, isScrambled), (found.Kind, found.IsScrambled));
        Assert.InRange(found.Theta, theta - 0.05, theta + 0.05);
    }

    [Theory]
    [InlineData(0.8)]
    [InlineData(0.99)]
    public void Without_the_collection_s_size_theta_is_found_less_exactly(double theta)
    {
        KeyDistribution found = Learn(new ZipfianKeys(new KeySpace(Keys), theta), 6, Number, isKnown: false);
        Assert.Equal((KeyDistributionKind.Zipfian, false), (found.Kind, found.IsScrambled));
        Assert.InRange(found.Theta, theta - 0.1, theta + 0.1);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_uniform_choice_is_not_taken_for_a_skewed_one(bool isKnown) =>
        Assert.Equal(KeyDistributionKind.Uniform, Learn(new UniformKeys(new KeySpace(Keys)), 7, Number, isKnown).Kind);

    /// <summary>Rooms of a chat are asked for as often as they have messages: any message will do, and none is more popular.</summary>
    [Fact]
    public void What_comes_as_often_as_documents_have_it_is_no_skew_of_documents()
    {
        double[] weights = [.. Enumerable.Range(1, 50).Select(rank => 1.0 / rank)];
        double[] shares = [.. weights.Select(weight => weight / weights.Sum())];
        double[] ends = WeightedChoice.Ends(weights);
        var random = new RandomStream(10);
        var counts = new long[shares.Length];
        for (int i = 0; i < 2000; i++)
            counts[WeightedChoice.Pick(ends, random.Next())]++;
        Dictionary<long, long> frequencies = counts.Where(count => count > 0).CountBy(count => count)
            .ToDictionary(one => one.Key, one => (long)one.Value);
        var population = new FieldPopulation(6000, shares.Length);
        Assert.Equal(KeyDistributionKind.Zipfian, KeyFit.Of(frequencies, population).Kind);
        Assert.Equal(KeyDistributionKind.Uniform, KeyFit.Of(frequencies, population with { Shares = shares }).Kind);
        // More uneven than the documents are.
        double[] even = [.. shares.Select(_ => 1.0 / shares.Length)];
        Assert.Equal(KeyDistributionKind.Zipfian, KeyFit.Of(frequencies, population with { Shares = even }).Kind);
    }

    [Theory]
    [InlineData(0.8, 8)]
    [InlineData(0.99, 9)]
    public void The_newest_are_the_most_popular_while_more_come(double theta, int seed)
    {
        var keys = new KeySpace(Keys);
        KeyDistribution found = Learn(new LatestKeys(keys, theta), seed, Number, each: () =>
        {
            long key = keys.Take();
            keys.Acknowledge(key, 1);
        });
        Assert.Equal(KeyDistributionKind.Latest, found.Kind);
        Assert.InRange(found.Theta, theta - 0.05, theta + 0.05);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void Keys_of_any_kind_tell_which_are_the_newest(int kind)
    {
        Func<long, BsonDocument> make = kind switch
        {
            0 => key => BsonDocument.Of(("v", $"user{key:0000000000}")),
            1 => key => BsonDocument.Of(("v", new ObjectId((uint)(1_700_000_000 + (key / 100)), 0xABCDEF0000000000 | (ulong)key))),
            _ => key => BsonDocument.Of(("v", new DateTime(2024, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddSeconds(key))),
        };
        Assert.Equal(KeyDistributionKind.Latest, Learn(new LatestKeys(new KeySpace(Keys), 0.9), 10, make).Kind);
    }

    /// <summary>As YCSB's keys are: hashes, of which the order of insertion can't be told.</summary>
    [Theory]
    [InlineData(0.6, 11)]
    [InlineData(0.99, 12)]
    public void Keys_without_an_order_are_the_newest_if_they_were_seen_to_come(double theta, int seed)
    {
        const int Known = 100_000;
        var keys = new KeySpace(Known);
        var order = new InsertionOrder();
        KeyDistribution found = Learn(new LatestKeys(keys, theta), seed, Hashed, each: () =>
        {
            long key = keys.Take();
            keys.Acknowledge(key, 1);
            order.Add(ValueTally.HashOf(Hashed(key).First().Value));
        }, order: order, population: Known + (Draws / 20));
        Assert.Equal(KeyDistributionKind.Latest, found.Kind);
        Assert.InRange(found.Theta, theta - 0.05, theta + 0.05);
        // What comes meanwhile says nothing of a choice that has nothing to do with it.
        keys = new KeySpace(Known);
        order = new InsertionOrder();
        Assert.Equal(KeyDistributionKind.Zipfian, Learn(new ZipfianKeys(keys, theta), seed, Hashed,
            each: () => order.Add(ValueTally.HashOf(Hashed(Known + order.Count).First().Value)), order: order, population: Known).Kind);
    }

    [Theory]
    [InlineData(40)]
    [InlineData(70)]
    public void Operations_that_came_rarely_draw_keys_as_the_others_do(int rare)
    {
        var keys = new ScrambledZipfianKeys(new KeySpace(Keys), Keys, 0.99);
        var random = RandomStream.For(13, RandomPurpose.Arguments, 0);
        List<ObservedOperation> operations = [.. ListSource.Of(5000, _ => $"{{'find': 'orders', 'filter': {{'_id': {Next()}}}}}"
            .Replace('\'', '"'))];
        operations.AddRange(ListSource.Of(rare, _ => $"{{'count': 'orders', 'query': {{'_id': {Next()}}}}}".Replace('\'', '"')));
        var source = new ListSource(operations);
        OperationMix mix = MixBuilder.Of(source).Finish(source, "shop", (_, _) => new FieldPopulation(Keys, Keys));
        KeyDistribution[] found = [.. mix.Operations.Select(one => ((ValueShape)one.Filter!.Fields.Single().Value).Seen.Keys)];
        Assert.Equal((KeyDistributionKind.Zipfian, true), (found[0].Kind, found[0].IsScrambled));
        Assert.Equal((KeyDistributionKind.Zipfian, true), (found[1].Kind, found[1].IsScrambled));
        Assert.InRange(found[1].Theta, 0.94, 1);

        long Next() => keys.Next(ref random);
    }

    [Fact]
    public void Operations_that_draw_keys_in_another_way_keep_it()
    {
        var keys = new ZipfianKeys(new KeySpace(Keys), 0.99);
        var random = RandomStream.For(14, RandomPurpose.Arguments, 0);
        List<ObservedOperation> operations = [.. ListSource.Of(5000, _ => $"{{\"find\": \"orders\", \"filter\": {{\"_id\": {Next()}}}}}")];
        operations.AddRange(ListSource.Of(1000, _ => $"{{\"count\": \"orders\", \"query\": {{\"_id\": {random.Next(Keys)}}}}}"));
        var source = new ListSource(operations);
        OperationMix mix = MixBuilder.Of(source).Finish(source, "shop", (_, _) => new FieldPopulation(Keys, Keys));
        Assert.Equal([KeyDistributionKind.Zipfian, KeyDistributionKind.Uniform],
            mix.Operations.Select(one => ((ValueShape)one.Filter!.Fields.Single().Value).Seen.Keys.Kind));

        long Next() => keys.Next(ref random);
    }

    [Fact]
    public void Few_requests_tell_nothing()
    {
        var tally = new ValueTally();
        for (int i = 0; i < 40; i++)
            tally.Add(Number(i).First().Value);
        Assert.Equal(KeyDistributionKind.Unknown, tally.ToValues(default).Keys.Kind);
    }

    [Fact]
    public void Bounds_are_rounded_so_that_no_value_is_told()
    {
        var tally = new ValueTally();
        foreach (int value in (int[])[48_211, 73_459, 61_000])
            tally.Add(Number(value).First().Value);
        Assert.Equal((48_000, 74_000), tally.ToValues(default).Range);
    }

    private static BsonDocument Number(long key) => BsonDocument.Of(("v", key));

    private static BsonDocument Hashed(long key) => BsonDocument.Of(("v", $"user{Mixing.Mix((ulong)key):00000000000000000000}"));

    private static KeyDistribution Learn(KeyChooser chooser, int seed, Func<long, BsonDocument> make, bool isKnown = true,
        Action? each = null, InsertionOrder? order = null, int population = Keys)
    {
        var random = RandomStream.For((ulong)seed, RandomPurpose.Arguments, 0);
        var tally = new ValueTally(order);
        for (int i = 0; i < Draws; i++)
        {
            if (i % 20 == 0)
                each?.Invoke();
            tally.Add(make(chooser.Next(ref random)).First().Value);
        }

        return tally.ToValues(new KnownField(isKnown ? new FieldPopulation(population, population) : null, default)).Keys;
    }
}

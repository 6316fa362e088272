using MongoPerf.Learning.Observing;
using MongoPerf.Measurement;

namespace MongoPerf.Tests.Learning;

/// <summary>Operations are divided where others come than before, and nowhere else.</summary>
public sealed class MixChangesTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void One_mix_stays_in_one_piece(ulong seed) =>
        Assert.Equal([[0..20_000]], Divide(new Made(seed).Add(20_000, 0.001, 60, 30, 9, 1)));

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_mix_that_changes_little_stays_in_one_piece(ulong seed) =>
        Assert.Single(Divide(new Made(seed).Add(10_000, 0.001, 60, 40).Add(10_000, 0.001, 80, 20)));

    [Theory]
    [InlineData(0.001, 1000)]
    [InlineData(0.5, 150)]
    [InlineData(0.00001, 20_000)]
    [InlineData(0.00001, 2000)]
    public void A_load_is_told_from_the_queries_after_it(double apart, int count) =>
        Assert.Equal([[0..count], [count..(count + 20_000)]], Divide(new Made(1).Add(count, apart, 1).Add(20_000, 0.001, 0, 1)));

    /// <summary>Batches that take their time, such as a load of large ones before many small queries.</summary>
    [Fact]
    public void A_few_slow_operations_are_a_piece_of_their_own() =>
        Assert.Equal([[0..12], [12..20_012]], Divide(new Made(1).Add(12, 1, 1).Add(20_000, 0.002, 0, 1)));

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Mixes_that_have_operations_in_common_are_divided_near_where_they_change(ulong seed)
    {
        IReadOnlyList<IReadOnlyList<Range>> divided = Divide(new Made(seed).Add(8000, 0.001, 90, 10).Add(5000, 0.001, 10, 60, 30));
        Assert.Equal(2, divided.Count);
        Assert.InRange(divided[1].Single().Start.Value, 7980, 8020);
    }

    /// <summary>What a client does in turns, each for a moment, works on a server as a mix does.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(5)]
    [InlineData(30)]
    public void Turns_of_a_moment_are_one_mix(int length)
    {
        var made = new Made(1);
        for (int i = 0; i < 3000 / length; i++)
            made.Add(length, 0.001, 1).Add(length, 0.001, 0, 1);
        Assert.Single(Divide(made));
    }

    [Fact]
    public void A_change_for_less_than_a_tenth_of_a_second_is_none() =>
        Assert.Single(Divide(new Made(1).Add(10_000, 0.0002, 1).Add(300, 0.0002, 0, 1).Add(10_000, 0.0002, 1)));

    [Fact]
    public void Few_changes_stay_in_their_order()
    {
        var made = new Made(1);
        for (int i = 0; i < MixChanges.MostMixes / 2; i++)
            made.Add(500, 0.001, 1).Add(700, 0.001, 0, 1);
        IReadOnlyList<IReadOnlyList<Range>> divided = Divide(made);
        Assert.Equal(MixChanges.MostMixes, divided.Count);
        Assert.Equal(Enumerable.Range(0, MixChanges.MostMixes).Select(i => (i / 2 * 1200) + (i % 2 * 500)),
            divided.Select(mix => mix.Single().Start.Value));
    }

    [Fact]
    public void Mixes_that_come_back_often_are_one_each()
    {
        var made = new Made(1);
        for (int i = 0; i < 20; i++)
            made.Add(500, 0.001, 1).Add(700, 0.001, 0, 1).Add(300, 0.001, 0, 0, 50, 50);
        IReadOnlyList<IReadOnlyList<Range>> divided = Divide(made);
        Assert.Equal([20, 20, 20], divided.Select(mix => mix.Count));
        Assert.Equal([10_000, 14_000, 6000], divided.Select(mix => mix.Sum(LengthOf)));
    }

    [Fact]
    public void More_mixes_than_anybody_reads_are_one()
    {
        var made = new Made(1);
        for (int i = 0; i <= MixChanges.MostMixes; i++)
            made.Add(500, 0.001, [.. Enumerable.Repeat(0, i), 1]);
        Assert.Equal([[Range.All]], Divide(made));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Each_operation_is_in_one_mix(ulong seed)
    {
        var random = new RandomStream(seed);
        var made = new Made(seed);
        for (int part = 0; part < 60; part++)
        {
            int[] weights = [.. Enumerable.Range(0, 6).Select(_ => Math.Max(0, random.Next(40) - 20)), 1];
            made.Add(1 + random.Next(3000), random.NextDouble() * 0.01, weights);
        }

        int[] seen = new int[made.Arrivals.Count];
        foreach (Range range in Divide(made).SelectMany(mix => mix))
        {
            (int first, int length) = range.GetOffsetAndLength(seen.Length);
            Assert.True(length > 0);
            for (int i = first; i < first + length; i++)
                seen[i]++;
        }

        Assert.All(seen, times => Assert.Equal(1, times));
    }

    [Fact]
    public void Nothing_is_divided_into_nothing() => Assert.Empty(MixChanges.In([]));

    private static IReadOnlyList<IReadOnlyList<Range>> Divide(Made made) => MixChanges.In(made.Arrivals);

    private static int LengthOf(Range range) => range.End.Value - range.Start.Value;

    /// <summary>Operations with shapes at random by weights, a stretch after the other.</summary>
    private sealed class Made(ulong seed)
    {
        private RandomStream _random = new(seed);
        private double _now;

        public List<Arrival> Arrivals { get; } = [];

        public Made Add(int count, double apart, params int[] weights)
        {
            for (int i = 0; i < count; i++, _now += apart)
            {
                int left = _random.Next(weights.Sum());
                int shape = 0;
                while (left >= weights[shape])
                    left -= weights[shape++];
                Arrivals.Add(new Arrival(_now, (float)(apart * 0.9e6), float.NaN, float.NaN, 1, -1, shape));
            }

            return this;
        }
    }
}

using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Scenarios;

/// <summary>How a file says in what ranges a collection lies on shards.</summary>
public sealed class ZoneReaderTests
{
    private const string Series = "options: {timeseries: {timeField: at}}";

    [Fact]
    public void Zones_are_read_in_the_order_of_their_bounds()
    {
        PlanCollection collection = Read("shardKey: {c: 1, _id: 1}, zones: [{shard: 2, from: {c: 5}}, {shard: 1, to: {c: 5}}]");
        Assert.Equal([1, 2], collection.Zones.Select(zone => zone.Shard));
        Assert.Null(collection.Zones[0].From);
        Assert.Equal("5", collection.Zones[1].From!.First().Value.ToString());
        Assert.Equal(8, Read("shardKey: {_id: hashed}, presplit: 8").Presplit);
    }

    [Theory]
    [InlineData("^int: [0, 999]", 250)]
    [InlineData("^number: {start: 5}", 250)]
    // Equal values stay together: 600 and 400 documents, by chance somewhat more or fewer.
    [InlineData("^choice: {of: [1, 2], weights: [6, 4]}", 600)]
    public void Shares_are_cut_where_so_many_documents_lie_below(string generator, int below)
    {
        PlanCollection collection = Of($"{{count: 1000, document: {{c: {{{generator}}}}}, shardKey: {{c: 1, _id: 1}}, "
            + $"zones: [{{shard: 1, to: {(below / 10) - 3}%}}, {{shard: 2, from: {(below / 10) - 3}%, to: 99.9%}}]}}");
        Assert.Equal([1, 2], collection.Zones.Select(zone => zone.Shard));
        Assert.Equal(collection.Zones[0].To!.FindInt64("c"), collection.Zones[1].From!.FindInt64("c"));
        long cut = collection.Zones[0].To!.FindInt64("c")!.Value;
        Assert.InRange(Enumerable.Range(0, 1000).Count(i => collection.Documents.Make(i).FindInt64("c") < cut), below - 45, below + 45);
    }

    [Fact]
    public void Fields_that_some_documents_lack_are_cut_as_they_lie()
    {
        // Null is below all numbers and texts.
        PlanCollection collection = Of("{count: 1000, document: {c: {^optional: {share: 0.5, of: {^choice: {of: [7, x]}}}}}, "
            + "shardKey: {c: 1}, zones: [{shard: 1, to: 45%}, {shard: 2, from: 45%, to: 70%}, {shard: 3, from: 70%}]}");
        Assert.Equal([(1, "", "7"), (2, "7", "x"), (3, "x", "")], collection.Zones.Select(zone =>
            (zone.Shard, $"{zone.From?.First().Value}", $"{zone.To?.First().Value}")));
    }

    /// <summary>Otherwise this would make 800 GB of them.</summary>
    [Fact]
    public void Documents_are_looked_at_once_and_only_at_their_key()
    {
        IEnumerable<string> ranges = Enumerable.Range(20, 1000).Select(i => $"{{shard: 1, from: {i / 20m}%, to: {(i + 1) / 20m}%}}");
        Assert.InRange(Of($"{{count: 1M, document: {{c: ^number, text: {{^string: 100000}}}}, shardKey: {{c: 1}}, "
            + $"zones: [{string.Join(", ", ranges)}]}}").Zones.Count, 900, 1000);
    }

    [Theory]
    [InlineData("{shard: 1, to: 40%}, {shard: 2, from: 40%}", 2)]
    [InlineData("{shard: 1, to: 60%}, {shard: 2, from: 60%}", 1)]
    [InlineData("{shard: 1, from: 20%, to: 60%}, {shard: 2, from: 60%, to: 60.5%}", 1)]
    public void Of_documents_with_one_value_all_lie_on_one_side_and_ranges_without_any_are_left_out(string zones, int shard)
    {
        ZoneRange all = Assert.Single(Read($"shardKey: {{c: 1}}, zones: [{zones}]").Zones);
        Assert.Equal((shard, null, null), (all.Shard, all.From, all.To));
    }

    [Theory]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, to: 0%}]", "zone 1: to is '0%'; expected values of the shardKey, or a share")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, from: 100%}]", "zone 1: from is '100%'; expected")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, from: 1e1%}]", "zone 1: from is '1e1%'; expected")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, from: NaN%}]", "zone 1: from is 'NaN%'; expected")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, from: 5}]", "zone 1: from is '5'; expected")]
    [InlineData("shardKey: {_id: 1}, zones: [{shard: 1, from: 60%, to: 40%}]", "zone 1 is empty: it ends at 40%, where it begins or")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, from: 60%, to: 40%}]", "zone 1 is empty: it ends at 40%, where it begins or")]
    [InlineData("zones: [{shard: 1}]", "collection 'a': zones needs a shardKey, whose values it cuts")]
    [InlineData("presplit: 4", "collection 'a': presplit needs a shardKey")]
    [InlineData("shardKey: {c: 1}, presplit: 4, zones: [{shard: 1}]", "has both presplit and zones; its zones cut it already")]
    [InlineData("shardKey: {c: 1}, presplit: 9000", "presplit is 9,000; al")]
    [InlineData(
        "shardKey: {c: 1, _id: hashed}, presplit: 4", "presplit can't cut {c: 1, _id: hashed}, whose hashed field is not its first")]
    [InlineData(
        "shardKey: {_id: hashed}, zones: [{shard: 1}]", "zones are ranges of values, but {_id: hashed} orders documents by a hash")]
    [InlineData("shardKey: {c: 1}, zones: []", "zones has 0 ranges; allowed: 1 to 1000")]
    [InlineData("shardKey: {c: 1}, zones: [{from: {c: 1}}]", "collection 'a': zone 1: 'shard' is missing")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, form: {c: 1}}]", "zone 1: unknown key 'form'; allowed: shard, from, to")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, from: {n: 1}}]", "zone 1: from has n; expected the first fields of the shardKey")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, from: {c: 5}, to: {c: 5}}]", "zone 1 is empty: it ends at {c: 5}, where it begins")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, from: {c: 5}}, {shard: 2, to: {c: 6}}]", "zone 1 begins before zone 2 ends")]
    [InlineData("shardKey: {c: 1}, zones: [{shard: 1, to: {c: 6}}, {shard: 2, to: {c: 6}}]", "zone 2 begins before zone 1 ends")]
    [InlineData(Series + ", shardKey: {at: 1}, presplit: 4", "presplit can't cut a time series by {at: 1}: what lies in chunks are its")]
    [InlineData(Series + ", shardKey: {at: 1}, zones: [{shard: 1}]", "collection 'a': zones can't cut a time series by {at: 1}")]
    public void What_can_not_be_is_told(string keys, string says) =>
        Assert.Contains(says, Assert.Throws<UserException>(() => Read(keys)).Message, StringComparison.Ordinal);

    [Fact]
    public void The_hint_of_a_wrong_bound_names_the_files_own_key() => Assert.Equal("such as {c: …} or 40%",
        Assert.Throws<UserException>(() => Read("shardKey: {c: 1}, zones: [{shard: 1, from: 5}]")).Hint);

    [Fact]
    public void A_share_of_a_collection_without_a_count_is_told() => Assert.Contains(
        "zone 1: to is a share of the documents, but the collection has no count", Assert.Throws<UserException>(() => Of(
            "{document: {c: 1}, shardKey: {c: 1}, zones: [{shard: 1, to: 40%}]}")).Message, StringComparison.Ordinal);

    private static PlanCollection Read(string keys) =>
        Of($"{{count: 5, document: {{c: 1, at: {{^date: {{start: 2026-01-01, step: 1s}}}}}}, {keys}}}");

    private static PlanCollection Of(string collection) =>
        ScenarioTexts.Plan($"data:\n  a: {collection}\nphases: [{{load: a}}]\n").Collections.Single();
}

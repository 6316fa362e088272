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

    private static PlanCollection Read(string keys) => ScenarioTexts.Plan(
        $"data:\n  a: {{count: 5, document: {{c: 1, at: {{^date: {{start: 2026-01-01, step: 1s}}}}}}, {keys}}}\n"
        + "phases: [{load: a}]\n").Collections.Single();
}

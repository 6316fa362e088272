using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Scenarios;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Collections of every kind: what their options and indexes may say.</summary>
public sealed class CollectionOptionsTests
{
    [Theory]
    [InlineData("{viewOn: users}", "viewOn makes a view, which holds no documents of its own", "query it with aggregate")]
    [InlineData("{caped: true}", "caped is not an option of create", "did you mean 'capped'?")]
    [InlineData("{capped: true}", "capped needs a size in bytes", "{capped: true, size: 100000000}")]
    [InlineData("{size: 1000}", "size is for capped collections", "add capped: true")]
    [InlineData("{timeseries: {metaField: n}}", "timeseries needs a timeField", "the field that has the time")]
    [InlineData("{timeseries: {timeField: n}}", "timeField is 'n', which is no date in the documents", "n: {^date:")]
    [InlineData("{timeseries: {timeField: at, granularity: days}}", "granularity is 'days'; allowed: seconds, minutes, hours", "")]
    [InlineData("{timeseries: {timeField: at, timefield: at}}", "timeseries has no key timefield", "did you mean 'timeField'?")]
    [InlineData("{timeseries: {timeField: at, bucketMaxSpanSeconds: 60}}", "bucketMaxSpanSeconds and bucketRoundingSeconds", "MongoDB 6.3")]
    [InlineData("{clusteredIndex: {key: {n: 1}, unique: true}}", "clusteredIndex is not a unique key of _id", "{key: {_id: 1}")]
    [InlineData("{expireAfterSeconds: 60}", "expireAfterSeconds is for time series and clustered collections", "indexes: [{key:")]
    [InlineData("{validationLevel: hard}", "validationLevel is 'hard'; allowed: strict, moderate, off", "")]
    [InlineData("{collation: {strength: 2}}", "collation has no locale", "{locale: en, strength: 2}")]
    public void Options_that_cannot_be_get_one_line(string options, string message, string hint) =>
        AssertRefused($"options: {options}", $"collection 'c': options: {message}", hint);

    [Theory]
    [InlineData("options: {capped: true, size: 9}", "shardKey: {n: 1}", ": it is capped", "remove shardKey")]
    [InlineData("options: {capped: true, size: 9}", "shard: 1", ": it is capped", "remove shard, and run it on one server")]
    [InlineData("options: {collation: {locale: en}}", "shard: 1", " by {_id: 1}: it has a collation", "such as {_id: hashed}")]
    public void What_shards_cannot_have_is_kept_off_them(string options, string sharded, string why, string hint)
    {
        string message = $"collection 'c' can't be sharded{why}";
        AssertRefused($"{options}, {sharded}", message, hint);
        Assert.Contains(message, Assert.Throws<UserException>(() =>
            ShardLimits.Require(ScenarioTexts.Plan(Text(options)).Rounds, ShardKey.Parse("_id"))).Message, StringComparison.Ordinal);
    }

    /// <summary>MongoDB's manual, "Shard a Time Series Collection".</summary>
    [Theory]
    [InlineData("timeField: at, metaField: n", "shardKey: {_id: hashed}", "give it a shardKey such as {n: hashed}")]
    [InlineData("timeField: at, metaField: n", "shardKey: {at: hashed}", "such as {n: hashed}")]
    [InlineData("timeField: at, metaField: n", "shardKey: {at: 1, n: 1}", "such as {n: hashed}")]
    [InlineData("timeField: at, metaField: n", "shardKey: {name: 1}", "such as {n: hashed}")]
    [InlineData("timeField: at", "shardKey: {n: 1}", "such as {at: 1}")]
    [InlineData("timeField: at, metaField: n", "shard: 1", "remove shard, and give it a shardKey such as {n: hashed}")]
    public void A_time_series_is_sharded_by_its_own_fields_alone(string series, string sharded, string hint) => AssertRefused(
        $"options: {{timeseries: {{{series}}}}}, {sharded}",
        ": it is a time series, whose shard key has fields of its metaField and, as the last one, its timeField, ascending", hint);

    [Fact]
    public void A_time_series_without_a_key_of_its_own_takes_that_of_the_command_line_if_it_can()
    {
        Plan plan = ScenarioTexts.Plan(Text("options: {timeseries: {timeField: at, metaField: n}}"));
        ShardLimits.Require(plan.Rounds, ShardKey.Parse("n:hashed"));
        var refused = Assert.Throws<UserException>(() => ShardLimits.Require(plan.Rounds, ShardKey.Parse("hashed")));
        Assert.Contains("'c' can't be sharded by {_id: hashed}: it is a time series", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{key: {n: 1}, uniqe: true}", "an index has no option uniqe", "did you mean 'unique'?")]
    [InlineData("{key: {n: 1, at: 1}, expireAfterSeconds: 9}", "such an index is on one field with a date", "an index of its own")]
    [InlineData("{key: {$**: 1}, unique: true}", "is a wildcard index, which can't be unique", "remove unique")]
    [InlineData("{key: {n: 1}, wildcardProjection: {n: 1}}", "has a wildcardProjection, which is for indexes on all fields", "$**")]
    [InlineData("{key: {n: 1}, sparse: true, partialFilterExpression: {n: 1}}", "is sparse and partial", "$exists")]
    public void Index_that_cannot_be_gets_one_line(string index, string message, string hint) =>
        AssertRefused($"indexes: [{index}]", message, hint);

    [Theory]
    [InlineData("options: {capped: true, size: 9, max: 5}")]
    [InlineData("options: {timeseries: {timeField: at, metaField: n, granularity: hours}, expireAfterSeconds: 60}")]
    [InlineData("options: {clusteredIndex: {key: {_id: 1}, unique: true}, validator: {n: {$gt: 0}}, validationAction: warn}")]
    [InlineData("indexes: [{key: {at: 1}, expireAfterSeconds: 9}, {$**: 1}, {n: text}, {n: hashed}, {key: {n: 1}, sparse: true}]")]
    [InlineData("shardKey: {n: 1, _id: hashed}, options: {collation: {locale: en}}")]
    [InlineData("shard: 1, options: {collation: {locale: simple}}")]
    [InlineData("options: {timeseries: {timeField: at, metaField: n}}, shardKey: {n: 1, at: 1}")]
    [InlineData("options: {timeseries: {timeField: at, metaField: n}}, shardKey: {n.a: hashed}, presplit: 4")]
    [InlineData("options: {timeseries: {timeField: at}}, shardKey: {at: 1}")]
    public void Every_kind_of_collection_passes(string collection) => Assert.NotEmpty(ScenarioTexts.Plan(Text(collection)).Rounds);

    private static void AssertRefused(string collection, string message, string hint)
    {
        (string found, string with) = ScenarioTexts.Refusal(Text(collection));
        Assert.Contains(message, found, StringComparison.Ordinal);
        Assert.Contains(hint, with, StringComparison.Ordinal);
    }

    private static string Text(string collection) =>
        "data:\n  c: {count: 9, document: {n: ^number, at: {^date: {start: 2026-01-01, step: 1s}}}, "
        + $"{collection}}}\nphases: [{{load: c}}]";
}

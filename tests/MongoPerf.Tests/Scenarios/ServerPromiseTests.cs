using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Scenarios;

/// <summary>
/// What a server does not promise is known before a run: removed documents, unique indexes on shards, messages of any length.
/// </summary>
public sealed class ServerPromiseTests
{
    [Theory]
    [InlineData("options: {capped: true, size: 1000}", "it is capped")]
    [InlineData("options: {timeseries: {timeField: t}, expireAfterSeconds: 60}", "it has expireAfterSeconds")]
    [InlineData("indexes: [{key: {t: 1}, expireAfterSeconds: 60}]", "its index t_1 has expireAfterSeconds")]
    public void A_collection_from_which_the_server_removes_documents_gets_a_warning(string how, string why)
    {
        ReadPlan read = ReadDates(how);
        Assert.Equal(
            $"collection 'c': the server removes documents by itself ({why}), so lost documents can't be told from removed ones; "
            + "those that come back are verified",
            Assert.Single(read.Warnings));
    }

    [Theory]
    [InlineData("options: {timeseries: {timeField: t}}")]
    [InlineData("options: {capped: false}")]
    [InlineData("indexes: [t]")]
    public void Any_other_does_not(string how) => Assert.Empty(ReadDates(how).Warnings);

    private static ReadPlan ReadDates(string how) =>
        Read($"data:\n  c: {{count: 5, document: {{t: {{^date: {{start: 2026-01-01}}}}}}, {how}}}\nphases: [{{load: c}}]\n");

    [Theory]
    [InlineData("indexes: [{key: {u: 1}, unique: true}]", "hashed",
        "the unique index u_1 can't be on shards: it does not begin with the shard key {_id: hashed}")]
    [InlineData("shard: 1, indexes: [{key: {u: 1}, unique: true}]", "hashed", "it does not begin with the shard key {_id: 1}")]
    [InlineData("indexes: [{key: {u: 1}, unique: true}]", "u", null)]
    [InlineData("indexes: [{key: {u: 1, v: 1}, unique: true}]", "u", null)]
    [InlineData("indexes: [{key: {u: 1}}]", "hashed", null)]
    [InlineData("shardKey: {u: 1}, indexes: [{key: {u: 1}, unique: true}]", "hashed", null)]
    [InlineData("files: {count: 1, length: 1KB}", "hashed", null)]
    public void A_unique_index_on_shards_begins_with_the_shard_key(string how, string usual, string? message)
    {
        IReadOnlyList<PlanRound> rounds = Read($"data:\n  c: {{{how}}}\nphases: [{{load: c}}]\n").Plan.Rounds;
        if (message is null)
            ShardLimits.Require(rounds, ShardKey.Parse(usual));
        else
            Assert.Contains(message,
                Assert.Throws<UserException>(() => ShardLimits.Require(rounds, ShardKey.Parse(usual))).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(100, 1000)]
    [InlineData(100_000, 239)]
    [InlineData(15_000_000, 1)]
    public void A_batch_of_which_the_file_says_nothing_fits_a_message(int length, int documents)
    {
        string data = $"data:\n  c: {{count: 5, document: {{t: {{^string: {length}}}}}}}\n";
        Assert.All(
            ["phases: [{load: c}]\n", "phases: [{operations: [{insertMany: c}]}]\n", "phases: [{grow: c, to: 10}]\n"],
            phases => Assert.All(
                Read((phases.Contains("grow", StringComparison.Ordinal) ? data.Replace("count: 5, ", "", StringComparison.Ordinal) : data)
                    + phases).Plan.Operations.OfType<InsertDocuments>(),
                insert => Assert.Equal(documents, insert.BatchSize)));
    }

    private static ReadPlan Read(string text) => PlanReader.Read(new ScenarioFile("test", "test.yaml", text), new PlanOverrides(), 42);
}

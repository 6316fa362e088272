using MongoPerf.Load.Documents;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>
/// A router sends a write of one document to the right shard only if the write names the shard key under which the document is stored.
/// </summary>
public sealed class ShardedWritesTests
{
    private const string Own = ", shardKey: {group: 1}";

    [Theory]
    [InlineData("{replace: users, key: uniform}", "updates.0.q", "_id,group")]
    [InlineData("{replace: users, key: uniform, upsert: true}", "updates.0.q", "_id,group")]
    [InlineData("{replace: users, filter: {_id: ^key}, with: {group: {^field: group}, x: 1}}", "updates.0.q", "_id,group")]
    [InlineData("{replace: users, filter: {group: {^field: group}}}", "updates.0.q", "group")]
    [InlineData("{update: users, key: uniform, with: {$set: {x: 1}}, upsert: true}", "updates.0.q", "_id,group")]
    [InlineData("{update: users, key: uniform, with: {$set: {x: 1}}}", "updates.0.q", "_id")]
    [InlineData("{findAndModify: users, key: uniform, with: {$set: {x: 1}}}", "query", "_id,group")]
    [InlineData("{findAndModify: users, key: uniform, with: {group: {^field: group}}}", "query", "_id,group")]
    [InlineData("{delete: users, key: uniform}", "deletes.0.q", "_id")]
    public void Writes_of_a_drawn_document_carry_its_stored_shard_key(string operation, string filter, string fields)
    {
        ReadPlan read = Read(operation, Own);
        BsonDocument sent = Command(read, 7);
        BsonDocument stored = read.Plan.Rounds[0].Collections[0].Documents.Make(7);
        BsonDocument asked = sent.FindDocument(filter)!;
        Assert.Equal(fields, string.Join(',', asked.Select(e => e.Key)));
        Assert.All(asked, condition => Assert.Equal(stored.Find(condition.Key)!.Value.ToString(), condition.Value.ToString()));
        // With --shard-key instead of the file's own it is the same.
        Assert.Equal(sent.Bytes.ToArray(), Command(ShardedWrites.Of(Read(operation, ""), "group"), 7).Bytes.ToArray());
    }

    [Theory]
    [InlineData("group")]
    [InlineData("address.city")]
    public void A_replacement_keeps_the_shard_key_and_draws_the_rest_anew(string key)
    {
        ReadPlan read = Read("{replace: users, key: uniform}", $", shardKey: {{{key}: 1}}");
        BsonDocument stored = read.Plan.Rounds[0].Collections[0].Documents.Make(7);
        BsonDocument update = Command(read, 7).FindDocument("updates.0.u")!;
        Assert.Equal(stored.Find(key)!.Value.ToString(), update.Find(key)!.Value.ToString());
        Assert.Equal(stored.Where(e => e.Key != "_id").Select(e => e.Key), update.Select(e => e.Key));
        Assert.NotEqual(stored.FindString("text"), update.FindString("text"));
    }

    [Theory]
    [InlineData("", null)]
    [InlineData("", "hashed")]
    [InlineData(", shardKey: {_id: hashed}", null)]
    [InlineData(", shard: 1", "group")]
    public void Nothing_is_added_where_documents_are_sharded_by_their_id_or_not_at_all(string collection, string? usual) =>
        Assert.Equal(["_id"], Command(ShardedWrites.Of(Read("{replace: users, key: uniform, with: {x: 1}}", collection), usual), 7)
            .FindDocument("updates.0.q")!.Select(e => e.Key));

    [Theory]
    [InlineData(
        "{replace: users, key: uniform, with: {x: 1}}",
        "p.replace: with has no 'group', by which 'users' is sharded: a router would look for the document on the wrong shard",
        "write group: {^field: group} in with, which keeps the stored value")]
    [InlineData(
        "{findAndModify: users, key: uniform, with: {group: {^int: [0, 9]}}}",
        "p.findAndModify: with gives another value to 'group', by which 'users' is sharded: "
        + "a router would look for the document on the wrong shard",
        "write group: {^field: group} in with, which keeps the stored value")]
    [InlineData(
        "{replace: users, filter: {text: x}, with: {group: {^field: group}}}",
        "p.replace: the filter does not name the stored 'group', and 'users' is sharded by {group: 1}: "
        + "a router could not tell which shard holds the document",
        "write key: uniform instead of a filter, or filter: {group: {^field: group}}")]
    public void A_replacement_that_would_look_on_the_wrong_shard_is_refused(string operation, string message, string hint)
    {
        UserException own = Assert.Throws<UserException>(() => Read(operation, Own));
        Assert.Equal(($"test.yaml:6: {message}", hint), (own.Message, own.Hint));
        UserException usual = Assert.Throws<UserException>(() => ShardedWrites.Of(Read(operation, ""), "group"));
        Assert.Equal((message, hint, ExitCode.WrongUsage), (usual.Message, usual.Hint, usual.Code));
    }

    private static ReadPlan Read(string operation, string collection) => PlanReader.Read(
        new ScenarioFile("test", "test.yaml", $$$"""
            data:
              users: {count: 100, document: {group: {^int: [0, 1000]}, address: {city: ^word}, text: {^string: 20}}{{{collection}}}}
            phases:
              - name: p
                count: 1
                operations: [{{{operation}}}]
            """),
        new PlanOverrides(), 42);

    private static BsonDocument Command(ReadPlan read, long number) =>
        read.Plan.Phases.Last().Groups[0].Operations[0].Operation.ToCommand().ToDocument(new ValueContext(number, 99));
}

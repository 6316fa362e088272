using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Bulks as files write them, and what MongoDB takes beside a command.</summary>
public sealed class BulkWriteTests
{
    private const string Kinds = "insert, update, replace, delete";

    [Fact]
    public void Each_write_draws_its_own_documents()
    {
        var bulk = (BulkWrite)Read("{bulkWrite: [{insert: users, times: 3}, {update: users, key: zipfian, with: {$set: {name: x}}}, "
            + "{update: users, filter: {n: {^int: [0, 9]}}, with: {$set: {name: x}}, times: 4}], name: night}");
        Assert.Equal(("night", 8, true), (bulk.Name, bulk.DocumentsPerCommand, bulk.Ordered));
        Assert.Equal([3, 1, 4], bulk.Writes.Select(write => write.Times));
        // Their streams go by their names.
        Assert.Equal(3, bulk.Writes.Select(write => write.Operation.Name).Distinct().Count());
        Assert.Null(bulk.Writes[0].Operation.Choice);
        Assert.NotEqual(bulk.Writes[1].Operation.Choice, bulk.Writes[2].Operation.Choice);
        Assert.True(((UpdateDocuments)bulk.Writes[1].Operation).MustMatch);
        Assert.False(((UpdateDocuments)bulk.Writes[2].Operation).MustMatch);
    }

    [Theory]
    [InlineData("{bulkWrite: []}", "p.bulkWrite: bulkWrite has no list of writes",
        "such as bulkWrite: [{insert: users, times: 10}, {update: users, key: uniform, with: {$inc: {visits: 1}}}]")]
    [InlineData("{bulkWrite: users}", "p.bulkWrite: bulkWrite has no list of writes",
        "such as bulkWrite: [{insert: users, times: 10}, {update: users, key: uniform, with: {$inc: {visits: 1}}}]")]
    [InlineData("{bulkWrite: [{find: users, key: uniform}]}", "p.bulkWrite: find is not allowed here; allowed: " + Kinds,
        "make it an operation of its own")]
    [InlineData("{bulkWrite: [{insertMany: users, batch: 10}]}", "p.bulkWrite: insertMany is not allowed here; allowed: " + Kinds,
        "write insert, with times for several documents")]
    [InlineData("{bulkWrite: [{updateOne: users}]}", "p.bulkWrite: unknown operation 'updateOne'; allowed: " + Kinds,
        "did you mean 'update'?")]
    [InlineData("{bulkWrite: [{insert: users, time: 3}]}", "p.bulkWrite: insert: unknown key 'time'; allowed: insert, times",
        "did you mean 'times'?")]
    [InlineData("{bulkWrite: [{update: usres, key: uniform, with: {$set: {n: 1}}}]}",
        "update: no collection 'usres' in data; allowed: users", "did you mean 'users'?")]
    [InlineData("{bulkWrite: [{update: users, with: {$set: {n: 1}}}]}",
        "p.bulkWrite.1: neither filter nor key says which documents are meant",
        "write key: uniform for one document, drawn each time, or filter: {} with many: true for every document")]
    [InlineData("{bulkWrite: [{delete: users, key: uniform, writeConcern: {w: 0}}]}",
        "p.bulkWrite: delete: unknown key 'writeConcern'; allowed: delete, filter, many, hint, collation, key, times", "")]
    [InlineData("{bulkWrite: [{insert: users, times: 60000}, {insert: users, times: 50000}]}",
        "p.bulkWrite: 110,000 writes; allowed: 1 to 100,000 in one bulk", "")]
    [InlineData("{update: users, key: uniform, with: {$set: {n: 1}}, arrayFilters: {a: 1}}",
        "p.update.arrayFilters: expected a list of conditions",
        "such as arrayFilters: [{item.count: {$gt: 0}}], for $[item] in with")]
    [InlineData("{update: users, key: uniform, with: {$set: {n: 1}}, comment: ^word}",
        "p.update.comment: generated values are not allowed here", "")]
    [InlineData("{insert: users, let: {a: 1}}", "p: insert: unknown key 'let'; "
        + "allowed: insert, writeConcern, maxTimeMS, comment, name, weight, think, key", "")]
    [InlineData("{find: users, key: uniform, maxTimeMS: 0}", "p: find: maxTimeMS is 0; allowed: 1 to 2,147,483,647", "")]
    public void A_mistake_is_named_with_what_is_allowed(string operation, string message, string hint)
    {
        (string found, string help) = ScenarioTexts.Refusal(Text(operation));
        Assert.Contains(message, found, StringComparison.Ordinal);
        Assert.Equal(hint, help);
    }

    [Theory]
    [InlineData("{find: users, key: uniform, OPTIONS}", "collation", "let")]
    [InlineData("{aggregate: users, pipeline: [], OPTIONS}", "collation", "let")]
    [InlineData("{findAndModify: users, key: uniform, with: {$set: {n: 1}}, OPTIONS}", "collation", "let")]
    [InlineData("{update: users, key: uniform, with: {$set: {n: 1}}, OPTIONS}", "updates.0.collation", "let")]
    [InlineData("{replace: users, key: uniform, OPTIONS}", "updates.0.collation", "let")]
    [InlineData("{delete: users, key: uniform, OPTIONS}", "deletes.0.collation", "let")]
    [InlineData("{count: users, OPTIONS}", "collation", null)]
    [InlineData("{distinct: users, field: n, OPTIONS}", "collation", null)]
    [InlineData("{insert: users, OPTIONS}", null, null)]
    [InlineData("{readModifyWrite: users, key: uniform, with: {$set: {n: 1}}, OPTIONS}", "collation", "let")]
    public void Options_stand_where_the_server_looks_for_them(string operation, string? collation, string? let)
    {
        string options = $"maxTimeMS: 250, comment: why{(collation is null ? "" : ", collation: {locale: de}")}"
            + $"{(let is null ? "" : ", let: {x: 5}")}";
        BsonDocument command = Read(operation.Replace("OPTIONS", options, StringComparison.Ordinal)).Steps[0].ToCommand()
            .ToDocument(new ValueContext(0, 0));
        Assert.Equal((250, "why"), (command.FindInt64("maxTimeMS"), command.FindString("comment")));
        Assert.Equal(collation is null ? null : "de", collation is null ? null : command.FindString($"{collation}.locale"));
        Assert.Equal(let is null ? null : 5L, command.FindInt64("let.x"));
    }

    [Fact]
    public void Reads_under_a_collation_are_not_compared_unless_they_name_their_document()
    {
        Assert.Null(((FindDocuments)Read("{find: users, filter: {name: x}, collation: {locale: en}}")).Expected);
        Assert.NotNull(((FindDocuments)Read("{find: users, key: uniform, collation: {locale: en}}")).Expected);
    }

    private static Operation Read(string operation) => ScenarioTexts.Plan(Text(operation)).Phases.Last().Groups[0].Operations[0].Operation;

    private static string Text(string operation) =>
        $"{ScenarioTexts.Data}phases:\n  - {{name: p, count: 1, operations: [{operation}]}}\n";
}

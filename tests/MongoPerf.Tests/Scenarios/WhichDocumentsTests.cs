using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Which documents an operation is about is what the file says: those of a filter, or the one that a key draws.</summary>
public sealed class WhichDocumentsTests
{
    private const string OneDrawn = "key: uniform for one document, drawn each time";
    private const string Neither = "neither filter nor key says which documents are meant";

    [Theory]
    [InlineData("find: users", $"write {OneDrawn}, or filter: {{}} for every document")]
    [InlineData("find: users, sort: {n: -1}, limit: 20", $"write {OneDrawn}, or filter: {{}} for every document")]
    [InlineData("find: users, limit: 1", $"write {OneDrawn}, or filter: {{}} for every document")]
    [InlineData("update: users, with: {$set: {n: 1}}", $"write {OneDrawn}, or filter: {{}} with many: true for every document")]
    [InlineData("update: users, with: {$set: {n: 1}}, many: true", $"write {OneDrawn}, or filter: {{}} with many: true for every document")]
    [InlineData("delete: users", $"write {OneDrawn}, or filter: {{}} with many: true for every document")]
    [InlineData("replace: users", $"write {OneDrawn}, or a filter, such as filter: {{}} for any document")]
    [InlineData("findAndModify: users, remove: true", $"write {OneDrawn}, or a filter, such as filter: {{}} for any document")]
    [InlineData("readModifyWrite: users, with: {$set: {n: 1}}", $"write {OneDrawn}, or a filter, such as filter: {{}} for any document")]
    public void An_operation_that_says_neither_is_refused_with_both_wordings(string operation, string hint) =>
        Assert.Equal(($"test.yaml:8: p.{operation.Split(':')[0]}: {Neither}", hint), Refusal(operation));

    [Theory]
    [InlineData("find: users, key: uniform, sort: {n: -1}", "sort", "filter: {} for every document")]
    [InlineData("find: users, key: zipfian, skip: 5", "skip", "filter: {} for every document")]
    [InlineData("find: users, key: zipfian, limit: 20", "limit", "filter: {} for every document")]
    [InlineData("find: users, key: zipfian, limit: {^int: [1, 20]}", "limit", "filter: {} for every document")]
    [InlineData("update: users, key: uniform, with: {$set: {n: 1}}, many: true", "many", "filter: {} with many: true for every document")]
    [InlineData("delete: users, key: uniform, many: true", "many", "filter: {} with many: true for every document")]
    [InlineData("findAndModify: users, key: uniform, sort: {n: 1}, remove: true", "sort", "a filter, such as filter: {} for any document")]
    public void What_is_for_several_documents_is_refused_beside_a_key_alone(string operation, string key, string all) => Assert.Equal(
        ($"test.yaml:8: p.{operation.Split(':')[0]}: {key} is for several documents, but key without a filter means the one document drawn",
            $"write {all}; or remove {key}"), Refusal(operation));

    [Theory]
    [InlineData("count: users")]
    [InlineData("distinct: users, field: n")]
    public void A_key_that_no_filter_uses_is_refused_where_every_document_counts(string operation) => Assert.Equal(
        ($"test.yaml:8: p.{operation.Split(':')[0]}: key draws a document, but there is no filter to name it",
            "write filter: {_id: ^key} for the one document drawn, or remove key for every document"),
        Refusal(operation + ", key: uniform"));

    [Theory]
    [InlineData("find: users, filter: {}, sort: {n: -1}, limit: 20", "find", "filter", false)]
    [InlineData("find: users, key: zipfian", "find", "filter", true)]
    [InlineData("find: users, key: zipfian, limit: 1", "find", "filter", true)]
    [InlineData("count: users", "count", "query", false)]
    [InlineData("distinct: users, field: n", "distinct", "query", false)]
    [InlineData("findAndModify: users, key: latest, remove: true", "findAndModify", "query", true)]
    [InlineData("update: users, filter: {}, many: true, with: {$set: {n: 1}}", "update", "updates.0.q", false)]
    [InlineData("update: users, key: uniform, with: {$set: {n: 1}}", "update", "updates.0.q", true)]
    [InlineData("delete: users, filter: {}, many: true", "delete", "deletes.0.q", false)]
    [InlineData("replace: users, key: uniform", "replace", "updates.0.q", true)]
    public void The_command_asks_for_every_document_or_for_the_one_drawn(string operation, string name, string filter, bool isOfOne)
    {
        BsonDocument sent = Commands(operation).Single(o => o.Name == name).Command;
        Assert.Equal(isOfOne ? ["_id"] : [], sent.FindDocument(filter)!.Select(e => e.Key));
    }

    [Fact]
    public void A_key_alone_is_the_filter_by_id_written_out()
    {
        Assert.Equal(Commands("find: users, filter: {_id: ^key}, limit: 1").Single().Command.Bytes.ToArray(),
            Commands("find: users, key: uniform").Single().Command.Bytes.ToArray());
        Assert.Equal(Commands("delete: users, filter: {_id: ^key}").Single().Command.Bytes.ToArray(),
            Commands("delete: users, key: uniform").Single().Command.Bytes.ToArray());
    }

    [Fact]
    public void The_key_of_the_defaults_counts_as_written_in_each_operation()
    {
        const string Defaults = "defaults: {key: zipfian}\n";
        Assert.Equal(["_id"], Commands("find: users", Defaults).Single().Command.FindDocument("filter")!.Select(e => e.Key));
        Assert.Empty(Commands("count: users", Defaults).Single().Command.FindDocument("query")!);
        Assert.Contains("sort is for several documents", Refusal("find: users, sort: {n: 1}", Defaults).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_stored_run_whose_file_would_mean_something_else_is_not_resumed()
    {
        var settings = new RunSettings
        {
            Deployment = new DeploymentSettings(),
            Data = new DataSettings { Database = "mongoperf" },
            Plan = new PlanSettings { Name = "old", Path = "old.yaml", Text = Text("find: users, sort: {n: -1}, limit: 20") },
        };
        UserException refused = Assert.Throws<UserException>(() => StoredPlan.Read(settings, 42, FilesFolder.None));
        Assert.Equal(
            (ExitCode.WrongUsage,
                $"the scenario stored with the run is not valid for this version of MongoPerf: old.yaml:8: p.find: {Neither}",
                $"use the version that began the run, or change the file and begin a new run: write {OneDrawn}, "
                + $"or filter: {{}} for every document"),
            (refused.Code, refused.Message, refused.Hint));
    }

    private static string Text(string operation, string top = "") =>
        ScenarioTexts.Data + top + $"phases:\n  - name: p\n    operations:\n      - {{{operation}}}\n";

    private static (string Message, string Hint) Refusal(string operation, string top = "") => ScenarioTexts.Refusal(Text(operation, top));

    /// <summary>What is sent, about the first document.</summary>
    private static (string Name, BsonDocument Command)[] Commands(string operation, string top = "") =>
    [
        .. ScenarioTexts.Plan(Text(operation, top)).Operations.Where(o => o is not InsertDocuments).SelectMany(o => o.Steps)
            .Select(o => (o.Name, o.ToCommand().ToDocument(new ValueContext(0, 42)))),
    ];
}

using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary><c>existing: true</c> and <c>^existing</c>: data that the run did not make, and only reads.</summary>
public sealed class ExistingDataTests
{
    private const string Data = "data: {products: {existing: true}, shop.orders: {existing: true}}\n";

    [Theory]
    [InlineData("{find: products, filter: {sku: ^existing}}", "products", "sku")]
    [InlineData("{find: products, filter: {sku: {$gte: ^existing}}}", "products", "sku")]
    [InlineData("{find: products, filter: {$or: [{a.b: {$in: [^existing]}}]}}", "products", "a.b")]
    [InlineData("{find: products, filter: {items.0.sku: ^existing}}", "products", "items.0.sku")]
    [InlineData("{aggregate: products, pipeline: [{$match: {_id: ^existing}}]}", "products", "_id")]
    [InlineData("{count: products, filter: {a: {^existing: shop.orders.customer.id}}}", "shop.orders", "customer.id")]
    [InlineData("{find: products, filter: {a: {^existing: {of: products.b, draw: frequency, sample: 7}}}}", "products", "b")]
    public void Values_come_from_the_field_that_is_named_or_where_they_stand(string operation, string collection, string path)
    {
        ExistingValue value = Assert.Single(ExistingValue.In(Read(operation).ToCommand()));
        Assert.Equal((collection, path), (value.Collection, value.Path));
    }

    [Fact]
    public void A_uniform_draw_gives_each_different_value_the_same_chance_and_one_by_frequency_does_not()
    {
        (BsonType, byte[])[] sample =
            [.. Enumerable.Repeat((BsonType.Int32, new byte[] { 1, 0, 0, 0 }), 99), (BsonType.Int32, [2, 0, 0, 0])];
        Assert.InRange(SharesOfRare("uniform"), 0.4, 0.6);
        Assert.InRange(SharesOfRare("frequency"), 0.0, 0.05);

        double SharesOfRare(string draw)
        {
            Operation find = Read($"{{find: products, filter: {{a: {{^existing: {{of: products.a, draw: {draw}}}}}}}}}");
            Assert.Single(ExistingValue.In(find.ToCommand())).Fill(sample);
            return Enumerable.Range(0, 2000)
                .Count(i => find.ToCommand().ToDocument(new ValueContext(0, (ulong)i)).FindInt64("filter.a") == 2) / 2000.0;
        }
    }

    [Theory]
    [InlineData("{insert: products}", "writes (operation 'insert': insert)")]
    [InlineData("{update: products, filter: {a: 1}, with: {$set: {b: 1}}}", "writes (operation 'update': update)")]
    [InlineData("{delete: products, filter: {a: 1}}", "writes (operation 'delete': delete)")]
    [InlineData("{findAndModify: products, filter: {a: 1}, remove: true}", "writes (operation 'findAndModify': findAndModify)")]
    [InlineData("{createIndexes: products, indexes: [a]}", "writes (operation 'createIndexes': createIndexes)")]
    [InlineData("{aggregate: products, pipeline: [{$out: x}]}", "writes (operation 'aggregate': $out)")]
    [InlineData("{validate: products}", "writes (operation 'validate': validate)")]
    [InlineData("{runCommand: {profile: 2}}", "writes (operation 'runCommand': profile)")]
    [InlineData("{steps: [{find: products, filter: {a: 1}}, {update: products, filter: {a: 1}, with: {$set: {b: 1}}}]}",
        "writes (operation 'steps': update)")]
    public void What_writes_is_refused_even_where_the_file_allows_it(string operation, string does)
    {
        (string message, string hint) = ScenarioTexts.Refusal(
            $"mayWrite: [server, test.*]\n{Data}phases: [{{name: p, operations: [{operation}]}}]\n");
        Assert.Contains($"phase 'p' {does}, but 'products' is existing data, which is only read", message, StringComparison.Ordinal);
        Assert.Contains("commands that only read", hint, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{load: products}", "loads documents")]
    [InlineData("{create: products}", "creates a collection")]
    [InlineData("{check: products}", "checks documents that the run wrote")]
    [InlineData("{grow: products, to: 100}", "grows a collection")]
    [InlineData("{balancer: off}", "sets the balancer")]
    public void Phases_that_make_data_are_refused(string phase, string does) => Assert.Contains(
        $"{does}, but 'products' is existing data", ScenarioTexts.Refusal($"{Data}phases: [{phase}]\n").Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("{products: {existing: true, count: 5}}", "count is not allowed with existing: true")]
    [InlineData("{products: {existing: true, document: {a: 1}}}", "document is not allowed with existing: true")]
    [InlineData("{products: {existing: true}, own: {count: 5}}", "'own' would be created beside 'products', which exists")]
    public void Existing_data_are_described_by_nothing_else(string data, string message) => Assert.Contains(
        message, ScenarioTexts.Refusal($"data: {data}\nphases: [{{operations: [{{find: products, filter: {{}}}}]}}]\n").Message,
        StringComparison.Ordinal);

    [Theory]
    [InlineData("{find: products}", "a key draws a document that MongoPerf made")]
    [InlineData("{find: products, key: uniform, filter: {}}", "a key draws a document that MongoPerf made")]
    [InlineData("{find: products, filter: {_id: ^key}}", "that the run creates")]
    [InlineData("{find: products, filter: {a: {^field: sku}}}", "{^existing: products.sku}")]
    [InlineData("{find: products, filter: {a: {^existing: orders.b}}}", "'orders.b' does not begin with a collection of 'data'")]
    [InlineData("{find: products, filter: {a: {^existing: products.$b}}}", "'$b' is not the path of a field")]
    [InlineData("{find: products, filter: {}, limit: ^existing}", "it stands in no field")]
    [InlineData("{find: products, filter: {a: {^existing: {of: products.a, sample: 2M}}}}", "'2M' is 2000000; allowed: 1 to 1,000,000")]
    [InlineData("{find: products, filter: {a: {^existing: {of: products.a, sample: 0}}}}", "'0' is out of range; allowed: 1 to 1,000,000")]
    public void What_draws_nothing_is_refused(string operation, string says)
    {
        (string message, string hint) = ScenarioTexts.Refusal($"{Data}phases: [{{operations: [{operation}]}}]\n");
        Assert.Contains(says, message + hint, StringComparison.Ordinal);
    }

    [Fact]
    public void Plans_are_recorded_unless_the_file_says_otherwise()
    {
        Assert.True(Phase("").ExplainsQueries);
        Assert.False(Phase("explain: false, ").ExplainsQueries);

        static Phase Phase(string explain) => Assert.Single(ScenarioTexts.Plan(
            $"{Data}phases: [{{{explain}operations: [{{find: products, filter: {{a: ^existing}}}}]}}]\n").Phases);
    }

    [Theory]
    [InlineData("q4", "{sku: ^existing}", "")]
    [InlineData("q7", null, "")]
    [InlineData("q4", null, "--on: the filter of 'q4' names fields of the series' documents")]
    [InlineData("q6", "{sku: ^existing}", "--on: the sort of 'q6' names fields of the series' documents")]
    [InlineData("q5", "{sku: ^existing}", "--on: the projection of 'q5' names fields of the series' documents")]
    [InlineData("batch", null, "--on: 'batch' writes documents")]
    [InlineData("q4", "[1]", "expected a filter such as {_id: ^existing}")]
    [InlineData("q4", "{a: [", "--filter")]
    [InlineData("q4", "{$were: 1}", "$were")]
    public void A_phase_of_the_series_runs_on_any_collection(string phase, string? filter, string refusal)
    {
        var overrides = new PlanOverrides
        {
            Phases = [phase], IsAlone = true, Existing = "products", Filter = filter,
            Parameters = new Dictionary<string, string> { ["collection"] = "products" },
        };
        string series = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "scenarios", "series.yaml"));
        if (refusal.Length > 0)
        {
            Assert.Contains(refusal, ScenarioTexts.Refusal(series, overrides).Message, StringComparison.Ordinal);
            return;
        }

        Plan plan = ScenarioTexts.Plan(series, overrides);
        Assert.True(plan.IsOnExistingData);
        var find = Assert.IsType<FindDocuments>(Assert.Single(plan.Operations));
        Assert.Equal(phase == "q4" ? 10 : 100, find.FullReply);
        Assert.Null(find.Expected);
    }

    private static Operation Read(string operation) => Assert.Single(
        ScenarioTexts.Plan($"{Data}phases: [{{operations: [{operation}]}}]\n").Operations);
}

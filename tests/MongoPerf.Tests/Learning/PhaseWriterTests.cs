using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Scenarios;

namespace MongoPerf.Tests.Learning;

/// <summary>What was seen becomes phases that a scenario may have, without a value of what was seen.</summary>
public sealed class PhaseWriterTests
{
    private const string Secret = "Geheim4711";
    private const string ById = "{'find': 'orders', 'filter': {'_id': ID}}";

    /// <summary>Every command that applications send, each with values that must not get out.</summary>
    private static readonly string[] Commands =
    [
        "{'find': 'orders', 'filter': {'_id': ID}}",
        "{'find': 'orders', 'filter': {'name': 'SECRET', 'n': {'$gte': ID, '$lt': {'$numberLong': 'TOP'}}}, 'sort': {'n': -1}, "
            + "'limit': 20}",
        "{'find': 'orders', 'filter': {'n': {'$in': [ID, 4711, 4712]}}, 'projection': {'name': 1, 'x': {'$slice': 3}}, 'skip': 100}",
        "{'find': 'orders', 'filter': {'$or': [{'name': {'$regex': '^SECRET'}}, {'secret': 'SECRET'}, {'n': {'$not': {'$gt': 4711}}}]}}",
        "{'find': 'orders', 'filter': {'items': {'$elemMatch': {'product': 4711, 'label': 'SECRET'}}, 'at': {'$gt': {'$date': 'DATE'}}}}",
        "{'find': 'orders', 'filter': {'name': {'$regularExpression': {'pattern': '^SECRET', 'options': 'i'}}}, 'hint': {'n': 1}}",
        "{'find': 'orders', 'filter': {'$expr': {'$gt': ['$n', 4711]}, 'name': {'$ne': 'SECRET', '$exists': true}}}",
        "{'count': 'orders', 'query': {'name': 'SECRET'}}",
        "{'distinct': 'orders', 'key': 'name', 'query': {'n': {'$lt': 4711}}}",
        "{'aggregate': 'orders', 'pipeline': [{'$match': {'name': 'SECRET'}}, {'$group': {'_id': '$n', 's': {'$sum': 1}, "
            + "'t': {'$sum': {'$multiply': ['$n', 4711]}}, 'u': {'$first': {'$concat': ['$name', 'SECRET']}}}}, "
            + "{'$sort': {'s': -1}}, {'$limit': 5}], 'cursor': {}}",
        "{'insert': 'orders', 'documents': [{'_id': 4711, 'name': 'SECRET'}]}",
        "{'insert': 'orders', 'ordered': false, 'documents': [{'name': 'SECRET'}, {'name': 'SECRET'}]}",
        "{'update': 'orders', 'updates': [{'q': {'_id': ID}, 'u': {'$set': {'name': 'SECRET', 'note': 'SECRET', 'sub': {'a': 4711}}, "
            + "'$inc': {'n': 1}, '$unset': {'old': 'SECRET'}, '$push': {'items': {'product': 4711}}}, 'upsert': true}], "
            + "'writeConcern': {'w': 'majority', 'j': true}}",
        "{'update': 'orders', 'updates': [{'q': {'n': {'$gt': 4711}}, 'u': [{'$set': {'name': 'SECRET'}}], 'multi': true}]}",
        "{'update': 'orders', 'updates': [{'q': {'_id': ID}, 'u': {'name': 'SECRET'}}]}",
        "{'update': 'orders', 'updates': [{'q': {'_id': ID}, 'u': {'$set': {'n': 4711}}}, {'q': {'_id': ID}, 'u': {'$set': {'n': 4711}}}, "
            + "{'q': {'name': 'SECRET'}, 'u': {'$inc': {'n': 2}}}]}",
        "{'delete': 'orders', 'deletes': [{'q': {'name': 'SECRET'}, 'limit': 0}]}",
        "{'findAndModify': 'orders', 'query': {'_id': ID}, 'update': {'$set': {'name': 'SECRET'}}, 'new': true, 'sort': {'n': 1}}",
        "{'findAndModify': 'orders', 'query': {'name': 'SECRET'}, 'remove': true}",
        "{'find': 'orders', 'filter': {'$where': 'SECRET'}}",
        "{'find': 'orders', 'filter': {'n': {'$comment': 'SECRET'}}, 'comment': 'SECRET', 'limit': 1}",
        "{'aggregate': 'orders', 'pipeline': [{'$match': {}}, {'$out': 'SECRET'}], 'cursor': {}}",
        "{'find': 'unknown', 'filter': {}}",
        "{'hello': 1}",
        "{'createIndexes': 'orders', 'indexes': []}",
    ];

    [Theory]
    [InlineData("{'count': 'orders', 'query': {'n': ID}, 'limit': -10}")]
    [InlineData("{'find': 'orders', 'filter': {'n': ID}, 'limit': -10}")]
    public void A_negative_limit_is_as_its_absolute_value(string command) =>
        Assert.Contains("limit: 10", Text(ListSource.Of(60, i => Json(command, i))), StringComparison.Ordinal);

    [Fact]
    public void Whatever_an_application_sends_is_written_without_its_values()
    {
        OperationMix mix = ListSource.Mix(Commands.SelectMany(command => ListSource.Of(60, i => Json(command, i))));
        var writer = new PhaseWriter(mix, "shop", new OrdersData());
        Plan plan = ScenarioTexts.Plan(OrdersData.Text + writer.Text);
        string text = writer.Text;
        Assert.DoesNotContain(Secret, text, StringComparison.Ordinal);
        Assert.DoesNotContain("4711", text, StringComparison.Ordinal);
        Assert.Equal(19, plan.Rounds.Single().Phases[^2].Groups.Single().Operations.Count);
        Assert.Contains("not learned: the operator $where (60 times)", text, StringComparison.Ordinal);
        Assert.Contains("not learned: aggregations with $out, which write (60 times)", text, StringComparison.Ordinal);
        Assert.Contains("not learned: the command createIndexes (60 times)", text, StringComparison.Ordinal);
        Assert.Contains("60 operations (find): the file has no such collection", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Forms_are_written_as_they_were_seen()
    {
        OperationMix mix = ListSource.Mix(Commands.SelectMany(command => ListSource.Of(60, i => Json(command, i))));
        string text = new PhaseWriter(mix, "shop", new OrdersData()).Text;
        foreach (string line in (string[])
            [
                "filter: {_id: ^key}",
                "filter: {name: {^field: name}, n: {$gte: {^field: n}, $lt: {^add: [{^field: n}, 50]}}}",
                "filter: {n: {$in: {^array: {length: 3, of: {^reference: {to: orders, field: n, key: ",
                "filter: {$or: [{name: {$regex: {^pattern: \"\\\\^[a-z]{10}\"}}}, {secret: {^string: 10}}, "
                    + "{n: {$not: {$gt: {^field: n}}}}]}",
                "filter: {items: {$elemMatch: {product: {^field: items.0.product}, label: {^string: 10}}}, at: {$gt: {^field: at}}}",
                "sort: {n: -1}", "limit: 20", "skip: 100", "many: true", "upsert: true", "remove: true", "new: true", "batch: 2",
                "writeConcern: {w: \"majority\", j: true}", "hint: {n: 1}", "field: name", "times: 2",
                "$inc: {n: 1}", "$unset: {old: 1}",
            ])
            Assert.Contains(line, text, StringComparison.Ordinal);
    }

    [Fact]
    public void Requests_at_their_own_times_become_a_rate_and_others_a_closed_loop()
    {
        string steady = Text(ListSource.Of(1000, i => Json(ById, i)));
        Assert.Contains("rate: 100.1", steady, StringComparison.Ordinal);
        Assert.DoesNotContain("arrivals", steady, StringComparison.Ordinal);
        // 9.9 of each 10 ms are spent waiting for the reply.
        string closed = Text(ListSource.Of(1000, i => Json(ById, i), took: 9_900));
        Assert.Contains("a closed loop", closed, StringComparison.Ordinal);
        Assert.DoesNotContain("rate:", closed, StringComparison.Ordinal);
        Assert.DoesNotContain("think:", closed, StringComparison.Ordinal);
        string thinking = Text(ListSource.Of(1000, i => Json(ById, i), took: 7_000));
        Assert.Contains("think: {mean: 3000us}", thinking, StringComparison.Ordinal);
    }

    /// <summary>A client that sends a request each 10 ms keeps its rate on a faster server.</summary>
    [Fact]
    public void A_client_with_times_of_its_own_is_no_closed_loop_however_busy_the_server_is()
    {
        string text = Text(ListSource.Of(1000, i => Json(ById, i))
            .Select((one, i) => one with { Microseconds = 4_000 + (i * 37 % 4_000) }));
        Assert.Contains("rate: 100", text, StringComparison.Ordinal);
        Assert.DoesNotContain("closed loop", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Connections_that_come_and_go_count_as_many_as_there_are_at_a_time()
    {
        string text = Text(Enumerable.Range(0, 20).SelectMany(part => ListSource.Of(50, i => Json(ById, i), $"{part}", took: 9_900)
            .Select(one => one with { Seconds = one.Seconds + (part / 2 * 0.5) })));
        Assert.Contains("threads: 2\n", text, StringComparison.Ordinal);
        Assert.Contains("a closed loop", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Limits_that_differ_are_drawn_as_they_came()
    {
        string few = Text(ListSource.Of(400, i => Json("{'find': 'orders', 'filter': {'n': ID}, 'limit': LIMIT}", i)
            .Replace("LIMIT", i % 4 == 0 ? "20" : "1", StringComparison.Ordinal)));
        Assert.Contains("limit: {^choice: {of: [1, 20], weights: [75, 25]}}", few, StringComparison.Ordinal);
        Assert.DoesNotContain("find orders n 2", few, StringComparison.Ordinal);
        string many = Text(ListSource.Of(400, i => Json("{'find': 'orders', 'filter': {'n': ID}, 'limit': LIMIT}", i)
            .Replace("LIMIT", $"{1 + (i * 7 % 100)}", StringComparison.Ordinal)));
        Assert.Contains("limit: {^int: [1, 100]}", many, StringComparison.Ordinal);
        ScenarioTexts.Plan(OrdersData.Text + many);
        ScenarioTexts.Plan(OrdersData.Text + few);
    }

    [Fact]
    public void Operations_of_one_name_are_told_apart_by_what_they_differ_in()
    {
        string text = Text(ListSource.Of(300, i => Json("{'find': 'orders', 'filter': {'n': ID}}", i))
            .Concat(ListSource.Of(200, i => Json("{'find': 'orders', 'filter': {'n': ID}, 'sort': {'at': -1}}", i)))
            .Concat(ListSource.Of(100, i => Json("{'find': 'orders', 'filter': {'n': ID}, 'sort': {'at': -1}, 'skip': 5}", i))));
        foreach (string name in (string[])["find orders n", "find orders n sort at", "find orders n sort at 2"])
            Assert.Contains($"name: \"{name}\"\n", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Sizes_are_taken_after_the_operations_of_what_these_wrote_to()
    {
        string[] read = [ById, "{'count': 'orders', 'query': {'n': ID}}", "{'distinct': 'orders', 'key': 'n'}"];
        Assert.Null(Measured(read));
        Assert.Equal("orders", Measured([.. read, "{'update': 'orders', 'updates': [{'q': {'_id': ID}, 'u': {'$inc': {'n': 1}}}]}"]));

        static string? Measured(string[] commands) => ScenarioTexts.Plan(OrdersData.Text
            + Text(commands.SelectMany(command => ListSource.Of(60, i => Json(command, i))))).Rounds.Single().Phases[^1].Measures;
    }

    [Fact]
    public void A_rush_becomes_a_rate_over_time()
    {
        IEnumerable<ObservedOperation> calm = ListSource.Of(1000, i => Json(ById, i));
        IEnumerable<ObservedOperation> rush = ListSource.Of(2000, i => Json("{'count': 'orders', 'query': {'n': ID}}", i))
            .Select((operation, i) => operation with { Seconds = 6 + (i * 0.001) });
        string text = Text(calm.Concat(rush));
        Assert.Contains("rate: [{at: 100", text, StringComparison.Ordinal);
        Assert.Contains("s}, {at: 11", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Transactions_become_steps()
    {
        const string InTransaction =
            ", 'lsid': {'id': {'$uuid': '0408a8fb-1882-4739-90ae-1ae89c8c01e5'}}, 'txnNumber': ID, 'autocommit': false}";
        var operations = new List<ObservedOperation>();
        for (int i = 0; i < 60; i++)
        {
            foreach (string statement in (string[])
                [
                    "{'find': 'orders', 'filter': {'_id': ID}",
                    "{'update': 'orders', 'updates': [{'q': {'_id': ID}, 'u': {'$inc': {'n': 1}}}]", "{'commitTransaction': 1",
                ])
                operations.AddRange(ListSource.Of(1, _ => Json(statement + InTransaction, i)));
        }

        var writer = new PhaseWriter(ListSource.Mix(operations, isPrecise: false), "shop", new OrdersData());
        var steps = (StepSequence)Assert.Single(ScenarioTexts.Plan(OrdersData.Text + writer.Text).Rounds.Single().Phases[^2].Groups.Single()
            .Operations).Operation;
        Assert.NotNull(steps.Transaction);
        Assert.Equal(2, steps.Sequence.Count);
        Assert.Contains("need a replica set or a mongos", writer.Text, StringComparison.Ordinal);
        Assert.Equal(60, writer.Names.Single().Operation.Count);
    }

    [Theory]
    [InlineData("{'aggregate': 'orders', 'pipeline': [{'$addFields': {'to': 'SECRET', 'from': 'SECRET', 'unit': 'SECRET'}}, "
        + "{'$group': {'_id': {'as': 'SECRET'}, 'all': {'$push': {'timezone': 'SECRET'}}}}], 'cursor': {}}")]
    [InlineData("{'find': 'orders', 'filter': {}, 'projection': {'as': 'SECRET'}}")]
    [InlineData("{'find': 'orders', 'filter': {'$and': ['SECRET', {'n': 1}]}}")]
    [InlineData("{'find': 'orders', 'filter': {'n': 1}, 'hint': {'n': 'SECRET'}}")]
    [InlineData("{'find': 'orders', 'filter': {'n': 1}, 'hint': {'n': 4711}}")]
    [InlineData("{'update': 'orders', 'updates': [{'q': {'n': 1}, 'u': [{'$set': {'to': 'SECRET'}}], 'arrayFilters': ['SECRET']}]}")]
    public void Fields_that_are_called_as_arguments_and_wrong_commands_keep_their_values(string command)
    {
        string text = Text(ListSource.Of(60, i => Json(command, i)));
        Assert.Contains("weight: 100", text, StringComparison.Ordinal);
        Assert.DoesNotContain(Secret, text, StringComparison.Ordinal);
        Assert.DoesNotContain("4711", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Arguments_that_are_names_stay() => Assert.Contains(
        "{$lookup: {from: \"orders\", localField: \"n\", foreignField: \"_id\", as: \"them\"}}, {$unionWith: \"orders\"}, "
            + "{$set: {d: {$dateAdd: {startDate: \"$at\", unit: \"day\", amount: 1}}}}",
        Text(ListSource.Of(60, i => Json("{'aggregate': 'orders', 'pipeline': [{'$lookup': {'from': 'orders', 'localField': 'n', "
            + "'foreignField': '_id', 'as': 'them'}}, {'$unionWith': 'orders'}, {'$set': {'d': {'$dateAdd': {'startDate': '$at', "
            + "'unit': 'day', 'amount': 1}}}}], 'cursor': {}}", i))), StringComparison.Ordinal);

    [Fact]
    public void Updates_of_one_filter_are_told_from_one_another_by_what_they_do()
    {
        string text = Text(((string[])["{'$set': {'name': 'SECRET'}}", "{'$inc': {'n': 1}, '$set': {'at': ID}}", "[{'$set': {'n': '$x'}}]"])
            .SelectMany(update => ListSource.Of(60, i =>
                Json($"{{'update': 'orders', 'updates': [{{'q': {{'_id': ID}}, 'u': {update}}}]}}", i))));
        foreach (string name in (string[])["update orders _id set name", "update orders _id inc n set at", "update orders _id set n"])
            Assert.Contains($"name: \"{name}\"", text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("^word")]
    [InlineData("a$(b)c")]
    public void A_name_that_means_something_in_a_scenario_is_left_out(string name)
    {
        string text = Text(ListSource.Of(60, i => Json(ById, i).Replace("_id", name, StringComparison.Ordinal)));
        Assert.Contains("a name that a scenario would read as a generator or a parameter", text, StringComparison.Ordinal);
        Assert.DoesNotContain("operations:", text, StringComparison.Ordinal);
    }

    private static string Text(IEnumerable<ObservedOperation> operations) =>
        new PhaseWriter(ListSource.Mix(operations), "shop", new OrdersData()).Text;

    private static string Json(string command, int i) => command.Replace('\'', '"').Replace("SECRET", Secret, StringComparison.Ordinal)
        .Replace("DATE", $"2024-01-01T00:00:{i:00}Z", StringComparison.Ordinal)
        .Replace("TOP", (150 + i).ToString(System.Globalization.CultureInfo.InvariantCulture), StringComparison.Ordinal)
        .Replace("ID", (100 + i).ToString(System.Globalization.CultureInfo.InvariantCulture), StringComparison.Ordinal);
}

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

    [Theory]
    [InlineData("{'$gt': 4700}", 200, "{$gt: 4700}")]
    [InlineData("{'$gte': 20, '$lt': 40}", 200, "{$gte: 20, $lt: 40}")]
    [InlineData("{'$gte': 20, '$lt': {'$numberLong': 'TOP'}}", 200, "{$gte: {^field: n}, $lt: {^add: [{^field: n}")]
    [InlineData("{'$gt': 4711}", 200, "{$gt: {^field: n}}")]
    [InlineData("{'$gt': 20}", 1, "{$gt: {^field: n}}")]
    public void A_round_bound_that_never_changes_is_not_drawn(string bounds, int times, string expected) => Assert.Contains(
        $"filter: {{n: {expected}", Text(ListSource.Of(times, i => Json($"{{'find': 'orders', 'filter': {{'n': {bounds}}}}}", i))),
        StringComparison.Ordinal);

    [Theory]
    [InlineData("{'find': 'orders', 'filter': {'at': {'$nearSphere': {'$geometry': {'type': 'Point', 'coordinates': [8.5, 47.4]}, "
        + "'$maxDistance': 500}}}, 'limit': 5}", "filter: {at: {$nearSphere: {$geometry: {^field: at}, $maxDistance: 500}}}")]
    [InlineData("{'aggregate': 'orders', 'pipeline': [{'$geoNear': {'near': {'type': 'Point', 'coordinates': [8.5, 47.4]}, "
        + "'distanceField': 'far', 'maxDistance': 500, 'query': {'n': ID}}}], 'cursor': {}}",
        "pipeline: [{$geoNear: {near: {^field: at}, distanceField: \"far\", maxDistance: 500, query: {n: {^field: n}}}}]")]
    [InlineData("{'find': 'orders', 'filter': {'n': {'$near': {'$geometry': {'type': 'Point', 'coordinates': [8.5, 47.4]}}}}}",
        "(find): the file has no such places")]
    [InlineData("{'find': 'orders', 'filter': {'at': {'$near': {'$geometry': {'type': 'Polygon', 'coordinates': []}}}}}",
        "not learned: places that are no points of GeoJSON (60 times)")]
    [InlineData("{'find': 'orders', 'filter': {'at': {'$near': [8.5, 47.4]}}}", "not learned: the operator $near (60 times)")]
    public void Queries_near_a_place_are_near_a_document(string command, string expected)
    {
        var writer = new PhaseWriter(ListSource.Mix(ListSource.Of(60, i => Json(command, i))), new OrdersData());
        Assert.Contains(expected, writer.Text, StringComparison.Ordinal);
        Assert.DoesNotContain("47.4", writer.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Whatever_an_application_sends_is_written_without_its_values()
    {
        OperationMix mix = ListSource.Mix(Commands.SelectMany(command => ListSource.Of(60, i => Json(command, i))));
        var writer = new PhaseWriter(mix, new OrdersData());
        Plan plan = ScenarioTexts.Plan(OrdersData.Text + writer.Text);
        string text = writer.Text;
        Assert.DoesNotContain(Secret, text, StringComparison.Ordinal);
        Assert.DoesNotContain("4711", text, StringComparison.Ordinal);
        Assert.Equal(19, plan.Rounds.Single().Phases[^2].Groups.Single().Operations.Count);
        Assert.Contains("not learned: the operator $where (60 times)", text, StringComparison.Ordinal);
        Assert.Contains("not learned: aggregations with $out, which write (60 times)", text, StringComparison.Ordinal);
        Assert.Contains("not learned: the command createIndexes (60 times)", text, StringComparison.Ordinal);
        Assert.Contains("operations (find): the file has no such collection (60 times)", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Forms_are_written_as_they_were_seen()
    {
        OperationMix mix = ListSource.Mix(Commands.SelectMany(command => ListSource.Of(60, i => Json(command, i))));
        string text = new PhaseWriter(mix, new OrdersData()).Text;
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
        IEnumerable<ObservedOperation> rush = ListSource.Of(2000, i => Json(ById, i))
            .Select((operation, i) => operation with { Seconds = 6 + (i * 0.001) });
        string text = Text(calm.Concat(rush));
        Assert.Contains("rate: [{at: 100", text, StringComparison.Ordinal);
        Assert.Contains("s}, {at: 11", text, StringComparison.Ordinal);
    }

    /// <summary>The series: in one mix, finds would wait for batches that came before them.</summary>
    [Fact]
    public void What_came_one_after_the_other_is_a_phase_each()
    {
        var writer = new PhaseWriter(ListSource.Mix([.. Loaded(60, took: 9_900), .. Found(1000, 1)]), new OrdersData());
        Phase[] phases = [.. ScenarioTexts.Plan(OrdersData.Text + writer.Text).Rounds.Single().Phases];
        Assert.Equal(["insertMany orders", "find orders _id", "size orders"], phases.Select(phase => phase.Name).Skip(phases.Length - 3));
        PhaseGroup[] groups = [.. phases[^3..^1].Select(phase => phase.Groups.Single())];
        // A closed loop does as much as it did, and an open one takes as long.
        Assert.Equal((60, null), (groups[0].Count, groups[0].Rate));
        Assert.InRange(groups[1].Seconds!.Value, 9.9, 10);
        Assert.InRange(groups[1].Rate!.Highest, 99, 101);
        Assert.Equal(60 * 50, groups[0].ExpectedInserts("orders"));
        Assert.Equal(1000, writer.LoadedOf("orders", 4000));
    }

    [Fact]
    public void A_phase_is_called_a_mix_or_by_what_it_does_and_by_how_often_that_came()
    {
        string[] names =
        [
            .. new PhaseWriter(ListSource.Mix([.. Found(1000, 0), .. Loaded(200, 10), .. Found(1000, 20),
                .. Found(500, 30), .. Loaded(500, 30), .. Loaded(500, 50), .. Found(500, 60), .. Loaded(500, 60)]), new OrdersData())
                .Phases.Select(phase => phase.Name),
        ];
        Assert.Equal(["find orders _id", "insertMany orders", "find orders _id 2", "mix", "insertMany orders 2", "mix 2"], names);
    }

    /// <summary>What phases insert is not loaded, so that they find as many documents as the deployment had.</summary>
    [Fact]
    public void So_many_documents_are_loaded_that_phases_end_with_those_that_were_there()
    {
        // A load, and what comes after it.
        Assert.Equal((1000, 0), (LoadedFor(3000, [.. Loaded(40), .. Found(2000, 1)]), LoadedFor(1900, [.. Loaded(40), .. Found(2000, 1)])));
        // A mix: not if hardly anything were left to read.
        Assert.InRange(LoadedFor(10_000, Mixed()), 8990, 9010);
        Assert.Equal(1000, LoadedFor(1000, Mixed()));
        Assert.InRange(LoadedFor(10_000, [.. Mixed(), .. Each(500, Delete(1))]), 9490, 9510);
        Assert.Equal(10_000, LoadedFor(10_000, [.. Mixed(), .. Each(5, Delete(0))]));
        Assert.Equal(10_000, LoadedFor(10_000, [.. Mixed(), .. Each(50, "{'find': 'orders', 'filter': {'n': {'$in': [ID, 1, 2]}}}")]));
        Assert.Equal(10_000, LoadedFor(10_000, Found(1000, 0)));

        static IEnumerable<ObservedOperation> Mixed() => [.. Found(1000, 0), .. Each(1000, "{'insert': 'orders', 'documents': [{}]}")];
        static string Delete(int limit) => $"{{'delete': 'orders', 'deletes': [{{'q': {{'n': ID}}, 'limit': {limit}}}]}}";
        static IEnumerable<ObservedOperation> Each(int count, string json) => ListSource.Of(count, i => Json(json, i));
        // At times of their own, so that as many come again.
        static long LoadedFor(long documents, IEnumerable<ObservedOperation> operations) =>
            new PhaseWriter(ListSource.Mix(operations, isPrecise: false), new OrdersData()).LoadedOf("orders", documents);
    }

    /// <summary>A bulk of several, and a transaction, load as well as an insert does; of one document nothing is a half.</summary>
    [Fact]
    public void A_load_by_bulks_is_a_load_and_a_mix_does_not_begin_without_documents()
    {
        const string Bulk = "{'bulkWrite': 1, 'ops': [{'insert': 0, 'document': {}}, {'insert': 0, 'document': {}}], "
            + "'nsInfo': [{'ns': 'shop.orders'}]}";
        IEnumerable<ObservedOperation> bulks = ListSource.Of(500, i => Json(Bulk, i)).Select(one => one with { Database = "shop" });
        Assert.Equal(0, Writer([.. bulks, .. Found(1000, 10)]).LoadedOf("orders", 1000));
        Assert.Equal(1, Writer([.. Found(1000, 0), .. Loaded(500)]).LoadedOf("orders", 1));
    }

    /// <summary>Otherwise it would end with as many documents as the server is fast.</summary>
    [Fact]
    public void A_closed_loop_that_inserts_has_a_count()
    {
        PhaseWriter writer = Writer([.. ListSource.Of(1000, i => Json(i % 2 == 0 ? ById : "{'insert': 'orders', 'documents': [{}]}", i),
            took: 9_900)]);
        PhaseGroup group = ScenarioTexts.Plan(OrdersData.Text + writer.Text).Rounds.Single().Phases[^2].Groups.Single();
        Assert.InRange(group.Count!.Value, 998, 1002);
        Assert.InRange(writer.LoadedOf("orders", 1500) + group.ExpectedInserts("orders"), 1499, 1501);
    }

    [Fact]
    public void Phases_far_apart_are_not_shortened_for_the_time_between_them()
    {
        string text = Text([.. Loaded(500), .. Found(1000, 40_000)]);
        Assert.Contains("duration: 9.99", text, StringComparison.Ordinal);
        Assert.DoesNotContain("% of the time", text, StringComparison.Ordinal);
    }

    [Fact]
    public void What_is_still_under_way_when_the_next_mix_begins_makes_no_phase_longer()
    {
        string text = Text([.. Loaded(500).Select((one, i) => one with
        {
            Connection = null, Microseconds = i == 250 ? 60e6 : 500,
        }), .. Found(1000, 5)]);
        Assert.Contains("duration: 5s", text, StringComparison.Ordinal);
        Assert.DoesNotContain("duration: 6", text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_mix_of_which_nothing_is_written_takes_no_name() => Assert.Equal(["mix"], Writer(
        [
            .. ListSource.Of(500, i => Json("{'find': 'unknown', 'filter': {'a': ID}}", i)),
            .. ListSource.Of(500, i => Json(i % 2 == 0 ? ById : "{'count': 'orders', 'query': {'n': ID}}", i)).Select(one => one with
            {
                Seconds = one.Seconds + 10,
            }),
        ]).Phases.Select(phase => phase.Name));

    [Fact]
    public void A_long_recording_is_shortened_with_its_order_and_its_rates()
    {
        string text = Text([.. Loaded(2000, 0).Select(Slowly), .. Found(2000, 20).Select(Slowly)]);
        Phase[] phases = [.. ScenarioTexts.Plan(OrdersData.Text + text).Rounds.Single().Phases];
        Assert.InRange(phases[^2].Groups.Single().Seconds!.Value, 890, 910);
        Assert.Contains("in 45 % of the time", text, StringComparison.Ordinal);
        Assert.Contains("rate: 1\n", text, StringComparison.Ordinal);

        static ObservedOperation Slowly(ObservedOperation one) => one with { Seconds = one.Seconds * 100 };
    }

    /// <summary>How many documents a query has to look at follows from its bounds: here they leave out the upper tenth.</summary>
    [Fact]
    public void Bounds_that_lie_evenly_elsewhere_than_the_field_s_values_are_drawn_from_where_they_lay()
    {
        Assert.Contains("filter: {n: {$gte: {^int: [0, 900]}}}", Bounded(i => i * 37 % 900), StringComparison.Ordinal);
        Assert.Contains("filter: {n: {$gte: {^field: n}}}", Bounded(i => i * i % 900 * (i * i % 900) / 900), StringComparison.Ordinal);
        // Rounded, it would be ten times as wide.
        Assert.Contains("filter: {n: {$gte: {^field: n}}}", Bounded(i => 1_700_000_000 + (i * 37 % 900)), StringComparison.Ordinal);

        static string Bounded(Func<int, int> value) =>
            Text(ListSource.Of(900, i => Json($"{{'find': 'orders', 'filter': {{'n': {{'$gte': {value(i)}}}}}}}", i)));
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

        var writer = new PhaseWriter(ListSource.Mix(operations, isPrecise: false), new OrdersData());
        var steps = (StepSequence)Assert.Single(ScenarioTexts.Plan(OrdersData.Text + writer.Text).Rounds.Single().Phases[^2].Groups.Single()
            .Operations).Operation;
        Assert.NotNull(steps.Transaction);
        Assert.Equal(2, steps.Sequence.Count);
        Assert.Contains("need a replica set or a mongos", writer.Text, StringComparison.Ordinal);
        Assert.Equal(60, writer.Phases.Single().Operations.Single().Operation.Count);
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
        Assert.Contains("      - name: ", text, StringComparison.Ordinal);
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

    /// <summary>Batches of 50 documents, one every 10 ms.</summary>
    private static IEnumerable<ObservedOperation> Loaded(int count, double start = 0, double took = 500) => ListSource.Of(count, _ =>
        $"{{\"insert\": \"orders\", \"documents\": [{string.Join(", ", Enumerable.Repeat("{}", 50))}]}}", "loader", took)
        .Select(one => one with { Seconds = start + one.Seconds });

    private static IEnumerable<ObservedOperation> Found(int count, double start) =>
        ListSource.Of(count, i => Json(ById, i)).Select(one => one with { Seconds = start + one.Seconds });

    private static string Text(IEnumerable<ObservedOperation> operations) => Writer(operations).Text;

    private static PhaseWriter Writer(IEnumerable<ObservedOperation> operations) => new(ListSource.Mix(operations), new OrdersData());

    private static string Json(string command, int i) => command.Replace('\'', '"').Replace("SECRET", Secret, StringComparison.Ordinal)
        .Replace("DATE", $"2024-01-01T00:00:{i:00}Z", StringComparison.Ordinal)
        .Replace("TOP", (150 + i).ToString(System.Globalization.CultureInfo.InvariantCulture), StringComparison.Ordinal)
        .Replace("ID", (100 + i).ToString(System.Globalization.CultureInfo.InvariantCulture), StringComparison.Ordinal);
}

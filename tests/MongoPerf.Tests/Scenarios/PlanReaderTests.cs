using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

public sealed class PlanReaderTests
{
    private const string Find = "phases: [{name: p, operations: [{find: users, filter: {}, limit: $(limit)}]}]\n";

    [Fact]
    public void Collection_that_no_phase_loads_is_loaded_first()
    {
        Plan scenario = ScenarioTexts.Plan(ScenarioTexts.Data + "phases: [{name: p, operations: [{find: users, key: uniform}]}]\n");
        Assert.Equal(["load users", "p"], scenario.Rounds.Single().Phases.Select(p => p.Name));
    }

    [Fact]
    public void Collection_that_a_phase_makes_is_loaded_behind_it()
    {
        Plan scenario = ScenarioTexts.Plan(ScenarioTexts.Data + "phases: [{name: ping, count: 1, operations: [{runCommand: {ping: 1}}]}, "
            + "{create: users}, {name: p, operations: [{find: users, key: uniform}]}]\n");
        Assert.Equal(["ping", "create users", "load users", "p"], scenario.Rounds.Single().Phases.Select(p => p.Name));
    }

    [Fact]
    public void Laps_go_with_the_scale_and_never_vanish()
    {
        string text = ScenarioTexts.Data
            + "phases: [{load: users, lap: 100}, {name: p, count: 1k, lap: 100, operations: [{find: users, key: uniform}]}]\n";
        Assert.Equal([100L, 100], ScenarioTexts.Plan(text).Rounds[0].Phases.Select(p => p.Lap!.Value));
        Assert.Equal([5L, 5], ScenarioTexts.Plan(text, new PlanOverrides { Scale = 0.05 }).Rounds[0].Phases.Select(p => p.Lap!.Value));
        Assert.Equal([1L, 1], ScenarioTexts.Plan(text, new PlanOverrides { Scale = 0.001 }).Rounds[0].Phases.Select(p => p.Lap!.Value));
    }

    [Fact]
    public void Threads_and_durations_of_the_command_line_leave_create_phases_alone()
    {
        Plan scenario = ScenarioTexts.Plan(
            ScenarioTexts.Data + "phases: [{create: users}, {load: users}, {name: p, operations: [{find: users, key: uniform}]}]\n",
            new PlanOverrides { Threads = [3], Duration = 1 });
        Assert.Equal([1, 1, 3], scenario.Rounds.Single().Phases.Select(p => p.Groups.Single().Threads));
    }

    [Fact]
    public void List_of_a_parameter_gives_a_phase_for_each_value()
    {
        Plan scenario = ScenarioTexts.Plan(ScenarioTexts.Data + "parameters: {limit: [1, 10]}\n" + Find);
        Assert.Equal(["limit=1", "limit=10"],
            scenario.Rounds.Single().Phases.Skip(1).Select(p => Assert.Single(p.Parameters)).Select(p => $"{p.Key}={p.Value}"));
        Assert.Equal([1, 10], Operations<FindDocuments>(scenario).Select(f => f.FullReply));
    }

    [Fact]
    public void Named_values_may_be_anything()
    {
        Plan scenario = ScenarioTexts.Plan(ScenarioTexts.Data
            + "parameters:\n  by:\n    number: {n: {^field: n}}\n    name: {name: {^field: name}}\n"
            + "phases: [{name: p, operations: [{find: users, filter: $(by), limit: 1}]}]\n");
        Assert.Equal(["number", "name"], scenario.Rounds.Single().Phases.Skip(1).Select(p => p.Parameters.Single().Value));
        Assert.Equal(["n", "name"], Operations<FindDocuments>(scenario).Select(f => f.Filter.Elements.Single().Key));
    }

    [Fact]
    public void Parts_of_a_parameter_change_together()
    {
        Plan scenario = ScenarioTexts.Plan(ScenarioTexts.Data
            + "parameters:\n  run:\n    few: {tasks: 2, limit: 5}\n    many: {tasks: 8, limit: 1}\n"
            + "phases: [{name: p, threads: $(run.tasks), operations: [{find: users, filter: {}, limit: $(run.limit)}]}]\n");
        Phase[] phases = [.. scenario.Rounds.Single().Phases.Skip(1)];
        Assert.Equal([("few", 2), ("many", 8)], phases.Select(p => (p.Parameters.Single().Value, p.Groups.Single().Threads)));
        Assert.Equal([5, 1], Operations<FindDocuments>(scenario).Select(f => f.FullReply));
    }

    [Fact]
    public void Documents_in_groups_have_a_number_each()
    {
        DocumentTemplate documents = ScenarioTexts.Plan(
            "data:\n  c: {count: 9, document: {group: {^number: {start: 10, step: 5, every: 3}}, n: {^number: {cycle: 3, type: int}}}}\n"
            + "phases: [{load: c}]\n").Rounds.Single().Collections.Single().Documents;
        BsonDocument[] made = [.. Enumerable.Range(0, 7).Select(i => documents.Make(i))];
        Assert.Equal([10L, 10, 10, 15, 15, 15, 20], made.Select(d => d.FindInt64("group")!.Value));
        Assert.Equal([0L, 1, 2, 0, 1, 2, 0], made.Select(d => d.FindInt64("n")!.Value));
    }

    [Fact]
    public void A_field_of_an_array_of_documents_is_that_of_the_document_drawn()
    {
        Plan plan = ScenarioTexts.Plan("""
            data:
              c: {count: 9, document: {orders: {^array: {length: [2, 4], of: {items: {^array: {length: 3, of: {price: {^int: [1, 1000000]}}}}}}}}}
            phases: [{name: p, operations: [{find: c, filter: {x: {^field: orders.1.items.2.price}}}]}]
            """);
        FindDocuments find = Operations<FindDocuments>(plan).Single();
        DocumentTemplate documents = plan.Rounds[0].Collections[0].Documents;
        Assert.All(Enumerable.Range(0, 9), i => Assert.Equal(documents.Make(i).FindInt64("orders.1.items.2.price"),
            find.Filter.ToDocument(new ValueContext(i, 7)).FindInt64("x")));
    }

    [Fact]
    public void Sweep_in_the_data_gives_a_round_for_each_value()
    {
        Plan scenario = ScenarioTexts.Plan(
            "parameters: {index: [n, name]}\ndata:\n  users: {count: 10, document: {n: ^number, name: ^word}, indexes: [{$(index): 1}]}\n"
            + "phases: [{load: users}]\n");
        Assert.Equal(["n_1", "name_1"], scenario.Rounds.Select(r => r.Collections.Single().Indexes.Single().FindString("name")));
        Assert.All(scenario.Rounds, r => Assert.Equal("index", r.Phases.Single().Parameters.Single().Key));
    }

    [Fact]
    public void Two_sweeps_are_combined()
    {
        Plan scenario = ScenarioTexts.Plan(
            ScenarioTexts.Data + "parameters: {limit: [1, 10]}\n"
            + "phases: [{name: p, threads: [1, 8], repeat: 2, operations: [{find: users, filter: {}, limit: $(limit)}]}]\n");
        Assert.Equal(8, scenario.Rounds.Single().Phases.Count - 1);
        Assert.Equal([1, 1, 8, 8, 1, 1, 8, 8], scenario.Rounds.Single().Phases.Skip(1).Select(p => p.Groups.Single().Threads));
    }

    [Fact]
    public void Usual_concerns_go_with_the_operations_that_take_them_only()
    {
        // A mongod refuses a write concern with a read (72), and a read concern with a write.
        Plan scenario = ScenarioTexts.Plan(ScenarioTexts.Data + """
            defaults: {writeConcern: {w: 1}, readConcern: local, readPreference: secondary}
            phases:
              - name: p
                operations:
                  - {update: users, key: uniform, with: {$set: {n: 1}}}
                  - {find: users, key: uniform}
                  - {count: users}
                  - {distinct: users, field: n}
                  - {validate: users}
                  - {runCommand: {ping: 1}, name: ping}
                  - {dropIndexes: users}
                  - {readModifyWrite: users, key: uniform, with: {$set: {n: 1}}}
            """);
        Assert.Equal(
            [
                "load: writeConcern", "update: writeConcern", "find: readConcern $readPreference", "count: readConcern $readPreference",
                "distinct: readConcern $readPreference",
                "validate: ", "ping: ", "dropIndexes: writeConcern", "read: readConcern $readPreference", "update: writeConcern",
            ],
            Operations<Operation>(scenario).SelectMany(o => o.Steps)
                .Select(o => $"{o.Name}: {string.Join(' ', o.ToCommand().Elements.Select(e => e.Key).Where(IsConcern))}"));

        static bool IsConcern(string key) => key.Contains("oncern", StringComparison.Ordinal) || key.StartsWith('$');
    }

    [Theory]
    [InlineData("nearest", "nearest")]
    [InlineData("{mode: secondary}", "secondary")]
    [InlineData("{mode: secondaryPreferred, tags: [{dc: ny, rack: 1}, {}], maxStalenessSeconds: 120}",
        "secondaryPreferred with tags dc:ny,rack:1; (any), at most 120 s behind")]
    [InlineData("{mode: nearest, tags: {dc: ny}}", "nearest with tags dc:ny")]
    public void A_read_preference_is_a_mode_or_a_mode_with_conditions(string text, string preference)
    {
        Plan scenario = ScenarioTexts.Plan(ScenarioTexts.Data
            + $"phases: [{{name: p, operations: [{{find: users, key: uniform, readPreference: {text}}}]}}]\n");
        Assert.Equal(preference, $"{Operations<FindDocuments>(scenario).Single().Concerns.ReadPreference}");
    }

    [Fact]
    public void A_bucket_is_two_collections_with_the_indexes_of_GridFS()
    {
        Plan scenario = ScenarioTexts.Plan("data: {fs: {files: {count: 10, length: 1.04MB}, shard: 2}}\n"
            + "phases: [{load: fs}, {name: p, operations: [{upload: fs}, {download: fs, key: latest}]}]\n");
        PlanCollection bucket = scenario.Rounds[0].Collections.Single();
        Assert.Equal((1_090_519, 261_120, 5), (bucket.Files!.Length, bucket.Files.Bucket.ChunkSize, bucket.Files.ChunkCount));
        Assert.Equal(
            [("fs.chunks", 50L, "files_id_1_n_1", 2), ("fs.files", 10L, "filename_1_uploadDate_1", 2)],
            bucket.Stored.Select(s => (s.Name, s.Count, s.Indexes.Single().FindString("name")!, s.Shard!.Value)));
        Assert.Equal("{\"files_id\": 1}", ExtendedJson.Write(bucket.Stored[0].ShardKey!.Bytes));
        // What 'show document' shows is what an upload writes.
        var written = new BsonWriter();
        bucket.Files.FileAt(7).Write(written);
        Assert.Equal(written.ToArray(), bucket.Documents.Make(7).Bytes.ToArray());
        Assert.Equal(["load", "upload", "download"], Operations<Operation>(scenario).Select(o => o.Name));
        Assert.IsType<LatestChoice>(scenario.Rounds[0].Phases[1].Groups[0].Operations[1].Operation.Choice);
    }

    [Fact]
    public void Operations_of_one_name_on_several_collections_are_one_part_of_the_results()
    {
        const string data = "data:\n  a: {count: 10}\n  b: {count: 10}\n";
        Plan scenario = ScenarioTexts.Plan(data + "phases: [{name: p, operations: [{find: a, key: uniform, name: read}, {find: b, key: "
            + "uniform, name: read, weight: 3}, {update: a, key: uniform, with: {$set: {n: 1}}}]}]\n");
        PhaseGroup group = scenario.Rounds[0].Phases[^1].Groups[0];
        var plan = new GroupPlan
        {
            Name = "p", Threads = 1, Seed = 1, Operations = [.. group.Operations.Select(o => new WeightedOperation(o.Operation, o.Weight))],
        };
        Assert.Equal(["read", "update"], plan.Parts.Select(part => part.Name));
        Assert.Contains(
            "two operations are called 'read'",
            ScenarioTexts.Refusal(data
                + "phases: [{name: p, operations: [{find: a, key: uniform, name: read}, {count: b, name: read}]}]\n").Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Balancer_stands_in_a_phase_or_beside_others()
    {
        const string data = "data:\n  a: {count: 10}\n  b: {count: 10, shard: 1}\n  fs: {files: {length: 1KB}}\n";
        Plan scenario = ScenarioTexts.Plan(
            data + "phases: [{balancer: off}, {load: a}, {name: p, groups: [{name: r, operations: [{find: a, key: uniform}]}, {name: w, "
            + "balancer: now, after: 1s}]}, {balancer: 22:00-06:00, within: 1m}]\n",
            // These are for operations.
            new PlanOverrides { Duration = null, Threads = null });
        PlanRound round = scenario.Rounds[0];
        Assert.Equal(["load b", "balancer off", "load a", "p", "balancer 22:00-06:00"], round.Phases.Select(p => p.Name));
        SetBalancer[] set = [.. round.Phases.SelectMany(p => p.Groups)
            .SelectMany(g => g.Operations).Select(o => o.Operation).OfType<SetBalancer>()];
        Assert.Equal([("off", 0.0), ("now", 600), ("22:00-06:00", 60)], set.Select(s => (s.Mode, s.Seconds)));
        // A collection on one shard is not valid; allowed: the balancer's.
        Assert.All(set, s => Assert.Equal(["a", "fs.chunks", "fs.files"], s.Balanced));
        Assert.Equal((1, 1L, 1.0),
            (round.Phases[3].Groups[1].Threads, round.Phases[3].Groups[1].Count!.Value, round.Phases[3].Groups[1].AfterSeconds));
        // Without shards nothing is left that would end the readers.
        Assert.Equal(["load b", "load a"], round.WithoutBalancer().Phases.Select(p => p.Name));
    }

    [Fact]
    public void Options_for_operations_leave_the_balancer_alone()
    {
        Plan scenario = ScenarioTexts.Plan(
            ScenarioTexts.Data + "phases: [{balancer: off}, {name: p, operations: [{find: users, key: uniform}]}]\n",
            new PlanOverrides { Duration = 2, Threads = [1, 5] });
        Assert.Equal([(1, null), (1, 2.0), (5, 2.0)],
            scenario.Rounds[0].Phases.Where(p => p.Loads is null).Select(p => (p.Groups[0].Threads, p.Groups[0].Seconds)));
    }

    [Fact]
    public void If_chooses_by_a_parameter()
    {
        const string text = "parameters: {all: true}\n"
            + "phases: [{name: p, operations: [{find: users, key: uniform, projection: {^if: {is: $(all), else: {n: 1}}}}]}]\n";
        Assert.Null(Operations<FindDocuments>(ScenarioTexts.Plan(ScenarioTexts.Data + text)).Single().Projection);
        var overrides = new PlanOverrides { Parameters = new Dictionary<string, string> { ["all"] = "false" } };
        Assert.NotNull(Operations<FindDocuments>(ScenarioTexts.Plan(ScenarioTexts.Data + text, overrides)).Single().Projection);
    }

    [Fact]
    public void Overrides_that_repeat_the_file_are_not_told() => Assert.Empty(ScenarioTexts.Read(
        ScenarioTexts.Data + "parameters: {limit: [3, 4]}\n"
        + "phases: [{name: p, threads: 4, duration: 2s, operations: [{find: users, filter: {}, limit: $(limit)}]}]\n",
        new PlanOverrides
        {
            Threads = [4], Records = 1000, Duration = 2, Parameters = new Dictionary<string, string> { ["limit"] = "3, 4" },
        }).Changes);

    [Fact]
    public void Overrides_are_told_with_what_they_replace()
    {
        ReadPlan read = ScenarioTexts.Read(
            ScenarioTexts.Data + "parameters: {limit: 3}\n"
            + "phases: [{name: p, threads: 4, count: 100, operations: [{find: users, filter: {}, limit: $(limit)}]}]\n",
            new PlanOverrides
            {
                Threads = [1, 2], Records = 50, Duration = 2, Rates = [100], Scale = 0.5,
                Parameters = new Dictionary<string, string> { ["limit"] = "5" },
            });
        Assert.Equal(
        [
            "counts: times 0.5 (--scale)",
            "count of 'users': 50 (--records, the file says 1000)",
            "threads of 'p': 1, 2 (--threads, the file says 4)",
            "duration of 'p': 2s (--duration, the file says nothing)", "rate of 'p': 100 (--rate, the file says nothing)",
            "limit: 5 (--set, the file says 3)",
        ], read.Changes.Select(change => change.ToString()));
        PlanRound round = read.Plan.Rounds.Single();
        Assert.Equal(50, round.Collections.Single().Count);
        Assert.Equal([1, 2], round.Phases.Skip(1).Select(p => p.Groups.Single().Threads));
        Assert.All(round.Phases.Skip(1), p => Assert.Equal((2.0, (long?)null, (double?)100),
            (p.Groups.Single().Seconds, p.Groups.Single().Count, p.Groups.Single().Rate?.Highest)));
    }

    [Theory]
    [InlineData("warmup: 0s, ", null, 0)]
    [InlineData("warmup: 0.0ms, ", null, 0)]
    [InlineData("warmup: 0s, ", 2.0, 2)]
    [InlineData("warmup: 10s, ", null, 5)]
    [InlineData("", null, 5)]
    public void Another_duration_has_a_quarter_of_it_as_warm_up_unless_the_file_wants_none(string warmup, double? given, double expected)
    {
        PlanRound round = ScenarioTexts.Plan(
            ScenarioTexts.Data + $"phases: [{{name: p, duration: 1m, {warmup}operations: [{{find: users, key: uniform}}]}}]\n",
            new PlanOverrides { Duration = 20, Warmup = given }).Rounds.Single();
        Assert.Equal(expected, round.Phases[^1].Groups.Single().WarmupSeconds);
    }

    [Fact]
    public void Scale_multiplies_documents_operations_and_hot_sets()
    {
        PlanRound round = ScenarioTexts.Plan(
            ScenarioTexts.Data + "phases: [{name: p, count: 10k, operations: [{find: users, key: {first: 200}}]}]\n",
            new PlanOverrides { Scale = 0.1 }).Rounds.Single();
        Assert.Equal(100, round.Collections.Single().Count);
        Assert.Equal(1000, round.Phases[1].Groups.Single().Count);
        Assert.Equal(new FirstChoice(20), round.Phases[1].Groups.Single().Operations.Single().Operation.Choice);
    }

    [Fact]
    public void Reads_are_compared_until_something_has_changed_the_documents()
    {
        const string read = "{name: read, operations: [{find: users, key: uniform}]}";
        const string write = "{name: write, operations: [{update: users, key: uniform, with: {$set: {x: 1}}}]}";
        Assert.Null(NotVerified($"phases: [{read}]\n"));
        Assert.Null(NotVerified($"phases: [{read}, {write}]\n"));
        Assert.Equal(new DocumentChange("update", "write", "users"), NotVerified($"phases: [{write}, {read}]\n"));

        static DocumentChange? NotVerified(string phases) =>
            ScenarioTexts.Plan(ScenarioTexts.Data + phases).Rounds[0].Phases.Single(p => p.Name == "read").NotVerified;
    }

    [Fact]
    public void Types_are_those_of_extended_json_and_of_plain_yaml()
    {
        PlanCollection users = ScenarioTexts.Plan(
            "data:\n  users:\n    document: {_id: 1, a: 5, b: 5.0, c: '5', d: 5000000000, e: true, f: null, g: {$date: "
            + "'2011-03-13T07:06:40Z'}, h: {$numberLong: 7}, i: [1, x], j: -3}\n"
            + "phases: [{name: p, operations: [{find: users, key: uniform}]}]\n").Rounds.Single().Collections.Single();
        Assert.Equal(
            "{\"_id\": {\"$numberInt\": \"1\"}, \"a\": {\"$numberInt\": \"5\"}, \"b\": {\"$numberDouble\": \"5.0\"}, \"c\": \"5\", \"d\": "
            + "{\"$numberLong\": \"5000000000\"}, \"e\": true, "
            + "\"f\": null, \"g\": {\"$date\": {\"$numberLong\": \"1300000000000\"}}, \"h\": {\"$numberLong\": \"7\"}, \"i\": "
            + "[{\"$numberInt\": \"1\"}, \"x\"], \"j\": {\"$numberInt\": \"-3\"}}",
            ExtendedJson.Write(users.Documents.Make(0).Bytes, ExtendedJsonMode.Canonical));
    }

    [Fact]
    public void Find_by_a_field_asks_for_what_the_document_holds()
    {
        Plan scenario = ScenarioTexts.Plan(ScenarioTexts.Data
            + "phases: [{name: p, operations: [{find: users, filter: {name: {^field: name}, _id: ^key}}]}]\n");
        BsonDocument document = scenario.Rounds.Single().Collections.Single().Documents.Make(17);
        BsonDocument filter = Operations<FindDocuments>(scenario).Single().Filter.ToDocument(new ValueContext(17, 99));
        Assert.Equal(document.FindString("name"), filter.FindString("name"));
        Assert.Equal(document.Find("_id")!.Value.ToObjectId(), filter.Find("_id")!.Value.ToObjectId());
    }

    private static IEnumerable<T> Operations<T>(Plan scenario) => scenario.Rounds.SelectMany(r => r.Phases)
        .SelectMany(p => p.Groups).SelectMany(g => g.Operations).Select(o => o.Operation).OfType<T>();
}

using MongoPerf.Commands.Results;
using MongoPerf.Load.Plans;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Scenarios;

/// <summary>A scenario writes what its run creates, and nothing else without being allowed to.</summary>
public sealed class ForeignWritesTests
{
    private const string Pipeline = "{aggregate: users, pipeline: [{$match: {n: 1}}, STAGE]}";
    private const string AfterFind = "{steps: [{find: users, key: uniform, as: user}, ";

    [Theory]
    [InlineData("{runCommand: {ping: 1}}")]
    [InlineData("{runCommand: {find: audit, filter: {x: {^choice: [a, b]}}}, database: shop}")]
    [InlineData("{runCommand: {find: {^choice: [audit, users]}}}")]
    [InlineData("{runCommand: {aggregate: audit, pipeline: [{$match: {}}], cursor: {}}}")]
    [InlineData("{runCommand: {drop: users}}")]
    [InlineData("{runCommand: {update: users, updates: [{q: {}, u: [{$set: {x: 1}}]}]}}")]
    [InlineData("{runCommand: {explain: {update: users, updates: []}}}")]
    [InlineData("{runCommand: {createIndexes: photos.files, indexes: []}}")]
    [InlineData("{runCommand: {mapReduce: audit, map: m, reduce: r, out: {inline: 1}}}")]
    [InlineData("{runCommand: {mapReduce: users, map: m, reduce: r, out: {replace: log}}}")]
    [InlineData("{runCommand: {renameCollection: mongoperf.users, to: mongoperf.log}, database: admin}")]
    [InlineData("{runCommand: {bulkWrite: 1, ops: [], nsInfo: [{ns: mongoperf.users}, {ns: mongoperf.log}]}, database: admin}")]
    [InlineData("{runCommand: {shardCollection: mongoperf.users, key: {_id: hashed}}, database: admin}")]
    [InlineData("{aggregate: users, pipeline: [{$out: log}]}")]
    [InlineData("{aggregate: users, pipeline: [{$out: {db: mongoperf, coll: log}}]}")]
    [InlineData("{aggregate: users, pipeline: [{$merge: {into: {db: mongoperf, coll: log}}}]}")]
    [InlineData("{aggregate: users, pipeline: [{$merge: users}]}")]
    [InlineData("{aggregate: users, pipeline: [{$lookup: {from: audit, pipeline: [], as: x}}]}")]
    [InlineData("{update: users, key: uniform, with: [{$set: {n: 1}}]}")]
    [InlineData("{createIndexes: users, indexes: [name]}")]
    [InlineData("{upload: photos}")]
    [InlineData("{bulkWrite: [{insert: log}, {update: users, key: uniform, with: {$inc: {n: 1}}}]}")]
    [InlineData(AfterFind + "{insert: log}, {aggregate: users, pipeline: [{$match: {n: {^from: user.n}}}, {$out: log}]}]}")]
    public void Reading_and_writing_what_the_run_creates_is_allowed(string operation) => Assert.Empty(Listed(operation));

    [Theory]
    [InlineData("$out: audit", "mongoperf.audit")]
    [InlineData("$out: {db: shop, coll: audit}", "shop.audit")]
    [InlineData("$out: {db: shop, coll: users}", "shop.users")]
    [InlineData("$out: photos", "mongoperf.photos")]
    [InlineData("$out: shop.audit", "mongoperf.shop.audit")]
    [InlineData("$merge: audit", "mongoperf.audit")]
    [InlineData("$merge: {into: audit, whenMatched: replace}", "mongoperf.audit")]
    [InlineData("$merge: {into: {db: shop, coll: audit}}", "shop.audit")]
    [InlineData("$facet: {a: [{$out: audit}]}", "mongoperf.audit")]
    [InlineData("$lookup: {from: users, as: x, pipeline: [{$merge: {into: audit}}]}", "mongoperf.audit")]
    [InlineData("$unionWith: {coll: users, pipeline: [{$unionWith: {coll: users, pipeline: [{$out: audit}]}}]}", "mongoperf.audit")]
    public void A_stage_that_writes_elsewhere_is_found_at_any_depth(string stage, string written)
    {
        Assert.Equal(written, Refused(Pipeline.Replace("STAGE", $"{{{stage}}}", StringComparison.Ordinal)));
        Assert.Equal(written, Refused($"{{runCommand: {{aggregate: users, pipeline: [{{{stage}}}], cursor: {{}}}}}}"));
        Assert.Equal(written, Refused($"{AfterFind}{{aggregate: users, pipeline: [{{{stage}}}]}}]}}"));
        Assert.Equal(written, Refused($"{{runCommand: {{create: log, viewOn: users, pipeline: [{{{stage}}}]}}}}"));
        Assert.Equal(written, Refused(Pipeline.Replace("STAGE", $"{{^choice: [{{$limit: 1}}, {{{stage}}}]}}", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData("insert: audit, documents: []", "shop.audit")]
    [InlineData("update: audit, updates: []", "shop.audit")]
    [InlineData("delete: audit, deletes: []", "shop.audit")]
    [InlineData("findAndModify: audit, remove: true", "shop.audit")]
    [InlineData("findandmodify: audit, remove: true", "shop.audit")]
    [InlineData("drop: audit", "shop.audit")]
    [InlineData("drop: users", "shop.users")]
    [InlineData("create: audit", "shop.audit")]
    [InlineData("collMod: audit", "shop.audit")]
    [InlineData("convertToCapped: audit, size: 1000", "shop.audit")]
    [InlineData("cloneCollectionAsCapped: users, toCollection: audit, size: 1000", "shop.audit")]
    [InlineData("createIndexes: audit, indexes: []", "shop.audit")]
    [InlineData("dropIndexes: audit, index: '*'", "shop.audit")]
    [InlineData("reIndex: audit", "shop.audit")]
    [InlineData("compact: audit", "shop.audit")]
    [InlineData("validate: audit, repair: true", "shop.audit")]
    [InlineData("explain: {delete: audit, deletes: []}", "shop.audit")]
    [InlineData("mapReduce: users, map: m, reduce: r, out: audit", "shop.audit")]
    [InlineData("mapReduce: users, map: m, reduce: r, out: {merge: audit, db: other}", "other.audit")]
    [InlineData("renameCollection: mongoperf.users, to: shop.audit", "shop.audit")]
    [InlineData("renameCollection: shop.a.b, to: mongoperf.users", "shop.a.b")]
    [InlineData("bulkWrite: 1, ops: [], nsInfo: [{ns: mongoperf.users}, {ns: shop.audit}]", "shop.audit")]
    [InlineData("shardCollection: shop.audit, key: {_id: 1}", "shop.audit")]
    [InlineData("moveChunk: shop.audit, find: {_id: 1}, to: s1", "shop.audit")]
    [InlineData("dropDatabase: 1", "shop.*")]
    [InlineData("enableSharding: other", "other.*")]
    [InlineData("fsync: 1, lock: true", "server")]
    [InlineData("shutdown: 1", "server")]
    [InlineData("setParameter: 1, notablescan: true", "server")]
    [InlineData("setFeatureCompatibilityVersion: '6.0'", "server")]
    [InlineData("createUser: eve, pwd: x, roles: []", "server")]
    [InlineData("profile: 2", "server")]
    [InlineData("killOp: 1, op: 7", "server")]
    [InlineData("applyOps: [{op: d, ns: shop.audit, o: {_id: 1}}]", "server")]
    [InlineData("eval: db.audit.drop()", "server")]
    [InlineData("notACommand: 1", "server")]
    [InlineData("Find: audit", "server")]
    public void A_command_that_writes_elsewhere_or_is_not_known_to_read_is_refused(string command, string written)
    {
        string operation = $"{{runCommand: {{{command}}}, database: shop}}";
        Assert.Equal(written, Refused(operation));
        Assert.Equal(written, Refused($"{AfterFind}{operation}]}}"));
        ReadPlan read = Read(operation, $"mayWrite: ['{written}']");
        Assert.Contains(written, WritePermission.RequireListed(read, "mongoperf").Select(target => target.Name));
    }

    [Theory]
    [InlineData("aggregate: users, pipeline: [{^from: u.stage}]")]
    [InlineData("aggregate: users, pipeline: [{$match: {}}, {^choice: [{$limit: 1}, {^from: {path: u.stage, default: {$limit: 1}}}]}]")]
    [InlineData("runCommand: {aggregate: users, pipeline: {^from: u.stages}, cursor: {}}")]
    [InlineData("runCommand: {aggregate: users, pipeline: [{^from: u.stage}], cursor: {}}")]
    [InlineData("runCommand: {drop: {^from: u.name}}")]
    [InlineData("aggregate: users, pipeline: [{$out: {^from: u.name}}]")]
    public void What_an_earlier_step_brings_decides_nothing_about_where_a_step_writes(string step)
    {
        ReadPlan read = Read($"{{steps: [{{find: users, key: uniform, as: u}}, {{{step}}}]}}", "mayWrite: [server, mongoperf.*, shop.*]");
        var e = Assert.Throws<UserException>(() => WritePermission.RequireListed(read, "mongoperf"));
        Assert.Equal(ExitCode.Refused, e.Code);
        Assert.Contains("it can't be checked before the run", e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("aggregate: users, pipeline: [{$match: {_id: {^from: u._id}}}, {$limit: {^from: u.n}}]")]
    [InlineData("aggregate: users, pipeline: [{^choice: [{$limit: 1}, {$limit: {^from: u.n}}]}]")]
    public void Values_in_a_stage_may_come_from_an_earlier_step(string step) =>
        Assert.Empty(Listed($"{{steps: [{{find: users, key: uniform, as: u}}, {{{step}}}]}}"));

    [Theory]
    [InlineData("{aggregate: users, pipeline: [{$out: ^word}]}")]
    [InlineData("{aggregate: users, pipeline: [{$out: {^field: name}}]}")]
    [InlineData("{aggregate: users, pipeline: [{$merge: {into: {^choice: [log, users]}}}]}")]
    [InlineData("{aggregate: users, pipeline: [{$merge: {into: {db: ^word, coll: log}}}]}")]
    [InlineData("{aggregate: users, pipeline: [{$out: {db: 'mongoperf.x', coll: log}}]}")]
    [InlineData("{runCommand: {drop: {^choice: [log, users]}}}")]
    [InlineData("{runCommand: {insert: ^word, documents: []}}")]
    [InlineData("{runCommand: {renameCollection: mongoperf.users, to: {^string: 5}}}")]
    [InlineData("{runCommand: {renameCollection: mongoperf.users, to: log}}")]
    [InlineData("{runCommand: {bulkWrite: 1, nsInfo: [{ns: {^choice: [mongoperf.log]}}]}}")]
    [InlineData("{runCommand: {mapReduce: users, out: {^choice: [log]}}}")]
    [InlineData("{runCommand: {shardCollection: ^word}}")]
    [InlineData(AfterFind + "{runCommand: {drop: {^from: user.name}}}]}")]
    [InlineData(AfterFind + "{aggregate: users, pipeline: [{$out: {^from: {path: user.name, default: log}}}]}]}")]
    [InlineData(AfterFind + "{aggregate: users, pipeline: [{^from: user.stage}]}]}")]
    [InlineData(AfterFind + "{aggregate: users, pipeline: [{^choice: [{$limit: 1}, {^from: user.stage}]}]}]}")]
    [InlineData(AfterFind + "{runCommand: {aggregate: users, pipeline: {^from: user.stages}, cursor: {}}}]}")]
    public void A_name_that_is_drawn_or_invalid_is_refused_whatever_may_be_written(string operation)
    {
        ReadPlan read = Read(operation, "mayWrite: [server, mongoperf.*, shop.*]");
        UserException refused = Assert.Throws<UserException>(() => WritePermission.RequireListed(read, "mongoperf"));
        Assert.Equal(ExitCode.Refused, refused.Code);
        Assert.Contains("can't be checked", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_stage_in_the_documents_themselves_is_found_where_a_field_of_them_is_a_stage()
    {
        string text = """
            data:
              users: {count: 1, document: {stage: {$out: audit}}}
            phases:
              - {name: p, count: 1, operations: [{aggregate: users, pipeline: [{^field: stage}]}]}
            """;
        Assert.Contains(
            "writes mongoperf.audit",
            Assert.Throws<UserException>(() => WritePermission.RequireListed(ScenarioTexts.Read(text), "mongoperf")).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void No_file_may_write_the_markers() =>
        Assert.Contains("mongoperf.mongoperf is where MongoPerf keeps its markers", Assert.Throws<UserException>(() =>
            WritePermission.RequireListed(Read("{runCommand: {delete: mongoperf, deletes: []}}", "mayWrite: [mongoperf.mongoperf]"),
                "mongoperf")).Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("{runCommand: {drop: x, $db: shop}}", "$db is not allowed")]
    [InlineData("{runCommand: {explain: {drop: x, $db: shop}}}", "$db is not allowed")]
    [InlineData("{runCommand: {drop: x}, database: x.y}", "'x.y' is not a database name")]
    [InlineData("{runCommand: {drop: x}, database: ''}", "'' is not a database name")]
    public void A_command_names_one_valid_database(string operation, string message) =>
        Assert.Contains(message, Assert.Throws<UserException>(() => Read(operation)).Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("$db: shop", "$db is not an option of create")]
    [InlineData("create: audit", "create is not an option of create")]
    public void Options_of_a_collection_name_no_other(string option, string message) =>
        Assert.Contains(message, ScenarioTexts.Refusal($"data: {{c: {{options: {{{option}}}}}}}\n"
            + $"phases: [{{name: p, count: 1, operations: [{{count: c}}]}}]\n").Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("a/../../tmp/x")]
    [InlineData("a/b")]
    [InlineData("a\\\\b")]
    public void No_bucket_is_named_like_a_path(string name) =>
        Assert.Contains(
            "must not contain slashes",
            ScenarioTexts.Refusal($"data: {{\"{name}\": {{files: {{length: 10}}}}}}\nphases: [{{load: x}}]\n").Message,
            StringComparison.Ordinal);

    [Theory]
    [InlineData("audit")]
    [InlineData("shop.")]
    [InlineData(".audit")]
    [InlineData("sh op.audit")]
    [InlineData("'*'")]
    public void What_may_be_written_is_named_whole(string name) =>
        Assert.Contains("allowed: DB.COLL such as shop.audit",
            Assert.Throws<UserException>(() => Read("{count: users}", $"mayWrite: [{name}]")).Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("shop.audit", "shop.audit", null)]
    [InlineData("shop.*", "shop.*", null)]
    [InlineData("shop.audit", null, "--may-write shop.audit")]
    [InlineData("shop.*", null, "--may-write shop.audit")]
    [InlineData("shop.auditx", "shop.auditx", "mayWrite: [shop.audit]")]
    [InlineData("sho.*", "sho.*", "mayWrite: [shop.audit]")]
    [InlineData("server", "server", "mayWrite: [shop.audit]")]
    [InlineData("shop.audit", "shop.other", "--may-write shop.audit")]
    public void The_file_lists_it_and_the_command_line_confirms_it(string listed, string? confirmed, string? hint)
    {
        RunRequest request = Request(Read("{runCommand: {drop: audit}, database: shop}", $"mayWrite: ['{listed}']")) with
        {
            MayWrite = confirmed is null ? [] : [confirmed],
        };
        if (hint is null)
        {
            WritePermission.Require(request);
            return;
        }

        UserException refused = Assert.Throws<UserException>(() => WritePermission.Require(request));
        Assert.Equal(ExitCode.Refused, refused.Code);
        Assert.Contains(hint, refused.Hint, StringComparison.Ordinal);
    }

    [Fact]
    public void Confirming_what_the_file_does_not_list_is_a_mistake() =>
        Assert.Contains(
            "does not list 'shop.audit'",
            Assert.Throws<UserException>(() =>
                WritePermission.Require(Request(Read("{count: users}")) with { MayWrite = ["shop.audit"] })).Message,
            StringComparison.Ordinal);

    [Theory]
    [InlineData("{$out: log}", true)]
    [InlineData("{$limit: 1}", false)]
    public void Reads_after_an_aggregation_that_writes_are_not_compared_with_what_was_written(string stage, bool writes)
    {
        Plan plan = ScenarioTexts.Plan($"{ScenarioTexts.Data}phases:\n  - {{name: first, count: 1, operations: [{{aggregate: users, "
            + $"pipeline: [{stage}]}}]}}\n  - {{name: second, count: 1, operations: [{{find: users, filter: {{_id: ^key}}}}]}}\n");
        Assert.Equal(writes ? new DocumentChange("aggregate", "first", "") : null, plan.Phases.Last().NotVerified);
        Operation aggregation = plan.Operations.Single(operation => operation is AggregateDocuments);
        Assert.Equal((!writes, writes), (aggregation.IsRead, aggregation.IsWrite));
    }

    private static ReadPlan Read(string operation, string top = "") => ScenarioTexts.Read($$$"""
        {{{top}}}
        data:
          users: {count: 10, document: {n: ^number, name: ^word}}
          log: {}
          photos: {files: {count: 1, length: 10}}
        phases:
          - {name: p, count: 1, operations: [{{{operation}}}]}
        """);

    private static IEnumerable<string?> Listed(string operation) =>
        WritePermission.RequireListed(Read(operation), "mongoperf").Select(target => target.Name);

    /// <returns>What has to be listed.</returns>
    private static string Refused(string operation)
    {
        UserException refused = Assert.Throws<UserException>(() => Listed(operation));
        Assert.Equal(ExitCode.Refused, refused.Code);
        Assert.StartsWith("operation '", refused.Message, StringComparison.Ordinal);
        return refused.Hint!.Split("mayWrite: [")[1].Split(']')[0];
    }

    private static RunRequest Request(ReadPlan read) => new()
    {
        Settings = new RunSettings
        {
            Deployment = new DeploymentSettings(),
            Data = new DataSettings { Database = "mongoperf" },
            Plan = new PlanSettings
            {
                Name = "x", Description = "", Path = "x.yaml", Text = "", Parameters = [], TargetDocuments = 1, VerifyShare = 0,
            },
        },
        Plan = read,
        ReadPlan = _ => read,
        Seed = 42,
        CommandLine = "",
        Output = new OutputRequest("runs", "text", true, true, new ResultPrinter()),
    };
}

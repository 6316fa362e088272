using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>What runs say of how a server carries out their operations, held against the server's own explain and profiler.</summary>
[Collection(LightTests.Name)]
public sealed class ExplainedTests(TestServers servers) : IDisposable
{
    private const string Match = "{$match: {$expr: {$eq: [$k, $$k]}}}";

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void Every_stage_counts_and_what_the_server_does_not_explain_is_said(string kind)
    {
        bool isMongod = kind == "mongod";
        // The embedded server has none.
        string union = isMongod ? "{$unionWith: {coll: inner, pipeline: [{$match: {w: 3}}]}}" : "{$match: {}}";
        string file = Write($$$$$"""
            - {name: lookup, aggregate: outer, pipeline: [{$match: {_id: {$lt: 20}}}, {$lookup: {from: inner, let: {k: $k}, pipeline: [{{{{{Match}}}}}], as: x}}]}
            - {name: by index, aggregate: outer, pipeline: [{$match: {_id: 3}}, {$lookup: {from: keyed, localField: k, foreignField: k, as: x}}]}
            - {name: union, aggregate: outer, pipeline: [{$match: {_id: 3}}, {{{{{union}}}}}]}
            - {name: facet, aggregate: outer, pipeline: [{$match: {_id: 3}}, {$facet: {a: [{{{{{union}}}}}]}}]}
            - {find: outer, filter: {z: 5}}
            - {count: outer, filter: {z: 5}}
            - {distinct: outer, field: k, filter: {z: 5}}
            - {update: outer, filter: {z: 5}, with: {$inc: {z: 0}}, many: true}
            - {delete: outer, filter: {z: 777}}
            - {findAndModify: outer, filter: {_id: 5}, with: {$inc: {z: 0}}}
            - {name: out, aggregate: outer, pipeline: [{$match: {z: 5}}, {$out: copied}]}
            """);
        foreach (string engine in (string[])["wire", "driver"])
        {
            string output = ProgramRun.Run("run", file, "--uri", servers[kind].Uri, "--db", "explained" + engine, "--engine", engine,
                "--out", _runs.Path).Expect(0).Errors;
            using var run = StoredRun.Open(Path.Combine(_runs.Path, _runs.Ids[^1]));
            var plans = run.Phases.Single(phase => phase.Phase == "work").Operations.ToDictionary(one => one.Operation, one => one.Plan);
            // The embedded server explains finds only.
            Assert.Equal(isMongod ? plans.Keys : ["find"], plans.Where(plan => plan.Value is not null).Select(plan => plan.Key));
            Assert.Equal(200, plans["find"]!.DocumentsExamined);
            if (!isMongod)
            {
                Assert.Contains("lookup, by index, union, facet, count, distinct, update, delete, findAndModify, out: the server gives no "
                    + "query plan", output, StringComparison.Ordinal);
                continue;
            }

            Assert.Equal([("_id_", 20L), (null, 20_000)], Sources(plans["lookup"]!));
            Assert.Equal([("_id_", 1L), ("k_1", plans["by index"]!.DocumentsExamined - 1)], Sources(plans["by index"]!));
            foreach (string name in (string[])["union", "facet"])
                Assert.Equal([("_id_", 1L), (null, 1000)], Sources(plans[name]!));
            foreach (string name in (string[])["count", "distinct", "update", "delete", "out"])
                Assert.Equal((null, 200L), (plans[name]!.Index, plans[name]!.DocumentsExamined));
            Assert.Equal(("_id_", 1L, "UPDATE > IDHACK"), (plans["findAndModify"]!.Index, plans["findAndModify"]!.DocumentsExamined,
                plans["findAndModify"]!.Stages));
        }
    }

    /// <summary>Only the find is ever drawn: what had been written, explain would have written.</summary>
    [MongodFact]
    public void Explaining_writes_nothing()
    {
        using MongoConnection connection = servers["mongod"].Connect();
        const string Database = "explainedonly";
        string file = Write("""
            - {find: outer, filter: {z: 5}, weight: 1000000000}
            - {update: outer, filter: {z: {$gte: 0}}, with: {$set: {z: -1}}, many: true}
            - {name: upsert, update: outer, filter: {_id: 7777}, with: {$set: {z: -1}}, upsert: true}
            - {delete: outer, filter: {z: {$gte: 0}}, many: true}
            - {findAndModify: outer, filter: {z: {$gte: 0}}, with: {$set: {z: -1}}}
            - {name: out, aggregate: outer, pipeline: [{$out: copied}]}
            - {name: merge, aggregate: outer, pipeline: [{$merge: inner}]}
            """, count: 1);
        ProgramRun.Run("run", file, "--uri", servers["mongod"].Uri, "--db", Database, "--out", _runs.Path).Expect(0);
        using (var run = StoredRun.Open(Path.Combine(_runs.Path, _runs.Ids[^1])))
        {
            PhaseRecord work = run.Phases.Single(phase => phase.Phase == "work");
            Assert.Equal(["find"], work.Operations.Where(one => one.Operations > 0).Select(one => one.Operation));
            Assert.All(work.Operations, one => Assert.NotNull(one.Plan));
        }

        Assert.Equal((200L, 1000L, 0L), (Count("outer"), Count("inner"), Count("copied")));

        long Count(string collection) => connection.RunCommand(Database, BsonDocument.Of(
            ("count", collection), ("query", BsonDocument.Of(("z", BsonDocument.Of(("$ne", -1))))))).FindInt64("n")!.Value;
    }

    private static IEnumerable<(string?, long)> Sources(PlanSummary plan) =>
        plan.Sources.Select(source => (source.Index, source.DocumentsExamined ?? -1));

    private string Write(string operations, int count = 22)
    {
        string path = Path.Combine(_runs.Path, "explained.yaml");
        string indented = string.Join("\n", operations.Split('\n').Select(line => $"      {line}"));
        File.WriteAllText(path, $$$$"""
            data:
              outer: {count: 200, document: {_id: ^number, k: {^int: [0, 49]}, z: {^int: [0, 199]}}}
              inner: {count: 1000, document: {_id: ^number, k: {^int: [0, 49]}, w: {^int: [0, 6]}}}
              keyed: {count: 300, document: {_id: ^number, k: {^int: [0, 49]}}, indexes: [k]}
              copied: {}
            phases:
              - {load: outer}
              - {load: inner}
              - {load: keyed}
              - name: work
                count: {{{{count}}}}
                explain: true
                operations:
            {{{{indented}}}}
            """);
        return path;
    }
}

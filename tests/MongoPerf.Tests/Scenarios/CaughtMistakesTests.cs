using MongoPerf.Scenarios;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Mistakes that a server, or nobody, would find out about later: each message and hint word for word.</summary>
public sealed class CaughtMistakesTests
{
    private const string Stages =
        "$addFields, $bucket, $bucketAuto, $changeStream, $changeStreamSplitLargeEvent, $collStats, $count, $currentOp, $densify, "
        + "$documents, $facet, $fill, $geoNear, $graphLookup, $group, "
        + "$indexStats, $limit, $listLocalSessions, $listSampledQueries, $listSearchIndexes, $listSessions, $lookup, $match, $merge, $out, "
        + "$planCacheStats, $project, $querySettings, "
        + "$queryStats, $redact, $replaceRoot, $replaceWith, $sample, $search, $searchMeta, $set, $setWindowFields, "
        + "$shardedDataDistribution, $skip, $sort, $sortByCount, $unionWith, $unset, "
        + "$unwind, $vectorSearch";

    private const string UpdateOperators =
        "$addToSet, $bit, $currentDate, $inc, $max, $min, $mul, $pop, $pull, $pullAll, $push, $rename, $set, $setOnInsert, $unset";
    private const string FilterOperators = "$and, $comment, $expr, $jsonSchema, $nor, $or, $sampleRate, $text, $where";

    private const string FieldOperators =
        "$all, $bitsAllClear, $bitsAllSet, $bitsAnyClear, $bitsAnySet, $elemMatch, $eq, $exists, $geoIntersects, $geoWithin, $gt, $gte, "
        + "$in, $lt, $lte, $maxDistance, $minDistance, $mod, $ne, "
        + "$near, $nearSphere, $nin, $not, $options, $regex, $size, $type";

    private const string Kinds =
        "insert, insertMany, find, update, replace, delete, findAndModify, readModifyWrite, steps, bulkWrite, upload, download, count, "
        + "distinct, aggregate, watch, createIndexes, dropIndexes, compact, validate, runCommand";

    private const string OtherName = "give it a name of its own: results are told apart by it";
    private const string OneLoad = "a collection is loaded once, unless a phase with create: users is between the loads";
    private const string NoWeight =
        "remove the operation; a weight may be 0 only where it is a parameter's value, such as weight: $(reads)";

    [Theory]
    [InlineData("  - {name: p, operations: [{find: users, key: uniform}]}\n  - {name: p, operations: [{count: users}]}\n",
        "test.yaml:7: phase 'p': the phase at line 6 already has this name", OtherName)]
    [InlineData("  - load: users\n  - name: load users\n    operations: [{find: users, key: uniform}]\n",
        "test.yaml:7: phase 'load users': the phase at line 6 already has this name", OtherName)]
    [InlineData("  - {name: phase 2, operations: [{find: users, key: uniform}]}\n  - operations: [{count: users}]\n",
        "test.yaml:7: phase 'phase 2': the phase at line 6 already has this name", OtherName)]
    [InlineData("  - {load: users, threads: 1}\n  - {load: users, threads: 2}\n",
        "test.yaml:7: phase 'load users': the phase at line 6 already has this name", OneLoad)]
    [InlineData("  - {name: p, operations: [{find: users, key: uniform}, {count: users, weight: 0}]}\n",
        "test.yaml:6: phase 'p': weight is 0, so this operation would never run", NoWeight)]
    [InlineData("  - name: p\n    groups:\n      - {name: g, count: 5, operations: [{find: users, key: uniform, weight: 0.0}]}\n",
        "test.yaml:8: phase 'p': weight is 0, so this operation would never run", NoWeight)]
    public void Phases(string phases, string message, string hint) => Check(ScenarioTexts.Data + "phases:\n" + phases, message, hint);

    /// <summary>What is shown on a terminal must not move its cursor.</summary>
    [Theory]
    [InlineData("  - {name: \"p\\e[2J\", operations: [{find: users, key: uniform}]}\n",
        "test.yaml:6: phase 1: its name contains a control character")]
    [InlineData("  - {name: p, operations: [{find: users, key: uniform, name: \"o\\a\"}]}\n",
        "test.yaml:6: p: find: name contains a control character")]
    [InlineData("  - {name: p, operations: [{find: users, filter: {\"n\\e\": 1}}]}\n", "test.yaml:6: a key contains a control character")]
    public void Control_characters(string phases, string message) => Check(ScenarioTexts.Data + "phases:\n" + phases, message, "");

    [Theory]
    [InlineData(
        "{update: users, key: uniform, with: {n: 1}}", "p.update.with has no update operator", "write with: {$set: {…}}, or use replace")]
    [InlineData("{readModifyWrite: users, key: uniform, name: rmw, with: {n: 1}}", "p.rmw.with has no update operator",
        "write with: {$set: {…}}, or use replace")]
    [InlineData("{find: users, filter: {}, limit: five}", "p.find.limit: expected a whole number from 0, or a generator",
        "such as limit: 10 or limit: {^int: [1, 10]}")]
    [InlineData("{find: users, filter: {}, limit: -1}", "p.find.limit: expected a whole number from 0, or a generator",
        "such as limit: 10 or limit: {^int: [1, 10]}")]
    [InlineData("{find: users, filter: {}, skip: 1.5}", "p.find.skip: expected a whole number from 0, or a generator",
        "such as skip: 10 or skip: {^int: [1, 10]}")]
    [InlineData("{count: users, limit: {n: 1}}", "p.count.limit: expected a whole number from 0, or a generator",
        "such as limit: 10 or limit: {^int: [1, 10]}")]
    [InlineData("{find: users, filter: {}, sort: {n: asc}}",
        "p.find.sort: a field's direction is 1 (ascending) or -1 (descending)", "such as sort: {age: -1}")]
    [InlineData("{update: users, key: uniform, with: {$sett: {n: 1}}}",
        "p.update.with: unknown update operator '$sett'; allowed: " + UpdateOperators, "did you mean '$set'?")]
    [InlineData("{findAndModify: users, key: uniform, with: {$push: {n: 1}, $inkr: {n: 1}}}",
        "p.findAndModify.with: unknown update operator '$inkr'; allowed: " + UpdateOperators, "did you mean '$inc'?")]
    [InlineData("{readModifyWrite: users, key: uniform, name: rmw, with: {$curentDate: {n: 1}}}",
        "p.rmw.with: unknown update operator '$curentDate'; allowed: " + UpdateOperators, "did you mean '$currentDate'?")]
    [InlineData("{update: users, key: uniform, with: [{$match: {n: 1}}]}",
        "p.update.with: unknown pipeline stage '$match'; allowed: $addFields, $project, $replaceRoot, $replaceWith, $set, $unset", "")]
    [InlineData("{aggregate: users, pipeline: [{$macth: {n: 1}}]}",
        "p.aggregate.pipeline: unknown pipeline stage '$macth'; allowed: " + Stages, "did you mean '$match'?")]
    [InlineData("{aggregate: users, pipeline: [{match: {n: 1}}]}",
        "p.aggregate.pipeline: unknown pipeline stage 'match'; allowed: " + Stages, "did you mean '$match'?")]
    [InlineData("{aggregate: users, pipeline: [{$facet: {a: [{$limti: 1}]}}]}",
        "p.aggregate.pipeline.0.$facet.a: unknown pipeline stage '$limti'; allowed: " + Stages, "did you mean '$limit'?")]
    [InlineData("{aggregate: users, pipeline: [{$skip: 1}, {$unionWith: {coll: b, pipeline: [{$zzzzzzz: 1}]}}]}",
        "p.aggregate.pipeline.1.$unionWith.pipeline: unknown pipeline stage '$zzzzzzz'; allowed: " + Stages, "")]
    [InlineData("{aggregate: users, pipeline: [{$match: {n: 1}, $limit: 1}]}",
        "p.aggregate.pipeline: a stage is a mapping with one key; found $match, $limit", "such as [{$match: {…}}, {$sort: {…}}]")]
    [InlineData("{aggregate: users, pipeline: [{$match: {n: {$gtt: 1}}}]}",
        "p.aggregate.pipeline.0.$match.n: unknown query operator '$gtt'; allowed: " + FieldOperators, "did you mean '$gt'?")]
    [InlineData("{find: users, filter: {$ands: [{n: 1}]}}",
        "p.find.filter: unknown query operator '$ands'; allowed: " + FilterOperators, "did you mean '$and'?")]
    [InlineData("{find: users, filter: {$or: [{n: 1}, {n: {$getting: 1}}]}}",
        "p.find.filter.$or.n: unknown query operator '$getting'; allowed: " + FieldOperators, "")]
    [InlineData("{count: users, filter: {n: {$gte: 1, $let: 2}}}",
        "p.count.filter.n: unknown query operator '$let'; allowed: " + FieldOperators, "did you mean '$lt'?")]
    [InlineData("{delete: users, filter: {n: {$not: {$inn: [1]}}}}",
        "p.delete.filter.n.$not: unknown query operator '$inn'; allowed: " + FieldOperators, "did you mean '$in'?")]
    [InlineData("{distinct: users, field: n, filter: {n: {$elemMatch: {a: {$nee: 1}}}}}",
        "p.distinct.filter.n.$elemMatch.a: unknown query operator '$nee'; allowed: " + FieldOperators, "did you mean '$ne'?")]
    [InlineData("{find: users, filter: {n: {$elemMatch: {$szie: 1}}}}",
        "p.find.filter.n.$elemMatch: unknown query operator '$szie'; allowed: " + FieldOperators, "did you mean '$size'?")]
    public void Operators_and_stages(string operation, string message, string hint) => CheckOperation(operation, message, hint);

    [Theory]
    [InlineData("findOne", "did you mean 'find'?")]
    [InlineData("query", "did you mean 'find'?")]
    [InlineData("read", "did you mean 'find'?")]
    [InlineData("insertOne", "did you mean 'insert'?")]
    [InlineData("updateOne", "did you mean 'update'?")]
    [InlineData("updateMany", "did you mean 'update: …, many: true'?")]
    [InlineData("replaceOne", "did you mean 'replace'?")]
    [InlineData("deleteOne", "did you mean 'delete'?")]
    [InlineData("remove", "did you mean 'delete'?")]
    [InlineData("deleteMany", "did you mean 'delete: …, many: true'?")]
    [InlineData("findOneAndUpdate", "did you mean 'findAndModify'?")]
    [InlineData("findOneAndReplace", "did you mean 'findAndModify'?")]
    [InlineData("findOneAndDelete", "did you mean 'findAndModify: …, remove: true'?")]
    [InlineData("countDocuments", "did you mean 'count'?")]
    [InlineData("createIndex", "did you mean 'createIndexes'?")]
    [InlineData("dropIndex", "did you mean 'dropIndexes'?")]
    [InlineData("bulkwrite", "did you mean 'bulkWrite'?")]
    [InlineData("aggregat", "did you mean 'aggregate'?")]
    public void Names_of_operations_elsewhere(string kind, string hint) =>
        CheckOperation($"{{name: x, {kind}: users}}", $"p: unknown operation '{kind}'; allowed: {Kinds}", hint);

    [Fact]
    public void Operation_without_anything_to_do() =>
        CheckOperation("{name: x, weight: 5}", $"p: no key names the operation, found only name, weight; allowed: {Kinds}", "");

    [Theory]
    [InlineData(
        "threads: 1..32", "phase 'p': threads: '1..32' is not a count", "a list gives a result for each value: threads: [1, 8, 32]")]
    [InlineData("threads: 1-32", "phase 'p': threads: '1-32' is not a count", "a list gives a result for each value: threads: [1, 8, 32]")]
    [InlineData("threads: 1,8", "phase 'p': threads: '1,8' is not a count", "a list gives a result for each value: threads: [1, 8, 32]")]
    [InlineData("threads: ramp", "phase 'p': threads: 'ramp' is not a count", "a list gives a result for each value: threads: [1, 8, 32]")]
    [InlineData("threads: ramp 1 to 32", "phase 'p': threads: 'ramp 1 to 32' is not a count",
        "a list gives a result for each value: threads: [1, 8, 32]")]
    [InlineData("threads: {from: 1, to: 32}", "phase 'p': threads is a mapping; expected a single value",
        "a list gives a result for each value: threads: [1, 8, 32]")]
    [InlineData("threads: many", "phase 'p': threads: 'many' is not a count", "")]
    [InlineData("count: 1k..10k", "count: '1k..10k' is not a count",
        "to run it with several values, declare parameters: {count: [1, 8, 32]} and write count: $(count)")]
    [InlineData("duration: 1s-8s", "phase 'p': duration: '1s-8s' is not a duration",
        "to run it with several values, declare parameters: {duration: [1s, 8s, 32s]} and write duration: $(duration)")]
    [InlineData("duration: [1s, 8s]", "phase 'p': duration is a list; expected a single value",
        "to run it with several values, declare parameters: {duration: [1s, 8s, 32s]} and write duration: $(duration)")]
    public void Several_values_without_a_list(string entry, string message, string hint)
    {
        (string found, string foundHint) = ScenarioTexts.Refusal(ScenarioTexts.Data
            + $"phases:\n  - name: p\n    {entry}\n    operations: [{{find: users, key: uniform}}]\n");
        Assert.StartsWith("test.yaml:7: " + message, found, StringComparison.Ordinal);
        Assert.Equal(hint, foundHint);
    }

    [Fact]
    public void List_in_braces_without_brackets() => Check(
        ScenarioTexts.Data + "phases: [{name: p, threads: 1,8, operations: [{find: users, key: uniform}]}]\n",
        "test.yaml:5: phase 'p': unknown key '8'",
        "a list needs brackets, such as threads: [1, 8, 32]");

    [Theory]
    [InlineData("{update: users, key: uniform, with: {$set: {n: 1}, $inc: {n: 1}, $push: {a: {$each: [1], $slice: 3}}}}")]
    [InlineData("{update: users, key: uniform, with: [{$set: {n: 1}}, {$unset: n}]}")]
    [InlineData("{replace: users, key: uniform, with: {n: 1}}")]
    [InlineData("{findAndModify: users, key: uniform, with: {n: 1}}")]
    [InlineData("{find: users, filter: {}, limit: {^int: [1, 9]}, skip: 3.0, sort: {n: -1, score: {$meta: textScore}}}")]
    [InlineData("{update: users, key: uniform, with: {^choice: {of: [{$set: {n: 1}}, {$inc: {n: 1}}]}}}")]
    [InlineData("{find: users, filter: {r: {$ref: a, $id: 5}, n: {$gte: {$numberLong: 5}, $lt: {^int: [5, 9]}}, d: {$date: "
        + "'2011-03-13T07:06:40Z'}, $comment: why}}")]
    [InlineData("{find: users, filter: {$expr: {$gtt: [1]}, $jsonSchema: {required: [n]}, $where: 'true', $text: {$search: a}}}")]
    [InlineData("{find: users, filter: {p: {$near: {$geometry: {type: Point, coordinates: [1, 2]}, $maxDistance: 5}}, s: {a: {$anything: "
        + "1}}, n: {$not: {$regex: a, $options: i}}}}")]
    [InlineData(
        "{find: users, filter: {a: {$elemMatch: {$or: [{b: 1}, {c: {$in: [1]}}]}}, b: {$elemMatch: {$gt: 1}}, c: {$elemMatch: {x: 1}}}}")]
    [InlineData("{aggregate: users, pipeline: [{$match: {$expr: {$zz: 1}}}, {$group: {_id: $n, s: {$sum: 1}}}, {$lookup: {from: b, "
        + "pipeline: [{$match: {n: 1}}], as: b}}, {^choice: {of: [{$limit: 1}]}}]}")]
    [InlineData("{runCommand: {anything: 1, pipeline: [{$new: 1}]}}")]
    public void What_MongoDB_has_passes(string operation) =>
        Assert.NotEmpty(ScenarioTexts.Plan(ScenarioTexts.Data + $"phases: [{{name: p, operations: [{operation}]}}]\n").Rounds);

    [Theory]
    [InlineData("phases: [{name: p, threads: [1, 2], repeat: 2, operations: [{find: users, key: uniform}]}]\n", "load users, p, p, p, p")]
    [InlineData("phases: [{create: users}, {load: users}, {create: users}, {load: users}]\n",
        "create users, load users, create users, load users")]
    [InlineData("phases: [{balancer: off}, {balancer: on}, {balancer: off}]\n", "load users, balancer off, balancer on, balancer off")]
    [InlineData(
        "parameters: {reads: [0, 1]}\nphases: [{name: p, operations: [{find: users, key: uniform, weight: $(reads)}, {count: users}]}]\n",
        "load users, p, p")]
    public void What_repeats_legitimately_passes(string phases, string expected) =>
        Assert.Equal(
            expected, string.Join(", ", ScenarioTexts.Plan(ScenarioTexts.Data + phases).Rounds.Single().Phases.Select(p => p.Name)));

    [Theory]
    [MemberData(nameof(Shipped))]
    public void Each_scenario_that_comes_with_the_program_passes(string path) =>
        Assert.NotEmpty(PlanReader.Read(ScenarioFile.Find(Path.Combine(Scenarios, path)),
            new PlanOverrides(), 42).Plan.Rounds);

    public static TheoryData<string> Shipped => [.. Directory.EnumerateFiles(Scenarios, "*.yaml", SearchOption.AllDirectories)
        .Select(path => Path.GetRelativePath(Scenarios, path)).Order()];

    private static string Scenarios => Path.Combine(RepositoryPaths.Root, "scenarios");

    private static void CheckOperation(string operation, string message, string hint) =>
        Check(ScenarioTexts.Data + $"phases:\n  - name: p\n    operations:\n      - {operation}\n", "test.yaml:8: " + message, hint);

    private static void Check(string text, string message, string hint) => Assert.Equal((message, hint), ScenarioTexts.Refusal(text));
}

using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server.Fuzzing;

/// <summary>
/// Well-formed commands of every kind that the server knows, and values that are likely to hurt; what a fuzzer starts from.
/// </summary>
internal static class CommandCorpus
{
    public const string Database = "fuzz";

    private static readonly string[] Sources =
    [
        "{'find': 'c', 'filter': {'n': {'$gte': 3, '$lt': 7}}, 'sort': {'t': -1}, 'limit': 5}",
        "{'find': 'c', 'filter': {'$or': [{'a': {'$elemMatch': {'x': 1}}}, {'t': {'$regex': '^te(x|y)+', '$options': 'i'}}], 'n': {'$in': "
        + "[1, 2, {'$numberLong': '3'}]}}, 'batchSize': 2}",
        "{'find': 'c', 'filter': {'$expr': {'$gt': [{'$add': ['$n', 1]}, 4]}}, 'projection': {'t': 1, 'y': {'$concat': ['$t', '!']}, 'a': "
        + "{'$slice': [1, 2]}}, 'skip': 1}",
        "{'find': 'c', 'filter': {'a.x': {'$all': [1]}, 'd': {'$type': 'object'}, 'n': {'$not': {'$mod': [2, 1]}}}, "
        + "'hint': '_id_', 'let': {'v': 3}}",
        "{'find': 'c', 'filter': {'a': {'$size': 2}, 'd.k': {'$exists': true}, 'n': {'$nin': [9]}, '$nor': [{'n': null}]}, 'sort': "
        + "{'$natural': -1}, 'singleBatch': true}",
        "{'insert': 'c', 'documents': [{'_id': 1000, 'n': 5, 't': 'text', 'a': [{'x': 1}, {'x': 2}], 'd': {'k': 1.5}}, {'n': "
        + "{'$numberLong': '7'}}], 'ordered': false}",
        "{'update': 'c', 'updates': [{'q': {'n': 3}, 'u': {'$set': {'d.k': 2, 'a.0.x': 4}, '$inc': {'m': 1}}, 'multi': true}]}",
        "{'update': 'c', 'updates': [{'q': {'_id': 1001}, 'u': {'$push': {'a': {'$each': [{'x': 3}], '$sort': {'x': 1}, '$slice': -3, "
        + "'$position': 0}}, '$setOnInsert': {'t': 'new'}}, 'upsert': true}]}",
        "{'update': 'c', 'updates': [{'q': {'n': 1}, 'u': {'$unset': {'d': ''}, '$rename': {'t': 's'}, '$addToSet': {'z': {'$each': [1, "
        + "2]}}, '$max': {'n': 4}, '$mul': {'q': 2}}, 'collation': null}]}",
        "{'update': 'c', 'updates': [{'q': {'n': 2}, 'u': {'$pull': {'a': {'x': {'$gt': 1}}}, '$pop': {'z': 1}, '$bit': {'b': {'xor': 5}}, "
        + "'$currentDate': {'w': true}}, 'multi': true}]}",
        "{'update': 'c', 'updates': [{'q': {'n': 4}, 'u': [{'$set': {'y': {'$map': {'input': '$a', 'as': 'e', 'in': '$$e.x'}}}}, "
        + "{'$unset': 'm'}]}, {'q': {}, 'u': {'$set': {'a.$[f].x': 9}}, 'arrayFilters': [{'f.x': 1}], 'multi': true}]}",
        "{'update': 'c', 'updates': [{'q': {'_id': 5}, 'u': {'n': 5, 't': 'replaced', 'a': [], 'd': {}}}], 'ordered': true, "
        + "'let': {'v': 1}}",
        "{'delete': 'c', 'deletes': [{'q': {'n': 9}, 'limit': 1}, {'q': {'_id': {'$gt': 1002}}, 'limit': 0}]}",
        "{'findAndModify': 'c', 'query': {'n': 6}, 'sort': {'_id': 1}, 'update': {'$inc': {'m': 1}}, 'new': true, 'fields': "
        + "{'m': 1}, 'upsert': false}",
        "{'findAndModify': 'c', 'query': {'_id': 77}, 'remove': true}",
        "{'count': 'c', 'query': {'n': {'$gt': 4}}, 'skip': 1, 'limit': 10}",
        "{'distinct': 'c', 'key': 'a.x', 'query': {'n': {'$ne': 2}}}",
        "{'aggregate': 'c', 'pipeline': [{'$match': {'n': {'$lt': 8}}}, {'$group': {'_id': '$n', 's': {'$sum': '$m'}, 'p': {'$push': "
        + "'$t'}, 'f': {'$first': '$a'}, 'z': {'$addToSet': '$d'}}}, {'$sort': {'_id': 1}}, {'$limit': 4}], 'cursor': {'batchSize': 2}}",
        "{'aggregate': 'c', 'pipeline': [{'$unwind': {'path': '$a', 'includeArrayIndex': 'i', 'preserveNullAndEmptyArrays': true}}, "
        + "{'$project': {'v': '$a.x', 'w': {'$cond': [{'$eq': ['$n', 1]}, 'one', {'$ifNull': ['$q', 'none']}]}}}, {'$skip': 2}, "
        + "{'$sample': {'size': 3}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$addFields': {'r': {'$reduce': {'input': {'$range': [0, 5]}, 'initialValue': 0, 'in': {'$add': "
        + "['$$value', '$$this']}}}, 'l': {'$let': {'vars': {'x': '$n'}, 'in': {'$multiply': ['$$x', 2]}}}}}, {'$replaceRoot': {'newRoot': "
        + "{'$mergeObjects': ['$d', {'n': '$n'}]}}}, {'$count': 'k'}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$project': {'sw': {'$switch': {'branches': [{'case': {'$gt': ['$n', 3]}, 'then': 'big'}], "
        + "'default': 'small'}}, 'fl': {'$filter': {'input': '$a', 'as': 'e', 'cond': {'$gte': ['$$e.x', 1]}}}, 'u': {'$toUpper': '$t'}, "
        + "'e': {'$arrayElemAt': ['$a', 0]}, 'ca': {'$concatArrays': ['$a', [1]]}, 'dv': {'$divide': ['$n', 2]}, 'ty': {'$type': '$n'}}}, "
        + "{'$sortByCount': '$sw'}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$project': {'y': {'$year': '$w'}, 's': {'$size': '$a'}, 'g': {'$getField': {'field': 't', "
        + "'input': '$$ROOT'}}, 'sf': {'$setField': {'field': 'k', 'input': '$d', 'value': 3}}, 'sb': {'$subtract': ['$n', 1]}, 'md': "
        + "{'$mod': ['$n', 3]}, 'in': {'$in': [1, '$a.x']}, 'lit': {'$literal': '$x'}, 'ar': {'$isArray': '$a'}}}], "
        + "'cursor': {}, 'hint': {'n': 1}}",
        "{'aggregate': 'c', 'pipeline': [{'$collStats': {'storageStats': {'scale': 1}, 'count': {}}}], 'cursor': {}}",
        "{'aggregate': 'c', 'pipeline': [{'$indexStats': {}}], 'cursor': {}}",
        "{'explain': {'find': 'c', 'filter': {'n': 3}, 'sort': {'t': 1}}, 'verbosity': 'executionStats'}",
        "{'listIndexes': 'c', 'cursor': {}}",
        "{'listCollections': 1, 'filter': {'name': 'c'}, 'nameOnly': true}",
        "{'collStats': 'c', 'scale': 1}",
        "{'dbStats': 1, 'scale': 1}",
        "{'getMore': {'$numberLong': '1'}, 'collection': 'c', 'batchSize': 2}",
        "{'killCursors': 'c', 'cursors': [{'$numberLong': '1'}]}",
        "{'hello': 1, 'helloOk': true, 'client': {'driver': {'name': 'x', 'version': '1'}}}",
        "{'buildInfo': 1}",
        "{'ping': 1, 'maxTimeMS': 100, 'lsid': {'id': {'$binary': {'base64': 'AAAAAAAAQACAAAAAAAAAAA==', 'subType': '04'}}}}",
        "{'currentOp': 1}",
        "{'killOp': 1, 'op': 5}",
        "{'whatsmyuri': 1}",
    ];

    // What makes and drops files takes a hundred times as long as the others.
    private static readonly string[] SlowSources =
    [
        "{'insert': 'i', 'documents': [{'a': [1, 2, 3], 'b': 'x'}], 'writeConcern': {'w': 1}}",
        "{'createIndexes': 'i', 'indexes': [{'key': {'a': 1, 'b': -1}, 'name': 'a_1_b_-1'}]}",
        "{'createIndexes': 'i', 'indexes': [{'key': {'b': 1}, 'name': 'b_1', 'unique': true}]}",
        "{'dropIndexes': 'i', 'index': 'b_1'}",
        "{'create': 'made'}",
        "{'drop': 'made'}",
        "{'drop': 'i'}",
        "{'validate': 'i', 'full': true}",
        "{'serverStatus': 1}",
    ];

    public static IReadOnlyList<BsonDocument> Commands { get; } = [.. Sources.Select(TestClient.Json)];

    public static IReadOnlyList<BsonDocument> SlowCommands { get; } = [.. SlowSources.Select(TestClient.Json)];

    /// <summary>Ends of ranges, empty things, other types, things that look like operators, texts that make patterns slow.</summary>
    public static IReadOnlyList<BsonValue> Values { get; } = [.. TestClient.Json(
        "{'v': [0, 1, -1, 2147483647, -2147483648, {'$numberLong': '9223372036854775807'}, {'$numberLong': '-9223372036854775808'}, 0.5, "
        + "-0.0, 1e308, {'$numberDouble': 'NaN'}, {'$numberDouble': 'Infinity'},"
        + " {'$numberDouble': '-Infinity'}, {'$numberDecimal': '1.5'}, true, false, null, '', '$', '$$', '$a', '$$ROOT', '$$value', '$n', "
        + "'a.b.c', '.', 'a.', '\\u0000', 'é', '_id', '(a+)+$', '((', '[', 'c', 'i', {}, [], [[]], [1, 'a', null],"
        + " {'$gt': 1}, {'$in': [1]}, {'$regex': '(a|b)*c'}, {'$range': [0, 100000]}, {'$size': '$a'}, {'$concat': ['$t', '$t']}, "
        + "{'$numberLong': '2'}, {'$minKey': 1}, {'$maxKey': 1}, {'$undefined': true},"
        + " {'$date': {'$numberLong': '-1'}}, {'$date': {'$numberLong': '9223372036854775807'}}, {'$timestamp': {'t': 1, 'i': 2}}, "
        + "{'$oid': '0123456789abcdef01234567'}, {'$binary': {'base64': 'AAECAw==', 'subType': '00'}},"
        + " {'$regularExpression': {'pattern': '^a.*b$', 'options': 'im'}}, {'$code': 'x'}, {'$symbol': 's'}, {'$literal': 1}, {'a': {'b': "
        + "{'c': [1, {'d': 2}]}}}]}").FindDocument("v")!.Select(pair => pair.Value)];

    /// <summary>Names of operators, options and fields, so that mutated names hit what exists.</summary>
    public static IReadOnlyList<string> Names { get; } = [.. Commands.Concat(SlowCommands).SelectMany(NamesIn).Distinct()];

    private static IEnumerable<string> NamesIn(BsonDocument document)
    {
        foreach ((string name, BsonValue value) in document)
        {
            yield return name;
            if (value.Type is not (BsonType.Document or BsonType.Array))
                continue;
            foreach (string inner in NamesIn(value.ToDocument()))
                yield return inner;
        }
    }
}

using MongoPerf.Wire.Bson;

namespace MongoPerf.Testing;

/// <summary>Documents and commands drawn from a seed: few fields and values, so that they meet often.</summary>
/// <remarks>
/// Left out is what a server may answer in more than one way: ties of sorts, and expressions that fail on a part of the documents only.
/// </remarks>
internal sealed class RandomCommands(int seed)
{
    private static readonly string[] Fields = ["a", "b", "c", "d"];
    private static readonly string[] Comparisons = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"];
    private static readonly BsonValue[] Decimals =
        [.. ((string[])["0", "-0", "0E+3", "1", "NaN", "Infinity", "-1E-400", "9007199254740992.5"]).Select(Decimal)];

    private static readonly BsonDocument Session =
        BsonDocument.Of(("id", new BsonValue(BsonType.Binary, (byte[])[16, 0, 0, 0, 4, .. new byte[16]])));
    private readonly Random _random = new(seed);

    /// <summary>The command, now and then with a field that any command may have.</summary>
    public BsonDocument WithOption(BsonDocument command)
    {
        (string, object?)[] added = _random.Next(60) switch
        {
            0 => [("lsid", Session)],
            1 => [("lsid", Session), ("txnNumber", 1L)],
            2 => [("lsid", Session), ("txnNumber", 1L), ("autocommit", false), ("startTransaction", true)],
            3 or 4 =>
            [
                ("readConcern", BsonDocument.Of(("level", Pick(["local", "majority", "available", "snapshot", "linearizable", "bogus"])))),
            ],
            5 when command.First().Key is not ("insert" or "update" or "delete") => [("collation", BsonDocument.Of(("locale", "simple")))],
            6 => [("maxTimeMS", Pick<object>([1_000_000, -1, 0.5, "x"]))],
            7 => [("comment", "any")],
            >= 8 and < 14 when command.First().Key is "find" or "count" or "aggregate" or "findAndModify" => [("collation", Collation())],
            >= 14 and < 20 when command.First().Key is "find" or "count" => [("hint", Pick(["index0", "index1"]))],
            _ => [],
        };
        return added.Length == 0 ? command : BsonDocument.Of([.. command.Select(field => (field.Key, (object?)field.Value)), .. added]);
    }

    public BsonDocument Document(int id) => BsonDocument.Of([("_id", id), .. FieldsOf(3)]);

    /// <summary>One of a round's commands on "c".</summary>
    /// <param name="number">Its place in the round.</param>
    /// <param name="first">_id of the round's first document.</param>
    /// <param name="count">How many there are.</param>
    /// <param name="id">The next free _id.</param>
    public BsonDocument Draw(int number, int first, int count, ref int id) => (number % 10) switch
    {
        0 or 1 => Find("c"),
        2 => ProjectedFind("c"),
        3 => Count("c"),
        4 or 5 => Update("c", first, count),
        6 => FindAndModify("c"),
        7 when number > 30 => Delete("c", first, count),
        7 => Upsert("c", id++),
        8 => DistinctOrInsert("c", id++),
        _ => Aggregate("c"),
    };

    public BsonDocument Find(string collection) => BsonDocument.Of(
        ("find", collection), ("filter", Filter(2)), ("sort", Sort()), ("skip", _random.Next(4)), ("limit", _random.Next(10)));

    public BsonDocument ProjectedFind(string collection) => BsonDocument.Of(
        ("find", collection), ("filter", Filter(1)), ("projection", Projection()), ("sort", BsonDocument.Of(("_id", 1))));

    public BsonDocument Count(string collection) => BsonDocument.Of(("count", collection), ("query", Filter(2)));

    public BsonDocument Update(string collection, int firstId, int count)
    {
        if (_random.Next(10) == 0)
            return PositionalUpdate(collection, firstId + _random.Next(count));
        bool isMulti = _random.Next(4) == 0;
        BsonDocument filter = isMulti ? Filter(1) : BsonDocument.Of(("_id", firstId + _random.Next(count)));
        return BsonDocument.Of(
            ("update", collection), ("updates", new object[] { BsonDocument.Of(("q", filter), ("u", Change()), ("multi", isMulti)) }));
    }

    /// <summary>Of one document: one of many that has no position would end the others.</summary>
    private BsonDocument PositionalUpdate(string collection, int id)
    {
        string name = Pick(["$set", "$unset", "$inc", "$min", "$push", "$pull", "$addToSet", "$setOnInsert"]);
        string path = $"{Field()}.$" + (_random.Next(2) == 0 ? "" : "." + Field());
        return BsonDocument.Of(("update", collection), ("updates", new object[]
        {
            BsonDocument.Of(
                ("q", BsonDocument.Of([("_id", id), .. Distinct(Path, 1, 2).Select(field => (field, Operand(1))), .. Group(1)])),
                ("u", BsonDocument.Of((name, BsonDocument.Of((path, UpdateOperand(name)), (Path(), UpdateOperand(name))))))),
        }));
    }

    public BsonDocument Upsert(string collection, int id) => BsonDocument.Of(("update", collection), ("updates", new object[]
    {
        BsonDocument.Of(("q", BsonDocument.Of(("_id", id), _random.Next(10) == 0 ? ("$expr", Expression(1)) : (Field(), Scalar()))),
            ("u", Change()), ("upsert", true)),
    }));

    public BsonDocument FindAndModify(string collection) => BsonDocument.Of(
        ("findAndModify", collection), ("query", Filter(1)), ("sort", BsonDocument.Of(("_id", Sign()))), ("update", Change()),
        ("new", _random.Next(2) == 0));

    /// <summary>distinct, or an insert that may meet a unique key.</summary>
    public BsonDocument DistinctOrInsert(string collection, int id) => _random.Next(2) == 0
        ? BsonDocument.Of(("distinct", collection), ("key", Path()), ("query", _random.Next(2) == 0 ? BsonDocument.Empty : Filter(1)))
        : BsonDocument.Of(("insert", collection), ("documents", new object[] { Document(_random.Next(4) == 0 ? id - 1 : id) }),
            ("ordered", _random.Next(2) == 0));

    public BsonDocument Delete(string collection, int firstId, int count) =>
        BsonDocument.Of(("delete", collection), ("deletes", new object[]
        {
            BsonDocument.Of(
                ("q", BsonDocument.Of(("_id", BsonDocument.Of(("$gte", firstId + count - 3))), (Path(), Condition(1)))), ("limit", 0)),
        }));

    public BsonDocument Aggregate(string collection)
    {
        List<object> stages = [Sorted()];
        for (int i = _random.Next(1, 4); i > 0; i--)
            stages.AddRange(Stages());
        return BsonDocument.Of(("aggregate", collection), ("pipeline", stages),
            ("cursor", BsonDocument.Of(("batchSize", 100_000))));
    }

    public BsonDocument IndexKey() => BsonDocument.Of([.. Distinct(() => Pick(["a", "b", "a.b", "b.c", "c.d", "a.0", "b.1.c"]), 1, 2)
        .Select(path => (path, (object?)Sign()))]);

    /// <summary>An index of any kind: also one that leaves documents out, or orders strings in another way.</summary>
    public BsonDocument Index(string name) => BsonDocument.Of([("key", IndexKey()), ("name", name), .. _random.Next(8) switch
    {
        0 or 1 => new (string, object?)[] { ("sparse", true) },
        2 or 3 or 4 => [("partialFilterExpression", BsonDocument.Of([.. Distinct(Path, 1, 2).Select(path => (path, (object?)Shown()))]))],
        5 => [("collation", Collation())],
        6 => [("collation", Collation()), ("sparse", true)],
        _ => [],
    }]);

    public BsonDocument Collation() => BsonDocument.Of(("locale", "en"), ("strength", Pick([1, 3])));

    /// <summary>What a partial index may ask for.</summary>
    private object? Shown() => _random.Next(5) switch
    {
        0 => BsonDocument.Of(("$exists", true)),
        1 => BsonDocument.Of(("$type", Pick(["int", "string", "number"]))),
        2 => BsonDocument.Of(("$in", Items())),
        3 => Scalar(),
        _ => BsonDocument.Of((Pick(["$gt", "$gte", "$lt", "$lte"]), Scalar())),
    };

    private BsonDocument Filter(int depth) =>
        BsonDocument.Of([.. Distinct(Path, 0, 2).Select(path => (path, (object?)Operand(depth))), .. Group(depth)]);

    private (string, object?)[] Group(int depth) => depth > 0 && _random.Next(4) == 0
        ? [(Pick(["$and", "$or", "$nor"]), Enumerable.Range(0, _random.Next(1, 3)).Select(_ => (object)Filter(depth - 1)).ToArray())]
        : [];

    private object? Operand(int depth) => _random.Next(2) == 0 ? Value(1) : Condition(depth);

    private BsonDocument Condition(int depth) => _random.Next(12) switch
    {
        < 4 => BsonDocument.Of((Pick(Comparisons), Value(1))),
        4 => BsonDocument.Of((Pick(["$in", "$nin", "$all"]), Enumerable.Range(0, _random.Next(3)).Select(_ => Value(1)).ToArray())),
        5 => BsonDocument.Of(("$exists", _random.Next(2) == 0)),
        6 => BsonDocument.Of(("$size", _random.Next(3))),
        7 => BsonDocument.Of(("$type", Pick(["int", "string", "array", "object", "number", "null", "bool", "date"]))),
        8 => BsonDocument.Of(("$mod", new object[] { _random.Next(20) == 0 ? Number() : Pick([2, 3]), _random.Next(2) })),
        9 => BsonDocument.Of(
            ("$regex", Pick(["^x", "y$", "a.c", "x|y", "^.$", "^[^x]", "^..$", "^$", "\U0001F600", "[k-s]", "\\W", "\u00e9"])),
            ("$options", Pick(["", "i", "m", "s", "im"]))),
        10 when depth > 0 => BsonDocument.Of(("$elemMatch", _random.Next(2) == 0 ? Condition(depth - 1) : Filter(depth - 1))),
        _ when depth > 0 => BsonDocument.Of(("$not", Condition(depth - 1))),
        _ => BsonDocument.Of(("$gt", 1), ("$lt", 4)),
    };

    private object Change() => _random.Next(8) switch
    {
        0 => BsonDocument.Of(FieldsOf(2)),
        1 when _random.Next(2) == 0 =>
            new object[] { BsonDocument.Of(("$unset", Path())), BsonDocument.Of(("$set", BsonDocument.Of((Path(), Expression(1))))) },
        1 => new object[] { BsonDocument.Of(("$set", BsonDocument.Of((Path(), Expression(1))))), BsonDocument.Of(("$unset", Field())) },
        _ => BsonDocument.Of([.. Distinct(() => Pick(["$set", "$unset", "$inc", "$mul", "$min", "$max", "$push", "$pull", "$pullAll",
            "$addToSet", "$pop", "$rename", "$setOnInsert"]), 1, 2)
            .Select(name => (name, (object?)BsonDocument.Of((Path(), UpdateOperand(name)))))]),
    };

    private object? UpdateOperand(string name) => name switch
    {
        "$unset" => "",
        "$inc" or "$mul" => Number(),
        "$push" => _random.Next(2) == 0 ? Value(1)
            : BsonDocument.Of(("$each", Items()), ("$position", _random.Next(-2, 3)), ("$slice", _random.Next(-3, 4))),
        "$pull" => _random.Next(2) == 0 ? Scalar() : BsonDocument.Of((Pick(Comparisons), Scalar())),
        "$pullAll" => Items(),
        "$addToSet" => _random.Next(2) == 0 ? Value(1) : BsonDocument.Of(("$each", Items())),
        "$pop" => Sign(),
        "$rename" => Field() + "2",
        _ => Value(2),
    };

    private BsonDocument Projection()
    {
        int flag = _random.Next(2);
        List<(string, object?)> fields = [.. Distinct(Field, 1, 2)
            .Select(field => (_random.Next(2) == 0 ? field : $"{field}.{Field()}", (object?)flag))];
        if (_random.Next(3) == 0)
            fields.Add(("e", BsonDocument.Of(("$slice", 1))));
        if (flag == 1 && _random.Next(3) == 0)
            fields.Add(("computed", Expression(1)));
        if (flag == 1 && _random.Next(6) == 0)
            fields.Add((Path() + ".$", 1));
        if (_random.Next(3) == 0)
            fields.Add(("_id", 0));
        return BsonDocument.Of([.. fields]);
    }

    private BsonDocument Sort() => BsonDocument.Of([.. Distinct(Path, 0, 1).Select(path => (path, (object?)Sign())), ("_id", 1)]);

    private IEnumerable<BsonDocument> Stages() => _random.Next(12) switch
    {
        0 => [BsonDocument.Of(("$lookup", BsonDocument.Of(
                ("from", "c"), ("localField", NamedPath()), ("foreignField", Path()), ("as", "x")))),
            BsonDocument.Of(("$unwind", "$x"))],
        1 => [BsonDocument.Of(("$lookup", BsonDocument.Of([("from", "c"), .. _random.Next(2) == 0
            ? new (string, object?)[] { ("localField", NamedPath()), ("foreignField", Path()) } : [],
            ("let", BsonDocument.Of(("v", "$" + Path()))), ("pipeline", new object[] { InnerStage(), Sorted(),
                BsonDocument.Of(("$match", BsonDocument.Of(("$expr", BsonDocument.Of((Pick(Comparisons), new[] { "$a", "$$v" })))))) }),
            ("as", Field())])))],
        // Each of its arrays has an order, which a $group before it has not.
        2 => [Sorted(), BsonDocument.Of(("$facet", BsonDocument.Of((Field(), new object[] { InnerStage(), InnerStage() }),
            ("x", new object[] { BsonDocument.Of(("$skip", 1)), InnerStage() })))), BsonDocument.Of(("$match", Filter(1)))],
        3 => [BsonDocument.Of(("$bucket", BsonDocument.Of(("groupBy", "$" + Field()), ("boundaries", new object[] { -1, 1.0, 4L }),
            ("default", Pick<object>(["x", 4, -5])), ("output", BsonDocument.Of(("s", BsonDocument.Of(("$sum", "$d")))))))),
            Sorted()],
        _ => [Stage()],
    };

    private static BsonDocument Sorted() => BsonDocument.Of(("$sort", BsonDocument.Of(("_id", 1))));

    /// <summary>A stage whose documents come in one order.</summary>
    private BsonDocument InnerStage()
    {
        while (true)
        {
            if (Stage() is var stage && stage.First().Key != "$group")
                return stage;
        }
    }

    private BsonDocument Stage() => _random.Next(11) switch
    {
        0 or 1 => BsonDocument.Of(("$match", Filter(1))),
        2 => BsonDocument.Of(("$set", BsonDocument.Of((Path(), _random.Next(30) == 0 ? BsonDocument.Empty : Expression(2))))),
        3 => BsonDocument.Of(("$unset", Path())),
        4 => BsonDocument.Of(("$project", BsonDocument.Of((Field(), 1), ("x", Expression(2)), ("y." + Field(), Expression(1))))),
        5 => BsonDocument.Of(("$replaceWith", BsonDocument.Of(("_id", "$_id"), ("a", Expression(1))))),
        6 => BsonDocument.Of(("$group", BsonDocument.Of(("_id", _random.Next(3) == 0
            ? BsonDocument.Of([.. Distinct(Field, 1, 2).Select(field => (field, (object?)("$" + Path())))])
            : Pick(["$a", "$b", "$c"])), ("n", BsonDocument.Of(("$sum", Pick<object>([1, "$d"])))),
            ("m", BsonDocument.Of((Pick(["$avg", "$min", "$max"]), "$d")))))),
        7 => BsonDocument.Of(("$sort", BsonDocument.Of((Field(), Sign()), ("_id", 1)))),
        8 => BsonDocument.Of(("$unwind",
            BsonDocument.Of(("path", "$" + Field()), ("preserveNullAndEmptyArrays", _random.Next(2) == 0), ("includeArrayIndex", "at")))),
        9 => BsonDocument.Of(("$count", "n")),
        _ => BsonDocument.Of(("$match", BsonDocument.Of(("$expr", Expression(2))))),
    };

    /// <summary>Of operators that take any value.</summary>
    private object? Expression(int depth)
    {
        if (depth == 0 || _random.Next(3) == 0)
            return _random.Next(2) == 0 ? "$" + Path() : BsonDocument.Of(("$literal", Value(1)));
        return _random.Next(10) switch
        {
            9 => BsonDocument.Of(("$cond", new object?[] { Pick(Decimals), Expression(depth - 1), 0 })),
            8 => BsonDocument.Of(("$cond", new object?[]
            {
                BsonDocument.Of(("$isArray", "$b")),
                BsonDocument.Of(
                    ("$filter", BsonDocument.Of(("input", "$b"), ("cond", Expression(depth - 1)), ("limit", _random.Next(1, 3))))),
                Expression(depth - 1),
            })),
            0 => BsonDocument.Of(
                (Pick(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp"]), new[] { Expression(depth - 1), Expression(depth - 1) })),
            1 => BsonDocument.Of((Pick(["$and", "$or", "$ifNull"]), new[] { Expression(depth - 1), Expression(depth - 1) })),
            2 => BsonDocument.Of(("$cond", new[] { Expression(depth - 1), Expression(depth - 1), Expression(depth - 1) })),
            3 => BsonDocument.Of((Pick(["$type", "$isArray", "$isNumber", "$not"]), new[] { Expression(depth - 1) })),
            4 => BsonDocument.Of((Pick(["$sum", "$avg", "$min", "$max"]), new[] { Expression(depth - 1), Expression(depth - 1) })),
            5 => BsonDocument.Of(("p", Expression(depth - 1)), ("q", Expression(depth - 1))),
            6 => BsonDocument.Of(("$cond", new object?[]
            {
                BsonDocument.Of(("$isArray", "$a")),
                BsonDocument.Of(("$map", BsonDocument.Of(("input", "$a"), ("as", "v"), ("in", BsonDocument.Of(("$type", "$$v")))))),
                0,
            })),
            _ => BsonDocument.Of(("$cond", new object?[]
            {
                BsonDocument.Of(("$isNumber", "$a")),
                BsonDocument.Of((Pick(["$add", "$multiply", "$subtract"]), new object?[] { "$a", Number() })),
                "no",
            })),
        };
    }

    private (string, object?)[] FieldsOf(int depth) => [.. Distinct(Field, 0, 3).Select(field => (field, Value(depth - 1)))];

    private object? Value(int depth) => (depth == 0 ? 0 : _random.Next(10)) switch
    {
        < 6 => Scalar(),
        < 8 => Enumerable.Range(0, _random.Next(4)).Select(_ => Value(depth - 1)).ToArray(),
        _ => BsonDocument.Of(FieldsOf(depth)),
    };

    private object? Scalar() => _random.Next(8) switch
    {
        0 or 1 => Number(),
        2 => Pick(["x", "y", "xy", "Abc", "", "\U0001F600", "x\U0001F600", "\u00c9", "\u212a", "x\n", "y\nx"]),
        3 => null,
        4 => _random.Next(2) == 0,
        5 => new DateTime(2020, 1, _random.Next(1, 4), 0, 0, 0, DateTimeKind.Utc),
        6 => new byte[] { (byte)_random.Next(3) },
        _ => _random.Next(5),
    };

    private static BsonValue Decimal(string text) =>
        ExtendedJson.Parse($"{{\"v\": {{\"$numberDecimal\": \"{text}\"}}}}").Find("v")!.Value;

    private object Number() => _random.Next(60) switch
    {
        0 => double.NaN,
        1 => -0.0,
        2 => double.PositiveInfinity,
        3 => Pick(Decimals),
        var kind => Finite(kind % 4),
    };

    private object Finite(int kind) => kind switch
    {
        0 => _random.Next(-3, 6),
        1 => (long)_random.Next(-3, 6),
        2 => Decimal($"{_random.Next(-3, 6)}{Pick(["", ".0", ".5", ".1", "E+1"])}"),
        _ => _random.Next(-3, 6) / 2.0,
    };

    private object?[] Items() => [.. Enumerable.Range(0, _random.Next(3)).Select(_ => Value(1))];

    private string Path() => _random.Next(20) switch
    {
        < 11 => Field(),
        < 17 => $"{Field()}.{Field()}",
        < 19 => $"{Field()}.{_random.Next(2)}",
        _ => $"{Field()}.{_random.Next(2)}.{(_random.Next(2) == 0 ? Field() : "0")}",
    };

    /// <summary>Without numbers: of <c>c.0</c> mongod reads elements of an array or not, by what later stages need.</summary>
    private string NamedPath() => _random.Next(2) == 0 ? Field() : $"{Field()}.{Field()}";

    private string Field() => Pick(Fields);

    private int Sign() => _random.Next(2) == 0 ? 1 : -1;

    private T Pick<T>(T[] items) => items[_random.Next(items.Length)];

    private string[] Distinct(Func<string> draw, int least, int most) =>
        [.. Enumerable.Range(0, _random.Next(least, most + 1)).Select(_ => draw()).Distinct()];
}

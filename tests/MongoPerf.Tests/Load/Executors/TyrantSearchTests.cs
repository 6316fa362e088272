using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Tyrant;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>Finds as a table database's searches.</summary>
public sealed class TyrantSearchTests
{
    private static readonly TyrantColumns Columns = TyrantColumns.Of(BsonDocument.Of(
        ("_id", 1), ("Title", "hello"), ("CategoryID", 7), ("CreateTime", 1267184280L), ("Tags", new[] { "a", "b" })));

    [Fact]
    public void A_find_becomes_the_search_of_a_real_exchange()
    {
        var find = Find("""{"CategoryID": 7}""") with { Sort = Json("""{"CreateTime": -1}""") };
        // The real one let the server write its update log, which a search has no use for: options 0 instead of 1.
        Assert.Equal(
            "c89000000006000000010000000473656172636800000016616464636f6e640043617465676f7279494400380037000000157365746f726465720043726561"
            + "746554696d6500330000000d"
            + "7365746c696d6974003130003000000003676574",
            Convert.ToHexStringLower(TyrantSearch.Fetching(find, Columns).Request));
    }

    public static TheoryData<string, string[]> Filters() => new()
    {
        { """{}""", [] },
        { """{"Title": "hello"}""", ["Title\00\0hello"] },
        { """{"CategoryID": 7, "Title": "x"}""", ["CategoryID\08\07", "Title\00\0x"] },
        { """{"CategoryID": {"$eq": 7}}""", ["CategoryID\08\07"] },
        { """{"CategoryID": {"$gt": 1, "$lt": 2.5}}""", ["CategoryID\09\01", "CategoryID\011\02.5"] },
        { """{"CategoryID": {"$gte": 1}}""", ["CategoryID\010\01"] },
        { """{"CategoryID": {"$lte": 1}}""", ["CategoryID\012\01"] },
        { """{"CategoryID": {"$gte": 1, "$lte": 9}}""", ["CategoryID\013\01,9"] },
        { """{"CategoryID": {"$gte": 1, "$lte": 9, "$lt": 5}}""", ["CategoryID\010\01", "CategoryID\012\09", "CategoryID\011\05"] },
        { """{"CategoryID": {"$in": [1, 2]}}""", ["CategoryID\014\01,2"] },
        { """{"Title": {"$in": ["a", "b"]}}""", ["Title\06\0a,b"] },
        { """{"Tags": "a"}""", ["Tags\04\0a"] },
        { """{"Tags": ["a", "b"]}""", ["Tags\00\0a,b"] },
        { """{"Tags": {"$in": ["a", "b"]}}""", ["Tags\05\0a,b"] },
        { """{"Tags": {"$all": ["a", "b"]}}""", ["Tags\04\0a,b"] },
        { """{"unknown": 1}""", ["unknown\08\01"] },
        { """{"_id": 3}""", ["\08\03"] },
    };

    [Theory]
    [MemberData(nameof(Filters))]
    public void A_filter_is_a_list_of_conditions(string filter, string[] conditions) =>
        Assert.Equal([.. conditions.Select(condition => "addcond\0" + condition), "setlimit\010\00", "get"], Arguments(Find(filter)));

    [Theory]
    [InlineData("""{"$or": [{"a": 1}]}""", "Tokyo Tyrant can't filter with '$or'")]
    [InlineData(
        """{"Title": {"$gt": "a"}}""", "'Title: {$gt: String}' is not possible with Tokyo Tyrant, which only compares numbers and dates")]
    [InlineData("""{"Title": {"$regex": "a"}}""", "'Title: {$regex: String}' is not possible with Tokyo Tyrant; allowed: $eq, $gt")]
    [InlineData("""{"Title": {"$all": "a"}}""", "'Title: {$all: String}' is not possible")]
    [InlineData("""{"Title": {"$in": "a"}}""", "'Title: {$in: String}' is not possible")]
    [InlineData("""{"Tags": {"$nin": ["a"]}}""", "'Tags: {$nin: Array}' is not possible")]
    [InlineData("""{"Title": {"a": 1}}""", "'Title: {a: Int32}' is not possible")]
    [InlineData("""{"Tags": "a b"}""", "field 'Tags' is an array containing 'a b', which Tokyo Tyrant splits into several words")]
    [InlineData("""{"Title": null}""", "field 'Title' is Null")]
    public void What_a_search_can_not_do_is_refused(string filter, string text) =>
        Assert.Contains(text, Assert.Throws<OperationLimitException>(() => Arguments(Find(filter))).Message, StringComparison.Ordinal);

    [Fact]
    public void Order_limit_and_columns_are_said_in_the_servers_words()
    {
        var find = Find("{}", 5) with { Skip = Number(100) };
        Assert.Equal(["setorder\0Title\00", "setlimit\05\0100", "get"], Arguments(find with { Sort = Json("""{"Title": 1}""") }));
        Assert.Equal(["setorder\0Title\01", "setlimit\05\0100", "get"], Arguments(find with { Sort = Json("""{"Title": -1}""") }));
        Assert.Equal(["setorder\0CategoryID\02", "setlimit\05\0100", "get"], Arguments(find with { Sort = Json("""{"CategoryID": 1}""") }));
        Assert.Equal(["setorder\0\03", "setlimit\05\0100", "get"], Arguments(find with { Sort = Json("""{"_id": -1}""") }));
        Assert.Equal(
            ["setlimit\05\0100", "get\0\0Title\0Tags"], Arguments(find with { Projection = Json("""{"Title": 1, "Tags": true}""") }));
        Assert.Equal(["setlimit\05\0100", "get\0Title"], Arguments(find with { Projection = Json("""{"_id": 0, "Title": 1}""") }));
        Assert.Equal(["setlimit\0-1\00", "get"], Arguments(find with { Limit = Number(0), Skip = Number(0) }));
        Assert.Equal(["setlimit\01\00", "get"], Arguments(Find("{}", 1)));
        TemplateValue drawn = new IntegerValue(NumberKind.Int32, 1, 9, 1);
        Assert.StartsWith("a skip drawn for each operation", Refusal(find with { Skip = drawn }), StringComparison.Ordinal);
        Assert.StartsWith("a limit drawn for each operation", Refusal(find with { Limit = drawn }), StringComparison.Ordinal);
    }

    [Fact]
    public void Orders_by_two_fields_and_projections_that_leave_out_are_refused()
    {
        var find = Find("{}", 5);
        Assert.StartsWith("a sort by 2 fields", Refusal(find with { Sort = Json("""{"a": 1, "b": 1}""") }), StringComparison.Ordinal);
        Assert.StartsWith(
            "a projection that excludes 'a'", Refusal(find with { Projection = Json("""{"a": 0}""") }), StringComparison.Ordinal);
    }

    [Fact]
    public void Writing_anew_takes_the_new_values_and_allocates_nothing()
    {
        TyrantSearch search = TyrantSearch.Fetching(
            Find("""{"CategoryID": 7, "Tags": "a"}""") with { Sort = Json("""{"CreateTime": 1}""") }, Columns);
        byte[] filter = ExtendedJson.Parse("""{"CategoryID": 123456, "Tags": "b"}""").Bytes.ToArray();
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 1_000; i++)
                search.Write(filter);
        }));
        Assert.Equal(
            ["search", "addcond\0CategoryID\08\0123456", "addcond\0Tags\04\0b", "setorder\0CreateTime\02", "setlimit\010\00", "get"],
            TyrantRequestReader.ReadFunction(search.Request.ToArray()));
    }

    private static string Refusal(FindDocuments find) => Assert.Throws<OperationLimitException>(() => Arguments(find)).Message;

    private static string[] Arguments(FindDocuments find) =>
        TyrantRequestReader.ReadFunction(TyrantSearch.Fetching(find, Columns).Request.ToArray())[1..];

    private static FindDocuments Find(string filter, int limit = 10) => new("f", "c", Json(filter)) { Limit = Number(limit) };

    private static DocumentValue Json(string text) => DocumentValue.Of(ExtendedJson.Parse(text));

    private static LiteralValue Number(int value) => new(BsonDocument.Of(("v", value)).First().Value);
}

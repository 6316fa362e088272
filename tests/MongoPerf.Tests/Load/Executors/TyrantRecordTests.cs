using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors.Tyrant;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>Documents as keys and columns of text.</summary>
public sealed class TyrantRecordTests
{
    private static readonly BsonDocument News = BsonDocument.Of(
        ("_id", 1), ("Title", "hello"), ("CategoryID", 7), ("CreateTime", 1267184280L), ("UserID", 42), ("Tags", new[] { "a", "b" }));

    [Fact]
    public void A_document_becomes_the_put_of_a_real_exchange()
    {
        TyrantRecord record = Read(News);
        var request = new TyrantRequest();
        request.StartFunction("put"u8, changes: true);
        record.AddTo(request);
        Assert.Equal(
            "c89000000003000000000000000b7075740000000131000000055469746c650000000568656c6c6f0000000a43617465676f7279494400000001370000000a"
            + "43726561746554696d65"
            + "0000000a3132363731383432383000000006557365724944000000023432000000045461677300000003612c62",
            Convert.ToHexStringLower(request.Written));
        Assert.Equal(("1", "Title\0hello\0CategoryID\07\0CreateTime\01267184280\0UserID\042\0Tags\0a,b", 5), Texts(record));
    }

    [Fact]
    public void Each_type_has_its_text()
    {
        BsonDocument document = BsonDocument.Of(
            ("a", -1), ("b", long.MinValue), ("c", 0.1), ("d", 5.0), ("e", true), ("f", false),
            ("g", new DateTime(2010, 2, 26, 11, 38, 0, DateTimeKind.Utc)),
            ("h", new ObjectId(0x4D7CE100, 0x0123456789ABCDEF)), ("i", ""), ("j", "größe"), ("k", null), ("l", Array.Empty<int>()),
            ("m", new object[] { 1, "x", 2.5 }),
            ("_id", new ObjectId(1, 2)));
        Assert.Equal(
            ("000000010000000000000002",
            "a\0-1\0b\0-9223372036854775808\0c\00.1\0d\05\0e\0true\0f\0false\0g\01267184280000"
                + "\0h\04d7ce1000123456789abcdef\0i\0\0j\0größe\0l\0\0m\01,x,2.5", 12),
            Texts(Read(document)));
    }

    [Fact]
    public void Nested_fields_are_columns_with_dots()
    {
        BsonDocument document = BsonDocument.Of(
            ("_id", "k"), ("parameter", BsonDocument.Of(("size", 50), ("deep", BsonDocument.Of(("color", new[] { "red", "blue" }))),
                ("none", BsonDocument.Empty))), ("flag", true));
        Assert.Equal(("k", "parameter.size\050\0parameter.deep.color\0red,blue\0flag\0true", 3), Texts(Read(document)));
    }

    [Fact]
    public void Kinds_are_those_that_the_document_shows()
    {
        TyrantColumns columns = TyrantColumns.Of(BsonDocument.Of(
            ("_id", 1), ("t", "x"), ("n", 1), ("d", 0.5), ("at", DateTime.UnixEpoch), ("w", new[] { 1, 2 }),
            ("sub", BsonDocument.Of(("n", 1L))), ("b", true)), BsonDocument.Of(("_id", "x"), ("t", 1), ("later", 1)));
        Assert.Equal(
            [
                TyrantColumnKind.Number, TyrantColumnKind.Text, TyrantColumnKind.Number, TyrantColumnKind.Number, TyrantColumnKind.Number,
                TyrantColumnKind.Words, TyrantColumnKind.Number, TyrantColumnKind.Text, TyrantColumnKind.Number, null,
            ],
            ((string[])["", "t", "n", "d", "at", "w", "sub.n", "b", "later", "sub"])
                .Select(name => columns.KindOf(Encoding.UTF8.GetBytes(name))));
    }

    [Fact]
    public void One_record_after_another_leaves_nothing_behind()
    {
        var record = new TyrantRecord();
        record.Read(News.Bytes);
        record.Read(BsonDocument.Of(("_id", 2), ("a", 1)).Bytes);
        Assert.Equal(("2", "a\01", 1), Texts(record));
    }

    [Fact]
    public void Refused_documents_are_refused_with_what_is_allowed()
    {
        Refused("the document has no '_id'", ("a", 1));
        Refused("has no field besides '_id'", ("_id", 1));
        Refused("has no field besides '_id'", ("_id", 1), ("a", null));
        Refused("'_id' is an array", ("_id", new[] { 1 }), ("a", 1));
        Refused("the document has no '_id'", ("_id", ""), ("a", 1));
        Refused("field 'image' is Binary; allowed with Tokyo Tyrant: numbers, dates, strings", ("_id", 1), ("image", new byte[3]));
        Refused("field 'a' contains a zero byte", ("_id", 1), ("a", "x\0y"));
        Refused("field 'a' is Document", ("_id", 1), ("a", new[] { BsonDocument.Of(("b", 1)) }));
        Refused("field 'a' is Array", ("_id", 1), ("a", new[] { new[] { 1 } }));
        Refused("field 'a' is an array containing 'two words', which Tokyo Tyrant splits into several words", ("_id", 1),
            ("a", new[] { "one", "two words" }));
        Refused("a field has no name", ("_id", 1), ("", 1));
    }

    [Fact]
    public void Reading_allocates_nothing()
    {
        TyrantRecord record = Read(News);
        var request = new TyrantRequest();
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 1_000; i++)
            {
                record.Read(News.Bytes);
                request.StartFunction("put"u8, changes: true);
                record.AddTo(request);
            }
        }));
    }

    private static void Refused(string text, params (string, object?)[] fields)
    {
        BsonDocument document = BsonDocument.Of(fields);
        Assert.Contains(text, Assert.Throws<OperationLimitException>(() => Read(document)).Message, StringComparison.Ordinal);
    }

    private static TyrantRecord Read(BsonDocument document)
    {
        var record = new TyrantRecord();
        record.Read(document.Bytes);
        return record;
    }

    private static (string Key, string Columns, int Count) Texts(TyrantRecord record) =>
        (Encoding.UTF8.GetString(record.Key), Encoding.UTF8.GetString(record.Columns), record.ColumnCount);
}

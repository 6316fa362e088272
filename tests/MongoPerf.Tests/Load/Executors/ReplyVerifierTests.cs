using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Executors;

public sealed class ReplyVerifierTests
{
    private static readonly DocumentTemplate Documents = SeriesFile.Documents();

    /// <summary>Values of a draw: the filters of q4, q5 and q6 take them as they come.</summary>
    private static readonly ValueContext Drawn = new(0, 1);

    [Theory]
    [InlineData("q4")]
    [InlineData("q6")]
    [InlineData("q7")]
    public void Right_documents_are_right(string name)
    {
        byte[][] documents = [.. Fitting(name, 10).Reverse().Select(Make)];
        Assert.Equal(new VerificationOutcome(10, 0), Verify(name, documents));
    }

    [Fact]
    public void A_changed_byte_is_found_wherever_it_is()
    {
        byte[] changed = Make(3);
        FindDocuments all = SeriesFile.Find("q7");
        var verifier = new ReplyVerifier(all, Documents);
        // What does not begin and end as a document is no reply.
        for (int at = 4; at < changed.Length - 1; at++)
        {
            changed[at] ^= 1;
            Assert.True(verifier.Verify(Batch([Make(1), changed]), Drawn) == new VerificationOutcome(2, 1), $"byte {at}");
            changed[at] ^= 1;
        }
    }

    /// <summary>
    /// As mongod 6.0.5 returns a document of a time-series collection: time and meta first, meta's own fields in order of their names.
    /// </summary>
    [Fact]
    public void Fields_of_a_time_series_collection_may_come_in_another_order_and_no_other_way()
    {
        var written = BsonDocument.Of(("_id", 1), ("t", DateTimeOffset.UnixEpoch.UtcDateTime),
            ("meta", BsonDocument.Of(("b", 1), ("a", 2))), ("list", new[] { 1, 2 }));
        var documents = new DocumentTemplate(DocumentValue.Of(written), 1, "m");
        FindDocuments find = new FindDocuments("f", "m", DocumentValue.Empty) { IsOfKey = true, MayReorderFields = true };
        Assert.Equal(0, Wrong(find, Reply(2, 1, [1, 2], 1)));
        Assert.Equal(1, Wrong(find with { MayReorderFields = false }, Reply(2, 1, [1, 2], 1)));
        Assert.Equal(1, Wrong(find, Reply(3, 1, [1, 2], 1)));
        Assert.Equal(1, Wrong(find, Reply(2, 1, [2, 1], 1)));
        Assert.Equal(1, Wrong(find, Reply(2, 1, [1, 2], 1L)));
        Assert.Equal(
            1, Wrong(find, BsonDocument.Of([.. Reply(2, 1, [1, 2], 1).Select(pair => (pair.Key, (object?)pair.Value)), ("more", 1)])));

        int Wrong(FindDocuments query, BsonDocument reply) =>
            new ReplyVerifier(query, documents).Verify(Batch([reply.Bytes.ToArray()]), Drawn).Wrong;

        static BsonDocument Reply(int a, int b, int[] list, object id) =>
            BsonDocument.Of(
                ("t", DateTimeOffset.UnixEpoch.UtcDateTime), ("meta", BsonDocument.Of(("a", a), ("b", b))), ("list", list), ("_id", id));
    }

    [Fact]
    public void A_document_that_the_server_may_have_removed_is_not_missed()
    {
        FindDocuments find = SeriesFile.Find("q7") with { IsOfKey = true };
        Assert.Equal(new VerificationOutcome(1, 1), new ReplyVerifier(find, Documents).Verify(Batch([]), Drawn));
        Assert.Equal(
            new VerificationOutcome(0, 0), new ReplyVerifier(find with { MayBeRemoved = true }, Documents).Verify(Batch([]), Drawn));
    }

    [Theory]
    [InlineData("_id", -1)]
    [InlineData("_id", 1)]
    [InlineData("Number", -1)]
    [InlineData("Number", 1)]
    [InlineData("Number1", 1)]
    [InlineData("Date", -1)]
    public void The_order_that_was_asked_for_is_looked_at(string field, int direction)
    {
        FindDocuments query = SeriesFile.Find("q7") with { Sort = DocumentValue.Of(BsonDocument.Of((field, direction))) };
        BsonDocument[] ordered = [.. Enumerable.Range(0, 10).Select(n => new BsonDocument(Make(n)))];
        Array.Sort(ordered, (a, b) => direction * KeyOf(a).CompareTo(KeyOf(b)));
        Assert.Equal(0, Verify(query, ordered.Select(d => d.Bytes.ToArray())).Wrong);
        Assert.Equal(9, Verify(query, ordered.Reverse().Select(d => d.Bytes.ToArray())).Wrong);

        long KeyOf(BsonDocument document) => document.Find(field) is { Type: BsonType.ObjectId } id
            ? Documents.Ids.NumberOf(id.Type, id.Bytes.Span)
            : document.FindInt64(field)!.Value;
    }

    [Fact]
    public void A_document_of_another_seed_is_found() =>
        Assert.Equal(new VerificationOutcome(1, 1), Verify("q7", [SeriesFile.Documents(43).Make(3).Bytes.ToArray()]));

    [Fact]
    public void A_shorter_document_is_found() =>
        Assert.Equal(new VerificationOutcome(1, 1), Verify("q7", [Pair(5, 5)]));

    [Fact]
    public void A_document_outside_the_filter_is_found()
    {
        int value = NumberOf(7);
        FindDocuments query = SeriesFile.Find("q4");
        Assert.Equal(new VerificationOutcome(1, 0), Verify(From(value), [Make(7)]));
        Assert.Equal(new VerificationOutcome(1, 1), Verify(From(value + 1), [Make(7)]));

        FindDocuments From(int least) =>
            query with { Filter = DocumentValue.Of(BsonDocument.Of(("Number", BsonDocument.Of(("$gte", least))))) };
    }

    [Theory]
    [InlineData("""{"Number": 500}""", 500, 0)]
    [InlineData("""{"Number": 500}""", 501, 1)]
    [InlineData("""{"Number": {"$eq": 500}}""", 501, 1)]
    [InlineData("""{"Number": {"$gt": 500}}""", 500, 1)]
    [InlineData("""{"Number": {"$lt": 500}}""", 500, 1)]
    [InlineData("""{"Number": {"$lte": 500}}""", 500, 0)]
    [InlineData("""{"Number": {"$gte": 1, "$lt": 500}}""", 500, 1)]
    [InlineData("""{"Number": {"$gte": 400.5, "$lt": 600}}""", 500, 0)]
    // What is no comparison is not looked at.
    [InlineData("""{"Number": {"$in": [1, 2]}}""", 500, 0)]
    [InlineData("""{"Number": {"$ne": 500}}""", 500, 0)]
    [InlineData("""{"$or": [{"Number": 1}]}""", 500, 0)]
    public void Plain_conditions_are_looked_at(string filter, int number, int wrong)
    {
        FindDocuments query = SeriesFile.Find("q5") with { Filter = DocumentValue.Of(ExtendedJson.Parse(filter)) };
        Assert.Equal(new VerificationOutcome(1, wrong), Verify(query, [Pair(number, 0)]));
    }

    [Theory]
    [InlineData(500, 500, 0)]
    [InlineData(499, 500, 1)]
    [InlineData(500, 499, 1)]
    [InlineData(0, 0, 1)]
    public void Both_conditions_of_q5_are_looked_at_though_only_parts_come_back(int number, int number1, int wrong) =>
        Assert.Equal(new VerificationOutcome(1, wrong), Verify(BothFrom(500), [Pair(number, number1)]));

    [Fact]
    public void A_field_that_was_asked_for_and_is_missing_meets_no_condition() =>
        Assert.Equal(new VerificationOutcome(1, 1), Verify(BothFrom(0), [BsonDocument.Of(("Number", 700)).Memory.ToArray()]));

    [Theory]
    [InlineData("""{"Number": 1}""")]
    [InlineData("""{"Number1": 0}""")]
    public void A_field_that_the_projection_leaves_out_need_not_come(string projection)
    {
        FindDocuments query = BothFrom(0) with { Projection = DocumentValue.Of(ExtendedJson.Parse(projection)) };
        Assert.Equal(new VerificationOutcome(1, 0), Verify(query, [BsonDocument.Of(("Number", 700)).Memory.ToArray()]));
    }

    [Fact]
    public void Wrong_order_is_found_where_an_order_was_asked_for()
    {
        long[] numbers = [.. Fitting("q6", 4)];
        byte[][] documents = [Make(numbers[3]), Make(numbers[1]), Make(numbers[2]), Make(numbers[0])];
        Assert.Equal(new VerificationOutcome(4, 1), Verify("q6", documents));
        Assert.Equal(new VerificationOutcome(4, 0), Verify("q4", documents));
    }

    /// <summary>Servers sort by value, whatever the type, and take an array by one of its elements.</summary>
    [Theory]
    [InlineData("{'v': 1}", "{'v': {'$timestamp': {'t': 1, 'i': 255}}}", "{'v': {'$timestamp': {'t': 1, 'i': 256}}}", false)]
    [InlineData("{'v': 1}", "{'v': {'$binary': {'base64': '/w==', 'subType': '00'}}}",
        "{'v': {'$binary': {'base64': 'AAA=', 'subType': '00'}}}", false)]
    [InlineData("{'v': 1}", "{'v': 9007199254740992.0}", "{'v': {'$numberLong': '9007199254740993'}}", false)]
    [InlineData("{'v': 1}", "{'v': null}", "{'v': 'text'}", false)]
    [InlineData("{'v': -1}", "{'v': 'text'}", "{'v': 7}", false)]
    [InlineData("{'v': 1}", "{'v': {'a': 300}}", "{'v': {'a': 500}}", false)]
    [InlineData("{'v': 1}", "{'v': [2, 9]}", "{'v': [1, 3]}", true)]
    [InlineData("{'v': 1}", "{'v': [2, 9]}", "{'v': 5}", true)]
    [InlineData("{'v.w': 1}", "{'v': [{'w': 2}]}", "{'v': {'w': 1}}", true)]
    [InlineData("{'v': 1, 'w': -1}", "{'v': 3, 'w': 9}", "{'v': {'$numberLong': '3'}, 'w': 8.5}", false)]
    [InlineData("{'v': 1, 'w': -1}", "{'v': [3], 'w': 9}", "{'v': [3], 'w': 8}", true)]
    [InlineData("{'v': 1, 'w': 1}", "{'v': 5}", "{'v': 5, 'w': 1}", true)]
    public void Order_is_judged_by_value_and_not_where_an_array_decides(string sort, string first, string second, bool isOpen)
    {
        FindDocuments find = new FindDocuments("f", "c", DocumentValue.Empty)
        {
            Sort = DocumentValue.Of(Parse(sort)), Projection = DocumentValue.Of(BsonDocument.Of(("_id", 0))),
        };
        byte[][] documents = [Parse(first).Bytes.ToArray(), Parse(second).Bytes.ToArray()];
        Assert.Equal(new VerificationOutcome(2, 0), Verify(find, documents));
        Assert.Equal(new VerificationOutcome(2, isOpen ? 0 : 1), Verify(find, documents.Reverse()));
    }

    [Fact]
    public void A_field_that_the_projection_computes_is_not_judged()
    {
        BsonDocument[] found = [BsonDocument.Of(("v", 9), ("w", BsonDocument.Of(("a", 9)))), BsonDocument.Of(("v", 1))];
        byte[][] documents = [.. found.Select(one => one.Bytes.ToArray())];
        Assert.Equal(1, Wrong("{'v': 1}", "{'v': 1}", "{}"));
        Assert.Equal(2, Wrong("{'v': true}", "{}", "{'v': {'$gt': 10}}"));
        Assert.Equal(0, Wrong("{'v': {'$add': ['$x', 1]}}", "{'v': 1}", "{'v': {'$gt': 10}}"));
        Assert.Equal(0, Wrong("{'w': '$x'}", "{'w.a': 1}", "{'w.a': 3}"));
        Assert.Equal(1, Wrong("{'w.b': '$x'}", "{}", "{'w.a': 3}"));

        int Wrong(string projection, string sort, string filter) => Verify(new FindDocuments("f", "c", DocumentValue.Of(Parse(filter)))
        {
            Sort = DocumentValue.Of(Parse(sort)), Projection = DocumentValue.Of(Parse(projection)),
        }, documents).Wrong;
    }

    [Fact]
    public void A_pattern_is_no_value_to_be_equal_to()
    {
        BsonDocument filter = Parse("{'Number': {'$regularExpression': {'pattern': '5', 'options': ''}}}");
        Assert.Equal(0, Verify(SeriesFile.Find("q5") with { Filter = DocumentValue.Of(filter) }, [Pair(500, 0)]).Wrong);
    }

    [Fact]
    public void A_document_that_is_nested_too_deep_to_be_compared_is_wrong()
    {
        // Written by hand: what is nested so deep no writer makes.
        const int Levels = 200_000;
        using var bytes = new MemoryStream();
        for (int level = Levels; level >= 0; level--)
            bytes.Write([.. BitConverter.GetBytes((level * 8) + 5), .. level > 0 ? new byte[] { 3, (byte)'v', 0 } : []]);
        bytes.Write(new byte[Levels + 1]);
        byte[] deep = bytes.ToArray();
        FindDocuments find = new FindDocuments("f", "c", DocumentValue.Empty)
        {
            Sort = DocumentValue.Of(Parse("{'v': 1}")), Projection = DocumentValue.Of(BsonDocument.Of(("_id", 0))),
        };
        VerificationOutcome outcome = Verify(find, [deep, deep, BsonDocument.Of(("v", "z")).Bytes.ToArray()]);
        Assert.Equal(3, outcome.Checked);
        Assert.InRange(outcome.Wrong, 2, 3);
    }

    [Fact]
    public void More_documents_than_the_limit_are_wrong()
    {
        byte[][] documents = [.. Fitting("q4", 13).Select(Make)];
        Assert.Equal(new VerificationOutcome(13, 3), Verify("q4", documents));
    }

    [Fact]
    public void Bytes_that_are_no_document_are_wrong_and_the_rest_is_still_looked_at()
    {
        byte[] garbage = Make(2);
        garbage[4] = 0x77;
        byte[] otherType = BsonDocument.Of(("Number", "seven")).Memory.ToArray();
        Assert.Equal(new VerificationOutcome(4, 2), Verify("q7", [Make(1), garbage, otherType, Make(3)]));
    }

    [Fact]
    public void The_document_of_the_drawn_key_must_be_the_one_that_comes()
    {
        FindDocuments byKey = SeriesFile.Find(
            "q7") with { Filter = DocumentValue.Of(("_id", ReferenceValue.Of(Documents, Documents.Id))), IsOfKey = true };
        Assert.Equal(new VerificationOutcome(1, 0), Verify(byKey, [Make(7)], 7));
        Assert.Equal(new VerificationOutcome(1, 1), Verify(byKey, [Make(8)], 7));
        // None at all is one wrong.
        Assert.Equal(new VerificationOutcome(1, 1), Verify(byKey, [], 7));
        Assert.Equal(new VerificationOutcome(0, 0), Verify("q7", []));
    }

    public static TheoryData<TemplateValue> TellingNothing() =>
        [FillerValue.Uuid(1), new NumberedTextValue("user", 1, isHashed: true), new SequenceValue(NumberKind.Double, 0, 1)];

    /// <summary>Where an _id does not tell its number only conditions and order are left.</summary>
    [Theory]
    [MemberData(nameof(TellingNothing), DisableDiscoveryEnumeration = true)]
    public void Documents_whose_ids_tell_nothing_are_compared_by_key_alone(TemplateValue id)
    {
        var texts = new DocumentTemplate(DocumentValue.Of(("_id", id), ("n", new SequenceValue(NumberKind.Int64, 0, 1))), 42, "c");
        byte[] other = BsonDocument.Of(("_id", "any"), ("n", 3L)).Memory.ToArray();
        var find = new FindDocuments(
            "read", "c", DocumentValue.Of(BsonDocument.Of(("n", BsonDocument.Of(("$gte", 3)))))) { Expected = texts };
        Assert.Equal(0, new ReplyVerifier(find, texts).Verify(Batch([other]), Drawn).Wrong);
        Assert.Equal(1, new ReplyVerifier(find with { IsOfKey = true }, texts).Verify(Batch([other]), new ValueContext(3, 0)).Wrong);
        Assert.Equal(0, new ReplyVerifier(find with { IsOfKey = true }, texts)
            .Verify(Batch([texts.Make(3).Bytes.ToArray()]), new ValueContext(3, 0)).Wrong);
    }

    private static FindDocuments BothFrom(int least) => SeriesFile.Find("q5") with
    {
        Filter =
            DocumentValue.Of(BsonDocument.Of(("Number", BsonDocument.Of(("$gte", least))), ("Number1", BsonDocument.Of(("$gte", least))))),
    };

    /// <summary>The first documents that meet the phase's condition as it is drawn.</summary>
    private static IEnumerable<long> Fitting(string name, int count)
    {
        long least = SeriesFile.Find(name).Filter.ToDocument(Drawn).FindInt64("Number.$gte") ?? 0;
        return Enumerable.Range(0, 100_000).Where(n => NumberOf(n) >= least).Take(count).Select(n => (long)n);
    }

    private static VerificationOutcome Verify(string name, IEnumerable<byte[]> documents) => Verify(SeriesFile.Find(name), documents);

    private static VerificationOutcome Verify(FindDocuments find, IEnumerable<byte[]> documents, long drawn = 0) =>
        new ReplyVerifier(find, Documents).Verify(Batch(documents), new ValueContext(drawn, Drawn.Bits));

    private static byte[] Batch(IEnumerable<byte[]> documents)
    {
        var writer = new BsonWriter();
        writer.StartDocument();
        foreach ((int i, byte[] document) in documents.Index())
            writer.WriteDocument(System.Text.Encoding.ASCII.GetBytes($"{i}"), document);
        writer.End();
        return writer.Written.ToArray();
    }

    private static BsonDocument Parse(string text) => ExtendedJson.Parse(text.Replace('\'', '"'));

    private static byte[] Make(long number) => Documents.Make(number).Bytes.ToArray();

    private static int NumberOf(long number) => (int)Documents.Make(number).FindInt64("Number")!.Value;

    private static byte[] Pair(int number, int number1) => BsonDocument.Of(("Number", number), ("Number1", number1)).Memory.ToArray();
}

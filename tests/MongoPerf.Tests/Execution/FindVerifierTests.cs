using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Execution;

public sealed class FindVerifierTests
{
    private static readonly DocumentGenerator Generator = new(42);

    [Theory]
    [InlineData("q4")]
    [InlineData("q6")]
    [InlineData("q7")]
    public void Right_documents_are_right(string test)
    {
        byte[][] documents = [.. Enumerable.Range(0, 10).Reverse().Select(Make)];
        Assert.Equal(new VerificationOutcome(10, 0), Verify(test, documents, test == "q7" ? [] : [0]));
    }

    [Theory]
    [InlineData(12)]
    [InlineData(35)]
    [InlineData(60)]
    [InlineData(1021)]
    public void A_changed_byte_is_found(int at)
    {
        byte[] changed = Make(3);
        changed[at] ^= 1;
        Assert.Equal(new VerificationOutcome(2, 1), Verify("q4", [Make(1), changed], [0]));
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
        var query = new FindSpecification("x", BsonDocument.Empty, 10) { Sort = BsonDocument.Of((field, direction)) };
        BsonDocument[] ordered = [.. Enumerable.Range(0, 10).Select(n => new BsonDocument(Make(n)))];
        Array.Sort(ordered, (a, b) => direction * KeyOf(a).CompareTo(KeyOf(b)));
        Assert.Equal(0, Wrong(ordered));
        Assert.Equal(9, Wrong([.. ordered.Reverse()]));

        long KeyOf(BsonDocument document) => field == "_id" ? Generator.Numbers.NumberOf(document.Find("_id")!.Value.ToObjectId()) : document.FindInt64(field)!.Value;

        int Wrong(BsonDocument[] documents)
        {
            var writer = new BsonWriter(16_384);
            writer.StartDocument();
            for (int i = 0; i < documents.Length; i++)
                writer.WriteDocument(System.Text.Encoding.UTF8.GetBytes($"{i}"), documents[i].Bytes);
            writer.End();
            return new FindVerifier(query, Generator).Verify(writer.Written, []).Wrong;
        }
    }

    [Fact]
    public void A_document_of_another_seed_is_found()
    {
        byte[] stranger = new byte[DocumentGenerator.DocumentLength];
        new DocumentGenerator(43).Fill(3, stranger);
        Assert.Equal(new VerificationOutcome(1, 1), Verify("q7", [stranger], []));
    }

    [Fact]
    public void A_shorter_document_is_found() =>
        Assert.Equal(new VerificationOutcome(1, 1), Verify("q7", [Pair(5, 5)], []));

    [Fact]
    public void A_document_outside_the_filter_is_found()
    {
        int value = Generator.NumberAt(7);
        Assert.Equal(new VerificationOutcome(1, 0), Verify("q4", [Make(7)], [value]));
        Assert.Equal(new VerificationOutcome(1, 1), Verify("q4", [Make(7)], [value + 1]));
    }

    [Theory]
    [InlineData(500, 500, 0)]
    [InlineData(499, 500, 1)]
    [InlineData(500, 499, 1)]
    [InlineData(0, 0, 1)]
    public void Both_conditions_of_q5_are_looked_at_though_only_parts_come_back(int number, int number1, int wrong) =>
        Assert.Equal(new VerificationOutcome(1, wrong), Verify("q5", [Pair(number, number1)], [500, 500]));

    [Fact]
    public void A_field_that_is_missing_meets_no_filter() =>
        Assert.Equal(new VerificationOutcome(1, 1), Verify("q5", [BsonDocument.Of(("Number", 700)).Memory.ToArray()], [0, 0]));

    [Fact]
    public void Wrong_order_is_found_where_an_order_was_asked_for()
    {
        byte[][] documents = [Make(5), Make(2), Make(4), Make(1)];
        Assert.Equal(new VerificationOutcome(4, 1), Verify("q6", documents, [0]));
        Assert.Equal(new VerificationOutcome(4, 0), Verify("q4", documents, [0]));
    }

    [Fact]
    public void More_documents_than_the_limit_are_wrong()
    {
        byte[][] documents = [.. Enumerable.Range(0, 13).Select(Make)];
        Assert.Equal(new VerificationOutcome(13, 3), Verify("q4", documents, [0]));
    }

    [Fact]
    public void Bytes_that_are_no_document_are_wrong_and_the_rest_is_still_looked_at()
    {
        byte[] garbage = Make(2);
        garbage[4] = 0x77;
        byte[] otherType = BsonDocument.Of(("Number", "seven")).Memory.ToArray();
        Assert.Equal(new VerificationOutcome(4, 2), Verify("q4", [Make(1), garbage, otherType, Make(3)], [0]));
    }

    private static VerificationOutcome Verify(string test, byte[][] documents, int[] drawn)
    {
        var writer = new BsonWriter();
        writer.StartDocument();
        for (int i = 0; i < documents.Length; i++)
            writer.WriteDocument(System.Text.Encoding.ASCII.GetBytes($"{i}"), documents[i]);
        writer.End();
        return new FindVerifier(SeriesTests.Find(test, DocumentGenerator.ValueRange), Generator).Verify(writer.Written, drawn);
    }

    private static byte[] Make(int number)
    {
        byte[] document = new byte[DocumentGenerator.DocumentLength];
        Generator.Fill(number, document);
        return document;
    }

    private static byte[] Pair(int number, int number1) => BsonDocument.Of(("Number", number), ("Number1", number1)).Memory.ToArray();
}

using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>What goes over the wire to a mongod that routes. Its names were tried with mongod 6.0.5.</summary>
public sealed class CommandDialectTests
{
    private static readonly CommandDialect Routing = CommandDialect.RoutingMongod;

    [Theory]
    [InlineData("""{"insert": "c", "ordered": false}""", """{"clusterInsert": "c", "ordered": false}""")]
    [InlineData("""{"find": "c", "filter": {"a": 1}, "limit": 10}""", """{"clusterFind": "c", "filter": {"a": 1}, "limit": 10}""")]
    [InlineData("""{"getMore": 7, "collection": "c"}""", """{"clusterGetMore": 7, "collection": "c"}""")]
    [InlineData("""{"update": "c", "updates": []}""", """{"clusterUpdate": "c", "updates": []}""")]
    [InlineData("""{"delete": "c", "deletes": []}""", """{"clusterDelete": "c", "deletes": []}""")]
    [InlineData("""{"aggregate": "c", "pipeline": [], "cursor": {}}""", """{"clusterAggregate": "c", "pipeline": [], "cursor": {}}""")]
    [InlineData("""{"explain": {"find": "c", "limit": 1}, "verbosity": "executionStats"}""",
        """{"explain": {"clusterFind": "c", "limit": 1}, "verbosity": "executionStats"}""")]
    [InlineData("""{"count": "c"}""", """{"clusterAggregate": "c", "pipeline": [{"$match": {}}, {"$count": "n"}], "cursor": {}}""")]
    [InlineData(
        """{"count": "c", "query": {"a": 1}, "limit": -5, "skip": 2, "hint": {"a": 1}}""",
        """{"clusterAggregate": "c", "pipeline": [{"$match": {"a": 1}}, {"$skip": 2}, {"$limit": 5}, {"$count": "n"}], "cursor": {}, "hint": {"a": 1}}""")]
    [InlineData(
        """{"distinct": "c", "key": "a.b", "query": {"x": 2}}""",
        """{"clusterAggregate": "c", "pipeline": [{"$match": {"x": 2}}, {"$unwind": "$a.b"}, {"$group": {"_id": null, "values": {"$addToSet": "$a.b"}}}], "cursor": {}}""")]
    [InlineData("""{"isMaster": 1}""", """{"isMaster": 1}""")]
    [InlineData("""{"ping": 1, "insert": "no command here"}""", """{"ping": 1, "insert": "no command here"}""")]
    public void Only_what_a_router_names_otherwise_is_translated(string command, string expected)
    {
        BsonDocument document = ExtendedJson.Parse(command);
        Assert.Equal(expected, ExtendedJson.Write(Routing.Translate(document).Bytes));
        Assert.Same(document, CommandDialect.Plain.Translate(document));
    }

    [Fact]
    public void A_translated_find_has_these_bytes()
    {
        byte[] expected = Convert.FromHexString(
            ("38000000 01000000 00000000 dd070000 00000000 00 " // header with the length of 56, flags, kind 0
            + "23000000 02 636c757374657246696e6400 02000000 6300 " // a document of 35 bytes, clusterFind: "c"
            + "02 24646200 02000000 6400 00").Replace(" ", "", StringComparison.Ordinal)); // $db: "d"
        BsonDocument command = Routing.Translate(BsonDocument.Of(("find", "c")));
        Assert.Equal(Convert.ToHexString(expected), Convert.ToHexString(new OpMsgWriter().WriteCommand("d", command, requestId: 1)));
    }

    [Theory]
    [InlineData("""{"findAndModify": "c"}""", "findAndModify")]
    [InlineData("""{"killCursors": "c", "cursors": []}""", "killCursors")]
    [InlineData("""{"insert": "c", "txnNumber": 1}""", "txnNumber")]
    [InlineData("""{"explain": {"find": "c", "txnNumber": 1}}""", "txnNumber")]
    [InlineData("""{"explain": {"update": "c", "updates": []}, "verbosity": "queryPlanner"}""", "explain of update")]
    [InlineData("""{"explain": {"delete": "c", "deletes": []}}""", "explain of delete")]
    public void What_a_routing_mongod_has_not_or_dies_of_is_never_sent(string command, string named)
    {
        Assert.Contains(named,
            Assert.Throws<NotSupportedException>(() => Routing.Translate(ExtendedJson.Parse(command))).Message, StringComparison.Ordinal);
        Assert.Equal(command, ExtendedJson.Write(CommandDialect.Plain.Translate(ExtendedJson.Parse(command)).Bytes));
    }

    [Theory]
    [InlineData(
        """{"count": "c"}""", """{"cursor": {"firstBatch": [{"n": 5}], "id": 0, "ns": "d.c"}, "ok": 1.0}""", """{"n": 5, "ok": 1.0}""")]
    [InlineData("""{"count": "c"}""", """{"cursor": {"firstBatch": [], "id": 0, "ns": "d.c"}, "ok": 1.0}""", """{"n": 0, "ok": 1.0}""")]
    [InlineData("""{"distinct": "c", "key": "a"}""",
        """{"cursor": {"firstBatch": [{"_id": null, "values": [2, 1]}], "id": 0}, "ok": 1.0}""", """{"values": [2, 1], "ok": 1.0}""")]
    [InlineData("""{"distinct": "c", "key": "a"}""", """{"cursor": {"firstBatch": [], "id": 0}, "ok": 1.0}""",
        """{"values": [], "ok": 1.0}""")]
    [InlineData("""{"count": "c"}""", """{"ok": 0.0, "code": 13388}""", """{"ok": 0.0, "code": 13388}""")]
    [InlineData("""{"find": "c"}""", """{"cursor": {"firstBatch": [{"n": 5}], "id": 0}, "ok": 1.0}""",
        """{"cursor": {"firstBatch": [{"n": 5}], "id": 0}, "ok": 1.0}""")]
    public void Replies_have_the_form_of_the_command_that_was_meant(string command, string reply, string expected) =>
        Assert.Equal(expected, ExtendedJson.Write(Routing.ReadReply(ExtendedJson.Parse(command), ExtendedJson.Parse(reply)).Bytes));
}

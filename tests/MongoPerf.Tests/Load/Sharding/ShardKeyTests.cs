using MongoPerf.Load.Documents;
using MongoPerf.Load.Sharding;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Sharding;

public sealed class ShardKeyTests
{
    [Theory]
    [InlineData("hashed", "{_id: hashed}", true)]
    [InlineData("_id", "{_id: 1}", false)]
    [InlineData("Number", "{Number: 1}", false)]
    [InlineData("Date:hashed", "{Date: hashed}", true)]
    [InlineData("Number1,Date,_id", "{Number1: 1, Date: 1, _id: 1}", false)]
    public void A_key_is_read_and_told(string text, string told, bool isHashed)
    {
        var key = ShardKey.Parse(text);
        Assert.Equal((told, isHashed), (key.ToString(), key.IsHashed));
        Assert.True(key.IsThatOf(key.Document));
    }

    [Theory]
    [InlineData("a b", "'a b' is not a shard key field; allowed: hashed, FIELD, FIELD:hashed")]
    [InlineData("", "'' is not a shard key field")]
    [InlineData("a,,b", "'' is not a shard key field")]
    [InlineData("$a", "'$a' is not a shard key field")]
    [InlineData("_id,_id", "'_id,_id' names a field twice")]
    [InlineData("_id,Number:hashed", "only one field can be hashed")]
    public void Any_other_key_is_refused(string text, string why) =>
        Assert.Contains(why, Assert.Throws<FormatException>(() => ShardKey.Parse(text)).Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("Number", """{"Number": 1}""", true)]
    [InlineData("Number", """{"Number": 1.0, "Date": -1}""", true)]
    [InlineData("Number", """{"Number": -1}""", false)]
    [InlineData("Number", """{"Date": 1, "Number": 1}""", false)]
    [InlineData("hashed", """{"_id": 1}""", false)]
    [InlineData("hashed", """{"_id": "hashed"}""", true)]
    [InlineData("Number,_id", """{"Number": 1}""", false)]
    public void An_index_serves_a_key_that_it_begins_with(string key, string index, bool serves) =>
        Assert.Equal(serves, ShardKey.Parse(key).IsServedBy(ExtendedJson.Parse(index)));

    [Fact]
    public void Ranges_are_cut_into_equal_numbers_of_documents()
    {
        DocumentTemplate documents = SeriesFile.Documents();
        var numbers = new DocumentNumbers(42);
        Assert.Equal(
            [numbers.IdOf(250), numbers.IdOf(500), numbers.IdOf(750)],
            ShardKey.Parse("_id").SplitPoints(4, 1000, documents).Select(point => point.Find("_id")!.Value.ToObjectId()));
        Assert.Equal([333_333L, 666_666L],
            ShardKey.Parse("Number").SplitPoints(3, 1000, documents).Select(point => point.FindInt64("Number")!.Value));
        Assert.Equal([DocumentNumbers.FirstDate + 500],
            ShardKey.Parse("Date").SplitPoints(2, 1000, documents).Select(point => point.FindInt64("Date")!.Value));
        BsonDocument compound = Assert.Single(ShardKey.Parse("Number1,_id").SplitPoints(2, 1000, documents));
        Assert.Equal((500_000L, BsonType.MinKey), (compound.FindInt64("Number1"), compound.Find("_id")!.Value.Type));
        // Half of the most documents that there can be, without an overflow on the way.
        Assert.Equal(numbers.IdOf(DocumentNumbers.Limit / 2),
            ShardKey.Parse("_id").SplitPoints(8192, DocumentNumbers.Limit, documents)[4095].Find("_id")!.Value.ToObjectId());
    }
}

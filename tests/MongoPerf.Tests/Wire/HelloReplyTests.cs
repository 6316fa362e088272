using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Wire;

/// <summary>What a server says of itself, and what follows when it leaves it out.</summary>
public sealed class HelloReplyTests
{
    [Theory]
    [InlineData("""{"setName": "rs0"}""", true)]
    [InlineData("""{"msg": "isdbgrid", "logicalSessionTimeoutMinutes": 30}""", true)]
    [InlineData("""{"msg": "isdbgrid"}""", false)]
    [InlineData("""{"logicalSessionTimeoutMinutes": 30}""", false)]
    public void Sessions_are_those_of_sets_and_of_routers_that_have_them(string reply, bool has) =>
        Assert.Equal(has, new HelloReply(ExtendedJson.Parse(reply)).HasSessions);

    [Fact]
    public void What_a_server_leaves_out_is_what_the_protocol_says()
    {
        var reply = new HelloReply(ExtendedJson.Parse("{}"));
        Assert.Equal((48_000_000, 1000, false), (reply.MaxMessageSizeBytes, reply.MaxWriteBatchSize, reply.IsMongos));
    }
}

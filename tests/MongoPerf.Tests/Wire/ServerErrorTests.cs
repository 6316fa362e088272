using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Wire;

/// <summary>What a server words is shown to people: it must not reach their terminal as it is.</summary>
public sealed class ServerErrorTests
{
    [Fact]
    public void An_error_is_one_line_without_control_characters()
    {
        var error = ServerError.From(BsonDocument.Of(("code", 2), ("codeName", "Bad\aValue"), ("errmsg", "no\n\u001b[2Jway\u0085")));
        Assert.Equal((2, "Bad?Value", "no??[2Jway?"), (error.Code, error.Name, error.Message));
    }

    [Fact]
    public void A_message_that_would_fill_the_screen_is_cut()
    {
        var error = ServerError.From(BsonDocument.Of(("code", 2), ("errmsg", new string('x', 1_000_000))));
        Assert.Equal(new string('x', 4000) + "…", error.Message);
    }
}

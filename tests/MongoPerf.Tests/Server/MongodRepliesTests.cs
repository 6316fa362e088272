using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>
/// The embedded server answers some 4,000 commands as a mongod 6.0.5 did, whose replies are stored; that they are its replies,
/// DifferentialTests find out where there is one.
/// </summary>
public sealed class MongodRepliesTests : ServerTest
{
    public static TheoryData<int> Parts { get; } = [.. Enumerable.Range(0, MongodReplies.Parts)];

    [Theory]
    [MemberData(nameof(Parts))]
    public void Commands_are_answered_as_mongod_answered_them(int part)
    {
        string[] stored = MongodReplies.Stored[part];
        int next = 0;
        var asked = new List<BsonDocument>();
        foreach ((BsonDocument command, bool isCodeAlone) in MongodReplies.Of(part))
        {
            if (command.First().Key == "dropDatabase")
                asked.Clear();
            asked.Add(command);
            BsonDocument reply = Client.Run(command);
            if (MongodReplies.DigestOf(reply, "test", isCodeAlone) != stored[next++])
                Assert.Fail($"answered otherwise than by mongod: {ExtendedJson.Write(reply.Bytes)}\nto the last of\n"
                    + string.Join('\n', asked.Select(one => ExtendedJson.Write(one.Bytes))));
        }

        Assert.Equal(stored.Length, next);
    }
}

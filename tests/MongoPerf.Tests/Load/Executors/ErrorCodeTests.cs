using MongoPerf.Load.Executors.Steps;
using MongoPerf.Load.Failures;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>What is done about an error hangs on its code alone. Source: error_codes.yml of the server.</summary>
public sealed class ErrorCodeTests
{
    [Theory]
    [InlineData("MaxTimeMSExpired", 50, true)]
    [InlineData("WriteConcernFailed", 64, true)]
    [InlineData("ExceededTimeLimit", 262, true)]
    [InlineData("NotWritablePrimary", 10107, true)]
    [InlineData("NoSuchTransaction", 251, false)]
    [InlineData("DuplicateKey", 11000, false)]
    [InlineData("", 49, false)]
    [InlineData("", 51, false)]
    [InlineData("", 263, false)]
    public void A_commit_is_unknown_where_it_may_have_been_done(string name, int code, bool isUnknown)
    {
        Assert.Equal(isUnknown, TransactionAnswers.IsUnknown(new ServerError(code, name, "", [])));
        Assert.True(TransactionAnswers.IsUnknown(new ServerError(code, name, "", ["UnknownTransactionCommitResult"])));
        Assert.True(TransactionAnswers.IsUnknown(new ServerError(code, name, "", ["RetryableWriteError"])));
    }

    [Theory]
    [InlineData(0, "", true)]
    [InlineData(0, "ProtocolError", false)]
    [InlineData(13, "Unauthorized", true)]
    [InlineData(59, "CommandNotFound", true)]
    [InlineData(73, "InvalidNamespace", true)]
    [InlineData(115, "CommandNotSupported", true)]
    [InlineData(58, "", false)]
    [InlineData(72, "", false)]
    [InlineData(114, "", false)]
    [InlineData(11000, "DuplicateKey", false)]
    public void What_never_passes_is_not_tried_again(int code, string name, bool never) =>
        Assert.Equal(never, ErrorTally.NeverPasses(new ServerError(code, name, "", [])));

    [Theory]
    [InlineData(43, true)]
    [InlineData(46, true)]
    [InlineData(117, true)]
    [InlineData(175, true)]
    [InlineData(13388, true)]
    [InlineData(42, false)]
    [InlineData(47, false)]
    [InlineData(116, false)]
    [InlineData(176, false)]
    [InlineData(13389, false)]
    public void What_met_a_change_of_the_cluster_is_asked_again(int code, bool passes)
    {
        var failure = new ServerCommandException("find", new ServerError(code, "", "", []));
        Assert.Equal(passes, ErrorTally.MayPass(failure));
        Assert.Equal(code == 13388, ErrorTally.IsStaleRoute(failure));
    }

    [Theory]
    [InlineData(true, BsonType.Boolean, 1, true)]
    [InlineData(true, BsonType.Boolean, 0, false)]
    [InlineData(false, BsonType.Boolean, 0, true)]
    [InlineData(false, BsonType.Boolean, 1, false)]
    [InlineData(true, BsonType.Int32, 0, true)]
    [InlineData(false, BsonType.Int32, 0, false)]
    public void Whether_a_value_is_there_is_asked_with_true_unless_it_says_false(bool isThere, BsonType type, byte asked, bool holds) =>
        Assert.Equal(holds, StepComparison.Holds("$exists", isThere, BsonType.Null, [], type, [asked, 0, 0, 0]));
}

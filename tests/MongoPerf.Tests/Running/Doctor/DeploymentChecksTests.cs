using MongoPerf.Running.Doctor;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Running.Doctor;

/// <summary>What servers say of themselves, whether or not it is what MongoDB's would say.</summary>
public sealed class DeploymentChecksTests
{
    [Fact]
    public void A_warning_is_the_message_of_a_log_line_in_either_form() => Assert.Equal(
        ["Access control is not enabled", "Using the XFS filesystem is strongly recommended"],
        Warnings("""{"t": {}, "s": "W", "msg": "Access control is not enabled"}""",
            "2020-01-01T00:00:00.000+0000 I STORAGE  [initandlisten] ** WARNING: Using the XFS filesystem is strongly recommended"
                .Replace("WARNING: ", "", StringComparison.Ordinal)));

    [Fact]
    public void A_log_line_that_is_no_record_is_shown_as_it_is() => Assert.Equal(
        ["123", "[1]", """{"msg":5}""", """{"msg":"\ud800"}"""], Warnings("123", "[1]", """{"msg":5}""", """{"msg":"\ud800"}"""));

    private static IEnumerable<string> Warnings(params string[] lines) =>
        DeploymentChecks.WarningsIn(BsonDocument.Of(("log", lines), ("ok", 1.0)));
}

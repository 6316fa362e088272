using MongoPerf.Cli;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Tests.Cli;

public sealed class NamesTests
{
    [Theory]
    [InlineData("mongoperf")]
    [InlineData("a")]
    [InlineData("perf_2026-11")]
    [InlineData("Datenbänke")]
    [InlineData("012345678901234567890123456789012345678901234567890123456789012")]
    public void Database_names_that_mongodb_takes_are_taken(string name) => Assert.Equal(name, Names.Database(name));

    [Theory]
    [InlineData("", "has 0 bytes, allowed are 1 to 63")]
    [InlineData("0123456789012345678901234567890123456789012345678901234567890123", "has 64 bytes, allowed are 1 to 63")]
    [InlineData("a.b", "holds '.'")]
    [InlineData("a b", "holds ' '")]
    [InlineData("a/b", "holds '/'")]
    [InlineData("a$", "holds '$'")]
    [InlineData("a\0b", "holds '\0'")]
    [InlineData("admin", "is the server's own database")]
    [InlineData("Local", "is the server's own database")]
    [InlineData("config", "is the server's own database")]
    public void Other_database_names_are_refused_with_the_reason(string name, string reason) =>
        CheckRefusal(() => Names.Database(name), $"--db: '{name}'", reason);

    [Theory]
    [InlineData("series")]
    [InlineData("a.b")]
    [InlineData("with blank")]
    [InlineData("systematic")]
    public void Collection_names_that_mongodb_takes_are_taken(string name) => Assert.Equal(name, Names.Collection(name, "d"));

    [Theory]
    [InlineData("", "is too long or empty")]
    [InlineData("a$b", "no $")]
    [InlineData("a\0b", "no $")]
    [InlineData("system.users", "not starting with system.")]
    [InlineData("mongoperf", "is where MongoPerf keeps its markers")]
    public void Other_collection_names_are_refused_with_the_reason(string name, string reason) =>
        CheckRefusal(() => Names.Collection(name, "d"), "--collection: '", reason);

    [Fact]
    public void A_namespace_has_120_bytes_at_most()
    {
        string longest = new('c', 118);
        Assert.Equal(longest, Names.Collection(longest, "d"));
        CheckRefusal(() => Names.Collection(longest + "c", "d"), "--collection: 'd.", "allowed are up to 120 bytes with the database");
    }

    [Theory]
    [InlineData("q44", "q4")]
    [InlineData("Q5", "q5")]
    [InlineData("sive", "size")]
    [InlineData("bacth", "batch")]
    [InlineData("unacknowledged", null)]
    [InlineData("", null)]
    [InlineData("xyz", null)]
    public void The_nearest_known_name_is_found_or_none(string typed, string? nearest) => Assert.Equal(nearest, NearestName.Find(typed, SeriesTests.All));

    [Theory]
    [InlineData("--taget", "--target")]
    [InlineData("--targte", "--target")]
    [InlineData("--threds", "--threads")]
    [InlineData("--elephants", null)]
    public void Options_are_found_too(string typed, string? nearest) => Assert.Equal(nearest, NearestName.Find(typed, ["--threads", "--target", "--tests", "-t"]));

    [Fact]
    public void Nothing_is_near_when_nothing_is_known() => Assert.Null(NearestName.Find("q4", []));

    private static void CheckRefusal(Action check, string start, string reason)
    {
        var e = Assert.Throws<UserException>(check);
        Assert.Equal(ExitCode.WrongUsage, e.Code);
        Assert.StartsWith(start, e.Message, StringComparison.Ordinal);
        Assert.Contains(reason, e.Message, StringComparison.Ordinal);
    }
}

using MongoPerf.Scenarios;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Texts.Input;

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
    [InlineData("", "has 0 bytes; allowed: 1 to 63")]
    [InlineData("0123456789012345678901234567890123456789012345678901234567890123", "has 64 bytes; allowed: 1 to 63")]
    [InlineData("a.b", "contains '.'")]
    [InlineData("a b", "contains ' '")]
    [InlineData("a/b", "contains '/'")]
    [InlineData("a$", "contains '$'")]
    [InlineData("a\0b", "contains '\0'")]
    [InlineData("admin", "is reserved for the server")]
    [InlineData("Local", "is reserved for the server")]
    [InlineData("config", "is reserved for the server")]
    public void Other_database_names_are_refused_with_the_reason(string name, string reason) =>
        CheckRefusal(() => Names.Database(name), $"--db: '{name}'", reason);

    [Theory]
    [InlineData("series")]
    [InlineData("a.b")]
    [InlineData("with blank")]
    [InlineData("systematic")]
    public void Collection_names_that_mongodb_takes_are_taken(string name) => Assert.Equal(name, Names.Collection(name, "d"));

    [Theory]
    [InlineData("", "is empty or too long")]
    [InlineData("a$b", "must not contain $")]
    [InlineData("a\0b", "must not contain $")]
    [InlineData("a\nb", "'a?b' is not allowed: it must not contain $ or start with system. or a point, and has no control characters")]
    [InlineData("..", "or a point")]
    [InlineData("system.users", "must not contain $ or start with system.")]
    [InlineData("mongoperf", "is where MongoPerf keeps its markers")]
    public void Other_collection_names_are_refused_with_the_reason(string name, string reason) =>
        CheckRefusal(() => Names.Collection(name, "d"), "--collection: '", reason);

    [Fact]
    public void A_namespace_has_120_bytes_at_most()
    {
        string longest = new('c', 118);
        Assert.Equal(longest, Names.Collection(longest, "d"));
        CheckRefusal(() => Names.Collection(longest + "c", "d"), "--collection: 'd.", "allowed: up to 120 bytes with the database");
    }

    [Theory]
    [InlineData("q44", "q4")]
    [InlineData("Q5", "q5")]
    [InlineData("sive", "size")]
    [InlineData("bacth", "batch")]
    [InlineData("4q", "q4")]
    [InlineData("unacknowledged", null)]
    [InlineData("", null)]
    [InlineData("xyz", null)]
    public void The_nearest_known_name_is_found_or_none(string typed, string? nearest) =>
        Assert.Equal(nearest, NearestName.Find(typed, ["unack", "batch", "safe", "q4", "q5", "q6", "q7", "size"]));

    [Theory]
    [InlineData("--taget", "--target")]
    [InlineData("--targte", "--target")]
    [InlineData("--threds", "--threads")]
    [InlineData("--elephants", null)]
    public void Options_are_found_too(string typed, string? nearest) =>
        Assert.Equal(nearest, NearestName.Find(typed, ["--threads", "--target", "--tests", "-t"]));

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

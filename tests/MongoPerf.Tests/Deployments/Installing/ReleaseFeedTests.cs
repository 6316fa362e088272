using System.Text;
using System.Text.Json;
using MongoPerf.Deployments.Installing;

namespace MongoPerf.Tests.Deployments.Installing;

public sealed class ReleaseFeedTests
{
    private static readonly IReadOnlyList<Release> Releases = Parse(TestArchive.Feed(
        ("8.0.10", null), ("8.0.9", null), ("8.0.0-rc9", null), ("8.0.0-rc20", null), ("8.1.0", null), ("7.0.16", new string('b', 64))));

    [Theory]
    [InlineData("8.0", "8.0.10")]
    [InlineData("8", "8.1.0")]
    [InlineData("8.0.9", "8.0.9")]
    [InlineData("8.0.0-rc9", "8.0.0-rc9")]
    [InlineData("8.0.0", null)]
    [InlineData("6.0", null)]
    [InlineData("8.", null)]
    public void Series_mean_their_newest_release_and_candidates_are_found_by_name_only(string asked, string? found) =>
        Assert.Equal(found, ReleaseFeed.Find(Releases, asked)?.Number.ToString());

    [Fact]
    public void Only_the_communitys_archives_count()
    {
        ReleaseArchive archive = Assert.Single(Releases[^1].Archives);
        Assert.Equal(new ReleaseArchive("debian12", "x86_64", new Uri("https://fastdl.mongodb.org" + TestArchive.PathOf("7.0.16")),
            new string('b', 64)), archive);
    }

    [Fact]
    public void Entries_of_another_form_are_left_out()
    {
        const string feed = """
            {"versions": [1, {}, {"version": "8.0"}, {"version": "8.0.1", "downloads": [1, {"edition": "targeted"}, {"edition": "targeted", "target": "a", "arch": "b", "archive": {"url": "c.tgz"}},
              {"edition": "base", "target": "windows", "arch": "x86_64", "archive": {"url": "https://example.org/a.zip"}}]}]}
            """;
        Release release = Assert.Single(Parse(feed));
        Assert.Equal("8.0.1", release.Number.ToString());
        Assert.Empty(release.Archives);
    }

    [Theory]
    [InlineData("[]")]
    [InlineData("{\"versions\": 1}")]
    [InlineData("<html>")]
    public void What_is_no_feed_is_refused(string text) => Assert.ThrowsAny<JsonException>(() => Parse(text));

    [Theory]
    [InlineData("8.0.4", true)]
    [InlineData("8", true)]
    [InlineData("8.0.0-rc1", true)]
    [InlineData("latest", false)]
    [InlineData("8.0-rc1", false)]
    [InlineData("v8.0", false)]
    public void Versions_have_a_form(string text, bool isOne) => Assert.Equal(isOne, ReleaseNumber.CanBeAsked(text));

    [Fact]
    public void Releases_come_after_their_candidates() => Assert.Equal(
        ["7.0.16", "8.0.0-rc1", "8.0.0", "8.0.2", "8.0.10"],
        new[] { "8.0.10", "8.0.0", "8.0.2", "7.0.16", "8.0.0-rc1" }
            .Select(t => ReleaseNumber.Parse(t)!.Value).Order().Select(n => n.ToString()));

    private static IReadOnlyList<Release> Parse(string text) => ReleaseFeed.Parse(Encoding.UTF8.GetBytes(text));
}

using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;

namespace MongoPerf.Tests.Wire;

/// <summary>
/// Which of the servers that are known an operation may go to. By server-selection.md and max-staleness.md of MongoDB's specifications.
/// </summary>
public sealed class ServerSelectorTests
{
    private const long Now = 1_000_000_000;

    // p is the primary and s, t and u are secondaries, where they are there.
    [Theory]
    [InlineData("primary", "p s t", "p")]
    [InlineData("primary", "s t", "")]
    [InlineData("primaryPreferred", "p s t", "p")]
    [InlineData("primaryPreferred", "s t", "s t")]
    [InlineData("secondary", "p s t", "s t")]
    [InlineData("secondary", "p", "")]
    [InlineData("secondaryPreferred", "p s t", "s t")]
    [InlineData("secondaryPreferred", "p", "p")]
    [InlineData("nearest", "p s t", "p s t")]
    [InlineData("nearest", "", "")]
    public void A_mode_is_met_by_the_members_that_it_names(string mode, string there, string suitable) =>
        Assert.Equal(suitable, Find(ReadPreference.Of(mode), Members(there)));

    [Theory]
    [InlineData("secondary", "dc:ny", "s")]
    [InlineData("secondary", "dc:sf", "t")]
    [InlineData("secondary", "dc:ny,rack:2", "")]
    [InlineData("secondary", "dc:paris|dc:sf", "t")]
    [InlineData("secondary", "dc:paris|", "s t")]
    [InlineData("secondary", "dc:paris", "")]
    [InlineData("secondaryPreferred", "dc:paris", "p")]
    [InlineData("primaryPreferred", "dc:sf", "p")]
    [InlineData("nearest", "dc:ny", "p s")]
    [InlineData("nearest", "rack:1", "p s t")]
    public void Of_several_sets_of_tags_the_first_counts_that_a_member_has(string mode, string tags, string suitable)
    {
        ReadPreference preference = ReadPreference.Of(mode) with { TagSets = [.. tags.Split('|').Select(TagsOf)] };
        Assert.Equal(suitable,
            Find(preference, [Server("p", tags: "dc:ny,rack:1"), Server("s", tags: "dc:ny,rack:1"), Server("t", tags: "dc:sf,rack:1")]));
    }

    [Fact]
    public void A_primary_that_is_there_needs_no_tags()
    {
        ReadPreference tagged = ReadPreference.Of("primaryPreferred") with { TagSets = [TagsOf("dc:paris")] };
        Assert.Equal("p", Find(tagged, Members("p s")));
        Assert.Equal("", Find(tagged, Members("s")));
    }

    // Each secondary is so many seconds behind; the heartbeat of 10 s counts too.
    [Theory]
    [InlineData("secondary", 110, 111, "s")]
    [InlineData("secondary", 10, 110, "s t")]
    [InlineData("secondary", 200, 300, "")]
    [InlineData("secondaryPreferred", 200, 300, "p")]
    [InlineData("nearest", 110, 200, "p s")]
    public void A_secondary_may_be_so_far_behind_the_primary(string mode, int s, int t, string suitable)
    {
        ReadPreference fresh = ReadPreference.Of(mode) with { MaxStalenessSeconds = 120 };
        Assert.Equal(suitable, Find(fresh, [Server("p"), Server("s", behind: s), Server("t", behind: t)]));
    }

    [Fact]
    public void Without_a_primary_staleness_counts_from_the_secondary_with_the_latest_write()
    {
        ReadPreference fresh = ReadPreference.Of("secondary") with { MaxStalenessSeconds = 90 };
        Assert.Equal("s t", Find(fresh, [Server("s", behind: 1000), Server("t", behind: 1080), Server("u", behind: 1081)]));
    }

    [Fact]
    public void The_age_of_what_is_known_of_a_member_is_not_staleness()
    {
        ReadPreference fresh = ReadPreference.Of("secondary") with { MaxStalenessSeconds = 90 };
        // Asked 60 s before the primary was, it was 50 s behind then.
        ServerDescription early = Server("s", behind: 110) with { SeenMilliseconds = Now - 60_000 };
        Assert.Equal("s", Find(fresh, [Server("p"), early]));
    }

    [Theory]
    [InlineData(5, 20, 15, "s t")]
    [InlineData(5, 21, 15, "s")]
    [InlineData(5, 6, 0, "s")]
    [InlineData(5, 5, 0, "s t")]
    public void Only_servers_that_are_near_enough_are_used(int s, int t, int threshold, string near)
    {
        // The primary is nearest, and no secondary.
        ServerSelector selector = Selector(
            [Server("p", milliseconds: 0), Server("s", milliseconds: s), Server("t", milliseconds: t)], threshold);
        Assert.Equal(near, Names(selector.Select(ReadPreference.Of("secondary"))));
    }

    [Fact]
    public void Every_mongos_is_suitable_for_every_mode_and_one_server_alone_too()
    {
        ServerDescription[] mongos =
        [
            .. "ab".Select(name => new ServerDescription(new ServerAddress($"{name}", 1), ServerKind.Mongos)),
            new(new ServerAddress("c", 1), ServerKind.Unknown),
        ];
        Assert.Equal("a b", Names(new ServerSelector(DeploymentShape.Sharded, mongos, TimeSpan.Zero, TimeSpan.Zero)
            .Select(ReadPreference.Of("secondary"))));
        Assert.Equal("s",
            Names(new ServerSelector(DeploymentShape.Single, [Server("s")], TimeSpan.Zero, TimeSpan.Zero).Select(ReadPreference.Primary)));
    }

    [Fact]
    public void Arbiters_and_members_that_are_starting_hold_nothing_to_read() =>
        Assert.Equal("", Find(ReadPreference.Of("nearest"), [new ServerDescription(new ServerAddress("a", 1), ServerKind.OtherMember),
            new ServerDescription(new ServerAddress("b", 1), ServerKind.Unknown)]));

    private static ServerDescription[] Members(string names) =>
        [.. names.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(name => Server(name))];

    private static ServerDescription Server(string name, string tags = "", int behind = 0, int milliseconds = 1) =>
        new(new ServerAddress(name, 1), name == "p" ? ServerKind.Primary : ServerKind.Secondary)
        {
            Tags = TagsOf(tags),
            RoundTripTime = TimeSpan.FromMilliseconds(milliseconds),
            SeenMilliseconds = Now,
            LastWriteMilliseconds = Now - (behind * 1000),
        };

    private static Dictionary<string, string> TagsOf(string text) =>
        text.Split(',', StringSplitOptions.RemoveEmptyEntries).ToDictionary(tag => tag.Split(':')[0], tag => tag.Split(':')[1]);

    private static string Find(ReadPreference preference, IReadOnlyList<ServerDescription> servers) =>
        Names(Selector(servers).FindSuitable(preference));

    private static ServerSelector Selector(IReadOnlyList<ServerDescription> servers, int threshold = 15) =>
        new(DeploymentShape.ReplicaSet, servers, TimeSpan.FromSeconds(10), TimeSpan.FromMilliseconds(threshold));

    private static string Names(IReadOnlyList<ServerDescription> servers) =>
        string.Join(' ', servers.Select(server => server.Address.Host));
}

using System.Net;
using MongoDB.Driver;
using MongoDB.Driver.Core.Clusters;
using MongoDB.Driver.Core.Clusters.ServerSelectors;
using MongoDB.Driver.Core.Misc;
using MongoDB.Driver.Core.Servers;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Discovery;
using OurPreference = MongoPerf.Wire.Connections.ReadPreference;
using OurServer = MongoPerf.Wire.Discovery.ServerDescription;
using TheirPreference = MongoDB.Driver.ReadPreference;
using TheirServer = MongoDB.Driver.Core.Servers.ServerDescription;

namespace MongoPerf.Tests.Driver;

/// <summary>Of thousands of replica sets drawn by lot, ours and MongoDB.Driver choose the same servers.</summary>
public sealed class ServerSelectionOracleTests
{
    private const int Heartbeat = 10;
    private static readonly DateTime Now = new(2026, 11, 26, 12, 0, 0, DateTimeKind.Utc);

    private static readonly string[][] TagSets = [[], ["dc:ny"], ["dc:sf", "rack:1"], ["dc:paris"], ["rack:0"]];

    private sealed record Member(string Host, ServerKind Kind, int BehindSeconds, int RoundTripMilliseconds, string Dc, string Rack);

    [Fact]
    public void Both_choose_the_same_servers()
    {
        var random = new Random(20261126);
        int found = 0;
        for (int round = 0; round < 5000; round++)
        {
            Member[] members = [.. Enumerable.Range(0, random.Next(1, 7)).Select(i => Draw(random, i))];
            (OurPreference ours, TheirPreference theirs) = DrawPreference(random);
            TimeSpan threshold = TimeSpan.FromMilliseconds(random.Next(0, 30));
            string[] chosen = Ours(members, ours, threshold);
            string of = string.Join(", ", members.Select(member => $"{member}"));
            Assert.True(Theirs(members, theirs, threshold).SequenceEqual(chosen), $"{theirs} of {of}: ours {string.Join(' ', chosen)}");
            found += chosen.Length > 0 ? 1 : 0;
        }

        Assert.InRange(found, 1500, 4500);
    }

    private static Member Draw(Random random, int i) => new(
        $"h{i}",
        i == 0 && random.Next(3) > 0
            ? ServerKind.Primary
            : random.Next(8) switch { 0 => ServerKind.OtherMember, 1 => ServerKind.Unknown, _ => ServerKind.Secondary },
        random.Next(0, 200), random.Next(1, 40), random.Next(2) == 0 ? "ny" : "sf", $"{random.Next(2)}");

    private static (OurPreference Ours, TheirPreference Theirs) DrawPreference(Random random)
    {
        string mode = ((string[])["primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"])[random.Next(5)];
        if (mode == "primary")
            return (OurPreference.Primary, TheirPreference.Primary);
        int? staleness = random.Next(2) == 0 ? null : random.Next(90, 180);
        string[][] sets = [.. Enumerable.Range(0, random.Next(3)).Select(_ => TagSets[random.Next(TagSets.Length)])];
        OurPreference ours = OurPreference.Of(mode) with
        {
            MaxStalenessSeconds = staleness,
            TagSets = [.. sets.Select(set => set.ToDictionary(tag => tag.Split(':')[0], tag => tag.Split(':')[1]))],
        };
        var theirs = new TheirPreference(
            Enum.Parse<ReadPreferenceMode>(mode, ignoreCase: true),
            sets.Select(set => new TagSet(set.Select(tag => new Tag(tag.Split(':')[0], tag.Split(':')[1])))),
            staleness is { } seconds ? TimeSpan.FromSeconds(seconds) : null);
        return (ours, theirs);
    }

    private static string[] Ours(Member[] members, OurPreference preference, TimeSpan threshold)
    {
        OurServer[] servers = [.. members.Select(member => new OurServer(new ServerAddress(member.Host, 1), member.Kind)
        {
            Tags = new Dictionary<string, string> { ["dc"] = member.Dc, ["rack"] = member.Rack },
            RoundTripTime = TimeSpan.FromMilliseconds(member.RoundTripMilliseconds),
            SeenMilliseconds = new DateTimeOffset(Now).ToUnixTimeMilliseconds(),
            LastWriteMilliseconds = new DateTimeOffset(Now.AddSeconds(-member.BehindSeconds)).ToUnixTimeMilliseconds(),
        })];
        var selector = new ServerSelector(DeploymentShape.ReplicaSet, servers, TimeSpan.FromSeconds(Heartbeat), threshold);
        return [.. selector.Select(preference).Select(server => server.Address.Host)];
    }

    private static string[] Theirs(Member[] members, TheirPreference preference, TimeSpan threshold)
    {
        var cluster = new ClusterId(1);
        TheirServer[] servers = [.. members.Select(member => new TheirServer(
            new ServerId(cluster, new DnsEndPoint(member.Host, 1)), new DnsEndPoint(member.Host, 1),
            averageRoundTripTime: TimeSpan.FromMilliseconds(member.RoundTripMilliseconds),
            heartbeatInterval: TimeSpan.FromSeconds(Heartbeat),
            lastUpdateTimestamp: Now, lastWriteTimestamp: (DateTime?)Now.AddSeconds(-member.BehindSeconds),
            state: member.Kind == ServerKind.Unknown ? ServerState.Disconnected : ServerState.Connected,
            tags: new TagSet([new Tag("dc", member.Dc), new Tag("rack", member.Rack)]),
            type: TypeOf(member.Kind),
            version: new SemanticVersion(6, 0, 5),
            wireVersionRange: new MongoDB.Driver.Core.Misc.Range<int>(0, 17)))];
        var description = new ClusterDescription(
            cluster, directConnection: false, dnsMonitorException: null, ClusterType.ReplicaSet, servers);
        IEnumerable<TheirServer> connected = servers.Where(server => server.State == ServerState.Connected);
        IEnumerable<TheirServer> suitable = new ReadPreferenceServerSelector(preference).SelectServers(description, connected);
        IEnumerable<TheirServer> near = new LatencyLimitingServerSelector(threshold).SelectServers(description, suitable);
        return [.. near.Select(server => ((DnsEndPoint)server.EndPoint).Host).Order(StringComparer.Ordinal)];
    }

    private static ServerType TypeOf(ServerKind kind) => kind switch
    {
        ServerKind.Primary => ServerType.ReplicaSetPrimary,
        ServerKind.Secondary => ServerType.ReplicaSetSecondary,
        ServerKind.OtherMember => ServerType.ReplicaSetArbiter,
        _ => ServerType.Unknown,
    };
}

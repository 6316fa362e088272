using MongoPerf.Wire.Connections;

namespace MongoPerf.Wire.Discovery;

/// <summary>How the servers of a deployment belong together.</summary>
internal enum DeploymentShape
{
    /// <summary>One server, which is used whatever it is: a standalone one, one that was named directly, or a load balancer.</summary>
    Single,
    ReplicaSet,

    /// <summary>One mongos or several.</summary>
    Sharded,
}

/// <summary>Which servers an operation may go to, by what is known of them. Asks nobody.</summary>
/// <remarks>Sources: specifications, server-selection.md and max-staleness.md.</remarks>
/// <param name="shape">How the servers belong together.</param>
/// <param name="servers">All that are known.</param>
/// <param name="heartbeat">How old what is known may be: by so much is staleness overestimated.</param>
/// <param name="localThreshold">How much farther than the nearest of the fitting servers another one may be.</param>
internal sealed class ServerSelector(
    DeploymentShape shape, IReadOnlyList<ServerDescription> servers, TimeSpan heartbeat, TimeSpan localThreshold)
{
    /// <summary>Those that fit, near and far; empty when none does. In the order of their addresses.</summary>
    public IReadOnlyList<ServerDescription> FindSuitable(ReadPreference preference) => shape switch
    {
        DeploymentShape.Single => [.. servers.Where(server => server.Kind != ServerKind.Unknown)],
        // A mongos is told the preference, and chooses itself.
        DeploymentShape.Sharded => Ordered(servers.Where(server => server.Kind == ServerKind.Mongos)),
        _ => Ordered(FindMembers(preference)),
    };

    /// <summary>Those of the fitting servers that are near enough.</summary>
    public IReadOnlyList<ServerDescription> Select(ReadPreference preference)
    {
        IReadOnlyList<ServerDescription> suitable = FindSuitable(preference);
        if (suitable.Count < 2)
            return suitable;
        TimeSpan most = suitable.Min(server => server.RoundTripTime) + localThreshold;
        return [.. suitable.Where(server => server.RoundTripTime <= most)];
    }

    private static ServerDescription[] Ordered(IEnumerable<ServerDescription> found) =>
        [.. found.OrderBy(server => server.Address.ToString(), StringComparer.Ordinal)];

    private ServerDescription[] FindMembers(ReadPreference preference)
    {
        ServerDescription[] primary = [.. servers.Where(server => server.Kind == ServerKind.Primary)];
        ServerDescription[] Fitting(ServerKind? kind) =>
            WithTags(servers.Where(server => server.HoldsData && (kind is null || server.Kind == kind) && IsFresh(server, preference)),
                preference.TagSets);
        return preference.Mode switch
        {
            ReadMode.Primary => primary,
            ReadMode.PrimaryPreferred => primary.Length > 0 ? primary : Fitting(ServerKind.Secondary),
            ReadMode.Secondary => Fitting(ServerKind.Secondary),
            ReadMode.SecondaryPreferred => Fitting(ServerKind.Secondary) is { Length: > 0 } secondaries ? secondaries : primary,
            _ => Fitting(null),
        };
    }

    /// <summary>Those that have all tags of the first set which anybody has.</summary>
    private static ServerDescription[] WithTags(
        IEnumerable<ServerDescription> members, IReadOnlyList<IReadOnlyDictionary<string, string>> tagSets)
    {
        ServerDescription[] all = [.. members];
        return tagSets.Count == 0
            ? all
            : tagSets.Select(set => all.Where(server => set.All(tag => server.Tags.GetValueOrDefault(tag.Key) == tag.Value)).ToArray())
                .FirstOrDefault(found => found.Length > 0) ?? [];
    }

    private bool IsFresh(ServerDescription server, ReadPreference preference) =>
        preference.MaxStalenessSeconds is not { } most || server.Kind == ServerKind.Primary
        || (Staleness(server) + heartbeat).TotalSeconds <= most;

    /// <summary>How far it is behind the primary; without one behind the secondary that has the latest write.</summary>
    private TimeSpan Staleness(ServerDescription secondary)
    {
        long own = secondary.LastWriteMilliseconds ?? 0;
        double milliseconds = servers.FirstOrDefault(server => server.Kind == ServerKind.Primary) is { } primary
            ? secondary.SeenMilliseconds - own - (primary.SeenMilliseconds - (primary.LastWriteMilliseconds ?? 0))
            : servers.Where(server => server.Kind == ServerKind.Secondary).Max(server => server.LastWriteMilliseconds ?? 0) - own;
        return TimeSpan.FromMilliseconds(milliseconds);
    }
}

using MongoPerf.Wire.Connections;

namespace MongoPerf.Wire.Discovery;

/// <summary>The servers that a connection string leads to: which there are, and which one a worker's operations go to.</summary>
/// <remarks>
/// Any thread may use it: one looks at a time, and what it found is read without waiting. Nothing is looked at by itself: connections that
/// are opened see to it that what is known is no older than the heartbeat, and connections that broke that it is new.
/// </remarks>
public sealed class ServerDirectory
{
    private readonly IReadOnlyList<ServerAddress> _seeds;
    private readonly ConnectionSettings _settings;
    private readonly ServerScan _scan;
    private readonly Lock _looking = new();
    private volatile Known? _known;

    /// <param name="seeds">The hosts of the connection string, one or more.</param>
    /// <param name="settings">What it asks for.</param>
    public ServerDirectory(IReadOnlyList<ServerAddress> seeds, ConnectionSettings settings)
    {
        _seeds = seeds;
        _settings = settings;
        _scan = new ServerScan(settings);
    }

    /// <summary>There are others that an operation may go to.</summary>
    public bool HasSeveral => _known is { Servers.Count: > 1 };

    /// <summary>Those that reads may go to, as they were when they were last looked at.</summary>
    public IReadOnlyList<ServerAddress> Readable => _known is { } known
        ? [.. known.Servers.Where(server => server.HoldsData || server.Kind is ServerKind.Standalone or ServerKind.Mongos)
            .Select(server => server.Address)]
        : [];

    /// <summary>Asks all servers that are known, and those that they name, what they are.</summary>
    /// <exception cref="NoServerException">None can be used. A later look may find one.</exception>
    public void Look()
    {
        lock (_looking)
            LookNow();
    }

    /// <summary>Where operations go that read with this preference; writes go where <see cref="ReadPreference.Primary"/> does.</summary>
    /// <param name="preference">The read preference of the operation.</param>
    /// <param name="worker">
    /// 0-based: workers are spread evenly over servers that are equally good, and stay with theirs while it answers.
    /// </param>
    /// <exception cref="NoServerException">None fits just now.</exception>
    public ServerAddress Select(ReadPreference preference, int worker)
    {
        Known known = Refresh();
        IReadOnlyList<ServerDescription> near = SelectorOf(known.Servers, known.Shape).Select(preference);
        if (near.Count == 0)
            throw NoneFor(preference, known);
        IReadOnlyList<ServerDescription> usual =
            SelectorOf([.. known.Servers.Select(server => server.Earlier ?? server)], known.Shape).Select(preference);
        return Spread([.. near.Concat(usual).Select(server => server.Address).Distinct()
            .OrderBy(address => address.ToString(), StringComparer.Ordinal)], [.. near.Select(server => server.Address)], worker);
    }

    /// <param name="all">All servers, also those that are away.</param>
    /// <param name="near">Those of them that answer; one or more.</param>
    /// <param name="worker">0-based.</param>
    internal static ServerAddress Spread(IReadOnlyList<ServerAddress> all, IReadOnlyList<ServerAddress> near, int worker)
    {
        ServerAddress own = all[worker % all.Count];
        if (near.Contains(own))
            return own;
        // The workers of servers that are away are dealt out to the others in turn.
        ServerAddress[] away = [.. all.Except(near)];
        return near[((worker / all.Count * away.Length) + Array.IndexOf(away, own)) % near.Count];
    }

    /// <summary>What is known, no older than the heartbeat where that matters.</summary>
    private Known Refresh()
    {
        if (_known is { } known && !IsOld(known))
            return known;
        lock (_looking)
        {
            if (_known is null)
            {
                LookNow();
            }
            else if (IsOld(_known))
            {
                try
                {
                    LookNow();
                }
                catch (NoServerException)
                {
                    // Said by who finds none that fits.
                }
            }

            return _known!;
        }
    }

    private bool IsOld(Known known) =>
        known.Shape != DeploymentShape.Single && Environment.TickCount64 - known.At > _settings.HeartbeatFrequency.TotalMilliseconds;

    private void LookNow()
    {
        // A load balancer answers for servers that it does not name.
        Known known = _settings.IsLoadBalanced
            ? new Known(DeploymentShape.Single, [new ServerDescription(_seeds[0], ServerKind.Mongos)], null)
            : Describe(_scan.Run(_seeds.Concat(_known?.Servers.Select(server => server.Address) ?? []), _known?.Servers ?? []));
        _known = known;
        if (known.Problem is not null)
            throw known.Problem;
    }

    private Known Describe(IReadOnlyList<ServerDescription> found)
    {
        if (found.FirstOrDefault(server => server.Kind == ServerKind.Uninitiated) is { } uninitiated
            && !found.Any(server => server.ReplicaSetName is not null))
            return new Known(DeploymentShape.Single, [], Uninitiated(uninitiated.Address));
        if (_settings.RequiredSetName is { } required
            && found.FirstOrDefault(server => server.Hello is not null && server.ReplicaSetName != required) is { } stranger
            && !found.Any(server => server.ReplicaSetName == required))
        {
            return new Known(DeploymentShape.Single, [], new NoServerException(stranger.Address,
                new WrongReplicaSetException(stranger.Address, required, stranger.ReplicaSetName).What));
        }

        if (_settings.IsDirect)
            return new Known(
                DeploymentShape.Single, found, found[0].Failure is { } failure ? Unreachable(found[0].Address, failure) : null);
        return found.FirstOrDefault(server => server.Hello is not null)?.Kind switch
        {
            null => new Known(DeploymentShape.Single, found, NoneAnswers(found)),
            ServerKind.Mongos => new Known(
                DeploymentShape.Sharded, [.. found.Where(server => server.Kind is ServerKind.Mongos or ServerKind.Unknown)], null),
            ServerKind.Standalone => DescribeStandalone(found),
            _ => DescribeSet(found),
        };
    }

    private Known DescribeStandalone(IReadOnlyList<ServerDescription> found)
    {
        ServerDescription[] answering = [.. found.Where(server => server.Hello is not null)];
        return answering.Length == 1
            ? new Known(DeploymentShape.Single, answering, null)
            : new Known(DeploymentShape.Single, [], new NoServerException(
                answering[0].Address, $"this server and {answering[1].Address} don't belong together: hosts of one connection string are "
                    + "members of one replica set, or mongos of one cluster",
                "name one of them, and compare two by --uri A --against B"));
    }

    /// <summary>
    /// Members count by the names that they have among themselves. Source: server-discovery-and-monitoring.md, "updateRSFromPrimary".
    /// </summary>
    private Known DescribeSet(IReadOnlyList<ServerDescription> found)
    {
        string set = _settings.RequiredSetName ?? found.First(server => server.ReplicaSetName is not null).ReplicaSetName!;
        ServerDescription[] members = [.. found.Where(server => server.ReplicaSetName == set)];
        // Of two that both hold themselves for the primary the one that was elected later is.
        ServerDescription? primary = members.Where(server => server.Kind == ServerKind.Primary)
            .MaxBy(server => (ElectionOf(server), server.Hello!.Document.FindInt64("setVersion") ?? 0));
        HashSet<ServerAddress> named = [.. (primary is null ? members : [primary])
            .SelectMany(server => server.Hello!.Members).Select(ServerAddress.TryParse).OfType<ServerAddress>()];
        ServerDescription[] known =
        [
            .. found.Where(server => (named.Count == 0 || named.Contains(server.Address))
                && (server.Kind == ServerKind.Unknown || server.ReplicaSetName == set)
                && (server.Kind != ServerKind.Primary || server == primary)),
        ];
        return new Known(DeploymentShape.ReplicaSet, known,
            known.Any(server => server.Kind != ServerKind.Unknown) ? null : NamesLeadNowhere(members[0], set, known));
    }

    /// <summary>An ObjectId, which sorts by its text; empty for none.</summary>
    private static string ElectionOf(ServerDescription server) => server.Hello!.Document.Find("electionId")?.ToString() ?? "";

    private ServerSelector SelectorOf(IReadOnlyList<ServerDescription> servers, DeploymentShape shape) =>
        new(shape, servers, _settings.HeartbeatFrequency, _settings.LocalThreshold);

    private static NoServerException Uninitiated(ServerAddress address) => new(
        address,
        "this server was started as a member of a replica set (--replSet), and no set has been initiated on it",
        "run rs.initiate() on it, or start it without --replSet");

    private static NoServerException NamesLeadNowhere(ServerDescription asked, string set, IReadOnlyList<ServerDescription> members) => new(
        asked.Address,
        $"the members of its replica set '{set}' use host names that can't be reached from here: {string.Join("; ", members)}",
        $"make these names resolve on this machine, or add directConnection=true to use {asked.Address} alone");

    private static NoServerException Unreachable(ServerAddress address, Exception failure) =>
        new(address, ConnectionFailedException.WhatOf(failure, address), HintOf(failure), failure);

    /// <summary>A server that answers may say what it wants.</summary>
    private static string? HintOf(Exception failure) => (failure as ServerCommandException)?.Hint;

    private static NoServerException NoneAnswers(IReadOnlyList<ServerDescription> found)
    {
        // A certificate that is not trusted says more than a port where nobody listens.
        ServerDescription first = found.FirstOrDefault(server =>
            server.Failure is not ConnectionFailedException { InnerException: System.Net.Sockets.SocketException }) ?? found[0];
        string others = found.Count == 1 ? "" : $"; also {string.Join("; ", found.Where(server => server != first))}";
        return new NoServerException(
            first.Address, ConnectionFailedException.WhatOf(first.Failure!, first.Address) + others, HintOf(first.Failure!), first.Failure);
    }

    private NoServerException NoneFor(ReadPreference preference, Known known)
    {
        if (known.Problem is not null)
            return known.Problem;
        string servers = string.Join("; ", known.Servers);
        return known.Shape != DeploymentShape.ReplicaSet ? new NoServerException(_seeds[0], $"no server answers: {servers}")
            : preference.IsPrimary ? new NoServerException(_seeds[0], $"no primary, so no member accepts writes: {servers}")
            : new NoServerException(_seeds[0], $"no member of the replica set fits readPreference={preference}: {servers}");
    }

    /// <param name="Shape">How they belong together.</param>
    /// <param name="Servers">Those that count, also those that are away.</param>
    /// <param name="Problem">Why none can be used; null when one can.</param>
    private sealed record Known(DeploymentShape Shape, IReadOnlyList<ServerDescription> Servers, NoServerException? Problem)
    {
        /// <summary>When it was learned, milliseconds of <see cref="Environment.TickCount64"/>.</summary>
        public long At { get; } = Environment.TickCount64;
    }
}

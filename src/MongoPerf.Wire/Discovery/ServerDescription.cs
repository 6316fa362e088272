using MongoPerf.Wire.Connections;

namespace MongoPerf.Wire.Discovery;

/// <summary>What a server is to those who look for one. Source: specifications, server-discovery-and-monitoring.md, "ServerType".</summary>
internal enum ServerKind
{
    /// <summary>It did not answer.</summary>
    Unknown,
    Standalone,
    Mongos,
    Primary,
    Secondary,

    /// <summary>A member that holds no data or does not show them: an arbiter, a hidden one, one that is starting or recovering.</summary>
    OtherMember,

    /// <summary>It was started to be a member, and no replica set has been initiated on it.</summary>
    Uninitiated,
}

/// <summary>What was learned of one server when it was looked at. Immutable.</summary>
internal sealed record ServerDescription(ServerAddress Address, ServerKind Kind)
{
    /// <summary>Mean of the last looks, the newer ones counting more.</summary>
    public TimeSpan RoundTripTime { get; init; }

    /// <summary>When it answered, unix time in milliseconds by this machine's clock.</summary>
    public long SeenMilliseconds { get; init; }

    /// <summary>When the last write that it has was done, by the primary's clock; null where it does not say.</summary>
    public long? LastWriteMilliseconds { get; init; }

    public IReadOnlyDictionary<string, string> Tags { get; init; } = new Dictionary<string, string>();

    /// <summary>Null when it did not answer.</summary>
    public HelloReply? Hello { get; init; }

    /// <summary>Why it did not answer; null when it did.</summary>
    public Exception? Failure { get; init; }

    /// <summary>What was known of it before it stopped answering; null while it answers, and when it never did.</summary>
    public ServerDescription? Earlier { get; init; }

    public bool HoldsData => Kind is ServerKind.Primary or ServerKind.Secondary;

    public string? ReplicaSetName => Hello?.ReplicaSetName;

    public static ServerDescription Unreachable(ServerAddress address, Exception failure) =>
        new(address, ServerKind.Unknown) { Failure = failure };

    /// <param name="address">Where it was asked.</param>
    /// <param name="hello">What it said.</param>
    public static ServerDescription From(ServerAddress address, HelloReply hello) => new(address, KindOf(hello))
    {
        Hello = hello,
        Tags = hello.Tags,
        LastWriteMilliseconds = hello.LastWriteMilliseconds,
        SeenMilliseconds = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(),
    };

    /// <summary>The server as text, such as "db1:27017 (secondary, dc:ny)", or "db1:27017: connection refused".</summary>
    public override string ToString()
    {
        string kind = Kind switch
        {
            ServerKind.Unknown => Failure is null ? "not asked yet" : ConnectionFailedException.WhatOf(Failure, Address),
            ServerKind.OtherMember =>
                Hello!.Document.IsTrue("arbiterOnly") ? "arbiter" : Hello.Document.IsTrue("hidden") ? "hidden" : "starting or recovering",
            ServerKind.Uninitiated => "not initiated",
            _ => Kind.ToString().ToLowerInvariant(),
        };
        return Kind == ServerKind.Unknown
            ? $"{Address}: {kind}"
            : $"{Address} ({kind}{(Tags.Count > 0 ? ", " + ReadPreference.TextOf(Tags) : "")})";
    }

    private static ServerKind KindOf(HelloReply hello) => hello switch
    {
        { IsMongos: true } => ServerKind.Mongos,
        { ReplicaSetName: null } => hello.Document.IsTrue("isreplicaset") ? ServerKind.Uninitiated : ServerKind.Standalone,
        { IsWritablePrimary: true } => ServerKind.Primary,
        _ when hello.Document.IsTrue("secondary") && !hello.Document.IsTrue("hidden") => ServerKind.Secondary,
        _ => ServerKind.OtherMember,
    };
}

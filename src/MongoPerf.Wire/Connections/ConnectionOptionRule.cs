namespace MongoPerf.Wire.Connections;

internal enum ConnectionOptionKind
{
    Text,
    Boolean,
    Integer,

    /// <summary>A number of nodes, or a name such as <c>majority</c>.</summary>
    Nodes,

    /// <summary><c>dc:ny,rack:1</c>; may be given several times.</summary>
    Tags,

    /// <summary>Compressors' names, separated by commas.</summary>
    Compressors,

    /// <summary><c>KEY:value,KEY:value</c>.</summary>
    Properties,
}

/// <summary>What becomes of an option here; the table of docs/connecting.md says the same in words.</summary>
internal enum ConnectionOptionUse
{
    /// <summary>It is done, or refused in one line where a server makes it impossible.</summary>
    Applied,

    /// <summary>It is about a driver's pool, monitoring or retries, which are not there; a line on stderr says so.</summary>
    WithoutEffect,

    /// <summary>A string that asks for it is refused.</summary>
    Refused,
}

/// <summary>One option of the connection string and the values it may take.</summary>
/// <param name="Name">The name as the URI options specification spells it.</param>
/// <param name="Kind">How its value is read.</param>
/// <param name="Minimum">The least integer.</param>
/// <param name="Maximum">The greatest integer.</param>
/// <param name="Allowed">The words that are allowed, spelled as the server wants them; null: any.</param>
/// <param name="Special">An integer allowed although it is below the minimum.</param>
/// <param name="IsSecret">Its value is never shown.</param>
/// <param name="Use">What becomes of it.</param>
internal sealed record ConnectionOptionRule(
    string Name,
    ConnectionOptionKind Kind,
    int Minimum = 0,
    int Maximum = int.MaxValue,
    string[]? Allowed = null,
    int? Special = null,
    bool IsSecret = false,
    ConnectionOptionUse Use = ConnectionOptionUse.Applied)
{
    private const ConnectionOptionUse WithoutEffect = ConnectionOptionUse.WithoutEffect;
    private const ConnectionOptionUse Refused = ConnectionOptionUse.Refused;

    /// <summary>
    /// All options known to the URI options specification, and those of the versioned API, by name without regard to case.
    /// </summary>
    public static IReadOnlyDictionary<string, ConnectionOptionRule> ByName { get; } = Table()
        .ToDictionary(rule => rule.Name, StringComparer.OrdinalIgnoreCase);

    /// <summary>Names that had their day, and what they are called now.</summary>
    public static IReadOnlyDictionary<string, string> Deprecated { get; } =
        new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase) { ["wtimeout"] = "wTimeoutMS", ["j"] = "journal" };

    private static IEnumerable<ConnectionOptionRule> Table() =>
    [
        .. Texts("appName", "authMechanism", "authSource", "readConcernLevel", "replicaSet", "srvServiceName",
            "tlsCAFile", "tlsCertificateKeyFile"),
        .. Booleans(
            ConnectionOptionUse.Applied,
            "apiDeprecationErrors", "apiStrict", "directConnection", "journal", "loadBalanced", "ssl", "tls",
            "tlsAllowInvalidCertificates", "tlsAllowInvalidHostnames", "tlsDisableCertificateRevocationCheck",
            "tlsDisableOCSPEndpointCheck", "tlsInsecure"),
        .. Booleans(WithoutEffect, "enableOverloadRetargeting", "retryReads", "retryWrites", "serverSelectionTryOnce"),
        .. Integers(ConnectionOptionUse.Applied, "connectTimeoutMS", "localThresholdMS", "socketTimeoutMS", "srvMaxHosts", "wTimeoutMS"),
        .. Integers(
            WithoutEffect, "maxAdaptiveRetries", "maxIdleTimeMS", "maxPoolSize", "minPoolSize",
            "serverSelectionTimeoutMS", "waitQueueTimeoutMS"),
        // Drivers take the versioned API as an option of their client; here the connection string is the place for all of them.
        new("apiVersion", ConnectionOptionKind.Text, Allowed: ["1"]),
        new("authMechanismProperties", ConnectionOptionKind.Properties, IsSecret: true),
        new("compressors", ConnectionOptionKind.Compressors),
        // 500 ms: the SDAM specification's minHeartbeatFrequencyMS.
        new("heartbeatFrequencyMS", ConnectionOptionKind.Integer, Minimum: 500),
        new("maxConnecting", ConnectionOptionKind.Integer, Minimum: 1, Use: WithoutEffect),
        // 90 s: the max staleness specification's least value; -1 means no limit.
        new("maxStalenessSeconds", ConnectionOptionKind.Integer, Minimum: 90, Special: -1),
        new("proxyHost", ConnectionOptionKind.Text, Use: Refused),
        new("proxyPassword", ConnectionOptionKind.Text, IsSecret: true, Use: Refused),
        new("proxyPort", ConnectionOptionKind.Integer, Minimum: 1, Maximum: 65535, Use: Refused),
        new("proxyUsername", ConnectionOptionKind.Text, Use: Refused),
        new("readPreference", ConnectionOptionKind.Text,
            Allowed: ["primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"]),
        new("readPreferenceTags", ConnectionOptionKind.Tags),
        new("serverMonitoringMode", ConnectionOptionKind.Text, Allowed: ["auto", "stream", "poll"], Use: WithoutEffect),
        new("timeoutMS", ConnectionOptionKind.Integer, Use: Refused),
        new("tlsCertificateKeyFilePassword", ConnectionOptionKind.Text, IsSecret: true),
        new("w", ConnectionOptionKind.Nodes),
        new("zlibCompressionLevel", ConnectionOptionKind.Integer, Minimum: -1, Maximum: 9),
    ];

    private static IEnumerable<ConnectionOptionRule> Texts(params string[] names) =>
        names.Select(name => new ConnectionOptionRule(name, ConnectionOptionKind.Text));

    private static IEnumerable<ConnectionOptionRule> Booleans(ConnectionOptionUse use, params string[] names) =>
        names.Select(name => new ConnectionOptionRule(name, ConnectionOptionKind.Boolean, Use: use));

    private static IEnumerable<ConnectionOptionRule> Integers(ConnectionOptionUse use, params string[] names) =>
        names.Select(name => new ConnectionOptionRule(name, ConnectionOptionKind.Integer, Use: use));
}

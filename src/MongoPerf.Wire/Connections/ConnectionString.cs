using System.Text;

namespace MongoPerf.Wire.Connections;

/// <summary>How many nodes acknowledge a write: a count, or a name such as <c>majority</c>.</summary>
/// <param name="Count">Null when a name is given.</param>
/// <param name="Name">Null when a count is given.</param>
public readonly record struct WriteNodes(int? Count, string? Name)
{
    public override string ToString() => Name ?? $"{Count}";
}

/// <summary>A MongoDB connection string, checked. Immutable.</summary>
/// <remarks>
/// An option that isn't given is null here, or has the default that the URI options specification names; a time of 0 in the string means
/// "no limit" and is <see cref="Timeout.InfiniteTimeSpan"/> here. Sources: connection-string-spec.md, uri-options.md, auth.md.
/// </remarks>
public sealed class ConnectionString
{
    private readonly IReadOnlyDictionary<string, object> _options;
    private readonly List<(string Name, string RawValue)> _rawOptions;

    private ConnectionString(ConnectionStringParts parts, ConnectionOptionReader options)
    {
        IsSrv = parts.IsSrv;
        Hosts = parts.Hosts;
        Database = parts.Database;
        UserName = parts.UserName;
        Password = parts.Password;
        Warnings = options.Warnings;
        _options = options.Values;
        _rawOptions = parts.Options;
        Credential = ConnectionAuthentication.Create(parts, options);
    }

    /// <summary>In the string's order, at least one.</summary>
    public IReadOnlyList<ServerAddress> Hosts { get; }

    /// <summary>The database after the slash: where to log in, unless authSource says otherwise, and the default for commands.</summary>
    public string? Database { get; }

    public string? UserName { get; }

    public string? Password { get; }

    /// <summary>Null when no authentication is asked for.</summary>
    public MongoCredential? Credential { get; }

    public string? AuthSource => Credential?.Source ?? Text("authSource");

    public string? AuthMechanism => Text("authMechanism");

    public IReadOnlyDictionary<string, string> AuthMechanismProperties => Credential?.Properties ?? new Dictionary<string, string>();

    /// <summary>What was ignored and why; each a line for stderr. Holds no secrets.</summary>
    public IReadOnlyList<string> Warnings { get; }

    public string? ReplicaSet => Text("replicaSet");

    public bool? DirectConnection => Flag("directConnection");

    public bool LoadBalanced => Flag("loadBalanced") ?? false;

    public bool Tls => Flag("tls") ?? IsSrv;

    public string? TlsCAFile => Text("tlsCAFile");

    public string? TlsCertificateKeyFile => Text("tlsCertificateKeyFile");

    public string? TlsCertificateKeyFilePassword => Text("tlsCertificateKeyFilePassword");

    /// <summary>Any certificate is taken, whoever signed it.</summary>
    public bool TlsAllowInvalidCertificates => TlsInsecure || (Flag("tlsAllowInvalidCertificates") ?? false);

    /// <summary>The certificate need not be the host's.</summary>
    public bool TlsAllowInvalidHostnames => TlsInsecure || (Flag("tlsAllowInvalidHostnames") ?? false);

    public bool TlsInsecure => Flag("tlsInsecure") ?? false;

    public TimeSpan ConnectTimeout => Time("connectTimeoutMS", 10_000);

    public TimeSpan SocketTimeout => Time("socketTimeoutMS", 0);

    public TimeSpan ServerSelectionTimeout => Time("serverSelectionTimeoutMS", 30_000);

    public TimeSpan HeartbeatFrequency => Time("heartbeatFrequencyMS", 10_000);

    public TimeSpan LocalThreshold => TimeSpan.FromMilliseconds(Number("localThresholdMS") ?? 15);

    public int MaxPoolSize => Number("maxPoolSize") ?? 100;

    public int MinPoolSize => Number("minPoolSize") ?? 0;

    public int MaxConnecting => Number("maxConnecting") ?? 2;

    public TimeSpan MaxIdleTime => Time("maxIdleTimeMS", 0);

    public TimeSpan WaitQueueTimeout => Time("waitQueueTimeoutMS", 0);

    /// <summary>Null: the server's own default.</summary>
    public WriteNodes? W => _options.GetValueOrDefault("w") switch
    {
        int count => new WriteNodes(count, null),
        string name => new WriteNodes(null, name),
        _ => null,
    };

    public bool? Journal => Flag("journal");

    /// <summary>Null when not given; zero means to wait as long as it takes, as on the wire.</summary>
    public TimeSpan? WTimeout => Number("wTimeoutMS") is { } milliseconds ? TimeSpan.FromMilliseconds(milliseconds) : null;

    public string? ReadConcernLevel => Text("readConcernLevel");

    /// <summary>The mode as the wire spells it, such as <c>secondaryPreferred</c>; null when not given.</summary>
    public string? ReadPreference => Text("readPreference");

    /// <summary>Sets to be tried one after the other; an empty set is met by every member.</summary>
    public IReadOnlyList<IReadOnlyDictionary<string, string>> ReadPreferenceTags =>
        _options.GetValueOrDefault("readPreferenceTags") as IReadOnlyList<IReadOnlyDictionary<string, string>> ?? [];

    /// <summary>Null: no limit.</summary>
    public int? MaxStalenessSeconds => Number("maxStalenessSeconds") is > 0 and var seconds ? seconds : null;

    public bool RetryWrites => Flag("retryWrites") ?? true;

    public bool RetryReads => Flag("retryReads") ?? true;

    /// <summary>In the order of preference: snappy, zlib, zstd.</summary>
    public IReadOnlyList<string> Compressors => _options.GetValueOrDefault("compressors") as IReadOnlyList<string> ?? [];

    /// <summary>-1 (zlib's own default) to 9.</summary>
    public int ZlibCompressionLevel => Number("zlibCompressionLevel") ?? -1;

    public string? AppName => Text("appName");

    /// <summary>mongodb+srv; never true in a string that <see cref="Parse"/> returned.</summary>
    public bool IsSrv { get; }

    /// <summary>0: as many as the look-up gives.</summary>
    public int SrvMaxHosts => Number("srvMaxHosts") ?? 0;

    public string SrvServiceName => Text("srvServiceName") ?? "mongodb";

    /// <summary>The names of the options that were given and could be used, as the specification spells them.</summary>
    public IEnumerable<string> OptionNames => _options.Keys;

    /// <exception cref="ConnectionStringException">The string is not allowed, or names servers in a way that this program can't follow.</exception>
    public static ConnectionString Parse(string text)
    {
        ConnectionString parsed = ParseUnresolved(text);
        if (parsed.IsSrv)
            throw new ConnectionStringException($"mongodb+srv needs a DNS look-up that this program can't do; name the servers: mongodb://host1:27017,host2:27017/?tls=true (nslookup -type=SRV _{parsed.SrvServiceName}._tcp.{parsed.Hosts[0].Host} lists them)");
        if (parsed.Hosts.FirstOrDefault(host => host.IsUnixSocket) is { } socket)
            throw new ConnectionStringException($"'{socket.Host}' is a unix socket, only TCP is supported here: host:port is allowed");
        return parsed;
    }

    /// <summary>Also strings that can't be followed: unix sockets and mongodb+srv.</summary>
    internal static ConnectionString ParseUnresolved(string text)
    {
        ConnectionStringParts parts = ConnectionStringParts.Split(text);
        ConnectionOptionReader options = ConnectionOptionReader.Read(parts.Options);
        ConnectionOptionConflicts.Check(parts, options.Values);
        if (options.Values.GetValueOrDefault("appName") is string name && Encoding.UTF8.GetByteCount(name) > 128)
            throw new ConnectionStringException($"appName has {Encoding.UTF8.GetByteCount(name)} bytes, at most 128 are allowed");
        return new ConnectionString(parts, options);
    }

    /// <summary>The value of an option: string, bool, int, a list of strings, a dictionary or a list of dictionaries; null when not given.</summary>
    public object? Option(string name) => _options.GetValueOrDefault(name);

    /// <summary>In plain words, what was asked for and would be left out silently, though the run would then be another one than was asked for.</summary>
    /// <remarks>Shorten this list when a feature arrives. The caller refuses to run when it isn't empty.</remarks>
    public IEnumerable<string> UnsupportedFeatures()
    {
        if (Credential is not null)
            yield return $"authentication ({Credential.Mechanism ?? "SCRAM"})";
        if (Tls)
            yield return "TLS (tls=true)";
        if (Compressors.Count > 0)
            yield return $"compression ({string.Join(", ", Compressors)})";
        if (LoadBalanced)
            yield return "load balancer mode (loadBalanced=true)";
        if (_options.ContainsKey("proxyHost"))
            yield return "a SOCKS5 proxy (proxyHost)";
        if (Number("timeoutMS") is > 0)
            yield return "one limit for whole operations (timeoutMS); connectTimeoutMS and socketTimeoutMS are there";
    }

    /// <summary>Options about a driver's pool and monitoring, which have nothing to act on here: every worker has a connection of its own.</summary>
    public IEnumerable<string> OptionsWithoutEffect()
    {
        string[] names =
        [
            "enableOverloadRetargeting", "maxAdaptiveRetries", "maxConnecting", "maxIdleTimeMS", "maxPoolSize", "minPoolSize", "serverMonitoringMode",
            "serverSelectionTryOnce", "waitQueueTimeoutMS",
        ];
        return names.Where(_options.ContainsKey);
    }

    /// <summary>For logs and reports: the password, secret options and the values of unknown options are replaced by ***.</summary>
    public string ToMaskedString()
    {
        var text = new StringBuilder(IsSrv ? "mongodb+srv://" : "mongodb://");
        if (UserName is not null)
            text.Append(Uri.EscapeDataString(UserName)).Append(Password is null ? "@" : ":***@");
        text.AppendJoin(',', Hosts).Append('/');
        if (Database is not null)
            text.Append(Uri.EscapeDataString(Database));
        text.Append(_rawOptions.Count == 0 ? "" : "?");
        return text.AppendJoin('&', _rawOptions.Select(Mask)).ToString();
    }

    public override string ToString() => ToMaskedString();

    private static string Mask((string Name, string RawValue) option) =>
        ConnectionOptionRule.ByName.TryGetValue(option.Name, out ConnectionOptionRule? rule) && !rule.IsSecret
            ? $"{option.Name}={option.RawValue}"
            : $"{option.Name}=***";

    private string? Text(string name) => _options.GetValueOrDefault(name) as string;

    private bool? Flag(string name) => _options.GetValueOrDefault(name) as bool?;

    private int? Number(string name) => _options.GetValueOrDefault(name) as int?;

    private TimeSpan Time(string name, int defaultMilliseconds)
    {
        int milliseconds = Number(name) ?? defaultMilliseconds;
        return milliseconds == 0 ? Timeout.InfiniteTimeSpan : TimeSpan.FromMilliseconds(milliseconds);
    }
}

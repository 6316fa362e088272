using System.Text;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Names;

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
    /// <summary>Stands for a secret.</summary>
    internal const string Mask = "***";

    private readonly IReadOnlyDictionary<string, object> _options;
    private readonly List<(string Name, string RawValue)> _rawOptions;

    private readonly ConnectionStringParts _parts;

    private ConnectionString(ConnectionStringParts parts, ConnectionOptionReader options)
    {
        _parts = parts;
        IsSrv = parts.IsSrv;
        Hosts = parts.Hosts;
        Database = parts.Database;
        UserName = parts.UserName;
        Password = parts.Password;
        Warnings = options.Warnings;
        Faults = options.Faults;
        _options = options.Values;
        _rawOptions = parts.Options;
        Credential = ConnectionAuthentication.Create(parts, options);
    }

    /// <summary>
    /// The hosts in the string's order, at least one; of mongodb+srv the name that is looked up, until <see cref="Resolve()"/> has done so.
    /// </summary>
    public IReadOnlyList<ServerAddress> Hosts { get; }

    /// <summary>The database after the slash: where to log in, unless authSource says otherwise, and the default for commands.</summary>
    public string? Database { get; }

    public string? UserName { get; }

    public string? Password { get; }

    /// <summary>Null when no authentication is asked for.</summary>
    public MongoCredential? Credential { get; }

    /// <summary>It names a user who logs in by a password, and has none, or the mask that stands for one.</summary>
    public bool LacksPassword => UserName is not null
        && (Password is Mask || (Password is null && AuthMechanism is null or "SCRAM-SHA-256" or "SCRAM-SHA-1" or "PLAIN"));

    /// <summary>It has the mask in place of the password of the certificate's key.</summary>
    public bool LacksKeyPassword => TlsCertificateKeyFilePassword is Mask;

    /// <summary>It has the mask in place of authMechanismProperties.</summary>
    public bool LacksProperties => _rawOptions.Exists(option =>
        option.RawValue is Mask && option.Name.Equals("authMechanismProperties", StringComparison.OrdinalIgnoreCase));

    public string? AuthMechanism => Text("authMechanism");

    /// <summary>Old names of options that are applied all the same; each a line for stderr. Holds no secrets.</summary>
    public IReadOnlyList<string> Warnings { get; }

    /// <summary>
    /// Unknown options, values that are not allowed, options given twice: <see cref="RequireSupport"/> throws the first.
    /// Drivers warn of them.
    /// </summary>
    internal IReadOnlyList<ConnectionStringException> Faults { get; }

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

    /// <summary>Only when one of the two options that switch it off is given as false: no driver checks unless told to.</summary>
    public bool TlsChecksRevocation =>
        Flag("tlsDisableCertificateRevocationCheck") == false || Flag("tlsDisableOCSPEndpointCheck") == false;

    public TimeSpan ConnectTimeout => Time("connectTimeoutMS", 10_000);

    public TimeSpan SocketTimeout => Time("socketTimeoutMS", 0);

    public TimeSpan HeartbeatFrequency => Time("heartbeatFrequencyMS", 10_000);

    public TimeSpan LocalThreshold => TimeSpan.FromMilliseconds(Number("localThresholdMS") ?? 15);

    /// <summary>Null: the server's own default.</summary>
    public WriteNodes? W => _options.GetValueOrDefault("w") switch
    {
        int count => new WriteNodes(count, null),
        string name => new WriteNodes(null, name),
        _ => null,
    };

    public bool? Journal => Flag("journal");

    /// <summary>w, journal and wTimeoutMS as the wire has them; null when none of them is given.</summary>
    public BsonDocument? WriteConcern
    {
        get
        {
            var elements = new List<(string, object?)>();
            if (W is { } nodes)
                elements.Add(("w", (object?)nodes.Count ?? nodes.Name));
            if (Journal is { } journal)
                elements.Add(("j", journal));
            if (Number("wTimeoutMS") is { } milliseconds)
                elements.Add(("wtimeout", milliseconds));
            return elements.Count == 0 ? null : BsonDocument.Of([.. elements]);
        }
    }

    public string? ReadConcernLevel => Text("readConcernLevel");

    /// <summary>Null: none is asked for.</summary>
    public ServerApi? ServerApi => Text("apiVersion") is { } version
        ? new ServerApi(version, Flag("apiStrict") ?? false, Flag("apiDeprecationErrors") ?? false)
        : null;

    /// <summary>The mode as the wire spells it, such as <c>secondaryPreferred</c>; null when not given.</summary>
    public string? ReadPreference => Text("readPreference");

    /// <summary>Sets to be tried one after the other; an empty set is met by every member.</summary>
    public IReadOnlyList<IReadOnlyDictionary<string, string>> ReadPreferenceTags =>
        _options.GetValueOrDefault("readPreferenceTags") as IReadOnlyList<IReadOnlyDictionary<string, string>> ?? [];

    /// <summary>Null: no limit.</summary>
    public int? MaxStalenessSeconds => Number("maxStalenessSeconds") is > 0 and var seconds ? seconds : null;

    /// <summary>The compressors in the order of preference: snappy, zlib, zstd.</summary>
    public IReadOnlyList<string> Compressors => _options.GetValueOrDefault("compressors") as IReadOnlyList<string> ?? [];

    /// <summary>-1 (zlib's own default) to 9.</summary>
    public int ZlibCompressionLevel => Number("zlibCompressionLevel") ?? -1;

    public string? AppName => Text("appName");

    /// <summary>mongodb+srv that is not looked up yet.</summary>
    public bool IsSrv { get; }

    /// <summary>0: as many as the look-up gives.</summary>
    public int SrvMaxHosts => Number("srvMaxHosts") ?? 0;

    public string SrvServiceName => Text("srvServiceName") ?? "mongodb";

    /// <summary>Asks no name server: see <see cref="Resolve()"/>.</summary>
    /// <exception cref="ConnectionStringException">The string is not allowed.</exception>
    public static ConnectionString Parse(string text) => Create(ConnectionStringParts.Split(text));

    /// <summary>
    /// The servers behind a name of mongodb+srv, and the options of its TXT record, by the system's name servers; any
    /// other string as it is.
    /// </summary>
    /// <exception cref="ConnectionStringException">DNS does not answer, or not in the way that is asked for. One line.</exception>
    public ConnectionString Resolve() => Resolve(new DnsResolver());

    /// <inheritdoc cref="Resolve()"/>
    internal ConnectionString Resolve(INameResolver resolver)
    {
        if (!IsSrv)
            return this;
        try
        {
            var seeds = SeedList.Find(resolver, Hosts[0].Host, SrvServiceName, SrvMaxHosts);
            return Create(_parts.Resolve(seeds));
        }
        catch (NameResolutionException e)
        {
            throw new ConnectionStringException(e.Message);
        }
    }

    private static ConnectionString Create(ConnectionStringParts parts)
    {
        ConnectionOptionReader options = ConnectionOptionReader.Read(parts.Options);
        try
        {
            ConnectionOptionConflicts.Check(parts, options.Values);
        }
        catch (ConnectionStringException) when (options.Faults.Count > 0)
        {
            // readPreference=secondry with tags: what is left out made the conflict.
            throw options.Faults[0];
        }

        if (options.Values.GetValueOrDefault("appName") is string name && Encoding.UTF8.GetByteCount(name) > 128)
            throw new ConnectionStringException($"appName has {Encoding.UTF8.GetByteCount(name)} bytes, at most 128 are allowed");
        return new ConnectionString(parts, options);
    }

    /// <summary>
    /// The value of an option: string, bool, int, a list of strings, a dictionary or a list of dictionaries; null when not given.
    /// </summary>
    public object? Option(string name) => _options.GetValueOrDefault(name);

    /// <exception cref="ConnectionStringException">
    /// It asks for what is not there, or for what would be unsafe: the first such thing, in one line.
    /// </exception>
    public void RequireSupport() => ConnectionFeatures.Check(this);

    /// <summary>
    /// Options about a driver's pool, monitoring and retries, which have nothing to act on here: every worker has a connection of its own.
    /// </summary>
    public IEnumerable<string> OptionsWithoutEffect() =>
        _options.Keys.Where(name => ConnectionOptionRule.ByName[name].Use == ConnectionOptionUse.WithoutEffect)
            .Order(StringComparer.Ordinal);

    /// <summary>The string itself, secrets and all, with these passwords put in; null leaves one as it is.</summary>
    public string With(string? password = null, string? keyPassword = null)
    {
        const string KeyPassword = "tlsCertificateKeyFilePassword";
        string? user = UserName is null ? null : Uri.EscapeDataString(UserName);
        string? secret = (password ?? Password) is { } given ? ":" + Uri.EscapeDataString(given) : null;
        IEnumerable<(string Name, string RawValue)> options = keyPassword is null
            ? _rawOptions
            : _rawOptions.Where(option => !option.Name.Equals(KeyPassword, StringComparison.OrdinalIgnoreCase))
                .Append((KeyPassword, Uri.EscapeDataString(keyPassword)));
        return Write(user is null ? "" : $"{user}{secret}@", options.Select(option => $"{option.Name}={option.RawValue}"));
    }

    /// <summary>
    /// The string for logs and reports: the password, secret options and the values of unknown options are replaced by ***.
    /// </summary>
    public string ToMaskedString() =>
        Write(UserName is null ? "" : Uri.EscapeDataString(UserName) + (Password is null ? "@" : $":{Mask}@"), _rawOptions.Select(Hide));

    public override string ToString() => ToMaskedString();

    private string Write(string user, IEnumerable<string> options)
    {
        var text = new StringBuilder(IsSrv ? "mongodb+srv://" : "mongodb://")
            .Append(user).AppendJoin(',', Hosts.Select(host => host.ToUriText())).Append('/');
        if (Database is not null)
            text.Append(Uri.EscapeDataString(Database));
        string joined = string.Join('&', options);
        return text.Append(joined.Length == 0 ? "" : "?").Append(joined).ToString();
    }

    private static string Hide((string Name, string RawValue) option) =>
        ConnectionOptionRule.ByName.TryGetValue(option.Name, out ConnectionOptionRule? rule) && !rule.IsSecret
            ? $"{option.Name}={option.RawValue}"
            : $"{option.Name}={Mask}";

    private string? Text(string name) => _options.GetValueOrDefault(name) as string;

    private bool? Flag(string name) => _options.GetValueOrDefault(name) as bool?;

    private int? Number(string name) => _options.GetValueOrDefault(name) as int?;

    private TimeSpan Time(string name, int defaultMilliseconds)
    {
        int milliseconds = Number(name) ?? defaultMilliseconds;
        return milliseconds == 0 ? Timeout.InfiniteTimeSpan : TimeSpan.FromMilliseconds(milliseconds);
    }
}

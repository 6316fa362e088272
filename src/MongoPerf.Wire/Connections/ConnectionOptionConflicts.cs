namespace MongoPerf.Wire.Connections;

/// <summary>Options that are each allowed and not together. Source: uri-options.md.</summary>
internal static class ConnectionOptionConflicts
{
    private const string Insecure = "tlsInsecure";
    private const string AnyCertificate = "tlsAllowInvalidCertificates";
    private const string NoRevocation = "tlsDisableCertificateRevocationCheck";
    private const string NoOcsp = "tlsDisableOCSPEndpointCheck";

    private static readonly (string First, string Second)[] Exclusive =
    [
        (Insecure, AnyCertificate), (Insecure, "tlsAllowInvalidHostnames"), (Insecure, NoRevocation), (Insecure, NoOcsp),
        (AnyCertificate, NoRevocation), (AnyCertificate, NoOcsp), (NoRevocation, NoOcsp),
    ];

    /// <exception cref="ConnectionStringException">The first conflict found.</exception>
    public static void Check(ConnectionStringParts parts, IReadOnlyDictionary<string, object> options)
    {
        foreach ((string first, string second) in Exclusive)
            Refuse(options.ContainsKey(first) && options.ContainsKey(second), $"{first} and {second} can't be combined");
        bool direct = Is(options, "directConnection");
        Refuse(direct && parts.Hosts.Count > 1, $"directConnection=true allows one host; found {parts.Hosts.Count}");
        Refuse(direct && parts.IsSrv, "directConnection=true can't be combined with mongodb+srv; use mongodb://");
        CheckLoadBalanced(parts, options, direct);
        CheckSrv(parts, options);
        CheckProxy(options);
        CheckConcerns(options);
        Refuse(
            !options.ContainsKey("apiVersion") && (options.ContainsKey("apiStrict") || options.ContainsKey("apiDeprecationErrors")),
            "apiStrict and apiDeprecationErrors need apiVersion=1");
        Refuse(
            options.TryGetValue("minPoolSize", out object? least) && options.TryGetValue("maxPoolSize", out object? most)
            && (int)most > 0 && (int)least > (int)most,
            "minPoolSize is greater than maxPoolSize");
    }

    private static void CheckLoadBalanced(ConnectionStringParts parts, IReadOnlyDictionary<string, object> options, bool direct)
    {
        if (!Is(options, "loadBalanced"))
            return;
        Refuse(parts.Hosts.Count > 1, $"loadBalanced=true allows one host; found {parts.Hosts.Count}");
        Refuse(options.ContainsKey("replicaSet"), "loadBalanced=true and replicaSet can't be combined");
        Refuse(direct, "loadBalanced=true and directConnection=true can't be combined");
    }

    private static void CheckSrv(ConnectionStringParts parts, IReadOnlyDictionary<string, object> options)
    {
        bool limited = options.TryGetValue("srvMaxHosts", out object? most);
        bool isSrv = parts.IsSrv || parts.WasSrv;
        Refuse(!isSrv && limited, "srvMaxHosts is allowed with mongodb+srv:// only");
        Refuse(!isSrv && options.ContainsKey("srvServiceName"), "srvServiceName is allowed with mongodb+srv:// only");
        if (!limited || (int)most! == 0)
            return;
        Refuse(options.ContainsKey("replicaSet"), "srvMaxHosts and replicaSet can't be combined");
        Refuse(Is(options, "loadBalanced"), "srvMaxHosts and loadBalanced=true can't be combined");
    }

    private static void CheckProxy(IReadOnlyDictionary<string, object> options)
    {
        bool hasUser = options.ContainsKey("proxyUsername");
        bool hasPassword = options.ContainsKey("proxyPassword");
        Refuse(!options.ContainsKey("proxyHost") && (hasUser || hasPassword || options.ContainsKey("proxyPort")),
            "proxy options without proxyHost");
        Refuse(hasUser != hasPassword, "proxyUsername and proxyPassword must be given together");
    }

    private static void CheckConcerns(IReadOnlyDictionary<string, object> options)
    {
        Refuse(options.GetValueOrDefault("w") is 0 && Is(options, "journal"),
            "w=0 with journal=true: an unacknowledged write can't wait for the journal");
        if (options.GetValueOrDefault("readPreference") is string mode && mode != "primary")
            return;
        bool tagged = options.GetValueOrDefault("readPreferenceTags") is IReadOnlyList<IReadOnlyDictionary<string, string>> sets
            && sets.Any(set => set.Count > 0);
        Refuse(tagged, "readPreferenceTags can't be combined with readPreference=primary (the default)");
        Refuse(options.GetValueOrDefault("maxStalenessSeconds") is > 0,
            "maxStalenessSeconds can't be combined with readPreference=primary (the default)");
    }

    private static bool Is(IReadOnlyDictionary<string, object> options, string name) => options.GetValueOrDefault(name) is true;

    private static void Refuse(bool wrong, string what)
    {
        if (wrong)
            throw new ConnectionStringException(what);
    }
}

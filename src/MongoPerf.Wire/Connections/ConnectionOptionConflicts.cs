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
            Refuse(options.ContainsKey(first) && options.ContainsKey(second), $"{first} and {second} are given, one of the two is allowed");
        bool direct = Is(options, "directConnection");
        Refuse(direct && parts.Hosts.Count > 1, $"directConnection=true with {parts.Hosts.Count} hosts, one is allowed");
        Refuse(direct && parts.IsSrv, "directConnection=true with mongodb+srv, mongodb:// is allowed");
        CheckLoadBalanced(parts, options, direct);
        CheckSrv(parts, options);
        CheckProxy(options);
        CheckConcerns(options);
        Refuse(
            options.TryGetValue("minPoolSize", out object? least) && options.TryGetValue("maxPoolSize", out object? most) && (int)most > 0 && (int)least > (int)most,
            "minPoolSize is greater than maxPoolSize");
    }

    private static void CheckLoadBalanced(ConnectionStringParts parts, IReadOnlyDictionary<string, object> options, bool direct)
    {
        if (!Is(options, "loadBalanced"))
            return;
        Refuse(parts.Hosts.Count > 1, $"loadBalanced=true with {parts.Hosts.Count} hosts, one is allowed");
        Refuse(options.ContainsKey("replicaSet"), "loadBalanced=true with replicaSet, one of the two is allowed");
        Refuse(direct, "loadBalanced=true with directConnection=true, one of the two is allowed");
    }

    private static void CheckSrv(ConnectionStringParts parts, IReadOnlyDictionary<string, object> options)
    {
        bool limited = options.TryGetValue("srvMaxHosts", out object? most);
        bool isSrv = parts.IsSrv || parts.WasSrv;
        Refuse(!isSrv && limited, "srvMaxHosts is allowed with mongodb+srv:// only");
        Refuse(!isSrv && options.ContainsKey("srvServiceName"), "srvServiceName is allowed with mongodb+srv:// only");
        if (!limited || (int)most! == 0)
            return;
        Refuse(options.ContainsKey("replicaSet"), "srvMaxHosts with replicaSet, one of the two is allowed");
        Refuse(Is(options, "loadBalanced"), "srvMaxHosts with loadBalanced=true, one of the two is allowed");
    }

    private static void CheckProxy(IReadOnlyDictionary<string, object> options)
    {
        bool hasUser = options.ContainsKey("proxyUsername");
        bool hasPassword = options.ContainsKey("proxyPassword");
        Refuse(!options.ContainsKey("proxyHost") && (hasUser || hasPassword || options.ContainsKey("proxyPort")), "proxy options without proxyHost");
        Refuse(hasUser != hasPassword, "proxyUsername and proxyPassword are allowed together only");
    }

    private static void CheckConcerns(IReadOnlyDictionary<string, object> options)
    {
        Refuse(options.GetValueOrDefault("w") is 0 && Is(options, "journal"), "w=0 with journal=true: an unacknowledged write can't wait for the journal");
        if (options.GetValueOrDefault("readPreference") is string mode && mode != "primary")
            return;
        bool tagged = options.GetValueOrDefault("readPreferenceTags") is IReadOnlyList<IReadOnlyDictionary<string, string>> sets && sets.Any(set => set.Count > 0);
        Refuse(tagged, "readPreferenceTags with readPreference=primary (the default), the other modes are allowed");
        Refuse(options.GetValueOrDefault("maxStalenessSeconds") is > 0, "maxStalenessSeconds with readPreference=primary (the default), the other modes are allowed");
    }

    private static bool Is(IReadOnlyDictionary<string, object> options, string name) => options.GetValueOrDefault(name) is true;

    private static void Refuse(bool wrong, string what)
    {
        if (wrong)
            throw new ConnectionStringException(what);
    }
}

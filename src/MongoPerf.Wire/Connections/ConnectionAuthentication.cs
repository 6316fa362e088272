using MongoPerf.Wire.Authentication;

namespace MongoPerf.Wire.Connections;

/// <summary>Which user name, password, source and properties go with which mechanism. Source: specifications/source/auth/auth.md.</summary>
internal static class ConnectionAuthentication
{
    public const string ExternalSource = "$external";
    private const string Environment = "ENVIRONMENT";
    private const string TokenResource = "TOKEN_RESOURCE";
    private const string Canonicalize = "CANONICALIZE_HOST_NAME";

    private static readonly string[] Mechanisms = ["SCRAM-SHA-256", "SCRAM-SHA-1", "MONGODB-X509", "PLAIN", "MONGODB-AWS"];

    private static readonly string[] UnsupportedMechanisms = ["GSSAPI", "MONGODB-OIDC", "MONGODB-CR"];

    private static readonly string[] OidcProperties = [Environment, TokenResource];

    private static readonly string[] OidcEnvironments = ["test", "azure", "gcp", "k8s"];

    private static readonly string[] Canonicalizations = ["none", "forward", "forwardAndReverse", "true", "false"];

    /// <summary>Whether drivers know the mechanism and MongoPerf does not.</summary>
    public static bool IsUnsupported(string mechanism) => UnsupportedMechanisms.Contains(mechanism, StringComparer.Ordinal);

    /// <returns>Null when the string asks for no authentication; a database or an authSource alone never does.</returns>
    public static MongoCredential? Create(ConnectionStringParts parts, ConnectionOptionReader options)
    {
        string? mechanism = options.Values.GetValueOrDefault("authMechanism") as string;
        if (mechanism is null && parts.UserName is null)
            return null;
        if (mechanism is not null && !Mechanisms.Contains(mechanism, StringComparer.Ordinal) && !IsUnsupported(mechanism))
            throw new ConnectionStringException(
                $"authMechanism is '{mechanism}'; allowed: {string.Join(", ", Mechanisms)}") { Typed = mechanism, Allowed = Mechanisms };
        var properties = new Dictionary<string, string>(
            options.Values.GetValueOrDefault("authMechanismProperties") as Dictionary<string, string> ?? [], StringComparer.Ordinal);
        string? asked = options.Values.GetValueOrDefault("authSource") as string;
        string source = mechanism switch
        {
            "MONGODB-X509" or "GSSAPI" or "MONGODB-AWS" or "MONGODB-OIDC" => RequireExternal(mechanism, asked),
            "PLAIN" => asked ?? parts.Database ?? ExternalSource,
            _ => asked ?? parts.Database ?? "admin",
        };
        CheckMechanism(mechanism, parts, options, properties);
        return new MongoCredential(parts.UserName, parts.Password, source, mechanism, properties);
    }

    private static string RequireExternal(string mechanism, string? source)
    {
        if (source is not (null or ExternalSource))
            throw Wrong(mechanism, $"authSource is '{source}', with {mechanism} only {ExternalSource} is allowed");
        return ExternalSource;
    }

    private static void CheckMechanism(
        string? mechanism, ConnectionStringParts parts, ConnectionOptionReader options, Dictionary<string, string> properties)
    {
        switch (mechanism)
        {
            case "MONGODB-X509":
                Refuse(parts.Password is not null, mechanism, "takes no password");
                break;
            case "MONGODB-AWS":
                Refuse(parts.UserName is not null && parts.Password is null, mechanism, "takes a user name only together with a password");
                Refuse(parts.UserName is null && properties.ContainsKey("AWS_SESSION_TOKEN"), mechanism,
                    "takes AWS_SESSION_TOKEN only together with a user name");
                break;
            case "MONGODB-OIDC":
                CheckOidc(mechanism, parts, options, properties);
                break;
            case "GSSAPI":
                Refuse(parts.UserName is null, mechanism, "needs a user name");
                properties.TryAdd("SERVICE_NAME", "mongodb");
                Refuse(
                    properties.TryGetValue(Canonicalize, out string? how) && !Canonicalizations.Contains(how, StringComparer.Ordinal),
                    mechanism,
                    $"allows for {Canonicalize} {string.Join(", ", Canonicalizations)}");
                break;
            default:
                Refuse(parts.UserName is null, mechanism ?? "authentication", "needs a user name");
                break;
        }
    }

    private static void CheckOidc(
        string mechanism, ConnectionStringParts parts, ConnectionOptionReader options, Dictionary<string, string> properties)
    {
        Refuse(parts.Password is not null, mechanism, "takes no password");
        Refuse(properties.Keys.Any(key => !OidcProperties.Contains(key, StringComparer.Ordinal)), mechanism,
            $"allows the properties {string.Join(", ", OidcProperties)}");
        if (options.PropertiesWereIgnored)
            return;
        string? environment = properties.GetValueOrDefault(Environment);
        Refuse(
            environment is null || !OidcEnvironments.Contains(environment, StringComparer.Ordinal),
            mechanism,
            $"needs the property {Environment}; allowed: {string.Join(", ", OidcEnvironments)}");
        Refuse(environment == "test" && parts.UserName is not null, mechanism, $"takes no user name with {Environment}:test");
        Refuse(environment is "azure" or "gcp" && !properties.ContainsKey(TokenResource), mechanism,
            $"needs {TokenResource} with {Environment}:{environment}");
    }

    private static void Refuse(bool wrong, string mechanism, string what)
    {
        if (wrong)
            throw Wrong(mechanism, $"{mechanism} {what}");
    }

    /// <summary>What is wrong with a mechanism that nobody can use here does not matter.</summary>
    private static ConnectionStringException Wrong(string mechanism, string what) =>
        new(IsUnsupported(mechanism) ? ConnectionFeatures.NotSupported($"authentication by {mechanism}") : what);
}

namespace MongoPerf.Wire.Authentication;

/// <summary>Who to log in as. Prints itself without its secrets. Immutable, for any thread.</summary>
public sealed class MongoCredential
{
    internal MongoCredential(
        string? userName, string? password, string source, string? mechanism, IReadOnlyDictionary<string, string> properties)
    {
        UserName = userName;
        Password = password;
        Source = source;
        Mechanism = mechanism;
        Properties = properties;
    }

    /// <summary>A user of the database admin, by SCRAM.</summary>
    public static MongoCredential OfAdmin(string userName, string password) =>
        new(userName, password, "admin", null, new Dictionary<string, string>());

    public string? UserName { get; }

    public string? Password { get; }

    /// <summary>The database that knows the user, or <c>$external</c>.</summary>
    public string Source { get; }

    /// <summary>The mechanism as MongoDB spells it; null agrees on one with the server (SCRAM-SHA-256 or SCRAM-SHA-1).</summary>
    public string? Mechanism { get; }

    /// <summary>authMechanismProperties, with defaults filled in.</summary>
    public IReadOnlyDictionary<string, string> Properties { get; }

    /// <summary>Derived keys of this credential: thousands of connections log in, one computes.</summary>
    internal ScramKeyCache ScramKeys { get; } = new();

    public override string ToString() => $"{UserName ?? "(no user name)"} of {Source} by {Mechanism ?? "SCRAM"}";
}

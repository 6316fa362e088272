namespace MongoPerf.Wire.Connections;

/// <summary>A connection string that can't be used. One line: what was found, what is allowed; never a password.</summary>
public sealed class ConnectionStringException(string message) : FormatException($"connection string: {message}")
{
    /// <summary>A misspelled name or word; null where there is none, or where it may be secret.</summary>
    public string? Typed { get; init; }

    /// <summary>What may stand in place of <see cref="Typed"/>.</summary>
    public IReadOnlyList<string> Allowed { get; init; } = [];
}

namespace MongoPerf.Wire.Connections;

/// <summary>A connection string that can't be used. One line: what was found, what is allowed; never a password.</summary>
public sealed class ConnectionStringException(string message) : FormatException($"connection string: {message}");

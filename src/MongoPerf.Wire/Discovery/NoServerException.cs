using MongoPerf.Wire.Connections;

namespace MongoPerf.Wire.Discovery;

/// <summary>The servers were looked at, and none can be used, or none for what is asked of it. One line.</summary>
/// <param name="server">The one that the user named, or that says why.</param>
/// <param name="what">What is wrong.</param>
/// <param name="hint">What to do; null where the line says it.</param>
/// <param name="inner">Why the server can't be used.</param>
public sealed class NoServerException(
    ServerAddress server, string what, string? hint = null, Exception? inner = null) : ConnectionFailedException(server, what, inner)
{
    public override string? Hint { get; } = hint;
}

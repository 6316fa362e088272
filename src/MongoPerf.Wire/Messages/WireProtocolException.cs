using MongoPerf.Wire.Failures;

namespace MongoPerf.Wire.Messages;

/// <summary>The other side broke the wire protocol; the connection can't be used any more.</summary>
/// <param name="message">What is wrong.</param>
/// <param name="code">The code with which a server answers what is wrong inside one message; 0 where it closes the connection.</param>
public sealed class WireProtocolException(string message, int code = 0) : IOException(message), IFailure
{
    public Fault Fault => Fault.CannotConnect;

    public string? Hint => null;

    public int Code { get; } = code;
}

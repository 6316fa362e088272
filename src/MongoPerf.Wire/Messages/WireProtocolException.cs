namespace MongoPerf.Wire.Messages;

/// <summary>The other side broke the wire protocol; the connection can't be used any more.</summary>
public sealed class WireProtocolException(string message) : IOException(message);

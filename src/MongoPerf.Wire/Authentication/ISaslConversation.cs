namespace MongoPerf.Wire.Authentication;

/// <summary>The client's half of a SASL exchange: bytes in, bytes out; knows nothing of connections. One thread, one use.</summary>
internal interface ISaslConversation
{
    /// <summary>The mechanism as MongoDB spells it.</summary>
    string Mechanism { get; }

    /// <summary>
    /// True when the client has nothing more to ask of the server's answers: what it says of itself is proven where the
    /// mechanism proves it.
    /// </summary>
    bool IsComplete { get; }

    /// <summary>The first payload.</summary>
    byte[] Start();

    /// <summary>Reads what the server sent.</summary>
    /// <returns>The next payload; empty when there is nothing left to say.</returns>
    /// <exception cref="SaslException">The server broke the mechanism's rules, or failed to prove itself.</exception>
    byte[] Continue(ReadOnlySpan<byte> challenge);
}

/// <summary>The other side's part of an exchange is wrong, or a password that no mechanism takes. The message holds no secret.</summary>
public sealed class SaslException(string message) : Exception(message);

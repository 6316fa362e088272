using System.Collections.Concurrent;

namespace MongoPerf.Wire.Authentication;

/// <summary>The two keys that a password, a salt and an iteration count give. Source: RFC 5802, section 3.</summary>
internal sealed record ScramKeys(byte[] ClientKey, byte[] ServerKey)
{
    public override string ToString() => nameof(ScramKeys);
}

/// <summary>
/// Keys that were derived already: 15,000 rounds take milliseconds of CPU, and each worker has a connection of its own.
/// Safe for all threads.
/// </summary>
internal sealed class ScramKeyCache
{
    /// <summary>A replica set's members share salts; a server that sends a new one each time must not fill the memory.</summary>
    private const int Capacity = 16;

    private readonly ConcurrentDictionary<(string Mechanism, string Salt, int Iterations), Lazy<ScramKeys>> _keys = new();

    public ScramKeys Get(string mechanism, byte[] salt, int iterations, Func<ScramKeys> derive)
    {
        if (_keys.Count >= Capacity)
            _keys.Clear();
        return _keys.GetOrAdd((mechanism, Convert.ToBase64String(salt), iterations), _ => new Lazy<ScramKeys>(derive)).Value;
    }
}

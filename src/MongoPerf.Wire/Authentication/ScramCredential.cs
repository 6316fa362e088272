using System.Security.Cryptography;
using System.Text;

namespace MongoPerf.Wire.Authentication;

/// <summary>
/// What a server keeps of a user's password for one mechanism: enough to check it, not enough to log in with. Prints none of it. Source:
/// RFC 5802, section 3.
/// </summary>
/// <param name="Mechanism">SCRAM-SHA-256 or SCRAM-SHA-1.</param>
/// <param name="Salt">The user's own.</param>
/// <param name="Iterations">The iterations of the key derivation.</param>
/// <param name="StoredKey">The hash of the client's key.</param>
/// <param name="ServerKey">The server key by which the server proves that it knows the user.</param>
public sealed record ScramCredential(string Mechanism, byte[] Salt, int Iterations, byte[] StoredKey, byte[] ServerKey)
{
    /// <summary>The stronger one first.</summary>
    public static IReadOnlyList<string> Mechanisms { get; } = [Scram.Sha256, Scram.Sha1];

    /// <summary>Makes the credential of a new password, with a new salt. Salts and iterations are as many as mongod's.</summary>
    /// <exception cref="SaslException">SCRAM-SHA-256 does not allow the password; the message says why and does not hold it.</exception>
    public static ScramCredential Create(string mechanism, string userName, string password)
    {
        byte[] salt = RandomNumberGenerator.GetBytes(SaltBytes(mechanism));
        ScramKeys keys = Scram.Derive(mechanism, Scram.Prepare(mechanism, userName, password), salt, IterationsOf(mechanism));
        return new(mechanism, salt, IterationsOf(mechanism), Scram.Hash(mechanism, keys.ClientKey), keys.ServerKey);
    }

    /// <summary>
    /// Makes a credential for a user who is not there: it looks like anybody's, has the same salt each time, and no password fits it.
    /// </summary>
    /// <param name="mechanism">Which one the client speaks.</param>
    /// <param name="userName">The user name as the client sent it.</param>
    /// <param name="secret">The server's own; who knew it could tell users from others by their salts.</param>
    public static ScramCredential Fake(string mechanism, string userName, byte[] secret)
    {
        byte[] salt = HMACSHA256.HashData(secret, Encoding.UTF8.GetBytes($"{mechanism}\0{userName}"))[..SaltBytes(mechanism)];
        byte[] keys = RandomNumberGenerator.GetBytes(2 * Scram.KeyBytes(mechanism));
        return new(mechanism, salt, IterationsOf(mechanism), keys[..Scram.KeyBytes(mechanism)], keys[Scram.KeyBytes(mechanism)..]);
    }

    public override string ToString() => $"{nameof(ScramCredential)} {Mechanism}";

    private static int SaltBytes(string mechanism) => mechanism == Scram.Sha256 ? 28 : 16;

    private static int IterationsOf(string mechanism) => mechanism == Scram.Sha256 ? 15_000 : 10_000;
}

using System.Security.Cryptography;
using System.Text;

namespace MongoPerf.Wire.Authentication;

/// <summary>
/// What the client and the server of a SCRAM exchange compute alike. Any thread. Sources: RFC 5802, RFC 7677,
/// specifications/source/auth/auth.md.
/// </summary>
internal static class Scram
{
    public const string Sha256 = "SCRAM-SHA-256";
    public const string Sha1 = "SCRAM-SHA-1";

    /// <summary>Random bytes of a nonce, before they are written as base64.</summary>
    public const int NonceBytes = 24;

    /// <summary>What goes into the key derivation: SCRAM-SHA-256 prepares the password, SCRAM-SHA-1 takes MongoDB's digest of it.</summary>
    /// <exception cref="SaslException">SCRAM-SHA-256 does not allow the password.</exception>
    public static string Prepare(string mechanism, string? userName, string password) =>
        mechanism == Sha256 ? SaslPrep.Prepare(password) : Digest($"{userName}:mongo:{password}");

    /// <param name="mechanism">One of the two.</param>
    /// <param name="prepared">A password that <see cref="Prepare"/> returned.</param>
    /// <param name="salt">The salt of the user.</param>
    /// <param name="iterations">1 and up; thousands take milliseconds.</param>
    public static ScramKeys Derive(string mechanism, string prepared, byte[] salt, int iterations)
    {
        // CA5379: SCRAM-SHA-1 names its hash, and a server may know a user by that alone.
#pragma warning disable CA5379
        byte[] salted = Rfc2898DeriveBytes.Pbkdf2(
            Encoding.UTF8.GetBytes(prepared), salt, iterations, HashOf(mechanism), KeyBytes(mechanism));
#pragma warning restore CA5379
        return new ScramKeys(Sign(mechanism, salted, "Client Key"u8.ToArray()), Sign(mechanism, salted, "Server Key"u8.ToArray()));
    }

    public static int KeyBytes(string mechanism) => mechanism == Sha256 ? 32 : 20;

    public static byte[] Hash(string mechanism, byte[] data) => CryptographicOperations.HashData(HashOf(mechanism), data);

    public static byte[] Sign(string mechanism, byte[] key, byte[] data) => CryptographicOperations.HmacData(HashOf(mechanism), key, data);

    /// <summary>A client's key and its signature give the proof; the proof and the signature give the key.</summary>
    public static byte[] Xor(byte[] left, byte[] right)
    {
        byte[] result = new byte[left.Length];
        for (int i = 0; i < result.Length; i++)
            result[i] = (byte)(left[i] ^ right[i]);
        return result;
    }

    public static string NewNonce() => Convert.ToBase64String(RandomNumberGenerator.GetBytes(NonceBytes));

    /// <returns>Null for what is not base64, and for nothing at all.</returns>
    public static byte[]? ReadBase64(string text)
    {
        byte[] bytes = new byte[text.Length];
        return text.Length > 0 && Convert.TryFromBase64String(text, bytes, out int length) ? bytes[..length] : null;
    }

    private static HashAlgorithmName HashOf(string mechanism) => mechanism == Sha256 ? HashAlgorithmName.SHA256 : HashAlgorithmName.SHA1;

    /// <summary>MD5, as MongoDB stores it for SCRAM-SHA-1; what protects the password is the key derivation around it.</summary>
    private static string Digest(string text) => Convert.ToHexStringLower(MD5.HashData(Encoding.UTF8.GetBytes(text)));
}

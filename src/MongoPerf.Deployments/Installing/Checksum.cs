using System.Security.Cryptography;

namespace MongoPerf.Deployments.Installing;

/// <summary>SHA-256 of files, as 64 hexadecimal digits.</summary>
public static class Checksum
{
    public static bool IsSha256(string text) => text.Length == 64 && text.All(char.IsAsciiHexDigit);

    public static string OfFile(string path)
    {
        using FileStream file = File.OpenRead(path);
        return Convert.ToHexStringLower(SHA256.HashData(file));
    }

    public static bool Same(string one, string other) => string.Equals(one, other, StringComparison.OrdinalIgnoreCase);
}

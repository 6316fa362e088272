using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Security.Cryptography;

namespace MongoPerf.Platforms;

/// <summary>
/// Random bytes that nobody can guess, from the system itself: .NET's own on Linux need OpenSSL, which not every machine has. Thread-safe.
/// </summary>
public static unsafe partial class SystemRandom
{
    public static byte[] GetBytes(int count)
    {
        byte[] bytes = new byte[count];
        Fill(bytes);
        return bytes;
    }

    public static void Fill(Span<byte> bytes)
    {
        if (!Platform.IsLinux)
        {
            RandomNumberGenerator.Fill(bytes);
            return;
        }

        // A signal may interrupt it; what is short comes whole.
        fixed (byte* first = bytes)
        {
            for (nint filled = 0; filled < bytes.Length;)
                filled += Math.Max(0, GetRandom(first + filled, bytes.Length - filled, 0));
        }
    }

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "getrandom")]
    private static partial nint GetRandom(byte* bytes, nint length, uint flags);
}

using MongoPerf.Measurement;

namespace MongoPerf.Load.Documents;

/// <summary>The characters that filler text is cut from: the same on every machine, made once per process (about 1 MB).</summary>
internal static class FillerText
{
    /// <summary>Where a piece may start; a power of two.</summary>
    public const int PoolPlaces = 1 << 20;

    /// <summary>Bytes that may be read from any place on.</summary>
    public const int LongestPiece = 1024;
    private const ulong PoolSeed = 42;

    public static byte[] Pool { get; } = MakePool();

    private static byte[] MakePool()
    {
        ReadOnlySpan<byte> alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"u8;
        byte[] pool = new byte[PoolPlaces + LongestPiece];
        for (int at = 0; at < pool.Length; at += 8)
        {
            ulong bits = Mixing.At(PoolSeed, (ulong)at);
            for (int i = at; i < at + 8; i++, bits >>= 6)
                pool[i] = alphabet[(int)(bits & 63)];
        }

        return pool;
    }
}

namespace MongoPerf.Measurement;

/// <summary>FNV-1a of 64 bits (G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV non-cryptographic hash algorithm").</summary>
public static class FowlerNollVo
{
    private const ulong OffsetBasis = 0xCBF29CE484222325;
    private const ulong Prime = 1_099_511_628_211;

    /// <summary>Hashes a number's eight bytes, the lowest first, and takes the absolute value, as YCSB does.</summary>
    /// <returns>0 or more; 0 also for the one hash that has no positive counterpart.</returns>
    public static long Hash(long value)
    {
        ulong bytes = (ulong)value;
        ulong hash = OffsetBasis;
        for (int i = 0; i < sizeof(long); i++)
        {
            hash = (hash ^ (bytes & 0xFF)) * Prime;
            bytes >>= 8;
        }

        long signed = (long)hash;
        return signed == long.MinValue ? 0 : Math.Abs(signed);
    }
}

using System.Buffers.Binary;
using System.Numerics;

namespace MongoPerf.Traffic.Redacting;

/// <summary>Secret permutations of whole numbers: each number becomes another one below the same bound, and no two the same one.</summary>
/// <remarks>
/// A Feistel network over SipHash-2-4, and where the bound is no power of four, cycle walking (J. Black, P. Rogaway, "Ciphers with
/// arbitrary finite domains"; J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF"). Any thread.
/// </remarks>
/// <param name="first">Half of the key.</param>
/// <param name="second">The other half.</param>
internal sealed class Permutation(ulong first, ulong second)
{
    private const int Rounds = 8;

    /// <param name="value">Below <paramref name="bound"/>.</param>
    /// <param name="bound">1 to 2⁶².</param>
    /// <param name="tweak">Another one for another permutation.</param>
    public ulong Of(ulong value, ulong bound, ulong tweak)
    {
        if (bound < 2)
            return value;
        int half = Math.Max(1, (65 - BitOperations.LeadingZeroCount(bound - 1)) / 2);
        ulong mask = (1UL << half) - 1;
        do
        {
            (ulong left, ulong right) = Of(value >> half, value & mask, mask, tweak);
            value = left << half | right;
        }
        while (value >= bound);
        return value;
    }

    /// <param name="left">The upper half.</param>
    /// <param name="right">The lower half.</param>
    /// <param name="mask">The bits that each has.</param>
    /// <param name="tweak">Another one for another permutation.</param>
    public (ulong Left, ulong Right) Of(ulong left, ulong right, ulong mask, ulong tweak)
    {
        for (uint round = 0; round < Rounds; round++)
            (left, right) = (right, left ^ (Hash(tweak << 4 | round, right) & mask));
        return (left, right);
    }

    /// <summary>Hashes two words.</summary>
    public ulong Hash(ulong one, ulong other)
    {
        var state = new SipState(first, second);
        state.Add(one);
        state.Add(other);
        return state.End(16);
    }

    /// <summary>Hashes bytes.</summary>
    public ulong Hash(ReadOnlySpan<byte> bytes)
    {
        var state = new SipState(first, second);
        int length = bytes.Length;
        for (; bytes.Length >= 8; bytes = bytes[8..])
            state.Add(BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        ulong rest = 0;
        for (int i = 0; i < bytes.Length; i++)
            rest |= (ulong)bytes[i] << (8 * i);
        return state.End(length, rest);
    }

    private struct SipState(ulong first, ulong second)
    {
        private ulong _v0 = first ^ 0x736F6D6570736575;
        private ulong _v1 = second ^ 0x646F72616E646F6D;
        private ulong _v2 = first ^ 0x6C7967656E657261;
        private ulong _v3 = second ^ 0x7465646279746573;

        public void Add(ulong word)
        {
            _v3 ^= word;
            Round();
            Round();
            _v0 ^= word;
        }

        /// <param name="length">All bytes.</param>
        /// <param name="rest">Those after the last word.</param>
        public ulong End(int length, ulong rest = 0)
        {
            Add((ulong)length << 56 | rest);
            _v2 ^= 0xFF;
            for (int i = 0; i < 4; i++)
                Round();
            return _v0 ^ _v1 ^ _v2 ^ _v3;
        }

        private void Round()
        {
            _v0 += _v1;
            _v1 = ulong.RotateLeft(_v1, 13) ^ _v0;
            _v0 = ulong.RotateLeft(_v0, 32);
            _v2 += _v3;
            _v3 = ulong.RotateLeft(_v3, 16) ^ _v2;
            _v0 += _v3;
            _v3 = ulong.RotateLeft(_v3, 21) ^ _v0;
            _v2 += _v1;
            _v1 = ulong.RotateLeft(_v1, 17) ^ _v2;
            _v2 = ulong.RotateLeft(_v2, 32);
        }
    }
}

using System.Buffers.Binary;
using System.Numerics;
using System.Text;

namespace MongoPerf.Platforms;

/// <summary>
/// SHA-256 (FIPS 180-4) for names, fingerprints and the hashes of a page's scripts. .NET's own on Linux needs OpenSSL, which not every
/// machine has; logins and TLS use that. Thread-safe.
/// </summary>
public static class Sha256
{
    private const int BlockBytes = 64;

    /// <summary>The first 32 bits behind the point of the cube roots of the first 64 primes.</summary>
    private static readonly uint[] Constants =
    [
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
    ];

    /// <summary>The same of the square roots of the first eight.</summary>
    private static readonly uint[] Start =
    [
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    ];

    /// <summary>The hash of a text as UTF-8: 64 hexadecimal digits, in lower case.</summary>
    public static string Hex(string text) => Convert.ToHexStringLower(Hash(Encoding.UTF8.GetBytes(text)));

    /// <returns>32 bytes.</returns>
    public static byte[] Hash(ReadOnlySpan<byte> data)
    {
        uint[] state = [.. Start];
        ReadOnlySpan<byte> rest = data;
        for (; rest.Length >= BlockBytes; rest = rest[BlockBytes..])
            Mix(state, rest[..BlockBytes]);
        // A one, zeros, and how many bits there were, which may need a block of their own.
        Span<byte> end = stackalloc byte[2 * BlockBytes];
        end.Clear();
        rest.CopyTo(end);
        end[rest.Length] = 0x80;
        int length = rest.Length < BlockBytes - sizeof(ulong) ? BlockBytes : 2 * BlockBytes;
        BinaryPrimitives.WriteUInt64BigEndian(end[(length - sizeof(ulong))..], (ulong)data.Length * 8);
        for (int at = 0; at < length; at += BlockBytes)
            Mix(state, end.Slice(at, BlockBytes));
        byte[] hash = new byte[state.Length * sizeof(uint)];
        for (int i = 0; i < state.Length; i++)
            BinaryPrimitives.WriteUInt32BigEndian(hash.AsSpan(i * sizeof(uint)), state[i]);
        return hash;
    }

    private static void Mix(uint[] state, ReadOnlySpan<byte> block)
    {
        Span<uint> words = stackalloc uint[64];
        for (int i = 0; i < words.Length; i++)
        {
            words[i] = i < 16 ? BinaryPrimitives.ReadUInt32BigEndian(block[(i * sizeof(uint))..])
                : words[i - 16] + Sigma(words[i - 15], 7, 18, words[i - 15] >> 3)
                    + words[i - 7] + Sigma(words[i - 2], 17, 19, words[i - 2] >> 10);
        }

        (uint a, uint b, uint c, uint d) = (state[0], state[1], state[2], state[3]);
        (uint e, uint f, uint g, uint h) = (state[4], state[5], state[6], state[7]);
        for (int i = 0; i < words.Length; i++)
        {
            uint first = h + Sigma(e, 6, 11, BitOperations.RotateRight(e, 25)) + ((e & f) ^ (~e & g)) + Constants[i] + words[i];
            uint second = Sigma(a, 2, 13, BitOperations.RotateRight(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d + first, c, b, a, first + second);
        }

        uint[] mixed = [a, b, c, d, e, f, g, h];
        for (int i = 0; i < state.Length; i++)
            state[i] += mixed[i];
    }

    private static uint Sigma(uint word, int one, int other, uint third) =>
        BitOperations.RotateRight(word, one) ^ BitOperations.RotateRight(word, other) ^ third;
}

using System.Runtime.CompilerServices;

namespace MongoPerf.Measurement;

/// <summary>Integer mixing: everything drawn anywhere in the program is a function of a seed and a number through this.</summary>
/// <remarks>The finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).</remarks>
public static class Mixing
{
    public const ulong GoldenGamma = 0x9E3779B97F4A7C15;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Mix(ulong z)
    {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    /// <summary>Value number <paramref name="index"/> of the stream that starts at <paramref name="seed"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong At(ulong seed, ulong index) => Mix(seed + ((index + 1) * GoldenGamma));

    /// <summary>
    /// Spreads 32 random bits evenly over 0 ≤ v &lt; <paramref name="range"/> (D. Lemire, 2019; bias below range / 2^32).
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Scale(uint bits, int range) => (int)(((ulong)bits * (ulong)range) >> 32);
}

/// <summary>
/// A stream of random bits for one purpose of one worker; switching one purpose on or off leaves the others' values as they are.
/// </summary>
/// <remarks>A mutable struct: hold it in a field, never copy it. One thread.</remarks>
public struct RandomStream(ulong seed)
{
    private ulong _state = seed;

    /// <param name="seed">The run's.</param>
    /// <param name="purpose">One constant per use, such as arguments or verification.</param>
    /// <param name="worker">0-based.</param>
    public static RandomStream For(ulong seed, RandomPurpose purpose, int worker) =>
        new(Mixing.Mix(Mixing.Mix(seed ^ ((ulong)purpose << 32)) + (ulong)worker));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong Next() => Mixing.Mix(_state += Mixing.GoldenGamma);

    /// <returns>0 ≤ v &lt; range.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Next(int range) => Mixing.Scale((uint)(Next() >> 32), range);

    /// <param name="range">1 or more.</param>
    /// <returns>0 ≤ v &lt; range; bias below range / 2^64.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public long NextLong(long range) => (long)Math.BigMul(Next(), (ulong)range, out _);

    /// <returns>0 ≤ v &lt; 1, 53 bits.</returns>
    public double NextDouble() => (Next() >> 11) * (1.0 / (1UL << 53));
}

/// <summary>What a stream is drawn for. Never renumber: the numbers are part of what a seed means.</summary>
public enum RandomPurpose
{
    Arguments = 1,
    Verification = 2,
    Choice = 3,
    Arrivals = 4,
    Thinking = 5,
}

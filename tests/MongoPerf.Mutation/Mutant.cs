using System.Runtime.CompilerServices;

namespace MongoPerf.Mutation;

/// <summary>The switch that mutated code asks: which of its mutants is on. One is on at a time, for all threads.</summary>
public static class Mutant
{
    /// <summary>The mutant that is on; 0 for none.</summary>
    public static volatile int Active;

    /// <summary>Whether the mutant that is on was reached since this was last cleared.</summary>
    public static volatile bool Reached;

    /// <summary>Where it is recorded which mutants are reached; null while that is not of interest.</summary>
    public static volatile bool[]? Seen;

    /// <summary>Whether the mutant is on.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool Is(int id) => Seen is { } seen ? Record(seen, id) : id == Active && Reach();

    private static bool Record(bool[] seen, int id)
    {
        seen[id] = true;
        return false;
    }

    private static bool Reach() => Reached = true;
}

using System.Globalization;
using System.Runtime.CompilerServices;

namespace MongoPerf.Mutation;

/// <summary>
/// The switch that mutated code asks: which of its mutants is on. One is on at a time, for all threads, and for all programs that
/// a test starts.
/// </summary>
public static class Mutant
{
    /// <summary>Names the mutant that is on in programs that a test starts.</summary>
    public const string ActiveName = "MONGOPERF_MUTANT";

    /// <summary>
    /// Names the file to which such programs append what they reached: numbers of mutants while coverage is recorded, else that of
    /// the mutant that is on. A program that is killed appends nothing.
    /// </summary>
    public const string ReachedName = "MONGOPERF_MUTANTS_REACHED";

    /// <summary>The mutant that is on; 0 for none.</summary>
    public static volatile int Active;

    /// <summary>Whether the mutant that is on was reached since this was last cleared.</summary>
    public static volatile bool Reached;

    /// <summary>Where it is recorded which mutants are reached; null while that is not of interest.</summary>
    public static volatile bool[]? Seen;

    /// <summary>Whether the mutant is on.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool Is(int id) => Seen is { } seen ? Record(seen, id) : id == Active && Reach();

    static Mutant()
    {
        if (Environment.GetEnvironmentVariable(ReachedName) is not { Length: > 0 } file
            || !int.TryParse(Environment.GetEnvironmentVariable(ActiveName), CultureInfo.InvariantCulture, out int active)) return;
        // A negative number asks for coverage of so many mutants.
        if (active < 0) Seen = new bool[1 - active];
        Active = Math.Max(0, active);
        AppDomain.CurrentDomain.ProcessExit += (_, _) =>
        {
            IEnumerable<int> reached = Seen is { } seen ? Enumerable.Range(1, seen.Length - 1).Where(id => seen[id])
                : Reached ? [Active] : [];
            File.AppendAllLines(file, reached.Select(id => id.ToString(CultureInfo.InvariantCulture)));
        };
    }

    private static bool Record(bool[] seen, int id)
    {
        seen[id] = true;
        return false;
    }

    private static bool Reach() => Reached = true;
}

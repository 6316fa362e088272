namespace MongoPerf.Reports.Forecasts;

/// <summary>What a value does beside its level and its slope as a collection grows: a factor for each size.</summary>
public abstract record Shape
{
    /// <summary>Nothing.</summary>
    public static Shape None { get; } = new Unchanged();

    /// <summary>Logarithm of the factor at a size.</summary>
    /// <param name="documents">The documents in the collection.</param>
    /// <param name="scale">How much larger what is outgrown is than it was when it was measured.</param>
    public abstract double At(double documents, double scale);

    private sealed record Unchanged : Shape
    {
        public override double At(double documents, double scale) => 0;
    }
}

/// <summary>
/// A working set that fits up to a size, and beyond it misses in proportion to what does not fit: the time of a hit and that of the misses.
/// </summary>
/// <param name="Documents">The last size at which all of it fits.</param>
/// <param name="Height">Time of the misses of an operation that finds nothing, as a multiple of the time of one that finds all.</param>
/// <remarks>With uniform access to a set of n documents, of which k fit, the share 1 - k/n misses.</remarks>
internal sealed record Outgrown(double Documents, double Height) : Shape
{
    public override double At(double documents, double scale) => Math.Log(1 + (Height * Math.Max(0, 1 - (Documents * scale / documents))));
}

/// <summary>Something that is there from the start, such as a journal or a file's first blocks.</summary>
/// <param name="Documents">The documents that would take up as much.</param>
internal sealed record Offset(double Documents) : Shape
{
    public override double At(double documents, double scale) => Math.Log(1 + (Documents / documents));
}

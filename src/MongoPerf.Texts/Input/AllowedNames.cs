namespace MongoPerf.Texts.Input;

/// <summary>What a name may be: one of a list, or another that follows a rule.</summary>
/// <param name="Listed">What messages list.</param>
public sealed record AllowedNames(IReadOnlyList<string> Listed)
{
    /// <summary>Whether a name that is not listed follows the rule.</summary>
    public Func<string, bool> IsOther { get; init; } = static _ => false;

    /// <summary>What the others are, such as "any other percentile"; empty where there are none.</summary>
    public string Others { get; init; } = "";

    /// <summary>How the others are written, for the hint to a name that <see cref="Resembles"/> one of them.</summary>
    public string Rule { get; init; } = "";

    /// <summary>Whether a name was meant to be one of the others.</summary>
    public Func<string, bool> Resembles { get; init; } = static _ => false;

    public bool Contain(string name) => Listed.Contains(name) || IsOther(name);

    /// <summary>"rate, p50, p99 and any other percentile".</summary>
    public override string ToString() => string.Join(", ", Listed) + (Others.Length > 0 ? $" and {Others}" : "");

    /// <summary>What to write in the place of a name that is not allowed; null where nothing is near.</summary>
    public string? Hint(string name) => Resembles(name) ? Rule : NearestName.Hint(name, Listed);
}

using MongoPerf.Storage;

namespace MongoPerf.Scenarios;

/// <summary>Where a scenario file has the values that an option replaces.</summary>
public enum PlanPlace
{
    /// <summary>The only collection that is loaded.</summary>
    Collection,

    /// <summary>The only growth.</summary>
    Growth,

    /// <summary>Each phase that measures, those that run at each size of a growth included.</summary>
    Phases,
}

/// <summary>
/// An option whose value takes the place of a scenario file's: how it is typed, where it acts and what it excludes. The commands make it of
/// this, and everything that asks what was typed reads it here. All of them are in <see cref="PlanOptions"/>.
/// </summary>
/// <param name="name">The name as it is typed, such as <c>--threads</c>.</param>
/// <param name="valueName">What help calls its value.</param>
/// <param name="help">Says what it does; the Chinese text is found by it.</param>
/// <param name="parse">
/// Makes the value of what is typed: a whole number for a count, a fraction for seconds, a text, or a list of whole numbers or fractions.
/// Throws a <see cref="FormatException"/> that says what is allowed.
/// </param>
public sealed class PlanOption(string name, string valueName, string help, Func<string, object> parse)
{
    public string Name => name;

    public string ValueName => valueName;

    public string Help => help;

    public Func<string, object> Parse => parse;

    public string? Alias { get; init; }

    /// <summary>Several values are typed with commas between them, and the last list counts.</summary>
    public bool IsList { get; init; }

    public required PlanPlace Place { get; init; }

    /// <summary>The key of the file that gets the value.</summary>
    public required string Key { get; init; }

    /// <summary>Another key in which a file may say the same.</summary>
    public string? OtherKey { get; init; }

    /// <summary>Keys that do not hold beside the value; one that an option of its own sets stays.</summary>
    public IReadOnlyList<string> Displaces { get; init; } = [];

    public PlanConflict? Conflict { get; init; }

    /// <summary>The value that was typed; null when there is none.</summary>
    public required Func<PlanOverrides, object?> ValueIn { get; init; }

    /// <summary>The same overrides with another value, or with none.</summary>
    public required Func<PlanOverrides, object?, PlanOverrides> With { get; init; }

    public bool IsIn(PlanOverrides overrides) => ValueIn(overrides) is not null;
}

/// <summary>An option that another one does not go with.</summary>
/// <param name="Other">The name of the other.</param>
/// <param name="Message">Why not.</param>
/// <param name="Hint">What to do instead.</param>
public sealed record PlanConflict(string Other, string Message, string Hint);

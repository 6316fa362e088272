namespace MongoPerf.Running.Doctor;

public enum CheckState
{
    Ok,

    /// <summary>Runs work, but a feature is missing or figures may mislead.</summary>
    Warning,

    /// <summary>Runs don't work.</summary>
    Problem,
}

/// <summary>One line of <c>doctor</c>.</summary>
/// <param name="Subject">What was looked at, such as "swappiness".</param>
/// <param name="State">How it is.</param>
/// <param name="Found">What was found; what it means, unless it is ok.</param>
/// <param name="Advice">What to do about it; null for nothing.</param>
public sealed record Check(string Subject, CheckState State, string Found, string? Advice = null)
{
    public static Check Ok(string subject, string found) => new(subject, CheckState.Ok, found);

    public static Check Warning(string subject, string found, string? advice) => new(subject, CheckState.Warning, found, advice);

    public static Check Problem(string subject, string found, string? advice) => new(subject, CheckState.Problem, found, advice);
}

/// <summary>What was looked at together: this machine, or a deployment.</summary>
public sealed record CheckGroup(string Title, IReadOnlyList<Check> Checks);

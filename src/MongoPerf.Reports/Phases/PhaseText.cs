using MongoPerf.Storage;

namespace MongoPerf.Reports.Phases;

/// <summary>What reports say and ask of a phase's record.</summary>
internal static class PhaseText
{
    /// <returns>Null where the phase does not have the parameter.</returns>
    public static string? ValueOf(this PhaseRecord phase, string parameter) =>
        phase.Parameters.FirstOrDefault(p => p.Name == parameter)?.Value;

    /// <summary>The operations per second of all its operations together.</summary>
    public static double OperationsPerSecond(this PhaseRecord phase) => phase.Done.Sum(o => o.OperationsPerSecond);

    /// <summary>The threads of all its groups.</summary>
    public static int Threads(this PhaseRecord phase) => phase.Groups.Sum(g => g.Threads);

    /// <summary>The documents in the collection: of a growth at the step's end, otherwise when the phase ended.</summary>
    public static long DocumentsAtEnd(this PhaseRecord phase) => phase.Growth?.Documents ?? phase.Documents;

    /// <summary>"read (limit=10)", of a growth with its size: "q4 at 1M".</summary>
    public static string Label(this PhaseRecord phase) =>
        phase.Growth is { } growth ? Words.Of($"{PhaseLabels.Of(phase)} at {Units.Count(growth.Documents)}") : PhaseLabels.Of(phase);

    /// <summary>Parameters that differ between these phases; threads come in a column of their own.</summary>
    public static IReadOnlyList<string> VariedParameters(this IReadOnlyList<PhaseRecord> phases) =>
    [
        .. phases.SelectMany(p => p.Parameters).Select(p => p.Name).Distinct()
            .Where(name => name != PhaseLabels.Threads && phases.Select(p => p.ValueOf(name)).Distinct().Count() > 1),
    ];
}

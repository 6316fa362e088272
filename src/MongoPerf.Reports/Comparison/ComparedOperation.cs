using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>What runs are compared by: an operation of a phase, with one value of each parameter, done by so many threads.</summary>
/// <param name="Growth">Name of the growth that the phase is part of; null for none.</param>
/// <param name="Phase">Its name.</param>
/// <param name="Parameters">The parameters, such as "limit=10"; threads and repeats are not among them.</param>
/// <param name="Operation">Its name.</param>
/// <param name="Threads">The threads of its group.</param>
public sealed record ComparedOperation(string? Growth, string Phase, string Parameters, string Operation, int Threads)
{
    public static ComparedOperation Of(PhaseRecord phase, OperationResult result) => new(
        phase.Growth?.Growth, phase.Phase,
        PhaseLabels.Parameters(phase.Parameters.Where(p => p.Name is not (Dimension.Threads or Dimension.Repeat))),
        result.Operation, result.Threads);

    /// <summary>"q4", "mix read", "read (limit=10)": no more than tells it from the others; the threads are left out.</summary>
    /// <param name="all">All comparisons among which it stands.</param>
    public string NameAmong(IEnumerable<ComparedOperation> all)
    {
        ComparedOperation[] beside = [.. all.Where(other => other.Growth == Growth && other.Phase == Phase)];
        string name = Operation != Phase && beside.Any(other => other.Operation != Operation) ? $"{Phase} {Operation}" : Phase;
        return beside.Any(other => other.Parameters != Parameters) ? $"{name} ({Parameters})" : name;
    }

    /// <summary>The same, with the threads where they differ: "q4 ×8".</summary>
    /// <param name="all">All comparisons among which it stands.</param>
    public string TitleAmong(IReadOnlyList<ComparedOperation> all) =>
        all.Any(other => other.Threads != Threads && other with { Threads = Threads } == this)
            ? $"{NameAmong(all)} ×{Threads}"
            : NameAmong(all);
}

/// <summary>One of an operation's windows.</summary>
/// <param name="Operation">Whose.</param>
/// <param name="At">Documents in the collection at that size of a growth; otherwise the number of the phase's repeat, which is 1 for the
/// only one.</param>
public readonly record struct WindowKey(ComparedOperation Operation, long At)
{
    public static WindowKey Of(PhaseRecord phase, OperationResult result) =>
        new(ComparedOperation.Of(phase, result),
            phase.Growth?.Documents ?? (long.TryParse(phase.ValueOf(Dimension.Repeat), out long repeat) ? repeat : 1));
}

using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>What people read for a phase and for an operation of it.</summary>
public static class PhaseLabels
{
    /// <summary>The parameter that reports show in a column of its own.</summary>
    public const string Threads = "threads";

    /// <summary>The phase with its parameters, such as "read (limit=10)".</summary>
    public static string Of(PhaseRecord record) =>
        record.Parameters.Count == 0 ? record.Phase : $"{record.Phase} ({Parameters(record.Parameters)})";

    /// <summary>
    /// An operation, whatever the parameters: the phase's name where the phase has no other operation, such as "q4"; otherwise "mix read".
    /// </summary>
    public static string Of(PhaseRecord record, string operation) =>
        record.Operations.Count > 1 && operation != record.Phase ? $"{record.Phase} {operation}" : record.Phase;

    /// <summary>
    /// Does the same as <see cref="Of(PhaseRecord, string)"/>, with the phase's parameters: "q4 (rate=2000)", "mix read (limit=10)".
    /// </summary>
    public static string WithParameters(PhaseRecord record, string operation) =>
        record.Parameters.Count == 0 ? Of(record, operation) : $"{Of(record, operation)} ({Parameters(record.Parameters)})";

    /// <summary>The operation's own name; that of a phase's total in the reader's language.</summary>
    public static string NameOf(OperationResult result) =>
        result is { IsTotal: true, Operation: OperationResult.TotalName } ? Words.Of("total") : result.Operation;

    /// <summary>"limit=10, sort=true"; empty for none.</summary>
    public static string Parameters(IEnumerable<ParameterValue> parameters, string separator = ", ") =>
        string.Join(separator, parameters.Select(p => $"{p.Name}={p.Value}"));
}

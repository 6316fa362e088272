namespace MongoPerf.Reports.Figures;

/// <summary>The names of what results differ in, beside the scenario's parameters.</summary>
public static class Dimension
{
    public const string Phase = "phase";
    public const string Operation = "operation";

    /// <summary>What ran the scenario: of one run a constant.</summary>
    public const string Deployment = "deployment";
    public const string Threads = "threads";

    /// <summary>The number of clients whose runs were merged into one: of one run a constant, 1 where there was one client.</summary>
    public const string Clients = "clients";

    /// <summary>The number of a repeat of a phase that is done several times. Repeats are averaged unless they are named.</summary>
    public const string Repeat = "repeat";

    /// <summary>The documents in the collection: of a growth at the step's end, otherwise when the phase ended.</summary>
    public const string Documents = "documents";

    /// <summary>
    /// The size to which a growth had brought the collection; other phases have none. Nobody names it: it tells a growth's results apart
    /// where nothing else does.
    /// </summary>
    public const string Size = "size";

    /// <summary>Seconds since the phase began; a dimension of samples, not of results.</summary>
    public const string Time = "time";

    /// <summary>Those that figures may name.</summary>
    public static IReadOnlyList<string> All { get; } = [Threads, Clients, Documents, Time, Deployment, Phase, Operation, Repeat];
}

namespace MongoPerf.Reporting.Figures;

/// <summary>Names of what results differ in, beside the parameters of the scenario.</summary>
internal static class Dimension
{
    public const string Phase = "phase";
    public const string Operation = "operation";

    /// <summary>What ran the scenario: of one run a constant.</summary>
    public const string Deployment = "deployment";
    public const string Threads = "threads";

    /// <summary>Of a phase that is done several times; what is measured again is not unlike, so it is told apart only where it is named.</summary>
    public const string Repeat = "repeat";

    /// <summary>In the first collection when the phase was over.</summary>
    public const string Documents = "documents";

    /// <summary>Seconds since the phase began; not of a result but of its samples.</summary>
    public const string Time = "time";
}

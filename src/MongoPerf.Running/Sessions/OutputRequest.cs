namespace MongoPerf.Running.Sessions;

/// <summary>Where results go and how much is said meanwhile.</summary>
/// <param name="RunsFolder">Holds a folder for each run.</param>
/// <param name="Format">text, json, csv, markdown or ycsb, on stdout.</param>
/// <param name="Quiet">No progress.</param>
/// <param name="NoTui">Progress as plain lines.</param>
/// <param name="Results">Shows them.</param>
public sealed record OutputRequest(string RunsFolder, string Format, bool Quiet, bool NoTui, IRunResults Results)
{
    /// <summary>False for one of several runs, of which only the comparison is printed; its files are written all the same.</summary>
    public bool PrintsResult { get; init; } = true;

    public bool WritesReport { get; init; } = true;

    /// <summary>Nothing is printed, not even why it ended early: whoever began the run says that.</summary>
    public bool IsSilent { get; init; }

    /// <summary>The whole report is printed as text, not only its answer.</summary>
    public bool IsFull { get; init; }

    /// <summary>Where a page is served while it runs; 0 for a free port, null for nowhere.</summary>
    public int? LivePort { get; init; }

    /// <summary>Where metrics are sent while it runs, by OTLP; null for nowhere.</summary>
    public string? MetricsReceiver { get; init; }
}

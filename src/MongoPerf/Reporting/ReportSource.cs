using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>A stored run as charts and the HTML report read it: results in memory, samples streamed as often as asked for.</summary>
internal sealed record ReportSource
{
    public required RunInfo Run { get; init; }

    public required SeriesSettings Settings { get; init; }

    public DeploymentInfo? Deployment { get; init; }

    public EnvironmentInfo? Environment { get; init; }

    /// <summary>By step; a last one may be unfinished.</summary>
    public IReadOnlyList<StepResult> Steps { get; init; } = [];

    public IReadOnlyList<RunEvent> Events { get; init; } = [];

    public IReadOnlyList<ErrorCount> Errors { get; init; } = [];

    public IReadOnlyList<Finding> Findings { get; init; } = [];

    public IReadOnlyList<Checkpoint> Checkpoints { get; init; } = [];

    public Accounting Accounting { get; init; } = Accounting.None;

    public Func<IEnumerable<PhaseSample>> ReadSamples { get; init; } = static () => [];

    public Func<IEnumerable<MetricSample>> ReadServerSamples { get; init; } = static () => [];

    public Func<IEnumerable<MetricSample>> ReadHostSamples { get; init; } = static () => [];

    /// <summary>Steps with a result of at least one test; a broken-off step counts with what it has.</summary>
    public IEnumerable<StepResult> StepsWithResults => Steps.Where(static step => step.Tests.Count > 0 || step.Sizes is not null);

    public static ReportSource Of(StoredRun run) => new()
    {
        Run = run.Run,
        Settings = run.Settings,
        Deployment = run.Deployment,
        Environment = run.Environment,
        Steps = run.Steps,
        Events = run.Events,
        Errors = run.Errors,
        Findings = run.Findings,
        Checkpoints = run.Checkpoints,
        Accounting = run.Accounting,
        ReadSamples = () => run.ReadSamples(),
        ReadServerSamples = run.ReadServerSamples,
        ReadHostSamples = run.ReadHostSamples,
    };
}

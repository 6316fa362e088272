using MongoPerf.Engine.Runs;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting.Figures;

/// <summary>A stored run of a scenario whose figures follow a formula: rate = 1000 × records in millions + 100 × threads + the phase's place, times the run's speed.</summary>
internal sealed record SweptRun
{
    public string Id { get; init; } = "2026-11-21-a";

    /// <summary>Null leaves the run without a name for its deployment.</summary>
    public string? Deployment { get; init; }
    public int? Shards { get; init; }
    public double Speed { get; init; } = 1;
    public IReadOnlyList<int> Millions { get; init; } = [1, 10, 60];
    public IReadOnlyList<int> Threads { get; init; } = [4];
    public IReadOnlyList<string> Phases { get; init; } = ["b", "a"];
    public IReadOnlyList<FigureInfo> Figures { get; init; } = [];
    public IReadOnlyList<TableInfo> Tables { get; init; } = [];

    /// <param name="runsFolder">Gets the run's folder.</param>
    public StoredRun Write(string runsFolder)
    {
        string folder = Path.Combine(runsFolder, Id);
        using (RunStore store = RunStore.Create(folder, RunParts.Run(Id) with { Kind = "scenario" }, RunParts.Settings()))
            Write(store);
        return StoredRun.Open(folder);
    }

    private void Write(RunStore store)
    {
        store.SetEnvironment(RunParts.Environment());
        store.SetDeployment(RunParts.Deployment() with { ShardCount = Shards, Topology = Shards is null ? "standalone" : "sharded" });
        if (Deployment is { } name)
            store.SetNote(StoredRun.DeploymentNote, name);
        store.SetScenario(new ScenarioInfo
        {
            Name = "test", Path = "test.yaml", Text = "text", Scale = 0.01, Figures = Figures, Tables = Tables, Parameters = [new ParameterValue("distribution", "zipfian")],
        });
        int step = 0;
        foreach (int million in Millions)
        {
            foreach (int threads in Threads)
            {
                for (int phase = 0; phase < Phases.Count; phase++)
                    WritePoint(store, ++step, million, threads, phase);
            }
        }

        store.SetState(RunState.Finished, null, RunParts.Start.AddHours(1));
    }

    private void WritePoint(RunStore store, int step, int million, int threads, int phase)
    {
        double rate = ((1000 * million) + (100 * threads) + phase) * Speed;
        foreach ((string test, double share) in ((string, double)[])[("read", 0.75), ("write", 0.25)])
        {
            store.AddTestResult(step, million * 1_000_000L, RunParts.Test(test, threads) with
            {
                OperationsPerSecond = rate * share, DocumentsPerSecond = rate * share, LatencyMicroseconds = RunParts.Latency(test == "read" ? 100 * million : 200),
            });
            for (int second = 1; second <= 3; second++)
            {
                store.AddSample(RunParts.Sample((step * 20) + second, test, million * 1_000_000L) with { Step = step, IsWarmup = false, Operations = (long)(rate * share * second) });
                store.AddServerSample(RunParts.ServerSample((step * 20) + second));
            }
        }

        store.AddSizes(step, RunParts.Sizes(million * 1_000_000L));
        List<ParameterValue> parameters = [new("records", $"{million}M")];
        if (Threads.Count > 1)
            parameters.Add(new("threads", $"{threads}"));
        store.AddPoint(new ScenarioPoint
        {
            Step = step, Phase = Phases[phase], Parameters = parameters,
            Groups = [new GroupShare("", threads, 3.75, 100, 20, 30, 1, new Accounting(100, 100, 0, 0))],
        });
    }
}

using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Figures;

/// <summary>
/// A stored run whose figures follow a formula: rate = 1000 × records in millions + 100 × threads + the phase's place,
/// times the run's speed.
/// </summary>
internal sealed record SweptRun
{
    public string Id { get; init; } = "2026-11-21-a";

    /// <summary>Null leaves the run without a name for its deployment.</summary>
    public string? Deployment { get; init; }
    public int? Shards { get; init; }

    /// <summary>Of each server, bytes.</summary>
    public long? MemoryLimit { get; init; }
    public double Speed { get; init; } = 1;

    /// <summary>Values of the parameter "records", or the sizes of a growth.</summary>
    public IReadOnlyList<int> Millions { get; init; } = [1, 10, 60];

    /// <summary>
    /// The collection grows to these sizes, where otherwise "records" is a parameter; sizes are taken by a phase of their own.
    /// </summary>
    public bool IsGrowth { get; init; }
    public IReadOnlyList<int> Threads { get; init; } = [4];
    public IReadOnlyList<string> Phases { get; init; } = ["b", "a"];
    /// <summary>The run was merged from so many; 0 is a run of one client.</summary>
    public int Clients { get; init; }

    /// <summary>For which servers are sampled beyond each phase's end.</summary>
    public int SecondsAfter { get; init; }

    public IReadOnlyList<FigureInfo> Figures { get; init; } = [];
    public IReadOnlyList<TableInfo> Tables { get; init; } = [];

    /// <param name="runsFolder">Gets the run's folder.</param>
    public StoredRun Write(string runsFolder)
    {
        string folder = Path.Combine(runsFolder, Id);
        RunSettings settings = RunParts.Settings() with
        {
            Deployment = new DeploymentSettings
            {
                Name = Deployment, MemoryLimitBytes = MemoryLimit, Topology = Shards is null ? Topology.Standalone : Topology.Sharded,
            },
            Plan = new PlanSettings
            {
                Name = "test", Path = "test.yaml", Text = "text", Overrides = new PlanOverrides { Scale = 0.01 },
                Figures = Figures, Tables = Tables,
                Parameters = [new ParameterValue("distribution", "zipfian")],
            },
        };
        using (RunStore store = RunStore.Create(folder, RunParts.Run(Id) with
        {
            Clients = [.. Enumerable.Range(1, Clients).Select(i => new MergedClient($"agent {i}", Id, "finished"))],
        }, settings))
            Write(store);
        return StoredRun.Open(folder);
    }

    private void Write(RunStore store)
    {
        store.SetEnvironment(RunParts.Environment());
        store.SetDeployment(
            RunParts.Deployment() with { ShardCount = Shards, Topology = Shards is null ? Topology.Standalone : Topology.Sharded });
        int number = 0;
        foreach ((int step, int million) in Millions.Index())
        {
            GrowthPoint? point = IsGrowth ? new GrowthPoint("growth", step + 1, million * 1_000_000L) : null;
            foreach (int threads in Threads)
            {
                for (int phase = 0; phase < Phases.Count; phase++)
                    WritePhase(store, ++number, point, million, threads, phase);
            }

            if (IsGrowth)
                End(store, new PhaseRecord
                {
                    Number = ++number,
                    Phase = "size",
                    Kind = PhaseKind.Sizes,
                    Growth = point,
                    Documents = million * 1_000_000L,
                    Sizes = [RunParts.Sizes(million * 1_000_000L)],
                });
        }

        store.SetState(RunState.Finished, null, RunParts.Start.AddHours(1));
    }

    private void WritePhase(RunStore store, int number, GrowthPoint? point, int million, int threads, int phase)
    {
        double rate = ((1000 * million) + (100 * threads) + phase) * Speed;
        (string Name, double Share)[] operations = [("read", 0.75), ("write", 0.25)];
        List<ParameterValue> parameters = IsGrowth ? [] : [new("records", $"{million}M")];
        if (Threads.Count > 1)
            parameters.Add(new("threads", $"{threads}"));
        End(store, new PhaseRecord
        {
            Number = number, Phase = Phases[phase], Growth = point, Documents = million * 1_000_000L, Parameters = parameters,
            Groups = [new GroupShare("", threads, 3.75, 100, 20, 30, 1, new Accounting(100, 100, 0, 0))],
            Operations =
            [
                .. operations.Select(o => RunParts.Result(o.Name, threads) with
                {
                    OperationsPerSecond = rate * o.Share,
                    DocumentsPerSecond = rate * o.Share,
                    LatencyMicroseconds = RunParts.Latency(o.Name == "read" ? 100 * million : 200),
                }),
            ],
            Sizes = IsGrowth ? [] : [RunParts.Sizes(million * 1_000_000L)],
        });
        foreach ((string name, double share) in operations)
        {
            for (int second = 1; second <= 3; second++)
                store.AddSample(RunParts.Sample((number * 20) + second, name,
                    million * 1_000_000L) with { Phase = number, IsWarmup = false, Operations = (long)(rate * share * second) });
        }

        for (int second = 1; second <= 3 + SecondsAfter; second++)
        {
            MetricSample sample = RunParts.ServerSample((number * 20) + second);
            // Servers are sampled at moments of their own.
            store.AddServerSample(sample with { AtMilliseconds = sample.AtMilliseconds - 200 });
        }
    }

    private static void End(RunStore store, PhaseRecord record)
    {
        store.BeginPhase(record, continues: false);
        store.EndPhase(record with { IsComplete = true });
    }
}

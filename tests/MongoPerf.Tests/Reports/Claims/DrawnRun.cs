using MongoPerf.Load.Growth;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Running.Merging;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Reports.Claims;

/// <summary>
/// A run that the engine made of a scenario which its seed draws, on a simulated server and in no real time: whole, interrupted, resumed,
/// or merged from several clients' runs. The same seed makes the same run.
/// </summary>
internal sealed class DrawnRun
{
    private readonly DrawnScenario _scenario;
    private readonly ReadPlan _read;
    private readonly Plan _plan;
    private readonly DeploymentInfo _deployment;
    private readonly bool _isReplay;
    private readonly int _seed;
    private readonly string _runs;

    private DrawnRun(int seed, string runs)
    {
        _scenario = new DrawnScenario(seed);
        _read = PlanReader.Read(new ScenarioFile("drawn", "drawn.yaml", _scenario.Text), new PlanOverrides(), 42);
        _plan = _read.Plan;
        _deployment = DrawnSurroundings.Deployment(_scenario);
        _isReplay = _scenario.Chance(0.1);
        _seed = seed;
        _runs = runs;
    }

    /// <summary>The scenario of a seed.</summary>
    public static string TextOf(int seed) => new DrawnScenario(seed).Text;

    /// <param name="seed">Says all about it.</param>
    /// <param name="runs">The folder in which it gets a folder.</param>
    /// <returns>The run's folder.</returns>
    public static string Build(int seed, string runs) => new DrawnRun(seed, runs).Build($"r{seed}");

    private string Build(string id)
    {
        int clients = _scenario.Chance(0.15) && !_plan.Phases.Any(phase => phase.Groups.Count > 1) ? 2 : 1;
        if (clients == 1)
            return Run(id, new MemoryData(new TurnClock()), PlanShare.Whole);
        // Nothing of it takes time.
        var data = new MemoryData(new TurnClock());
        StoredRun[] parts = [.. Enumerable.Range(0, clients)
            .Select(i => StoredRun.Open(Run($"{id}-{i + 1}", data, new PlanShare(i, clients))))];
        try
        {
            var merger = new RunMerger(parts, [], _plan);
            string folder = Path.Combine(_runs, id);
            using RunStore store = RunStore.Create(folder, merger.Head(id, "mongoperf merge"), parts[0].Settings);
            merger.Write(store);
            return folder;
        }
        finally
        {
            foreach (StoredRun part in parts)
            {
                part.Dispose();
                Directory.Delete(part.Folder, recursive: true);
            }
        }
    }

    private string Run(string id, MemoryData data, PlanShare share)
    {
        string folder = Path.Combine(_runs, id);
        var clock = new TurnClock();
        SimulatedServer server = new(clock, _scenario.HabitOf, data.Insert)
        {
            Stalls = _scenario.Chance(0.2) ? [(_scenario.Next(2, 9), _scenario.Pick(0.5, 3.0))] : [],
            BreaksAt = _scenario.Chance(0.1) ? _scenario.Next(0, 300) : -1,
        };
        using (var store = RunStore.Create(folder, RunParts.Run(id) with
        {
            StartedAt = clock.UtcNow,
            Part = share.IsWhole ? null : new ClientPart("drawn", $"client {share.Index + 1}", share.Index + 1, share.Count),
        }, Settings()))
        {
            store.SetDeployment(_deployment);
            store.SetEnvironment(RunParts.Environment());
        }

        int stopAt = _scenario.Chance(0.2) ? _scenario.Next(1, 400) : -1;
        bool isDone = Execute(folder, server, data, share, stopAt);
        if (!isDone && _scenario.Chance(0.5))
            Execute(folder, server, data, share, -1);
        using StoredRun stored = StoredRun.Open(folder);
        using RunStore open = RunStore.Open(folder);
        // What this process took says nothing about the run, and would differ each time.
        foreach (PhaseRecord phase in stored.Phases)
            open.EndPhase(phase with { Operations = [.. phase.Operations.Select(result => Settled(phase, result))] });
        DrawnSurroundings.AddSamples(open, stored);
        return folder;
    }

    /// <summary>Starts the run, or continues with it, as the program's sessions do.</summary>
    private bool Execute(string folder, SimulatedServer server, MemoryData data, PlanShare share, int stopAt)
    {
        RunProgress before;
        using (StoredRun stored = StoredRun.Open(folder))
            before = new RunProgress(stored, new Dictionary<string, long>());
        using RunStore store = RunStore.Open(folder);
        using var stop = new CancellationTokenSource();
        server.Before = place =>
        {
            if (place == stopAt)
                stop.Cancel();
        };
        var context = new RunContext(
            server.Clock, new GroupRunner(server.Clock, server.Open), data, store, new Starter(server.Clock, _plan), new PlanRunOptions
            {
                Seed = 42, MaxErrors = _read.MaxErrors ?? 0, Share = share,
            });
        if (before.IsResumed)
            context.Report(RunEvent.Resumed, "continues");
        bool isDone;
        string? because = null;
        try
        {
            isDone = new PlanRunner(context, before).Run(_plan, isExisting: false, stop.Token);
        }
        catch (MongoPerfException e)
        {
            (isDone, because) = (false, e.Message);
        }

        store.SetState(isDone ? RunState.Finished : because is null ? RunState.Interrupted : RunState.Failed,
            isDone ? null : because ?? "Ctrl+C", server.Clock.UtcNow);
        store.Flush();
        return isDone;
    }

    private OperationResult Settled(PhaseRecord phase, OperationResult result)
    {
        var random = new Random((_seed * 1000) + phase.Number);
        return result with
        {
            ClientCpuCores = 0.25, ClientCpuMicrosecondsPerOperation = 25, ClientAllocatedBytesPerOperation = 0,
            Plan = result.Plan is null ? null : random.Next(2) == 0
                ? new PlanSummary { Stages = "COLLSCAN", DocumentsExamined = 5000, Returned = random.Next(0, 5000), Necessary = 20 }
                : new PlanSummary { Stages = "FETCH > IXSCAN", Index = "v_1", KeysExamined = 20, DocumentsExamined = 20, Returned = 20 },
            Replay = _isReplay && phase.Kind == PhaseKind.Measure && !result.IsUnacknowledged
                ? new ReplayResult(result.Accounting.Succeeded, 0, random.Next(2) * result.Accounting.Succeeded, 0)
                {
                    FirstCount = new ReplayPair(1, 0), RecordedMicroseconds = RunParts.Latency(900),
                }
                : null,
        };
    }

    private RunSettings Settings()
    {
        RunSettings settings = RunParts.Settings(_plan.TargetDocuments);
        return settings with
        {
            Plan = settings.Plan with
            {
                Name = "drawn", Description = _plan.Description, Path = "drawn.yaml", Text = _scenario.Text, Parameters = [],
                Recording = _isReplay ? "drawn.rec" : null, Replay = _isReplay ? new ReplaySettings() : null,
                VerifyShare = 0, MaxErrors = _read.MaxErrors ?? 0, MaxSkipped = _read.MaxSkipped ?? new SkipLimit(0, 0),
            },
        };
    }

    /// <summary>Tells the clock how many groups a phase has.</summary>
    private sealed class Starter(TurnClock clock, Plan plan) : IRunObserver
    {
        public void OnPhaseStarted(PhaseRecord phase, IReadOnlyList<string> operations) => clock.Begin(GroupsOf(phase));

        public void OnSample(Sample sample)
        {
        }

        public void OnPhaseFinished(PhaseRecord phase)
        {
        }

        public void OnStepFinished(GrowthStep step)
        {
        }

        public void OnEvent(RunEvent happened)
        {
        }

        private int GroupsOf(PhaseRecord record)
        {
            if (record.Kind != PhaseKind.Measure)
                return 1;
            IEnumerable<Phase> all = plan.Phases.SelectMany(phase => phase.Growth is { } growth ? growth.Each : [phase]);
            return all.First(phase => phase.Name == record.Phase).Groups.Count;
        }
    }
}

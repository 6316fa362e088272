using MongoPerf.Load.Failures;
using MongoPerf.Load.Plans;
using MongoPerf.Platforms;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Running.Systems;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Agents;

/// <summary>Offers a plan to agents, watches them, and makes one run of theirs.</summary>
public sealed class AgentsSession
{
    public const double UsualComeWithinSeconds = 120;

    private const int LookMilliseconds = 250;
    private const double EndWithinSeconds = 60;

    private readonly Coordinator _coordinator;
    private readonly StopSignals _signals;
    private readonly string _plan;
    private readonly OutputRequest _output;
    private readonly FilesFolder _files;
    private readonly double _comeWithinSeconds;

    /// <summary>A merged run knows the plan by its id: it may be asked for again.</summary>
    private bool _isNeeded;
    private readonly HashSet<string> _told = [];

    private AgentsSession(
        Coordinator coordinator, StopSignals signals, string plan, OutputRequest output, FilesFolder files, double comeWithinSeconds)
    {
        _coordinator = coordinator;
        _signals = signals;
        _plan = plan;
        _output = output;
        _files = files;
        _comeWithinSeconds = comeWithinSeconds;
    }

    /// <param name="request">The request for one deployment, named by its connection string.</param>
    /// <param name="count">Agents.</param>
    /// <param name="coordinatorUri">The coordinator's connection string, as typed.</param>
    /// <param name="comeWithinSeconds">Within how many seconds all must have come.</param>
    public static ExitCode Start(RunRequest request, int count, string coordinatorUri, double comeWithinSeconds)
    {
        string uri = new ConnectionSecrets(null, SecretPrompt.Ask).Complete(coordinatorUri);
        using var signals = new StopSignals("stopping all agents: saving results");
        using var coordinator = new Coordinator(uri, signals.Token);
        WarnOfLoad(coordinator, request);
        string plan = coordinator.Offer(request.Settings, request.Seed, count);
        Console.Error.WriteLine($"waiting for {Units.Counted(count, "agent")}; on each machine: "
            + $"mongoperf agent --coordinator {DatabaseSystems.Of(coordinatorUri).Mask(coordinatorUri)} --name NAME"
            + (request.Settings.Plan.Recording is { } recording ? $" --files DIR (with {Path.GetFileName(recording)} in it)" : ""));
        return new AgentsSession(coordinator, signals, plan, request.Output, request.Files, comeWithinSeconds).Finish(request.CommandLine);
    }

    /// <summary>Continues what agents did not finish; they are started again as before.</summary>
    /// <param name="stored">A merged run.</param>
    /// <param name="coordinatorUri">The coordinator's connection string, as typed.</param>
    /// <param name="output">Where the new merged run goes.</param>
    /// <param name="files">Where the plan finds files.</param>
    public static ExitCode Resume(StoredRun stored, string coordinatorUri, OutputRequest output, FilesFolder files)
    {
        string plan = stored.FindNote(StoredRun.AgentsPlanNote) ?? throw new UserException(ExitCode.WrongUsage,
            $"run {stored.Run.Id} was not started with --agents; --coordinator does not apply");
        if (stored.Run.State == RunState.Finished)
            throw new UserException(ExitCode.WrongUsage, $"run {stored.Run.Id} is finished",
                $"'mongoperf report {stored.Run.Id}' shows it");
        string uri = new ConnectionSecrets(null, SecretPrompt.Ask).Complete(coordinatorUri);
        using var signals = new StopSignals("stopping all agents: saving results");
        using var coordinator = new Coordinator(uri, signals.Token);
        coordinator.Reopen(plan);
        Console.Error.WriteLine($"waiting for the {Units.Counted(stored.Run.Clients.Count, "agent")} again: "
            + $"{string.Join(", ", stored.Run.Clients.Select(client => client.Name))}");
        return new AgentsSession(coordinator, signals, plan, output, files, UsualComeWithinSeconds) { _isNeeded = true }
            .Finish(stored.Run.CommandLine);
    }

    /// <param name="request">The request for one deployment.</param>
    /// <param name="count">Agents.</param>
    /// <exception cref="UserException">Agents can't do what is asked for.</exception>
    public static void Check(RunRequest request, int count)
    {
        if (request.Uri is null)
            throw new UserException(ExitCode.WrongUsage, "--agents needs --uri: several machines put load on one existing deployment",
                "start one with 'mongoperf serve' or 'cluster start', or name yours");
        if (request.System != DatabaseSystems.MongoDb || request.Settings.Engine.Kind != EngineKind.Wire)
            throw new UserException(ExitCode.WrongUsage,
                $"--agents runs MongoPerf's own client on MongoDB; {DatabaseSystems.OtherNames} and --engine driver are for one machine");
        if (request.Output is { LivePort: not null } or { MetricsReceiver: not null })
            throw new UserException(
                ExitCode.WrongUsage, "--live and --otlp do not apply with --agents, whose starter measures nothing",
                "each 'mongoperf agent' takes --otlp, and 'mongoperf watch' shows an agent's run");
        if (request.ForceDrop is not null)
            throw new UserException(
                ExitCode.WrongUsage,
                "--force-drop does not apply with --agents: agents drop nothing on a coordinator's request",
                "drop the collection first, or use another --db");
        if (PlanDivision.FindFault(request.Plan.Plan, count) is { } fault)
            throw new UserException(ExitCode.WrongUsage, $"the plan can't be divided among agents: {fault}", "run it on one machine");
    }

    private static void WarnOfLoad(Coordinator coordinator, RunRequest request)
    {
        if (ServerUri.Parse(request.Uri!).Hosts.Intersect(coordinator.Hosts).Any())
            Console.Error.WriteLine("warning: the coordinator is the deployment under load; another MongoDB, such as 'mongoperf serve', "
                + "does not disturb what is measured");
    }

    private ExitCode Finish(string commandLine)
    {
        bool isAway = false;
        string folder = Path.Combine(_output.RunsFolder, $".agents-{_plan}");
        try
        {
            IReadOnlyList<AgentState> agents = Watch();
            OwnFiles.MakeFolder(folder);
            var parts = new List<StoredRun>();
            try
            {
                string[] missing = [.. agents.Where(agent => !TryTake(agent, folder, parts)).Select(agent => agent.Label)];
                if (parts.Count == 0 && _signals.WasStopped)
                    throw new OperationCanceledException("interrupted before any agent had measured anything");
                if (parts.Count == 0)
                    throw new UserException(ExitCode.CannotConnect, "no agent handed in a run: "
                        + $"{string.Join("; ", agents.Select(agent => $"{agent.Label}: {agent.Why ?? agent.State}"))}");
                ExitCode code = MergeSession.Merge(parts, missing, commandLine, _output, _files, (StoredRun.AgentsPlanNote, _plan));
                bool isDone = missing.Length == 0 && parts.All(part => part.Run.State == RunState.Finished);
                // A replay can't be continued.
                _isNeeded = !isDone && parts[0].Settings.Plan.Recording is null;
                return isDone || code != ExitCode.Done ? code : ExitCode.Interrupted;
            }
            finally
            {
                parts.ForEach(part => part.Dispose());
            }
        }
        catch (Exception e) when (isAway = ErrorTally.IsServerAway(e))
        {
            throw new UserException(ExitCode.CannotConnect, Coordinator.AwayBecause(e),
                "agents keep their runs in their own folders; 'mongoperf merge' takes them");
        }
        finally
        {
            if (Directory.Exists(folder))
                Directory.Delete(folder, recursive: true);
            if (!isAway)
                _coordinator.Close(_plan, isDone: !_isNeeded);
        }
    }

    /// <returns>The agents as they are when none of them works any more.</returns>
    private IReadOnlyList<AgentState> Watch()
    {
        double said = 0;
        double? stopped = null;
        string? missing = null;
        long begun = Environment.TickCount64;
        while (true)
        {
            double seconds = (Environment.TickCount64 - begun) / 1000.0;
            if (seconds >= said)
            {
                _coordinator.SayStarter(_plan);
                said = seconds + Coordinator.SaySeconds;
            }

            IReadOnlyList<AgentState> agents = _coordinator.ReadParts(_plan, out _);
            Show(agents);
            AgentState[] absent = [.. agents.Where(agent => agent.State == Coordinator.Free)];
            if (absent.Length > 0 && seconds > _comeWithinSeconds && stopped is null)
            {
                missing = $"{agents.Count - absent.Length} of {agents.Count} agents came within "
                    + $"{Units.Duration(TimeSpan.FromSeconds(_comeWithinSeconds))}; missing: "
                    + $"{string.Join(", ", absent.Select(agent => agent.Label))}";
                _coordinator.Stop(_plan, missing);
                stopped = seconds;
            }

            if (_signals.WasStopped && stopped is null)
            {
                _coordinator.Stop(_plan, "interrupted where the plan was started");
                stopped = seconds;
            }

            bool isOver = agents.All(agent =>
                agent.State == Coordinator.Ended || agent.IsLost || (stopped is not null && agent.State == Coordinator.Free));
            if (isOver || seconds - stopped > EndWithinSeconds)
                return missing is null ? agents : throw new UserException(ExitCode.CannotConnect, missing,
                    "start 'mongoperf agent' on each machine; --agents-within waits longer");
            Thread.Sleep(LookMilliseconds);
        }
    }

    private void Show(IReadOnlyList<AgentState> agents)
    {
        foreach (AgentState agent in agents)
        {
            string? text =
                agent.State == Coordinator.Ended ? $"agent {agent.Label} {(agent.Why is null ? "is done" : $"ended: {agent.Why}")}"
                    : agent.IsLost ? $"agent {agent.Label} is lost"
                    : agent.State == Coordinator.Claimed ? $"agent {agent.Label} has part {agent.Number} of {agents.Count}"
                    : null;
            if (text is not null && _told.Add(text) && !_output.Quiet)
                Console.Error.WriteLine(text);
        }
    }

    /// <summary>Brings an agent's run here. It may hold anything: it is read as any run folder of somebody else's.</summary>
    private bool TryTake(AgentState agent, string folder, List<StoredRun> parts)
    {
        string own = Path.Combine(folder, $"{agent.Number}");
        OwnFiles.MakeFolder(own);
        if (!_coordinator.TryDownload(_plan, agent.Number, Path.Combine(own, "run.db")))
        {
            if (agent is { State: Coordinator.Ended, Why: null })
                Console.Error.WriteLine($"warning: agent {agent.Label} is done, but the coordinator does not have all of its run");
            return false;
        }

        try
        {
            var run = StoredRun.Open(own);
            if (run.Run.Part is { } part && part.Group == _plan && part.Number == agent.Number)
            {
                parts.Add(run);
                return true;
            }

            run.Dispose();
            Console.Error.WriteLine($"warning: what agent {agent.Label} handed in is not its part of this plan");
        }
        catch (RunStoreException e)
        {
            Console.Error.WriteLine(
                $"warning: what agent {agent.Label} handed in can't be read: {Masking.Shown(e.Message).Split('\n')[0]}");
        }

        return false;
    }
}

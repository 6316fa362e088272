using System.Collections.Concurrent;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Growth;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>Runs the phases of a prepared plan, as the run's settings have them.</summary>
internal sealed class PhaseExecution
{
    /// <summary>Of secondaries that don't catch up.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromMinutes(10);

    /// <summary>Seconds.</summary>
    private const double WorthTelling = 0.5;

    private readonly RunSession _session;
    private readonly Plan _plan;
    private readonly CancellationToken _stop;
    private readonly ConcurrentQueue<UntilWatch> _watches = new();

    /// <summary>It was said that there is nothing to wait for: the same holds before each phase.</summary>
    private bool _isNotTold;

    /// <param name="session">Begun.</param>
    /// <param name="store">The store of the run.</param>
    /// <param name="data">The plan's collections.</param>
    /// <param name="prepared">What was found there.</param>
    /// <param name="signals">Stop it.</param>
    public PhaseExecution(RunSession session, RunStore store, IDataStore data, PreparedData prepared, StopSignals signals)
    {
        (_session, _plan, _stop) =
            (session, session.Cluster is null ? WithoutShards(prepared.Plan, session.Log) : prepared.Plan, signals.Token);
        IAgentRole? agent = session.Request.Agent;
        Context = new RunContext(SystemClock.Instance, session.Executors.Open(prepared.Plan), data, store,
            session.Log.Progress, new PlanRunOptions
            {
                Seed = prepared.Seed,
                Repeat = store.Run.Repeat?.Number ?? store.Run.Try ?? 1,
                Share = agent?.Share ?? PlanShare.Whole,
                Meet = agent is null ? static (_, _) => new Meeting() : agent.Meet,
                VerifyShare = session.On.Deployment.Kind == DeploymentKind.Null || prepared.Foreign.Count > 0 ? 0
                    : session.Settings.Plan.VerifyShare,
                ReconnectFor = ReconnectTime.Read(),
                MaxErrors = session.Settings.Plan.MaxErrors,
                ReasonToStop = session.Guard.ReasonToStop,
                MeasureDisk = session.Guard.MeasureDisk,
                Watch = Watch,
                AwaitReplication = session.Settings.Plan.AwaitsReplication ? AwaitReplication : static _ => { },
                Restart = how => ServerRestarts.Run(session.On, session.Settings.Data.Database, how, session.Log),
            });
    }

    /// <summary>What the phases have come to.</summary>
    public RunContext Context { get; }

    /// <summary>Runs the phases that are left, until the last has ended or something stops them.</summary>
    /// <param name="before">What the run has stored already.</param>
    /// <returns>All of them are done.</returns>
    public bool Run(RunProgress before)
    {
        try
        {
            bool isDone = new PlanRunner(Context, before).Run(_plan, _session.Settings.Data.IsExisting, _stop);
            _session.NoteCollections(_plan);
            return isDone;
        }
        finally
        {
            // Also of what was interrupted: it was measured all the same.
            foreach (UntilWatch watch in _watches)
                Context.Report(watch.IsKnown ? RunEvent.UntilReached : RunEvent.UntilMissed, watch.Describe());
        }
    }

    /// <summary>What earlier phases wrote is applied by secondaries that share the machine, or that a phase reads from.</summary>
    private void AwaitReplication(CancellationToken stop)
    {
        (IDeployment deployment, Inspection inspection, _) = _session.On;
        using ReplicaSampler? replicas =
            _session.Request.System.OpenReplicas(deployment, inspection.Info, _session.On.Connections);
        long start = SystemClock.Instance.Now;
        bool isDone = replicas?.Await(LongestWait, stop) is true;
        if (replicas is not { IsTold: true })
        {
            if (!_isNotTold)
                _session.Log.Show("note: --await-replication has nothing to wait for: no replica set here tells this user its state");
            _isNotTold = true;
            return;
        }

        double seconds = SystemClock.Instance.SecondsBetween(start, SystemClock.Instance.Now);
        if (!isDone && !stop.IsCancellationRequested)
            Context.Report("replication", $"the secondaries had not caught up after {seconds:0.0} s; measuring anyway", seconds);
        else if (isDone && seconds >= WorthTelling)
            Context.Report("replication", $"waited {seconds:0.0} s until the secondaries had caught up", seconds);
    }

    /// <summary>Leaves out of a plan what only shards can do, and says so.</summary>
    private static Plan WithoutShards(Plan plan, RunLog log)
    {
        string[] placed = [.. plan.Collections.Where(c => c.Shard is not null).Select(c => c.Name)];
        if (placed.Length > 0)
            log.Show("note: the deployment is not sharded: "
                + $"{string.Join(", ", placed)} {(placed.Length == 1 ? "is" : "are")} on its only server");
        Plan without = plan.WithoutBalancer();
        string[] skipped = [.. plan.Phases.Select(p => p.Name).Except(without.Phases.Select(p => p.Name))];
        if (skipped.Length > 0)
            log.Show($"note: the deployment is not sharded, so there is nothing to balance; skipped: {string.Join(", ", skipped)}");
        return without;
    }

    private Func<IReadOnlyList<Sample>, bool> Watch(Until until, string group)
    {
        var watch = new UntilWatch(until, group);
        _watches.Enqueue(watch);
        return watch.Add;
    }
}

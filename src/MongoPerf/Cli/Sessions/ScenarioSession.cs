using MongoPerf.Deployments;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Execution.Scenarios;
using MongoPerf.Engine.Execution.Tyrant;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Reporting;
using MongoPerf.Scenarios;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Cli.Sessions;

/// <summary>Runs a scenario and reports it.</summary>
internal static class ScenarioSession
{
    /// <param name="request">Deployment, scenario, seed, output.</param>
    /// <param name="file">The scenario's.</param>
    /// <param name="signals">End it.</param>
    public static RunEnd Run(RunRequest request, ScenarioFile file, StopSignals signals)
    {
        ReadScenario read = request.Scenario!;
        ConnectionRoom.CheckClient(read.Scenario);
        RunFolder folder = RunFolder.Create(request.Output.RunsFolder);
        RunSession? session = null;
        IScenarioData? data = null;
        RunStore store;
        try
        {
            session = RunSession.Open(folder, request);
            data = OpenData(session, folder, read.Scenario);
            Check(session, data, read.Scenario);
            store = RunStore.Create(folder.Path, RunSession.DescribeRun(folder, request, request.Seed), request.Settings);
        }
        catch
        {
            // Refused before anything was changed: nothing of it stays.
            data?.Dispose();
            session?.Dispose();
            folder.Remove();
            throw;
        }

        using (store)
        using (session)
        using (data)
        {
            store.SetScenario(new ScenarioInfo
            {
                Name = file.Name, Description = read.Scenario.Description, Path = file.ShownPath, Text = file.Text, Overrides = read.Told, Set = read.Set,
                Scale = read.Scale, Parameters = read.Parameters, Figures = read.Figures, Tables = read.Tables,
            });
            session.Begin(store);
            foreach (string line in read.Told)
                session.Progress.Tell($"changed: {line}");
            foreach (string line in read.Set)
                session.Progress.Tell($"set by the deployment: {line}");
            string? stopReason = null;
            ScenarioOutcome outcome = RunStored(session, data, store, read.Scenario, signals, () => (stopReason ??= session.ReasonToStop()) is null);
            bool stopped = signals.WasStopped || stopReason is not null;
            store.SetState(stopped ? RunState.Interrupted : RunState.Finished, stopReason ?? (stopped ? "interrupted" : null), DateTimeOffset.UtcNow);
            store.Flush();
            ResultPrinter.Print(folder, request.Output);
            return new RunEnd(folder, Judge(outcome, signals, stopReason, request.Settings.MaxErrors));
        }
    }

    private static IScenarioData OpenData(RunSession session, RunFolder folder, Scenario scenario)
    {
        if (session.Deployment is not TyrantDeployment)
            return new WireScenarioData(session.OpenCollection, session.Request.Seed, folder.Id);
        TyrantScenarioData.Check(scenario);
        return session.OpenTable(folder.Id);
    }

    /// <summary>The engine of the series, on the system that the deployment is.</summary>
    private static PhaseRunner OpenPhases(RunSession session, Scenario scenario) => session.Deployment is TyrantDeployment
        ? session.TyrantPhases(TyrantScenarioData.ColumnsOf(scenario))
        : session.Phases;

    /// <summary>Everything that can be refused, before anything is changed.</summary>
    private static void Check(RunSession session, IScenarioData data, Scenario scenario)
    {
        StoredCollection[] collections = [.. scenario.Rounds.SelectMany(r => r.Collections).SelectMany(c => c.Stored).DistinctBy(c => c.Name)];
        string? drop = session.Request.ForceDrop;
        if (drop is not null && collections.All(c => $"{session.Settings.Database}.{c.Name}" != drop))
            throw new UserException(ExitCode.WrongUsage, $"--force-drop: '{drop}' is none of the scenario's collections, which are {string.Join(", ", collections.Select(c => $"{session.Settings.Database}.{c.Name}"))}");
        foreach (StoredCollection collection in collections)
            RequireOwn(data.Inspect(collection), session, $"{session.Settings.Database}.{collection.Name}", drop);
        RequireCommands(session.Connections.Dialect, scenario);
        session.RequireShards(collections);
        ConnectionRoom.CheckServer(scenario, data.ReadAvailableConnections());
        foreach (ScenarioRound round in scenario.Rounds)
            session.CheckDisk(round.Collections.Sum(c => c.Count), BytesPerDocument(round));
    }

    /// <summary>A mongod that routes knows some commands only.</summary>
    private static void RequireCommands(CommandDialect dialect, Scenario scenario)
    {
        if (ReferenceEquals(dialect, CommandDialect.Plain))
            return;
        IEnumerable<CollectionOperation> all = scenario.Rounds.SelectMany(r => r.Phases).Where(p => p.Creates is null).SelectMany(p => p.Groups).SelectMany(g => g.Operations).Select(o => o.Operation);
        foreach (CollectionOperation operation in all.Where(o => !o.IsForCluster).SelectMany(o => o.Steps))
        {
            string command = operation.ToCommand().Elements[0].Key;
            if (dialect.NameOf(command) == command)
                throw new UserException(ExitCode.WrongUsage, $"operation '{operation.Test}': the router here is a mongod, which does not route {command}", "it routes insert, find, update, delete and aggregate; a mongos routes all");
        }
    }

    private static long BytesPerDocument(ScenarioRound round)
    {
        long documents = round.Collections.Sum(c => c.Count);
        double bytes = round.Collections.Sum(c => (double)c.Count * c.BytesPerDocument);
        return documents == 0 ? 0 : (long)(bytes / documents);
    }

    private static void RequireOwn(CollectionState state, RunSession session, string ns, string? drop)
    {
        if (!state.Exists || drop == ns)
            return;
        // A Tokyo Tyrant server has one table, whatever the file and --db call it.
        (string name, string hint) = session.Deployment is TyrantDeployment
            ? ($"the table at {session.Deployment.Address}", $"start a server on another file, or --force-drop {ns} if all its records may really go")
            : (ns, $"take another --db, rename the collection in the file, or --force-drop {ns} if it may really go");
        if (state.Marker is null)
            throw new UserException(ExitCode.Refused, $"{name} was not made by MongoPerf: nothing is written into it and nothing dropped", hint);
        if (state.Marker.SchemaVersion != WireScenarioData.MarkerVersion)
            throw new UserException(ExitCode.Refused, $"{name} holds the {state.Marker.Documents:N0} documents of a series: a scenario would drop them", hint);
    }

    private static ScenarioOutcome RunStored(RunSession session, IScenarioData data, RunStore store, Scenario scenario, StopSignals signals, Func<bool> mayGoOn)
    {
        try
        {
            data.Stop = signals.Token;
            if (session.Cluster is null)
                scenario = WithoutShards(session, scenario);
            var tests = new TestRunner(RunSession.Clock, OpenPhases(session, scenario), store, session.Progress);
            return new ScenarioRunner(RunSession.Clock, tests, data, store, session.Progress, new ScenarioRunOptions
            {
                Seed = session.Request.Seed,
                VerifyShare = session.Settings.VerifyShare,
                ReconnectFor = RunSession.ReconnectFor,
                MayGoOn = mayGoOn,
                Restart = how => session.RestartServer(isCold: how == ServerRestart.Cold),
            }).Run(scenario, signals.Token);
        }
        catch (Exception e)
        {
            StoredFailure.Note(store, signals.WasStopped ? RunState.Interrupted : RunState.Failed, e);
            throw;
        }
        finally
        {
            session.Cluster?.Restore();
            session.End();
        }
    }

    /// <summary>What only shards can do is left out, and said.</summary>
    private static Scenario WithoutShards(RunSession session, Scenario scenario)
    {
        if (scenario.Rounds.SelectMany(r => r.Collections).Where(c => c.Shard is not null).Select(c => c.Name).Distinct().ToArray() is { Length: > 0 } placed)
            session.Progress.Tell($"note: no sharded deployment: {string.Join(", ", placed)} lie on the one server");
        Scenario without = scenario with { Rounds = [.. scenario.Rounds.Select(r => r.WithoutBalancer())] };
        string[] left = [.. without.Rounds.SelectMany(r => r.Phases).Select(p => p.Name)];
        if (scenario.Rounds.SelectMany(r => r.Phases).Select(p => p.Name).Except(left).ToArray() is { Length: > 0 } skipped)
            session.Progress.Tell($"note: no sharded deployment: nothing to balance, so left out: {string.Join(", ", skipped)}");
        return without;
    }

    /// <summary>The first of these that holds is the exit code.</summary>
    private static ExitCode Judge(ScenarioOutcome outcome, StopSignals signals, string? stopReason, long maxErrors)
    {
        if (stopReason is not null)
            Console.Error.WriteLine($"stopped: {stopReason}");
        foreach (string text in outcome.FailedAssertions)
            Console.Error.WriteLine($"assertion failed: {text}");
        return signals.WasStopped ? ExitCode.Interrupted
            : stopReason is not null ? ExitCode.Refused
            : outcome.Wrong > 0 || outcome.Missing > 0 ? ExitCode.VerificationFailed
            : outcome.Failed > maxErrors ? ExitCode.TooManyErrors
            : outcome.FailedAssertions.Count > 0 ? ExitCode.AssertionFailed
            : ExitCode.Done;
    }
}

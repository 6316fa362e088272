using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Failures;
using MongoPerf.Measurement;
using MongoPerf.Platforms;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Agents;

/// <summary>Takes one part of a plan from a coordinator, does it, and hands in what it measured.</summary>
public static class AgentSession
{
    /// <returns>For an agent that stays: how the last plan ended that did not end well.</returns>
    public static ExitCode Run(AgentRequest request)
    {
        string uri = new ConnectionSecrets(null, SecretPrompt.Ask).Complete(request.Coordinator);
        using var signals = new StopSignals();
        using var coordinator = new Coordinator(uri, signals.Token);
        ExitCode? code = null;
        while (true)
        {
            AgentClaim? claim = null;
            try
            {
                claim = AwaitPlan(request, coordinator, signals, out bool isAgain);
                if (claim is not null)
                    code = DoPart(request, coordinator, claim, isAgain, signals) is not ExitCode.Done and var own ? own
                        : code ?? ExitCode.Done;
            }
            catch (Exception e) when (request.Stays && !signals.WasStopped && (claim is not null || e is UserException))
            {
                code = FailureReport.Write(e, Console.Error);
                continue;
            }

            if (claim is null || !request.Stays)
                return code ?? throw NothingToDo(request, signals);
        }
    }

    private static ExitCode DoPart(AgentRequest request, Coordinator coordinator, AgentClaim claim, bool isAgain, StopSignals signals)
    {
        Console.Error.WriteLine(
            $"agent {request.Name} has part {claim.Part.Number} of {claim.Part.Count} of {Masking.Shown(claim.Settings.Plan.Name)}");
        string? why = "it failed";
        RunFolder? folder = null;
        bool isAway = false;
        try
        {
            using var role = new AgentRole(claim, coordinator, SystemClock.Instance);
            (folder, ExitCode code) = Do(request, claim, role, isAgain, signals);
            why = folder is null ? "it found no run to continue" : HandIn(coordinator, claim, folder);
            return code;
        }
        catch (Exception e) when (folder is not null && (isAway = ErrorTally.IsServerAway(e)))
        {
            throw new UserException(
                ExitCode.CannotConnect, Coordinator.AwayBecause(e), $"what was measured is in {folder.Path}; 'mongoperf merge' takes it");
        }
        catch (Exception e)
        {
            why = Masking.Shown(e.Message).Split('\n')[0];
            throw;
        }
        finally
        {
            if (!isAway)
                coordinator.End(claim, why);
        }
    }

    /// <returns>Null when none came in time, or when it was interrupted.</returns>
    private static AgentClaim? AwaitPlan(AgentRequest request, Coordinator coordinator, StopSignals signals, out bool isAgain)
    {
        long until = Environment.TickCount64 + (long)(request.WaitSeconds * 1000);
        for ((bool hasSaid, bool isTaken) = (false, false); ; hasSaid = true)
        {
            if (coordinator.TryClaim(request.Name, request.Number, out isAgain) is { } claim)
                return claim;
            if (signals.WasStopped || Environment.TickCount64 > until)
                return null;
            if (!hasSaid)
                Console.Error.WriteLine($"agent {request.Name} waits for a plan");
            if (coordinator.IsNameTaken && !isTaken)
                Console.Error.WriteLine($"another agent named {request.Name} already has a part of this plan; "
                    + $"names must be unique (--name). A killed agent can rejoin after {Coordinator.LostAfterSeconds:0} s");
            isTaken |= coordinator.IsNameTaken;
            signals.Token.WaitHandle.WaitOne(500);
        }
    }

    private static Exception NothingToDo(AgentRequest request, StopSignals signals) => signals.WasStopped
        ? new OperationCanceledException("interrupted before there was anything to do")
        : new UserException(
            ExitCode.CannotConnect,
            $"no plan was offered within {Units.Duration(TimeSpan.FromSeconds(request.WaitSeconds))}",
            "'series', 'run' and 'replay' offer one with --agents N --coordinator URI; --wait waits longer");

    private static (RunFolder?, ExitCode) Do(AgentRequest asked, AgentClaim claim, AgentRole role, bool isAgain, StopSignals signals)
    {
        RunRequest request = asked.ForPart(claim, role);
        using var engine = request.Engine as IDisposable;
        WritePermission.Require(request);
        RunFolder? begun = FindRun(asked.Output.RunsFolder, claim);
        if (claim.Settings.Plan.Recording is not null && (isAgain || begun is not null))
            throw new UserException(ExitCode.WrongUsage, "this part was begun before, and a replay can't be continued in its middle",
                "start the replay anew, with all of its agents");
        Rehearsal.Run(SystemClock.Instance, request.Plan.Plan);
        if (role.Meet(1, signals.Token).Reason is { } why)
            throw new UserException(ExitCode.CannotConnect, why);
        if (begun is null)
        {
            if (isAgain && role.Share.IsFirst)
                throw new UserException(
                    ExitCode.WrongUsage,
                    $"the run of part 1 is not in {Path.GetFullPath(asked.Output.RunsFolder)}, and without it the plan can't be continued",
                    "start this agent where it ran before, or with the same --out");
            RunEnd end = PlanSession.Start(request, signals);
            return (end.Folder, end.Code);
        }

        using (StoredRun stored = StoredRun.Open(begun.Path))
        {
            if (stored.Run.State == RunState.Finished)
                return (begun, ExitCode.Done);
        }

        return (begun, ResumeSession.Run(
            begun, stored => request with { CommandLine = stored.Run.CommandLine, RequiredKind = DeploymentKind.Given }, signals));
    }

    /// <summary>What this agent did of the plan before.</summary>
    private static RunFolder? FindRun(string runsFolder, AgentClaim claim)
    {
        foreach (RunListing listing in RunCatalogue.List(runsFolder).Where(listing => listing.Problem is null))
        {
            using StoredRun stored = StoredRun.Open(listing.Folder);
            if (stored.Run.Part is { } part && part.Group == claim.Plan && part.Number == claim.Part.Number)
                return RunFolder.Find(runsFolder, listing.Id);
        }

        return null;
    }

    /// <returns>Why it is not all of the part; null when it is.</returns>
    private static string? HandIn(Coordinator coordinator, AgentClaim claim, RunFolder folder)
    {
        string? why;
        using (StoredRun stored = StoredRun.Open(folder.Path))
            why = stored.Run.State == RunState.Finished ? null : stored.Run.StoppedBecause ?? stored.StateText;
        coordinator.Upload(claim, Path.Combine(folder.Path, "run.db"));
        return why;
    }
}

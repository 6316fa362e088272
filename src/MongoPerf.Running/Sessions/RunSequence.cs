using MongoPerf.Running.Progress;
using MongoPerf.Running.Secrets;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>How one run of several ended.</summary>
public sealed record RunEnd(RunFolder Folder, ExitCode Code);

/// <summary>Runs the same work on one deployment or several, once or repeatedly, and ends with what they come to.</summary>
public sealed class RunSequence
{
    private readonly IReadOnlyList<RunRequest> _deployments;
    private readonly int _repeats;
    private readonly Func<RunRequest, StopSignals, RunEnd> _start;
    private readonly List<RunFolder>[] _runs;
    private ExitCode _code = ExitCode.Done;

    private RunSequence(IReadOnlyList<RunRequest> deployments, int repeats, Func<RunRequest, StopSignals, RunEnd> start)
    {
        _deployments = deployments;
        _repeats = repeats;
        _start = start;
        _runs = [.. deployments.Select(_ => new List<RunFolder>())];
    }

    private int Count => _deployments.Count * _repeats;

    private OutputRequest Output => _deployments[0].Output;

    /// <param name="deployments">A request for each, alike but for where it goes.</param>
    /// <param name="repeats">Times on each.</param>
    /// <param name="start">Does one run.</param>
    public static ExitCode Run(IReadOnlyList<RunRequest> deployments, int repeats, Func<RunRequest, StopSignals, RunEnd> start)
    {
        // Before anything runs: somebody who is asked is there now, and Ctrl+C just ends the program.
        deployments = ConnectionSecrets.Complete(deployments);
        // Nobody is to wait for the first to learn that the last can't be.
        foreach (RunRequest deployment in deployments.Count > 1 || deployments[0].Plan.IsForMongoDbOnly ? deployments : [])
            PlannedRun.Check(deployment);
        // Held over the whole: Ctrl+C between two runs must not start the next one.
        using var signals = new StopSignals();
        deployments = RunRequest.WithLive(deployments);
        IReadOnlyList<RunRequest> ready = RequestedEngine.Open(deployments);
        return ready.Count == 1 && repeats == 1
            ? start(ready[0], signals).Code
            : new RunSequence(ready, repeats, start).Run(signals);
    }

    private ExitCode Run(StopSignals signals)
    {
        foreach ((int deployment, int number) in Order())
        {
            if (signals.WasStopped)
                return Stopped(ExitCode.Interrupted);
            RunEnd end = _start(RequestFor(deployment, number), signals);
            _runs[deployment].Add(end.Folder);
            if (!IsWhole(end.Code))
                return Stopped(end.Code);
            // The worst is said by the first that went wrong; the others are no less worth having.
            _code = _code == ExitCode.Done ? end.Code : _code;
            Print($"run {end.Folder.Id}, {_runs.Sum(runs => runs.Count)} of {Count}: "
                + $"{CommandText.OfPath(Output.WritesReport ? Path.Combine(end.Folder.ReportPath, "index.html") : end.Folder.Path)}");
            // The next one needs the room; nothing needs these.
            if (_repeats > 1 || _runs.Sum(runs => runs.Count) < Count)
                ServerData.Delete(end.Folder);
            else if (Left(end.Folder) is { } left)
                Print($"{Words.Of("left")}: {left}");
        }

        ExitCode compared = Output.Results.Compare([.. _runs.Select(runs => string.Join(',', runs.Select(folder => folder.Id)))], Output);
        return _code == ExitCode.Done ? compared : _code;
    }

    private static string? Left(RunFolder folder)
    {
        using StoredRun run = StoredRun.Open(folder.Path);
        return ServerData.Describe(run, folder);
    }

    /// <summary>A B, then B A, then A B …: what drifts with time meets both alike.</summary>
    private IEnumerable<(int Deployment, int Number)> Order()
    {
        for (int number = 1; number <= _repeats; number++)
        {
            IEnumerable<int> deployments = Enumerable.Range(0, _deployments.Count);
            foreach (int deployment in number % 2 == 1 ? deployments : deployments.Reverse())
                yield return (deployment, number);
        }
    }

    private RunRequest RequestFor(int deployment, int number) => _deployments[deployment] with
    {
        Repeat = _repeats == 1 ? null : new RepeatRequest(_runs[deployment].FirstOrDefault()?.Id, number, _repeats),
        Place = new RunPlace(_runs.Sum(runs => runs.Count) + 1, Count),
        Predecessors = [.. _runs.SelectMany(runs => runs).Select(folder => folder.Id)],
        Output = _deployments[deployment].Output with { PrintsResult = false },
    };

    /// <summary>It reached its end, whatever it found: what it measured can be compared.</summary>
    public static bool IsWhole(ExitCode code) =>
        code is ExitCode.Done or ExitCode.TooManyErrors or ExitCode.VerificationFailed or ExitCode.RepliesDiffer
            or ExitCode.AssertionFailed;

    private ExitCode Stopped(ExitCode code)
    {
        int begun = _runs.Sum(runs => runs.Count);
        string ids =
            string.Join(" ", _runs.Where(runs => runs.Count > 0).Select(runs => string.Join(',', runs.Select(folder => folder.Id))))
            + _runs.SelectMany(runs => runs).FirstOrDefault()?.OutText;
        Console.Error.WriteLine(begun < Count
            ? $"{Count - begun} of {Count} runs not started"
                + (begun > 1 ? $"; compare the others with '{CommandText.Program} compare {ids}'" : "")
            : $"nothing compared; resume the last run, then '{CommandText.Program} compare {ids}'");
        return code;
    }

    private void Print(string line)
    {
        if (!Output.Quiet)
            Console.Error.WriteLine(line);
    }
}

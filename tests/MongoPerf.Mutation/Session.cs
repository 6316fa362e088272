using System.Collections.Concurrent;
using System.Globalization;
using System.IO.Enumeration;

namespace MongoPerf.Mutation;

/// <summary>What became of a mutant.</summary>
/// <param name="Id">Its number in the run.</param>
/// <param name="Mutation">The change.</param>
/// <param name="Status">killed, timeout, crash, survived or "not covered".</param>
/// <param name="Test">The test that noticed.</param>
/// <param name="Covering">How many tests reach it, and how many of them were tried.</param>
/// <param name="Tried">How many of those were to be tried.</param>
/// <param name="Tests">The first of them.</param>
internal sealed record Result(int Id, Mutation Mutation, string Status, string? Test, int Covering, int Tried, IReadOnlyList<string> Tests)
{
    public bool IsKilled => Status is "killed" or "timeout" or "crash";
}

/// <summary>Runs the tests: once each, to find what they reach, then for each mutant those that reach it.</summary>
internal sealed class Session : IDisposable
{
    private readonly IReadOnlyDictionary<int, Mutation> _mutants;
    private readonly TimeSpan _cap;
    private readonly List<WorkerProcess> _workers;
    private readonly ConcurrentDictionary<string, (TimeSpan Processor, TimeSpan Elapsed)> _times = [];
    private readonly ConcurrentDictionary<int, ConcurrentBag<string>> _covering = [];
    private readonly ConcurrentDictionary<string, int> _again = [];
    private readonly ConcurrentDictionary<(string File, string Unit), int> _kills = [];

    public Session(
        string folder, string project, IReadOnlyDictionary<int, Mutation> mutants, IReadOnlyDictionary<string, string> environment,
        int workers, TimeSpan cap)
    {
        _mutants = mutants;
        _cap = cap;
        _workers = [.. Enumerable.Range(0, workers).Select(_ => new WorkerProcess(folder, project, mutants.Count, environment))];
    }

    /// <summary>Tests that don't pass without a mutant, with what became of them.</summary>
    public ConcurrentBag<string> LeftOut { get; } = [];

    /// <summary>How often a mutant was tried once more, in a new process, and why.</summary>
    public string Again => string.Join(", ", _again.OrderBy(a => a.Key).Select(a => $"{a.Value} {a.Key}"));

    /// <summary>What the workers have used of processors so far.</summary>
    public TimeSpan Used => new(_workers.Sum(w => w.Used.Ticks));

    /// <summary>How many tests pass without a mutant.</summary>
    public int Passed => _times.Count;

    public void Dispose()
    {
        foreach (WorkerProcess worker in _workers) worker.Dispose();
    }

    /// <summary>Finds which tests reach which mutants. Tests of the sources' text (those of no folder) are left out.</summary>
    public async Task Cover(string? pattern)
    {
        bool IsMeant(string unit) => pattern is null || pattern.Split(',').Any(one =>
            FileSystemName.MatchesSimpleExpression($"*{one}", unit) || FileSystemName.MatchesSimpleExpression($"*{one}.*", unit));
        List<string> units = [.. (await _workers[0].List()).Where(u => u.Count(c => c == '.') > 3 && IsMeant(u))];
        Console.WriteLine($"{units.Count} tests");
        // A class at a time: what its tests share is compiled once.
        ConcurrentQueue<string[]> queue = new(units.GroupBy(u => u[..u.LastIndexOf('.')]).Select(g => g.ToArray()));
        await Each(async worker =>
        {
            while (queue.TryDequeue(out string[]? group))
            {
                foreach (string unit in group) Note(unit, await worker.Cover(unit, TimeSpan.FromMinutes(5)));
            }
        });
        double took = _times.Values.Sum(t => t.Processor.TotalSeconds);
        Console.WriteLine($"{_times.Count} pass, in {took:F0} s of processors; {LeftOut.Count} are left out");
        var classes = from time in _times
            group time.Value.Processor.TotalSeconds by time.Key[..time.Key.LastIndexOf('.')] into one
            let seconds = one.Sum()
            orderby seconds descending
            select $"{seconds,6:F1} s {one.Key}";
        foreach (string line in classes.Take(20)) Console.WriteLine(line);
    }

    /// <summary>Tries mutants.</summary>
    public async Task<List<Result>> Run(Room room, IReadOnlyCollection<int> mutants)
    {
        ConcurrentQueue<int> queue = new(mutants);
        ConcurrentBag<Result> results = [];
        await Each(async worker =>
        {
            while (queue.TryDequeue(out int mutant))
            {
                results.Add(await Try(worker, mutant, room));
                if (results.Count % 50 == 0) Console.WriteLine($"{room.Name}: {results.Count} of {mutants.Count}");
            }
        });
        return [.. results.OrderBy(r => r.Mutation.File, StringComparer.Ordinal).ThenBy(r => r.Mutation.Line).ThenBy(r => r.Id)];
    }

    private void Note(string unit, string? line)
    {
        string[] parts = line?.Split('\t') ?? ["did not end"];
        if (parts[0] != "Passed")
        {
            LeftOut.Add($"{unit}: {parts[0].ToLowerInvariant()}");
            return;
        }
        TimeSpan Milliseconds(string text) => TimeSpan.FromMilliseconds(double.Parse(text, CultureInfo.InvariantCulture));
        _times[unit] = (Milliseconds(parts[1]), Milliseconds(parts[2]));
        foreach (string id in parts[3].Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            _covering.GetOrAdd(int.Parse(id, CultureInfo.InvariantCulture), _ => []).Add(unit);
        }
    }

    private Task Each(Func<WorkerProcess, Task> work) => Task.WhenAll(_workers.Select(w => Task.Run(() => work(w))));

    private async Task<Result> Try(WorkerProcess worker, int mutant, Room room)
    {
        Mutation mutation = _mutants[mutant];
        List<string> covering = [.. (_covering.GetValueOrDefault(mutant) ?? []).Order(StringComparer.Ordinal)];
        // The quickest first, and of those that are as quick the room's own, until the cap is reached.
        string own = $"MongoPerf.Tests.{room.Name}.";
        double Cost(string unit) =>
            Math.Max(_times[unit].Processor.TotalSeconds, 0.002) / (unit.StartsWith(own, StringComparison.Ordinal) ? 4 : 1);
        TimeSpan sum = TimeSpan.Zero;
        List<string> units = [.. covering.OrderBy(Cost).TakeWhile(u => (sum += _times[u].Processor) <= _cap || sum == _times[u].Processor)];
        List<string> order = [.. units.OrderBy(u => Cost(u) / (1 + 10 * _kills.GetValueOrDefault((mutation.File, u))))];
        Result Ended(string status, string? test = null)
        {
            if (test is not null) _kills.AddOrUpdate((mutation.File, test), 1, (_, n) => n + 1);
            return new(mutant, mutation, status, test, covering.Count, units.Count, [.. units.Take(5)]);
        }

        if (units.Count == 0) return Ended("not covered");
        string? suspect = null;
        while (order.Count > 0)
        {
            bool wasFresh = worker.IsFresh;
            (string verdict, string? unit) = await worker.Run(mutant, fresh: false, order, u => _times[u]);
            switch (verdict)
            {
                case "killed":
                    return Ended("killed", unit);
                case "survived" when covering.Count > 1:
                    return Ended("survived");
                case "survived" or "unreached":
                    _again.AddOrUpdate(verdict, 1, (_, n) => n + 1);
                    return await Alone(worker, mutant, Near(mutation.File)) is var (status, test) ? Ended(status, test) : Ended("survived");
                default:
                    _again.AddOrUpdate(verdict, 1, (_, n) => n + 1);
                    // What earlier mutants left in the process may be the cause: once more in a new one, and only there it counts.
                    worker.End();
                    if (unit is null) return Ended(verdict);
                    if (unit == suspect && wasFresh)
                    {
                        if (verdict != "broken") return Ended(verdict, unit);
                        order.Remove(unit);
                        break;
                    }
                    suspect = unit;
                    order.Remove(unit);
                    order.Insert(0, unit);
                    break;
            }
        }
        return Ended("survived");
    }

    /// <summary>
    /// The quickest tests that reach a file's folder, until the cap is reached: what is done once per process was reached by whichever
    /// test came first, and may be noticed by others.
    /// </summary>
    private List<string> Near(string file)
    {
        string? folder = Path.GetDirectoryName(file);
        TimeSpan sum = TimeSpan.Zero;
        return [.. _covering.Where(c => Path.GetDirectoryName(_mutants[c.Key].File) == folder).SelectMany(c => c.Value).Distinct()
            .OrderBy(u => _times[u].Processor).TakeWhile(u => (sum += _times[u].Processor) <= _cap)];
    }

    /// <summary>Tries a mutant of what is done once per process, in a process of its own.</summary>
    private async Task<(string Status, string? Test)?> Alone(WorkerProcess worker, int mutant, List<string> order)
    {
        worker.End();
        (string verdict, string? unit) = await worker.Run(mutant, fresh: true, order, u => _times[u]);
        worker.End();
        if (verdict is "timeout" or "crash") return (verdict, unit);
        if (verdict != "killed") return null;
        string? without = await worker.Cover(unit!, TimeSpan.FromMinutes(5));
        return without?.StartsWith("Passed", StringComparison.Ordinal) == true ? ("killed", unit) : null;
    }
}

using MongoPerf.Cli.Experiments;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Cli;

/// <summary>What <c>run</c> knows by name: the eight tests, then the experiments.</summary>
internal static class RunJobs
{
    public static IReadOnlyList<IRunJob> All { get; } = [.. SeriesTests.All.Select(name => new BuiltInTest(name)), .. ExperimentCatalogue.All];

    /// <exception cref="UserException">No such name; names the nearest.</exception>
    public static IRunJob Find(string name)
    {
        if (All.FirstOrDefault(job => job.Name == name) is { } found)
            return found;
        IReadOnlyList<string> known = [.. All.Select(job => job.Name)];
        string? nearest = NearestName.Find(name, known);
        throw new UserException(
            ExitCode.WrongUsage, $"run: '{name}' is none of {string.Join(", ", known)}" + (nearest is null ? "" : $" (did you mean '{nearest}'?)"));
    }
}

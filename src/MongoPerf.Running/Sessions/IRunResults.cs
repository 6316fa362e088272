using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>Shows what runs measured: running ends where reports begin.</summary>
public interface IRunResults
{
    /// <summary>Writes a run's report and prints its results, as far as its output asks for them.</summary>
    /// <exception cref="UserException">One of them can't be written.</exception>
    void Show(RunFolder folder, OutputRequest output);

    /// <summary>What to type next.</summary>
    string Next(StoredRun run, RunFolder folder);

    /// <summary>Assertions of the file that do not hold, with their phases.</summary>
    IReadOnlyList<string> FailedAssertions(StoredRun run);

    /// <summary>Compares the runs of one command.</summary>
    /// <param name="runs">The ids of the runs of each deployment, with commas.</param>
    /// <param name="output">Where the comparison goes.</param>
    ExitCode Compare(IReadOnlyList<string> runs, OutputRequest output);

    /// <summary>Prints what a search for the highest rate came to.</summary>
    void Show(RateSearchResult found, OutputRequest output);
}

using MongoPerf.Measurement;
using MongoPerf.Running.Merging;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>Makes a run of several clients' runs, and reports it.</summary>
public static class MergeSession
{
    /// <param name="parts">The parts, at least one.</param>
    /// <param name="missing">Names of clients that left no run; known where somebody started them.</param>
    /// <param name="commandLine">The command line as typed, secrets masked.</param>
    /// <param name="output">Where the run goes.</param>
    /// <param name="files">Where the plan finds files.</param>
    /// <param name="note">Kept with the run; null for none.</param>
    /// <exception cref="UserException">The runs are not of one plan.</exception>
    public static ExitCode Merge(IReadOnlyList<StoredRun> parts, IReadOnlyList<string> missing, string commandLine, OutputRequest output,
        FilesFolder files, (string Name, string Value)? note = null)
    {
        if (MergeCheck.FindFault(parts) is { } fault)
            throw new UserException(ExitCode.WrongUsage, fault, "merge takes the runs that several clients made of one plan at the same "
                + "time; 'compare' sets different runs against each other");
        StoredRun[] ordered = [.. parts.OrderBy(part => part.Run.Part?.Number ?? 0)];
        string[] absent = [.. missing, .. Absent(ordered, missing.Count)];
        // A recording makes no assertions.
        var merger = new RunMerger(ordered, absent, ordered[0].Settings.Plan.Recording is not null ? null
            : StoredPlan.Read(ordered[0].Settings, ordered[0].Run.Seed, files).Plan);
        RunFolder folder = RunFolder.Create(output.RunsFolder);
        try
        {
            using RunStore store = RunStore.Create(folder.Path, merger.Head(folder.Id, commandLine), ordered[0].Settings);
            if (note is { } kept)
                store.SetNote(kept.Name, kept.Value);
            merger.Write(store);
        }
        catch (Exception e) when (e is HistogramFormatException or RunStoreException)
        {
            folder.Remove();
            throw e is RunStoreException ? e : new UserException(ExitCode.WrongUsage, $"a histogram of the runs can't be read: {e.Message}",
                "one of them is damaged; merge the others");
        }

        output.Results.Show(folder, output);
        return Judge(folder, merger);
    }

    private static ExitCode Judge(RunFolder folder, RunMerger merger)
    {
        using StoredRun merged = StoredRun.Open(folder.Path);
        if (merged.Run.StoppedBecause is { } why)
            Console.Error.WriteLine($"run {folder.Id} is {why}");
        foreach (string text in merger.FailedAssertions)
            Console.Error.WriteLine(text);
        return PlanOutcome.Judge(merged);
    }

    /// <summary>Parts of a divided plan that nobody brought.</summary>
    private static IEnumerable<string> Absent(StoredRun[] parts, int known) => parts[0].Run.Part is not { } part || known > 0
        ? []
        : Enumerable.Range(1, part.Count).Except(parts.Select(one => one.Run.Part!.Number)).Select(number => $"part {number}");
}

using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Cli.Experiments;

/// <summary>The same operations by more and more threads, those that are to be compared one after the other.</summary>
/// <param name="name">As typed after <c>run</c>.</param>
/// <param name="summary">One line.</param>
/// <param name="defaults">Threads, seconds and documents.</param>
/// <param name="needsDocuments">It queries.</param>
/// <param name="operations">What each number of threads does, each with a test's name of its own.</param>
internal sealed class ThreadsExperiment(
    string name, string summary, RunDefaults defaults, bool needsDocuments, Func<SeriesSettings, IReadOnlyList<OperationSpecification>> operations) : IRunJob
{
    public string Name => name;

    public string Summary => summary;

    public RunDefaults Defaults => defaults;

    public bool NeedsDocuments => needsDocuments;

    public void Check(RunRequest request, SingleTestLimits limits)
    {
        if (request.Settings.Rate is not null)
            throw new UserException(ExitCode.WrongUsage, $"--rate: {name} looks for what threads can do at most, so each goes as fast as it can");
        if (name == ExperimentTests.Journal && request.Settings.Journal)
            throw new UserException(ExitCode.WrongUsage, "--journal: this experiment runs with and without it by itself");
    }

    public void Run(TestBench bench)
    {
        foreach (int threads in bench.Settings.Threads)
        {
            foreach (OperationSpecification operation in operations(bench.Settings))
            {
                if (bench.WasStopped || bench.Code != ExitCode.Done)
                    break;
                if (operation is InsertSpecification insert)
                    bench.Insert(insert, threads);
                else
                    bench.Query((FindSpecification)operation, threads);
            }
        }

        bench.Complete();
    }
}

using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Cli.Experiments;

/// <summary>The experiments that <c>run</c> knows, each with sizes that take a minute or so on two cores.</summary>
internal static class ExperimentCatalogue
{
    public static IReadOnlyList<IRunJob> All { get; } =
    [
        new RestartExperiment(),
        new ThreadsExperiment(
            ExperimentTests.InsertThreads, "acknowledged inserts by 1, 2, 4, 8 and 16 threads", new RunDefaults([1, 2, 4, 8, 16], 6, 20_000), needsDocuments: false,
            settings => [ExperimentTests.SingleInsert(ExperimentTests.Insert, settings.Journal)]),
        new ThreadsExperiment(
            ExperimentTests.Journal, "inserts that wait for the journal (j:true) beside such that do not (w:1)", new RunDefaults([1, 2, 4, 8], 5, 20_000), needsDocuments: false,
            _ => [ExperimentTests.SingleInsert(ExperimentTests.Written, false), ExperimentTests.SingleInsert(ExperimentTests.Journaled, true)]),
        new ThreadsExperiment(
            ExperimentTests.Sort, "a sort by _id beside a sort by another field", new RunDefaults([1, 2, 4, 8], 5, 100_000), needsDocuments: true,
            _ => [ExperimentTests.SortQuery(ExperimentTests.SortById), ExperimentTests.SortQuery(ExperimentTests.SortByNumber)]),
    ];
}

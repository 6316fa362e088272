using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Reporting;

namespace MongoPerf.Cli.Sessions;

/// <summary>One of the eight tests of the series, alone.</summary>
/// <param name="name">unack, batch, safe, q4 to q7 or size.</param>
internal sealed class BuiltInTest(string name) : IRunJob
{
    public string Name => name;

    public string Summary { get; } = ReportTables.TitleOf(name);

    public RunDefaults Defaults { get; } = new([SeriesTests.IsInsert(name) ? 1 : 8], 10);

    public bool NeedsDocuments => !SeriesTests.IsInsert(name);

    public void Check(RunRequest request, SingleTestLimits limits)
    {
        if (SeriesTests.IsInsert(name) && request.Settings.Rate is not null)
            throw new UserException(ExitCode.WrongUsage, $"--rate is for the query tests, '{name}' inserts as fast as it can");
    }

    public void Run(TestBench bench)
    {
        if (name == SeriesTests.Size)
            bench.Measure();
        else if (SeriesTests.IsInsert(name))
            Insert(bench);
        else
            Query(bench);
        bench.Complete();
    }

    private void Insert(TestBench bench)
    {
        foreach (int threads in bench.Settings.Threads)
        {
            bench.Insert(SeriesTests.Insert(name, bench.Settings.BatchSize, bench.Settings.Journal, bench.Settings.OrderedBatches), threads);
            if (bench.WasStopped || bench.Code != ExitCode.Done)
                return;
        }
    }

    private void Query(TestBench bench)
    {
        foreach (int threads in bench.Settings.Threads)
        {
            bench.Query(SeriesTests.Find(name, DocumentGenerator.ValueRange), threads);
            if (bench.WasStopped)
                return;
        }
    }
}

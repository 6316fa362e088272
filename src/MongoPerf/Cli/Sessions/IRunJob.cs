namespace MongoPerf.Cli.Sessions;

/// <summary>What <c>run NAME</c> does on a collection that is there: one of the eight tests, or an experiment.</summary>
internal interface IRunJob
{
    /// <summary>As typed after <c>run</c>.</summary>
    string Name { get; }

    /// <summary>One line for lists and <c>--help</c>.</summary>
    string Summary { get; }

    /// <summary>What holds when nothing else is asked for.</summary>
    RunDefaults Defaults { get; }

    /// <summary>It can't run on an empty collection.</summary>
    bool NeedsDocuments { get; }

    /// <summary>Refuses options that would have no effect, before anything is started.</summary>
    /// <exception cref="UserException">They are named.</exception>
    void Check(RunRequest request, SingleTestLimits limits);

    /// <summary>Does it; results go into the store of the bench.</summary>
    void Run(TestBench bench);
}

/// <param name="Threads">Each gives results of its own.</param>
/// <param name="Seconds">Of one measurement, warm-up included.</param>
/// <param name="Records">Documents to load first when the collection has fewer; null loads none.</param>
internal sealed record RunDefaults(IReadOnlyList<int> Threads, double Seconds, long? Records = null);

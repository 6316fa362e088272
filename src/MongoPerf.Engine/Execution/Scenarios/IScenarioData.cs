using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads.Scenarios;

namespace MongoPerf.Engine.Execution.Scenarios;

/// <summary>The collections of a scenario, seen from the side that prepares and checks them; nothing here is measured.</summary>
/// <remarks>One thread.</remarks>
public interface IScenarioData : IDisposable
{
    /// <summary>Once this is cancelled, a failure is thrown at once instead of trying again.</summary>
    CancellationToken Stop { get; set; }

    /// <summary>What is there now.</summary>
    CollectionState Inspect(StoredCollection collection);

    /// <summary>Makes the collection anew: empty, with its indexes and MongoPerf's marker. What was there is dropped; the caller vouches for that.</summary>
    void Create(ScenarioCollection collection);

    /// <summary>Documents that are there.</summary>
    long Count(ScenarioCollection collection);

    /// <summary>Notes beside the collection how many documents were loaded.</summary>
    void SetLoaded(ScenarioCollection collection, long documents);

    SizeResult ReadSizes(ScenarioCollection collection, long documents);

    /// <summary>Connections that the server takes beside those it has; null when it does not say.</summary>
    long? ReadAvailableConnections();
}

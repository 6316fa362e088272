using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>Hears how a run goes, for whoever watches it. Called from the engine's threads; must return quickly and never throw.</summary>
public interface IRunObserver
{
    /// <param name="phase">The phase as it begins: without results.</param>
    /// <param name="operations">Names of what is measured.</param>
    void OnPhaseStarted(PhaseRecord phase, IReadOnlyList<string> operations);

    /// <summary>Every second, for each operation.</summary>
    void OnSample(Sample sample);

    void OnPhaseFinished(PhaseRecord phase);

    /// <summary>All phases of one size of a growth are over, and it is durable.</summary>
    void OnStepFinished(GrowthStep step);

    /// <summary>Something that belongs into the log: an outage, a repair, a resumed run.</summary>
    void OnEvent(RunEvent happened);
}

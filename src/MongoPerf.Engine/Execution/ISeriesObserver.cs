using MongoPerf.Engine.Runs;

namespace MongoPerf.Engine.Execution;

/// <summary>Hears how a series goes, for whoever watches it. Called from the engine's threads; must return quickly and never throw.</summary>
public interface ISeriesObserver
{
    void OnTestStarted(TestProgress test);

    /// <summary>Every second of a test.</summary>
    void OnSample(PhaseSample sample);

    void OnTestFinished(int step, TestResult result);

    void OnStepFinished(StepResult step);

    /// <summary>Something that belongs into the log: an outage, a repair, a resumed run.</summary>
    void OnEvent(RunEvent happened);
}

/// <param name="Step">1-based.</param>
/// <param name="Test">Its name.</param>
/// <param name="Threads">Of it.</param>
/// <param name="Documents">In the collection now.</param>
/// <param name="Range">What an insert test is about to write; null for a query.</param>
public sealed record TestProgress(int Step, string Test, int Threads, long Documents, NumberRange? Range);

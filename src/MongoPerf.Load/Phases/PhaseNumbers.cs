using MongoPerf.Load.Plans;

namespace MongoPerf.Load.Phases;

/// <summary>Numbers of phase records by their place in the plan, so that a resumed run stores under the same.</summary>
/// <param name="first">The number of the phase's first record, 1-based.</param>
/// <param name="phase">The phase of the plan.</param>
internal sealed class PhaseNumbers(int first, Phase phase)
{
    public int First => first;

    public bool IsOfGrowth => phase.Growth is not null;

    /// <summary>How many records the phase has.</summary>
    public int Count => phase.Growth is { } growth ? growth.Sizes.Count * PerStep(growth) : 1;

    /// <summary>One beyond the last.</summary>
    public int End => first + Count;

    private static int PerStep(GrowthPlan growth) => (growth.Writes.Count * growth.Collections.Count) + growth.Each.Count;

    /// <param name="step">1-based.</param>
    /// <param name="write">0-based, of the growth's.</param>
    /// <param name="collection">0-based, of the growth's.</param>
    public int OfWrite(int step, int write, int collection) => FirstOf(step) + (collection * phase.Growth!.Writes.Count) + write;

    /// <param name="step">1-based.</param>
    /// <param name="place">0-based, among the phases that run at each size.</param>
    public int OfEach(int step, int place) => LastOf(step) + 1 - phase.Growth!.Each.Count + place;

    public int LastOf(int step) => FirstOf(step + 1) - 1;

    private int FirstOf(int step) => first + ((step - 1) * PerStep(phase.Growth!));
}

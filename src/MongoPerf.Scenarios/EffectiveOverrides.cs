using System.Globalization;
using System.Text;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Scenarios;

/// <summary>Tells what the command line changed from what it only repeated: --duration 4s changes nothing where the file says 4s.</summary>
public static class EffectiveOverrides
{
    /// <param name="overrides">The overrides as typed.</param>
    /// <param name="read">Reads the file with others.</param>
    /// <returns>The same without those that change nothing.</returns>
    /// <exception cref="UserException">The file can't be read.</exception>
    public static PlanOverrides Of(PlanOverrides overrides, Func<PlanOverrides, ReadPlan> read)
    {
        string meant = Describe(read(overrides));
        PlanOverrides left = overrides;
        foreach (PlanOption option in PlanOptions.All)
            Without(option.ValueIn(left), o => option.With(o, null));
        foreach (string name in overrides.Parameters.Keys)
            Without(name, o => o with { Parameters = o.Parameters.Where(p => p.Key != name).ToDictionary() });
        return left;

        void Without(object? given, Func<PlanOverrides, PlanOverrides> without)
        {
            if (given is not null && without(left) is var fewer && IsSame(fewer))
                left = fewer;
        }

        bool IsSame(PlanOverrides others)
        {
            try
            {
                return Describe(read(others)) == meant;
            }
            catch (UserException)
            {
                // The file is valid only with it.
                return false;
            }
        }
    }

    /// <summary>All that options and parameters can change.</summary>
    private static string Describe(ReadPlan read)
    {
        var text = new StringBuilder();
        foreach (ParameterValue parameter in read.Parameters)
            Add($"parameter {parameter.Name} = {parameter.Value}");
        foreach (PlanRound round in read.Plan.Rounds)
        {
            foreach (PlanCollection collection in round.Collections)
                Add($"collection {collection.Name}: {collection.Count}");
            foreach (Phase phase in round.Phases)
                AddPhase(phase);
        }

        return text.ToString();

        void AddPhase(Phase phase)
        {
            Add($"phase {phase.Name} {string.Join(", ", phase.Parameters)}");
            foreach (PhaseGroup group in phase.Groups)
                AddGroup(group);
            if (phase.Growth is not { } growth)
                return;
            Add($"sizes {string.Join(", ", growth.Sizes)}");
            foreach (GrowthWrite write in growth.Writes)
            {
                Add($"write {write.Name}: {write.Share}");
                foreach (PhaseGroup group in write.Groups.Values)
                    AddGroup(group);
            }

            foreach (PhaseGroup group in growth.Beside)
                AddGroup(group);
            foreach (Phase each in growth.Each)
                AddPhase(each);
        }

        void AddGroup(PhaseGroup group)
        {
            Add($"group {group.Name}: {group.Threads} [{string.Join(", ", group.ThreadSteps)}]");
            Add($"lasts {group.Seconds} s, {group.WarmupSeconds} s, {group.Count}, {group.Until?.Text}");
            Add($"rate [{string.Join(", ", group.Rate?.Pieces ?? [])}] {group.Rate?.IsPoisson}, {group.Think}");
            foreach (WeightedOperation operation in group.Operations)
                Add($"operation {operation.Operation.Name}: {operation.Weight}");
        }

        void Add(FormattableString line) => text.AppendLine(line.ToString(CultureInfo.InvariantCulture));
    }
}

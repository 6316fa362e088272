using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Takes the phases that the command line names out of a plan.</summary>
internal static class PhaseSelection
{
    /// <param name="round">The round of the file, with what the command line puts in place of its values.</param>
    /// <param name="overrides">The overrides of the command line.</param>
    /// <param name="scale">What <c>--scale</c> multiplies counts by.</param>
    public static PlanRound Of(PlanRound round, PlanOverrides overrides, CountScale scale)
    {
        if (overrides.Phases.Count == 0)
            return round;
        bool Is(Phase phase) => overrides.Phases.Contains(phase.Name);
        IEnumerable<Phase> phases = overrides.IsAlone
            ? round.Phases.SelectMany(phase => phase.Growth is { } growth ? Alone(growth, overrides, scale) : Is(phase) ? [phase] : [])
            : round.Phases.Select(phase => phase.Growth is { } growth ? phase with { Growth = Of(growth, overrides.Phases) } : phase)
                .Where(phase => phase.Growth is not null || Is(phase));
        if (!overrides.IsAlone)
            return round with { Phases = [.. phases] };
        Phase[] alone = [.. phases];
        IReadOnlyList<PlanCollection> collections = overrides.Records is { } records
            ? [.. round.Collections.Select(c => c.IsGrown ? c with { Count = records } : c)]
            : round.Collections;
        return new PlanRound(collections, alone.Length > 0 && overrides.Records is not null ? [.. LoadsOf(round), .. alone] : alone);
    }

    /// <summary>
    /// The growth with these of its phases and writes. The share of a write that is left out goes to one that writes in batches,
    /// unmeasured if need be.
    /// </summary>
    private static GrowthPlan Of(GrowthPlan growth, IReadOnlyList<string> names)
    {
        GrowthWrite[] chosen = [.. growth.Writes.Where(write => names.Contains(write.Name))];
        double rest = growth.Writes.Except(chosen).Sum(write => write.Share);
        GrowthWrite batches =
            growth.Writes.MaxBy(write => write.Groups.Values.Max(group => group.Operations[0].Operation.DocumentsPerCommand))!;
        IEnumerable<GrowthWrite> writes = growth.Writes.Where(write => chosen.Contains(write) || (rest > 0 && write == batches))
            .Select(write => write != batches ? write
                : write with { Share = chosen.Contains(write) ? write.Share + rest : rest, IsMeasured = chosen.Contains(write) });
        return growth with { Writes = [.. writes], Each = [.. growth.Each.Where(phase => names.Contains(phase.Name))] };
    }

    /// <summary>A growth's phases without the growth; a way of writing adds documents to what is there.</summary>
    private static IEnumerable<Phase> Alone(GrowthPlan growth, PlanOverrides overrides, CountScale scale)
    {
        foreach (GrowthWrite write in growth.Writes.Where(write => overrides.Phases.Contains(write.Name)))
        {
            foreach ((ScenarioNode node, var swept) in RoundReader.Swept(new OverrideReader(overrides).Phase()))
            {
                var reader = new MappingReader(node, $"phase '{write.Name}'", ScenarioLanguage.Phase);
                yield return new Phase
                {
                    Name = write.Name,
                    Description = write.Description,
                    Parameters = swept,
                    Groups = [PhaseReader.Measured(reader, write.Name, scale, write.Groups.Values.First().Operations)],
                };
            }
        }

        foreach (Phase phase in growth.Each.Where(phase => overrides.Phases.Contains(phase.Name)))
            yield return phase;
    }

    private static IEnumerable<Phase> LoadsOf(PlanRound round) => round.Phases.Select(phase => phase.Growth).OfType<GrowthPlan>()
        .SelectMany(growth => growth.Collections.Select(grown => LoadOf(growth, grown.Name)));

    /// <summary>Makes the load of a growth, by the largest batches that the growth writes.</summary>
    private static Phase LoadOf(GrowthPlan growth, string collection)
    {
        PhaseGroup group = growth.Writes.Select(write => write.Groups[collection])
            .MaxBy(group => group.Operations[0].Operation.DocumentsPerCommand)!;
        return new Phase
        {
            Name = PhaseReader.LoadName(collection),
            Loads = collection,
            Groups = [group with
            {
                Threads = 1, Operations = [.. group.Operations.Select(o => o with { Operation = o.Operation with { Name = "load" } })],
            }],
        };
    }
}

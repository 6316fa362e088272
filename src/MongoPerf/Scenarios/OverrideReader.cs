using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Scenarios.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Puts what the command line says in place of a file's values.</summary>
internal sealed class OverrideReader(PlanOverrides overrides)
{
    /// <summary>The file's tree with these values in it.</summary>
    /// <param name="root">Of the file.</param>
    /// <param name="told">Gets a line for each value that is another now.</param>
    /// <exception cref="UserException">There is nothing to put a value in place of.</exception>
    public MappingNode Apply(MappingNode root, List<string> told)
    {
        MappingNode changed = overrides is { Records: { } records, IsAlone: false } ? SetRecords(root, records, told) : root;
        changed = SetGrowth(changed, told);
        bool changesPhases = overrides.Threads is not null || overrides.Operations is not null || overrides.Duration is not null || overrides.Warmup is not null || overrides.Rates is not null || overrides.Until is not null;
        return changesPhases && changed.Find("phases") is SequenceNode phases ? changed.With("phases", SetPhases(phases, told)) : changed;
    }

    private static UserException NoRecords(MappingNode root)
    {
        if (root.Find("phases") is SequenceNode phases && phases.Items.Any(IsGrowth))
            return new UserException(ExitCode.WrongUsage, "--records: the scenario grows its collections", "use --target");
        string[] loaded = root.Find("data") is MappingNode { Entries: var collections } ? [.. collections.Where(IsLoaded).Select(collection => collection.Name)] : [];
        return new UserException(
            ExitCode.WrongUsage, $"--records: the scenario loads {(loaded.Length == 0 ? "no collection" : $"{loaded.Length} collections ({string.Join(", ", loaded)})")}; it has to load exactly one",
            "change the counts in the file, or with --set where they are parameters");
    }

    private MappingNode SetRecords(MappingNode root, long records, List<string> told)
    {
        if (root.Find("data") is not MappingNode { Entries: var collections } data || collections.Count(IsLoaded) != 1)
            throw NoRecords(root);
        MappingEntry only = collections.First(IsLoaded);
        var collection = (MappingNode)only.Value;
        told.Add($"count of '{only.Name}': {records:N0} (--records, the file says {Said(collection, "count")})");
        return root.With("data", data.With(only.Name, collection.With("count", Unscaled(records))));
    }

    /// <summary>Another target, or step, of the growth.</summary>
    private MappingNode SetGrowth(MappingNode root, List<string> told)
    {
        if (overrides.Target is null && overrides.Step is null)
            return root;
        string option = overrides.Target is null ? "--step" : "--target";
        if (root.Find("phases") is not SequenceNode phases || phases.Items.Count(IsGrowth) != 1)
            throw new UserException(ExitCode.WrongUsage, $"{option}: the scenario has {(root.Find("phases") is SequenceNode list && list.Items.Any(IsGrowth) ? "several growths" : "no growth")}", "change the file, or use --set where it has parameters");
        return root.With("phases", phases with { Items = [.. phases.Items.Select(item => IsGrowth(item) ? Grow((MappingNode)item) : item)] });

        MappingNode Grow(MappingNode phase)
        {
            MappingNode changed = phase;
            if (overrides.Target is { } target)
            {
                told.Add($"to: {target:N0} (--target, the file says {Said(phase, phase.Find("sizes") is null ? "to" : "sizes")})");
                changed = changed.With("sizes", null).With("to", Unscaled(target));
                // Without a step of its own the growth gets one that fits the target.
                if (overrides.Step is null)
                    changed = changed.With("step", null);
            }

            if (overrides.Step is { } step)
            {
                told.Add($"step: {step:N0} (--step, the file says {Said(phase, "step")})");
                changed = changed.With("step", Unscaled(step));
            }

            return changed;
        }
    }

    private static bool IsGrowth(ScenarioNode node) => (node as MappingNode)?.Find("grow") is not null;

    private static bool IsLoaded(MappingEntry entry) => entry.Value is MappingNode node && node.Find("count") is not null;

    private SequenceNode SetPhases(SequenceNode phases, List<string> told)
    {
        ScenarioNode[] changed = [.. phases.Items.Select(item => item is MappingNode phase ? SetIn(phase, told) : item)];
        return changed.Where((item, i) => !ReferenceEquals(item, phases.Items[i])).Any()
            ? phases with { Items = changed }
            : throw new UserException(ExitCode.WrongUsage, $"{Given()}: no phase of the scenario has threads of its own (create phases, loads and groups keep the file's values)", "change the file, or use --set where it has parameters");
    }

    /// <summary>Of a growth, the phases that run at each size.</summary>
    private MappingNode SetIn(MappingNode phase, List<string> told) =>
        IsMeasured(phase) ? SetPhase(phase, told)
        : phase.Find("each") is SequenceNode each ? phase.With("each", each with { Items = [.. each.Items.Select(item => item is MappingNode one && IsMeasured(one) ? SetPhase(one, told) : item)] })
        : phase;

    private static bool IsMeasured(MappingNode phase) => phase.Find("operations") is not null && phase.Find("create") is null && phase.Find("load") is null && phase.Find("balancer") is null && phase.Find("groups") is null;

    private string Given() => overrides.Threads is not null ? "--threads" : overrides.Operations is not null ? "--operations" : overrides.Duration is not null ? "--duration" : overrides.Warmup is not null ? "--warmup" : overrides.Until is not null ? "--until" : "--rate";

    private MappingNode SetPhase(MappingNode phase, List<string> told)
    {
        string name = (phase.Find("name") as ScalarNode)?.Text ?? "phase";
        MappingNode changed = phase;
        if (overrides.Threads is { } threads)
            changed = Set(changed, "threads", OneOrList([.. threads.Select(t => (double)t)]), string.Join(", ", threads), "--threads");
        if (overrides.Operations is { } operations)
            changed = Set(changed, "count", Unscaled(operations), $"{operations:N0}", "--operations").With("duration", overrides.Duration is null ? null : changed.Find("duration"));
        if (overrides.Duration is { } duration)
            changed = Set(changed, "duration", Seconds(duration), $"{duration:0.###}s", "--duration").With("count", overrides.Operations is null ? null : changed.Find("count"));
        if (overrides.Until is { } until)
            changed = Set(changed, "until", new ScalarNode(Place, until, false), until, "--until").With("duration", overrides.Duration is null ? null : changed.Find("duration")).With("count", null);
        if (overrides.Warmup is { } warmup)
            changed = Set(changed, "warmup", Seconds(warmup), $"{warmup:0.###}s", "--warmup");
        else if ((overrides.Operations is not null || overrides.Duration is not null || overrides.Until is not null) && !HasNoWarmup(changed))
            changed = changed.With("warmup", null);
        return overrides.Rates is { } rates ? Set(changed, "rate", OneOrList(rates), string.Join(", ", rates.Select(rate => $"{rate:N0}")), "--rate").With("think", null) : changed;

        MappingNode Set(MappingNode node, string key, ScenarioNode value, string text, string option)
        {
            if (node.Find(key)?.Label != value.Label)
                told.Add($"{key} of '{name}': {text} ({option}, the file says {Said(node, key)})");
            return node.With(key, value);
        }
    }

    /// <summary>Where the beginning is what counts, another length does not change that.</summary>
    private static bool HasNoWarmup(MappingNode phase) => phase.Find("warmup") is ScalarNode { Text: ['0', ..] text } && !text.Any(c => c is >= '1' and <= '9');

    private static Position Place => Position.CommandLine;

    private static ScalarNode Scalar(double value) => new(Place, value.ToString("R"), false);

    private static ScenarioNode OneOrList(IReadOnlyList<double> values) => values.Count == 1 ? Scalar(values[0]) : new SequenceNode(Place, [.. values.Select(Scalar)]);

    private static ScalarNode Seconds(double value) => new(Place, $"{value:R}s", false);

    /// <summary>Meant as it stands: the scale is for the file's counts.</summary>
    private static ScalarNode Unscaled(long count) => Scalar(count) with { IsExact = true };

    private static string Said(MappingNode node, string key) => node.Find(key)?.Label ?? "nothing";
}

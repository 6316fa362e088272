using MongoPerf.Cli;
using MongoPerf.Scenarios.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>What the command line puts in place of a file's values; null leaves the file's.</summary>
internal sealed record ScenarioOverrides
{
    public static ScenarioOverrides None { get; } = new();

    public IReadOnlyList<int>? Threads { get; init; }

    /// <summary>Documents of the only collection, not scaled.</summary>
    public long? Records { get; init; }

    /// <summary>Operations of each phase that measures, not scaled.</summary>
    public long? Operations { get; init; }

    /// <summary>Seconds of each phase that measures.</summary>
    public double? Duration { get; init; }

    public double? Warmup { get; init; }

    public double? Rate { get; init; }

    public double Scale { get; init; } = 1;

    /// <summary>Of <c>--set name=value</c>.</summary>
    public IReadOnlyDictionary<string, string> Parameters { get; init; } = new Dictionary<string, string>();

    /// <summary>The file's tree with these values in it.</summary>
    /// <param name="root">Of the file.</param>
    /// <param name="told">Gets a line for each value that is another now.</param>
    /// <exception cref="UserException">There is nothing to put a value in place of.</exception>
    public MappingNode Apply(MappingNode root, List<string> told)
    {
        if (Scale != 1)
            told.Add($"counts: times {Scale:0.######} (--scale)");
        MappingNode changed = Records is { } records ? SetRecords(root, records, told) : root;
        bool changesPhases = Threads is not null || Operations is not null || Duration is not null || Warmup is not null || Rate is not null;
        return changesPhases && changed.Find("phases") is SequenceNode phases ? changed.With("phases", SetPhases(phases, told)) : changed;
    }

    private MappingNode SetRecords(MappingNode root, long records, List<string> told)
    {
        if (root.Find("data") is not MappingNode { Entries: var collections } data || collections.Count(IsLoaded) != 1)
            throw new UserException(ExitCode.WrongUsage, "--records: the scenario loads several collections or none", "change their counts in the file, or by --set where they are parameters");
        MappingEntry only = collections.First(IsLoaded);
        var collection = (MappingNode)only.Value;
        told.Add($"count of '{only.Name}': {records:N0} (--records, the file says {Said(collection, "count")})");
        return root.With("data", data.With(only.Name, collection.With("count", Unscaled(records))));
    }

    private static bool IsLoaded(MappingEntry entry) => entry.Value is MappingNode node && node.Find("count") is not null;

    private SequenceNode SetPhases(SequenceNode phases, List<string> told)
    {
        ScenarioNode[] changed = [.. phases.Items.Select(item => item is MappingNode phase && IsMeasured(phase) ? SetPhase(phase, told) : item)];
        return changed.Where((item, i) => !ReferenceEquals(item, phases.Items[i])).Any()
            ? phases with { Items = changed }
            : throw new UserException(ExitCode.WrongUsage, $"{Given()}: no phase of the scenario has threads of its own (create phases, loads and groups keep the file's)", "change the file, or --set where it has parameters");
    }

    private static bool IsMeasured(MappingNode phase) => phase.Find("create") is null && phase.Find("load") is null && phase.Find("balancer") is null && phase.Find("groups") is null;

    private string Given() => Threads is not null ? "--threads" : Operations is not null ? "--operations" : Duration is not null ? "--duration" : Warmup is not null ? "--warmup" : "--rate";

    private MappingNode SetPhase(MappingNode phase, List<string> told)
    {
        string name = (phase.Find("name") as ScalarNode)?.Text ?? "phase";
        MappingNode changed = phase;
        if (Threads is { } threads)
            changed = Set(changed, "threads", threads.Count == 1 ? Scalar(threads[0]) : new SequenceNode(Place, [.. threads.Select(t => Scalar(t))]), string.Join(", ", threads), "--threads");
        if (Operations is { } operations)
            changed = Set(changed, "count", Unscaled(operations), $"{operations:N0}", "--operations").With("duration", Duration is null ? null : changed.Find("duration"));
        if (Duration is { } duration)
            changed = Set(changed, "duration", Seconds(duration), $"{duration:0.###}s", "--duration").With("count", Operations is null ? null : changed.Find("count"));
        if (Warmup is { } warmup)
            changed = Set(changed, "warmup", Seconds(warmup), $"{warmup:0.###}s", "--warmup");
        else if (Operations is not null || Duration is not null)
            changed = changed.With("warmup", null);
        return Rate is { } rate ? Set(changed, "rate", Scalar(rate), $"{rate:N0}", "--rate") : changed;

        MappingNode Set(MappingNode node, string key, ScenarioNode value, string text, string option)
        {
            told.Add($"{key} of '{name}': {text} ({option}, the file says {Said(node, key)})");
            return node.With(key, value);
        }
    }

    private static Position Place => new("command line", 1, 1);

    private static ScalarNode Scalar(double value) => new(Place, value.ToString("R"), false);

    private static ScalarNode Seconds(double value) => new(Place, $"{value:R}s", false);

    /// <summary>Meant as it stands: the scale is for the file's counts.</summary>
    private static ScalarNode Unscaled(long count) => Scalar(count) with { IsExact = true };

    private static string Said(MappingNode node, string key) => node.Find(key)?.Label ?? "nothing";
}

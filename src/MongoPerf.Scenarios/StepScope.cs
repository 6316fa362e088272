using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>What a step may take values from: the steps before it that have a name, and the element of its own <c>each</c>.</summary>
/// <param name="all">The names that all steps give to what they bring, those after this one too, with their 1-based places.</param>
internal sealed class StepScope(IReadOnlyList<(string Name, int Step)> all)
{
    /// <summary>What the element of an <c>each</c> is called.</summary>
    public const string Element = "each";

    /// <summary>What the element's place, from 1, is called.</summary>
    public const string Place = "place";

    private readonly Dictionary<string, int> _slots = [];

    /// <summary>Whether the step that is being read has an <c>each</c>.</summary>
    public bool HasElement { get; set; }

    /// <summary>Whether a path has named the element.</summary>
    public bool HasUsedElement { get; set; }

    /// <returns>False when an earlier step has the name.</returns>
    public bool TryAdd(string name, int slot) => _slots.TryAdd(name, slot);

    /// <param name="text">The path as it is written, such as order.customer.</param>
    /// <param name="place">Where it stands.</param>
    /// <param name="what">What it is about, for messages.</param>
    public ValuePath Path(string text, ScenarioNode place, string what)
    {
        string[] parts = text.Split('.');
        string name = parts[0];
        if (parts.Any(step => step.Length == 0))
            throw MappingReader.Wrong(place, $"{what}: '{text}' is no path", "such as order.customer, or order.items.0.product");
        if (name is Element or Place || (HasElement && parts.Contains(ValuePath.Same)))
            HasUsedElement = true;
        if (name is Element or Place)
        {
            return !HasElement
                ? throw MappingReader.Wrong(place, $"{what}: '{name}' is about the elements of a step's array, and this step has no each",
                    "such as each: order.items, and then {^from: each.product}")
                : name == Element ? new ValuePath(text, Step.ElementSlot)
                : parts.Length == 1 ? new ValuePath(text, ValuePath.PlaceSlot)
                : throw MappingReader.Wrong(place, $"{what}: '{text}' goes on after {Place}, which is a number");
        }

        if (_slots.TryGetValue(name, out int slot))
            return new ValuePath(text, slot);
        if (all.FirstOrDefault(one => one.Name == name) is { Name: not null } step)
            throw MappingReader.Wrong(place, $"{what}: '{name}' is read by step {step.Step}, which has not run by then",
                "move that step before this one");
        throw MappingReader.Wrong(
            place,
            _slots.Count == 0
                ? $"{what}: no earlier step names what it returns, so there is no '{name}'"
                : $"{what}: no earlier step returns '{name}'; allowed: {string.Join(", ", _slots.Keys)}",
            NearestName.Hint(name, _slots.Keys) ?? $"name what a step returns: {{find: …, as: {(name.Length > 0 ? name : "order")}}}");
    }
}

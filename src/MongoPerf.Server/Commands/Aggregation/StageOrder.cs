using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>
/// Moves stages as mongod does before it runs them: conditions, $skip and $limit ahead of stages that change documents. What comes out
/// is the same; what fails is not, since an expression is not worked out for a document that a later $match excludes.
/// </summary>
internal static class StageOrder
{
    public static void Arrange(List<PlannedStage> stages)
    {
        for (int i = 0; i + 1 < stages.Count;)
        {
            ActiveOperation.Check();
            // A stage that has moved may move on.
            if (TryExchange(stages, i))
                i = Math.Max(0, i - 1);
            else
                i++;
        }
    }

    private static bool TryExchange(List<PlannedStage> stages, int at)
    {
        (PlannedStage first, PlannedStage second) = (stages[at], stages[at + 1]);
        switch (second.Name)
        {
            case "$match" when first.Name == "$match":
                stages.RemoveAt(at + 1);
                stages[at] = Match([first.Value, second.Value]);
                return true;
            case "$match" when first.Name == "$sort":
            case "$skip" or "$limit" when ChangesOneDocument(first.Name):
                (stages[at], stages[at + 1]) = (second, first);
                return true;
            case "$match" when first.Changed is { } changed:
                return TrySplit(stages, at, second.Value.ToDocument(), changed);
            case "$sort" when first.Name == "$sort":
                stages.RemoveAt(at);
                return true;
            default:
                return false;
        }
    }

    private static bool ChangesOneDocument(string stage) =>
        stage is "$project" or "$set" or "$addFields" or "$unset" or "$replaceRoot" or "$replaceWith" or "$lookup";

    /// <summary>Puts the conditions ahead that the stage before them has no part in.</summary>
    private static bool TrySplit(List<PlannedStage> stages, int at, BsonDocument match, ChangedPaths changed)
    {
        var moved = new List<BsonValue>();
        var kept = new List<BsonValue>();
        Split(match, changed, moved, kept);
        if (moved.Count == 0)
            return false;
        if (kept.Count > 0)
            stages[at + 1] = Match(kept);
        else
            stages.RemoveAt(at + 1);
        stages.Insert(at, Match(moved));
        return true;
    }

    private static void Split(BsonDocument match, ChangedPaths changed, List<BsonValue> moved, List<BsonValue> kept)
    {
        foreach ((string name, BsonValue value) in match)
        {
            if (name == "$and")
            {
                foreach (BsonValue branch in Values.Items(value))
                    Split(branch.ToDocument(), changed, moved, kept);
            }
            else if (name == "$nor")
            {
                foreach (BsonValue branch in Values.Items(value))
                    Sort("$nor", Values.Array([branch]), changed, moved, kept);
            }
            else if (name != "$comment")
            {
                Sort(name, value, changed, moved, kept);
            }
        }
    }

    private static void Sort(string name, BsonValue value, ChangedPaths changed, List<BsonValue> moved, List<BsonValue> kept)
    {
        if (changed.Before(name, value) is { } earlier)
            moved.Add(Values.Of(earlier));
        else
            kept.Add(Values.Document([(name, value)]));
    }

    /// <summary>One $match of all; not one $and in another, which hundreds of stages would nest too deeply.</summary>
    private static PlannedStage Match(List<BsonValue> conditions) => new("$match", conditions.Count == 1
        ? conditions[0]
        : Values.Document([("$and", Values.Array(conditions.SelectMany(condition =>
            condition.ToDocument().ToArray() is [{ Key: "$and" } all] ? Values.Items(all.Value) : [condition])))]));
}

/// <summary>A stage that may still move, or be joined with another.</summary>
internal sealed class PlannedStage(string name, BsonValue value)
{
    private PipelineStage? _parsed;
    private ChangedPaths? _changed;
    private long _heldBytes;

    public string Name => name;

    public BsonValue Value => value;

    /// <summary>Null for a stage that no condition can pass.</summary>
    public ChangedPaths? Changed => _changed ??= ChangedPaths.Of(name, value);

    /// <summary>Parses it, the first time; counts what its constants take as held, each time.</summary>
    /// <exception cref="CommandException">It is not known, or wrong.</exception>
    public PipelineStage Parse(StageContext context)
    {
        if (_parsed != null)
        {
            ActiveOperation.Hold(_heldBytes);
            return _parsed;
        }

        long held = ActiveOperation.Held;
        _parsed = StageParser.Parse(name, value, context);
        _heldBytes = ActiveOperation.Held - held;
        return _parsed;
    }
}

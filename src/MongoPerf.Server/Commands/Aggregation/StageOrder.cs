using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>
/// Moves stages as mongod does before it runs them: conditions, $skip and $limit ahead of stages that change documents. What comes out
/// is the same; what fails is not, since an expression is not worked out for a document that a later $match excludes.
/// </summary>
internal static class StageOrder
{
    public static (string Name, BsonValue Value)[] Arrange(ReadOnlySpan<(string Name, BsonValue Value)> given)
    {
        List<(string Name, BsonValue Value)> stages = [.. given];
        for (int i = 0; i + 1 < stages.Count;)
        {
            // A stage that has moved may move on.
            if (TryExchange(stages, i))
                i = Math.Max(0, i - 1);
            else
                i++;
        }

        return [.. stages];
    }

    private static bool TryExchange(List<(string Name, BsonValue Value)> stages, int at)
    {
        ((string first, BsonValue value), (string second, BsonValue next)) = (stages[at], stages[at + 1]);
        switch (second)
        {
            case "$match" when first == "$match":
                stages.RemoveAt(at + 1);
                stages[at] = Match([value, next]);
                return true;
            case "$match" when first == "$sort":
            case "$skip" or "$limit" when ChangesOneDocument(first):
                (stages[at], stages[at + 1]) = (stages[at + 1], stages[at]);
                return true;
            case "$match" when ChangedPaths.Of(first, value) is { } changed:
                return TrySplit(stages, at, next.ToDocument(), changed);
            case "$sort" when first == "$sort":
                stages.RemoveAt(at);
                return true;
            default:
                return false;
        }
    }

    private static bool ChangesOneDocument(string stage) =>
        stage is "$project" or "$set" or "$addFields" or "$unset" or "$replaceRoot" or "$replaceWith";

    /// <summary>Puts the conditions ahead that the stage before them has no part in.</summary>
    private static bool TrySplit(List<(string Name, BsonValue Value)> stages, int at, BsonDocument match, ChangedPaths changed)
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
    private static (string Name, BsonValue Value) Match(List<BsonValue> conditions) => ("$match", conditions.Count == 1
        ? conditions[0]
        : Values.Document([("$and", Values.Array(conditions.SelectMany(condition =>
            condition.ToDocument().ToArray() is [{ Key: "$and" } all] ? Values.Items(all.Value) : [condition])))]));
}

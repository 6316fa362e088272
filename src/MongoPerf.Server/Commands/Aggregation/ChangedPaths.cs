using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>Which fields a stage changes, and which it only gives another name.</summary>
internal sealed class ChangedPaths
{
    private readonly List<string> _changed = [];
    private readonly List<string> _kept = [];
    private readonly Dictionary<string, string> _renamed = [];
    private bool _keepsOthers = true;
    private bool _isGroup;
    private bool _hasExpressions;

    /// <returns>Null for a stage that no condition can pass.</returns>
    public static ChangedPaths? Of(string stage, BsonValue value)
    {
        var paths = new ChangedPaths();
        switch (stage)
        {
            case "$set" or "$addFields":
                paths.AddComputed(value.ToDocument(), "");
                return paths;
            case "$unset":
                paths._changed.AddRange((value.Type == BsonType.Array ? Values.Items(value) : [value]).Select(field => field.ToString()));
                return paths;
            case "$project":
                paths.AddProjection(value.ToDocument(), "");
                // Without an exclusion of another field than _id all that is not named goes.
                paths._keepsOthers = paths._kept.Count == 0 && paths._renamed.Count == 0 && !paths._hasExpressions;
                if (!paths._keepsOthers && !paths.NamesId)
                    paths._kept.Add("_id");
                return paths;
            case "$unwind":
                BsonValue? path = value.Type == BsonType.Document ? DirectFields.Find(value.ToDocument(), "path") : value;
                paths._changed.Add(path!.Value.ToString()[1..]);
                if (value.Type == BsonType.Document && DirectFields.Find(value.ToDocument(), "includeArrayIndex") is { } index)
                    paths._changed.Add(index.ToString());
                return paths;
            case "$lookup":
                paths._changed.Add(DirectFields.Find(value.ToDocument(), "as")!.Value.ToString());
                return paths;
            case "$group":
                paths._keepsOthers = false;
                paths._isGroup = true;
                paths.AddGroup(DirectFields.Find(value.ToDocument(), "_id")!.Value);
                return paths;
            default:
                return null;
        }
    }

    /// <summary>The condition as it is to be asked before the stage; null where the stage has a part in it.</summary>
    public BsonDocument? Before(string name, BsonValue value)
    {
        switch (name)
        {
            case "$expr":
                return !_isGroup && References.Of(value) is { } paths && paths.TrueForAll(IsKept) ? BsonDocument.Of((name, value)) : null;
            case "$or" or "$nor" or "$and":
                BsonDocument?[] branches = [.. Values.Items(value).Select(branch => Before(branch.ToDocument()))];
                return branches.Contains(null) ? null : BsonDocument.Of((name, branches));
            case ['$', ..]:
                return null;
            default:
                if (!_isGroup && IsKept(name) && !HasElementMatch(value))
                    return BsonDocument.Of((name, value));
                return Renamed(name) is { } earlier && CanRename(value) ? BsonDocument.Of((earlier, value)) : null;
        }
    }

    private BsonDocument? Before(BsonDocument conditions)
    {
        var all = new List<(string, object?)>();
        foreach ((string name, BsonValue value) in conditions)
        {
            if (Before(name, value) is not { } earlier)
                return null;
            all.Add((earlier.First().Key, earlier.First().Value));
        }

        return BsonDocument.Of([.. all]);
    }

    /// <summary>mongod leaves these where they are.</summary>
    private static bool HasElementMatch(BsonValue condition) => condition.Type is BsonType.Document or BsonType.Array
        && condition.ToDocument().Any(pair => pair.Key == "$elemMatch" || HasElementMatch(pair.Value));

    /// <summary>Of a group only what cannot hold for a missing field: that has become null.</summary>
    private bool CanRename(BsonValue condition)
    {
        if (condition.Type != BsonType.Document)
            return !_isGroup || condition.Type is not (BsonType.Null or BsonType.Array or BsonType.Regex);
        return condition.ToDocument().All(pair => pair.Key switch
        {
            "$eq" or "$gt" or "$gte" or "$lt" or "$lte" => !_isGroup || pair.Value.IsNumber || pair.Value.Type == BsonType.String,
            "$in" or "$ne" or "$nin" => !_isGroup,
            _ => false,
        });
    }

    /// <summary>Whether it says what becomes of _id, or of a part of it; else an inclusion keeps it.</summary>
    private bool NamesId => _changed.Concat(_kept).Concat(_renamed.Keys).Any(path => IsBelow(path, "_id"));

    private bool IsKept(string path)
    {
        ActiveOperation.Check();
        return _keepsOthers
            ? !_changed.Exists(changed => IsBelow(changed, path) || IsBelow(path, changed))
                && !_renamed.Keys.Any(changed => IsBelow(changed, path) || IsBelow(path, changed))
            : _kept.Exists(kept => IsBelow(path, kept));
    }

    private string? Renamed(string path)
    {
        foreach ((string now, string before) in _renamed)
        {
            if (IsBelow(path, now))
                return before + path[now.Length..];
        }

        return null;
    }

    private static bool IsBelow(string path, string above) =>
        path.StartsWith(above, StringComparison.Ordinal) && (path.Length == above.Length || path[above.Length] == '.');

    private void AddProjection(BsonDocument level, string prefix)
    {
        foreach ((string name, BsonValue value) in level)
        {
            string path = prefix + name;
            if (value.IsNumber || value.Type == BsonType.Boolean)
                (Values.IsTrue(value) ? _kept : _changed).Add(path);
            else if (value.Type == BsonType.Document && value.ToDocument().FirstOrDefault().Key is not ['$', ..])
                AddProjection(value.ToDocument(), path + ".");
            else
                AddValue(path, value);
        }
    }

    private void AddComputed(BsonDocument level, string prefix)
    {
        foreach ((string name, BsonValue value) in level)
        {
            if (value.Type == BsonType.Document && value.ToDocument().FirstOrDefault().Key is not ['$', ..])
                AddComputed(value.ToDocument(), $"{prefix}{name}.");
            else
                AddValue(prefix + name, value);
        }
    }

    private void AddGroup(BsonValue id)
    {
        if (id.Type != BsonType.Document)
            AddValue("_id", id);
        else if (id.ToDocument().FirstOrDefault().Key is not (null or ['$', ..]))
            AddComputed(id.ToDocument(), "_id.");
    }

    private void AddValue(string path, BsonValue value)
    {
        _hasExpressions = true;
        if (value.Type == BsonType.String && value.ToString() is ['$', not '$', ..] text && !text.Contains('.') && text[1..] != path)
            _renamed[path] = text[1..];
        else
            _changed.Add(path);
    }
}

/// <summary>The paths that an expression reads.</summary>
internal static class References
{
    /// <returns>Null where it may read any.</returns>
    public static List<string>? Of(BsonValue expression)
    {
        var paths = new List<string>();
        return TryAdd(expression, paths) ? paths : null;
    }

    private static bool TryAdd(BsonValue value, List<string> paths)
    {
        switch (value.Type)
        {
            case BsonType.String:
                string text = value.ToString();
                foreach (string root in (string[])["$$ROOT", "$$CURRENT"])
                {
                    if (text == root)
                        return false;
                    if (text.StartsWith(root + ".", StringComparison.Ordinal))
                        text = "$" + text[(root.Length + 1)..];
                }

                if (text is ['$', not '$', ..])
                    paths.Add(text[1..]);
                return true;
            case BsonType.Array:
                return Values.Items(value).All(item => TryAdd(item, paths));
            case BsonType.Document:
                return value.ToDocument().All(
                    field => field.Key is "$literal" or "$const" || (field.Key != "$getField" && TryAdd(field.Value, paths)));
            default:
                return true;
        }
    }
}

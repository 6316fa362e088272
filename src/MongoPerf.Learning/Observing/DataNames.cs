namespace MongoPerf.Learning.Observing;

/// <summary>Which fields of a collection have names that are data, such as <c>counts.anna</c>: operations name so many of them.</summary>
internal sealed class DataNames
{
    /// <summary>What stands in place of such a name.</summary>
    public const string Any = "*";

    private const int MostNames = 20;

    /// <summary>The names by the path of the document that has them; null for one whose names are data.</summary>
    private readonly Dictionary<string, HashSet<string>?> _names = new(StringComparer.Ordinal);

    /// <summary>The path with <see cref="Any"/> in place of names that are data; counts its names.</summary>
    public string See(string path) => Fold(path, (parent, name) =>
    {
        if (!_names.TryGetValue(parent, out HashSet<string>? names))
            _names[parent] = names = new(StringComparer.Ordinal);
        if (names?.Add(name) is true && names.Count > MostNames)
            _names[parent] = names = null;
        return names is null;
    });

    /// <summary>The same of a path that was counted before.</summary>
    /// <param name="path">The path.</param>
    /// <param name="isMap">Whether documents have names that are data at a path.</param>
    public string Fold(string path, Func<string, bool> isMap) =>
        Fold(path, (parent, _) => (_names.TryGetValue(parent, out HashSet<string>? names) && names is null) || isMap(parent));

    private static string Fold(string path, Func<string, string, bool> isDatum)
    {
        if (path is ['$', ..] || !path.Contains('.', StringComparison.Ordinal))
            return path;
        string[] steps = path.Split('.');
        string at = steps[0];
        foreach (string step in steps.Skip(1))
            at = $"{at}.{(step is [] or ['$', ..] || step == Any || step.All(char.IsAsciiDigit) || !isDatum(at, step) ? step : Any)}";
        return at;
    }
}

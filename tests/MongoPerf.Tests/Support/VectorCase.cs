using System.Collections.Concurrent;
using System.Text.Json;

namespace MongoPerf.Tests.Support;

/// <summary>One entry of a vector file, named so that it shows in test lists.</summary>
public static class VectorCase
{
    private static readonly ConcurrentDictionary<string, JsonDocument> Files = new();

    /// <summary>Rows of (file, index, description) over one array of each file.</summary>
    /// <param name="list">The array's name in the file: <c>tests</c>, <c>valid</c>…</param>
    /// <param name="patterns">Folder and file pattern, such as <c>bson-corpus/*.json</c>.</param>
    public static TheoryData<string, int, string> Rows(string list, params string[] patterns) => Rows(static _ => true, list, patterns);

    /// <inheritdoc cref="Rows(string, string[])"/>
    /// <param name="isCase">Which of the entries are meant.</param>
    public static TheoryData<string, int, string> Rows(Func<JsonElement, bool> isCase, string list, params string[] patterns)
    {
        var rows = new TheoryData<string, int, string>();
        foreach (string pattern in patterns)
        {
            string folder = RepositoryPaths.VectorFolder(Path.GetDirectoryName(pattern)!);
            foreach (string path in Directory.GetFiles(folder, Path.GetFileName(pattern)).Order(StringComparer.Ordinal))
            {
                string file = Path.GetRelativePath(RepositoryPaths.Vectors!, path);
                if (!Root(file).TryGetProperty(list, out JsonElement entries))
                    continue;
                foreach ((int i, JsonElement entry) in entries.EnumerateArray().Index().Where(one => isCase(one.Item)))
                    rows.Add(file, i, entry.Text("description")!);
            }
        }

        return rows;
    }

    /// <summary>Of connection strings, those that a driver takes.</summary>
    public static bool IsValid(JsonElement entry) => entry.GetProperty("valid").GetBoolean();

    public static JsonElement Entry(string file, string list, int index) => Root(file).GetProperty(list)[index];

    public static JsonElement Root(string file) =>
        Files.GetOrAdd(file, static name => JsonDocument.Parse(File.ReadAllText(RepositoryPaths.VectorFolder(name)))).RootElement;

    public static string? Text(this JsonElement element, string name) =>
        element.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;
}

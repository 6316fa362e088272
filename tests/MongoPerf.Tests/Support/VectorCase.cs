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
    public static TheoryData<string, int, string> Rows(string list, params string[] patterns)
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
                for (int i = 0; i < entries.GetArrayLength(); i++)
                    rows.Add(file, i, entries[i].GetProperty("description").GetString()!);
            }
        }

        return rows;
    }

    public static JsonElement Entry(string file, string list, int index) => Root(file).GetProperty(list)[index];

    public static JsonElement Root(string file) =>
        Files.GetOrAdd(file, static name => JsonDocument.Parse(File.ReadAllText(RepositoryPaths.VectorFolder(name)))).RootElement;

    public static string? Text(this JsonElement element, string name) =>
        element.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;
}

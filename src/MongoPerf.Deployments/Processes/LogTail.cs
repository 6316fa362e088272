using System.Text;
using System.Text.Json;

namespace MongoPerf.Deployments.Processes;

/// <summary>The end of a server's log, in words for people.</summary>
internal static class LogTail
{
    private const int TailBytes = 64 * 1024;

    /// <summary>The last errors of the given files; where there are none, their last lines.</summary>
    /// <param name="count">Lines at most.</param>
    /// <param name="files">Log files; those that are not there are left out.</param>
    /// <returns>Each line indented by two blanks; "(the log is empty)" when there is nothing.</returns>
    public static string Describe(int count, params ReadOnlySpan<string> files)
    {
        var lines = new List<(bool IsError, string Text)>();
        foreach (string file in files)
        {
            foreach (string line in ReadEnd(file).Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
                lines.Add(Explain(line));
        }

        List<string> errors = [.. lines.Where(line => line.IsError).Select(line => line.Text).Distinct()];
        IEnumerable<string> chosen = errors.Count > 0 ? errors.TakeLast(count) : lines.Select(line => line.Text).TakeLast(count);
        string text = string.Join('\n', chosen.Select(line => "  " + line));
        return text.Length > 0 ? text : "  (the log is empty)";
    }

    // mongod 4.4 and later: {"t":{…},"s":"E","c":"STORAGE","id":1,"ctx":"…","msg":"…","attr":{…}}; before that, and what is said before
    // the log is open: plain text.
    internal static (bool IsError, string Text) Explain(string line)
    {
        if (!line.StartsWith('{'))
            return (line.Contains("rror", StringComparison.Ordinal), line);
        try
        {
            using JsonDocument entry = JsonDocument.Parse(line);
            string severity = entry.RootElement.GetProperty("s").GetString() ?? "";
            string message = entry.RootElement.GetProperty("msg").GetString() ?? "";
            string details = entry.RootElement.TryGetProperty("attr", out JsonElement attributes) ? Details(attributes) : "";
            return (severity is "E" or "F", details.Length > 0 ? $"{message}: {details}" : message);
        }
        catch (Exception e) when (e is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            return (false, line);
        }
    }

    private static string Details(JsonElement attributes)
    {
        if (attributes.ValueKind != JsonValueKind.Object)
            return attributes.ToString();
        foreach (string name in (ReadOnlySpan<string>)["error", "message", "reason", "msg"])
        {
            if (attributes.TryGetProperty(name, out JsonElement value))
                return Shorten(value.ValueKind == JsonValueKind.Object && value.TryGetProperty("errmsg", out JsonElement text)
                    ? text.ToString()
                    : value.ToString());
        }

        return Shorten(string.Join(", ", attributes.EnumerateObject().Select(item => $"{item.Name} {item.Value}")));
    }

    private static string Shorten(string text) => text.Length <= 300 ? text : text[..300] + "…";

    private static string ReadEnd(string file)
    {
        try
        {
            using var stream = new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            bool isCut = stream.Length > TailBytes;
            stream.Seek(Math.Max(0, stream.Length - TailBytes), SeekOrigin.Begin);
            using var reader = new StreamReader(stream, Encoding.UTF8);
            if (isCut)
                reader.ReadLine();
            return reader.ReadToEnd();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }
}

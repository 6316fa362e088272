using System.Text;
using MongoPerf.Platforms;

namespace MongoPerf.Wire.Files;

/// <summary>
/// Opens files that users name, pipes among them, such as those of a shell's &lt;(…). On Linux no pipe is waited for without end.
/// </summary>
public static class NamedFile
{
    /// <summary>How long somebody may take to open the other end.</summary>
    private static readonly TimeSpan NoWriterLimit = TimeSpan.FromSeconds(5);

    /// <summary>How long whoever holds the other end may take to write something.</summary>
    private static readonly TimeSpan SilenceLimit = TimeSpan.FromMinutes(1);

    /// <returns>A stream to read once, from its beginning to its end.</returns>
    /// <exception cref="IOException">It can't be opened.</exception>
    /// <exception cref="UnauthorizedAccessException">It can't be opened by this user, or is a folder.</exception>
    /// <exception cref="TimeoutException">Of reading a pipe: nothing came, or no more, for too long.</exception>
    public static Stream Open(string path) => Open(path, NoWriterLimit, SilenceLimit);

    internal static Stream Open(string path, TimeSpan nobodyLimit, TimeSpan silenceLimit) =>
        (Platform.IsLinux && !Directory.Exists(path) ? (Stream?)PipeStream.TryOpen(path, nobodyLimit, silenceLimit) : null)
        ?? File.OpenRead(path);

    /// <summary>The text, UTF-8 unless it begins otherwise.</summary>
    /// <param name="path">The path as the user named it.</param>
    /// <param name="most">Characters; of a longer text somewhat more are read, but not all: a device may never end.</param>
    /// <inheritdoc cref="Open(string)"/>
    public static string ReadText(string path, int most = int.MaxValue)
    {
        using var reader = new StreamReader(Open(path));
        var text = new StringBuilder();
        Span<char> part = stackalloc char[4096];
        for (int count; text.Length <= most && (count = reader.Read(part)) > 0;)
            text.Append(part[..count]);
        return text.ToString();
    }
}

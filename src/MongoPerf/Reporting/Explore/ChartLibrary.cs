using System.Text;

namespace MongoPerf.Reporting.Explore;

/// <summary>dygraphs, which a page carries with it: the system's own copy, never one of this program's.</summary>
/// <param name="Script">Its text.</param>
internal sealed record ChartLibrary(string Script)
{
    /// <summary>Names another file than Debian's.</summary>
    public const string Variable = "MONGOPERF_DYGRAPHS";

    public const string Package = "libjs-dygraphs";

    private const string Debians = "/usr/share/javascript/dygraphs/dygraph.min.js";
    private const int LargestBytes = 2_000_000;

    /// <summary>Would end the script within a page, or begin something else.</summary>
    private static readonly string[] Forbidden = ["</script", "<!--", "]]>"];

    /// <summary>The file that MONGOPERF_DYGRAPHS names, else that of Debian's package.</summary>
    /// <returns>Null with the reason in <paramref name="whyNot"/>.</returns>
    public static ChartLibrary? Find(out string whyNot) => Find(Environment.GetEnvironmentVariable(Variable), out whyNot);

    /// <param name="named">A path; null or empty for the package's.</param>
    /// <param name="whyNot">Empty when it was found.</param>
    public static ChartLibrary? Find(string? named, out string whyNot)
    {
        bool isNamed = !string.IsNullOrEmpty(named);
        string path = isNamed ? named! : Debians;
        whyNot = isNamed ? $"{Variable} names '{named}', which is not a file that can be read" : "dygraphs was not found";
        try
        {
            if (!File.Exists(path))
                return null;
            // Not by its length: a device has none.
            byte[] bytes = new byte[LargestBytes + 1];
            using FileStream stream = File.OpenRead(path);
            int length = stream.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false);
            if (length > LargestBytes)
            {
                whyNot = $"{path} has more than {LargestBytes / 1_000_000} MB and is not dygraphs";
                return null;
            }

            string text = Encoding.UTF8.GetString(bytes, 0, length);
            string? wrong = Array.Find(Forbidden, part => text.Contains(part, StringComparison.OrdinalIgnoreCase));
            whyNot = wrong is null ? "" : $"{path} holds '{wrong}' and can't be put into a page";
            return wrong is null ? new ChartLibrary(WithoutSourceMap(text)) : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    /// <summary>A browser's tools would look for it.</summary>
    private static string WithoutSourceMap(string text) => string.Join(
        '\n', text.ReplaceLineEndings("\n").Split('\n').Where(static line => !line.StartsWith("//# sourceMappingURL", StringComparison.Ordinal)));
}

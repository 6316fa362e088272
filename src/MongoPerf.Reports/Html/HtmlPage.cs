using System.Text;
using MongoPerf.Platforms;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Html;

/// <summary>What every page has in common.</summary>
internal static class HtmlPage
{
    public const string FileName = "index.html";

    /// <summary>Puts the page in place of an older one; a reader never sees half of it.</summary>
    /// <returns>Its full path.</returns>
    /// <exception cref="IOException">The folder can't be written.</exception>
    public static string Write(string folder, string html)
    {
        OwnFiles.MakeFolder(folder);
        string path = Path.Combine(folder, FileName);
        OwnFiles.Replace(path, output => output.Write(html));
        return path;
    }

    /// <summary>Writes everything up to the open body. The page may neither load anything nor run another script than these.</summary>
    /// <param name="title">The title of its window.</param>
    /// <param name="css">The style that is added to what all pages have.</param>
    /// <param name="scripts">The scripts that it will hold.</param>
    /// <param name="connects">May ask the server that it came from.</param>
    public static HtmlWriter Begin(string title, string css = "", IReadOnlyList<string>? scripts = null, bool connects = false) =>
        new HtmlWriter().Open("html", "lang", Words.Language.Tag).Open("head")
            .Void("meta", "charset", "utf-8")
            .Void("meta", "name", "viewport", "content", "width=device-width, initial-scale=1")
            .Void("meta", "http-equiv", "Content-Security-Policy", "content", Policy(scripts ?? [], connects))
            // Without one of its own, a browser would ask a server for it.
            .Void("link", "rel", "icon", "href", "data:,")
            .Element("title", title)
            .Style(HtmlStyle.Css + css)
            .Close().Open("body");

    /// <inheritdoc cref="Begin"/>
    public static string Policy(IReadOnlyList<string> scripts, bool connects) =>
        $"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src {Allowed(scripts)}"
        + $"{(connects ? "; connect-src 'self'" : "")}";

    /// <summary>Scripts by their hashes, as Content Security Policy level 2 has them.</summary>
    private static string Allowed(IReadOnlyList<string> scripts) => scripts.Count == 0 ? "'none'" : string.Join(
        ' ', scripts.Select(static script =>
            $"'sha256-{Convert.ToBase64String(Sha256.Hash(Encoding.UTF8.GetBytes(HtmlWriter.ScriptText(script))))}'"));
}

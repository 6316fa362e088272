using SkiaSharp;

namespace MongoPerf.Reports.Charts.Drawing;

/// <summary>
/// Fonts of pictures: one that is part of the program, so that pictures look the same on every machine, and one of the machine's for
/// characters that it lacks. May be used by several threads.
/// </summary>
internal static class ChartFonts
{
    /// <summary>The environment variable that names a font file with Chinese characters.</summary>
    public const string Variable = "MONGOPERF_FONT";

    /// <summary>Characters that a Chinese font has and a Japanese one may lack.</summary>
    private const string Chinese = "图数据库延迟压测";

    /// <summary>The most font files to look into; a machine for typesetting has tens of thousands.</summary>
    private const int MostFiles = 3000;

    /// <summary>Parts of the names of fonts with Chinese characters.</summary>
    private static readonly string[] LikelyNames =
        [
            "wqy", "cjk", "msyh", "pingfang", "simsun", "simhei", "droidsansfallback", "sourcehan", "uming", "ukai", "stheiti", "heiti",
            "songti", "deng", "hansans", "unicode",
        ];

    private static readonly Lazy<SKTypeface> Shipped = new(static () =>
    {
        using Stream file = typeof(ChartFonts).Assembly.GetManifestResourceStream("DejaVuSans.ttf")!;
        return SKTypeface.FromStream(file);
    });

    private static readonly Lazy<SKTypeface?> Further = new(static () => Find(Environment.GetEnvironmentVariable(Variable), Folders()));

    /// <summary>A font of this machine has Chinese characters.</summary>
    public static bool HasChinese => Further.Value is not null;

    /// <summary>Chooses the font that has all characters of a text, or most of them.</summary>
    public static SKTypeface Of(string text) =>
        Shipped.Value.ContainsGlyphs(text) || Further.Value is not { } further || !AddsTo(text, further) ? Shipped.Value : further;

    /// <summary>Finds the first font with Chinese characters: the one that is named, otherwise one of those in folders.</summary>
    /// <param name="named">A font file; null or empty for none.</param>
    /// <param name="folders">Where to look; folders that are not there are passed by.</param>
    public static SKTypeface? Find(string? named, IEnumerable<string> folders)
    {
        if (!string.IsNullOrEmpty(named))
            return Open(named);
        var anyDepth = new EnumerationOptions
        {
            RecurseSubdirectories = true, IgnoreInaccessible = true, MaxRecursionDepth = 8, AttributesToSkip = 0,
        };
        return folders.Where(Directory.Exists).SelectMany(folder => Directory.EnumerateFiles(folder, "*", anyDepth))
            .Where(static file => Path.GetExtension(file).ToLowerInvariant() is ".ttf" or ".ttc" or ".otf" or ".otc").Take(MostFiles)
            .OrderBy(static file => Array.FindIndex(LikelyNames, name =>
                Path.GetFileName(file).Contains(name, StringComparison.OrdinalIgnoreCase)) is >= 0 and int place ? place : int.MaxValue)
            .ThenBy(static file => file, StringComparer.Ordinal)
            .Select(Open).FirstOrDefault(static font => font is not null);
    }

    /// <summary>Opens a font file; null where it is no font, or has no Chinese characters.</summary>
    private static SKTypeface? Open(string file)
    {
        SKTypeface? font = SKTypeface.FromFile(file);
        if (font is null || font.ContainsGlyphs(Chinese))
            return font;
        font.Dispose();
        return null;
    }

    private static bool AddsTo(string text, SKTypeface further) =>
        text.EnumerateRunes().Count(rune => Has(further, rune)) > text.EnumerateRunes().Count(rune => Has(Shipped.Value, rune));

    private static bool Has(SKTypeface font, System.Text.Rune rune) => font.ContainsGlyph(rune.Value);

    private static IEnumerable<string> Folders()
    {
        string home = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
        string system = Environment.GetFolderPath(Environment.SpecialFolder.Fonts);
        return new[]
        {
            "/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts",
            Path.Combine(home, ".fonts"), Path.Combine(home, ".local/share/fonts"), Path.Combine(home, "Library/Fonts"), system,
        }.Where(Path.IsPathRooted).Distinct();
    }
}

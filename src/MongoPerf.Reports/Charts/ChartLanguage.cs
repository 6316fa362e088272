using MongoPerf.Reports.Charts.Drawing;

namespace MongoPerf.Reports.Charts;

/// <summary>Charts in the language of the report, if the machine has a font for it.</summary>
public static class ChartLanguage
{
    /// <summary>Begins a scope in which charts are built and drawn.</summary>
    /// <param name="warning">A whole line for people; null where the language is the report's.</param>
    public static IDisposable Begin(out string? warning)
    {
        bool isDrawable = Words.Language.IsEnglish || HasChinese();
        warning = isDrawable ? null
            : Environment.GetEnvironmentVariable(ChartFonts.Variable) is { Length: > 0 } named
                ? $"note: charts have English texts: {ChartFonts.Variable} names '{named}', "
                    + "which is not a font file with Chinese characters"
                : "note: charts have English texts: this machine has no font with Chinese characters; install one (such as Debian's "
                    + $"fonts-wqy-microhei), or name a .ttf, .ttc or .otf file in {ChartFonts.Variable}";
        return Words.In(isDrawable ? Words.Language : Language.English);
    }

    private static bool HasChinese()
    {
        try
        {
            return ChartFonts.HasChinese;
        }
        catch (Exception e) when (PictureFile.MeansNoLibrary(e))
        {
            // Whoever draws says that the library can't be loaded.
            return true;
        }
    }
}

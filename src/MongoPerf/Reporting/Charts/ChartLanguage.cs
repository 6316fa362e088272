using System.ComponentModel;
using System.Diagnostics;

namespace MongoPerf.Reporting.Charts;

/// <summary>Charts in the language of the report, if the machine has a font for it.</summary>
internal static class ChartLanguage
{
    private static readonly Lazy<bool> HasFont = new(FindFont);

    /// <summary>Charts are built and drawn within it.</summary>
    /// <param name="warning">A whole line for people; null where the language is the report's.</param>
    public static IDisposable Begin(out string? warning)
    {
        bool isDrawable = Words.Language.IsEnglish || HasFont.Value;
        warning = isDrawable ? null : "note: charts have English texts: fontconfig knows no font with Chinese characters (on Debian: sudo apt-get install fonts-wqy-microhei)";
        return Words.In(isDrawable ? Words.Language : Language.English);
    }

    /// <summary>gnuplot and viewers of its SVG take from any font what theirs lacks, so none is named. Pango, which draws the PNGs, brings fc-list.</summary>
    private static bool FindFont()
    {
        try
        {
            using Process? list = Process.Start(new ProcessStartInfo("fc-list", [":lang=zh-cn", "family"]) { RedirectStandardOutput = true, RedirectStandardError = true });
            return list?.StandardOutput.ReadLine() is { Length: > 0 };
        }
        catch (Win32Exception)
        {
            return false;
        }
    }
}

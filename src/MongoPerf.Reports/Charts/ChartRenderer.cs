using MongoPerf.Reports.Charts.Drawing;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>A chart whose pictures were drawn.</summary>
/// <param name="Chart">What it shows.</param>
/// <param name="PngPath">The full path of its PNG.</param>
/// <param name="SvgPath">The full path of its SVG.</param>
internal sealed record DrawnChart(Chart Chart, string PngPath, string SvgPath);

/// <summary>What became of a run's charts.</summary>
/// <param name="Drawn">The charts that have pictures.</param>
/// <param name="Files">The full paths of all files that were written.</param>
/// <param name="Warnings">Whole lines for people.</param>
internal sealed record RenderedCharts(IReadOnlyList<DrawnChart> Drawn, IReadOnlyList<string> Files, IReadOnlyList<string> Warnings);

/// <summary>Draws charts into a folder, each with its data beside it.</summary>
internal static class ChartRenderer
{
    /// <summary>"none" leaves the pictures out, for those who want reports in a hurry.</summary>
    public const string Variable = "MONGOPERF_CHARTS";

    /// <summary>Draws what the run has results for. A picture that can't be made or written is a warning.</summary>
    /// <param name="run">A run, finished or not.</param>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="plots">What is drawn beside the figures of its scenario; null for the standard ones.</param>
    public static RenderedCharts Render(StoredRun run, string folder, IReadOnlyList<PlotInfo>? plots = null)
    {
        plots ??= PlotLibrary.Standard;
        using IDisposable language = ChartLanguage.Begin(out string? warning);
        RenderedCharts charts = Render(new ChartSet(ChartCatalogue.Build(run, plots), ChartCatalogue.NamesOf(plots)), folder);
        return warning is null || charts.Drawn.Count == 0 ? charts : charts with { Warnings = [warning, .. charts.Warnings] };
    }

    /// <summary>Draws charts of any kind. A picture that can't be made or written is a warning.</summary>
    /// <param name="set">What is drawn.</param>
    /// <param name="folder">Made when it is not there.</param>
    public static RenderedCharts Render(ChartSet set, string folder)
    {
        var files = new List<string>();
        try
        {
            OwnFiles.MakeFolder(folder);
            RemoveOldPictures(folder, set.PictureNames);
            files.AddRange(set.Charts.SelectMany(static chart => chart.Tables).Select(table => WriteData(table, folder)));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return new RenderedCharts([], files, [$"note: charts skipped: {e.Message}"]);
        }

        if (set.Charts.Count > 0 && Environment.GetEnvironmentVariable(Variable) == "none")
            return new RenderedCharts([], files, [$"note: no charts: {Variable} is none; their data are in {folder}"]);

        var drawn = new List<DrawnChart>();
        var warnings = new List<string>();
        foreach (Chart chart in set.Charts)
        {
            try
            {
                var pictures = new DrawnChart(chart, Path.Combine(folder, chart.Name + ".png"), Path.Combine(folder, chart.Name + ".svg"));
                Draw(pictures);
                drawn.Add(pictures);
                files.AddRange([pictures.PngPath, pictures.SvgPath]);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                warnings.Add($"note: chart {chart.Name} skipped: {e.Message}; its data are in {folder}");
            }
            catch (Exception e) when (PictureFile.MeansNoLibrary(e))
            {
                return new RenderedCharts(
                    drawn, files, [$"note: charts skipped: {PictureFile.NoLibraryText(e)}; their data are in {folder}"]);
            }
        }

        return new RenderedCharts(drawn, files, warnings);
    }

    private static void Draw(DrawnChart pictures)
    {
        using (StreamWriter png = OwnFiles.Replace(pictures.PngPath))
            png.BaseStream.Write(PictureFile.Png(pictures.Chart, ChartTheme.Light));
        OwnFiles.Replace(pictures.SvgPath, PictureFile.Svg(pictures.Chart, ChartTheme.Light));
    }

    private static string WriteData(ChartTable table, string folder)
    {
        string path = Path.Combine(folder, table.FileName);
        using StreamWriter writer = OwnFiles.Replace(path);
        table.Write(writer);
        return path;
    }

    /// <summary>
    /// Removes pictures of an earlier report, which must not stand for those that could not be drawn now, and the data and scripts of
    /// versions that drew with gnuplot.
    /// </summary>
    private static void RemoveOldPictures(string folder, IReadOnlyList<string> names)
    {
        foreach (string picture in names.SelectMany(name => (string[])[name + ".png", name + ".svg", name + ".dat", name + ".gp"])
            .SelectMany(pattern => Directory.GetFiles(folder, pattern)))
            File.Delete(picture);
    }
}

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
        var drawn = new List<DrawnChart>();
        var warnings = new List<string>();
        try
        {
            OwnFiles.MakeFolder(folder);
            files.AddRange(set.Charts.SelectMany(chart => chart.Tables.Select(table => WriteData(table, chart.NotMongoDb, folder))));
            if (set.Charts.Count > 0 && Environment.GetEnvironmentVariable(Variable) == "none")
                warnings.Add($"note: no charts: {Variable} is none; their data are in {folder}");
            else
                Draw(set.Charts, folder, drawn, warnings);
            files.AddRange(drawn.SelectMany(static one => (string[])[one.PngPath, one.SvgPath]));
            RemoveOldPictures(folder, set.PictureNames, files);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            warnings.Add($"note: charts skipped: {e.Message}");
        }

        return new RenderedCharts(drawn, files, warnings);
    }

    private static void Draw(IReadOnlyList<Chart> charts, string folder, List<DrawnChart> drawn, List<string> warnings)
    {
        foreach (Chart chart in charts)
        {
            try
            {
                var pictures = new DrawnChart(chart, Path.Combine(folder, chart.Name + ".png"), Path.Combine(folder, chart.Name + ".svg"));
                Draw(pictures);
                drawn.Add(pictures);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                warnings.Add($"note: chart {chart.Name} skipped: {e.Message}; its data are in {folder}");
            }
            catch (Exception e) when (PictureFile.MeansNoLibrary(e))
            {
                warnings.Add($"note: charts skipped: {PictureFile.NoLibraryText(e)}; their data are in {folder}");
                return;
            }
        }
    }

    private static void Draw(DrawnChart pictures)
    {
        OwnFiles.Replace(pictures.PngPath, PictureFile.Png(pictures.Chart, ChartTheme.Light));
        OwnFiles.Replace(pictures.SvgPath, svg => svg.Write(PictureFile.Svg(pictures.Chart, ChartTheme.Light)));
    }

    private static string WriteData(ChartTable table, string? notMongoDb, string folder)
    {
        string path = Path.Combine(folder, table.FileName);
        OwnFiles.Replace(path, writer => table.Write(writer, notMongoDb));
        return path;
    }

    /// <summary>
    /// Removes pictures of an earlier report, which must not stand for those that could not be drawn now, and the data and scripts of
    /// versions that drew with gnuplot.
    /// </summary>
    /// <remarks>Those that were drawn now stay throughout: another report of the run may be showing them already.</remarks>
    private static void RemoveOldPictures(string folder, IReadOnlyList<string> names, IReadOnlyList<string> written)
    {
        foreach (string picture in names.SelectMany(name => (string[])[name + ".png", name + ".svg", name + ".dat", name + ".gp"])
            .SelectMany(pattern => Directory.GetFiles(folder, pattern)).Except(written))
            File.Delete(picture);
    }
}

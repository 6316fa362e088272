using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>A chart whose pictures were drawn.</summary>
/// <param name="Chart">What it shows.</param>
/// <param name="PngPath">Full path.</param>
/// <param name="SvgPath">Full path.</param>
internal sealed record DrawnChart(Chart Chart, string PngPath, string SvgPath);

/// <summary>What became of a run's charts.</summary>
/// <param name="Drawn">Those that have pictures.</param>
/// <param name="Files">All files written, full paths.</param>
/// <param name="Warnings">Whole lines for people.</param>
internal sealed record RenderedCharts(IReadOnlyList<DrawnChart> Drawn, IReadOnlyList<string> Files, IReadOnlyList<string> Warnings);

/// <summary>Writes data and scripts of the charts into one folder and has gnuplot draw them.</summary>
internal static class ChartRenderer
{
    /// <summary>Draws what the run has results for. Never throws for gnuplot's or the disk's sake: that gives a warning.</summary>
    public static RenderedCharts Render(StoredRun run, string folder)
    {
        using IDisposable language = ChartLanguage.Begin(out string? warning);
        var gnuplot = Gnuplot.Find(out string whyNot);
        RenderedCharts charts = Render(run, folder, gnuplot, whyNot);
        return warning is null || charts.Drawn.Count == 0 ? charts : charts with { Warnings = [warning, .. charts.Warnings] };
    }

    /// <param name="run">Finished or not.</param>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="gnuplot">Null when there is none.</param>
    /// <param name="whyNot">The reason then.</param>
    public static RenderedCharts Render(StoredRun run, string folder, Gnuplot? gnuplot, string whyNot) => Render(
        new ChartSet(ChartCatalogue.Build(run), ChartCatalogue.Names, $"mongoperf report {run.Run.Id}"), folder, gnuplot, whyNot);

    /// <summary>As the others, for charts of any kind.</summary>
    public static RenderedCharts Render(ChartSet set, string folder)
    {
        var gnuplot = Gnuplot.Find(out string whyNot);
        return Render(set, folder, gnuplot, whyNot);
    }

    private static RenderedCharts Render(ChartSet set, string folder, Gnuplot? gnuplot, string whyNot)
    {
        var charts = set.Charts;
        var files = new List<string>();
        try
        {
            OwnFiles.MakeFolder(folder);
            RemoveOldPictures(folder, set.PictureNames);
            foreach (var chart in charts)
                files.AddRange(WriteFiles(chart, folder));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return new RenderedCharts([], files, [$"note: charts skipped: {e.Message}"]);
        }

        if (charts.Count == 0)
            return new RenderedCharts([], [], []);
        if (gnuplot is not null)
            return Draw(charts, folder, gnuplot, files);
        string hint = $"data and scripts are in {folder}, install gnuplot-nox and run '{set.Command}' again";
        return new RenderedCharts([], files, [$"note: charts skipped: {whyNot}; {hint}"]);
    }

    private static RenderedCharts Draw(IReadOnlyList<Chart> charts, string folder, Gnuplot gnuplot, List<string> files)
    {
        var drawn = new List<DrawnChart>();
        var warnings = new List<string>();
        foreach (var chart in charts)
        {
            var pictures = new DrawnChart(chart, Path.Combine(folder, chart.Name + ".png"), Path.Combine(folder, chart.Name + ".svg"));
            string? failure = RemoveOld(pictures) ?? gnuplot.Run(folder, chart.Name + ".gp");
            failure ??= HasContent(pictures.PngPath) && HasContent(pictures.SvgPath) ? null : $"gnuplot left no picture for {chart.Name}.gp";
            if (failure is not null)
            {
                warnings.Add($"note: chart {chart.Name} skipped: {failure}; data and script are in {folder}");
                continue;
            }

            drawn.Add(pictures);
            files.AddRange([pictures.PngPath, pictures.SvgPath]);
        }

        return new RenderedCharts(drawn, files, warnings);
    }

    /// <summary>gnuplot writes where a link leads: nothing is left of these names.</summary>
    /// <returns>What went wrong; null for nothing.</returns>
    private static string? RemoveOld(DrawnChart pictures)
    {
        try
        {
            File.Delete(pictures.PngPath);
            File.Delete(pictures.SvgPath);
            return null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return e.Message;
        }
    }

    private static IEnumerable<string> WriteFiles(Chart chart, string folder)
    {
        string script = Path.Combine(folder, chart.Name + ".gp");
        OwnFiles.Replace(script, GnuplotScript.Of(chart));
        yield return script;
        foreach (var table in chart.Tables)
        {
            string path = Path.Combine(folder, table.FileName);
            using StreamWriter writer = OwnFiles.Replace(path);
            table.Write(writer);
            yield return path;
        }
    }

    /// <summary>A picture of an earlier report must not stand for one that could not be drawn now.</summary>
    private static void RemoveOldPictures(string folder, IReadOnlyList<string> names)
    {
        foreach (string picture in names.SelectMany(name => (string[])[name + ".png", name + ".svg"]).SelectMany(pattern => Directory.GetFiles(folder, pattern)))
            File.Delete(picture);
    }

    private static bool HasContent(string path) => new FileInfo(path) is { Exists: true, Length: > 0 };
}

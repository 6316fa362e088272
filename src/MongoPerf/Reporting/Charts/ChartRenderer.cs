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
    /// <summary>Templates beside the program.</summary>
    public static string TemplateFolder => Path.Combine(AppContext.BaseDirectory, "plots");

    /// <summary>Draws what the run has results for. Never throws for gnuplot's or the disk's sake: that gives a warning.</summary>
    public static RenderedCharts Render(StoredRun run, string folder)
    {
        var gnuplot = Gnuplot.Find(out string whyNot);
        return Render(run, folder, gnuplot, whyNot);
    }

    /// <param name="run">Finished or not.</param>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="gnuplot">Null when there is none.</param>
    /// <param name="whyNot">The reason then.</param>
    public static RenderedCharts Render(StoredRun run, string folder, Gnuplot? gnuplot, string whyNot)
    {
        var charts = ChartCatalogue.Build(run);
        var files = new List<string>();
        try
        {
            Directory.CreateDirectory(folder);
            RemoveOldPictures(folder);
            if (charts.Count > 0)
                files.AddRange(ChartCatalogue.SharedTemplates.Select(template => CopyTemplate(template, template, folder)));
            foreach (var chart in charts)
            {
                files.Add(CopyTemplate(chart.Template, chart.Name + ".gp", folder));
                files.AddRange(WriteData(chart, folder));
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return new RenderedCharts([], files, [$"note: charts skipped: {e.Message}"]);
        }

        if (charts.Count == 0)
            return new RenderedCharts([], [], []);
        if (gnuplot is not null)
            return Draw(charts, folder, gnuplot, files);
        string hint = $"data and scripts are in {folder}, install gnuplot-nox and run 'mongoperf report {run.Run.Id}' again";
        return new RenderedCharts([], files, [$"note: charts skipped: {whyNot}; {hint}"]);
    }

    private static RenderedCharts Draw(IReadOnlyList<Chart> charts, string folder, Gnuplot gnuplot, List<string> files)
    {
        var drawn = new List<DrawnChart>();
        var warnings = new List<string>();
        foreach (var chart in charts)
        {
            var pictures = new DrawnChart(chart, Path.Combine(folder, chart.Name + ".png"), Path.Combine(folder, chart.Name + ".svg"));
            string? failure = gnuplot.Run(folder, chart.Name + ".gp");
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

    /// <summary>A script that is not named as its template loads the settings of its own name.</summary>
    private static string CopyTemplate(string template, string name, string folder)
    {
        string target = Path.Combine(folder, name);
        string source = Path.Combine(TemplateFolder, template);
        if (template == name)
            File.Copy(source, target, overwrite: true);
        else
            File.WriteAllText(target, File.ReadAllText(source).Replace(SettingsOf(template), SettingsOf(name), StringComparison.Ordinal));
        return target;
    }

    private static string SettingsOf(string script) => Path.ChangeExtension(script, ".settings.gp");

    private static IEnumerable<string> WriteData(Chart chart, string folder)
    {
        string settings = Path.Combine(folder, chart.Name + ".settings.gp");
        File.WriteAllText(settings, $"# Written by mongoperf for {chart.Name}.gp, and again by each 'mongoperf report'.\n{chart.Settings}");
        yield return settings;
        foreach (var table in chart.Tables)
        {
            string path = Path.Combine(folder, table.FileName);
            using var writer = new StreamWriter(path);
            table.Write(writer);
            yield return path;
        }
    }

    /// <summary>A picture of an earlier report must not stand for one that could not be drawn now.</summary>
    private static void RemoveOldPictures(string folder)
    {
        foreach (string name in ChartCatalogue.Names)
        {
            File.Delete(Path.Combine(folder, name + ".png"));
            File.Delete(Path.Combine(folder, name + ".svg"));
        }

        foreach (string picture in Directory.GetFiles(folder, SweepChart.NamePrefix + "*.*g").Where(f => f.EndsWith(".png", StringComparison.Ordinal) || f.EndsWith(".svg", StringComparison.Ordinal)))
            File.Delete(picture);
    }

    private static bool HasContent(string path) => new FileInfo(path) is { Exists: true, Length: > 0 };
}

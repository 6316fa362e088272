using System.CommandLine;
using MongoPerf.Cli.Sessions;
using MongoPerf.Engine.Runs;
using MongoPerf.Input;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Charts.Drawing;
using MongoPerf.Reporting.Comparison;
using MongoPerf.Reporting.Figures;
using MongoPerf.Reporting.Plots;

namespace MongoPerf.Cli;

/// <summary><c>plot RUN…</c>: draws one chart of one or several stored runs.</summary>
internal static class PlotCommand
{
    private const int LeastPixels = 400;
    private const int MostPixels = 8000;

    /// <summary>Of a picture: one of more takes over a gigabyte to draw.</summary>
    private const double MostOfAll = 200e6;

    public static Command Create()
    {
        var shared = new SharedOptions();
        var runs = new Argument<string[]>("RUN") { Description = "Run ids or folders; of several the first is the baseline, and their charts are those of 'compare'", Arity = ArgumentArity.OneOrMore };
        Option<string?> plot = OptionTypes.Text("--plot", "A plot from 'list plots', a chart of the report such as figure-1 or latency-2, or a file [default: the first chart of the report]", "NAME|FILE");
        Option<long?> width = Pixels("--width", $"Width in pixels [default: {ChartLayout.UsualWidth}]");
        Option<long?> height = Pixels("--height", "Height in pixels [default: as many as its panels need]");
        Option<double?> scale = OptionTypes.Make<double?>("--scale", null, "Scale factor of the image, such as 2 for a high-DPI screen [default: 1]", "FACTOR", ParseScale);
        Option<string?> theme = OptionTypes.Choice("--theme", "Colors [default: light]", "light", "dark", "print");
        Option<string?> format = OptionTypes.Choice("--format", "File format [default: from the extension of -o, otherwise png]", "png", "svg");
        Option<string?> title = OptionTypes.Text("--title", "Title above the chart, in place of its own", "TEXT");
        Option<string?> output = OptionTypes.Text("--output", "File to write, replacing an older one; - is standard output [default: RUN-PLOT.png]", "FILE", "-o");
        var command = new Command("plot", "Draw one chart of stored runs, for a report or a slide") { runs, plot, width, height, scale, theme, format, title, output, shared.Out };
        command.Runs(parsed =>
        {
            string folder = PlanRequests.RunsFolder(parsed, shared.Out);
            string[] named = parsed.GetValue(runs)!;
            if (named.FirstOrDefault(static name => name.StartsWith('-')) is { } unknown)
                throw new UserException(
                    ExitCode.WrongUsage, $"unknown option '{unknown}' of 'plot'",
                    NearestName.Hint(unknown, command.Options.Select(static option => option.Name)));
            // A file of a folder with a style of its own has that style.
            using IDisposable style = PlotStyle.Of(parsed.GetValue(plot) is { } own && File.Exists(own) && PlotLibrary.Standard.All(one => one.Name != own) ? Path.GetDirectoryName(Path.GetFullPath(own)) : null);
            using IDisposable language = ChartLanguage.Begin(out string? warning);
            if (warning is not null)
                Console.Error.WriteLine(warning);
            Chart chart = Choose(folder, named, parsed.GetValue(plot));
            if (parsed.GetValue(title) is { } given)
                chart = chart with { Title = given };
            var layout = new ChartLayout(chart, parsed.GetValue(width) ?? ChartLayout.UsualWidth, parsed.GetValue(height));
            if (layout.Height < layout.LeastHeight)
                throw new UserException(
                    ExitCode.WrongUsage, $"--height is {layout.Height}, but {chart.Name} needs {layout.LeastHeight} pixels for its panels ({chart.Panels.Count}), title, axes and legends",
                    "omit --height to get the height it needs, or draw a plot of your own with fewer panels or lines");
            if (layout.Width * layout.Height * Math.Pow(parsed.GetValue(scale) ?? 1, 2) > MostOfAll)
                throw new UserException(
                    ExitCode.WrongUsage, $"the picture would have more than {MostOfAll / 1e6:0} million pixels",
                    "a smaller --scale, or --format svg, which has no pixels");
            string? file = parsed.GetValue(output);
            bool isSvg = (parsed.GetValue(format) ?? (file?.EndsWith(".svg", StringComparison.OrdinalIgnoreCase) == true ? "svg" : "png")) == "svg";
            ChartTheme colors = ChartTheme.Of(parsed.GetValue(theme) ?? "light");
            byte[] picture;
            try
            {
                picture = isSvg
                    ? System.Text.Encoding.UTF8.GetBytes(PictureFile.Svg(chart, layout, colors))
                    : PictureFile.Png(chart, layout, colors, parsed.GetValue(scale) ?? 1);
            }
            catch (Exception e) when (PictureFile.MeansNoLibrary(e))
            {
                throw new UserException(ExitCode.WrongUsage, PictureFile.NoLibraryText(e), "'mongoperf report RUN --format csv' prints the data");
            }

            Write(picture, file ?? $"{Path.GetFileName(Path.TrimEndingDirectorySeparator(named[0]))}-{chart.Name}.{(isSvg ? "svg" : "png")}");
        });
        return command;
    }

    private static Chart Choose(string folder, string[] named, string? plot)
    {
        if (named.Length > 1 || named[0].Contains(','))
            return OfSeveral(folder, named, plot);
        RunFolder found = RunFolder.Find(folder, named[0]);
        using StoredRun run = StoredRun.Open(found.Path);
        PlotInfo? own = plot is not null && PlotLibrary.Standard.All(one => one.Name != plot) && PlotFile.TryFind(plot) is { } file ? PlotReader.Read(file) : null;
        Chart[] charts = [.. own is null ? ChartCatalogue.Build(run) : PlotBuilder.Build(run, own)];
        if (own is not null)
            return charts.FirstOrDefault() ?? throw new UserException(
                ExitCode.WrongUsage, $"{plot}: run {run.Run.Id} has nothing of what it shows", Has(ChartCatalogue.Build(run)));
        return Named(charts, plot, $"run {run.Run.Id}", PlotLibrary.Standard.Select(static one => one.Name));
    }

    /// <summary>The charts of their comparison; a file with y lays the runs over each other.</summary>
    private static Chart OfSeveral(string folder, string[] named, string? plot)
    {
        IReadOnlyList<ComparedSide> sides = SideFinder.Find(folder, named);
        try
        {
            if (sides.Count == 1)
                throw new UserException(
                    ExitCode.WrongUsage, $"{string.Join(' ', named)} are repeats of one run",
                    "name one of them, or another run to compare them with");
            if (plot is not null && PlotFile.TryFind(plot) is { } file)
            {
                PlotInfo own = PlotReader.Read(file);
                if (own.Figure is null)
                    throw new UserException(
                        ExitCode.WrongUsage, $"{file.ShownPath}: a plot with panels shows one run; {named.Length} are named",
                        "a plot with y, or a chart of the comparison such as compare-ratios, shows several");
                FigureRun[] runs = [.. FigureRun.Of([.. sides.Select(static side => side.Stored)])];
                return PlotBuilder.Build(runs, own).FirstOrDefault() ?? throw new UserException(
                    ExitCode.WrongUsage, $"{file.ShownPath}: these runs have no data for this plot");
            }

            string[] unlike = [.. SetupCheck.Find([.. sides.Select(static side => side.First)]).Where(static difference => difference.IsUnlike).Select(static difference => difference.ToString())];
            if (unlike.Length > 0)
                throw new UserException(
                    ExitCode.WrongUsage, $"the runs did different work, so a ratio would mean nothing: {string.Join("; ", unlike)}",
                    "'mongoperf compare --force' compares and draws them anyway");
            IReadOnlyList<Chart> charts = ComparisonCharts.Build(RunComparer.Compare(sides, RunComparer.DefaultNoiseThreshold)).Charts;
            return Named(charts, plot ?? (charts.Any(static chart => chart.Name == "compare-ratios") ? "compare-ratios" : null), "the comparison", []);
        }
        finally
        {
            foreach (StoredRun run in sides.SelectMany(static side => side.Stored))
                run.Dispose();
        }
    }

    private static Chart Named(IReadOnlyList<Chart> charts, string? name, string whose, IEnumerable<string> known)
    {
        if (name is null)
            return charts.Count > 0 ? charts[0] : throw new UserException(ExitCode.WrongUsage, $"{whose} has nothing to draw: no phase has a result");
        // Of several phases with laps, say, the first.
        if ((charts.FirstOrDefault(one => one.Name == name) ?? charts.FirstOrDefault(one => one.Name == name + "-1")) is { } chart)
            return chart;
        throw known.Contains(name)
            ? new UserException(ExitCode.WrongUsage, $"{whose} has no data for plot '{name}' shows", Has(charts))
            : new UserException(
                ExitCode.WrongUsage, $"--plot: no file and no plot '{name}'; {whose} has {string.Join(", ", charts.Select(static chart => chart.Name))}",
                NearestName.Hint(name, charts.Select(static chart => chart.Name).Concat(known)) ?? "'mongoperf list plots' lists the standard ones");
    }

    private static string Has(IReadOnlyList<Chart> charts) =>
        charts.Count == 0 ? "it has no charts at all" : $"it has {string.Join(", ", charts.Select(static chart => chart.Name))}";

    private static void Write(byte[] picture, string file)
    {
        if (file == "-")
        {
            using Stream console = Console.OpenStandardOutput();
            console.Write(picture);
            return;
        }

        try
        {
            File.WriteAllBytes(file, picture);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserException(ExitCode.WrongUsage, $"{file}: can't be written: {e.Message}", "-o names another file");
        }

        Console.WriteLine($"{file} written");
    }

    private static Option<long?> Pixels(string name, string description) =>
        OptionTypes.Make<long?>(name, null, description, "PIXELS", static text =>
        Quantities.ParseCount(text) is var pixels && pixels is >= LeastPixels and <= MostPixels ? pixels : throw new FormatException($"'{text}' is out of range; allowed: {LeastPixels} to {MostPixels}"));

    private static double? ParseScale(string text) =>
        double.TryParse(text, out double scale) && scale is >= 0.25 and <= 4 ? scale : throw new FormatException($"'{text}' is not a factor such as 2; allowed: 0.25 to 4");
}

using System.CommandLine;
using MongoPerf.Commands.Results;
using MongoPerf.Options;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Charts.Drawing;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Plots;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>plot RUN…</c>: draws one chart of one or several stored runs.</summary>
internal static class PlotCommand
{
    private const int LeastPixels = 400;
    private const int MostPixels = 8000;

    /// <summary>What is drawn of several runs unless a plot is named.</summary>
    private const string UsualOfSeveral = "ratios";

    /// <summary>A picture of more pixels takes over a gigabyte to draw.</summary>
    private const double MostOfAll = 200e6;

    public static Command Create()
    {
        var shared = new SharedOptions();
        var runs = new Argument<string[]>("RUN")
        {
            Description = "Run ids or folders; with several, the first is the baseline, and the charts are those of 'compare'",
            Arity = ArgumentArity.OneOrMore,
        };
        Option<string?> plot = OptionTypes.Text("--plot", "A plot from 'list plots', a chart of the report such as figure-1 or latency-2, "
            + "or a file [default: the first chart of the report]", "PLOT|FILE");
        plot.CompletionSources.Add(_ => PlotLibrary.Standard.Select(one => one.Name));
        Option<long?> width = Pixels("--width", $"Width in pixels [default: {ChartLayout.UsualWidth}]");
        Option<long?> height = Pixels("--height", "Height in pixels [default: as many as its panels need]");
        Option<double?> scale = OptionTypes.Make<double?>(
            "--scale", null, "Scale factor of the image, such as 2 for a high-DPI screen [default: 1]", "FACTOR", ParseScale);
        Option<string?> theme = OptionTypes.Choice("--theme", "Colors [default: light]", "light", "dark", "print");
        Option<string?> format = OptionTypes.Choice(
            "--format", "File format [default: from the extension of -o, otherwise png]", "png", "svg");
        Option<string?> title = OptionTypes.Text("--title", "Title above the chart, in place of its own", "TEXT");
        Option<string?> output = OptionTypes.Text(
            "--output", "File to write, or overwrite; - is standard output [default: RUN-PLOT.png]", "FILE", "-o");
        var command = new Command("plot", "Draw one chart of stored runs, for a report or a slide")
        {
            runs, plot, width, height, scale, theme, format, title, output, shared.Out,
        };
        command.Runs(parsed =>
        {
            string folder = PlanRequests.RunsFolder(parsed, shared.Out);
            string[] named = parsed.GetValue(runs)!;
            if (named.FirstOrDefault(static name => name.StartsWith('-')) is { } unknown)
                throw new UserException(
                    ExitCode.WrongUsage, $"unknown option '{unknown}' of 'plot'",
                    NearestName.Hint(unknown, command.Options.Select(static option => option.Name)));
            string? wanted = parsed.GetValue(plot);
            using IDisposable style = PlotStyle.In(FolderOf(wanted)).Use();
            using IDisposable language = ChartLanguage.Begin(out string? warning);
            if (warning is not null)
                Console.Error.WriteLine(warning);
            Chart chart = named.Length > 1 || named[0].Contains(',') ? OfSeveral(folder, named, wanted) : OfOne(folder, named[0], wanted);
            if (parsed.GetValue(title) is { } given)
                chart = chart with { Title = given };
            string? file = parsed.GetValue(output);
            if (file?.Length == 0)
                throw new UserException(ExitCode.WrongUsage, "-o: the file's name is empty");
            if (file?.EndsWith(".csv", StringComparison.OrdinalIgnoreCase) == true)
                throw new UserException(ExitCode.WrongUsage, $"-o: {file} would be a picture; allowed: .png and .svg",
                    "the data are written beside it as .csv");
            bool isSvg =
                (parsed.GetValue(format) ?? (file?.EndsWith(".svg", StringComparison.OrdinalIgnoreCase) == true ? "svg" : "png")) == "svg";
            ChartLayout layout = LayOut(chart, parsed.GetValue(width), parsed.GetValue(height), isSvg ? 1 : parsed.GetValue(scale) ?? 1);
            ChartTheme colors = ChartTheme.Of(PlanRequests.Theme(parsed, theme));
            byte[] picture;
            try
            {
                picture = isSvg
                    ? System.Text.Encoding.UTF8.GetBytes(PictureFile.Svg(chart, layout, colors))
                    : PictureFile.Png(chart, layout, colors, layout.Scale * (parsed.GetValue(scale) ?? 1));
            }
            catch (Exception e) when (PictureFile.MeansNoLibrary(e))
            {
                throw new UserException(
                    ExitCode.WrongUsage, PictureFile.NoLibraryText(e), "'mongoperf report RUN --format csv' prints the data");
            }

            PlotData.Write(chart, picture, isSvg,
                file ?? $"{Path.GetFileName(Path.TrimEndingDirectorySeparator(named[0]))}-{chart.Name}.{(isSvg ? "svg" : "png")}");
        });
        return command;
    }

    /// <summary>The folder of a user's own file, which may have a style; null for a standard plot.</summary>
    private static string? FolderOf(string? plot) =>
        plot is not null && PlotLibrary.Standard.All(one => one.Name != plot) && File.Exists(plot)
            ? Path.GetDirectoryName(Path.GetFullPath(plot)) : null;

    private static ChartLayout LayOut(Chart chart, long? width, long? height, double scale)
    {
        var layout = ChartLayout.Fit(chart, width ?? ChartLayout.UsualWidth, height, out double least);
        if (layout.IsTooLow)
            throw new UserException(
                ExitCode.WrongUsage, $"--height is {height}, but {chart.Name} needs at least {least} pixels: title, axes, legends and "
                + $"{(chart.Panels.Count == 1 ? "a panel" : $"{chart.Panels.Count} panels")} in the smallest letters that can be read",
                "omit --height to get the height it needs, or draw a plot of your own with fewer panels or lines");
        return layout.Width * layout.Height * Math.Pow(layout.Scale * scale, 2) <= MostOfAll ? layout
            : throw new UserException(
                ExitCode.WrongUsage, $"the picture would have more than {MostOfAll / 1e6:0} million pixels",
                "a smaller --scale, or --format svg, which has no pixels");
    }

    private static Chart OfOne(string folder, string name, string? wanted)
    {
        using StoredRun run = StoredRun.Open(RunFolder.Find(folder, name).Path);
        string whose = $"run {run.Run.Id}";
        if (Find(wanted) is not { } plot)
            return Named(ChartCatalogue.Build(run), wanted, whose);
        if (!plot.IsOfOneRun)
            throw new UserException(
                ExitCode.WrongUsage, $"{wanted} is a plot of several runs; one is named", "name the runs to compare, the baseline first");
        Chart[] charts = [.. PlotBuilder.Build(run, plot)];
        if (charts.Length == 0)
            throw Missing(plot, wanted!, whose, FigureRun.Of(run), ChartCatalogue.Build(run));
        WarnOfUnknown(plot, wanted!, whose, FigureRun.Of(run), charts);
        return charts[0];
    }

    private static Chart OfSeveral(string folder, string[] named, string? wanted)
    {
        IReadOnlyList<ComparedSide> sides = SideFinder.Find(folder, named);
        try
        {
            if (sides.Count == 1)
                throw new UserException(
                    ExitCode.WrongUsage, $"{string.Join(' ', named)} are repeats of one run",
                    "name one of them, or another run to compare them with");
            if (Find(wanted) is not { } plot)
            {
                IReadOnlyList<Chart> charts = ComparisonCharts.Build(Compare(sides, [])).Charts;
                return Named(charts, wanted ?? charts.FirstOrDefault(static chart => chart.Name == UsualOfSeveral)?.Name, "the comparison");
            }

            if (!plot.IsOfSeveralRuns)
                throw new UserException(
                    ExitCode.WrongUsage, $"{wanted} is a plot of one run; {named.Length} are named",
                    "a plot file with 'runs: any' is drawn of each run; of the standard plots, ratios and operation compare runs");
            IReadOnlyList<FigureRun> runs = FigureRun.Of([.. sides.Select(static side => side.Stored)]);
            Chart[] drawn = [.. ComparisonCharts.Build(sides, plot, () => Compare(sides, [plot]))];
            if (drawn.Length == 0)
                throw Missing(plot, wanted!, "the comparison", runs, null);
            WarnOfUnknown(plot, wanted!, "the comparison", runs, drawn);
            return drawn[0];
        }
        finally
        {
            foreach (StoredRun run in sides.SelectMany(static side => side.Stored))
                run.Dispose();
        }
    }

    private static PlotInfo? Find(string? wanted) => wanted is null ? null : PlotLibrary.TryFind(wanted);

    private static RunComparison Compare(IReadOnlyList<ComparedSide> sides, IReadOnlyList<PlotInfo> plots)
    {
        string[] unlike =
        [
            .. SetupCheck.Find([.. sides.Select(static side => side.First)]).Where(static difference => difference.IsUnlike)
                .Select(static difference => difference.ToString()),
        ];
        return unlike.Length == 0 ? RunComparer.Compare(sides, RunComparer.DefaultNoiseThreshold, plots: plots)
            : throw new UserException(
                ExitCode.WrongUsage, $"the runs did different work, so a ratio would mean nothing: {string.Join("; ", unlike)}",
                "'mongoperf compare --force' compares and draws them anyway");
    }

    /// <summary>The chart of a report by its name, or its first one.</summary>
    private static Chart Named(IReadOnlyList<Chart> charts, string? name, string whose)
    {
        if (name is null)
            return charts.Count > 0 ? charts[0]
                : throw new UserException(ExitCode.WrongUsage, $"{whose} has nothing to draw: no phase has a result");
        return charts.FirstOrDefault(one => one.Name == name) ?? throw new UserException(
            ExitCode.WrongUsage,
            $"--plot: no file and no plot '{name}'; {whose} has {string.Join(", ", charts.Select(static chart => chart.Name))}",
            NearestName.Hint(name, charts.Select(static chart => chart.Name).Concat(PlotLibrary.Standard.Select(static one => one.Name)))
                ?? "'mongoperf list plots' lists the standard ones");
    }

    /// <summary>Why a plot has nothing to draw: a name in it that the runs don't know, or no data.</summary>
    /// <param name="plot">What was to be drawn.</param>
    /// <param name="wanted">Its name or file.</param>
    /// <param name="whose">What was looked at.</param>
    /// <param name="runs">The runs that were looked at.</param>
    /// <param name="charts">What could be drawn instead; null where that takes long to find out.</param>
    private static UserException Missing(
        PlotInfo plot, string wanted, string whose, IReadOnlyList<FigureRun> runs, IReadOnlyList<Chart>? charts)
    {
        if (plot.Figure is { } figure && FigureNames.FindUnknown(figure, runs).FirstOrDefault() is { } unknown)
            return new UserException(
                ExitCode.WrongUsage,
                $"{wanted}: {unknown.Key} is '{unknown.Name}', which {whose} does not have; it has {string.Join(", ", unknown.Known)}",
                NearestName.Hint(unknown.Name, unknown.Known));
        string? hint = charts is null ? null
            : charts.Count == 0 ? "it has no charts at all" : $"it has {string.Join(", ", charts.Select(static chart => chart.Name))}";
        return new UserException(ExitCode.WrongUsage, $"{whose} has no data for plot {wanted}", hint);
    }

    /// <summary>Says which of the names in a plot's file are left out of its charts.</summary>
    private static void WarnOfUnknown(
        PlotInfo plot, string wanted, string whose, IReadOnlyList<FigureRun> runs, IReadOnlyList<Chart> charts)
    {
        foreach (UnknownName unknown in PlotNames.FindUnknown(plot, runs, charts))
            Console.Error.WriteLine($"warning: {wanted}: {unknown.Key} has '{unknown.Name}', which {whose} does not have"
                + $"{(unknown.Known.Count > 0 ? $"; it has {string.Join(", ", unknown.Known)}" : "")}");
    }

    private static Option<long?> Pixels(string name, string description) =>
        OptionTypes.Make<long?>(name, null, description, "PIXELS", static text =>
        Quantities.ParseCount(text) is var pixels && pixels is >= LeastPixels and <= MostPixels ? pixels
            : throw new FormatException($"'{text}' is out of range; allowed: {LeastPixels} to {MostPixels}"));

    private static double? ParseScale(string text) =>
        double.TryParse(text, out double scale) && scale is >= 0.25 and <= 4 ? scale
            : throw new FormatException($"'{text}' is not a factor such as 2; allowed: 0.25 to 4");
}

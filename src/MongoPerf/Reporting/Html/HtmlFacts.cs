using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Html;

/// <summary>The report's parts beside figures and charts: what ran where, what went wrong, how to repeat it.</summary>
internal static class HtmlFacts
{
    private const int MostEvents = 200;

    public static void Settings(HtmlWriter html, StoredRun run)
    {
        html.Element("h2", "What ran, and on what").Open("dl");
        Fact(html, "run", $"{run.Run.Id}, {run.StateText}, seed {run.Run.Seed}");
        Fact(html, "started", Time(run.Run.StartedAt) + (run.Run.EndedAt is { } ended ? $", ended {Time(ended)}" : ""));
        Fact(html, "program", $"MongoPerf {run.Run.Version}, {run.Run.BuildKind} build");
        Deployment(html, run.Deployment);
        Machine(html, run.Environment);
        var settings = run.Settings;
        Fact(html, "data", $"{HtmlTables.Count(settings.TargetDocumentCount)} documents of 1,024 bytes, in steps of {HtmlTables.Count(settings.StepDocumentCount)}; "
            + $"{settings.Compressibility} % of the filler compressible");
        Fact(html, "inserts", $"{string.Join('/', settings.Shares)} % unack/batch/safe, batches of {HtmlTables.Count(settings.BatchSize)}, "
            + $"{(settings.OrderedBatches ? "ordered" : "unordered")}, journal {(settings.Journal ? "on" : "off")}");
        Fact(html, "queries", $"{string.Join(", ", settings.Threads)} threads, windows of {Seconds(settings.WindowSeconds)}, "
            + $"of which {Seconds(settings.WarmupSeconds)} warm-up is left out");
        Fact(html, "load", settings.Rate is { } rate ? $"{AxisScale.CountText(rate)} operations/s in total" : "as fast as possible (closed loop)");
        Fact(html, "checked", $"{(settings.VerifyShare * 100).ToString("0.##", CultureInfo.InvariantCulture)} % of the returned documents");
        html.Close();
    }

    public static void Errors(HtmlWriter html, StoredRun run)
    {
        html.Element("h2", "Errors");
        if (run.Errors.Count == 0)
            html.Paragraph("None.");
        else
        {
            html.Table(
                ["code", "name", "count", "labels", "first message"],
                run.Errors.Select(static error => (IReadOnlyList<string>)
                    [error.Code.ToString(CultureInfo.InvariantCulture), error.Name, HtmlTables.Count(error.Count), string.Join(", ", error.Labels), error.FirstMessage]),
                isText: true);
        }
    }

    public static void Events(HtmlWriter html, StoredRun run)
    {
        html.Element("h2", "Events");
        if (run.Events.Count == 0)
        {
            html.Paragraph("None.");
            return;
        }

        html.Table(
            ["after", "what", "lasted", "text"],
            run.Events.Take(MostEvents).Select(one => (IReadOnlyList<string>)
            [
                After(TimeSpan.FromMilliseconds(one.AtMilliseconds - run.Run.StartedAt.ToUnixTimeMilliseconds())), one.Kind,
                one.Seconds is { } seconds ? Seconds(seconds) : "", one.Text,
            ]),
            isText: true);
        if (run.Events.Count > MostEvents)
            html.Paragraph($"The first {MostEvents} of {HtmlTables.Count(run.Events.Count)}; run.db has them all.");
    }

    public static void Repeat(HtmlWriter html, StoredRun run)
    {
        html.Element("h2", "How to repeat it").Paragraph("The command as it was typed; secrets are masked.").Element("pre", run.Run.CommandLine);
        html.Paragraph($"The documents depend on the seed alone: with --seed {run.Run.Seed} they are the same bytes on every machine.");
    }

    public static void Files(HtmlWriter html, string folder, RenderedCharts charts)
    {
        html.Element("h2", "Files");
        html.Paragraph("This page holds all it shows and can be sent alone. Beside it:");
        html.Open("ul").Open("li").Element("code", "../run.db").Text(" everything measured (SQLite)").Close();
        if (charts.Files.Count > 0)
        {
            string where = Path.GetRelativePath(folder, Path.GetDirectoryName(charts.Files[0])!);
            html.Open("li").Element("code", where + "/").Text(
                " each chart as PNG and SVG, with its data (NAME.dat), its settings (NAME.settings.gp) and its script (NAME.gp). To change a chart, go there, edit the script and run ")
                .Element("code", "gnuplot insert-rate.gp").Text(" (or another NAME.gp). 'mongoperf report' writes these files anew: keep a changed script under a name of your own.").Close();
        }

        html.Close();
    }

    private static void Deployment(HtmlWriter html, DeploymentInfo? deployment)
    {
        if (deployment is null)
        {
            Fact(html, "deployment", "no server was reached");
            return;
        }

        Fact(html, "deployment", $"{ChartText.DeploymentText(deployment)}; {deployment.Address}, {deployment.Namespace}");
        if (deployment.StorageEngine is { } engine)
            Fact(html, "storage", engine + (deployment.CacheBytes is { } cache ? $", cache limit {AxisScale.BytesText(cache)}" : ""));
    }

    private static void Machine(HtmlWriter html, EnvironmentInfo? machine)
    {
        if (machine is null)
            return;
        Fact(html, "client machine", $"{machine.CpuModel}, {machine.CpuCount} cores, {AxisScale.BytesText(machine.MemoryBytes)} memory, "
            + (machine.ServerOnSameMachine ? "shared with the server" : "the server is elsewhere"));
        Fact(html, "system", $"{machine.OperatingSystem}, Linux {machine.Kernel}, .NET {machine.DotNetVersion}");
        Fact(html, "disk", $"{machine.Disk}, {AxisScale.BytesText(machine.DiskFreeBytes)} of {AxisScale.BytesText(machine.DiskTotalBytes)} free at the start");
    }

    private static void Fact(HtmlWriter html, string name, string value) => html.Element("dt", name).Element("dd", value);

    private static string Time(DateTimeOffset time) => time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);

    private static string Seconds(double seconds) => seconds.ToString("0.##", CultureInfo.InvariantCulture) + " s";

    private static string After(TimeSpan span) => span.TotalHours >= 1
        ? $"{(long)span.TotalHours} h {span.Minutes:00} min"
        : span.TotalMinutes >= 1 ? $"{span.Minutes} min {span.Seconds:00} s" : $"{span.TotalSeconds:0.#} s";
}

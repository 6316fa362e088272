using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Html;

/// <summary>The report's parts beside figures and charts: what ran where, what went wrong, how to repeat it.</summary>
internal static class HtmlFacts
{
    public static void Settings(HtmlWriter html, StoredRun run)
    {
        html.Element("h2", "What ran, and on what").Open("dl");
        Fact(html, "run", $"{run.Run.Id}, {run.StateText}, seed {run.Run.Seed}");
        Fact(html, "started", Time(run.Run.StartedAt) + (run.Run.EndedAt is { } ended ? $", ended {Time(ended)}" : ""));
        Fact(html, "program", $"MongoPerf {run.Run.Version}, {run.Run.BuildKind} build");
        Deployment(html, run.Deployment);
        Machine(html, run.Environment);
        var settings = run.Settings;
        if (run.Scenario is { } scenario)
        {
            Fact(html, "scenario", $"{scenario.Name} ({scenario.Path}){(scenario.Description.Length > 0 ? $": {scenario.Description}" : "")}");
            foreach (string changed in scenario.Overrides)
                Fact(html, "changed", changed);
            html.Close();
            html.Element("h2", "The scenario").Element("pre", scenario.Text);
            return;
        }

        Fact(html, "data", $"{Units.Exact(settings.TargetDocumentCount)} documents of 1,024 bytes, in steps of {Units.Exact(settings.StepDocumentCount)}; "
            + $"{settings.Compressibility} % of the filler compressible");
        Fact(html, "inserts", $"{string.Join('/', settings.Shares)} % unack/batch/safe, batches of {Units.Exact(settings.BatchSize)}, "
            + $"{(settings.OrderedBatches ? "ordered" : "unordered")}, journal {(settings.Journal ? "on" : "off")}");
        if (settings.Sharding is { } sharding)
            Fact(html, "shards", ReportLines.Sharding(sharding));
        Fact(html, "queries", $"{string.Join(", ", settings.Threads)} threads, windows of {Seconds(settings.WindowSeconds)}, "
            + $"of which {Seconds(settings.WarmupSeconds)} warm-up is left out");
        Fact(html, "load", settings.Rate is { } rate ? $"{Units.Rate(rate)} operations/s in total" : "as fast as possible (closed loop)");
        Fact(html, "checked", $"{Units.Percent(settings.VerifyShare)} of the returned documents");
        html.Close();
    }

    public static void Errors(HtmlWriter html, StoredRun run) => TableOrNone(html, "Errors", ReportTables.Errors(run));

    public static void Events(HtmlWriter html, StoredRun run) => TableOrNone(html, "Events", ReportTables.Events(run));

    public static void Repeat(HtmlWriter html, StoredRun run)
    {
        html.Element("h2", "How to repeat it").Paragraph("The command as it was typed; secrets are masked.").Element("pre", run.Run.CommandLine);
        html.Paragraph(ReportLines.Next(run, null));
        html.Paragraph($"The documents depend on the seed alone: with --seed {run.Run.Seed} they are the same bytes on every machine.");
    }

    public static void Files(HtmlWriter html, string folder, RenderedCharts charts, IReadOnlyList<string> textFiles)
    {
        html.Element("h2", "Files");
        html.Paragraph("This page holds all it shows and can be sent alone. Beside it:");
        html.Open("ul").Open("li").Element("code", "../run.db").Text(" everything measured (SQLite)").Close();
        foreach (string file in textFiles)
        {
            string name = Path.GetFileName(file);
            html.Open("li").Element("a", name, "href", name).Text(Purpose(name)).Close();
        }

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
            Fact(html, "storage", engine + (deployment.CacheBytes is null ? "" : $", cache limit {ReportLines.Cache(deployment)}"));
    }

    private static void Machine(HtmlWriter html, EnvironmentInfo? machine)
    {
        if (machine is null)
            return;
        Fact(html, "client machine", $"{machine.CpuModel}, {machine.CpuCount} cores, {Units.BinaryBytes(machine.MemoryBytes)} memory, "
            + (machine.ServerOnSameMachine ? "shared with the server" : "the server is elsewhere"));
        Fact(html, "system", $"{machine.OperatingSystem}, Linux {machine.Kernel}, .NET {machine.DotNetVersion}");
        Fact(html, "disk", $"{machine.Disk}, {Units.Bytes(machine.DiskFreeBytes)} of {Units.Bytes(machine.DiskTotalBytes)} free at the start");
    }

    private static void Fact(HtmlWriter html, string name, string value) => html.Element("dt", name).Element("dd", value);

    private static void TableOrNone(HtmlWriter html, string title, ReportTable? table)
    {
        html.Element("h2", table?.Title ?? title);
        if (table is null)
            html.Paragraph("None.");
        else
            HtmlTables.Rows(html, table);
    }

    private static string Purpose(string fileName) => fileName switch
    {
        "report.md" => " this report as text, to paste into a ticket",
        "result.json" => " everything that programs may want to read",
        "latencies.hlog" => " latencies as an HdrHistogram log",
        "tests.csv" => " results, a line per step, test and thread count",
        "sizes.csv" => " sizes, a line per step",
        "samples.csv" => " the client's samples over time",
        "server.csv" => " the server's samples over time",
        "shards.csv" => " what each shard held and did over time",
        "chunk-events.csv" => " migrations, splits and merges of chunks",
        "host.csv" => " the machine's samples over time",
        _ => "",
    };

    private static string Time(DateTimeOffset time) => time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);

    private static string Seconds(double seconds) => Units.Duration(TimeSpan.FromSeconds(seconds));
}

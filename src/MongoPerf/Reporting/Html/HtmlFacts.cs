using System.Globalization;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Html;

/// <summary>The report's parts beside figures and charts: what ran where, what went wrong, how to repeat it.</summary>
internal static class HtmlFacts
{
    public static void Settings(HtmlWriter html, StoredRun run)
    {
        html.Section("Setup").Open("dl");
        Fact(html, "run", Words.Of($"{run.Run.Id}, {Words.Of(run.StateText)}, seed {run.Run.Seed}"));
        Fact(html, "started", Time(run.Run.StartedAt) + (run.Run.EndedAt is { } ended ? Words.Of($", ended {Time(ended)}") : ""));
        Fact(html, "program", Words.Of($"MongoPerf {run.Run.Version}, {run.Run.BuildKind} build"));
        Fact(html, "engine", run.Settings.Engine.Text);
        Deployment(html, run);
        Machine(html, run.Environment);
        RunSettings settings = run.Settings;
        PlanSettings plan = settings.Plan;
        Fact(html, "scenario", ReportLines.PlanText(plan));
        if (plan.Parameters.Count > 0)
            Fact(html, "parameters", PhaseLabels.Parameters(plan.Parameters));
        foreach (string changed in plan.Changes)
            Fact(html, "changed", changed);
        if (settings.Data.Sharding is { } sharding)
            Fact(html, "shards", ReportLines.Sharding(sharding, run.Deployment?.Collections));
        if (plan.VerifyShare > 0)
            Fact(html, "verified", Words.Of($"{Units.Percent(plan.VerifyShare)} of the returned documents, where they can be"));
        html.Close();
        html.Section(Words.Of("The scenario")).Element("pre", plan.Text);
    }

    public static void Errors(HtmlWriter html, StoredRun run) => TableOrNone(html, "Errors", ReportTables.Errors(run));

    public static void Events(HtmlWriter html, StoredRun run) => TableOrNone(html, "Events", ReportTables.Events(run));

    public static void Repeat(HtmlWriter html, StoredRun run)
    {
        html.Section(Words.Of("Repeat this run")).Paragraph(Words.Of("The command as typed, with secrets masked:")).Element("pre", run.Run.CommandLine);
        html.Paragraph(ReportLines.Next(run, null));
        html.Paragraph(Words.Of($"The documents depend on the seed only: with --seed {run.Run.Seed} they are byte for byte the same on every machine."));
    }

    public static void Files(HtmlWriter html, string folder, RenderedCharts charts, IReadOnlyList<string> textFiles)
    {
        html.Section("Files");
        html.Paragraph(Words.Of("This page is self-contained and can be sent by itself. Next to it:"));
        html.Open("ul").Open("li").Element("code", "../run.db").Text(Words.Of(" everything that was measured (SQLite)")).Close();
        foreach (string file in textFiles)
        {
            string name = Path.GetFileName(file);
            html.Open("li").Element("a", name, "href", name).Text(Purpose(name)).Close();
        }

        if (charts.Files.Count > 0)
        {
            string where = Path.GetRelativePath(folder, Path.GetDirectoryName(charts.Files[0])!);
            html.Open("li").Element("code", where + "/").Text(
                " each chart as PNG and SVG, with its data (NAME.dat), settings (NAME.settings.gp) and script (NAME.gp, which loads the template of its kind). To change a chart, edit these and run ")
                .Element("code", $"gnuplot {charts.Drawn.Select(drawn => drawn.Chart.Name).FirstOrDefault("timeline")}.gp").Text(" (or another NAME.gp) in that folder. 'mongoperf report' overwrites these files, so keep your version under another name.").Close();
        }

        html.Close();
    }

    private static void Deployment(HtmlWriter html, StoredRun run)
    {
        if (run.Deployment is not { } deployment)
        {
            Fact(html, "deployment", Words.Of("no server was reached"));
            return;
        }

        Fact(html, "deployment", $"{ChartText.DeploymentText(run)}; {deployment.Address}, {deployment.Namespace}");
        if (deployment.StorageEngine is { } engine)
            Fact(html, "storage", engine + (deployment.CacheBytes is null ? "" : Words.Of($", cache limit {ReportLines.Cache(deployment)}")));
    }

    private static void Machine(HtmlWriter html, EnvironmentInfo? machine)
    {
        if (machine is null)
            return;
        Fact(html, Words.Of("client machine"), Words.Of($"{machine.CpuModel}, {Words.Counted(machine.CpuCount, "core")}, {Units.BinaryBytes(machine.MemoryBytes)} of memory, ")
            + (machine.ServerOnSameMachine ? Words.Of("shared with the server") : Words.Of("the server is elsewhere")));
        Fact(html, "system", Words.Of($"{machine.OperatingSystem}, Linux {machine.Kernel}, .NET {machine.DotNetVersion}"));
        Fact(html, "disk", Words.Of($"{machine.Disk}, {Units.Bytes(machine.DiskFreeBytes)} of {Units.Bytes(machine.DiskTotalBytes)} free at the start"));
    }

    private static void Fact(HtmlWriter html, string name, string value) => html.Element("dt", Words.Of(name)).Element("dd", value);

    private static void TableOrNone(HtmlWriter html, string title, ReportTable? table)
    {
        html.Section(table?.Title ?? title);
        if (table is null)
            html.Paragraph(Words.Of("None."));
        else
            HtmlTables.Rows(html, table);
    }

    private static string Purpose(string fileName) => fileName switch
    {
        "report.md" => Words.Of(" this report as text, to paste into a ticket"),
        "result.json" => Words.Of(" all results for programs to read"),
        "latencies.hlog" => Words.Of(" latencies as an HdrHistogram log"),
        "results.csv" => Words.Of(" results, a row for each operation of each phase"),
        "sizes.csv" => Words.Of(" sizes, a row for each time they were taken"),
        "laps.csv" => Words.Of(" how long each lap of each task took"),
        "samples.csv" => Words.Of(" the client's samples over time"),
        "server.csv" => Words.Of(" the server's samples over time"),
        "shards.csv" => Words.Of(" what each shard held and did over time"),
        "chunk-events.csv" => Words.Of(" migrations, splits and merges of chunks"),
        "host.csv" => Words.Of(" the machine's samples over time"),
        _ => "",
    };

    private static string Time(DateTimeOffset time) => time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);
}

using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting.Charts;

public sealed class ChartRendererTests
{
    [Fact]
    public void A_missing_gnuplot_gives_one_note_and_leaves_data_and_scripts()
    {
        using var folder = new TemporaryFolder();
        using var run = new GrowingRun { Steps = 2 }.Write(folder.At("run"));
        var gnuplot = Gnuplot.Find(null, folder.Path, out string whyNot);

        var rendered = ChartRenderer.Render(run, folder.At("charts"), gnuplot, whyNot);

        Assert.Equal(
            $"note: charts skipped: gnuplot not found on PATH; data and scripts are in {folder.At("charts")}, "
            + "install gnuplot-nox and run 'mongoperf report 2026-11-21-a' again",
            Assert.Single(rendered.Warnings));
        Assert.Empty(rendered.Drawn);
        foreach (string name in new[] { "insert-rate.gp", "insert-rate.dat", "timeline-cpu.dat" })
            Assert.True(File.Exists(Path.Combine(folder.At("charts"), name)), name);
    }

    [Fact]
    public void A_variable_that_does_not_name_a_file_is_said() =>
        Assert.True(Gnuplot.Find("/no/such/gnuplot", "/usr/bin", out string whyNot) is null && whyNot == "MONGOPERF_GNUPLOT names '/no/such/gnuplot', which is not a file");

    [Fact]
    public void A_failing_gnuplot_gives_its_last_words_and_no_exception()
    {
        using var folder = new TemporaryFolder();
        using var run = new GrowingRun { Steps = 1, Phases = ["batch"] }.Write(folder.At("run"));
        Directory.CreateDirectory(folder.At("charts"));
        File.WriteAllText(Path.Combine(folder.At("charts"), "insert-rate.png"), "from an earlier report");
        // More than a pipe holds, so that an undrained one would hang.
        var gnuplot = Fake(folder, "head -c 300000 /dev/zero | tr '\\0' x; echo >&2; echo 'line 3: undefined variable: kinds' >&2; exit 3");

        var rendered = ChartRenderer.Render(run, folder.At("charts"), gnuplot, "");

        Assert.Empty(rendered.Drawn);
        Assert.Contains(
            $"note: chart insert-rate skipped: gnuplot exited with code 3 on insert-rate.gp: line 3: undefined variable: kinds; data and script are in {folder.At("charts")}",
            rendered.Warnings);
        Assert.False(File.Exists(Path.Combine(folder.At("charts"), "insert-rate.png")));
    }

    [Fact]
    public void A_gnuplot_that_draws_nothing_is_noticed()
    {
        using var folder = new TemporaryFolder();
        using var run = new GrowingRun { Steps = 1, Phases = ["batch"] }.Write(folder.At("run"));

        var rendered = ChartRenderer.Render(run, folder.At("charts"), Fake(folder, "exit 0"), "");

        Assert.Contains("gnuplot left no picture for insert-rate.gp", rendered.Warnings[0], StringComparison.Ordinal);
    }

    [Fact]
    public void A_gnuplot_that_hangs_is_ended()
    {
        using var folder = new TemporaryFolder();

        Assert.Equal("gnuplot did not finish x.gp in 1 s", Fake(folder, "sleep 60").Run(folder.Path, "x.gp", TimeSpan.FromSeconds(1)));
    }

    [Fact]
    public void A_gnuplot_that_is_not_a_program_is_a_message()
    {
        using var folder = new TemporaryFolder();
        File.WriteAllText(folder.At("gnuplot"), "not a program");

        Assert.Contains("could not be run", new Gnuplot(folder.At("gnuplot")).Run(folder.Path, "x.gp"), StringComparison.Ordinal);
    }

    [Fact]
    public void A_run_without_results_has_no_charts_and_no_note()
    {
        using var folder = new TemporaryFolder();
        using var run = new GrowingRun { Steps = 0 }.Write(folder.At("run"));

        var rendered = ChartRenderer.Render(run, folder.At("charts"), null, "gnuplot not found on PATH");

        Assert.Empty(rendered.Warnings);
        Assert.Empty(rendered.Files);
    }

    [Fact]
    public void No_text_of_a_run_can_become_a_command() =>
        Assert.Equal("\"a\\\"b\\\\c'rm -rf'\\nd\"", GnuplotScript.Quote("a\"b\\c`rm -rf`\nd"));

    /// <summary>gnuplot takes a text at a tick for a format.</summary>
    [Fact]
    public void A_percent_sign_is_doubled_at_a_tick_and_nowhere_else()
    {
        string script = GnuplotScript.Of(OfShares("shares"));

        Assert.Contains("set xtics norotate (\"37%% reads\" 0.5)", script, StringComparison.Ordinal);
        Assert.Contains("set label \"37% reads\" at", script, StringComparison.Ordinal);
    }

    [GnuplotFact]
    public void A_percent_sign_at_a_tick_is_drawn_as_it_is()
    {
        using var folder = new TemporaryFolder();

        RenderedCharts rendered = ChartRenderer.Render(new ChartSet([OfShares("shares") with { Title = "Shares" }], [], ""), folder.Path);

        Assert.Empty(rendered.Warnings);
        Assert.Contains("37% reads", File.ReadAllText(folder.At("shares.svg")), StringComparison.Ordinal);
    }

    [Fact]
    public void A_folder_of_a_pictures_name_is_a_note_and_no_exception()
    {
        using var folder = new TemporaryFolder();
        using var run = new GrowingRun { Steps = 1, Phases = ["batch"] }.Write(folder.At("run"));
        Directory.CreateDirectory(Path.Combine(folder.At("charts"), "insert-rate.png"));

        var rendered = ChartRenderer.Render(run, folder.At("charts"), Fake(folder, "exit 0"), "");

        Assert.Contains(rendered.Warnings, warning => warning.StartsWith("note: chart insert-rate skipped: ", StringComparison.Ordinal));
    }

    [Fact]
    public void What_is_no_number_breaks_a_line_of_the_data()
    {
        var table = new ChartTable("x.dat", ["at", "rate"]);
        table.Add([1, double.PositiveInfinity]);
        using var text = new StringWriter();

        table.Write(text);

        Assert.Equal("# at\trate\n1\tNaN\n", text.ToString());
    }

    [Fact]
    public void Data_files_of_the_frozen_run_are_as_approved()
    {
        using var folder = new TemporaryFolder();
        using var run = MongoPerf.Engine.Runs.StoredRun.Open(FrozenRun.Build(folder.Path));
        var text = new StringWriter { NewLine = "\n" };
        foreach (var chart in ChartCatalogue.Build(run))
        {
            text.Write($"== {chart.Name}.gp\n{GnuplotScript.Of(chart)}");
            foreach (var table in chart.Tables)
            {
                text.Write($"== {table.FileName}\n");
                table.Write(text);
            }
        }

        Approved.Check("charts-of-the-frozen-run.txt", text.ToString());
    }

    /// <summary>Named "37% reads", as is its only tick.</summary>
    private static Chart OfShares(string name)
    {
        var table = new ChartTable(name + ".dat", ["share", "rate"]);
        table.Add([0.5, 2]);
        var names = new AxisScale(1, [new Tick(0.5, "37% reads")]) { IsOfNames = true };
        return new Chart(name, "37% reads", "", names, [new Panel("rate", AxisScale.OfCount(2), [new Series(table, 1, "a", "o1")])]);
    }

    private static Gnuplot Fake(TemporaryFolder folder, string script)
    {
        string path = folder.At("gnuplot");
        File.WriteAllText(path, "#!/bin/sh\n" + script + "\n");
        if (OperatingSystem.IsLinux())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return new Gnuplot(path);
    }
}

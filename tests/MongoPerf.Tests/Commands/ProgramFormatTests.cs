using System.Diagnostics;
using System.Text.Json;
using System.Xml.Linq;
using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary>What programs read: lists and checks as JSON, assertions and judgements as build servers know them.</summary>
[Collection(ConsoleTests.Name)]
public sealed class ProgramFormatTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Lists_are_there_as_JSON_and_as_CSV()
    {
        new NoisyRun { Id = "a", Sizes = 1, Seconds = 2, Phases = ["q4"] }.Write(_runs.Path);
        JsonElement run = Assert.Single(List("runs", "--out", _runs.Path).EnumerateArray());
        Assert.Equal("a", run.GetProperty("id").GetString());
        Assert.Equal("6.0.5", run.GetProperty("serverVersion").GetString());
        Assert.Equal(JsonValueKind.Number, run.GetProperty("documents").ValueKind);
        Assert.Equal(JsonValueKind.Null, run.GetProperty("serverDataBytes").ValueKind);
        Assert.Contains(List("phases").EnumerateArray(), phase => phase.GetProperty("name").GetString() == "q4");
        Assert.Contains(List("metrics").EnumerateArray(), metric => metric.GetProperty("metric").GetString() == "server.cache_dirty");
        Assert.Contains(List("scenarios").EnumerateArray(), scenario => scenario.GetProperty("name").GetString() == "ycsb/a");
        Assert.StartsWith(
            "name,description\r\nunack,", InProcess.Run("list", "phases", "--format", "csv").Output, StringComparison.Ordinal);
        // Nothing is a list too.
        Assert.Empty(List("runs", "--out", _runs.At("none")).EnumerateArray());
    }

    [Fact]
    public void A_scenario_that_is_wrong_is_so_in_the_JSON_too()
    {
        using JsonDocument valid = JsonDocument.Parse(InProcess.Run("validate", "ycsb/a", "--format", "json").Output);
        Assert.True(valid.RootElement.GetProperty("valid").GetBoolean());
        string file = _runs.At("wrong.yaml");
        File.WriteAllText(file, "phasen: []\n");
        (int code, string output, string errors) = InProcess.Run("validate", file, "--format", "json");
        using JsonDocument wrong = JsonDocument.Parse(output);
        Assert.Equal(2, code);
        Assert.False(wrong.RootElement.GetProperty("valid").GetBoolean());
        Assert.Contains(wrong.RootElement.GetProperty("error").GetString()!, errors, StringComparison.Ordinal);
    }

    [Fact]
    public void Confirmations_that_a_run_needs_are_in_the_JSON_as_in_the_text()
    {
        string file = _runs.At("audit.yaml");
        File.WriteAllText(file, "data: {a: {count: 5, document: {n: 1}}}\nmayWrite: [shop.audit]\n"
            + "phases: [{operations: [{aggregate: a, pipeline: [{$out: {db: shop, coll: audit}}]}]}]\n");
        using JsonDocument valid = JsonDocument.Parse(InProcess.Run("validate", file, "--format", "json").Output);
        Assert.Equal(["--may-write shop.audit"],
            valid.RootElement.GetProperty("confirmations").EnumerateArray().Select(option => option.GetString()));
        Assert.Contains("a run must confirm what it may write: --may-write shop.audit",
            InProcess.Run("validate", file).Output, StringComparison.Ordinal);
        using JsonDocument plain = JsonDocument.Parse(InProcess.Run("validate", "ycsb/a", "--format", "json").Output);
        Assert.Empty(plain.RootElement.GetProperty("confirmations").EnumerateArray());
    }

    [Theory]
    [InlineData("config")]
    [InlineData("doctor", "--duration", "1s")]
    public void What_a_command_writes_is_as_its_schema_says(params string[] call) =>
        Assert.Empty(JsonSchema.Read(call[0]).Check(InProcess.Run([.. call, "--format", "json"]).Output));

    /// <summary>Found by a review: it was opened a second time, when nobody wrote to it any more.</summary>
    [Fact]
    public async Task A_plot_from_a_pipe_is_read_once()
    {
        string pipe = _runs.At("plot.yaml");
        using (Process made = Process.Start("mkfifo", pipe))
            await made.WaitForExitAsync();
        string text = await File.ReadAllTextAsync(Path.Combine(RepositoryPaths.Root, "plots", "examples", "start.yaml"));
        Task writing = Task.Run(() => File.WriteAllText(pipe, text));
        (int code, string output, string errors) = InProcess.Run("validate", pipe);
        await writing;
        Assert.True(code == 0, errors);
        Assert.StartsWith($"{pipe}: valid: a plot over ", output, StringComparison.Ordinal);
    }

    [Fact]
    public void Assertions_are_tests_for_a_build_server_with_what_was_measured()
    {
        string folder = _runs.At("a");
        using (RunStore store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings()))
        {
            store.EndPhase(RunParts.Phase(1, "read", RunParts.Result("read")) with
            {
                Assertions =
                [
                    new AssertionResult("p99 < 10ms", true, 4200) { IsLatency = true },
                    new AssertionResult("rate > 1000 & more", false, 812),
                ],
            });
            store.SetState(RunState.Finished, null, RunParts.Start.AddSeconds(9));
        }

        using StoredRun run = StoredRun.Open(folder);
        using var output = new StringWriter();
        JunitReport.Write([run], output);
        XElement suite = XElement.Parse(output.ToString());
        Assert.Equal(("3", "1"), ((string)suite.Attribute("tests")!, (string)suite.Attribute("failures")!));
        Assert.Equal(
            ["finished", "p99 < 10ms", "rate > 1000 & more"], suite.Elements("testcase").Select(one => (string)one.Attribute("name")!));
        Assert.Equal("measured 4.2 ms", suite.Elements("testcase").ElementAt(1).Element("system-out")!.Value);
        Assert.Equal("rate > 1000 & more: measured 812", (string)suite.Descendants("failure").Single().Attribute("message")!);
        Assert.Contains(RunVerdicts.Of(run),
            verdict => verdict.Text.Contains("assertion failed in read: rate > 1000 & more (measured 812)", StringComparison.Ordinal));
    }

    [Fact]
    public void A_name_keeps_signs_beyond_the_first_plane_in_JUnits_XML()
    {
        string folder = _runs.At("a");
        using (RunStore store = RunStore.Create(folder, RunParts.Run(), RunParts.Settings()))
            store.EndPhase(RunParts.Phase(
                1, "read 🚀", RunParts.Result("read")) with { Assertions = [new AssertionResult("p99 < 10ms", true, 4200)] });
        using StoredRun run = StoredRun.Open(folder);
        using var output = new StringWriter();

        JunitReport.Write([run], output);

        Assert.Equal(
            ["run", "read 🚀"], XElement.Parse(output.ToString()).Elements("testcase").Select(one => (string)one.Attribute("classname")!));
    }

    [Fact]
    public void A_measure_that_got_slower_fails_and_one_that_is_undecided_is_skipped()
    {
        var shape = new NoisyRun { Sizes = 1, Seconds = 40, Phases = ["q4"] };
        XElement slower = Suite(shape with { Id = "a" }, shape with { Id = "b", NoiseSeed = 2, Speed = _ => 0.5 });
        Assert.NotEmpty(slower.Descendants("failure"));
        XElement undecided = Suite(shape with { Id = "c", Seconds = 3 }, shape with { Id = "d", Seconds = 3, NoiseSeed = 2 });
        Assert.Empty(undecided.Descendants("failure"));
        Assert.Equal((string)undecided.Attribute("skipped")!,
            undecided.Descendants("skipped").Count().ToString(System.Globalization.CultureInfo.InvariantCulture));
        Assert.StartsWith("undecided", (string)undecided.Descendants("skipped").First().Attribute("message")!, StringComparison.Ordinal);
    }

    private XElement Suite(NoisyRun baseline, NoisyRun candidate)
    {
        using StoredRun a = StoredRun.Open(baseline.Write(_runs.Path));
        using StoredRun b = StoredRun.Open(candidate.Write(_runs.Path));
        using var output = new StringWriter();
        JunitReport.Write(
            RunComparer.Compare([new ComparedSide([a]), new ComparedSide([b])], [], RunComparer.DefaultNoiseThreshold), output);
        return XElement.Parse(output.ToString());
    }

    private static JsonElement List(string what, params string[] more)
    {
        (int code, string output, _) = InProcess.Run(["list", what, "--format", "json", .. more]);
        Assert.Equal(0, code);
        JsonElement root = JsonDocument.Parse(output).RootElement;
        Assert.Equal("mongoperf/list/1", root.GetProperty("schema").GetString());
        return root.GetProperty(what);
    }
}

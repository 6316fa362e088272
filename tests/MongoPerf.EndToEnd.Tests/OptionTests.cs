using System.Globalization;
using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Options do what they say.</summary>
[Collection(OtherTests.Name)]
public sealed class OptionTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Db_collection_and_seed_say_where_and_what_is_written()
    {
        string database = servers.NewDatabase();
        JsonElement report = Series(database, "--collection", "other.docs", "--seed", "18446744073709551615", "--tests", "batch",
            "--target", "500", "--step", "500");
        Assert.Equal(ulong.MaxValue, report.GetProperty("run").GetProperty("seed").GetUInt64());
        Assert.Equal($"{database}.other.docs", report.GetProperty("deployment").Text("namespace"));
        using MongoConnection connection = servers.Embedded.Connect();
        Documents.AssertWhole(connection, 500, database, "other.docs", ulong.MaxValue);
        Assert.Equal(["mongoperf", "other.docs"], Documents.CollectionNames(connection, database));
    }

    [Fact]
    public void Step_shares_batch_and_threads_shape_the_series()
    {
        JsonElement report = Series(
            servers.NewDatabase(), "--target", "2500", "--step", "1k", "--shares", "50/30/20", "--batch", "100",
            "--tests", "unack,batch,safe,q4", "--threads", "1,3", "--window", "300ms");
        Assert.Equal([1000, 2000, 2500], report.GrowthSteps().Select(step => step.Documents));
        GrownStep first = report.GrowthSteps()[0];
        Assert.Equal(["unack", "batch", "safe", "q4", "q4"], first.Names);
        Assert.Equal((500, 300, 200), (first.Operation("unack").Number("documents"), first.Operation("batch").Number("documents"),
            first.Operation("safe").Number("documents")));
        Assert.Equal((3, 100), (first.Operation("batch").Number("operations"), first.Operation("batch").Number("batch")));
        Assert.Equal(
            [1, 3], first.Operations.Where(operation => operation.Text("operation") == "q4").Select(test => test.Number("threads")));
        Assert.All(first.Phases, phase => Assert.Empty(phase.Items("sizes")));
    }

    [MongodTheory]
    [InlineData("wire")]
    [InlineData("driver")]
    public void Server_api_holds_what_is_measured_to_the_stable_API_and_nothing_around_it(string engine)
    {
        string database = servers.NewDatabase();
        string file = _runs.At("distinct.yaml");
        File.WriteAllText(file, """
            data:
              items: {count: 100, document: {kind: {^int: [1, 5]}}}
            phases:
              - {name: unstable, count: 3, operations: [{distinct: items, field: kind}]}
              - {name: stable, count: 3, operations: [{find: items, key: uniform}]}
            """);
        ProgramResult Run(int code, params string[] more) => ProgramRun.Run(new ProgramOptions { NeedsOwnProcess = engine == "driver" },
            ["run", file, "--uri", servers["mongod"].Uri, "--db", database, "--engine", engine, "--out", _runs.Path, .. more]).Expect(code);

        JsonElement strict = Run(4, "--server-api", "1,strict", "--format", "json").Report();
        Assert.Equal("1,strict", strict.GetProperty("deployment").Text("serverApi"));
        // Nobody but the operation is refused: the server's state, sizes and markers are there.
        Assert.Equal(3, strict.GetProperty("accounting").Number("failed"));
        Assert.Empty(strict.GetProperty("deployment").GetProperty("access").Items("missing"));
        string id = _runs.Id;
        string text = ProgramRun.Run("report", id, "--full", "--out", _runs.Path).Output;
        Assert.Contains("APIStrictError", text, StringComparison.Ordinal);
        Assert.Contains(", server API 1,strict, ", text, StringComparison.Ordinal);

        Run(0);
        ProgramResult compared = ProgramRun.Run(
            "compare", id, _runs.Ids.Single(other => other != id), "--format", "json", "--force", "--out", _runs.Path);
        Assert.True(compared.Output.Contains("\"server API\"", StringComparison.Ordinal), compared.All);
    }

    [Fact]
    public void A_dry_run_of_a_series_says_what_would_run_and_how_long_it_takes()
    {
        ProgramResult result = ProgramRun.Run("series", "--target", "1M", "--tests", "batch,q4,size", "--window", "8s", "--dry-run",
            "--out", _runs.Path).Expect(0);
        foreach (string text in (string[])["series grows to 100k, 200k, … 1M: 10 sizes", "write batch: 100 %", "at each size: q4",
            "8 threads, 8 s: q4", "dry run: nothing started"])
            Assert.Contains(text, result.Output, StringComparison.Ordinal);
        // Ten windows of 8 s, and a million documents at 100,000 a second.
        Assert.Contains("estimated time: at least 1 min 30 s", result.Output, StringComparison.Ordinal);
        Assert.Empty(_runs.Ids);
    }

    [Fact]
    public void Window_and_warmup_are_the_lengths_of_the_query_tests()
    {
        JsonElement report = Series(servers.NewDatabase(), "--target", "200", "--step", "200", "--tests", "q4,q7", "--window", "600ms",
            "--warmup", "200ms", "--threads", "1");
        GrownStep step = report.GrowthSteps()[0];
        Assert.Equal(["q4", "q7"], step.Names);
        foreach (JsonElement test in step.Operations)
        {
            Assert.Equal(0.2, test.GetProperty("warmupSeconds").GetDouble(), 0.02);
            Assert.InRange(test.GetProperty("seconds").GetDouble(), 0.39, 60);
        }
    }

    [Fact]
    public void The_wire_carries_each_tests_own_write_concern_and_order()
    {
        using var proxy = new RecordingProxy(servers.Embedded.Address);
        Inserts(proxy, []);
        IReadOnlyList<RecordedCommand> plain = proxy.Of("insert");
        RecordedCommand[] unack = [.. plain.Where(c => c.Body.FindInt64("writeConcern.w") == 0)];
        Assert.Equal(20, unack.Length);
        Assert.All(
            unack, c => Assert.True(c.Flags.HasFlag(Wire.Messages.OpMsgFlags.MoreToCome), "an unacknowledged insert asks for a reply"));
        Assert.All(unack, c => Assert.Equal(1, c.Documents));
        RecordedCommand[] batches = [.. plain.Where(c => c.Documents > 1)];
        Assert.Equal([30, 30], batches.Select(c => c.Documents));
        Assert.Equal(20, plain.Count - unack.Length - batches.Length);
        Assert.All(plain.Except(unack), c => Assert.False(c.Body.IsTrue("writeConcern.j")));
        Assert.All(batches, c => Assert.True(c.Body.Find("ordered")?.ToBoolean() ?? true));
        Assert.NotEmpty(proxy.Of("ping"));
    }

    [Fact]
    public void Journal_and_ordered_false_go_into_the_commands()
    {
        using var proxy = new RecordingProxy(servers.Embedded.Address);
        Inserts(proxy, ["--journal", "--ordered", "false"]);
        RecordedCommand[] acknowledged = [.. proxy.Of("insert").Where(c => c.Body.FindInt64("writeConcern.w") != 0)];
        Assert.Equal(22, acknowledged.Length);
        Assert.All(acknowledged, c => Assert.True(c.Body.IsTrue("writeConcern.j"), c.Body.ToString()));
        Assert.All(acknowledged.Where(c => c.Documents > 1), c => Assert.False(c.Body.Find("ordered")!.Value.ToBoolean()));
    }

    [MongodFact]
    public void Compressible_text_takes_less_storage()
    {
        // The embedded server stores documents as they are.
        const string kind = "mongod";
        long[] storage = [.. ((int[])[0, 90]).Select(percent =>
        {
            string database = servers.NewDatabase();
            ProgramResult result = ProgramRun.Run(
                "series", "--uri", servers[kind].Uri, "--db", database, "--target", "20k", "--step", "20k",
                "--tests", "batch,size", "--out", _runs.Path,
                "--compressibility", percent.ToString(CultureInfo.InvariantCulture), "--format", "json").Expect(0);
            using MongoConnection connection = servers[kind].Connect();
            Documents.AssertWhole(connection, 20_000, database, compressibility: percent);
            return result.Report().GrowthSteps()[0].Sizes.Number("storageBytes");
        })];
        Assert.True(storage[1] < storage[0] * 0.6, $"{storage[0]} bytes plain, {storage[1]} bytes at 90 %");
    }

    [Theory, EachServer]
    public void Cache_limits_the_server_that_is_started(string kind)
    {
        ProgramResult result = ProgramRun.Run(
            new ProgramOptions { Server = kind },
            "series", "--target", "100", "--step", "100", "--tests", "batch", "--cache", "512MB", "--format", "json",
            "--out", _runs.Path).Expect(0);
        // Of the embedded server it is what blocks and write buffers may take together.
        Assert.Equal(512L << 20, result.Report().GetProperty("deployment").Number("cacheBytes"));
    }

    [MongodFact]
    public void The_mongod_option_beats_a_server_named_by_the_environment()
    {
        var options = new ProgramOptions { Environment = new Dictionary<string, string?> { ["MONGOPERF_URI"] = servers.Embedded.Uri } };
        JsonElement byVariable = JsonShape.Check(JsonShape.Run, ProgramRun.Run(
            options, "series", "--target", "100", "--step", "100", "--tests", "batch", "--db", servers.NewDatabase(), "--format", "json",
            "--out", _runs.Path).Expect(0).Output);
        Assert.Equal("given", byVariable.GetProperty("deployment").Text("kind"));
        JsonElement byOption = JsonShape.Check(JsonShape.Run, ProgramRun.Run(
            options, "series", "--target", "100", "--step", "100", "--tests", "batch", "--mongod", MongodBinary.Path, "--format", "json",
            "--out", _runs.Path).Expect(0).Output);
        Assert.Equal("mongod", byOption.GetProperty("deployment").Text("kind"));
    }

    [Fact]
    public void Quiet_says_nothing_but_the_result_and_runs_is_the_default_folder()
    {
        ProgramResult result = ProgramRun.Run(
            new ProgramOptions { Folder = _runs.Path }, "series", "--topology", "null", "--target", "1k", "--step", "1k",
            "--tests", "batch", "--quiet").Expect(0);
        Assert.DoesNotContain("step 1", result.Errors, StringComparison.Ordinal);
        Assert.Contains("finished", result.Output, StringComparison.Ordinal);
        string run = Assert.Single(Directory.GetDirectories(_runs.At("runs")));
        Assert.True(File.Exists(Path.Combine(run, "run.db")));
        Assert.NotEmpty(File.ReadAllText(Path.Combine(run, "run.log")));
    }

    [Fact]
    public void A_terminal_gets_a_live_view_and_colours_unless_told_otherwise()
    {
        const string escape = "\u001b[";
        string live = InTerminal(null);
        Assert.Contains(escape + "?25l", live, StringComparison.Ordinal);
        Assert.Matches("\u001b\\[[0-9;]*3[0-9]", live);
        // The runtime itself greets every terminal.
        string plain = InTerminal("1", "--no-tui").Replace(escape + "?1h", "", StringComparison.Ordinal);
        Assert.DoesNotContain(escape, plain, StringComparison.Ordinal);
        Assert.Contains("step 1 complete", plain, StringComparison.Ordinal);
        string noColour = InTerminal("1");
        Assert.DoesNotMatch("\u001b\\[[0-9;]*(3[0-9]|9[0-7])(;[0-9;]*)?m", noColour);
    }

    [Fact]
    public void Without_a_report_there_is_the_result_and_the_report_can_be_written_later()
    {
        ProgramResult result = ProgramRun.Run(
            new ProgramOptions { WriteReport = true }, "run", "q4", "--topology", "null", "--records", "1k", "--operations", "100",
            "--no-report", "--out", _runs.Path).Expect(0);
        Assert.Contains("q4", result.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("index.html", result.All, StringComparison.Ordinal);
        Assert.False(Directory.Exists(_runs.At(_runs.Id, "report")));
        ProgramRun.Run("report", _runs.Id, "--out", _runs.Path).Expect(0);
        Assert.True(File.Exists(_runs.At(_runs.Id, "report", "index.html")));
    }

    [Fact]
    public void Charts_may_be_left_out_and_their_data_are_there()
    {
        ProgramResult result = ProgramRun.Run(
            new ProgramOptions { WriteReport = true, Environment = new Dictionary<string, string?> { ["MONGOPERF_CHARTS"] = "none" } },
            "series", "--topology", "null", "--target", "1k", "--step", "1k", "--tests", "batch,size", "--out", _runs.Path);
        result.Expect(0).Says("note: no charts: MONGOPERF_CHARTS is none");
        string charts = _runs.At(_runs.Id, "report", "charts");
        Assert.Empty(Directory.GetFiles(charts, "*.png"));
        Assert.NotEmpty(Directory.GetFiles(charts, "*.csv"));
        Assert.True(File.Exists(_runs.At(_runs.Id, "report", "index.html")));
    }

    /// <summary>20 documents unacknowledged, 60 in batches of 30, 20 acknowledged.</summary>
    private void Inserts(RecordingProxy proxy, string[] more) => ProgramRun.Run(
        [
            "series", "--uri", proxy.Uri, "--db", servers.NewDatabase(), "--target", "100", "--step", "100", "--batch", "30",
            "--tests", "unack,batch,safe", "--out", _runs.Path, .. more,
        ]).Expect(0);

    private JsonElement Series(string database, params string[] more) => JsonShape.Check(JsonShape.Run, ProgramRun.Run(
        ["series", "--uri", servers.Embedded.Uri, "--db", database, "--format", "json", "--out", _runs.Path, .. more]).Expect(0).Output);

    private string InTerminal(string? noColour, params string[] more)
    {
        var options = new ProgramOptions
        {
            InTerminal = true,
            Environment = new Dictionary<string, string?> { ["TERM"] = "xterm-256color", ["NO_COLOR"] = noColour },
        };
        return ProgramRun.Run(
            options, ["series", "--topology", "null", "--target", "1k", "--step", "1k", "--tests", "batch,q4", "--window", "900ms",
                "--rate", "100", "--max-skipped", "100%", "--threads", "1", "--out", _runs.Path, .. more]).Expect(0).Output;
    }
}

using System.Globalization;
using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Every scenario that comes with the program, at small scale, on both servers: counts, mixes and documents.</summary>
[Collection(HeavyTests.Name)]
public sealed class ScenarioTests(TestServers servers) : IDisposable
{
    private const int Records = 300;
    private const int Operations = 2000;

    /// <summary>One degree of freedom: exceeded once in a million runs that are right.</summary>
    private const double MostChiSquare = 24;

    private static readonly Dictionary<string, (string Operation, double Share)[]> Mixes = new()
    {
        ["a"] = [("read", 0.5), ("update", 0.5)],
        ["b"] = [("read", 0.95), ("update", 0.05)],
        ["c"] = [("read", 1)],
        ["d"] = [("read", 0.95), ("insert", 0.05)],
        ["e"] = [("scan", 0.95), ("insert", 0.05)],
        ["f"] = [("read", 0.5), ("readmodifywrite", 0.5)],
    };

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void Ycsb_workloads_do_what_ycsb_defines(string kind)
    {
        foreach ((string workload, (string Operation, double Share)[] mix) in Mixes)
        {
            string database = servers.NewDatabase();
            JsonElement result = Run(kind, $"ycsb/{workload}", database, "--records", $"{Records}", "--operations", $"{Operations}",
                "--threads", "4", "--verify", "all");
            IReadOnlyList<JsonElement> phases = result.Items("phases");
            Assert.Equal(Records, Assert.Single(phases[0].Items("operations")).Number("documents"));
            IReadOnlyList<JsonElement> operations = phases[1].Items("operations");
            Assert.Equal(mix.Select(m => m.Operation), operations.Select(o => o.Text("operation")));
            AssertMix(workload, operations, mix);
            Assert.All(operations, o => Assert.Equal((0, 0), (o.Number("failed"), o.Number("wrong"))));
            Assert.All(
                operations.Where(o => o.Text("operation") == "read"), o => Assert.Equal(o.Number("operations"), o.Number("documents")));
            if (workload is "c" or "d")
                Assert.True(operations.Single(o => o.Text("operation") == "read").Number("verified") > 0);
            AssertDocuments(kind, workload, database, operations);
        }
    }

    [Theory, EachServer]
    public void Examples_of_the_documentation_run(string kind)
    {
        // Half of them on each server: that both answer alike is for other tests.
        string[] files = [.. Directory.EnumerateFiles(Path.Combine(RepositoryPaths.Root, "scenarios", "examples"), "*.yaml")
            // They need a replica set: TransactionRunTests, WatchRunTests.
            .Where(path => Path.GetFileName(path) is not ("transaction.yaml" or "watch.yaml")).Order()];
        // Its kinds of collections are a mongod's.
        string[] ofMongod = [.. files.Where(path => Path.GetFileName(path) == "collections.yaml")];
        foreach (string file in files.Except(ofMongod).Where((_, i) => i % 2 == (kind == "mongod" ? 0 : 1))
            .Concat(kind == "mongod" ? ofMongod : []))
        {
            // Their windows would be most of this test, and a busy machine may do nothing in one.
            string[] shorter = Path.GetFileName(file) is "growth.yaml" or "start.yaml" or "figures.yaml" or "open-loop.yaml"
                ? ["--operations", "300"]
                : [];
            // Small as they are: a tenth of them would be none.
            string scale = Path.GetFileName(file) is "checks.yaml" or "rows.yaml" ? "1" : "0.1";
            JsonElement result = Run(kind, file, servers.NewDatabase(), ["--scale", scale, "--max-skipped", "100%", .. shorter]);
            IReadOnlyList<JsonElement> phases = result.Items("phases");
            Assert.All(phases, p => Assert.True(
                p.GetProperty("operationsPerSecond").GetDouble() > 0 || p.Items("sizes").Count > 0
                    || p.Items("assertions").Any(a => a.GetProperty("isCheck").GetBoolean()),
                $"{file}: nothing was done in {p.Text("phase")}"));
            Assert.All(phases, p => Assert.Empty(p.Items("errors")));
            Assert.All(phases, p => Assert.All(p.Items("assertions"), a => Assert.True(a.GetProperty("holds").GetBoolean())));
        }
    }

    [Fact]
    public void Documents_that_are_shown_are_those_that_are_loaded()
    {
        string database = servers.NewDatabase();
        string file = Path.Combine(RepositoryPaths.Root, "scenarios", "examples", "values.yaml");
        Run("embedded", file, database, "--scale", "0.1");
        PlanCollection things = Documents.CollectionOf(file);
        using MongoConnection connection = servers.Embedded.Connect();
        BsonDocument[] stored =
            [.. Documents.Find(connection, database, "things", BsonDocument.Empty, ("sort", BsonDocument.Of(("_id", 1))))];
        Assert.Equal(100, stored.Length);
        Assert.All(stored.Select((document, i) => (document, i)),
            s => Assert.Equal(things.Documents.Make(s.i).Bytes.ToArray(), s.document.Bytes.ToArray()));
        ProgramResult shown = ProgramRun.Run("show", "document", file, "--number", "7").Expect(0);
        string[] lines = shown.Output.TrimEnd('\n').Split('\n');
        Assert.Equal($"things, document 7: {stored[7].Bytes.Length:N0} bytes of BSON", lines[^1]);
        Assert.Equal(stored[7].Bytes.ToArray(), ExtendedJson.Parse(string.Join('\n', lines[..^1])).Bytes.ToArray());
    }

    [Fact]
    public void Failed_assertion_ends_with_99_and_failed_operations_with_4()
    {
        string file = WriteFile("""
            data:
              users: {count: 50, document: {n: ^number}, indexes: [{key: {n: 1}, unique: true}]}
            phases:
              - name: clash
                count: 20
                operations: [{update: users, key: uniform, with: {$set: {n: 1}}}]
                assert: [update.failed == 0]
            """);
        ProgramResult failed = On("embedded", file, servers.NewDatabase(), "--format", "json").Expect(4);
        JsonElement errors = failed.Report().Items("phases")[1].GetProperty("errors");
        JsonElement error = Assert.Single(errors.EnumerateArray());
        Assert.Equal(("update", 11000, "DuplicateKey"), (error.Text("operation"), (int)error.Number("code"), error.Text("name")));
        Assert.Contains("E11000", error.Text("firstMessage"), StringComparison.Ordinal);
        On("embedded", file, servers.NewDatabase(), "--max-errors", "20").Expect(99).Says("assertion failed: clash: update.failed == 0");
    }

    /// <summary>Failures are allowed and no operation succeeds, or finds may not miss and do.</summary>
    [Theory]
    [InlineData("{update: users, filter: {n: 5}, with: {$set: {n: 6}}}", "update.failed > 0", 4, "nothing was measured in work")]
    [InlineData("{find: users, filter: {n: -1}}", "find.foundNothing < 1%", 99, "assertion failed: work: find.foundNothing < 1%")]
    [InlineData("{find: users, filter: {n: {^field: n}}}", "find.foundNothing < 1%", 0, "")]
    public void A_phase_that_came_to_nothing_is_no_success(string operation, string assertion, int code, string says)
    {
        string file = WriteFile("data:\n  users: {count: 50, document: {n: ^number}, indexes: [{key: {n: 1}, unique: true}]}\n"
            + $"phases: [{{name: work, count: 20, operations: [{operation}], assert: ['{assertion}']}}]\n");
        Assert.Contains(says, On("embedded", file, servers.NewDatabase(), "--max-errors", "20").Expect(code).All, StringComparison.Ordinal);
    }

    /// <summary>Found by a user: each size asked for what the size before had asked for, and 2,000 upserts touched 553 keys.</summary>
    [Fact]
    public void Upserts_at_each_size_are_about_keys_of_their_own()
    {
        string file = WriteFile("""
            data:
              users: {document: {n: ^number}}
              orders: {document: {n: ^number}}
            phases:
              - name: growth
                grow: orders
                sizes: [100, 200, 300, 400]
                each: [{name: visit, threads: 2, count: 500, operations: [{update: users, filter: {user: {^int: [0, 1000000]}}, with: {$inc: {visits: 1}}, upsert: true}]}]
            """);
        const ulong Seed = 3060;
        long[] drawn = Candidates(file, Seed);
        // With this seed no two are equal, so that the number of keys is exact however the threads share the work.
        Assert.Equal(4 * 2 * 500, drawn.Distinct().Count());
        string database = servers.NewDatabase();
        Run("embedded", file, database, "--seed", $"{Seed}");
        using MongoConnection connection = servers.Embedded.Connect();
        long[] users = [.. Documents.Find(connection, database, "users", BsonDocument.Empty).Select(user => user.FindInt64("user")!.Value)];
        Assert.Equal(4 * 500, users.Length);
        Assert.Subset(drawn.ToHashSet(), users.ToHashSet());
    }

    /// <summary>What each thread would ask for if it did all the work of each size.</summary>
    private static long[] Candidates(string file, ulong seed)
    {
        Phase visit =
            Assert.Single(PlanReader.Read(ScenarioFile.Find(file), new PlanOverrides(), seed).Plan.Rounds[0].Phases[^1].Growth!.Each);
        return [.. Enumerable.Range(1, 4)
            .SelectMany(size => Enumerable.Range(0, 2).SelectMany(thread => Asked(visit, size, thread, seed)))];
    }

    private static IEnumerable<long> Asked(Phase visit, int size, int thread, ulong seed)
    {
        PhaseGroup group = visit.Groups[0];
        var update = (UpdateDocuments)group.Operations[0].Operation;
        ulong streams = PhaseRunner.SeedOf(visit, group, new GrowthPoint("growth", size, 100 * size), new PlanRunOptions { Seed = seed });
        OperationContext context = new OperationContext(streams, thread, null).Of(update);
        RandomStream random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);
        KeyChooser? chooser = group.Operations[0].Operation.Choice?.Open(new KeySpace(0), 0);
        var asked = new List<long>();
        for (int i = 0; i < 500; i++)
        {
            long number = chooser?.Next(ref random) ?? 0;
            var filter = new BsonWriter();
            update.Filter.WriteRoot(filter, new ValueContext(number, random.Next()));
            asked.Add(new BsonDocument(filter.Written.ToArray()).FindInt64("user")!.Value);
        }

        return asked;
    }

    [Fact]
    public void Other_peoples_collections_are_left_alone()
    {
        string database = servers.NewDatabase();
        using MongoConnection connection = servers.Embedded.Connect();
        connection.RunCommand(database, BsonDocument.Of(("insert", "usertable"), ("documents", new[] { BsonDocument.Of(("_id", 1)) })));
        On("embedded", "ycsb/c", database, "--records", "10").Expect(6).Says($"{database}.usertable was not created by MongoPerf");
        Assert.Equal(1, Documents.Count(connection, database, "usertable"));
        On("embedded", "ycsb/c", database, "--records", "10", "--operations", "10", "--force-drop", $"{database}.usertable").Expect(0);
        Assert.Equal(10, Documents.Count(connection, database, "usertable"));
        // Its own it makes anew.
        On("embedded", "ycsb/c", database, "--records", "20", "--operations", "10").Expect(0);
        Assert.Equal(20, Documents.Count(connection, database, "usertable"));
    }

    [Fact]
    public void Ycsb_form_has_the_lines_that_scripts_look_for()
    {
        string output = On("embedded", "ycsb/f", servers.NewDatabase(), "--records", "50", "--operations", "100", "--set", "loadw=0",
            "--format", "ycsb").Expect(0).Output;
        foreach (string line in (string[])["[OVERALL], Throughput(ops/sec), ", "[INSERT], Operations, 50",
            "[READ], 99thPercentileLatency(us), ", "[READ-MODIFY-WRITE], Return=OK, "])
            Assert.Contains(line, output, StringComparison.Ordinal);
    }

    [Fact]
    public void Wrong_file_starts_nothing()
    {
        string file = WriteFile("data: {}\nphases:\n  - name: p\n    operations: [{find: users, key: uniform}]\n");
        string[][] calls = [["run", file, "--out", _runs.Path], ["validate", file], ["run", file, "--dry-run"]];
        foreach (string[] call in calls)
            ProgramRun.Run(call).Expect(2).Says($"{file}:4: find: no collection 'users' in data");
        Assert.Empty(_runs.Ids);
    }

    [Theory]
    [InlineData("--scale for a phase of the series", "--scale only applies to scenarios; 'q4' is a phase of the series",
        "run", "q4", "--scale", "0.1")]
    [InlineData("--batch for a scenario", "--batch only applies to the series", "run", "ycsb/a", "--batch", "5")]
    [InlineData("no such scenario", "no scenario 'ycsb/z': no such file", "run", "ycsb/z")]
    [InlineData("no such parameter", "--set: no parameter 'fieldcont'", "run", "ycsb/a", "--set", "fieldcont=5")]
    [InlineData("too many threads", "threads is 20,000", "run", "ycsb/a", "--set", "threadcount=20000")]
    public void Wrong_calls_say_what_is_wrong(string what, string message, params string[] call)
    {
        Assert.NotEmpty(what);
        ProgramRun.Run(call).Expect(2).Says(message);
    }

    [Fact]
    public void New_scenario_runs_and_is_not_written_over()
    {
        string file = Path.Combine(_runs.Path, ".my own.yaml");
        Assert.Contains($"mongoperf run '{file}'", ProgramRun.Run("new", file).Expect(0).Output, StringComparison.Ordinal);
        Assert.Contains($"mongoperf run '{file}'", File.ReadAllText(file), StringComparison.Ordinal);
        ProgramRun.Run("validate", file).Expect(0);
        ProgramRun.Run("new", file).Expect(2).Says("file exists, not overwritten");
        ProgramRun.Run("new", file + "\n").Expect(2).Says("control character");
    }

    private void AssertDocuments(string kind, string workload, string database, IReadOnlyList<JsonElement> operations)
    {
        long inserted = operations.Where(o => o.Text("operation") == "insert").Sum(o => o.Number("documents"));
        PlanCollection table = Documents.CollectionOf($"ycsb/{workload}");
        Dictionary<string, byte[]> expected = Enumerable.Range(0, (int)(Records + inserted))
            .Select(i => table.Documents.Make(i)).ToDictionary(d => d.FindString("_id")!, d => d.Bytes.ToArray());
        using MongoConnection connection = servers[kind].Connect();
        int seen = 0;
        foreach (BsonDocument document in Documents.Find(connection, database, "usertable", BsonDocument.Empty))
        {
            seen++;
            byte[] known = expected[document.FindString("_id")!];
            // Updates draw other bytes of the same length.
            if (workload is "a" or "b" or "f")
                Assert.Equal(known.Length, document.Bytes.Length);
            else
                Assert.Equal(known, document.Bytes.ToArray());
        }

        Assert.Equal(expected.Count, seen);
    }

    private static void AssertMix(string workload, IReadOnlyList<JsonElement> operations, (string Operation, double Share)[] mix)
    {
        long all = operations.Sum(o => o.Number("operations"));
        Assert.Equal(Operations, all);
        double chi = operations.Zip(mix)
            .Sum(p => Math.Pow(p.First.Number("operations") - (p.Second.Share * all), 2) / (p.Second.Share * all));
        Assert.True(chi <= MostChiSquare, $"workload {workload}: chi-square {chi.ToString(CultureInfo.InvariantCulture)}");
    }

    private JsonElement Run(string kind, string scenario, string database, params string[] more) =>
        On(kind, scenario, database, ["--format", "json", .. more]).Expect(0).Report();

    private ProgramResult On(string kind, string scenario, string database, params string[] more) =>
        ProgramRun.Run(["run", scenario, "--uri", servers[kind].Uri, "--db", database, "--quiet", "--out", _runs.Path, .. more]);

    private string WriteFile(string text)
    {
        string path = Path.Combine(_runs.Path, ".test.yaml");
        File.WriteAllText(path, text);
        return path;
    }
}

using MongoPerf.Running.Merging;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Running.Merging;

/// <summary>Runs of different plans, programs or deployments can't be added up, and neither can a run with itself.</summary>
public sealed class MergeCheckTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    public static TheoryData<string, string> Others { get; } = new()
    {
        { "name", "scenario is 'series' in one and 'mine' in the other" },
        { "text", "scenario text is 'phases: []' in one and 'phases:  []' in the other" },
        { "seed", "seed is '42' in one and '43' in the other" },
        { "target", "target is '1000000' in one and '7' in the other" },
        { "database", "database is 'mongoperf' in one and 'd' in the other" },
        { "engine", "engine is 'wire' in one and 'driver 3.11.0' in the other" },
        { "version", "MongoPerf is '0.1.0' in one and '0.2.0' in the other" },
        { "server", "server is 'MongoDB' in one and 'embedded server' in the other" },
        { "topology", "topology is 'standalone' in one and 'sharded' in the other" },
        { "group", "group of clients is 'g' in one and 'h' in the other" },
        { "count", "number of clients is '3' in one and '4' in the other" },
        { "phase", "phase 2 is reads in one and writes in the other" },
        { "parameter", "phase 2 is reads in one and reads in the other" },
    };

    [Theory]
    [MemberData(nameof(Others))]
    public void Runs_that_differ_in_what_makes_a_plan_are_refused_with_what_differs(string what, string difference)
    {
        Write("a");
        Write("b", what, part: 2);
        Assert.Equal($"a and b are not runs of one plan: {difference}", Fault("a", "b"));
    }

    [Fact]
    public void What_was_typed_otherwise_is_shown_where_it_begins()
    {
        Write("a");
        Write("b", "options", part: 2);
        Assert.StartsWith("a and b are not runs of one plan: options is '", Fault("a", "b"), StringComparison.Ordinal);
    }

    [Fact]
    public void Runs_of_one_plan_are_taken_however_many_and_however_far_they_came()
    {
        Write("a");
        Write("b", part: 2);
        Write("c", "begun", part: 3);
        Assert.Null(Fault("a", "b", "c"));
        Assert.Equal("a and d are both part 1", Fault("a", "b", Write("d"), "c"));
        Write("e", part: 2);
        Assert.Equal("a and d are both part 1", Fault("a", "b", "d", "e"));
        Assert.Equal("b and e and f are both part 2", Fault("a", "b", "e", Write("f", part: 2)));
        Assert.Equal("run b is named twice", Fault("a", "b", "c", "b"));
    }

    [Theory]
    [InlineData("merged", "run b was merged already; merge the runs of the clients")]
    [InlineData("replay", "run b is a whole replay; only the parts of one that --agents divided can be merged")]
    [InlineData("own server",
        "run b started a server of its own (mongod): runs that are merged were made at one deployment, with --uri")]
    public void What_is_no_part_of_a_plan_is_refused(string what, string fault)
    {
        Write("b", what, part: what == "replay" ? null : 2);
        Assert.Equal(fault, Fault(Write("a", what == "replay" ? "replay" : ""), "b"));
        if (what == "own server")
            Assert.Null(Fault("b"));
    }

    [Fact]
    public void A_run_that_still_lasts_is_refused()
    {
        Write("a");
        using RunStore store = RunStore.Open(_runs.At("a"));
        Assert.Equal("run a is still running", Fault("a"));
    }

    /// <summary>Texts up to 60 letters are shown whole; of longer ones 60, from 20 letters before the place where they part.</summary>
    [Theory]
    [InlineData(58, "0", "1", 0)]
    [InlineData(58, "0", "11", 0)]
    [InlineData(58, "0", "111", 38)]
    [InlineData(19, "0", "the other goes on for more than sixty letters from here to its end", 0)]
    [InlineData(20, "0", "the other goes on for more than sixty letters from here to its end", 0)]
    [InlineData(21, "0", "the other goes on for more than sixty letters from here to its end", 1)]
    [InlineData(70, "", "1", 50)]
    [InlineData(90, "0", "the other goes on for more than sixty letters from here to its end", 70)]
    public void Long_texts_are_shown_where_they_part(int common, string left, string right, int from)
    {
        string same = string.Concat(Enumerable.Range(0, common).Select(i => (char)('a' + (i % 26))));
        Write("a", text: same + left);
        Write("b", text: same + right, part: 2);
        Assert.Equal(
            $"a and b are not runs of one plan: scenario text is '{Shown(same + left)}' in one and '{Shown(same + right)}' in the other",
            Fault("a", "b"));

        string Shown(string text) => text[from..] is { Length: > 60 } rest ? rest[..60] + "…" : text[from..];
    }

    private string? Fault(params string[] ids)
    {
        StoredRun[] runs = [.. ids.Select(id => StoredRun.Open(_runs.At(id)))];
        try
        {
            return MergeCheck.FindFault(runs);
        }
        finally
        {
            Array.ForEach(runs, run => run.Dispose());
        }
    }

    private string Write(string id, string what = "", int? part = 1, string text = "phases: []")
    {
        RunSettings settings = RunParts.Settings();
        RunInfo run = RunParts.Run(id) with
        {
            Seed = what == "seed" ? 43UL : 42, Version = what == "version" ? "0.2.0" : "0.1.0",
            Part = part is { } number
                ? new ClientPart(what == "group" ? "h" : "g", $"agent {number}", number, what == "count" ? 4 : 3) : null,
            Clients = what == "merged" ? [new MergedClient("x", "y", "finished")] : [],
        };
        using RunStore store = RunStore.Create(_runs.At(id), run, settings with
        {
            Engine = what == "engine" ? new EngineSettings(EngineKind.Driver, "3.11.0") : EngineSettings.Wire,
            Data = settings.Data with { Database = what == "database" ? "d" : "mongoperf" },
            Plan = settings.Plan with
            {
                Name = what == "name" ? "mine" : "series", Text = what == "text" ? "phases:\n []" : text,
                Overrides = what == "options" ? new PlanOverrides { Threads = [9] } : new PlanOverrides(),
                TargetDocuments = what == "target" ? 7 : 1_000_000, Recording = what == "replay" ? "r.bin" : null,
            },
        });
        store.SetDeployment(RunParts.Deployment() with
        {
            Kind = what == "own server" ? DeploymentKind.Mongod : DeploymentKind.Given, IsEmbedded = what == "server",
            Topology = what == "topology" ? Topology.Sharded : Topology.Standalone,
        });
        for (int phase = 1; phase <= (what == "begun" ? 1 : 2); phase++)
            store.BeginPhase(
                RunParts.Phase(phase, what == "phase" && phase == 2 ? "writes" : "reads") with
                {
                    Parameters = what == "parameter" && phase == 2 ? [new ParameterValue("n", "2")] : [],
                },
                continues: false);
        store.SetState(RunState.Finished, null, RunParts.Start.AddMinutes(1));
        return id;
    }
}

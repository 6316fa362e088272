using System.CommandLine;
using System.Text.RegularExpressions;
using MongoPerf.Commands;
using MongoPerf.Load.Plans;
using MongoPerf.Options;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Tests.Scenarios;

/// <summary>The options that take the place of a file's values are described once, and everything reads that description.</summary>
public sealed class PlanOptionsTests
{
    public static TheoryData<string> Names => [.. PlanOptions.All.Select(option => option.Name)];

    [Theory]
    [MemberData(nameof(Names))]
    public void What_is_typed_is_what_the_plan_is_read_with(string name)
    {
        PlanOption option = Find(name);
        object value = option.Parse(Example(option));
        PlanOverrides typed = Typed(name, Example(option));
        Assert.Equal(RunJson.Write(option.With(new PlanOverrides(), value)), RunJson.Write(typed));
        Assert.Equal(value, option.ValueIn(typed));
        Assert.Equal(RunJson.Write(new PlanOverrides()), RunJson.Write(option.With(typed, null)));
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Runs_that_differ_in_an_option_are_not_alike_except_in_their_target(string name)
    {
        PlanOption option = Find(name);
        object[] expected = name == "--target" ? [] : [option.Parse(Example(option))];
        Assert.Equal(expected, Typed(name, Example(option)).Compared.Select(one => one.Value).OfType<object>());
    }

    [Fact]
    public void The_last_of_several_lists_counts_and_a_single_value_is_given_once()
    {
        Assert.Equal([8, 16], Typed("--threads", "1", "-t", "8,16").Threads);
        Assert.NotEmpty(new OneCommand().Parse("--duration", "1s", "--duration", "2s").Errors);
    }

    [Fact]
    public void Overrides_are_stored_under_the_names_that_all_versions_read() => Assert.Equal(
        """
        {"phases":["q4"],"isAlone":true,"threads":[1,8],"records":1000,"operations":10,"duration":2.5,"warmup":0.5,
        "until":"p99 ±2 %","rates":[100,0.5],"scale":0.1,"target":2000,"step":50,"parameters":{"a":"1"}}
        """.ReplaceLineEndings(""),
        Regex.Unescape(RunJson.Write(new PlanOverrides
        {
            Phases = ["q4"], IsAlone = true, Threads = [1, 8], Records = 1000, Operations = 10, Duration = 2.5, Warmup = 0.5,
            Until = "p99 ±2 %", Rates = [100, 0.5], Scale = 0.1, Target = 2000, Step = 50,
            Parameters = new Dictionary<string, string> { ["a"] = "1" },
        })));

    [Theory]
    [InlineData("{name: p, count: 100, warmup: 1s, OPERATIONS}", "--duration 20s", "duration: 20s")]
    [InlineData("{name: p, duration: 9s, OPERATIONS}", "--operations 50", "count: 50")]
    [InlineData("{name: p, duration: 9s, OPERATIONS}", "--operations 50 --duration 3s", "duration: 3s, count: 50")]
    [InlineData("{name: p, duration: 9s, count: 5, OPERATIONS}", "--duration 3s --operations 50", "duration: 3s, count: 50")]
    [InlineData("{name: p, duration: 9s, OPERATIONS}", "--until p99_2%", "until: p99 ±2 %")]
    [InlineData("{name: p, duration: 9s, OPERATIONS}", "--until p99_2% --duration 40s", "duration: 40s, until: p99 ±2 %")]
    [InlineData("{name: p, think: 5ms, OPERATIONS}", "--rate 100", "rate: 100")]
    [InlineData("{name: p, warmup: 2s, duration: 9s, OPERATIONS}", "--duration 40s --warmup 5s", "warmup: 5s, duration: 40s")]
    [InlineData("{name: p, warmup: 0s, duration: 9s, OPERATIONS}", "--duration 40s", "warmup: 0s, duration: 40s")]
    public void A_value_displaces_what_does_not_hold_beside_it(string phase, string options, string expected)
    {
        const string Operations = "operations: [{find: users, key: uniform}]";
        string text = $"phases: [{phase.Replace("OPERATIONS", Operations, StringComparison.Ordinal)}]\n";
        Assert.Equal(expected, Changed(text, options, []));
    }

    [Theory]
    [InlineData("sizes: [10, 20]", "--target 100", "to: 100", "to: 100 (--target, the file says [10, 20])")]
    [InlineData("to: 50, step: 10", "--target 100", "to: 100", "to: 100 (--target, the file says 50)")]
    [InlineData("to: 50, step: 10", "--step 5 --target 100", "to: 100, step: 5",
        "to: 100 (--target, the file says 50); step: 5 (--step, the file says 10)")]
    public void A_target_displaces_sizes_and_a_step_that_fits_another(string sizes, string options, string expected, string told)
    {
        var lines = new List<StoredMessage>();
        Assert.Equal(expected, Changed($"phases: [{{grow: users, {sizes}}}]\n", options, lines));
        Assert.Equal(told, string.Join("; ", lines));
    }

    [Fact]
    public void Options_that_exclude_one_another_are_refused()
    {
        UserException refused = Assert.Throws<UserException>(() => Typed("--operations", "5", "--until", "p99 2%"));
        Assert.Equal("--until measures as long as it takes, so --operations does not apply", refused.Message);
        Assert.Equal("--duration says how long it may take at most", refused.Hint);
    }

    [Theory]
    [InlineData("--threads 1,2 --rate 100,500 --duration 4s")]
    [InlineData("--threads 4 --operations 100")]
    [InlineData("--until p99_2% --threads 2")]
    [InlineData("--threads 1 --until p99_2% --duration 60s --warmup 3s")]
    [InlineData("--duration 20s --rate 10 --threads 3")]
    public void A_way_of_writing_that_runs_alone_takes_options_as_a_query_does(string options)
    {
        (string Swept, PhaseGroup Limits)[] writing = Alone("batch", options);
        Assert.Equal(Alone("q4", options).Select(Shown), writing.Select(Shown));
        Assert.All(writing, one => Assert.Equal("batch", one.Limits.Operations.Single().Operation.Name));

        static object Shown((string Swept, PhaseGroup) one)
        {
            (string swept, PhaseGroup group) = one;
            return (swept, group.Threads, group.Seconds, group.WarmupSeconds, group.Count, group.Until, group.Rate?.Highest);
        }
    }

    [Fact]
    public void Run_has_all_of_them_and_series_those_that_its_file_has_parameters_for()
    {
        Assert.Empty(PlanOptions.All.Select(option => option.Name).Except(RunCommand.Create().Options.Select(option => option.Name)));
        IEnumerable<string> ofSeries = new SharedOptions().OfSeries.Select(one => one.Option.Name);
        Assert.Equal(["--threads", "--rate"], ofSeries.Intersect(PlanOptions.All.Select(option => option.Name)));
    }

    /// <returns>What the file's only phase says of itself when it is read with the options.</returns>
    private static string Changed(string text, string options, List<StoredMessage> changes)
    {
        MappingNode changed = new OverrideReader(Typed(Words(options))).Apply(ScenarioYaml.Read("f.yaml", text), changes);
        var phase = (MappingNode)((SequenceNode)changed.Find("phases")!).Items.Single();
        IEnumerable<MappingEntry> entries = phase.Entries.Where(entry => entry.Name is not ("name" or "operations" or "grow"));
        return string.Join(", ", entries.Select(entry => $"{entry.Name}: {entry.Value.Label}"));
    }

    private static (string Swept, PhaseGroup Limits)[] Alone(string phase, string options)
    {
        ScenarioFile file = ScenarioFile.Find(SeriesFile.Path);
        PlanOverrides typed = Typed(Words(options)) with { Phases = [phase], IsAlone = true };
        IReadOnlyList<Phase> phases = PlanReader.Read(file, typed, 42).Plan.Rounds.Single().Phases;
        return [.. phases.Select(one => (string.Join(", ", one.Parameters.Where(p => p.Key is "threads" or "rate")), one.Groups.Single()))];
    }

    private static string[] Words(string options) => [.. options.Split(' ').Select(word => word.Replace('_', ' '))];

    private static PlanOption Find(string name) => PlanOptions.All.Single(option => option.Name == name);

    private static string Example(PlanOption option) => option.ValueName switch
    {
        "COUNT" => "7k",
        "DURATION" => "2.5s",
        "PRECISION" => "p95 3%",
        "N[,N…]" or "RATE[,RATE…]" => "3,40",
        _ => throw new InvalidOperationException($"no example of {option.ValueName}"),
    };

    private static PlanOverrides Typed(params string[] args)
    {
        var command = new OneCommand();
        ParseResult parsed = command.Parse(args);
        Assert.Empty(parsed.Errors);
        return command.Options.Read(parsed);
    }

    /// <summary>A command that has all of them.</summary>
    private sealed class OneCommand
    {
        private readonly Command _command = new("run");

        public OneCommand()
        {
            foreach (Option option in Options.In(PlanOptions.All))
                _command.Options.Add(option);
        }

        public OverrideOptions Options { get; } = new();

        public ParseResult Parse(params string[] args) => _command.Parse(args);
    }
}

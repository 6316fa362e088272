using System.Globalization;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Scenarios;

/// <summary>What results, figures and titles are called when <c>--scale</c> multiplies the file's counts: by the counts that run.</summary>
public sealed class ScaledTextTests
{
    private const string Swept = """
        description: The first 2M of up to 100M documents
        parameters: {total: [1M, 60M, 100M], operations: 5M, hot: 2M}
        data: {users: {count: $(total), document: {n: ^number}}}
        phases:
          - {load: users, threads: 4}
          - {name: read, description: 5M reads, count: $(operations), operations: [{find: users, key: {first: $(hot)}}]}
        figures:
          - {title: "The first 2M of 100M, 1000 s", x: total, to: 60M, y: rate, phases: read, where: {total: [1M, 60M]}}
          - {title: Over time, x: time, to: 60s, y: rate, phases: read}
        tables: [{title: Up to 100M and 90M, rows: total, values: rate, where: {total: 60M}}]

        """;

    [Fact]
    public void Parameters_titles_descriptions_and_what_figures_choose_are_the_counts_that_run()
    {
        ReadPlan read = Read(Swept, 0.001);
        Assert.Equal(["1k", "60k", "100k"],
            read.Plan.Rounds.Select(round => round.Phases.Select(phase => Assert.Single(phase.Parameters).Value).Distinct().Single()));
        Assert.All(read.Plan.Rounds,
            round => Assert.Equal(Quantities.ParseCount(round.Phases[0].Parameters[0].Value), round.Collections[0].Count));
        Assert.Equal([new("operations", "5k"), new("hot", "2k")], read.Parameters);
        Assert.Equal("The first 2k of up to 100k documents", read.Plan.Description);
        Assert.Equal("5k reads", read.Plan.Rounds[0].Phases[1].Description);
        // 1,000 s is no count, and nothing in the file is 90M.
        Assert.Equal(["The first 2k of 100k, 1000 s", "Over time"], read.Figures.Select(figure => figure.Title));
        Assert.Equal("Up to 100k and 90M (counts × 0.001)", read.Tables[0].Title);
        Assert.Equal([60_000, 60], read.Figures.Select(figure => figure.To));
        Assert.Equal([new("total", "1k"), new("total", "60k")], read.Figures[0].Of.Where);
        Assert.Equal([new ParameterValue("total", "60k")], read.Tables[0].Of.Where);
    }

    [Fact]
    public void The_file_s_own_numbers_are_named_once()
    {
        Assert.Equal(
            ["counts: times 0.001 (--scale), so total=1k, 60k, 100k (file: 1M, 60M, 100M); operations=5k (file: 5M); hot=2k (file: 2M)"],
            Read(Swept, 0.001).Changes.Select(change => change.ToString()));
        Assert.Equal("counts: times 0.001 (--scale), so total=3k (--set: 3M); operations=5k (file: 5M); hot=2k (file: 2M)",
            Read(Swept, 0.001, ("total", "3M")).Changes[0].ToString());
        Assert.Empty(Read(Swept, 1).Changes);
        Assert.Equal("Up to 100M and 90M", Read(Swept, 1).Tables[0].Title);
    }

    [Fact]
    public void Counts_within_the_name_of_a_value_are_those_that_run_and_other_numbers_stay()
    {
        const string text = """
            parameters:
              case:
                10M-100M-0: {present: 100M, inserted: 10M, threads: 5}
                5x4000: {present: 1.5M, inserted: 5, threads: 5}
                small: {present: 2M, inserted: 4M, threads: 4}
            data: {users: {count: $(case.present), document: {n: ^number}}}
            phases: [{name: p, threads: $(case.threads), count: $(case.inserted), operations: [{insert: users}]}]

            """;
        Assert.Equal(["10k-100k-0", "5x4000", "small"], Labels(Read(text, 0.001)));
    }

    [Fact]
    public void A_value_that_is_not_only_a_count_says_what_is_multiplied_and_values_that_become_alike_keep_the_file_s()
    {
        const string mixed = ScenarioTexts.Data
            + "parameters: {n: [100, 200]}\nphases: [{name: p, threads: $(n), count: $(n), operations: [{find: users, key: uniform}]}]\n";
        Assert.Equal(["100 (counts × 0.01)", "200 (counts × 0.01)"], Labels(Read(mixed, 0.01)));
        const string alike = ScenarioTexts.Data
            + "parameters: {n: [10, 20, 900]}\nphases: [{name: p, count: $(n), operations: [{find: users, key: uniform}]}]\n";
        Assert.Equal(["1 (file: 10)", "1 (file: 20)", "9"], Labels(Read(alike, 0.01)));
    }

    [Theory]
    [InlineData(1_234_567, "1234567")]
    [InlineData(12_500, "12.5k")]
    [InlineData(3_000_000_000, "3G")]
    [InlineData(999, "999")]
    public void Counts_are_exact(long count, string shown)
    {
        string text = ScenarioTexts.Data
            + $"parameters: {{n: {count * 10}}}\nphases: [{{name: p, count: $(n), operations: [{{find: users, key: uniform}}]}}]\n";
        Assert.Equal(shown, Assert.Single(Read(text, 0.1).Parameters).Value);
    }

    /// <summary>What the command line replaced did not run.</summary>
    [Fact]
    public void A_parameter_that_the_command_line_replaced_is_none_of_the_run_s_settings()
    {
        const string text = "parameters: {total: 1M, hot: 5}\ndata: {users: {count: $(total), document: {n: ^number}}}\n"
            + "phases: [{name: p, operations: [{find: users, filter: {}, limit: $(hot)}]}]\n";
        Assert.Equal([new ParameterValue("hot", "5")], ScenarioTexts.Read(text, new PlanOverrides { Records = 20_000 }).Parameters);
        Assert.Equal([new("total", "1M"), new("hot", "5")], ScenarioTexts.Read(text).Parameters);
    }

    [Fact]
    public void What_a_deployment_sets_is_told_as_it_runs()
    {
        const string text = "deployments: {small: {set: {total: 50M}}, both: {set: {total: [50M, 100M]}}}\nparameters: {total: 100M}\n"
            + "data: {users: {count: $(total), document: {n: ^number}}}\nphases: [{name: p, operations: [{find: users, key: uniform}]}]\n";
        Assert.Equal([["total: 50k"], ["total: [50k, 100k]"]], ScenarioTexts.Read(text).Deployments
            .Select(on => PlanReader.Read(new ScenarioFile("test", "test.yaml", text), new PlanOverrides { Scale = 0.001 }, 42, on).Set));
    }

    /// <summary>Where a file sweeps counts, what a value is called is the count that a collection, a phase or a hot set has.</summary>
    [Theory]
    [MemberData(nameof(FilesOfCounts))]
    public void In_every_published_file_a_parameter_that_counts_is_called_by_the_count_that_runs(string name) =>
        Assert.All(Counted.Value[name], static one => Assert.Contains(CountOf(one.Shown)!.Value, one.Ran));

    public static TheoryData<string> FilesOfCounts => [.. Counted.Value.Keys];

    /// <summary>By the file: what such a parameter is called at 0.0002 of the counts, and the counts of its phase.</summary>
    private static readonly Lazy<Dictionary<string, (string Shown, HashSet<long> Ran)[]>> Counted = new(static () =>
        PublishedFilesTests.Files().Select(static row => (Name: row.Data, Counts: CountedIn(row.Data).ToArray()))
            .Where(static file => file.Counts.Length > 0).ToDictionary(static file => file.Name, static file => file.Counts));

    private static IEnumerable<(string Shown, HashSet<long> Ran)> CountedIn(string name)
    {
        string path = Path.Combine(RepositoryPaths.Root, "scenarios", name + ".yaml");
        ReadPlan full = PlanReader.Read(new ScenarioFile(name, path, File.ReadAllText(path)), new PlanOverrides(), 42);
        ReadPlan scaled = PlanReader.Read(new ScenarioFile(name, path, File.ReadAllText(path)), new PlanOverrides { Scale = 0.0002 }, 42);
        foreach ((PlanRound round, PlanRound original) in scaled.Plan.Rounds.Zip(full.Plan.Rounds))
        {
            foreach ((Phase phase, Phase before) in round.Phases.Zip(original.Phases))
            {
                HashSet<long> ran = [.. Counts(round, phase)];
                HashSet<long> asked = [.. Counts(original, before)];
                foreach ((KeyValuePair<string, string> shown, KeyValuePair<string, string> written) in phase.Parameters.Zip(
                    before.Parameters))
                {
                    if (CountOf(written.Value) is { } count && asked.Contains(count) && written.Value.Length > 1
                        && !char.IsAsciiDigit(written.Value[^1]))
                        yield return (shown.Value, ran);
                }
            }
        }
    }

    private static IEnumerable<long> Counts(PlanRound round, Phase phase) =>
    [
        .. round.Collections.Select(collection => collection.Count), .. phase.AllGroups.Select(group => group.Count).OfType<long>(),
        .. phase.AllGroups.SelectMany(group => group.Operations)
            .Select(operation => (operation.Operation.Choice as FirstChoice)?.Count).OfType<long>(),
    ];

    private static long? CountOf(string text) =>
        double.TryParse(text.TrimEnd('k', 'M', 'G'), CultureInfo.InvariantCulture, out _) ? Quantities.ParseCount(text, 0) : null;

    private static IEnumerable<string> Labels(ReadPlan read) => read.Plan.Rounds.SelectMany(round => round.Phases)
        .Where(phase => phase.Name == "p").Select(phase => phase.Parameters.Single().Value);

    private static ReadPlan Read(string text, double scale, params (string Name, string Value)[] set) =>
        ScenarioTexts.Read(text, new PlanOverrides { Scale = scale, Parameters = set.ToDictionary(one => one.Name, one => one.Value) });
}

using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Scenarios;

/// <summary>What <c>--scale</c> makes of a parameter that counts documents holds in their values and in those of operations, too.</summary>
public sealed class ScaledValuesTests
{
    private const string Graph = """
        parameters: {nodes: 100k}
        data:
          nodes: {count: $(nodes), document: {_id: ^number, next: {^number: {cycle: $(nodes)}}}}
          links: {count: {^multiply: [$(nodes), 5]}, document: {to: {^int: [0, {^subtract: [$(nodes), 1]}]}}}
        phases:
          - name: read
            threads: 2
            operations: [{find: links, filter: {to: {^int: {min: 0, max: {^subtract: [$(nodes), 1]}}}}}]

        """;

    public static TheoryData<string> Files => ScenarioSchemaTests.Files();

    [Theory]
    [InlineData(0.001, 100)]
    [InlineData(0.01, 1000)]
    [InlineData(1, 100_000)]
    [InlineData(2, 200_000)]
    public void Keys_are_drawn_among_the_documents_that_there_are(double scale, int nodes)
    {
        PlanRound round = ScenarioTexts.Plan(Graph, new PlanOverrides { Scale = scale }).Rounds.Single();
        Assert.Equal([nodes, 5L * nodes], round.Collections.Select(collection => collection.Count));
        long[] next = [.. Enumerable.Range(0, 3).Select(i => round.Collections[0].Documents.Make(nodes + i).FindInt64("next")!.Value)];
        Assert.Equal([0, 1, 2], next);
        long[] links = [.. Enumerable.Range(0, 2000).Select(i => round.Collections[1].Documents.Make(i).FindInt64("to")!.Value)];
        Assert.InRange(links.Max(), nodes * 0.9, nodes - 1);
        DocumentValue find = round.Phases[^1].Groups[0].Operations[0].Operation.ToCommand();
        long[] asked = [.. Enumerable.Range(0, 2000)
            .Select(i => find.ToDocument(new ValueContext(0, (ulong)i * 7919)).FindInt64("filter.to")!.Value)];
        Assert.InRange(asked.Max(), nodes * 0.9, nodes - 1);
    }

    /// <summary>Threads are no documents, and a text is none either.</summary>
    [Fact]
    public void Settings_with_the_same_value_stay_and_the_label_says_what_was_multiplied()
    {
        const string text = """
            parameters: {n: 400}
            data: {users: {count: $(n), document: {n: {^int: [0, $(n)]}}}}
            phases: [{name: p, threads: $(n), count: 10, operations: [{insert: users}]}]

            """;
        ReadPlan read = ScenarioTexts.Read(text, new PlanOverrides { Scale = 0.01 });
        Assert.Equal((4L, 400), (read.Plan.Rounds[0].Collections[0].Count, read.Plan.Phases.Last().Groups[0].Threads));
        Assert.InRange(Enumerable.Range(0, 100).Max(i => read.Plan.Rounds[0].Collections[0].Documents.Make(i).FindInt64("n")!.Value), 0, 4);
        Assert.Equal([new ParameterValue("n", "400 (counts × 0.01)")], read.Parameters);
    }

    [Fact]
    public void A_parameter_that_is_only_counts_and_values_is_called_by_the_count_that_runs() =>
        Assert.Equal([new ParameterValue("nodes", "1k")], ScenarioTexts.Read(Graph, new PlanOverrides { Scale = 0.01 }).Parameters);

    /// <summary>
    /// Each file, at three scales: what a parameter counts is the same as if its value had been typed, in documents and in commands.
    /// </summary>
    [Theory]
    [MemberData(nameof(Files))]
    public void In_every_shipped_file_a_scale_is_as_if_the_count_had_been_typed(string file)
    {
        var scenario = ScenarioFile.Find(Path.Combine(RepositoryPaths.Root, "scenarios", file));
        foreach (double scale in (double[])[0.5, 0.1, 0.02])
        {
            ReadPlan scaled;
            try
            {
                scaled = PlanReader.Read(scenario, new PlanOverrides { Scale = scale }, 42);
            }
            catch (UserException e) when (e.Message.Contains("--scale", StringComparison.Ordinal))
            {
                continue;
            }

            ReadPlan full = PlanReader.Read(scenario, new PlanOverrides(), 42);
            Dictionary<string, string> typed = scaled.Parameters.Except(full.Parameters).ToDictionary(one => one.Name, one => one.Value);
            // A value of several parts can't be typed.
            if (typed.Count == 0 || file == "six-nodes.yaml")
                continue;
            ReadPlan set = PlanReader.Read(scenario, new PlanOverrides { Parameters = typed }, 42);
            Assert.Equal(ValuesOf(set), ValuesOf(scaled));
        }
    }

    private static string[] ValuesOf(ReadPlan read) =>
    [
        .. read.Plan.Rounds.SelectMany(round => round.Collections).Where(collection => collection.Files is null && !collection.IsExisting)
            .Select(collection => $"{collection.Name} {collection.Documents.Fingerprint}"),
        .. read.Plan.Rounds.SelectMany(round => round.Phases).SelectMany(phase => phase.Growth?.Each ?? [phase])
            .SelectMany(phase => phase.AllGroups).SelectMany(group => group.Operations).SelectMany(one => Parts(one.Operation)),
    ];

    private static IEnumerable<string> Parts(Operation operation) =>
        operation is StepSequence steps ? steps.Sequence.Select(step => TextOf(() => step.Values ?? step.Operation!.ToCommand()))
            : operation is CompositeOperation several ? several.Leaves.SelectMany(Parts) : [TextOf(operation.ToCommand)];

    /// <summary>What it is with a few draws; what comes of earlier steps, or is several commands, is left out.</summary>
    private static string TextOf(Func<DocumentValue> make)
    {
        try
        {
            DocumentValue value = make();
            return string.Join(' ', Enumerable.Range(1, 5)
                .Select(i => ExtendedJson.Write(value.ToDocument(new ValueContext(i, (ulong)i * 977)).Bytes)));
        }
        catch (Exception e) when (e is InvalidOperationException or NotSupportedException or NullReferenceException)
        {
            return "";
        }
    }
}

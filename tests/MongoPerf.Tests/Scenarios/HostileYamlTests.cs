using MongoPerf.Load.Documents;
using MongoPerf.Scenarios;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Files that are no YAML, or that would grow or nest without end, are refused at their line.</summary>
public sealed class HostileYamlTests
{
    private const string TooDeep = "nested too deeply; at most 100 levels are allowed";
    private const string Tab = "this line is indented with a tab; YAML allows only spaces";
    private const string TooMany = "too many values; at most 200,000 are allowed, counting those that aliases stand for";

    [Theory]
    [InlineData("data:\n  users:\n\tcount: 5\n", 3)]
    [InlineData("data:\n\tusers: {count: 5}\n", 2)]
    [InlineData("data:\n  users:\n    count: 5\n\tdocument: {a: 1}\n", 4)]
    [InlineData("data:\n  users: {\n\tcount: 5}\n", 3)]
    [InlineData("data:\n  users:\n    count: 5\n  \tx: 1\n", 4)]
    [InlineData("phases:\r\n\t- load: users\r\n", 2)]
    [InlineData("a: 1\nb: 2\nphases:\n  - load: users\n\tthreads: 5\n", 5)]
    public void Tab_is_reported_at_its_own_line(string text, int line) => Check(text, $"test.yaml:{line}: {Tab}");

    [Theory]
    [InlineData("a: b: c\n", "test.yaml:1: invalid YAML: While scanning a plain scalar value, found invalid mapping.", "")]
    [InlineData("a: 1\nb: 'x\n", "test.yaml:2: a text begins here with a quote that is not closed",
        "close it with the quote that it begins with")]
    [InlineData("a: 1\nb: [1, 2\nc: 5\n", "test.yaml:2: invalid YAML here or in the next lines",
        "is every [ and { closed, with commas between the items?")]
    [InlineData("a: 1\nb: 2\na: 3\n", "test.yaml:3: the key 'a' appears twice", "")]
    [InlineData("a: 1\n? [x]\n: 2\n", "test.yaml:2: a key must be a single text", "")]
    [InlineData("a: 1\n---\nb: 1\n", "test.yaml:2: a second document starts here; expected one per file", "")]
    [InlineData("# nothing\n", "test.yaml: the file is empty", "'mongoperf new my.yaml' writes a file to start from")]
    [InlineData("- a\n", "test.yaml:1: expected a mapping with 'data' and 'phases'", "'mongoperf new my.yaml' writes a file to start from")]
    [InlineData("a: 1\nb: !!set {x}\n", "test.yaml:2: the tag tag:yaml.org,2002:set is not supported",
        "write types as values, such as {$numberLong: 5}, or as generators, such as {^long: [0, 9]}")]
    public void Invalid_yaml(string text, string message, string hint) => Check(text, message, hint);

    [Theory]
    [InlineData("a: 1\nb: &b [1, *b]\n", "test.yaml:2: the alias *b is inside the value that it stands for, which would never end")]
    [InlineData("a: &a\n  b:\n    c: *a\n", "test.yaml:3: the alias *a is inside the value that it stands for, which would never end")]
    [InlineData("a: &a [*b]\nb: &b [*a]\n", "test.yaml:1: the alias *b has no anchor &b before it")]
    [InlineData("a: 1\nb: *c\n", "test.yaml:2: the alias *c has no anchor &c before it")]
    public void Aliases_that_never_end(string text, string message) => Check(text, message);

    [Fact]
    public void Aliases_that_grow() =>
        Check("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + Doubled(8, 10), $"test.yaml:6: {TooMany}");

    [Fact]
    public void Aliases_that_nest() =>
        Check("a0: &a0 [x]\n" + Doubled(120, 1), $"test.yaml:100: {TooDeep}");

    [Fact]
    public void Too_many_values() => Check($"a: 1\nb: [{string.Join(", ", Enumerable.Repeat("x", 200_001))}]\n", $"test.yaml:2: {TooMany}");

    /// <summary>Millions, or as many as would fill memory: refused at the first that is too many.</summary>
    [Theory]
    [InlineData("threads: $(a)", "limit: $(b), skip: $(c)", "")]
    [InlineData("repeat: 1000, rate: [MANY]", "limit: $(a)", "")]
    [InlineData("threads: [MANY]", "limit: 1", "$(c)")]
    public void Values_that_make_too_many_phases(string phase, string operation, string count)
    {
        string many = string.Join(", ", Enumerable.Range(1, 300));
        string text = $"parameters: {{a: [{many}], b: [{many}], c: [{many}]}}\n"
            + $"data: {{users: {{count: {(count.Length > 0 ? count : "5")}, document: {{n: ^number}}}}}}\n"
            + $"phases:\n  - {{name: p, count: 10, {phase.Replace("MANY", many, StringComparison.Ordinal)}, operations: [{{find: users, "
            + $"filter: {{}}, {operation}}}]}}\n";
        Check(text, "test.yaml:4: the parameters' values make more than 10,000 phases, which is the limit",
            "use fewer values, here or with --set NAME=VALUE");
    }

    [Theory]
    [InlineData("[", "")]
    [InlineData("[\n", "")]
    [InlineData("{a: ", "")]
    [InlineData("- ", "\n")]
    [InlineData("? ", "\n")]
    [InlineData("&a [", "")]
    public void Nesting_of_20000(string opening, string before)
    {
        (string message, _) = ScenarioTexts.Refusal($"a:{before} " + string.Concat(Enumerable.Repeat(opening, 20_000)));
        Assert.EndsWith(": " + TooDeep, message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(98)]
    [InlineData(200)]
    public void Documents_that_nest_beyond_100_levels_of_the_file(int levels) =>
        Check(DataNested(levels) + "phases: [{load: users}]\n", $"test.yaml:3: {TooDeep}");

    [Fact]
    public void What_nests_as_deep_as_a_file_may_fits_the_commands_around_it()
    {
        string text = DataNested(97)
            + $"phases:\n  - load: users\n  - {{name: p, operations: [{{update: users, key: uniform, with: {{$set: {Nested(93)}}}}}]}}\n";
        Assert.Equal(NodeReader.MostLevels, ScenarioYaml.Read("test.yaml", text).Levels);
        Assert.All(
            ScenarioTexts.Plan(text).Rounds.Single().Phases
                .SelectMany(p => p.Groups.Single().Operations).SelectMany(o => o.Operation.Steps),
            step => Assert.NotEmpty(step.ToCommand().ToDocument(new ValueContext(0, 1))));
    }

    [Fact]
    public void Parameters_do_not_nest_deeper()
    {
        Check(
            $"parameters: {{deep: [{Nested(60)}]}}\nphases: [{{load: users}}]\ndata:\n  users:\n    document: {Nested(60, "$(deep)")}\n",
            "test.yaml:5: parameter 'deep' makes this nested too deeply; at most 100 levels are allowed");
    }

    [Fact]
    public void Wide_files_and_shared_values_are_read()
    {
        string text = "a: &a {x: [1, 2], y: &y z}\nb: [*a, *a, *y]\n"
            + string.Concat(Enumerable.Range(0, 20_000).Select(i => $"k{i}: [1, 2, 3]\n"));
        MappingNode root = ScenarioYaml.Read("test.yaml", text);
        Assert.Equal(20_002, root.Entries.Count);
        Assert.Equal("[{x: [1, 2], y: z}, {x: [1, 2], y: z}, z]", root.Find("b")!.Label);
    }

    [Theory]
    [InlineData("a: \"\\UFFFFFFFF\"\n")]
    [InlineData("%YAML 99999999999.1\n---\na: 1\n")]
    [InlineData("a: \"\\uD800\"\n")]
    [InlineData("%TAG ! \n--- {\n")]
    [InlineData("\0")]
    [InlineData("a: |99999999999\n x\n")]
    public void Broken_escapes_and_directives_are_no_internal_error(string text) =>
        Assert.StartsWith("test.yaml", ScenarioTexts.Refusal(text).Message, StringComparison.Ordinal);

    [Fact]
    public void A_file_that_never_ends_is_not_read_to_its_end()
    {
        if (File.Exists("/dev/zero"))
            Assert.Equal("/dev/zero: longer than 10,000,000 characters, the limit for a scenario",
                Assert.Throws<UserException>(() => ScenarioFile.Find("/dev/zero")).Message);
    }

    private static string DataNested(int levels) => $"data:\n  users:\n    document: {{a: {Nested(levels - 1)}}}\n";

    private static string Nested(int levels, string value = "1") =>
        string.Concat(Enumerable.Repeat("{a: ", levels)) + value + new string('}', levels);

    private static string Doubled(int lines, int times) =>
        string.Concat(Enumerable.Range(1, lines)
            .Select(i => $"a{i}: &a{i} [{string.Join(", ", Enumerable.Repeat($"*a{i - 1}", times))}]\n"));

    private static void Check(string text, string message, string hint = "") => Assert.Equal((message, hint), ScenarioTexts.Refusal(text));
}

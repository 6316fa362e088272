using System.Text.Json;
using System.Text.Json.Nodes;
using MongoPerf.Scenarios;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Tests.Scenarios;

/// <summary>scenarios/schema.json says what the reader takes, no more and no less.</summary>
public sealed class ScenarioSchemaTests
{
    private static string Path => System.IO.Path.Combine(RepositoryPaths.Root, "scenarios", "schema.json");

    [Fact]
    public void File_is_what_the_reader_knows()
    {
        string now = ScenarioSchema.Write();
        if (Environment.GetEnvironmentVariable("UPDATE_APPROVED") == "1")
            File.WriteAllText(Path, now);
        Assert.Equal(now, File.ReadAllText(Path));
    }

    [Fact]
    public void Every_key_of_the_schema_is_taken_by_the_reader_and_the_other_way_round()
    {
        JsonNode schema = JsonNode.Parse(File.ReadAllText(Path))!;
        Assert.Equal(ScenarioLanguage.File.Names.Order(), Keys(schema["properties"]!));
        Assert.Equal(ScenarioLanguage.Phase.Names.Order(), Keys(schema["properties"]!["phases"]!["items"]!["properties"]!));
        Assert.Equal(
            ScenarioLanguage.Collection.Names.Order(), Keys(schema["properties"]!["data"]!["additionalProperties"]!["properties"]!));
        JsonArray operations = schema["definitions"]!["operation"]!["anyOf"]!.AsArray();
        Assert.Equal(ScenarioLanguage.OperationKinds, operations.Select(o => o!["required"]![0]!.GetValue<string>()));
        Assert.All(operations, o => Assert.Equal(
            ScenarioLanguage.Operations.First(keys => keys.Name == o!["required"]![0]!.GetValue<string>()).Names.Order(),
            Keys(o!["properties"]!)));
        Assert.Equal(Generator.All.Select(g => g.Name), schema["definitions"]!["generator"]!["anyOf"]!.AsArray()
            .Where(g => g!["required"] is not null).Select(g => g!["required"]![0]!.GetValue<string>()));
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void Scenarios_that_come_with_the_program_fit_the_schema(string file)
    {
        MappingNode root = ScenarioYaml.Read(file, File.ReadAllText(System.IO.Path.Combine(RepositoryPaths.Root, "scenarios", file)));
        var wrong = new List<string>();
        JsonNode schema = JsonNode.Parse(File.ReadAllText(Path))!;
        SchemaCheck.Check(schema, schema, ToJson(root), "", wrong);
        Assert.Empty(wrong);
    }

    [Fact]
    public void What_is_misspelt_does_not_fit()
    {
        JsonNode schema = JsonNode.Parse(File.ReadAllText(Path))!;
        var wrong = new List<string>();
        SchemaCheck.Check(
            schema, schema, JsonNode.Parse("{\"phases\": [{\"thread\": 1, \"operations\": [{\"fnd\": \"x\"}]}], \"dat\": {}}"), "", wrong);
        Assert.Equal(3, wrong.Count);
    }

    public static TheoryData<string> Files() =>
        [.. Directory.EnumerateFiles(System.IO.Path.Combine(RepositoryPaths.Root, "scenarios"), "*.yaml", SearchOption.AllDirectories)
            .Select(path => System.IO.Path.GetRelativePath(System.IO.Path.Combine(RepositoryPaths.Root, "scenarios"), path)).Order()];

    private static IEnumerable<string> Keys(JsonNode properties) => properties.AsObject().Select(p => p.Key).Order();

    internal static JsonNode? ToJson(ScenarioNode node) => node switch
    {
        MappingNode mapping => new JsonObject(mapping.Entries.Select(e => KeyValuePair.Create(e.Name, ToJson(e.Value)))),
        SequenceNode list => new JsonArray([.. list.Items.Select(ToJson)]),
        ScalarNode { IsNull: true } => null,
        ScalarNode { IsQuoted: false } scalar when scalar.Text is "true" or "false" => scalar.Text == "true",
        ScalarNode { IsQuoted: false } scalar when double.TryParse(scalar.Text, out double number) =>
            number == Math.Floor(number) ? JsonValue.Create((long)number) : JsonValue.Create(number),
        ScalarNode scalar => scalar.Text,
        _ => null,
    };
}

/// <summary>As much of JSON Schema as the schemas of scenarios and plots use.</summary>
internal static class SchemaCheck
{
    public static void Check(JsonNode root, JsonNode schema, JsonNode? value, string path, List<string> wrong)
    {
        if (schema["$ref"] is { } reference)
        {
            Check(root, root["definitions"]![reference.GetValue<string>().Split('/')[^1]]!, value, path, wrong);
            return;
        }

        foreach (JsonNode? all in schema["allOf"]?.AsArray() ?? [])
            Check(root, all!, value, path, wrong);
        if (schema["if"] is { } condition && schema[Fits(root, condition, value) ? "then" : "else"] is { } branch)
            Check(root, branch, value, path, wrong);
        if (schema["anyOf"] is JsonArray any && !any.Any(one => Fits(root, one!, value)))
            wrong.Add($"{path}: none of the forms fits");
        if (schema["enum"] is JsonArray allowed && !allowed.Any(a => JsonNode.DeepEquals(a, value)))
            wrong.Add($"{path}: not one of the values");
        if (schema["type"] is { } type
            && !(type is JsonArray several ? several.Any(t => IsOf(t!.GetValue<string>(), value)) : IsOf(type.GetValue<string>(), value)))
            wrong.Add($"{path}: not of type {type.ToJsonString()}");
        if (schema["pattern"] is { } pattern && value?.GetValueKind() == JsonValueKind.String
            && !System.Text.RegularExpressions.Regex.IsMatch(value.GetValue<string>(), pattern.GetValue<string>()))
            wrong.Add($"{path}: does not match {pattern}");
        foreach (JsonNode? name in schema["required"]?.AsArray() ?? [])
        {
            if (value is JsonObject holder && !holder.ContainsKey(name!.GetValue<string>()))
                wrong.Add($"{path}: {name} is missing");
        }

        if (value is JsonObject mapping)
            CheckProperties(root, schema, mapping, path, wrong);
        if (value is JsonArray items && schema["items"] is { } item)
        {
            for (int i = 0; i < items.Count; i++)
                Check(root, item, items[i], $"{path}[{i}]", wrong);
        }
    }

    private static void CheckProperties(JsonNode root, JsonNode schema, JsonObject mapping, string path, List<string> wrong)
    {
        foreach ((string name, JsonNode? value) in mapping)
        {
            if (schema["properties"]?[name] is { } property)
                Check(root, property, value, $"{path}.{name}", wrong);
            else if (schema["additionalProperties"] is JsonObject other)
                Check(root, other, value, $"{path}.{name}", wrong);
            else if (schema["additionalProperties"] is JsonValue flag && !flag.GetValue<bool>())
                wrong.Add($"{path}.{name}: not a key");
        }
    }

    private static bool Fits(JsonNode root, JsonNode schema, JsonNode? value)
    {
        var wrong = new List<string>();
        Check(root, schema, value, "", wrong);
        return wrong.Count == 0;
    }

    private static bool IsOf(string type, JsonNode? value) => type switch
    {
        "null" => value is null,
        "object" => value is JsonObject,
        "array" => value is JsonArray,
        "string" => value?.GetValueKind() == JsonValueKind.String,
        "boolean" => value?.GetValueKind() is JsonValueKind.True or JsonValueKind.False,
        "integer" => value?.GetValueKind() == JsonValueKind.Number && value.GetValue<object>() is long,
        _ => value?.GetValueKind() == JsonValueKind.Number,
    };
}

using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using MongoPerf.Load.Documents;
using MongoPerf.Scenarios;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Tests.Scenarios;

/// <summary>The JSON Schema of scenario files, for editors: made from the same tables that the reader goes by.</summary>
internal static class ScenarioSchema
{
    private const string Parameter = @"^.*\$\([A-Za-z_][\w.-]*\).*$";

    private static readonly JsonSerializerOptions Indented = new()
    {
        WriteIndented = true, NewLine = "\n", Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    public static string Write()
    {
        JsonObject root = Mapping(ScenarioLanguage.File);
        var schema = new JsonObject { ["$schema"] = "http://json-schema.org/draft-07/schema#", ["title"] = "MongoPerf scenario" };
        foreach ((string name, JsonNode? value) in root)
            schema[name] = value?.DeepClone();
        schema["required"] = new JsonArray("phases");
        schema["definitions"] = Definitions();
        return schema.ToJsonString(Indented) + "\n";
    }

    private static JsonObject Definitions() => new()
    {
        ["parameter"] = new JsonObject { ["type"] = "string", ["pattern"] = Parameter, ["description"] = "A parameter's value: $(name)." },
        ["decided"] = Decided(),
        ["count"] = OrParameter("integer", @"^[0-9][0-9_]*(\.[0-9]+)?([eE][0-9]+)?[kKmMgGbB]?$"),
        ["number"] = OrParameter("number", null),
        ["flag"] = OrParameter("boolean", null),
        ["duration"] = OrParameter(null, @"^([0-9][0-9_.]*(us|ms|s|m|h)|0)$"),
        ["size"] = OrParameter("integer", @"^[0-9][0-9_.]*([kKmMgGtT]i?)?[bB]$"),
        ["value"] = new JsonObject
        {
            ["description"] = "A value; generators begin with ^.",
            ["anyOf"] = new JsonArray(
                new JsonObject { ["type"] = new JsonArray("string", "number", "boolean", "null", "array") },
                Ref("document"), Ref("generator")),
        },
        ["document"] = new JsonObject { ["type"] = "object", ["additionalProperties"] = true },
        ["generator"] = Generators(),
        ["keyChoice"] = KeyChoices(),
        ["operation"] = new JsonObject { ["anyOf"] = new JsonArray([.. ScenarioLanguage.Operations.Select(Operation)]) },
        ["step"] = new JsonObject
        {
            ["anyOf"] = new JsonArray([.. ScenarioLanguage.Steps.Concat(ScenarioLanguage.SilentSteps).Select(Operation)]),
        },
        ["write"] = new JsonObject { ["anyOf"] = new JsonArray([.. ScenarioLanguage.BulkWrites.Select(Operation)]) },
    };

    private static JsonObject Operation(KeySet keys)
    {
        JsonObject mapping = Mapping(keys);
        mapping["required"] = new JsonArray(keys.Name);
        return mapping;
    }

    private static JsonObject Mapping(KeySet keys) => new()
    {
        ["type"] = "object",
        ["description"] = keys.Description,
        ["properties"] = new JsonObject(keys.Keys.Select(key => KeyValuePair.Create(key.Name, (JsonNode?)Property(key)))),
        ["additionalProperties"] = false,
    };

    private static JsonObject Property(Key key)
    {
        JsonObject schema = key switch
        {
            { Allowed: { } words, Of: { } mapping } =>
                new JsonObject { ["anyOf"] = new JsonArray(Words(words), Mapping(mapping), Ref("parameter")) },
            { Allowed: { } words } => OneOf(words),
            _ => TypeOf(key),
        };
        // Beside a reference other words are not looked at.
        return schema.ContainsKey("$ref")
            ? new JsonObject { ["description"] = key.Description, ["allOf"] = new JsonArray(schema) }
            : new JsonObject([KeyValuePair.Create("description", (JsonNode?)key.Description),
                .. schema.Where(p => p.Key != "description").Select(p => KeyValuePair.Create(p.Key, p.Value?.DeepClone()))]);
    }

    private static JsonObject TypeOf(Key key) => key.Kind switch
    {
        KeyKind.Text => new JsonObject
        {
            ["anyOf"] = new JsonArray(new JsonObject { ["type"] = new JsonArray("string", "number", "boolean") }, Ref("decided")),
        },
        KeyKind.Flag => key.Of is null ? Ref("flag") : new JsonObject { ["anyOf"] = new JsonArray(Ref("flag"), Mapping(key.Of)) },
        KeyKind.Count => Ref("count"),
        KeyKind.Counts => new JsonObject { ["anyOf"] = new JsonArray(Ref("count"), ListOf(Ref("count"))) },
        KeyKind.Number => Ref("number"),
        KeyKind.Course => new JsonObject { ["anyOf"] = new JsonArray(Ref("count"), Ref("number"), ListOf(Ref("count")),
            ListOf(Ref("number")), ListOf(Mapping(key.Of!))) },
        KeyKind.Duration => Ref("duration"),
        KeyKind.Size => Ref("size"),
        KeyKind.SizeOrNone =>
            new JsonObject { ["anyOf"] = new JsonArray(Ref("size"), new JsonObject { ["enum"] = new JsonArray("none") }) },
        KeyKind.Value => Ref("value"),
        KeyKind.Document => OrText(Ref("document")),
        KeyKind.Values or KeyKind.Documents or KeyKind.Texts => new JsonObject
        {
            ["anyOf"] = new JsonArray(ListOf(Ref("value")), new JsonObject { ["type"] = "string" }, Ref("decided")),
        },
        KeyKind.KeyChoice => Ref("keyChoice"),
        KeyKind.Mapping => new JsonObject { ["anyOf"] = new JsonArray(Mapping(key.Of!), Choice(), Ref("parameter")) },
        KeyKind.Mappings => ListOf(key.Of is null ? Ref(key.Items) : Mapping(key.Of)),
        _ => new JsonObject { ["type"] = "object", ["additionalProperties"] = key.Of is null ? Ref("value") : Mapping(key.Of) },
    };

    /// <summary>What is put in place when the file is read.</summary>
    private static JsonObject Decided() => new()
    {
        ["description"] = "A value that is decided, or computed from whole numbers, when the file is read.",
        ["anyOf"] = new JsonArray(
        [
            Choice(),
            .. ComputedValue.Names.Select(name => new JsonObject
            {
                ["type"] = "object",
                ["properties"] = new JsonObject { [name] = ListOf([]) },
                ["required"] = new JsonArray(name),
                ["additionalProperties"] = false,
            }),
        ]),
    };

    /// <summary>A parameter decides what stands there.</summary>
    private static JsonObject Choice() => new()
    {
        ["type"] = "object",
        ["properties"] = new JsonObject { ["^if"] = new JsonObject { ["type"] = "object" } },
        ["required"] = new JsonArray("^if"),
        ["additionalProperties"] = false,
    };

    private static JsonObject Generators() => new()
    {
        ["description"] = "A generated value.",
        ["anyOf"] = new JsonArray(
        [
            .. Generator.All.Select(g => new JsonObject
            {
                ["type"] = "object",
                ["description"] = $"{g.Description} {g.Form}",
                ["properties"] = new JsonObject { [g.Name] = Arguments(g) },
                ["required"] = new JsonArray(g.Name),
            }),
            new JsonObject { ["enum"] = new JsonArray([.. Generator.All.Select(g => JsonValue.Create(g.Name))]) },
        ]),
    };

    private static JsonObject Arguments(Generator generator)
    {
        var other = new JsonObject { ["type"] = new JsonArray("string", "number", "boolean", "null", "array") };
        if (generator.Keys.Count == 0)
            return other;
        var keys = new JsonObject
        {
            ["type"] = "object",
            ["properties"] = new JsonObject(generator.Keys.Select(k => KeyValuePair.Create(k, (JsonNode?)new JsonObject()))),
            ["additionalProperties"] = false,
        };
        return new JsonObject { ["anyOf"] = new JsonArray(keys, other) };
    }

    private static JsonObject KeyChoices() => new()
    {
        ["description"] = "Which documents operations are about.",
        ["anyOf"] = new JsonArray(
        [
            new JsonObject
            {
                ["enum"] = new JsonArray([.. KeyChoiceReader.Choices.Where(c => c.Name != "first").Select(c => JsonValue.Create(c.Name))]),
            },
            Ref("parameter"),
            .. KeyChoiceReader.Choices.Select(c => new JsonObject
            {
                ["type"] = "object",
                ["description"] = c.Description,
                ["properties"] = new JsonObject { [c.Name] = c.Name == "first" ? Ref("count") : Mapping(c) },
                ["additionalProperties"] = false,
                ["required"] = new JsonArray(c.Name),
            }),
        ]),
    };

    private static JsonObject OneOf(IEnumerable<string> allowed) =>
        new() { ["anyOf"] = new JsonArray(Words(allowed), Ref("parameter")) };

    private static JsonObject Words(IEnumerable<string> allowed) =>
        new() { ["enum"] = new JsonArray([.. allowed.Select(a => JsonValue.Create(a))]) };

    private static JsonObject OrParameter(string? type, string? pattern)
    {
        var kinds = new JsonArray();
        if (type is not null)
            kinds.Add(new JsonObject { ["type"] = type });
        if (pattern is not null)
            kinds.Add(new JsonObject { ["type"] = "string", ["pattern"] = pattern });
        kinds.Add(Ref("parameter"));
        kinds.Add(Ref("decided"));
        return new JsonObject { ["anyOf"] = kinds };
    }

    private static JsonObject OrText(JsonObject schema) =>
        new() { ["anyOf"] = new JsonArray(schema, new JsonObject { ["type"] = "string" }) };

    private static JsonObject ListOf(JsonObject item) => new() { ["type"] = "array", ["items"] = item };

    private static JsonObject Ref(string name) => new() { ["$ref"] = $"#/definitions/{name}" };
}

using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Plots;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Tests.Reports;

/// <summary>The JSON Schemas of plot files and of style.yaml, for editors: made from the same tables that their readers go by.</summary>
internal static class PlotSchema
{
    private static readonly JsonSerializerOptions Indented = new()
    {
        WriteIndented = true, NewLine = "\n", Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    public static string OfPlot()
    {
        JsonObject schema = Root("MongoPerf plot", PlotLanguage.File);
        JsonObject properties = schema["properties"]!.AsObject();
        properties["bands"] = With(properties["bands"]!, Several(Words(PlotLanguage.BandNames)));
        schema["required"] = new JsonArray("title", "x");
        // With panels, the axis decides what they can show; with y, whether metrics are of results or of samples.
        schema["allOf"] = new JsonArray(
        [
            new JsonObject
            {
                ["if"] = Has("panels"),
                ["then"] = new JsonObject
                {
                    ["properties"] = new JsonObject { ["x"] = Words(PlotLanguage.Axes.Select(static axis => axis.Name)) },
                },
                ["else"] = new JsonObject { ["required"] = new JsonArray("y") },
            },
            .. PlotLanguage.Axes.Select(static axis => new JsonObject { ["if"] = Is(axis.Name, "panels"), ["then"] = Shows(axis.Shows) }),
            new JsonObject
            {
                ["if"] = Is(PlotLanguage.Time, "y"), ["then"] = Metrics(TimeMetric.Names), ["else"] = Metrics(FigureMetric.Names),
            },
        ]);
        return schema.ToJsonString(Indented) + "\n";
    }

    public static string OfStyle() => Root("MongoPerf plot style", PlotStyle.File).ToJsonString(Indented) + "\n";

    private static JsonObject Root(string title, KeySet keys)
    {
        var schema = new JsonObject { ["$schema"] = "http://json-schema.org/draft-07/schema#", ["title"] = title };
        foreach ((string name, JsonNode? value) in Mapping(keys))
            schema[name] = value?.DeepClone();
        return schema;
    }

    private static JsonObject Mapping(KeySet keys) => new()
    {
        ["type"] = "object",
        ["description"] = keys.Description,
        ["properties"] = new JsonObject(keys.Keys.Select(static key =>
            KeyValuePair.Create(key.Name, (JsonNode?)With(new JsonObject { ["description"] = key.Description }, Value(key))))),
        ["additionalProperties"] = false,
    };

    private static JsonObject Value(Key key) => key switch
    {
        { Allowed: { } words } => Words(words),
        { Name: "y", Kind: KeyKind.Text } => Words(PlotLanguage.GrowthMetrics),
        { Kind: KeyKind.Flag } => new JsonObject { ["type"] = "boolean" },
        { Kind: KeyKind.Number } => new JsonObject { ["type"] = "number" },
        { Kind: KeyKind.Texts } => Several(Text()),
        { Kind: KeyKind.Values, Of: { } item } => Several(new JsonObject { ["anyOf"] = new JsonArray(Text(), Mapping(item)) }),
        { Kind: KeyKind.Mapping, Of: { } mapping } => Mapping(mapping),
        { Kind: KeyKind.NamedMappings, Of: { } mapping } =>
            new JsonObject { ["type"] = "object", ["additionalProperties"] = Mapping(mapping) },
        { Kind: KeyKind.Document } => new JsonObject { ["type"] = "object" },
        _ => Text(),
    };

    private static JsonObject Shows(AllowedNames shows)
    {
        var panel = new JsonObject
        {
            ["properties"] = new JsonObject { ["show"] = Words(shows) }, ["type"] = "object", ["required"] = new JsonArray("show"),
        };
        JsonObject panels = Several(new JsonObject { ["anyOf"] = new JsonArray(Words(shows), panel) });
        return new JsonObject { ["properties"] = new JsonObject { ["panels"] = panels, ["needs"] = Several(Words(shows)) } };
    }

    private static JsonObject Metrics(AllowedNames names) =>
        new() { ["properties"] = new JsonObject { ["y"] = Several(Words(names)) } };

    private static JsonObject Has(string key) => new() { ["required"] = new JsonArray(key) };

    private static JsonObject Is(string x, string with) =>
        new()
        {
            ["required"] = new JsonArray("x", with),
            ["properties"] = new JsonObject { ["x"] = new JsonObject { ["enum"] = new JsonArray(x) } },
        };

    private static JsonObject With(JsonNode schema, JsonObject more)
    {
        JsonObject all = schema.DeepClone().AsObject();
        if (more.ContainsKey("anyOf"))
            all.Remove("anyOf");
        foreach ((string name, JsonNode? value) in more.Where(static one => one.Key != "description"))
            all[name] = value?.DeepClone();
        return all;
    }

    /// <summary>A list of these, or one of them.</summary>
    private static JsonObject Several(JsonObject item) =>
        new() { ["anyOf"] = new JsonArray(item, new JsonObject { ["type"] = "array", ["items"] = item.DeepClone() }) };

    private static JsonObject Text() => new() { ["type"] = new JsonArray("string", "number", "boolean") };

    private static JsonObject Words(AllowedNames allowed) => allowed.Others.Length == 0 ? Words(allowed.Listed)
        : new JsonObject { ["anyOf"] = new JsonArray(
            Words(allowed.Listed),
            new JsonObject { ["type"] = "string", ["pattern"] = "^(p|serviceP|latenessP)[1-9][0-9]{0,5}$" }) };

    private static JsonObject Words(IEnumerable<string> allowed) =>
        new() { ["enum"] = new JsonArray([.. allowed.Select(static word => JsonValue.Create(word))]) };
}

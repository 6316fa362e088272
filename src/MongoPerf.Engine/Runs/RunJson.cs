using System.Text.Json;
using System.Text.Json.Serialization;

namespace MongoPerf.Engine.Runs;

/// <summary>How records are kept as text inside run.db.</summary>
internal static class RunJson
{
    private static readonly JsonSerializerOptions Options = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        // A rate over no time must not make a result unstorable.
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
        Converters = { new StoredText.Converter() },
    };

    public static string Write<T>(T value) => JsonSerializer.Serialize(value, Options);

    /// <exception cref="JsonException">Not such a record, or a required member is missing.</exception>
    public static T Read<T>(string text) =>
        JsonSerializer.Deserialize<T>(text, Options) ?? throw new JsonException("null where a record is stored");
}

using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace MongoPerf.Storage;

/// <summary>How records are kept as text inside run.db.</summary>
public static class RunJson
{
    /// <summary>No count, size or rate of a run comes near it, and sums of many stay within 64 bits.</summary>
    public const double Largest = 1e15;

    /// <summary>Any 64 bits.</summary>
    private const string SeedName = "seed";

    private static readonly JsonSerializerOptions Options = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        // A rate over no time must not make a result unstorable.
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
        RespectNullableAnnotations = true,
        RespectRequiredConstructorParameters = true,
        Converters = { new StoredText.Converter() },
    };

    public static string Write<T>(T value) => JsonSerializer.Serialize(value, Options);

    /// <exception cref="JsonException">Not such a record, a required member is missing, or a value is one that no run stores.</exception>
    public static T Read<T>(string text)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        CheckValues(bytes);
        return JsonSerializer.Deserialize<T>(bytes, Options) ?? throw new JsonException("null where a record is stored");
    }

    /// <summary>
    /// The file may be damaged or somebody else's. What is out of all proportion would break sums, axes and dates later on, where nobody
    /// could say which value it was.
    /// </summary>
    private static void CheckValues(ReadOnlySpan<byte> json)
    {
        var reader = new Utf8JsonReader(json);
        string name = "";
        while (reader.Read())
        {
            if (reader.TokenType == JsonTokenType.PropertyName)
                name = reader.GetString()!;
            else if (reader.TokenType == JsonTokenType.Null)
                throw new JsonException($"'{name}' is null");
            else if (reader.TokenType == JsonTokenType.Number && (!reader.TryGetDouble(out double value) || !(Math.Abs(value) <= Largest))
                && name != SeedName)
                throw new JsonException($"'{name}' is out of range");
        }
    }
}

using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting;

/// <summary>The shapes that schemas are made of: values that may be missing, lists, and objects that may be missing.</summary>
internal static class JsonValues
{
    private const int Decimals = 6;

    private static readonly JsonSerializerOptions Records = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        Converters = { new RoundedNumber() },
        TypeInfoResolver = new DefaultJsonTypeInfoResolver { Modifiers = { LeaveErrorsToThePhase } },
    };

    public static void Text(this Utf8JsonWriter json, string name, string? value)
    {
        if (value == null)
            json.WriteNull(name);
        else
            json.WriteString(name, value);
    }

    public static void Texts(this Utf8JsonWriter json, string name, IEnumerable<string> values)
    {
        json.WriteStartArray(name);
        foreach (string value in values)
            json.WriteStringValue(value);
        json.WriteEndArray();
    }

    public static void Integer(this Utf8JsonWriter json, string name, long? value)
    {
        if (value is { } number)
            json.WriteNumber(name, number);
        else
            json.WriteNull(name);
    }

    /// <summary>Rounded to a millionth; JSON knows neither NaN nor infinity.</summary>
    public static void Number(this Utf8JsonWriter json, string name, double? value)
    {
        if (value is { } number && double.IsFinite(number))
            json.WriteNumber(name, Math.Round(number, Decimals));
        else
            json.WriteNull(name);
    }

    /// <summary>A stored record, or a list of them, as it is: its members in their order, in camelCase.</summary>
    public static void Record<T>(this Utf8JsonWriter json, string name, T value)
    {
        json.WritePropertyName(name);
        JsonSerializer.Serialize(json, value, Records);
    }

    /// <summary>Null where there is no value.</summary>
    /// <param name="json">Within an object.</param>
    /// <param name="name">Of the field.</param>
    /// <param name="value">What it tells of.</param>
    /// <param name="writeFields">Between the braces.</param>
    public static void Object<T>(this Utf8JsonWriter json, string name, T? value, Action<Utf8JsonWriter, T> writeFields) where T : class
    {
        if (value is null)
        {
            json.WriteNull(name);
            return;
        }

        json.WriteStartObject(name);
        writeFields(json, value);
        json.WriteEndObject();
    }

    /// <summary>A list with an object for each value.</summary>
    /// <param name="json">Within an object.</param>
    /// <param name="name">Of the field.</param>
    /// <param name="values">What its objects tell of.</param>
    /// <param name="writeFields">Between the braces of one.</param>
    public static void Objects<T>(this Utf8JsonWriter json, string name, IEnumerable<T> values, Action<Utf8JsonWriter, T> writeFields)
    {
        json.WriteStartArray(name);
        foreach (T value in values)
        {
            json.WriteStartObject();
            writeFields(json, value);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    /// <summary>A phase lists the errors of all its operations.</summary>
    private static void LeaveErrorsToThePhase(JsonTypeInfo type)
    {
        if (type.Type == typeof(OperationResult))
            type.Properties.Remove(type.Properties.Single(property => property.Name == "errors"));
    }

    /// <inheritdoc cref="Number"/>
    private sealed class RoundedNumber : JsonConverter<double>
    {
        public override double Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => reader.GetDouble();

        public override void Write(Utf8JsonWriter writer, double value, JsonSerializerOptions options)
        {
            if (double.IsFinite(value))
                writer.WriteNumberValue(Math.Round(value, Decimals));
            else
                writer.WriteNullValue();
        }
    }
}

using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace MongoPerf.Storage;

/// <summary>
/// Texts of run.db, made fit to be shown: a run folder may come from somebody else, and most of what is in one was said by servers.
/// </summary>
internal static class StoredText
{
    /// <summary>Characters that are kept of a longer one; MongoDB's own messages are far below.</summary>
    public const int Longest = 5000;

    /// <summary>Characters that move the cursor, or turn the direction of writing, as '?'.</summary>
    public static string Clean(string text)
    {
        string kept = text.Length <= Longest ? text : text[..Longest] + "…";
        return kept.AsSpan().ContainsAnyExceptInRange(' ', '~') && kept.Any(IsUnfit)
            ? string.Concat(kept.Select(c => IsUnfit(c) ? '?' : c))
            : kept;
    }

    private static bool IsUnfit(char c) =>
        c is not ('\n' or '\t') && char.GetUnicodeCategory(c) is UnicodeCategory.Control or UnicodeCategory.Format
            or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator;

    /// <summary>Every text of a record, its keys too.</summary>
    internal sealed class Converter : JsonConverter<string>
    {
        public override string? Read(
            ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => Clean(reader.GetString()!);

        public override void Write(Utf8JsonWriter writer, string value, JsonSerializerOptions options) => writer.WriteStringValue(value);

        public override string ReadAsPropertyName(
            ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => Clean(reader.GetString()!);

        public override void WriteAsPropertyName(Utf8JsonWriter writer, string value, JsonSerializerOptions options) =>
            writer.WritePropertyName(value);
    }

    /// <summary>What is not shown but read again: as it is, of any length.</summary>
    internal sealed class WholeConverter : JsonConverter<string>
    {
        public override string? Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => reader.GetString();

        public override void Write(Utf8JsonWriter writer, string value, JsonSerializerOptions options) => writer.WriteStringValue(value);
    }
}

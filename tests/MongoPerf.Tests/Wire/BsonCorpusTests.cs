using System.Text.Json;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Wire;

/// <summary>
/// The whole BSON corpus. converted_bson and converted_extjson are for drivers without the deprecated types and do not apply: all
/// types are kept here.
/// </summary>
public sealed class BsonCorpusTests
{
    private const string Corpus = "bson-corpus/*.json";

    public static TheoryData<string, int, string> Valid => VectorCase.Rows("valid", Corpus);

    public static TheoryData<string, int, string> DecodeErrors => VectorCase.Rows("decodeErrors", Corpus);

    public static TheoryData<string, int, string> ParseErrors => VectorCase.Rows("parseErrors", Corpus);

    [VectorTheory]
    [MemberData(nameof(Valid))]
    public void Valid_bson_is_accepted_and_written_again_byte_for_byte(string file, int index, string description)
    {
        byte[] canonical = Bytes(VectorCase.Entry(file, "valid", index), "canonical_bson")!;
        BsonValidator.Validate(canonical);
        Assert.True(canonical.AsSpan().SequenceEqual(BsonCopy.Of(canonical)), description);
    }

    [VectorTheory]
    [MemberData(nameof(Valid))]
    public void Bson_is_written_as_the_corpus_json(string file, int index, string description)
    {
        JsonElement vector = VectorCase.Entry(file, "valid", index);
        byte[] canonical = Bytes(vector, "canonical_bson")!;
        AssertJson(vector.Text("canonical_extjson")!, ExtendedJson.Write(canonical, ExtendedJsonMode.Canonical), description);
        AssertJson(
            vector.Text("canonical_extjson")!, ExtendedJson.Write(canonical, ExtendedJsonMode.Canonical, indented: true), description);
        if (vector.Text("relaxed_extjson") is { } relaxed)
            AssertJson(relaxed, ExtendedJson.Write(canonical), description);
        if (Bytes(vector, "degenerate_bson") is { } degenerate)
        {
            BsonValidator.Validate(degenerate);
            string json = ExtendedJson.Write(degenerate, ExtendedJsonMode.Canonical);
            AssertJson(vector.Text("canonical_extjson")!, json, description);
            Assert.Equal(canonical, ExtendedJson.Parse(json).Memory.ToArray());
        }
    }

    [VectorTheory]
    [MemberData(nameof(Valid))]
    public void Json_is_read_as_the_corpus_bson(string file, int index, string description)
    {
        JsonElement vector = VectorCase.Entry(file, "valid", index);
        bool isLossy = vector.TryGetProperty("lossy", out JsonElement lossy) && lossy.GetBoolean();
        string canonical = vector.Text("canonical_extjson")!;
        foreach (string? json in new[] { canonical, vector.Text("degenerate_extjson") })
        {
            if (json is null)
                continue;
            BsonDocument parsed = ExtendedJson.Parse(json);
            AssertJson(canonical, ExtendedJson.Write(parsed.Bytes, ExtendedJsonMode.Canonical), description);
            if (!isLossy)
                Assert.Equal(Bytes(vector, "canonical_bson"), parsed.Memory.ToArray());
        }

        if (vector.Text("relaxed_extjson") is { } relaxed)
            AssertJson(relaxed, ExtendedJson.Write(ExtendedJson.Parse(relaxed).Bytes), description);
    }

    [VectorTheory]
    [MemberData(nameof(DecodeErrors))]
    public void Broken_bson_is_refused(string file, int index, string description)
    {
        byte[] bytes = Bytes(VectorCase.Entry(file, "decodeErrors", index), "bson")!;
        Assert.False(string.IsNullOrEmpty(Assert.Throws<BsonFormatException>(() => BsonValidator.Validate(bytes)).Message), description);
    }

    [VectorTheory]
    [MemberData(nameof(ParseErrors))]
    public void Wrong_text_is_refused(string file, int index, string description)
    {
        string text = VectorCase.Entry(file, "parseErrors", index).Text("string")!;
        if (VectorCase.Root(file).Text("bson_type") == "0x13")
        {
            Assert.False(Decimal128.TryParse(text, out _), description);
            text = $$$"""{"d": {"$numberDecimal": {{{JsonSerializer.Serialize(text)}}}}}""";
        }

        Assert.Throws<ExtendedJsonException>(() => ExtendedJson.Parse(text));
    }

    private static byte[]? Bytes(JsonElement vector, string name) => vector.Text(name) is { } hex ? Convert.FromHexString(hex) : null;

    /// <summary>Same structure, same order of keys, numbers spelled alike.</summary>
    private static void AssertJson(string expected, string actual, string description) =>
        Assert.True(Normalize(expected) == Normalize(actual), $"{description}: expected {expected}, written {actual}");

    private static string Normalize(string json)
    {
        using var document = JsonDocument.Parse(json);
        return JsonSerializer.Serialize(document.RootElement);
    }
}

using System.Text.Json;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>Whole messages of a real mongod 6.0.5, and every document recorded from it.</summary>
public sealed class RecordedMessageTests
{
    [VectorFact]
    public void Recorded_hello_messages_hold_the_recorded_documents()
    {
        JsonElement exchange = Open("hello.json")
            .GetProperty("exchanges").EnumerateArray().First(entry => entry.TryGetProperty("replyHex", out _));
        foreach ((string hex, string json) in new[] { ("requestHex", "request"), ("replyHex", "reply") })
        {
            byte[] bytes = Convert.FromHexString(exchange.GetProperty(hex).GetString()!);
            Assert.Equal(bytes.Length, MessageHeader.Read(bytes).Length);
            Assert.Equal(ExtendedJson.Parse(exchange.GetProperty(json).GetRawText()).Memory.ToArray(), OpMsg.Parse(bytes).Body.ToArray());
        }
    }

    [VectorFact]
    public void Recorded_replies_parse_and_hold_the_recorded_documents()
    {
        int parsed = 0;
        foreach (JsonElement entry in Open("wire.json").GetProperty("cases").EnumerateArray())
        {
            if (!entry.TryGetProperty("replyHex", out JsonElement hex))
                continue;
            byte[] bytes = Convert.FromHexString(hex.GetString()!);
            string what = entry.GetProperty("what").GetString()!;
            MessageHeader header = MessageHeader.Read(bytes);
            Assert.True(header.Length == bytes.Length, what);
            if (header.OpCode != OpCode.Msg)
                continue;
            parsed++;
            OpMsg message = OpMsg.Parse(bytes);
            BsonValidator.Validate(message.Body);
            if (entry.GetProperty("reply") is { ValueKind: JsonValueKind.Object } reply
                && reply.TryGetProperty("doc", out JsonElement document))
                Assert.True(ExtendedJson.Parse(document.GetRawText()).Bytes.SequenceEqual(message.Body), what);
        }

        Assert.InRange(parsed, 15, 100);
    }

    /// <summary>What the server itself refuses must be refused here, and the rest taken.</summary>
    [VectorFact]
    public void Recorded_requests_are_taken_or_refused_as_the_server_did()
    {
        foreach (JsonElement entry in Open("wire.json").GetProperty("cases").EnumerateArray())
        {
            string what = entry.GetProperty("what").GetString()!;
            byte[] bytes = Convert.FromHexString(entry.GetProperty("requestHex").GetString()!);
            if (bytes.Length < MessageHeader.Size || MessageHeader.Read(bytes) is not { OpCode: OpCode.Msg } header
                || header.Length != bytes.Length)
                continue;
            bool isRefusal = what.StartsWith("unknown required flag", StringComparison.Ordinal)
                || what.StartsWith("two kind 0", StringComparison.Ordinal)
                || what.StartsWith("unknown section kind", StringComparison.Ordinal)
                || what.StartsWith("BSON document length", StringComparison.Ordinal);
            if (isRefusal)
                Assert.Throws<WireProtocolException>(() => OpMsg.Parse(bytes));
            else
                Assert.True(new BsonReader(OpMsg.Parse(bytes).Body).Read(), what);
        }
    }

    [VectorFact]
    public void Every_recorded_document_survives_extended_json_and_back()
    {
        int documents = 0;
        foreach (string path in Directory.GetFiles(RepositoryPaths.Replies!, "*.json"))
        {
            using var file = JsonDocument.Parse(File.ReadAllText(path));
            JsonElement root = file.RootElement;
            foreach (JsonElement entry in root.TryGetProperty("exchanges", out JsonElement exchanges)
                ? exchanges.EnumerateArray().ToArray()
                : [root])
            {
                if (!entry.TryGetProperty("reply", out JsonElement reply) || reply.ValueKind != JsonValueKind.Object)
                    continue;
                documents++;
                byte[] bson = ExtendedJson.Parse(reply.GetRawText()).Memory.ToArray();
                BsonValidator.Validate(bson);
                Assert.Equal(bson, ExtendedJson.Parse(ExtendedJson.Write(bson, ExtendedJsonMode.Canonical)).Memory.ToArray());
            }
        }

        Assert.InRange(documents, 100, 10_000);
    }

    private static JsonElement Open(string file)
    {
        using var document = JsonDocument.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Replies!, file)));
        return document.RootElement.Clone();
    }
}

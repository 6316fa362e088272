using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Testing;

/// <summary>
/// Commands, and in mongod-replies.txt what a mongod 6.0.5 answered to each: so the embedded server is held against it where there is no
/// mongod.
/// </summary>
internal static class MongodReplies
{
    public const string Version = "6.0.5";

    /// <summary>Half of them are those of differential-cases.txt, half are drawn.</summary>
    public const int Parts = 8;

    private const int Drawn = 400;
    private const int Documents = 25;
    private const int CommandsPerRound = 40;
    private const int NotImplemented = 238;
    private const int DuplicateKey = 11000;
    private const string Refused = "refused";

    private static readonly string[] Writes = ["insert", "update", "delete", "findAndModify"];

    public static string File { get; } = Path.Combine(RepositoryPaths.Root, "tests", "Shared", "mongod-replies.txt");

    /// <summary>By part: of each command what stands for mongod's reply.</summary>
    public static string[][] Stored { get; } =
        [.. (Path.Exists(File) ? System.IO.File.ReadAllText(File) : "").Split("\n\n").Select(part => part.Split([' ', '\n'],
            StringSplitOptions.RemoveEmptyEntries))];

    /// <summary>The commands of a part, each sequence of them in an empty database.</summary>
    /// <param name="part">0-based.</param>
    /// <returns>Each command, and whether only the code of its reply counts.</returns>
    public static IEnumerable<(BsonDocument Command, bool IsCodeAlone)> Of(int part) => part < Parts / 2
        ? Cases().Where((_, i) => i % (Parts / 2) == part).SelectMany(one => one.Commands.Select(Parse)
            .Prepend(BsonDocument.Of(("dropDatabase", 1)))).Select(command => (command, command.First().Key == "dropDatabase"))
        : Draw(part);

    /// <summary>Sequences of commands: a title, a command on each line with ' for ", an empty line.</summary>
    public static IEnumerable<(string Title, string[] Commands)> Cases() => System.IO.File.ReadAllText(
            Path.Combine(RepositoryPaths.Root, "tests", "MongoPerf.EndToEnd.Tests", "Embedded", "differential-cases.txt"))
        .TrimEnd().Split("\n\n").Select(lines => lines.Split('\n')).Select(lines => (lines[0], lines[1..]));

    public static BsonDocument Parse(string command) => ExtendedJson.Parse(command.Replace('\'', '"'));

    public static bool IsWrite(BsonDocument command) => Writes.Contains(command.First().Key);

    public static bool IsRefused(BsonDocument reply) => Code(reply) == NotImplemented;

    /// <summary>What is stored of a reply: its code and documents, without texts and the database's name.</summary>
    public static string DigestOf(BsonDocument reply, string database, bool isCodeAlone)
    {
        if (IsRefused(reply))
            return Refused;
        string text = isCodeAlone || Code(reply) is not (null or DuplicateKey) ? $"{Code(reply)}" : Documented(reply);
        text = text.Replace($"\"{database}.", "\"d.", StringComparison.Ordinal);
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(text)).AsSpan(0, 3));
    }

    public static long? Code(BsonDocument reply) => reply.FindInt64("code") ?? reply.FindInt64("writeErrors.0.code");

    /// <summary>The documents of a cursor, groups in any order; of other replies everything but texts.</summary>
    public static string Documented(BsonDocument reply) => reply.FindDocument("cursor.firstBatch") is not { } batch ? WithoutTexts(reply)
        : string.Join('\n',
            batch.Select(pair => ExtendedJson.Write(pair.Value.Bytes.Span, ExtendedJsonMode.Canonical)).Order(StringComparer.Ordinal));

    /// <summary>A reply without its texts: those are each server's own.</summary>
    public static string WithoutTexts(BsonDocument reply)
    {
        JsonNode node = JsonNode.Parse(ExtendedJson.Write(reply.Bytes, ExtendedJsonMode.Canonical))!;
        RemoveTexts(node);
        // Where there is no collection mongod writes a cursor's members in another order.
        if (node["cursor"] is JsonObject cursor)
            node["cursor"] = new JsonObject(cursor.OrderBy(member => member.Key, StringComparer.Ordinal)
                .Select(member => KeyValuePair.Create(member.Key, member.Value?.DeepClone())));
        return node.ToJsonString();
    }

    /// <summary>Operations on documents of the same few values, with an index or two.</summary>
    private static IEnumerable<(BsonDocument Command, bool IsCodeAlone)> Draw(int seed)
    {
        var commands = new RandomCommands(seed);
        int id = 0;
        for (int drawn = 0; drawn < Drawn; drawn += CommandsPerRound)
        {
            int first = id;
            yield return (BsonDocument.Of(("dropDatabase", 1)), true);
            // Now and then with a collation of its own.
            if (first % 4 == 1)
                yield return (BsonDocument.Of(("create", "c"), ("collation", commands.Collation())), true);
            yield return (BsonDocument.Of(
                ("insert", "c"), ("documents", Enumerable.Range(first, Documents).Select(commands.Document).ToArray())), false);
            for (int i = 0; i < 2; i++)
                yield return (BsonDocument.Of(("createIndexes", "c"), ("indexes", new object[] { commands.Index($"index{i}") })), true);
            id += Documents;
            for (int i = 0; i < CommandsPerRound; i++)
            {
                BsonDocument command = commands.WithOption(commands.Draw(i, first, Documents, ref id));
                yield return (command, false);
                if (IsWrite(command))
                    yield return (BsonDocument.Of(("find", "c"), ("sort", BsonDocument.Of(("_id", 1)))), false);
            }
        }
    }

    private static void RemoveTexts(JsonNode? node)
    {
        if (node is JsonObject members)
        {
            members.Remove("errmsg");
            foreach ((_, JsonNode? member) in members)
                RemoveTexts(member);
        }

        foreach (JsonNode? item in node as JsonArray ?? [])
            RemoveTexts(item);
    }
}

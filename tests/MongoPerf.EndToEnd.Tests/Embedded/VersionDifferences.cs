using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>What later versions of mongod answer otherwise than 6.0: the table of version-differences.txt.</summary>
internal static class VersionDifferences
{
    private const string Order = "order";
    private const string Modified = "nModified ";

    /// <summary>All of them.</summary>
    public static IReadOnlyList<VersionDifference> All { get; } =
    [
        .. File.ReadAllLines(Path.Combine(
                RepositoryPaths.Root, "tests", "MongoPerf.EndToEnd.Tests", "Embedded", "version-differences.txt"))
            .Where(line => !line.StartsWith('#')).Select(line => line.Split(" | "))
            .Select(cells => new VersionDifference(Version.Parse(cells[0]), new Regex(cells[1]), cells[2], cells[3],
                ExtendedJson.Parse(cells[4].Replace('\'', '"')))),
    ];

    /// <summary>Whether a version is known to answer a command in its way where 6.0 answers as the embedded server does.</summary>
    public static bool Explain(Version version, BsonDocument command, BsonDocument ours, BsonDocument theirs) =>
        All.Any(one => version >= one.From && one.IsAbout(command) && one.Explains(ours, theirs));

    /// <summary>A code or "ok" of a reply.</summary>
    public static string OutcomeOf(BsonDocument reply) =>
        (reply.FindInt64("code") ?? reply.FindInt64("writeErrors.0.code"))?.ToString() ?? "ok";

    /// <param name="From">The first version that does.</param>
    /// <param name="Command">Matches its JSON without spaces.</param>
    /// <param name="Before">What 6.0 answers.</param>
    /// <param name="After">What later versions answer.</param>
    /// <param name="Example">A command.</param>
    public sealed record VersionDifference(Version From, Regex Command, string Before, string After, BsonDocument Example)
    {
        public bool IsAbout(BsonDocument command) =>
            Command.IsMatch(ExtendedJson.Write(command.Bytes).Replace(" ", "", StringComparison.Ordinal));

        public bool Explains(BsonDocument ours, BsonDocument theirs) => Before switch
        {
            Order => InOrder(ours) == InOrder(theirs),
            _ when Before.StartsWith(Modified, StringComparison.Ordinal) =>
                Before == Modified + ours.FindInt64("nModified") && After == Modified + theirs.FindInt64("nModified"),
            _ => OutcomeOf(ours) == Before && Regex.IsMatch(OutcomeOf(theirs), $"^(?:{After})$"),
        };

        /// <summary>What a later version makes of 6.0's reply; as it is where 6.0 answers something else.</summary>
        public BsonDocument Rewrite(BsonDocument reply)
        {
            if (Before == Order)
                return reply.FindDocument("cursor.firstBatch") is { } batch ? With(reply, "cursor", With(reply.FindDocument("cursor")!,
                    "firstBatch", batch.Select(one => Reversed(one.Value.ToDocument())).ToArray())) : reply;
            if (Before.StartsWith(Modified, StringComparison.Ordinal))
                return Before == Modified + reply.FindInt64("nModified")
                    ? With(reply, "nModified", int.Parse(After[Modified.Length..])) : reply;
            string after = After.Split('|')[0];
            return OutcomeOf(reply) != Before ? reply
                : after == "ok" ? BsonDocument.Of(("ok", 1.0))
                : BsonDocument.Of(("ok", 0.0), ("errmsg", "another one"), ("code", int.Parse(after)), ("codeName", "AnotherName"));
        }

        private static BsonDocument With(BsonDocument document, string name, object? value) =>
            BsonDocument.Of([.. document.Select(e => (e.Key, e.Key == name ? value : e.Value))]);

        private static BsonDocument Reversed(BsonDocument document) =>
            BsonDocument.Of([.. document.Reverse().Select(e => (e.Key, (object?)e.Value))]);

        private static string InOrder(BsonDocument reply) =>
            Sorted(JsonNode.Parse(ExtendedJson.Write(Without(reply).Bytes, ExtendedJsonMode.Canonical)))!.ToJsonString();

        /// <summary>Texts are the servers' own.</summary>
        private static BsonDocument Without(BsonDocument reply) =>
            BsonDocument.Of([.. reply.Where(e => e.Key is not "errmsg").Select(e => (e.Key, (object?)e.Value))]);

        private static JsonNode? Sorted(JsonNode? node) => node switch
        {
            JsonObject members => new JsonObject(members.OrderBy(one => one.Key, StringComparer.Ordinal)
                .Select(one => KeyValuePair.Create(one.Key, Sorted(one.Value)))),
            JsonArray items => new JsonArray([.. items.Select(Sorted)]),
            _ => node?.DeepClone(),
        };
    }
}

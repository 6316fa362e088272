using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Testing;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Tests.Traffic;

/// <summary>Whatever a recording calls it, nothing is written into a database that has something and was not named.</summary>
public sealed class ReplayedWritesTests : IDisposable
{
    private static readonly BsonDocument Ok = ServerRecordingTests.Ok();
    private static readonly object[] Out = [BsonDocument.Of(("$out", "b"))];
    private static readonly object[] Elsewhere = [BsonDocument.Of(("$out", BsonDocument.Of(("db", "theirs"), ("coll", "b"))))];
    private static readonly object[] Merged =
        [BsonDocument.Of(("$merge", BsonDocument.Of(("into", BsonDocument.Of(("db", "theirs"), ("coll", "b"))))))];

    /// <summary>Each command, the names that allow it, and whether no name does.</summary>
    private static readonly (BsonDocument Command, string Names, bool Never)[] Commands =
    [
        (Of("insert", "a"), "theirs.a", false), (Of("update", "a"), "theirs.a", false), (Of("delete", "a"), "theirs.*", false),
        (Of("findAndModify", "a"), "theirs.a", false), (Of("create", "a"), "theirs.a", false),
        (Of("createIndexes", "a"), "theirs.a", false), (Of("collMod", "a"), "theirs.a", false),
        (Of("drop", "a"), "theirs.*", true), (Of("dropDatabase", 1), "theirs.*", true), (Of("dropIndexes", "a"), "theirs.*", true),
        (Of("convertToCapped", "a"), "theirs.*", true), (Of("cloneCollectionAsCapped", "b", ("toCollection", "a")), "theirs.*", true),
        (Of("mapReduce", "b", ("out", "a")), "theirs.*", true),
        (Of("mapReduce", "b", ("out", BsonDocument.Of(("merge", "a"), ("db", "theirs"))), ("$db", "mine")), "theirs.*", true),
        (Of("aggregate", "a", ("pipeline", Out)), "theirs.*", true),
        (Of("aggregate", "a", ("pipeline", Elsewhere), ("$db", "mine")), "theirs.*", true),
        (Of("aggregate", 1, ("pipeline", Merged), ("$db", "mine")), "theirs.b", false),
        (Of("explain", Of("aggregate", "a", ("pipeline", Merged), ("$db", "mine")), ("$db", "mine")), "theirs.b", false),
        (Of("renameCollection", "theirs.a", ("to", "mine.a"), ("$db", "admin")), "theirs.*", true),
        (Of("renameCollection", "mine.a", ("to", "theirs.a"), ("$db", "admin")), "theirs.*", true),
        (Of("bulkWrite", 1, ("nsInfo", new object[] { BsonDocument.Of(("ns", "mine.a")), BsonDocument.Of(("ns", "theirs.a")) }),
            ("$db", "admin")), "theirs.a", false),
        (Of("shardCollection", "theirs.a", ("$db", "admin")), "theirs.a", false),
        (Of("moveChunk", "theirs.a", ("$db", "admin")), "theirs.a", false),
        (Of("enableSharding", "theirs", ("$db", "admin")), "theirs.*", false),
        (Of("movePrimary", "theirs", ("$db", "admin")), "theirs.*", false),
        (Of("applyOps", Array.Empty<object>(), ("$db", "admin")), "server", true),
        (Of("dropUser", "u"), "server", true),
        (Of("dropRole", "r"), "server", true), (Of("dropAllUsersFromDatabase", 1), "server", true),
        (Of("createRole", "r"), "server", false),
        (Of("setFeatureCompatibilityVersion", "6.0", ("$db", "admin")), "server", false),
        (Of("fsync", 1, ("lock", true), ("$db", "admin")), "server", false),
        (Of("shutdown", 1, ("$db", "admin")), "server", false), (Of("replSetReconfig", 1, ("$db", "admin")), "server", false),
        (Of("cloneCollection", "theirs.a"), "server", false), (Of("clone", "host"), "server", false), (Of("eval", "code"), "server", false),
        (Of("profile", 2), "server", false), (Of("killAllSessions", Array.Empty<object>(), ("$db", "admin")), "server", false),
        (Of("INSERT", "a"), "server", false), (Of("inventedCommand", "a"), "server", false),
        (Of("insert", "system.users", ("$db", "admin")), "admin.system.users", false),
        (Of("delete", "settings", ("$db", "config")), "config.*", false),
    ];

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Nothing_is_written_where_something_is_unless_it_was_named()
    {
        string[] all = [.. Commands.Select(one => one.Names).Distinct()];
        foreach ((BsonDocument command, string names, bool never) in Commands)
        {
            ReplayScript script = Read(command);
            Assert.True(IsRefused(script), $"{command}: not refused");
            Assert.True(IsRefused(script, "mine.*"), $"{command}: not refused");
            Assert.True(IsRefused(script, "mine.*", names) == never, $"{command} with {names}: {(never ? "not refused" : "refused")}");
            // Even what allows everything that can be allowed.
            Assert.True(IsRefused(script, ["mine.*", .. all]) == never, $"{command} with all names");
            Assert.Throws<MongoPerfException>(() => Read(command, new ReplaySettings { Only = ReplayedRequests.Reads }));
        }
    }

    [Fact]
    public void A_database_that_is_empty_needs_no_name_and_may_be_dropped()
    {
        foreach ((BsonDocument command, string names, _) in Commands.Where(one => one.Names.StartsWith("theirs", StringComparison.Ordinal)))
            ReplayedWrites.Require(Read(command).Writes, [], _ => true);
        var renamed = new ReplaySettings { Databases = new Dictionary<string, string> { ["theirs"] = "copy" } };
        ReplayScript copied = Read(Commands[0].Command, renamed);
        ReplayedWrites.Require(copied.Writes, [], database => database == "copy");
    }

    private static bool IsRefused(ReplayScript script, params string[] allowed)
    {
        try
        {
            ReplayedWrites.Require(script.Writes, allowed, _ => false);
            return false;
        }
        catch (UserException e)
        {
            Assert.Contains("nothing was sent", e.Message, StringComparison.Ordinal);
            return true;
        }
    }

    private static BsonDocument Of(string command, object first, params (string Name, object? Value)[] more) => BsonDocument.Of(
        more.Any(field => field.Name == "$db") ? [(command, first), .. more] : [(command, first), .. more, ("$db", "theirs")]);

    private ReplayScript Read(BsonDocument command, ReplaySettings? options = null)
    {
        using Recording recording = Recording.Open(new TrafficFile().Exchange(1, 1, command, Ok).Write(_folder.At("a.bin")));
        return ReplayScriptReader.Read(recording, options ?? new ReplaySettings());
    }
}

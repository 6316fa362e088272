using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Notes what a replay's target has of the collections that the recording uses: without data no reply can be the recorded one.
/// </summary>
internal static class ReplayedCollections
{
    /// <summary>So many are asked for their number of documents.</summary>
    private const int MostCounted = 1000;

    /// <param name="session">Open; nothing was sent yet.</param>
    /// <param name="store">Where it is noted.</param>
    public static void Note(RunSession session, RunStore store)
    {
        if (session.Request is not { ReplayedCollections: { Count: > 0 } needed, Agent: null or { Share.IsFirst: true } })
            return;
        try
        {
            using MongoConnection connection = MongoConnection.Open(
                session.On.Deployment.Select(ReadPreference.Primary, 0), session.On.Connections);
            store.SetNote(StoredRun.ReplayTargetNote, RunJson.Write(Examine(connection, needed)));
        }
        catch (ServerCommandException)
        {
            // Who may not ask replays all the same.
        }
    }

    private static ReplayTarget Examine(MongoConnection connection, ILookup<string, string> needed)
    {
        int missing = 0;
        int empty = 0;
        int asked = 0;
        foreach (IGrouping<string, string> database in needed)
        {
            ILookup<string?, string?> there = connection.RunCursor(
                database.Key, BsonDocument.Of(("listCollections", 1), ("nameOnly", true)))
                .ToLookup(collection => collection.FindString("name"), collection => collection.FindString("type"));
            missing += database.Count(name => !there.Contains(name));
            // The number of a collection's documents is metadata; those of a view would have to be read.
            foreach (string name in database.Where(name => there[name].Contains("collection")).Take(MostCounted - asked))
            {
                asked++;
                if (connection.RunCommand(database.Key, BsonDocument.Of(("count", name))).FindInt64("n") == 0)
                    empty++;
            }
        }

        return new ReplayTarget(
            [.. needed.Select(database => database.Key)], needed.Sum(database => database.Count()), missing, empty);
    }
}

using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Cli.Sessions;

/// <summary>Makes sure that the collection is MongoPerf's own and made the way this run makes it, before anything is written.</summary>
internal static class CollectionPreparation
{
    /// <summary>Makes the collection, or takes one of MongoPerf's that is there; drops only what it was told to.</summary>
    /// <returns>Documents that are known to be there, durable and without holes.</returns>
    /// <exception cref="UserException">The collection is somebody else's (6), or made with another seed or schema (2).</exception>
    public static long Prepare(RunSession session)
    {
        WireCollection collection = session.Collection;
        string ns = $"{session.Settings.Database}.{session.Settings.Collection}";
        CollectionState state = collection.Inspect();
        if (session.Request.ForceDrop is { } drop)
        {
            if (drop != ns)
                throw new UserException(ExitCode.WrongUsage, $"--force-drop: '{drop}' is not this run's collection '{ns}'", "name exactly what is to be dropped, with --db and --collection");
            collection.Drop();
            state = new CollectionState(false, null);
        }

        if (state.Exists && state.Marker is null)
            throw Foreign(ns);
        if (state is { Exists: true, Marker: { } marker })
            CheckMarker(session, ns, marker);
        long there = state is { Exists: true, Marker: { } own } ? own.Documents : 0;
        collection.Create(new CollectionMarker(session.Request.Seed, DocumentGenerator.SchemaVersion, session.Settings.Compressibility, session.Folder.Id, there));
        return there;
    }

    /// <summary>For a run on data that must be there already.</summary>
    /// <exception cref="UserException">The collection is missing, empty or somebody else's.</exception>
    public static CollectionMarker RequireExisting(WireCollection collection, string ns)
    {
        CollectionState state = collection.Inspect();
        if (state is { Exists: true, Marker: null })
            throw Foreign(ns);
        return state is { Exists: true, Marker: { } marker }
            ? marker
            : throw new UserException(ExitCode.WrongUsage, $"{ns} does not exist: this test needs data that is there",
                "load some first: 'mongoperf series …' on the same deployment, or --records 100k with this command");
    }

    /// <summary>Other documents than this run's would be mixed up with its own.</summary>
    public static void CheckMarker(RunSession session, string ns, CollectionMarker marker)
    {
        string hint = $"take another --collection, or --force-drop {ns} to begin anew";
        if (marker.SchemaVersion != DocumentGenerator.SchemaVersion)
            throw new UserException(ExitCode.WrongUsage, $"{ns} holds documents of schema {marker.SchemaVersion}, this program makes schema {DocumentGenerator.SchemaVersion}", hint);
        if (marker.Seed != session.Request.Seed)
            throw new UserException(ExitCode.WrongUsage, $"{ns} was made with seed {marker.Seed}, this run has seed {session.Request.Seed}", $"--seed {marker.Seed} goes on with it; or {hint}");
        if (marker.Compressibility != session.Settings.Compressibility)
            throw new UserException(ExitCode.WrongUsage, $"{ns} was made with compressibility {marker.Compressibility}, this run has {session.Settings.Compressibility}", $"--compressibility {marker.Compressibility} goes on with it; or {hint}");
    }

    private static UserException Foreign(string ns) => new(
        ExitCode.Refused, $"{ns} was not made by MongoPerf: nothing is written into it and nothing dropped",
        $"take another --db or --collection, or --force-drop {ns} if it may really go");
}

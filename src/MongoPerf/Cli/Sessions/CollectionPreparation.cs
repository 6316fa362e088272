using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Cli.Sessions;

/// <summary>Makes sure that the collection is MongoPerf's own and made the way this run makes it, before anything is written.</summary>
internal static class CollectionPreparation
{
    /// <summary>Looks at what is there. Nothing is changed yet, so that a run refused for another reason leaves everything as it was.</summary>
    /// <exception cref="UserException">The collection is somebody else's (6), or made with another seed or schema (2).</exception>
    public static ExistingCollection Examine(RunSession session)
    {
        string ns = NamespaceOf(session);
        CollectionState state = session.Collection.Inspect();
        if (session.Request.ForceDrop is { } drop)
        {
            if (drop != ns)
                throw new UserException(ExitCode.WrongUsage, $"--force-drop: '{drop}' is not this run's collection '{ns}'", "name exactly what is to be dropped, with --db and --collection");
            return new ExistingCollection(0, IsToBeDropped: true);
        }

        if (state.Exists && state.Marker is null)
            throw Foreign(ns);
        if (state is not { Exists: true, Marker: { } marker })
            return new ExistingCollection(0, IsToBeDropped: false);
        CheckMarker(session, ns, marker);
        // The same command made it a moment ago, for a run of the same documents.
        return session.Request.Kind == "series" && session.Request.Predecessors.Contains(marker.RunId)
            ? new ExistingCollection(0, IsToBeDropped: true)
            : new ExistingCollection(marker.Documents, IsToBeDropped: false);
    }

    /// <summary>Makes the collection, or completes one of MongoPerf's that is there; drops only what it was told to.</summary>
    public static void Create(RunSession session, ExistingCollection there)
    {
        if (there.IsToBeDropped)
            session.Collection.Drop();
        session.Collection.Create(new CollectionMarker(
            session.Request.Seed, DocumentGenerator.SchemaVersion, session.Settings.Compressibility, session.Folder.Id, there.Documents));
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

    private static string NamespaceOf(RunSession session) => $"{session.Settings.Database}.{session.Settings.Collection}";

    private static UserException Foreign(string ns) => new(
        ExitCode.Refused, $"{ns} was not made by MongoPerf: nothing is written into it and nothing dropped",
        $"take another --db or --collection, or --force-drop {ns} if it may really go");
}

/// <param name="Documents">Known to be there, durable and without holes.</param>
/// <param name="IsToBeDropped">It was named with <c>--force-drop</c>, or is that of a run that the same command made before.</param>
internal sealed record ExistingCollection(long Documents, bool IsToBeDropped);

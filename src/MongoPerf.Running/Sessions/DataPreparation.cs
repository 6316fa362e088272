using MongoPerf.Deployments;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Growth;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>What was found of a plan's collections before anything was written.</summary>
/// <param name="Plan">Read with the documents' own seed.</param>
/// <param name="Seed">The seed of the documents.</param>
/// <param name="StartDocuments">Documents that are there and are kept, by collection, whole and durable.</param>
/// <param name="Dropped">Collections that may be dropped first.</param>
internal sealed record PreparedData(
    Plan Plan, ulong Seed, IReadOnlyDictionary<string, long> StartDocuments, IReadOnlyList<PlanCollection> Dropped)
{
    /// <summary>Collections that MongoPerf did not make, and that are only read: nobody knows what their documents must be.</summary>
    public IReadOnlyList<string> Foreign { get; init; } = [];
}

/// <summary>
/// Makes sure that a plan's collections are MongoPerf's own and made the way this run makes them, before anything is written.
/// </summary>
internal static class DataPreparation
{
    /// <summary>
    /// Looks at what is there, and at all else that can be refused. Nothing is changed yet, so that a run refused for another reason leaves
    /// everything as it was.
    /// </summary>
    /// <exception cref="UserException">
    /// A collection is somebody else's (6), made otherwise (2), or missing; or the plan does not fit the deployment.
    /// </exception>
    /// <exception cref="CollectionBusyException">Another run writes a collection that this one would write.</exception>
    public static PreparedData Examine(RunSession session, IDataStore data, RunRequest request)
    {
        DataSettings where = request.Settings.Data;
        RequiredRights.Check(session.On.Inspection.Rights, where.Database, request.Plan.Plan, where.IsExisting);
        ClaimWritten(data, request);
        PreparedData prepared = request.Settings.Data.IsExisting ? Adopt(session, data, request) : ExamineOwn(session, data, request);
        Check(session, data, prepared);
        return prepared;
    }

    /// <summary>The same for a resumed run.</summary>
    /// <param name="session">Open.</param>
    /// <param name="data">The collections of the plan.</param>
    /// <param name="request">Made from the stored settings.</param>
    /// <param name="place">Where the run is resumed.</param>
    /// <param name="before">What it has stored.</param>
    /// <exception cref="UserException">What it has stored is not there (6), or was made otherwise (2).</exception>
    public static PreparedData ExamineAgain(RunSession session, IDataStore data, RunRequest request, ResumedPlace place, RunProgress before)
    {
        ClaimWritten(data, request);
        var documents = new Dictionary<string, long>(before.StartDocuments);
        // The null deployment never has anything.
        if (session.On.Deployment.Kind != DeploymentKind.Null)
        {
            foreach (PlanCollection collection in request.Plan.Plan.Collections)
            {
                CollectionState state = data.Inspect(collection.Stored[^1]);
                if (!state.Exists)
                    continue;
                if (collection.IsExisting
                    || (state.Marker is null && place.IsExisting && RequiredRights.ReadsOnly(request.Plan.Plan)))
                    continue;
                CollectionMarker marker = state.Marker ?? throw Foreign(session, collection.Name);
                RequireSame(session, collection, marker, request.Seed);
                // Another run may have continued the collection meanwhile.
                if (marker.RunId != place.RunId && collection.IsGrown)
                    documents[collection.Name] = Math.Max(documents.GetValueOrDefault(collection.Name), marker.Documents);
                else if (marker.RunId != place.RunId && !place.IsExisting)
                    throw new UserException(
                        ExitCode.Refused, $"{Namespace(session, collection.Name)} now belongs to run {marker.RunId}", "start a new run");
            }

            // As it runs: records are numbered by the remaining phases.
            Plan plan = session.Cluster is null ? request.Plan.Plan.WithoutBalancer() : request.Plan.Plan;
            ResumedData.Require(data, VouchedDocuments.Of(plan, before), place);
        }

        return new PreparedData(request.Plan.Plan, request.Seed, documents, []);
    }

    /// <summary>Drops what may be dropped.</summary>
    public static void Drop(IDataStore data, PreparedData prepared)
    {
        foreach (PlanCollection collection in prepared.Dropped)
            data.Drop(collection);
    }

    /// <summary>Adopts data that must be there already: the seed of the documents counts.</summary>
    private static PreparedData Adopt(RunSession session, IDataStore data, RunRequest request)
    {
        if (request.ForceDrop is not null)
            throw new UserException(ExitCode.WrongUsage, "--force-drop would drop the documents that this phase needs",
                "load them anew with --records");
        PlanCollection[] collections = [.. request.Plan.Plan.Collections];
        bool readsOnly = RequiredRights.ReadsOnly(request.Plan.Plan);
        Dictionary<string, CollectionMarker?> found = collections.ToDictionary(
            collection => collection.Name, collection => FindExisting(session, data, collection, mayBeForeign: readsOnly));
        CollectionMarker[] markers = [.. found.Values.OfType<CollectionMarker>()];
        if (markers.Select(m => m.Seed).Distinct().Count() > 1)
            throw new UserException(ExitCode.WrongUsage, "the collections were created with different seeds: "
                + $"{string.Join(", ", found.Where(one => one.Value is not null).Select(one => $"{one.Key} with {one.Value!.Seed}"))}");
        ulong seed = markers.Length > 0 ? markers[0].Seed : request.Seed;
        if (request.SeedWasGiven)
            seed = request.Seed;
        Plan plan = seed == request.Seed ? request.Plan.Plan : request.ReadPlan(seed).Plan;
        foreach (PlanCollection collection in plan.Collections)
        {
            if (found[collection.Name] is { } marker)
                RequireSame(session, collection, marker, seed);
        }

        var documents = new Dictionary<string, long>();
        foreach (PlanCollection collection in collections)
        {
            documents[collection.Name] = found[collection.Name] is not { } marker ? data.Count(collection)
                : data.FindsDocuments(collection) ? data.FindEnd(collection, marker.Documents) : marker.Documents;
            if (documents[collection.Name] == 0 && plan.Operations.Any(operation => !operation.Inserts))
                throw new UserException(
                    ExitCode.WrongUsage,
                    $"{Namespace(session, collection.Name)} is empty, but this phase needs documents",
                    collection.IsExisting ? null : "load some first, with --records 100k or a series");
        }

        return new PreparedData(plan, seed, documents, []) { Foreign = [.. found.Where(one => one.Value is null).Select(one => one.Key)] };
    }

    /// <returns>Null for somebody else's collection that is only read.</returns>
    private static CollectionMarker? FindExisting(RunSession session, IDataStore data, PlanCollection collection, bool mayBeForeign) =>
        data.Inspect(collection.Stored[^1]) switch
        {
            { Exists: true } when collection.IsExisting => null,
            { Exists: true, Marker: { } marker } => marker,
            { Exists: true } when mayBeForeign => null,
            { Exists: true } => throw Foreign(session, collection.Name),
            _ => throw new UserException(
                ExitCode.WrongUsage, $"{Namespace(session, collection.Name)} does not exist, but this phase needs its documents",
                collection.IsExisting ? "check its name, and that of its database (--on DB.COLL, or --db with a file)" :
                session.Settings.Deployment is { Uri: null, ClusterFolder: null }
                    ? "the server that this run starts is empty: --records 100k loads some first; "
                        + "'mongoperf series …' measures while it loads"
                    : "load some first: 'mongoperf series …' on the same deployment, or --records 100k with this command"),
        };

    private static PreparedData ExamineOwn(RunSession session, IDataStore data, RunRequest request)
    {
        PlanCollection[] collections = [.. request.Plan.Plan.Collections];
        string[] names = [.. collections.SelectMany(c => c.Stored).Select(stored => Namespace(session, stored.Name))];
        if (request.ForceDrop is { } drop && !names.Contains(drop))
            throw new UserException(
                ExitCode.WrongUsage,
                $"--force-drop: '{drop}' is not a collection of this run; allowed: {string.Join(", ", names)}",
                "name exactly the collection to drop");
        var documents = new Dictionary<string, long>();
        var dropped = new List<PlanCollection>();
        foreach (PlanCollection collection in collections)
        {
            if (Examine(session, data, request, collection) is { } there)
                documents[collection.Name] = there;
            else
                dropped.Add(collection);
        }

        return new PreparedData(request.Plan.Plan, request.Seed, documents, dropped);
    }

    /// <returns>Documents that the run continues from; null when the collection must be dropped.</returns>
    private static long? Examine(RunSession session, IDataStore data, RunRequest request, PlanCollection collection)
    {
        bool isThere = false;
        foreach (StoredCollection stored in collection.Stored)
        {
            CollectionState state = data.Inspect(stored);
            if (request.ForceDrop == Namespace(session, stored.Name))
                return null;
            if (!state.Exists)
                continue;
            // An administrator has sharded it for a user who may not: it is used as it is.
            if (state.IsEmptySharded)
                continue;
            isThere = true;
            if (state.Marker is not { } marker)
                throw Foreign(session, stored.Name);
            // The same command made it a moment ago.
            if (request.Predecessors.Contains(marker.RunId))
                return null;
            if (collection.IsGrown)
            {
                RequireSame(session, collection, marker, request.Seed);
                return marker.Documents;
            }

            if (marker.IsGrown)
            {
                throw new UserException(
                    ExitCode.Refused, $"{Namespace(session, stored.Name)} holds the {marker.Documents:N0} documents that a run has grown; "
                        + "this scenario would drop them",
                    "use another --db, rename the collection in the file, "
                    + $"or --force-drop {Namespace(session, stored.Name)} if you no longer need them");
            }
        }

        return isThere && !collection.IsGrown ? null : 0;
    }

    /// <summary>Other documents than this run's would be mixed up with its own.</summary>
    private static void RequireSame(RunSession session, PlanCollection collection, CollectionMarker marker, ulong seed)
    {
        string ns = Namespace(session, collection.Name);
        string hint = session.Settings.Data.IsExisting
            ? "use another collection"
            : $"use another collection, or --force-drop {ns} to start over";
        if (marker.Seed != seed)
            throw new UserException(ExitCode.WrongUsage, $"{ns} was created with seed {marker.Seed}, but this run has seed {seed}",
                $"continue it with --seed {marker.Seed}, or {hint}");
        string template = collection.Files is null ? collection.Documents.Fingerprint : "";
        if (marker.Template != template)
            throw new UserException(
                ExitCode.WrongUsage, $"{ns} holds different documents: their template or compressibility differs", hint);
    }

    /// <summary>Everything else that can be refused, before anything is changed.</summary>
    private static void Check(RunSession session, IDataStore data, PreparedData prepared)
    {
        Plan plan = prepared.Plan;
        RequireWrites(session, plan);
        RequireCommands(session.On.Connections.Dialect, plan);
        DeploymentFit.RequireTimeSeries(plan, session.On.Connections.Dialect);
        DeploymentFit.RequireCompact(session.On.Deployment, plan);
        if (session.Cluster is not null)
            DeploymentFit.RequireShards(plan.Rounds.SelectMany(r => r.Collections).SelectMany(c => c.Stored),
                session.On.Deployment.Cluster?.Shards.Count ?? 0);
        ConnectionRoom.CheckServer(
            plan, session.On.Deployment, session.Settings.Engine.Kind, data.ReadAvailableConnections());
        session.Request.System.CheckBatches(session.On.Deployment, session.On.Connections, plan);
        foreach (PlanRound round in plan.Rounds)
            RequireRoom(session, data, round, prepared.StartDocuments);
    }

    /// <summary>What can be refused of a new run before the server that it would start is there.</summary>
    /// <param name="request">The request of the run.</param>
    /// <param name="planned">The server that it would start.</param>
    /// <exception cref="UserException">The plan does not fit the deployment.</exception>
    public static void CheckServer(RunRequest request, PlannedServer planned)
    {
        Plan plan = request.Plan.Plan;
        if (planned.Router is { } router)
        {
            CommandDialect dialect = router == RouterKind.RoutingMongod ? CommandDialect.RoutingMongod : CommandDialect.Plain;
            DeploymentFit.RequireRouter(request, dialect);
            RequireCommands(dialect, plan);
            DeploymentFit.RequireTimeSeries(plan, dialect);
            DeploymentFit.RequireShards(plan.Rounds.SelectMany(r => r.Collections).SelectMany(c => c.Stored), planned.Shards);
        }

        bool hasSessions = request.Settings.Deployment.Topology == Topology.ReplicaSet
            || planned is { Router: not null, IsEmbedded: false };
        foreach (Operation operation in plan.Operations)
            SessionLimit.Check(hasSessions, operation);
    }

    /// <inheritdoc cref="CheckServer"/>
    /// <exception cref="DeploymentException">The disk would fill (exit code 6).</exception>
    public static void CheckDisk(RunRequest request, PlannedServer planned)
    {
        if (request.Settings.Data.IsExisting)
            return;
        var disk = new DiskGuard(Path.GetFullPath(request.Output.RunsFolder));
        foreach (PlanRound round in request.Plan.Plan.Rounds)
        {
            (long documents, double bytes) = ToWrite(round, static _ => 0);
            if (documents > 0)
                disk.CheckBefore(documents, planned.BytesPerDocument(documents) / 1024 * bytes / documents);
        }
    }

    /// <summary>A secondary that was named refuses all of them, for as long as it is one.</summary>
    private static void RequireWrites(RunSession session, Plan plan)
    {
        if (session.On.Inspection.TakesWrites
            || (session.Settings.Data.IsExisting && !plan.Operations.Any(o => o.Inserts || o.IsWrite || o.Removes)))
            return;
        throw new UserException(
            ExitCode.CannotConnect, $"{session.On.Deployment.Address} is not a primary: it does not accept the writes of this run",
            "omit directConnection=true to let MongoPerf find the primary, or run a phase that only reads, such as 'run q4'");
    }

    private static void RequireRoom(RunSession session, IDataStore data, PlanRound round, IReadOnlyDictionary<string, long> start)
    {
        foreach (PlanCollection collection in round.Collections)
        {
            long target = round.TargetOf(collection);
            long there = start.GetValueOrDefault(collection.Name);
            // Behind the last checkpoint, even before the first, an interrupted run may have left more.
            if (round.GrowthOf(collection) is not null && start.ContainsKey(collection.Name) && data.FindsDocuments(collection)
                && Math.Max(there, data.FindEnd(collection, there)) is var end && end >= target)
            {
                string ns = Namespace(session, collection.Name);
                throw new UserException(ExitCode.WrongUsage, $"{ns} already holds {end:N0} documents, but the target is {target:N0}",
                    $"use a larger --target, another collection, or --force-drop {ns}");
            }
        }

        (long documents, double bytes) = ToWrite(round, collection => start.GetValueOrDefault(collection.Name));
        if (documents > 0)
            session.Guard.CheckDisk(documents, bytes / documents);
    }

    /// <summary>How many documents a round adds to those that are there, and their bytes of BSON.</summary>
    private static (long Documents, double Bytes) ToWrite(PlanRound round, Func<PlanCollection, long> there)
    {
        long documents = 0;
        double bytes = 0;
        foreach (PlanCollection collection in round.Collections)
        {
            long added = Math.Max(0, round.TargetOf(collection) - there(collection));
            documents += added;
            bytes += added * (double)collection.BytesPerDocument;
        }

        return (documents, bytes);
    }

    /// <summary>A mongod that routes knows some commands only.</summary>
    private static void RequireCommands(CommandDialect dialect, Plan plan)
    {
        if (ReferenceEquals(dialect, CommandDialect.Plain))
            return;
        IEnumerable<Operation> all = plan.Phases.Where(phase => phase.Creates is null)
            .SelectMany(phase => phase.AllGroups).SelectMany(group => group.Operations).Select(o => o.Operation);
        if (all.FirstOrDefault(o => SessionLimit.Find(o) is not null) is { } session)
            throw new UserException(
                ExitCode.WrongUsage,
                $"operation '{session.Name}': this cluster's router is a mongod, which can't do {SessionLimit.Find(session)}",
                "it runs behind a mongos, which 'mongoperf server install 8.0' brings, and on a replica set");
        foreach (Operation operation in all.Where(o => !o.IsForCluster).SelectMany(o => o.Steps))
        {
            string command = operation.ToCommand().Elements[0].Key;
            if (dialect.NameOf(command) == command)
                throw new UserException(
                    ExitCode.WrongUsage,
                    $"operation '{operation.Name}': this cluster's router is a mongod, which can't route {command}",
                    "it routes insert, find, update, delete and aggregate; a mongos routes everything");
        }
    }

    /// <summary>A run that only reads hinders nobody and is not hindered.</summary>
    private static void ClaimWritten(IDataStore data, RunRequest request)
    {
        Plan plan = request.Plan.Plan;
        HashSet<string> written = [.. plan.Operations.SelectMany(o => o.Leaves).Where(o => o.Inserts || o.IsWrite).Select(o => o.Written)];
        foreach (PlanCollection collection in plan.Collections
            .Where(c => !request.Settings.Data.IsExisting || written.Contains(c.Name) || written.Contains("")))
            data.Claim(collection);
    }

    private static string Namespace(RunSession session, string collection) => $"{session.Settings.Data.Database}.{collection}";

    private static UserException Foreign(RunSession session, string collection) =>
        session.Request.System.Foreign(session.On.Deployment, Namespace(session, collection), session.Settings.Data.IsExisting);
}

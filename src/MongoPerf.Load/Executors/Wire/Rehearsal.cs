using MongoPerf.Load.Collections;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>Does a plan's operations against nothing, so that the code with which its groups begin is compiled before.</summary>
/// <remarks>
/// A process compiles what it calls for the first time: some milliseconds for a group's first operation. Where many clients of one machine
/// begin together, those that woke first would keep the others from waking.
/// </remarks>
public static class Rehearsal
{
    /// <summary>Long enough for workers to be parked before their start, so that waking up is rehearsed too.</summary>
    private const double LeadSeconds = 0.05;
    private const double MostSeconds = 1;
    private const double Rate = 1000;
    private const int Documents = 1000;
    private const int MostGroups = 20;

    /// <summary>How often each operation is rehearsed, so that each of a mix is drawn.</summary>
    private const int Times = 8;

    /// <param name="clock">Real time.</param>
    /// <param name="plan">The plan to be carried out by the wire client.</param>
    /// <returns>What came of it, one for each kind of group; without those that could not end.</returns>
    public static IReadOnlyList<GroupResult> Run(IClock clock, Plan plan)
    {
        double lead = LeadSeconds;
        var results = new List<GroupResult>();
        foreach ((PlanRound round, PhaseGroup group) in plan.Rounds
            .SelectMany(round => round.Phases.SelectMany(phase => phase.AllGroups).Select(group => (round, group)))
            // What watches has nothing to do without writers, and a recording has an engine of its own.
            .Where(one => one.group.Script is null && one.group.Operations.All(o => o.Operation is not WatchChanges))
            .DistinctBy(one => NamesOf(one.group)).Take(MostGroups))
        {
            if (Run(clock, round, group, lead) is { } result)
                results.Add(result);
            lead = 0;
        }

        return results;
    }

    private static string NamesOf(PhaseGroup group) =>
        string.Join(',', group.Operations.Select(o => $"{o.Operation.Collection}.{o.Operation.Name}").Append($"{group.Rate is not null}"));

    private static GroupResult? Run(IClock clock, PlanRound round, PhaseGroup group, double lead)
    {
        Operation[] operations = [.. group.Operations.Select(o => Bind(o.Operation))];
        bool inserts = operations.All(operation => operation.Inserts);
        BsonDocument reply = ReplyFor(round, operations);
        var groups = new GroupRunner(
            clock, (_, _) => new WireExecutor(static _ => new ServerAddress("nowhere", 1), ConnectionSettings.Default, "rehearsal")
            {
                OpenConnection = (address, _) => MongoConnection.ToNowhere(address, reply),
            });
        var plan = new GroupPlan
        {
            Name = "rehearsal",
            Operations = [.. operations.Select(operation => new WeightedOperation(operation, 1))],
            Threads = 1,
            Seed = 0,
            BeforeStart = () => lead > 0 ? clock.Now + clock.TicksOf(lead) : null,
            Numbers = inserts ? new NumberSource(0, Times * operations.Sum(operation => (long)operation.DocumentsPerCommand)) : null,
            Count = Times * operations.Length,
            Seconds = MostSeconds,
            Rate = group.Rate is null ? null : Rate,
            VerifyShare = 1,
            ReconnectFor = TimeSpan.Zero,
        };
        try
        {
            foreach (InsertDocuments insert in operations.OfType<InsertDocuments>())
                BatchLimit.Check(new HelloReply(reply), insert);
            return groups.Run(plan, new NullObserver(), CancellationToken.None);
        }
        catch (Exception e) when (e is OperationLimitException || ErrorTally.BreaksConnection(e))
        {
            // What was compiled until then is.
            return null;
        }
    }

    private static Operation Bind(Operation operation)
    {
        if (operation is CompositeOperation several)
            return several.Each(Bind);
        var keys = new KeySpace(Documents);
        return operation with { Keys = operation.Inserts ? keys : null, Chooser = operation.Choice?.Open(keys, 0) };
    }

    /// <summary>Whatever any command asks for; of documents, the first.</summary>
    private static BsonDocument ReplyFor(PlanRound round, Operation[] operations)
    {
        PlanCollection? collection =
            round.Collections.FirstOrDefault(c => c.Files is null && operations.Any(operation => operation.Collection == c.Name));
        BsonDocument[] documents = collection is null ? [] : [collection.Documents.Make(0)];
        int inserted = operations.FirstOrDefault(operation => operation.Inserts)?.DocumentsPerCommand ?? 1;
        return BsonDocument.Of(("ok", 1.0), ("maxWriteBatchSize", 100_000), ("n", inserted), ("nModified", inserted),
            ("cursor", BsonDocument.Of(("firstBatch", documents), ("id", 0L), ("ns", "rehearsal"))));
    }

    private sealed class NullObserver : IGroupObserver
    {
        public void OnInterval(IReadOnlyList<Sample> samples)
        {
        }

        public void OnEvent(string kind, string text, double? seconds)
        {
        }
    }
}

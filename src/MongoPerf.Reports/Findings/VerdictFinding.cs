namespace MongoPerf.Reports.Findings;

/// <summary>
/// What makes a finding of a verdict's line: shown once, as a verdict, and listed with the findings where programs read them.
/// </summary>
/// <param name="Id">One of <see cref="FindingIds"/>.</param>
/// <param name="Refute">The experiment that would refute it.</param>
public sealed record VerdictFinding(string Id, string Refute)
{
    public static VerdictFinding PlanChanged { get; } =
        new(FindingIds.PlanChanged, "name the first index in a hint: if the rates stay the same, the change of plan costs nothing");

    public static VerdictFinding ReplySize { get; } =
        new(FindingIds.ReplySize, "limit the operation to as many documents as it returned at the smallest size: if its curve stays the "
            + "same, the size of its replies is not what it shows");

    public static VerdictFinding PlanScans { get; } =
        new(FindingIds.PlanScans,
            "create an index on the filter and run the operation again: if its rate stays the same, the scan costs nothing");

    public static VerdictFinding ClientLimit { get; } =
        new(FindingIds.ClientLimit,
            "run the client on another machine, or with fewer threads: if the rate stays the same, the client was not the limit");

    public static VerdictFinding OtherLoad { get; } =
        new(FindingIds.OtherLoad, "run again on an idle machine: if the rates stay the same, the other programs did no harm");

    public static VerdictFinding EmbeddedServer { get; } =
        new(FindingIds.EmbeddedServer, "run against a mongod: only that shows what MongoDB does");

    public static VerdictFinding DebugBuild { get; } =
        new(FindingIds.DebugBuild, "run a Release build: if the rates stay the same, the build does no harm");

    public static VerdictFinding FailedOperations { get; } =
        new(FindingIds.FailedOperations, "run again: failures that return at the same operation belong to the server or the scenario");

    public static VerdictFinding WrongEffect { get; } =
        new(FindingIds.WrongEffect,
            "run the same operations on a single server: if they change their documents there, the router sends them to the wrong shard");

    public static VerdictFinding Retries { get; } =
        new(FindingIds.Retries,
            "run with fewer threads, or draw from more documents: if as many transactions are retried, "
            + "they do not conflict with each other");

    public static VerdictFinding LostWrites { get; } =
        new(FindingIds.LostWrites, "run again: unacknowledged writes that nothing interrupts all arrive");

    public static VerdictFinding InFlight { get; } =
        new(FindingIds.InFlight, "run again with a longer warm-up: a wait that returns at the same documents belongs to the server, "
            + "one at the same time of day to the machine");

    public static VerdictFinding CutOff { get; } =
        new(FindingIds.CutOff, "run the phase longer: if the operations are answered, the server was only slow");

    public static VerdictFinding NothingMeasured { get; } =
        new(FindingIds.NothingMeasured,
            "run the phase longer, or with a shorter warm-up: if operations are measured then, its time was too short");

    public static VerdictFinding FoundNothing { get; } =
        new(FindingIds.FoundNothing, "send the operation's filter by hand, with values that are in the collection: if it finds documents, "
            + "the values that are drawn are not those that are stored");

    public static VerdictFinding ChangedNothing { get; } =
        new(FindingIds.ChangedNothing, "draw a new value each time: if the rate stays the same, writes that change something cost no more");

    public static VerdictFinding OffPace { get; } =
        new(FindingIds.OffPace, "run with a longer warm-up: if the rate is as set then, what waited in the warm-up was the cause");

    public static VerdictFinding WarmUp { get; } =
        new(FindingIds.WarmUp, "run the phase once more without a restart: if it starts as slowly, the restart is not the cause");

    public static VerdictFinding ShardImbalance { get; } =
        new(FindingIds.ShardImbalance, "run again with a hashed shard key: if the shards are as uneven, the key is not the cause");
}

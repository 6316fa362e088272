using System.Text.Json.Serialization;
using MongoPerf.Texts;

namespace MongoPerf.Storage;

/// <summary>What a phase does. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<PhaseKind>))]
public enum PhaseKind
{
    /// <summary>Operations for a time or a count.</summary>
    Measure,

    /// <summary>Fills a collection.</summary>
    Load,

    /// <summary>One way of writing in a step of a growth.</summary>
    Write,

    /// <summary>Makes a collection.</summary>
    Create,

    /// <summary>Takes sizes.</summary>
    Sizes,

    /// <summary>Looks for every document that was written.</summary>
    Check,
}

/// <summary>Where in a growth a phase ran.</summary>
/// <param name="Growth">Name of the growth.</param>
/// <param name="Step">1-based.</param>
/// <param name="Documents">How many documents the collection has when the step ends.</param>
public sealed record GrowthPoint(string Growth, int Step, long Documents);

/// <summary>What a run stored of one phase with one value of each parameter, of a growth at one size.</summary>
public sealed record PhaseRecord
{
    /// <summary>1-based, by the phase's place in the plan: the same when a run is resumed.</summary>
    public required int Number { get; init; }

    public required string Phase { get; init; }

    /// <summary>What the file says it does; empty when it says nothing.</summary>
    public string Description { get; init; } = "";

    public PhaseKind Kind { get; init; }

    /// <summary>Null for a phase that is no part of a growth.</summary>
    public GrowthPoint? Growth { get; init; }

    /// <summary>The collection that it fills, makes, or is about in the first place; null when it is about none.</summary>
    public string? Collection { get; init; }

    /// <summary>Documents (of a load) or operations after which each thread noted the time; null when none did.</summary>
    public long? Lap { get; init; }

    /// <summary>Requested operations per second, of a changing rate the highest; null for as fast as possible.</summary>
    public double? Rate { get; init; }

    /// <summary>Those with several values, in the file's order.</summary>
    public IReadOnlyList<ParameterValue> Parameters { get; init; } = [];

    public IReadOnlyList<GroupShare> Groups { get; init; } = [];

    public IReadOnlyList<AssertionResult> Assertions { get; init; } = [];

    /// <summary>A check found violations.</summary>
    [JsonIgnore]
    public bool IsInconsistent => Assertions.Any(assertion => assertion is { IsCheck: true, Holds: false });

    /// <summary>How many documents <see cref="Collection"/> had when the phase ended, as far as the client knows.</summary>
    public long Documents { get; init; }

    /// <summary>Documents that must be in <see cref="Collection"/> and are not, where the phase looked.</summary>
    public long Missing { get; init; }

    /// <summary>One beyond the last number that was written, by collection, when the phase ended.</summary>
    public IReadOnlyDictionary<string, long> NextNumbers { get; init; } = new Dictionary<string, long>();

    /// <summary>
    /// Why documents that its reads brought were not compared with what was written; null when they were, or when it reads none.
    /// </summary>
    public StoredMessage? NotVerified { get; init; }

    /// <summary>
    /// When its first operations were let go: Unix time, milliseconds, by the client's clock; null where nothing was measured.
    /// </summary>
    public double? StartedAtMilliseconds { get; init; }

    /// <summary>
    /// How the clock of one of several clients that wait for one another stood against the coordinator's just before. Null for any other
    /// client.
    /// </summary>
    public ClientClock? Clock { get; init; }

    /// <summary>
    /// The time between the first client's start of the phase and the last one's in a merged run, by the clocks' common time; null for any
    /// other run.
    /// </summary>
    public double? StartSkewMilliseconds { get; init; }

    /// <summary>What the clocks may be off in <see cref="StartSkewMilliseconds"/>, both ways; null where that is not known.</summary>
    public double? StartSkewUncertaintyMilliseconds { get; init; }

    /// <summary>
    /// Latencies of all its groups' operations together; null where it has one group, which has its own, or where they can't be added up.
    /// </summary>
    public JointLatency? Joint { get; init; }

    /// <summary>False while it lasts, or when it was interrupted.</summary>
    public bool IsComplete { get; init; }

    /// <summary>The operations in the order of the plan.</summary>
    [JsonIgnore]
    public IReadOnlyList<OperationResult> Operations { get; init; } = [];

    /// <summary>Those that did something themselves.</summary>
    [JsonIgnore]
    public IEnumerable<OperationResult> Done => Operations.Where(static result => result.IsDone);

    /// <summary>All its operations together; null where it has fewer than two.</summary>
    [JsonIgnore]
    public OperationResult? Total { get; init; }

    /// <summary>One for each of its groups that has several operations.</summary>
    [JsonIgnore]
    public IReadOnlyList<OperationMix> Mixes { get; init; } = [];

    /// <summary>
    /// The totals of its mixes where it has several groups, then <see cref="Total"/>; none where it has fewer than two operations.
    /// </summary>
    [JsonIgnore]
    public IReadOnlyList<OperationResult> Totals =>
        Total is null ? [] : [.. Mixes.Select(mix => mix.Total).Where(total => !ReferenceEquals(total, Total)), Total];

    /// <summary>
    /// Those whose rates are free of one another: operations that have a group for themselves, and each mix as a whole. Fewer waits for a
    /// connection are no slower run.
    /// </summary>
    [JsonIgnore]
    public IReadOnlyList<OperationResult> Independent =>
        [.. Operations.Where(result => result.Connections is null && !IsMixed(result)), .. Mixes.Select(mix => mix.Total)];

    /// <summary>It was to measure, and no operation succeeded in its measured part.</summary>
    [JsonIgnore]
    public bool HasMeasuredNothing => Kind == PhaseKind.Measure && Operations.Any(result => result.Connections is null)
        && Operations.All(result =>
            result.Connections is not null || (result.Operations == 0 && result.Unacknowledged is not { Sent: > 0 }));

    /// <summary>The sizes of each collection that were taken at its end.</summary>
    [JsonIgnore]
    public IReadOnlyList<SizeResult> Sizes { get; init; } = [];

    /// <summary>Its rate follows from that of a mix.</summary>
    public bool IsMixed(OperationResult result) => Mixes.Any(mix => mix.Operations.Contains(result));
}

/// <summary>Everything that a growth measured at one size.</summary>
/// <param name="Growth">Its name.</param>
/// <param name="Step">1-based.</param>
/// <param name="Documents">How many documents the collection has when the step ends; where its write was interrupted, then.</param>
/// <param name="Phases">The phases in the order in which they ran.</param>
public sealed record GrowthStep(string Growth, int Step, long Documents, IReadOnlyList<PhaseRecord> Phases)
{
    public IEnumerable<OperationResult> Operations => Phases.SelectMany(phase => phase.Operations);

    /// <summary>
    /// The last of each of the growth's collections, which may have phases of their own for it; empty when none were taken.
    /// </summary>
    public IReadOnlyList<SizeResult> Sizes =>
        [.. Phases.SelectMany(phase => phase.Sizes).GroupBy(sizes => sizes.Collection).Select(collection => collection.Last())];

    /// <summary>Groups records by the growths' order, then by size.</summary>
    public static IReadOnlyList<GrowthStep> Of(IEnumerable<PhaseRecord> records) =>
    [
        .. records.Where(record => record.Growth is not null).GroupBy(record => (record.Growth!.Growth, record.Growth.Step))
            .Select(step => new GrowthStep(step.Key.Growth, step.Key.Step, DocumentsAt([.. step]), [.. step])),
    ];

    /// <summary>Where a write was interrupted, the size is what had been written, and not what was to be.</summary>
    private static long DocumentsAt(PhaseRecord[] phases)
    {
        long planned = phases.Max(phase => phase.Growth!.Documents);
        return phases.LastOrDefault(phase => phase.Kind == PhaseKind.Write) is { IsComplete: false, Documents: > 0 and var written }
            ? Math.Min(planned, written) : planned;
    }
}

public sealed record ParameterValue(string Name, string Value);

/// <summary>How far one thread was when.</summary>
/// <param name="Done">
/// Documents or operations since the phase's start: those of a whole number of laps, or, where one operation did several, a little more.
/// </param>
/// <param name="Seconds">The seconds since the phase's start.</param>
public readonly record struct LapMark(long Done, double Seconds);

/// <summary>How far one thread of a scenario's phase was when.</summary>
/// <param name="Phase">Number of the phase record.</param>
/// <param name="Thread">0-based.</param>
/// <param name="Number">The thread's first is 1.</param>
/// <param name="Done">Documents of a load, operations of any other phase, since the phase's start.</param>
/// <param name="Seconds">The seconds since the phase's start.</param>
public sealed record StoredLap(int Phase, int Thread, int Number, long Done, double Seconds);

/// <summary>How evenly the threads of a group shared the work.</summary>
/// <param name="Name">Empty when the phase has only one group.</param>
/// <param name="Threads">The threads of the group.</param>
/// <param name="Seconds">Length of its measured part.</param>
/// <param name="Operations">Succeeded, over all threads.</param>
/// <param name="Least">The fewest operations of one thread.</param>
/// <param name="Most">The most operations of one thread.</param>
/// <param name="Deviation">Standard deviation of the threads' operations.</param>
/// <param name="Accounting">The accounting of the group, warm-up included.</param>
public sealed record GroupShare(
    string Name, int Threads, double Seconds, long Operations, long Least, long Most, double Deviation, Accounting Accounting)
{
    /// <summary>What waited in the client because all connections were busy; null in a closed loop.</summary>
    public ClientWaiting? Waiting { get; init; }

    /// <summary>
    /// How many seconds longer its threads thought than they were to, all together, since the client woke them late; of the measured part.
    /// Null where none thinks.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public double? OversleptSeconds { get; init; }

    /// <summary>The traffic of its connections, warm-up included; null where the client does not count it.</summary>
    public GroupTraffic? Traffic { get; init; }

    /// <summary>The operations that it chose among by their weights; empty where it had one.</summary>
    public IReadOnlyList<string> Mix { get; init; } = [];

    /// <summary>Latencies of its operations together; null where it had one, or where they can't be added up.</summary>
    public JointLatency? Joint { get; init; }

    [JsonIgnore]
    public double Mean => (double)Operations / Math.Max(1, Threads);

    public static GroupShare Of(string name, double seconds, IReadOnlyList<long> threadOperations, Accounting accounting)
    {
        double mean = threadOperations.Average();
        double variance = threadOperations.Sum(n => (n - mean) * (n - mean)) / Math.Max(1, threadOperations.Count - 1);
        return new GroupShare(
            name, threadOperations.Count, seconds, threadOperations.Sum(), threadOperations.Min(), threadOperations.Max(),
            Math.Sqrt(variance), accounting);
    }
}

/// <summary>Arrivals of a rate that found all connections of their group busy, in the measured part.</summary>
/// <param name="Arrivals">How many.</param>
/// <param name="Seconds">The seconds in which some arrival waited.</param>
public sealed record ClientWaiting(long Arrivals, double Seconds);

/// <summary>What a group's connections carried, bytes, handshakes included.</summary>
/// <param name="DocumentBytes">The bytes of the documents inserted and returned.</param>
/// <param name="MessageBytesSent">Bytes of messages sent, before compression and TLS.</param>
/// <param name="WireBytesSent">Bytes sent through the socket.</param>
/// <param name="MessageBytesReceived">Bytes of messages received, as <paramref name="MessageBytesSent"/>.</param>
/// <param name="WireBytesReceived">Bytes received through the socket, as <paramref name="WireBytesSent"/>.</param>
public sealed record GroupTraffic(
    long DocumentBytes, long MessageBytesSent, long WireBytesSent, long MessageBytesReceived, long WireBytesReceived)
{
    /// <summary>What messages were compressed with; null for nothing.</summary>
    public string? Compressor { get; init; }
}

/// <param name="Text">The text as the scenario says it.</param>
/// <param name="Holds">Whether it is true.</param>
/// <param name="Value">What was measured; null for nothing. Microseconds for latencies, from 0 to 1 for shares.</param>
public sealed record AssertionResult(string Text, bool Holds, double? Value = null)
{
    /// <summary>The value is in microseconds.</summary>
    public bool IsLatency { get; init; }

    /// <summary>The value is a share of the operations.</summary>
    public bool IsShare { get; init; }

    /// <summary>It is one of the scenario's checks: the value is how many documents violate it.</summary>
    public bool IsCheck { get; init; }

    /// <summary>The first document that violates a check, as Extended JSON; null for none.</summary>
    public string? First { get; init; }

    /// <summary>For people: the text, and of a check that is violated how.</summary>
    [JsonIgnore]
    public string Shown => First is null ? Text : $"{Text}: {Units.Counted((long)(Value ?? 0), "violation")}, the first is {First}";

    /// <summary>For people: that it does not hold.</summary>
    /// <param name="phase">What people call its phase.</param>
    public string FailedIn(string phase) => $"{(IsCheck ? "check" : "assertion")} failed: {phase}: {Shown}";
}

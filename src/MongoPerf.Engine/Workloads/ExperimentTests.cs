using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Workloads;

/// <summary>The experiments of <c>run</c> beside the series: what else the test of 2011 looked at. Their names, and the tests that each is made of.</summary>
public static class ExperimentTests
{
    /// <summary>How soon a server is what it was, after a clean stop and after kill -9.</summary>
    public const string Restart = "restart";

    /// <summary>Acknowledged inserts by more and more threads.</summary>
    public const string InsertThreads = "insert-threads";

    /// <summary>Inserts that wait for the journal against such that do not.</summary>
    public const string Journal = "journal";

    /// <summary>A sort by the key that documents lie by against one by another field.</summary>
    public const string Sort = "sort";

    // Tests: keys of stored results. Never renamed.
    public const string BeforeRestart = "before";
    public const string AfterStop = "after-stop";
    public const string AfterKill = "after-kill";
    public const string Insert = "insert";
    public const string Written = "w1";
    public const string Journaled = "w1-j";
    public const string SortById = "sort-id";
    public const string SortByNumber = "sort-number";

    /// <summary>Kinds of the events of <see cref="Restart"/>: the server's end (its seconds are how long that took), and its first answer (seconds since its start).</summary>
    public const string StopEvent = "clean stop";

    /// <inheritdoc cref="StopEvent"/>
    public const string KillEvent = "kill -9";

    /// <inheritdoc cref="StopEvent"/>
    public const string AnswerEvent = "first answer";

    private const int SortSkip = 100;
    private const int SortLimit = 10;

    public static IReadOnlyList<string> All { get; } = [Restart, InsertThreads, Journal, Sort];

    /// <summary>Whether rates of the test are of documents written.</summary>
    public static bool IsInsert(string test) => test is Insert or Written or Journaled;

    /// <summary>The query that <see cref="Restart"/> runs before and after: q4 of the series.</summary>
    /// <param name="test">One of its three tests.</param>
    /// <param name="valueRange">Number lies below it.</param>
    public static FindSpecification RestartQuery(string test, int valueRange) => SeriesTests.Find("q4", valueRange) with { Test = test };

    /// <summary>A single acknowledged insert.</summary>
    public static InsertSpecification SingleInsert(string test, bool journal) => new(test, 1, Acknowledged: true, journal, Ordered: true);

    /// <summary>No condition, the greatest first, after a skip: both walk as many keys of an index and fetch as many documents.</summary>
    /// <param name="test"><see cref="SortById"/> or <see cref="SortByNumber"/>.</param>
    public static FindSpecification SortQuery(string test) => new(test, BsonDocument.Empty, SortLimit)
    {
        Sort = BsonDocument.Of((test == SortById ? "_id" : "Number", -1)),
        Skip = SortSkip,
    };
}

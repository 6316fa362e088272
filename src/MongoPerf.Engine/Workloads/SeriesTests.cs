using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Workloads;

/// <summary>The eight tests of the series: their names, their order and what each does.</summary>
public static class SeriesTests
{
    public const string Unacknowledged = "unack";
    public const string Batch = "batch";
    public const string Safe = "safe";
    public const string Size = "size";

    /// <summary>In the order in which a step runs them.</summary>
    public static IReadOnlyList<string> All { get; } = [Unacknowledged, Batch, Safe, "q4", "q5", "q6", "q7", Size];

    public static IReadOnlyList<string> Inserts { get; } = [Unacknowledged, Batch, Safe];

    public static IReadOnlyList<string> Queries { get; } = ["q4", "q5", "q6", "q7"];

    /// <summary>Drawn values lie in the lower 90 % of what documents hold, so that enough documents lie above them.</summary>
    private const int DrawnPerTen = 9;

    public static bool IsInsert(string test) => Inserts.Contains(test);

    /// <param name="test">unack, batch or safe.</param>
    /// <param name="batchSize">Documents per command of the batch test.</param>
    /// <param name="journal">j:true for the acknowledged tests.</param>
    /// <param name="ordered">Of the batch test.</param>
    public static InsertSpecification Insert(string test, int batchSize, bool journal, bool ordered) => test switch
    {
        Unacknowledged => new(test, 1, Acknowledged: false, Journal: false, Ordered: true),
        Batch => new(test, batchSize, Acknowledged: true, journal, ordered),
        Safe => new(test, 1, Acknowledged: true, journal, Ordered: true),
        _ => throw new ArgumentException($"'{test}' inserts nothing", nameof(test)),
    };

    /// <param name="test">q4 to q7.</param>
    /// <param name="valueRange">Number and Number1 lie below it.</param>
    public static FindSpecification Find(string test, int valueRange)
    {
        int range = valueRange / 10 * DrawnPerTen;
        BsonDocument atLeast = BsonDocument.Of(("$gte", 0));
        var number = new DrawnParameter("Number.$gte", range);
        return test switch
        {
            "q4" => new(test, BsonDocument.Of(("Number", atLeast)), 10) { Parameters = [number] },
            "q5" => new(test, BsonDocument.Of(("Number", atLeast), ("Number1", atLeast)), 10)
            {
                Parameters = [number, new("Number1.$gte", range)],
                Projection = BsonDocument.Of(("_id", 0), ("Number", 1), ("Number1", 1)),
            },
            "q6" => new(test, BsonDocument.Of(("Number", atLeast)), 10)
            {
                Parameters = [number],
                Sort = BsonDocument.Of(("Date", -1)),
                Skip = 100,
            },
            "q7" => new(test, BsonDocument.Empty, 100),
            _ => throw new ArgumentException($"'{test}' queries nothing", nameof(test)),
        };
    }
}

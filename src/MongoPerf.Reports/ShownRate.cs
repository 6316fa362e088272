using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>An operation's rate as last screens show it.</summary>
/// <param name="PerSecond">Documents of inserts, writes of bulks, operations of anything else.</param>
/// <param name="Unit">What is counted: "docs/s", "writes/s" or "ops/s".</param>
internal readonly record struct ShownRate(double PerSecond, string Unit)
{
    private const string Documents = "docs/s";
    private const string Writes = "writes/s";
    private const string Operations = "ops/s";

    public static ShownRate Of(OperationResult result) => result.IsInsert ? new(result.DocumentsPerSecond, Documents)
        : new(result.OperationsPerSecond * FactorOf(result), result.Batch > 1 ? Writes : Operations);

    /// <summary>What makes the rate that other reports have, in operations, the one that is shown.</summary>
    public static double FactorOf(OperationResult result) => result.IsInsert ? 1 : Math.Max(1, result.Batch);

    /// <summary>
    /// "docs/s for inserts, else ops/s" is not enough: each rate needs its unit beside it, since a total counts otherwise than its parts,
    /// or some count writes.
    /// </summary>
    /// <param name="results">All that one table shows.</param>
    public static bool AreMixed(IReadOnlyList<OperationResult> results) => results.Any(result => Of(result).Unit == Writes)
        || (results.Any(result => result is { IsTotal: true, IsInsert: false }) && results.Any(result => result.IsInsert));
}

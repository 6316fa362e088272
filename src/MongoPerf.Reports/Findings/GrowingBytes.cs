using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>Files that grow faster than the documents in them.</summary>
internal static class GrowingBytes
{
    private const double Least = 0.2;
    private const long LeastBytes = 4_000_000;

    /// <param name="growth">Its sizes.</param>
    /// <param name="chart">Shows them.</param>
    /// <param name="level">Chance of any false finding, at most.</param>
    public static IEnumerable<Finding> Find(GrowthFigures growth, string chart, double level)
    {
        (string What, Func<SizeResult, long> Of)[] kinds = [("documents", size => size.StorageBytes), ("indexes", size => size.IndexBytes)];
        foreach ((string what, Func<SizeResult, long> bytesOf) in kinds)
        {
            // Small files are mostly what was set aside for them.
            (long Documents, double Each)[] sizes = [.. growth.Sizes.Where(one => one.Documents > 0 && bytesOf(one.Sizes) >= LeastBytes)
                .Select(one => (one.Documents, (double)bytesOf(one.Sizes) / one.Documents))];
            double[] each = [.. sizes.Select(size => size.Each)];
            // Sizes hardly vary, and grow along smooth curves, which the trend's test takes for correlation.
            if (Trend.Of(each) is { } trend && trend.Ratio >= 1 + Least
                && Math.Min(trend.P, DifferenceSigns.P(each)) < level / kinds.Length)
                yield return Make(what, sizes, trend.Ratio, chart);
        }
    }

    private static Finding Make(string what, (long Documents, double Each)[] sizes, double ratio, string chart)
    {
        string whose = what == "documents" ? Words.Of("the files of the documents") : Words.Of("the indexes");
        return new Finding
        {
            Id = FindingIds.BytesGrow,
            Text = Words.Of($"{whose} grow faster than the collection: {Units.Bytes(sizes[0].Each)} a document at "
                + $"{Units.Count(sizes[0].Documents)}, {Units.Bytes(sizes[^1].Each)} at {Units.Count(sizes[^1].Documents)}"),
            Range = new FindingRange(null, null, sizes[0].Documents, sizes[^1].Documents),
            Evidence = [new FindingEvidence(
                chart, Words.Of($"bytes a document {ComparisonText.LatencyChange(ratio)} over {sizes.Length} sizes"))],
            Refute = Words.Of("rebuild the collection at its full size (mongodump and mongorestore): if a document takes as many bytes, "
                + "free space within the files is not what grew"),
            Weight = Math.Log(ratio) / 4,
        };
    }
}

using MongoPerf.Learning.Observing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Finds where the only bound of a filter lies, by how many documents were found.</summary>
internal static class BoundFit
{
    /// <summary>Up to so many documents, how many there are is drawn by Poisson's law; beyond it, they are as many as on average.</summary>
    private const double MostDrawn = 200;

    /// <summary>Replies that have so many more or fewer documents are the same.</summary>
    private const double Tolerance = 0.05;

    private const int Steps = 40;
    private const int Parts = 16;

    /// <summary>Of few combinations each is counted, of many as many as these.</summary>
    private const int MostCombinations = 1000;

    /// <summary>How many documents all other conditions meet, with how likely each number is; null where nobody knows.</summary>
    /// <param name="filter">All conditions.</param>
    /// <param name="bound">The one that is not among them.</param>
    /// <param name="data">What is known of the documents.</param>
    /// <param name="collection">The collection.</param>
    public static IReadOnlyList<(double Weight, double Documents)>? Others(
        DocumentShape filter, ValueShape bound, IWrittenData data, string collection)
    {
        List<(double Weight, double Documents)> matches = [(1, data.DocumentsOf(collection))];
        if (filter.Fields.Any(one => one.Key is ['$', ..]))
            return null;
        foreach (ValueShape value in filter.Values.Where(one => !ReferenceEquals(one, bound) && one.Role != ValueRole.NotEqual))
        {
            if (value.Role != ValueRole.Equal)
                return null;
            double all = value.Seen.Few.Sum(one => one.Value);
            IReadOnlyList<(double Weight, double Share)> shares = value.Seen.Few.Count == 0 ? data.SharesOf(collection, value.Field)
                : [.. value.Seen.Few.Select(one => (one.Value / all, data.ShareOf(collection, value.Field, one.Key)))];
            if (shares.Count * matches.Count > MostCombinations)
                shares = [(1, shares.Sum(one => one.Weight * one.Share))];
            matches = [.. matches.SelectMany(one => shares.Select(share => (one.Weight * share.Weight, one.Documents * share.Share)))];
        }

        return matches;
    }

    /// <summary>The share of the documents that lie on the bound's side.</summary>
    /// <param name="replies">What replies said.</param>
    /// <param name="matches">How many documents all other conditions meet.</param>
    /// <param name="limit">The most that are found.</param>
    /// <param name="areEven">Otherwise bounds lie anywhere, as those of documents that are drawn.</param>
    /// <returns>NaN where as many are found with the bounds of documents that are drawn.</returns>
    public static double ShareOf(
        ObservedReplies replies, IReadOnlyList<(double Weight, double Documents)> matches, double limit, bool areEven)
    {
        double found = replies.Documents;
        double expected = Enumerable.Range(0, Parts).Average(part => Found((part + 0.5) / Parts));
        if (areEven && Math.Abs(expected - found) <= Math.Max(Tolerance * found, 3 * replies.Deviation / Math.Sqrt(replies.Count)))
            return double.NaN;
        (double low, double high) = (0, 1);
        for (int i = 0; i < Steps; i++)
        {
            double middle = (low + high) / 2;
            if (Found(middle) < found)
                low = middle;
            else
                high = middle;
        }

        return high;

        double Found(double share) => matches.Sum(one => one.Weight * Limited(one.Documents * share, limit));
    }

    /// <summary>The mean of what is drawn with this mean, but no more than the limit.</summary>
    private static double Limited(double mean, double limit)
    {
        if (limit > MostDrawn || mean > MostDrawn)
            return Math.Min(mean, limit);
        // The mean of the least of the two is the sum of the chances that there are more than 0, 1, 2 … documents.
        double sum = 0;
        double chance = Math.Exp(-mean);
        double below = 0;
        for (int i = 0; i < limit; i++)
        {
            below += chance;
            sum += 1 - below;
            chance *= mean / (i + 1);
        }

        return Math.Max(0, sum);
    }
}

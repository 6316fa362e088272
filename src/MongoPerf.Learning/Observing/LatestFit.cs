namespace MongoPerf.Learning.Observing;

/// <summary>Finds out whether the newest keys are the most popular, the newest at the time of each request.</summary>
internal static class LatestFit
{
    private const int LeastDifferent = 50;

    /// <summary>How many times as dense as all others the newest hundredth must be.</summary>
    private const double LeastDensity = 5;

    /// <param name="positions">Of the requests' keys among all, in the order of requests.</param>
    /// <param name="population">What is known of the field; null for nothing.</param>
    /// <returns>θ of the distances from the newest; null where these don't decide.</returns>
    public static double? Of(IReadOnlyList<ulong> positions, FieldPopulation? population)
    {
        ulong[] different = [.. positions.Distinct().Order()];
        if (different.Length < LeastDifferent)
            return null;
        // Numbers without large gaps are themselves the distances; of others only those that came can be counted.
        double documents = population?.Documents ?? different.Length;
        bool isDense = different[^1] - different[0] < 4 * Math.Max(documents, different.Length);
        double keys = isDense ? different[^1] - different[0] + 1 : different.Length;
        var distances = new List<long>(positions.Count);
        ulong Place(ulong position) =>
            isDense ? position - different[0] : (ulong)Array.BinarySearch(different, position);
        ulong newest = Place(positions.Take(Math.Max(20, positions.Count / 100)).Max());
        foreach (ulong position in positions)
        {
            ulong place = Place(position);
            newest = Math.Max(newest, place);
            distances.Add((long)(newest - place));
        }

        // Bands of 1 %, 3 %, 12 % and 84 %: of what is popular for itself, the newest are not the densest, and then the next ones.
        double[] bounds = [keys * 0.01, keys * 0.04, keys * 0.16, keys];
        double[] densities = new double[bounds.Length];
        double from = 0;
        for (int i = 0; i < bounds.Length; i++)
        {
            (double low, double high) = (from, bounds[i]);
            densities[i] = distances.Count(distance => distance >= low && distance < high) / (high - low);
            from = high;
        }

        bool falls = Enumerable.Range(1, densities.Length - 1).All(i => densities[i - 1] > densities[i]);
        return falls && densities[0] > LeastDensity * distances.Count / keys ? KeyFit.ThetaOfRanks(distances, keys) : null;
    }

    /// <param name="ages">
    /// Of each request's document: how many came after it while it was watched, -1 if it was there before; and how many had come.
    /// </param>
    /// <param name="population">What is known of the field; null for nothing.</param>
    /// <returns>θ of the distances from the newest; null where these don't decide.</returns>
    public static double? OfAges(IReadOnlyList<(int Age, int Came)> ages, FieldPopulation? population)
    {
        // Of what is drawn by age, at any skew, half of the requests for what came are for its newest quarter.
        const double LeastForNewest = 0.4;
        if (population is not { Documents: > 0 and var documents })
            return null;
        int known = ages.Count(one => one.Age >= 0);
        int newest = ages.Count(one => one.Age >= 0 && one.Age < one.Came / 4.0);
        double byChance = ages.Sum(one => Math.Min(1, one.Came / documents));
        return known >= KeyFit.LeastDraws && known > LeastDensity * byChance && newest > LeastForNewest * known
            ? KeyFit.ThetaOfAges(ages, documents) : null;
    }
}

namespace MongoPerf.Reports.Charts;

/// <summary>Brings together samples of several members, which are not taken at the same moments.</summary>
internal static class MemberRounds
{
    /// <summary>
    /// Divides what members said into rounds, each of which ends before a member speaks again. A member that is silent in one counts with
    /// what it said before. What was said before the axis begins, behind
    /// its end or in a pause has no room on it. Streams.
    /// </summary>
    /// <param name="said">What was said, in time order: seconds on the axis, who, and what.</param>
    /// <param name="longestSilence">The seconds after which a member that has said nothing is away.</param>
    /// <returns>The mean time of each round, and what each member that is not away said last.</returns>
    public static IEnumerable<(double At, IReadOnlyDictionary<string, double[]> Last)> Of(
        IEnumerable<(double At, string Member, double[] Values)> said, double longestSilence)
    {
        var last = new Dictionary<string, (double At, double[] Values)>(StringComparer.Ordinal);
        var round = new Dictionary<string, double>(StringComparer.Ordinal);
        double before = double.NegativeInfinity;
        foreach ((double at, string member, double[] values) in said)
        {
            if (round.ContainsKey(member))
            {
                if (round.Values.Average() > before)
                    yield return Ended();
                before = round.Values.Average();
                round.Clear();
            }

            round[member] = at;
            last[member] = (at, values);
        }

        if (round.Count > 0 && round.Values.Average() > before)
            yield return Ended();

        (double, IReadOnlyDictionary<string, double[]>) Ended()
        {
            double at = round.Values.Average();
            return (at,
                last.Where(one => at - one.Value.At <= longestSilence).ToDictionary(static one => one.Key, static one => one.Value.Values));
        }
    }
}

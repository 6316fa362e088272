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
    /// <returns>
    /// The mean time of each round, and what each member that is not away said last, which is good until the next round is asked for.
    /// </returns>
    public static IEnumerable<(double At, Dictionary<string, double[]> Last)> Of(
        IEnumerable<(double At, string Member, double[] Values)> said, double longestSilence)
    {
        var last = new Dictionary<string, double[]>(StringComparer.Ordinal);
        var heard = new Dictionary<string, double>(StringComparer.Ordinal);
        var round = new HashSet<string>(StringComparer.Ordinal);
        double times = 0;
        double before = double.NegativeInfinity;
        foreach ((double at, string member, double[] values) in said)
        {
            if (round.Contains(member))
            {
                double mean = times / round.Count;
                if (mean > before)
                    yield return (mean, Present(mean));
                before = mean;
                times = 0;
                round.Clear();
            }

            round.Add(member);
            times += at;
            heard[member] = at;
            last[member] = values;
        }

        if (round.Count > 0 && times / round.Count is var end && end > before)
            yield return (end, Present(end));

        // Who is away and speaks again is there again.
        Dictionary<string, double[]> Present(double at)
        {
            foreach ((string member, double when) in heard)
            {
                if (at - when <= longestSilence)
                    continue;
                heard.Remove(member);
                last.Remove(member);
            }

            return last;
        }
    }
}

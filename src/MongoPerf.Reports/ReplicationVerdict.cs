using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>How far a secondary was behind its primary.</summary>
/// <param name="Member">Its address.</param>
/// <param name="AtEnd">Milliseconds, when the run ended; null when it was away then.</param>
/// <param name="Most">Milliseconds, at the worst.</param>
internal sealed record ReplicaLag(string Member, double? AtEnd, double Most)
{
    private static readonly int Lag = MetricCatalogue.IndexOf(MetricCatalogue.Replica, "lag");

    /// <summary>Known of the primary alone, whose writes are its own.</summary>
    private static readonly int Term = MetricCatalogue.IndexOf(MetricCatalogue.Replica, "term");

    /// <summary>
    /// By address; none for a deployment without secondaries. A primary that went away and never came back is one of them: it has no lag,
    /// but is missing.
    /// </summary>
    public static IReadOnlyList<ReplicaLag> Of(StoredRun run)
    {
        (string Member, double[] Lags, bool IsSecondary)[] all =
        [
            .. run.ReadReplicaSamples().GroupBy(static sample => sample.Member).OrderBy(static member => member.Key, StringComparer.Ordinal)
                .Select(static member => (member.Key, member.Select(static sample =>
                        double.IsFinite(sample.Values[Term]) ? 0 : sample.Values[Lag]).ToArray(),
                    member.Any(static sample => double.IsFinite(sample.Values[Lag])))),
        ];
        return all.Any(static member => member.IsSecondary)
            ? [.. all.Where(static member => member.IsSecondary || !double.IsFinite(member.Lags[^1]))
                .Select(static member => new ReplicaLag(member.Member, double.IsFinite(member.Lags[^1]) ? member.Lags[^1] : null,
                    member.Lags.Where(double.IsFinite).DefaultIfEmpty(0).Max()))]
            : [];
    }
}

/// <summary>Whether the secondaries kept up with the writes, in a sentence.</summary>
internal static class ReplicationVerdict
{
    /// <summary>Milliseconds: members tell one another every few hundred, so less is no lag.</summary>
    private const double Kept = 1000;

    /// <returns>Null without secondaries.</returns>
    public static Verdict? Of(StoredRun run)
    {
        IReadOnlyList<ReplicaLag> all = ReplicaLag.Of(run);
        if (all.Count == 0)
            return null;
        string most = Text(all.Max(static one => one.Most));
        ReplicaLag[] late = [.. all.Where(static one => one.AtEnd is not < Kept)];
        if (late.Length > 0)
        {
            string behind = string.Join(", ", late.Select(static one => one.AtEnd is { } lag
                ? Words.Of($"{one.Member} was {Text(lag)} behind its primary") : Words.Of($"{one.Member} was away")));
            return new Verdict(Grade.Note, Words.Of($"replication: when the run ended, {behind} (at most {most} during the run)"));
        }

        return new Verdict(Grade.Good, all.Max(static one => one.Most) < Kept
            ? Words.Of($"replication: secondaries kept up, at most {most} behind")
            : Words.Of($"replication: secondaries were up to {most} behind and had caught up when the run ended"));
    }

    private static string Text(double milliseconds) => Units.Duration(milliseconds / 1000);
}

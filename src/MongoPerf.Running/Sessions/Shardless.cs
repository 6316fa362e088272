using MongoPerf.Load.Plans;

namespace MongoPerf.Running.Sessions;

/// <summary>A plan on a deployment without shards: what only shards can do is left out, and said.</summary>
internal static class Shardless
{
    /// <param name="plan">For shards too.</param>
    /// <param name="log">Is told what is left out.</param>
    public static Plan Of(Plan plan, RunLog log)
    {
        if (plan.Collections.Where(c => c.Shard is not null).Select(c => c.Name).ToArray() is { Length: > 0 } placed)
            log.Show("note: the deployment is not sharded: "
                + $"{string.Join(", ", placed)} {(placed.Length == 1 ? "is" : "are")} on its only server");
        Plan without = plan.WithoutBalancer();
        string[] left = [.. without.Phases.Select(p => p.Name)];
        if (plan.Phases.Select(p => p.Name).Except(left).ToArray() is { Length: > 0 } skipped)
            log.Show(
                $"note: the deployment is not sharded, so there is nothing to balance; skipped: {string.Join(", ", skipped)}");
        return without;
    }
}

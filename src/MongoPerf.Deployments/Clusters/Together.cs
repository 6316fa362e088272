using System.Collections.Concurrent;
using System.Runtime.ExceptionServices;

namespace MongoPerf.Deployments.Clusters;

/// <summary>Does things that mostly wait, all at once, each on a thread of its own.</summary>
internal static class Together
{
    /// <returns>The results in the order of the items.</returns>
    /// <exception cref="Exception">What the first that failed threw, after all have ended.</exception>
    public static TResult[] Run<T, TResult>(IReadOnlyList<T> items, Func<T, TResult> action)
    {
        var results = new TResult[items.Count];
        var failures = new ConcurrentQueue<Exception>();
        Thread[] threads = [.. items.Select((item, index) => new Thread(() =>
        {
            try
            {
                results[index] = action(item);
            }
            catch (Exception e)
            {
                failures.Enqueue(e);
            }
        }) { IsBackground = true })];
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        if (failures.TryDequeue(out Exception? first))
            ExceptionDispatchInfo.Throw(first);
        return results;
    }
}

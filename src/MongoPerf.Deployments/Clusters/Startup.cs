using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments.Clusters;

/// <summary>Waits for servers that are just starting, or changing their parts.</summary>
internal static class Startup
{
    /// <summary>Tries until an attempt succeeds.</summary>
    /// <param name="limit">How long to try.</param>
    /// <param name="requireRunning">Throws when a process has ended, which nobody waits for. Null where nobody knows.</param>
    /// <param name="attempt">True when it succeeded.</param>
    /// <param name="problem">Makes the error's message, given that of the last failure; null when no attempt failed.</param>
    /// <exception cref="DeploymentException">None succeeded within the limit, or a process has ended.</exception>
    public static void Await(TimeSpan limit, Action? requireRunning, Func<bool> attempt, Func<string?, string> problem)
    {
        string? last = null;
        long end = Environment.TickCount64 + (long)limit.TotalMilliseconds;
        while (true)
        {
            try
            {
                if (attempt())
                    return;
            }
            catch (Exception e) when (IsPassing(e))
            {
                last = e.Message;
            }

            requireRunning?.Invoke();
            if (Environment.TickCount64 > end)
                throw new DeploymentException(Fault.CannotConnect, problem(last));
            Thread.Sleep(20);
        }
    }

    /// <summary>Failures that a server's start or a change of its parts explains.</summary>
    public static bool IsPassing(Exception failure) =>
        failure is IOException or ServerCommandException or WireProtocolException or BsonFormatException;
}

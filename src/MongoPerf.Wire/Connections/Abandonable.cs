namespace MongoPerf.Wire.Connections;

/// <summary>
/// Waits for what the system can't be told to end (asking DNS, connecting), and leaves it to itself when the wait is over.
/// </summary>
public static class Abandonable
{
    /// <param name="work">Runs on a thread of its own.</param>
    /// <param name="stop">Ends the wait; the work ends by itself, some time.</param>
    /// <param name="discard">What becomes of a result that nobody waits for any more.</param>
    /// <exception cref="OperationCanceledException">It was stopped before there was a result.</exception>
    public static T Run<T>(Func<T> work, CancellationToken stop, Action<T>? discard = null)
    {
        Task<T> running = Task.Factory.StartNew(work, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        try
        {
            return running.WaitAsync(stop).GetAwaiter().GetResult();
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // Also looks at what it fails with, which nobody is told.
            running.ContinueWith(
                late =>
                {
                    if (late.Exception is null)
                        discard?.Invoke(late.Result);
                },
                CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
            throw;
        }
    }
}

namespace MongoPerf.Deployments.Installing;

/// <summary>
/// Keeps other processes from installing into the same folder. The system lifts it when its holder ends, however that ends.
/// </summary>
internal static class FolderLock
{
    private const int PauseMilliseconds = 100;

    /// <summary>Waits until nobody else holds it.</summary>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="waiting">Called once, when somebody does.</param>
    /// <param name="stop">Ends the wait.</param>
    /// <exception cref="OperationCanceledException">Stopped.</exception>
    public static IDisposable Take(string folder, Action waiting, CancellationToken stop)
    {
        Directory.CreateDirectory(folder);
        string path = Path.Combine(folder, ".lock");
        for (bool told = false; ; told = true)
        {
            stop.ThrowIfCancellationRequested();
            try
            {
                // FileShare.None is an advisory lock (flock) of the whole file.
                return new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            }
            catch (IOException) when (File.Exists(path))
            {
                if (!told)
                    waiting();
                stop.WaitHandle.WaitOne(PauseMilliseconds);
            }
        }
    }
}

namespace MongoPerf.Server.Storage;

/// <summary>The store cannot be opened, read or written: what failed, in one sentence.</summary>
/// <param name="message">What failed.</param>
/// <param name="hint">What to do about it; null when there is nothing to say.</param>
/// <param name="cause">What the system said.</param>
public class StorageException(string message, string? hint = null, Exception? cause = null) : IOException(message, cause)
{
    public string? Hint { get; } = hint;
}

/// <summary>The disk that holds the data is full. What was acknowledged is whole; the store takes writes again some seconds after there is room.</summary>
/// <param name="found">What the store said, with the file.</param>
public sealed class DiskFullException(string found) : StorageException($"the disk that holds this server's data is full: {found}", "make room there");

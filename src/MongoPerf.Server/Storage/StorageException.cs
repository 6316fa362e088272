namespace MongoPerf.Server.Storage;

/// <summary>The store cannot be opened, read or written: what failed, in one sentence.</summary>
/// <param name="message">What failed.</param>
/// <param name="hint">What to do about it; null when there is nothing to say.</param>
public class StorageException(string message, string? hint = null) : IOException(message)
{
    public string? Hint { get; } = hint;
}

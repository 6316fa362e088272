using MongoPerf.Wire.Failures;

namespace MongoPerf.Server.Storage;

/// <summary>The store cannot be opened, read or written: what failed, in one sentence.</summary>
/// <param name="message">What failed.</param>
/// <param name="hint">What to do about it; null when there is nothing to say.</param>
/// <param name="cause">What the system said.</param>
/// <param name="fault">Refused where something else than the store's is there, or would not fit.</param>
public class StorageException(
    string message, string? hint = null, Exception? cause = null, Fault fault = Fault.WrongUsage) : IOException(message, cause), IFailure
{
    public Fault Fault { get; } = fault;

    public string? Hint { get; } = hint;
}

/// <summary>
/// The disk that holds the data is full. What was acknowledged is whole; the store takes writes again some seconds after there is room.
/// </summary>
/// <param name="found">What the store said, with the file.</param>
public sealed class DiskFullException(string found)
    : StorageException($"the disk that holds this server's data is full: {found}", "make room there", fault: Fault.Refused);

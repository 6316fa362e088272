namespace MongoPerf.Server.Storage;

/// <summary>The store cannot be opened, read or written: what failed and what to do about it, in one sentence.</summary>
public sealed class StorageException(string message) : IOException(message);

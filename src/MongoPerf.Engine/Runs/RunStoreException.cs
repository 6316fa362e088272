namespace MongoPerf.Engine.Runs;

/// <summary>A run folder that can't be used: says which, what was found and what is allowed. The user's to mend (exit code 2).</summary>
public sealed class RunStoreException(string message) : Exception(message);

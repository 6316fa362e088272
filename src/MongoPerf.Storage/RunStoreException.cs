using MongoPerf.Wire.Failures;

namespace MongoPerf.Storage;

/// <summary>A run folder that can't be used: says which, what was found and what is allowed. The user's to mend.</summary>
public sealed class RunStoreException(string message) : MongoPerfException(Fault.WrongUsage, message);

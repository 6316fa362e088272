namespace MongoPerf.Learning.Writing;

/// <summary>An operation that the language of scenarios can't say.</summary>
internal sealed class NotWritableException(string message) : Exception(message);

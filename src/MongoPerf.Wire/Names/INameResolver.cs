namespace MongoPerf.Wire.Names;

/// <summary>A host that an SRV record names.</summary>
/// <param name="Host">The host without the final dot.</param>
/// <param name="Port">1 to 65535.</param>
internal readonly record struct ServiceRecord(string Host, int Port);

/// <summary>Asks DNS for what <c>mongodb+srv</c> needs. Tests put records of their own in its place.</summary>
internal interface INameResolver
{
    /// <returns>Empty when there are none.</returns>
    /// <exception cref="NameResolutionException">No answer, or one that can't be read.</exception>
    IReadOnlyList<ServiceRecord> FindServices(string name);

    /// <returns>Each record's strings put together; empty when there are none.</returns>
    /// <inheritdoc cref="FindServices"/>
    IReadOnlyList<string> FindTexts(string name);
}

/// <summary>DNS did not answer, or its answer is damaged: what and about which name.</summary>
internal sealed class NameResolutionException(string message) : IOException(message);

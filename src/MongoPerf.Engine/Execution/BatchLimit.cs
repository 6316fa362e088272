using MongoPerf.Engine.Documents;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Execution;

/// <summary>How many generated documents a server takes in one message.</summary>
public static class BatchLimit
{
    /// <summary>For header, command and section around the documents.</summary>
    private const int Overhead = 1024;

    /// <summary>The lesser of maxWriteBatchSize and what fits into maxMessageSizeBytes.</summary>
    public static int Of(HelloReply server) =>
        Math.Min(server.MaxWriteBatchSize, (server.MaxMessageSizeBytes - Overhead) / DocumentGenerator.DocumentLength);

    /// <summary>Asks the server before a run begins: a refusal in its middle could not be mended.</summary>
    /// <exception cref="OperationLimitException">The batch is larger than the server takes.</exception>
    public static void Check(ServerAddress address, ConnectionSettings settings, int batchSize)
    {
        using MongoConnection connection = MongoConnection.Open(address, settings);
        Check(connection.Server, batchSize);
    }

    /// <inheritdoc cref="Check(ServerAddress, ConnectionSettings, int)"/>
    public static void Check(HelloReply server, int batchSize)
    {
        int allowed = Of(server);
        if (batchSize > allowed)
            throw new OperationLimitException($"batch is {batchSize} documents, this server takes 1 to {allowed} documents of {DocumentGenerator.DocumentLength} bytes in one message");
    }
}

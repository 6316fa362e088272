using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Collections;

/// <summary>
/// How many documents a server takes in one message, asked before a run begins: a refusal in its middle could not be mended.
/// </summary>
public static class BatchLimit
{
    /// <summary>The bytes of header, command and section around the documents.</summary>
    private const int Overhead = 1024;

    /// <param name="server">The server of the deployment.</param>
    /// <param name="insert">One of the plan's operations.</param>
    /// <exception cref="OperationLimitException">The batch is larger than the server takes.</exception>
    public static void Check(HelloReply server, InsertDocuments insert)
    {
        int length = insert.Documents.Make(0).Bytes.Length;
        int allowed = Math.Min(server.MaxWriteBatchSize, (server.MaxMessageSizeBytes - Overhead) / length);
        if (insert.BatchSize > allowed)
            throw new OperationLimitException($"{insert.Name}: batch is {insert.BatchSize:N0} documents; allowed: "
                + $"1 to {allowed:N0} documents of {length:N0} bytes in one message");
    }
}

using MongoPerf.Load.Failures;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Collections;

/// <summary>
/// Commands that may take long: they have no timeout, but are ended by <see cref="Stop"/>. One thread, except who cancels.
/// </summary>
public sealed class LongCommands
{
    /// <summary>Breaks the connection of a command that is waited for.</summary>
    public CancellationToken Stop { get; set; }

    /// <inheritdoc cref="MongoConnection.RunLongCommand"/>
    public BsonDocument Run(MongoConnection connection, string database, BsonDocument command)
    {
        using (Stop.Register(connection.Abort))
            return connection.RunLongCommand(database, command);
    }

    /// <returns>Null when the server does not do that: not every one has the command, or lets this client run it.</returns>
    public BsonDocument? TryRun(MongoConnection connection, string database, BsonDocument command)
    {
        try
        {
            return Run(connection, database, command);
        }
        catch (ServerCommandException e) when (!ErrorTally.IsServerAway(e) && !ErrorTally.MayPass(e))
        {
            return null;
        }
    }
}

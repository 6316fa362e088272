using MongoPerf.Server.Listening;

namespace MongoPerf.Server.Commands;

/// <summary>Carries a command out.</summary>
internal delegate void CommandHandler(CommandSession session, in CommandRequest request, ReplyWriter reply);

/// <summary>A command that the server knows.</summary>
/// <param name="Execute">Carries the command out.</param>
/// <param name="IsHandshake">May come as OP_QUERY.</param>
/// <param name="IsCounted">Counts under opcounters.command; the others have counters of their own.</param>
/// <param name="Concern">Which read concerns it takes.</param>
/// <param name="TakesTransactionNumber">
/// Whether mongod could run it in a transaction or again: refused all the same, but with the code for that.
/// </param>
/// <param name="IsStable">Part of MongoDB's API version 1.</param>
/// <param name="IsForAnybody">Carried out for clients that have not logged in too, as a handshake is.</param>
internal sealed record CommandEntry(
    CommandHandler Execute, bool IsHandshake = false, bool IsCounted = true, ReadConcernSupport Concern = ReadConcernSupport.Local,
    bool TakesTransactionNumber = false, bool IsStable = false, bool IsForAnybody = false)
{
    /// <summary>The name as the client wrote it.</summary>
    public string Name { get; init; } = "";
}

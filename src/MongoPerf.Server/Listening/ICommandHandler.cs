namespace MongoPerf.Server.Listening;

/// <summary>What stands behind a <see cref="TcpServer"/>: the embedded database, the null server, or a test's fake.</summary>
public interface ICommandHandler
{
    /// <summary>Called once for each connection, on its thread, before its first command.</summary>
    /// <param name="connectionId">1 and up, in the order of acceptance.</param>
    ICommandSession Open(int connectionId);
}

/// <summary>
/// One connection's side of the handler; it keeps what it wants to use again. Called by the connection's thread only, but for
/// <see cref="ClientLeft"/>.
/// </summary>
public interface ICommandSession : IDisposable
{
    /// <summary>Carries out one command and writes its reply.</summary>
    /// <remarks>
    /// The request's spans are the receive buffer: valid until this returns. A request that wants no answer is handled in the same
    /// way; what is written then is thrown away. An exception that gets out closes the connection.
    /// </remarks>
    void Handle(in CommandRequest request, ReplyWriter reply);

    /// <summary>
    /// False while the client has not shown that it may be here: it then gets short messages through, and not for ever. Looked at until it
    /// is true for the first time.
    /// </summary>
    bool IsTrusted => true;

    /// <summary>
    /// Nobody waits for the present command's reply any more; it may be given up. Called by another thread, maybe again and again.
    /// </summary>
    void ClientLeft()
    {
    }
}

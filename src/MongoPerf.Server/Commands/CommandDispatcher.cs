using MongoPerf.Server.Commands.Sharding;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>
/// One connection to the embedded server: finds the command, carries it out, turns failures into replies. Its thread only, but for
/// <see cref="ClientLeft"/>.
/// </summary>
internal sealed class CommandDispatcher(ServerContext server, int connectionId) : ICommandSession
{
    private readonly bool _requiresLogin = server.Options.Listen.RequiresLogin;
    private bool _isLeaveable;

    /// <summary>What the commands know.</summary>
    public CommandSession Session { get; } = new(server, connectionId);

    /// <inheritdoc/>
    public bool IsTrusted => !_requiresLogin || Session.Login.UserName is not null;

    private ActiveOperation Operation => Session.Operation;

    public void Handle(in CommandRequest request, ReplyWriter reply)
    {
        Operation.Begin(server.Operations.NextId());
        try
        {
            RequireSound(request.Body);
            Session.ReadGenericFields(request);
            if (request.IsLegacyQuery && !CommandTable.IsHandshake(request.Name))
                throw new CommandException(352, "UnsupportedOpQueryCommand",
                    $"Unsupported OP_QUERY command: {request.NameText}. The client driver may require an upgrade.");
            CommandEntry command = FindCommand(request.Name);
            if (command is { IsForAnybody: false, IsHandshake: false } && !IsTrusted)
                throw new CommandException(13, "Unauthorized", $"command {command.Name} requires authentication");
            Operation.Describe(command.Name, Session.Database, command.TakesTransactionNumber ? Session.NamespaceOf(request.Body) : null);
            // What nobody waits for is a write that has to be done all the same; an insert is never cut in the middle.
            _isLeaveable = request.WantsReply && command.Name != "insert";
            SessionFields.Require(request.Body, command);
            if (command.IsCounted)
                server.Counters.CountCommand();
            command.Execute(Session, request, reply);
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            CommandException told = CommandException.Of(error) ?? OfCommand(error);
            reply.Fail(told.Code, told.CodeName, told.Message, told.Duplicate is { } duplicate ? duplicate.Write : null);
        }
        finally
        {
            Session.End(request.Body.Length);
            _isLeaveable = false;
            Operation.End();
        }
    }

    /// <exception cref="CommandException">It is not known, or not allowed.</exception>
    private CommandEntry FindCommand(ReadOnlySpan<byte> name)
    {
        if (server.Router == null)
            return CommandTable.Find(name);
        if (Session.Database == "local")
            throw new CommandException(20, "IllegalOperation", "Can't use 'local' database through mongos");
        return RouterCommands.Find(name) ?? CommandTable.Find(name);
    }

    /// <inheritdoc/>
    public void ClientLeft()
    {
        long id = Operation.Id;
        if (Volatile.Read(ref _isLeaveable))
            Operation.Interrupt(id, Interruption.ClientLeft);
    }

    public void Dispose() => Session.Dispose();

    /// <summary>What ends a whole command, whatever statements it has.</summary>
    private CommandException OfCommand(Exception error)
    {
        switch (error)
        {
            case InterruptedException interrupted:
                return new CommandException(interrupted.Code, interrupted.CodeName, error.Message);
            case DiskFullException:
                return new CommandException(14031, "OutOfDiskSpace", error.Message);
            case StorageException:
                return new CommandException(1, "InternalError", error.Message);
            default:
                // A defect of this server: the client is told, this connection and all others continue.
                server.Counters.CountDefect();
                return new CommandException(
                    8, "UnknownError", $"the embedded server failed unexpectedly: {error.GetType().Name}: {error.Message}");
        }
    }

    /// <summary>What mongod checks of every message before it looks at the command.</summary>
    private static void RequireSound(ReadOnlySpan<byte> body)
    {
        if (body.Length > ProtocolLimits.MaximumBodyBytes)
            throw ProtocolLimits.TooLarge(body.Length);
        BsonValidator.ValidateStructure(body);
    }
}

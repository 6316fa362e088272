using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using System.Text.Unicode;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>One connection to the embedded server: finds the command, carries it out, turns failures into replies. Its thread only, but for <see cref="ClientLeft"/>.</summary>
internal sealed class CommandSession : ICommandSession
{
    private const int MaximumNameLength = 320;

    // A longer command, or one that worked out constants, may have blown up what the query keeps for the next one.
    private const int UsualCommandBytes = 64 << 10;

    private readonly bool _requiresLogin;
    private bool _isLeaveable;
    private byte[] _database = [];
    private string _databaseText = "";
    private byte[] _collectionName = [];
    private byte[] _collectionDatabase = [];
    private Collection? _collection;

    public CommandSession(ServerContext server, int connectionId)
    {
        Server = server;
        ConnectionId = connectionId;
        Login = new Login(server.Users);
        _requiresLogin = server.Options.Listen.RequiresLogin;
        Operation.Connection = connectionId;
        server.Operations.Add(Operation);
    }

    public ServerContext Server { get; }

    public int ConnectionId { get; }

    public Login Login { get; }

    /// <inheritdoc/>
    public bool IsTrusted => !_requiresLogin || Login.UserName is not null;

    /// <summary>For the present command; a cursor that outlives it takes it over through <see cref="ReleaseQuery"/>.</summary>
    public FindQuery Query { get; private set; } = new(new PathCache());

    public InsertScratch Insert { get; private set; } = new();

    /// <summary>The present command as others see it: its time limit, and whether it has to end.</summary>
    public Operation Operation { get; } = new();

    /// <summary>The present command's <c>$db</c>.</summary>
    public string Database => _databaseText;

    public void Handle(in CommandRequest request, ReplyWriter reply)
    {
        Operation.Begin(Server.Operations.NextId());
        try
        {
            RequireSound(request.Body);
            ReadGenericFields(request);
            if (request.IsLegacyQuery && !CommandTable.IsHandshake(request.Name))
                throw new CommandException(352, "UnsupportedOpQueryCommand", $"Unsupported OP_QUERY command: {request.NameText}. The client driver may require an upgrade.");
            CommandTable.Entry command = CommandTable.Find(request.Name);
            if (command is { IsForAnybody: false, IsHandshake: false } && !IsTrusted)
                throw new CommandException(13, "Unauthorized", $"command {command.Name} requires authentication");
            Operation.Describe(command.Name, _databaseText, command.TakesTransactionNumber ? NamespaceOf(request.Body) : null);
            // What nobody waits for is a write that has to be done all the same; an insert is never cut in the middle.
            _isLeaveable = request.WantsReply && command.Name != "insert";
            SessionFields.Require(request.Body, command);
            if (command.IsCounted)
                Server.Counters.CountCommand();
            command.Execute(this, request, reply);
        }
        catch (Exception error) when (CommandException.Of(error) is { } told)
        {
            reply.Fail(told.Code, told.CodeName, told.Message, told.Duplicate is { } duplicate ? duplicate.Write : null);
        }
        catch (InterruptedException error)
        {
            reply.Fail(error.Code, error.CodeName, error.Message);
        }
        catch (DiskFullException error)
        {
            reply.Fail(14031, "OutOfDiskSpace", error.Message);
        }
        catch (StorageException error)
        {
            reply.Fail(1, "InternalError", error.Message);
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            // A defect of this server: the client is told, this connection and all others continue.
            Server.Counters.CountDefect();
            reply.Fail(8, "UnknownError", $"the embedded server failed unexpectedly: {error.GetType().Name}: {error.Message}");
        }
        finally
        {
            Query.Dispose();
            if (request.Body.Length > UsualCommandBytes || Operation.MostHeld > UsualCommandBytes)
                Query = new FindQuery(new PathCache());
            if (Insert.IsLarge)
                Insert = new InsertScratch();
            _isLeaveable = false;
            Operation.End();
        }
    }

    /// <inheritdoc/>
    public void ClientLeft()
    {
        long id = Operation.Id;
        if (Volatile.Read(ref _isLeaveable))
            Operation.Interrupt(id, Interruption.ClientLeft);
    }

    public void Dispose()
    {
        Server.Operations.Remove(Operation);
        Query.Dispose();
    }

    /// <summary>Gives the query to a cursor and makes a new one for the next command.</summary>
    public FindQuery ReleaseQuery()
    {
        FindQuery released = Query;
        // Not with this session's path cache: the cursor may be served by another connection's thread.
        Query = new FindQuery(new PathCache());
        return released;
    }

    /// <summary>The collection of that name in <see cref="Database"/>; null when it is not there.</summary>
    public Collection? FindCollection(ReadOnlySpan<byte> name)
    {
        if (IsRemembered(name))
        {
            Operation.Namespace = _collection.Namespace;
            return _collection;
        }

        Namespaces.RequireCollection(_databaseText, name);
        Span<char> text = stackalloc char[MaximumNameLength];
        _databaseText.CopyTo(text);
        text[_databaseText.Length] = '.';
        int length = _databaseText.Length + 1 + Encoding.UTF8.GetChars(name, text[(_databaseText.Length + 1)..]);
        if (!Server.Store.TryFind(text[..length], out Collection? found))
            return null;
        Remember(name, found);
        return found;
    }

    /// <summary>As <see cref="FindCollection"/>, made when it is not there.</summary>
    public Collection GetOrCreate(ReadOnlySpan<byte> name, out bool isNew)
    {
        isNew = false;
        if (FindCollection(name) is { } found)
            return found;
        Collection made = Server.Store.GetOrCreate(_databaseText, Encoding.UTF8.GetString(name), out isNew) ?? throw new CommandException(
            13297, "DatabaseDifferCase", $"db already exists with different case already have: [{Server.Store.FindOtherCase(_databaseText)}] trying to create [{_databaseText}]");
        Remember(name, made);
        return made;
    }

    /// <summary>The text of the command's first value, which names the collection.</summary>
    public static ReadOnlySpan<byte> CollectionName(BsonReader first) => first.Type == BsonType.String
        ? first.StringBytes
        : throw CommandException.InvalidNamespace($"collection name has invalid type {first.Type}");

    /// <summary>Of a command that names a collection first. Others see it before the filters are read: working out their constants may take seconds.</summary>
    private string? NamespaceOf(ReadOnlySpan<byte> body)
    {
        var first = new BsonReader(body);
        // A longer name is refused when the command comes to it.
        if (!first.Read() || first.Type != BsonType.String || first.StringBytes.Length > Namespaces.MaximumNamespaceBytes)
            return null;
        return IsRemembered(first.StringBytes) ? _collection.Namespace : $"{_databaseText}.{first.StringText}";
    }

    [MemberNotNullWhen(true, nameof(_collection))]
    private bool IsRemembered(ReadOnlySpan<byte> name) =>
        _collection is { IsDropped: false } && name.SequenceEqual(_collectionName) && _database.AsSpan().SequenceEqual(_collectionDatabase);

    private void Remember(ReadOnlySpan<byte> name, Collection found)
    {
        _collection = found;
        _collectionName = name.ToArray();
        _collectionDatabase = _database;
        Operation.Namespace = found.Namespace;
    }

    /// <summary>What mongod checks of every message before it looks at the command.</summary>
    private static void RequireSound(ReadOnlySpan<byte> body)
    {
        if (body.Length > Limits.MaximumBodyBytes)
            throw Limits.TooLarge(body.Length);
        BsonValidator.ValidateStructure(body);
    }

    /// <summary><c>$db</c> and <c>maxTimeMS</c>.</summary>
    private void ReadGenericFields(in CommandRequest request)
    {
        bool hasDatabase = request.IsLegacyQuery;
        if (hasDatabase)
            SetDatabase(request.LegacyDatabase);
        var reader = new BsonReader(request.Body);
        while (reader.Read())
        {
            if (!hasDatabase && reader.NameIs("$db"u8))
            {
                if (reader.Type != BsonType.String)
                    throw CommandException.Location(13111, "wrong type for field ($db)");
                SetDatabase(reader.StringBytes);
                hasDatabase = true;
            }
            else if (reader.NameIs("maxTimeMS"u8))
            {
                Operation.LimitTime(Milliseconds(reader, isAggregate: request.Name.SequenceEqual("aggregate"u8)));
            }
        }

        if (!hasDatabase)
            throw CommandException.Location(40571, "OP_MSG requests require a $db argument");
    }

    /// <param name="maxTime">Stands on the field.</param>
    /// <param name="isAggregate">mongod reads it with the fields of an aggregate, whose errors have codes of their own.</param>
    private static long Milliseconds(BsonReader maxTime, bool isAggregate)
    {
        if (isAggregate)
            CommandFields.Count("aggregate", "maxTimeMS", new BsonValue(maxTime.Type, maxTime.Value.ToArray()));
        if (!maxTime.IsNumber)
            throw CommandException.BadValue("maxTimeMS must be a number");
        if (maxTime.ToDouble() != Math.Floor(maxTime.ToDouble()))
            throw CommandException.BadValue("maxTimeMS has non-integral value");
        return maxTime.ToDouble() is >= 0 and <= int.MaxValue ? maxTime.ToInt64() : throw CommandException.BadValue($"{maxTime.ToInt64()} value for maxTimeMS is out of range");
    }

    private void SetDatabase(ReadOnlySpan<byte> name)
    {
        if (_database.Length > 0 && name.SequenceEqual(_database))
            return;
        // Both at once and only for a valid name: what a refused command names must not be taken for a later one's database.
        string text = Encoding.UTF8.GetString(name);
        Namespaces.RequireDatabase(text, name);
        (_database, _databaseText) = (name.ToArray(), text);
    }
}

/// <summary>Which names databases and collections may have. Source: manual, "Naming Restrictions".</summary>
internal static class Namespaces
{
    public const int MaximumNamespaceBytes = 255;
    private const int MaximumDatabaseBytes = 63;
    private static readonly SearchValues<char> Forbidden = SearchValues.Create("/\\. \"$\0");

    /// <param name="name">As text; two names that are not UTF-8 may have the same.</param>
    /// <param name="bytes">As the client sent it.</param>
    public static void RequireDatabase(string name, ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length is 0 or > MaximumDatabaseBytes || name.AsSpan().ContainsAny(Forbidden) || !Utf8.IsValid(bytes))
            throw CommandException.InvalidNamespace($"Invalid database name: '{name}'");
    }

    public static void RequireCollection(string database, ReadOnlySpan<byte> name)
    {
        bool isTooLong = Encoding.UTF8.GetByteCount(database) + 1 + name.Length > MaximumNamespaceBytes;
        if (name.Length == 0 || name[0] == '.' || isTooLong || name.IndexOfAny((byte)'$', (byte)0) >= 0 || !Utf8.IsValid(name))
            throw CommandException.InvalidNamespace($"Invalid collection name: {Encoding.UTF8.GetString(name)}");
    }
}

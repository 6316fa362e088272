using System.Buffers;
using System.Text;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>One connection to the embedded server: finds the command, carries it out, turns failures into replies. Its thread only.</summary>
internal sealed class CommandSession(ServerContext server, int connectionId) : ICommandSession
{
    private const int MaximumNameLength = 320;
    private byte[] _database = [];
    private string _databaseText = "";
    private byte[] _collectionName = [];
    private byte[] _collectionDatabase = [];
    private Collection? _collection;

    public ServerContext Server { get; } = server;

    public int ConnectionId { get; } = connectionId;

    /// <summary>For the present command; a cursor that outlives it takes it over through <see cref="ReleaseQuery"/>.</summary>
    public FindQuery Query { get; private set; } = new(new PathCache());

    public InsertScratch Insert { get; } = new();

    /// <summary>The present command's <c>$db</c>.</summary>
    public string Database => _databaseText;

    public void Handle(in CommandRequest request, ReplyWriter reply)
    {
        try
        {
            ReadDatabase(request);
            if (request.IsLegacyQuery && !CommandTable.IsHandshake(request.Name))
                throw new CommandException(352, "UnsupportedOpQueryCommand", $"Unsupported OP_QUERY command: {request.NameText}. The client driver may require an upgrade.");
            CommandTable.Entry command = CommandTable.Find(request.Name);
            SessionFields.Require(request.Body, command);
            if (command.IsCounted)
                Server.Counters.CountCommand();
            command.Execute(this, request, reply);
        }
        catch (CommandException error)
        {
            reply.Fail(error.Code, error.CodeName, error.Message, error.Duplicate is { } duplicate ? duplicate.Write : null);
        }
        catch (BsonFormatException error)
        {
            reply.Fail(22, "InvalidBSON", error.Message);
        }
        catch (IndexKeyException error)
        {
            reply.Fail(error.Code, error.CodeName, error.Message);
        }
        catch (StorageException error)
        {
            reply.Fail(1, "InternalError", error.Message);
        }
        finally
        {
            Query.Dispose();
        }
    }

    public void Dispose() => Query.Dispose();

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
        if (_collection is { IsDropped: false } && name.SequenceEqual(_collectionName) && _database.AsSpan().SequenceEqual(_collectionDatabase))
            return _collection;
        RequireName(name);
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
        Namespaces.RequireDatabase(_databaseText);
        if (Server.Store.FindOtherCase(_databaseText) is { } other)
            throw new CommandException(13297, "DatabaseDifferCase", $"db already exists with different case already have: [{other}] trying to create [{_databaseText}]");
        Collection made = Server.Store.GetOrCreate(_databaseText, Encoding.UTF8.GetString(name), out isNew);
        Remember(name, made);
        return made;
    }

    /// <summary>The text of the command's first value, which names the collection.</summary>
    public static ReadOnlySpan<byte> CollectionName(BsonReader first) => first.Type == BsonType.String
        ? first.StringBytes
        : throw CommandException.InvalidNamespace($"collection name has invalid type {first.Type}");

    private void RequireName(ReadOnlySpan<byte> name) => Namespaces.RequireCollection(_databaseText, name);

    private void Remember(ReadOnlySpan<byte> name, Collection found)
    {
        _collection = found;
        _collectionName = name.ToArray();
        _collectionDatabase = _database;
    }

    private void ReadDatabase(in CommandRequest request)
    {
        if (request.IsLegacyQuery)
        {
            SetDatabase("admin"u8);
            return;
        }

        var reader = new BsonReader(request.Body);
        if (!reader.Find("$db"u8))
            throw CommandException.Location(40571, "OP_MSG requests require a $db argument");
        if (reader.Type != BsonType.String)
            throw CommandException.Location(13111, "wrong type for field ($db)");
        SetDatabase(reader.StringBytes);
    }

    private void SetDatabase(ReadOnlySpan<byte> name)
    {
        if (name.SequenceEqual(_database))
            return;
        _databaseText = Encoding.UTF8.GetString(name);
        Namespaces.RequireDatabase(_databaseText);
        _database = name.ToArray();
    }
}

/// <summary>Which names databases and collections may have. Source: manual, "Naming Restrictions".</summary>
internal static class Namespaces
{
    private const int MaximumDatabaseBytes = 63;
    private const int MaximumNamespaceBytes = 255;
    private static readonly SearchValues<char> Forbidden = SearchValues.Create("/\\. \"$\0");

    public static void RequireDatabase(string name)
    {
        if (name.Length is 0 or > MaximumDatabaseBytes || name.AsSpan().ContainsAny(Forbidden))
            throw CommandException.InvalidNamespace($"Invalid database name: '{name}'");
    }

    public static void RequireCollection(string database, ReadOnlySpan<byte> name)
    {
        if (name.Length == 0 || name[0] == '.' || database.Length + 1 + name.Length > MaximumNamespaceBytes || name.IndexOfAny((byte)'$', (byte)0) >= 0)
            throw CommandException.InvalidNamespace($"Invalid collection name: {Encoding.UTF8.GetString(name)}");
    }
}

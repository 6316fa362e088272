using System.Diagnostics.CodeAnalysis;
using System.Text;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Commands.Sharding;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>What commands know of the connection that they came through, and what they keep for the next one. Its thread only.</summary>
internal sealed class CommandSession : IDisposable
{
    private const int MaximumNameLength = 320;

    // A longer command, or one that worked out constants, may have blown up what the query keeps for the next one.
    private const int UsualCommandBytes = 64 << 10;

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
        Operation.Connection = connectionId;
        server.Operations.Add(Operation);
    }

    public ServerContext Server { get; }

    /// <summary>For the commands of a mongos alone.</summary>
    public ShardRouter Router => Server.Router!;

    public int ConnectionId { get; }

    public Login Login { get; }

    /// <summary>The query for the present command; a cursor that outlives it takes it over through <see cref="ReleaseQuery"/>.</summary>
    public FindQuery Query { get; private set; } = new(new PathCache());

    public InsertScratch Insert { get; private set; } = new();

    /// <summary>The present command as others see it: its time limit, and whether it has to end.</summary>
    public ActiveOperation Operation { get; } = new();

    /// <summary>The present command's <c>$db</c>.</summary>
    public string Database => _databaseText;

    /// <summary>Forgets the command; what was large is made anew.</summary>
    /// <param name="bodyBytes">The command's length.</param>
    public void End(int bodyBytes)
    {
        Query.Dispose();
        if (bodyBytes > UsualCommandBytes || Operation.MostHeld > UsualCommandBytes)
            Query = new FindQuery(new PathCache());
        if (Insert.IsLarge)
            Insert = new InsertScratch();
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

    /// <summary>Does the same as <see cref="FindCollection"/>, and makes the collection when it is not there.</summary>
    public Collection GetOrCreate(ReadOnlySpan<byte> name, out bool isNew, Storage.Keys.Collation? collation = null)
    {
        isNew = false;
        if (FindCollection(name) is { } found)
            return found;
        Collection made = Server.Store.GetOrCreate(_databaseText, Encoding.UTF8.GetString(name), out isNew, collation)
            ?? throw CommandException.DatabaseDiffersInCase(Server.Store.FindOtherCase(_databaseText), _databaseText);
        Remember(name, made);
        return made;
    }

    /// <summary>The text of the command's first value, which names the collection.</summary>
    public static ReadOnlySpan<byte> CollectionName(BsonReader first) => first.Type == BsonType.String
        ? first.StringBytes
        : throw CommandException.InvalidNamespace($"collection name has invalid type {first.Type}");

    /// <summary>
    /// The namespace of a command that names a collection first. Others see it before the filters are read: working out their constants may
    /// take seconds.
    /// </summary>
    public string? NamespaceOf(ReadOnlySpan<byte> body)
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

    /// <summary>Takes what may stand in any command: <c>$db</c> and <c>maxTimeMS</c>.</summary>
    /// <exception cref="CommandException">One of them is wrong.</exception>
    public void ReadGenericFields(in CommandRequest request)
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
        return maxTime.ToDouble() is >= 0 and <= int.MaxValue
            ? maxTime.ToInt64()
            : throw CommandException.BadValue($"{maxTime.ToInt64()} value for maxTimeMS is out of range");
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

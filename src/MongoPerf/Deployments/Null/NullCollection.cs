using System.Buffers.Binary;
using System.Text;
using MongoPerf.Engine.Plans;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>What the null server remembers of a collection. Memory is bounded however many documents come.</summary>
/// <remarks>Thread-safe: one lock, held for one command at most.</remarks>
internal abstract class NullCollection(string database, string name)
{
    private readonly byte[] _database = Encoding.UTF8.GetBytes(database);
    private readonly byte[] _name = Encoding.UTF8.GetBytes(name);
    private readonly byte[] _namespace = Encoding.UTF8.GetBytes($"{database}.{name}");
    private BsonDocument[] _indexes = [];
    private volatile bool _isDropped;

    public string Database { get; } = database;

    public string Name { get; } = name;

    /// <summary>Database and name.</summary>
    public string FullName { get; } = $"{database}.{name}";

    /// <inheritdoc cref="FullName"/>
    public ReadOnlySpan<byte> Namespace => _namespace;

    /// <summary>Whoever holds on to a dropped one has to look it up again.</summary>
    public bool IsDropped
    {
        get => _isDropped;
        set => _isDropped = value;
    }

    /// <summary>Specifications without that of _id_. What is returned never changes.</summary>
    public IReadOnlyList<BsonDocument> Indexes => Volatile.Read(ref _indexes);

    /// <summary>Documents that are there.</summary>
    public abstract long Count { get; }

    /// <summary>Of these documents.</summary>
    public abstract long Bytes { get; }

    protected Lock Gate { get; } = new();

    /// <param name="documents">Back to back.</param>
    /// <returns>How many they are.</returns>
    /// <exception cref="BsonFormatException">They are none.</exception>
    public abstract int Insert(ReadOnlySpan<byte> documents);

    /// <returns>Documents that were there and are changed: 1 or 0.</returns>
    public abstract int Update(ReadOnlySpan<byte> filter, ReadOnlySpan<byte> change, bool upsert);

    /// <param name="filter">An empty one means all when <paramref name="many"/> is set.</param>
    /// <param name="many">Otherwise one.</param>
    public abstract long Delete(ReadOnlySpan<byte> filter, bool many);

    /// <summary>Writes the first batch into an open array, unless any documents of a pool will do.</summary>
    public abstract FindOutcome Find(BsonWriter array, scoped in FindRequest find);

    /// <summary>Writes one document into an open array, if there is one.</summary>
    /// <returns>1 or 0.</returns>
    public int FindOne(BsonWriter array, ReadOnlySpan<byte> filter)
    {
        FindOutcome found = Find(array, new FindRequest { Filter = filter, Limit = 1 });
        return found.Pool?.Write(array, Math.Min(1, Count)) ?? found.Documents;
    }

    public bool Is(ReadOnlySpan<byte> database, ReadOnlySpan<byte> name) => name.SequenceEqual(_name) && database.SequenceEqual(_database);

    /// <summary>One of that name is there already and stays.</summary>
    public void AddIndex(BsonDocument specification)
    {
        lock (Gate)
        {
            if (!_indexes.Any(known => known.FindString("name") == specification.FindString("name")))
                _indexes = [.. _indexes, specification];
        }
    }

    /// <param name="name">"*" means all.</param>
    public void RemoveIndex(string name)
    {
        lock (Gate)
            _indexes = [.. _indexes.Where(known => name != "*" && known.FindString("name") != name)];
    }

    /// <param name="documents">Back to back.</param>
    /// <exception cref="BsonFormatException">A length does not fit.</exception>
    protected static int CountDocuments(ReadOnlySpan<byte> documents)
    {
        int count = 0;
        for (; documents.Length > 0; count++)
            TakeDocument(ref documents);
        return count;
    }

    /// <summary>Parts the first document off.</summary>
    /// <exception cref="BsonFormatException">Its length does not fit.</exception>
    protected static ReadOnlySpan<byte> TakeDocument(ref ReadOnlySpan<byte> documents)
    {
        int length = documents.Length < BsonReader.MinimumDocumentLength ? 0 : BinaryPrimitives.ReadInt32LittleEndian(documents);
        if (length < BsonReader.MinimumDocumentLength || length > documents.Length)
            throw new BsonFormatException(0, $"document length is {length}, {documents.Length} bytes are left");
        ReadOnlySpan<byte> document = documents[..length];
        documents = documents[length..];
        return document;
    }

    protected static bool IsEmpty(ReadOnlySpan<byte> document) => document.Length <= BsonReader.MinimumDocumentLength;
}

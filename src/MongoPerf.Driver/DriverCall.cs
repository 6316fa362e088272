using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Driver;

/// <summary>One call of the driver's API. Its values are drawn by <see cref="Stage"/>, before the operation's time starts.</summary>
/// <param name="parts">Everything in it that may be drawn, by name.</param>
internal abstract class DriverCall(DocumentValue parts)
{
    private DocumentValue _parts = parts;
    private bool _isStaged;

    /// <summary>The session that the call is made in; null for none.</summary>
    protected IClientSessionHandle? Session { get; private set; }

    /// <summary>Whether later steps may ask for what the call brings.</summary>
    protected bool IsKept { get; private set; }

    /// <summary>Why the last call did not succeed, where the driver threw nothing.</summary>
    public ServerError? LastError { get; protected set; }

    /// <exception cref="NotSupportedException">Not an operation of a kind that <see cref="DriverEngine.Check"/> lets pass.</exception>
    public static DriverCall Of(DriverExecutor executor, Operation operation)
    {
        IMongoDatabase database = executor.Open(operation.Concerns.IsUnacknowledged, (operation as DatabaseCommand)?.Database);
        return operation switch
        {
            FindDocuments find => new FindCall(DriverValues.CollectionOf(database, operation), find, executor.Stop),
            AggregateDocuments aggregate => new AggregateCall(DriverValues.CollectionOf(database, operation), aggregate, executor.Stop),
            UpdateDocuments update => new UpdateCall(DriverValues.CollectionOf(database, operation), update, executor.Stop),
            DeleteDocuments delete => new DeleteCall(DriverValues.CollectionOf(database, operation), delete, executor.Stop),
            FindAndModify change => new FindAndModifyCall(DriverValues.CollectionOf(database, operation), change, executor.Stop),
            CountDocuments or DistinctValues or DatabaseCommand => new CommandCall(database, operation, executor.Stop),
            _ => throw new NotSupportedException($"{operation.GetType().Name} is not possible with MongoDB.Driver"),
        };
    }

    /// <summary>Makes it one of several steps.</summary>
    /// <param name="values">What earlier steps brought.</param>
    /// <param name="session">The session that it is made in; null for none.</param>
    /// <param name="isKept">Later steps may ask for what it brings.</param>
    public void Join(StepValues values, IClientSessionHandle? session, bool isKept)
    {
        _parts = (DocumentValue)_parts.Bind(values);
        Session = session;
        IsKept = isKept;
    }

    /// <summary>Keeps what the last call brought, for later steps.</summary>
    public abstract void Keep(StepValues values, int slot);

    /// <summary>Draws the values of the next call.</summary>
    public virtual void Stage(in ValueContext context)
    {
        Forget();
        if (_isStaged && _parts.IsConstant)
            return;
        _isStaged = true;
        Take(DriverValues.ToDriver(_parts, context));
    }

    protected static void KeepAll(IEnumerable<RawBsonDocument> documents, StepValues values, int slot)
    {
        values.StartArray(slot);
        foreach (RawBsonDocument document in documents)
            values.Append(slot, Wire.Bson.BsonType.Document, DriverValues.BytesOf(document));
    }

    /// <summary>What the server would have counted in its reply.</summary>
    protected static void KeepCounts(StepValues values, int slot, long matched, long? modified) => values.Set(
        slot, Wire.Bson.BsonType.Document,
        modified is null
            ? Wire.Bson.BsonDocument.Of(("n", (int)matched)).Bytes
            : Wire.Bson.BsonDocument.Of(("n", (int)matched), ("nModified", (int)modified)).Bytes);

    /// <exception cref="MongoException">The server refused it, or was not reached.</exception>
    public abstract OperationOutcome Execute();

    /// <summary>Lets go of what the last call brought.</summary>
    protected virtual void Forget()
    {
    }

    /// <summary>Takes over what was drawn, by the names of the parts; what the operation does not have is missing.</summary>
    protected abstract void Take(BsonDocument drawn);

    protected static BsonDocument? DocumentOf(BsonDocument drawn, string name) =>
        drawn.TryGetValue(name, out BsonValue value) ? value.AsBsonDocument : null;

    protected static int? NumberOf(BsonDocument drawn, string name) =>
        drawn.TryGetValue(name, out BsonValue value) ? value.ToInt32() : null;

    protected static BsonValue? ValueOf(BsonDocument drawn, string name) => drawn.TryGetValue(name, out BsonValue value) ? value : null;
}

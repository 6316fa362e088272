using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Executors.Steps;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Driver;

/// <summary>
/// One worker's use of the run's client: blocking calls on the worker's own thread, on whichever connection the pool hands out.
/// </summary>
internal sealed class DriverExecutor(DriverSession session, DriverPool? pool = null) : IOperationExecutor
{
    private readonly CancellationTokenSource _aborted = new();
    private bool _isClosed;
    private MongoClient? _ordered;
    private bool _wasTried;

    /// <summary>Ends calls that wait for the server.</summary>
    public CancellationToken Stop => _aborted.Token;

    public bool HasPool => true;

    private MongoClient Client => pool?.Client ?? session.Client;

    public void Note(ConnectionLog log) => DriverPool.Note(log);

    /// <summary>The driver connects when it needs to; this asks whether it can, and makes it notice a server that is there again.</summary>
    public void Connect()
    {
        if (_wasTried)
            session.Options.BeforeReconnect();
        _wasTried = true;
        Ping(Client);
        if (_ordered is not null)
            Ping(_ordered);
    }

    public IPreparedOperation Prepare(Operation operation, OperationContext context) => operation switch
    {
        { IsForCluster: true } when session.Options.Cluster is { } cluster => new WireClusterOperation(operation, cluster, Stop),
        UploadFile upload => new DriverUpload(this, upload, context),
        DownloadFile download => new DriverDownload(this, download, context),
        StepSequence steps => new PreparedSteps(new DriverSteps(this, steps), steps, context),
        BulkWrite bulk => new DriverBulkWrite(this, bulk, context),
        WatchChanges watch => new DriverWatch(this, watch, context),
        InsertDocuments insert => new DriverInsert(this, insert, context),
        _ => new DriverOperation(this, operation, context),
    };

    /// <summary>
    /// The run's database; for what is not acknowledged through a client of this worker's own, whose one connection
    /// <see cref="Fence"/> goes through too.
    /// </summary>
    public IMongoDatabase Open(bool isUnacknowledged, string? database = null)
    {
        if (isUnacknowledged && _ordered is null)
            Ping(_ordered = session.OpenOrdered());
        return (isUnacknowledged ? _ordered! : Client).GetDatabase(database ?? session.Options.Database);
    }

    /// <summary>For what is about several collections, or a session. Asks the server what it is.</summary>
    /// <param name="server">What it says of itself.</param>
    public IMongoClient OpenClient(out HelloReply server)
    {
        BsonDocument hello = Client.GetDatabase("admin").RunCommand<BsonDocument>(new BsonDocument("hello", 1), null, Stop);
        server = new HelloReply(DriverValues.FromDriver(hello));
        return Client;
    }

    /// <summary>
    /// A server works through one connection in order: once it answers, it has seen everything that was not acknowledged.
    /// </summary>
    public void Fence()
    {
        if (_ordered is not null)
            Ping(_ordered);
    }

    /// <summary>
    /// The failure of a call that was not answered, as workers know it: the connection broke, and may do better when it is made anew.
    /// </summary>
    public Exception Lost(Exception failure) => DriverFailure.ToLost(failure, session.Options.Address());

    /// <summary>A secondary may answer, which need not have the latest documents yet.</summary>
    public bool MayLag(Operation read) => !(read.Concerns.ReadPreference ?? session.Options.Connections.ReadPreference).IsPrimary;

    public void Abort() => _aborted.Cancel();

    public void Dispose()
    {
        _ordered?.Dispose();
        _aborted.Dispose();
        if (pool is not null && !_isClosed)
            session.Close(pool);
        _isClosed = true;
    }

    private void Ping(MongoClient client)
    {
        try
        {
            client.GetDatabase("admin").RunCommand<BsonDocument>(new BsonDocument("ping", 1), MongoDB.Driver.ReadPreference.Nearest, Stop);
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
        {
            throw new ServerCommandException("ping", error);
        }
        catch (Exception e) when (DriverFailure.IsLost(e))
        {
            throw Lost(e);
        }
    }
}

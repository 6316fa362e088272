using MongoDB.Bson;
using MongoDB.Driver;
using MongoDB.Driver.GridFS;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Driver;

/// <summary>Writes one file per operation, by the driver's own GridFS: it gives chunks random _ids and the file the time of day.</summary>
internal sealed class DriverUpload : IPreparedOperation
{
    private readonly DriverExecutor _executor;
    private readonly GridFsFileSet _files;
    private readonly InsertNumbers _numbers;
    private readonly GridFSBucket<ObjectId> _bucket;
    private readonly byte[] _content;
    private GridFsFile? _file;

    public DriverUpload(DriverExecutor executor, UploadFile operation, OperationContext context)
    {
        _executor = executor;
        _files = operation.Files;
        _numbers = new InsertNumbers(operation, context);
        _bucket = DriverBucket.Open(executor.Open(isUnacknowledged: false), operation, _files.Bucket);
        _content = new byte[_files.Length];
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        if (!_numbers.Take(1))
            return false;
        _file = _files.FileAt(_numbers[0]);
        for (int n = 0; n < _file.ChunkCount; n++)
            _files.Fill(_numbers[0], _file.OffsetOfChunk(n), _content.AsSpan((int)_file.OffsetOfChunk(n), _file.LengthOfChunk(n)));
        return true;
    }

    public OperationOutcome Execute()
    {
        try
        {
            _bucket.UploadFromBytes(DriverValues.ToDriver(_file!.Id), _file.Filename, _content, null, _executor.Stop);
            _numbers.Acknowledge();
            return new OperationOutcome(true, 1, _content.Length);
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
        {
            LastError = error;
            return default;
        }
        catch (Exception e) when (DriverFailure.IsLost(e))
        {
            throw _executor.Lost(e);
        }
    }

    /// <summary>An insert brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete() => _numbers.Acknowledge();
}

/// <summary>
/// Reads one file per operation, whole. A file that is not there, or whose chunks are not as they must be, is a failed operation.
/// </summary>
internal sealed class DriverDownload : IPreparedOperation
{
    private readonly DriverExecutor _executor;
    private readonly GridFsFileSet _files;
    private readonly GridFSBucket<ObjectId> _bucket;
    private readonly byte[] _scratch;
    private OperationDraws _draws;
    private long _number;
    private byte[] _content = [];

    public DriverDownload(DriverExecutor executor, DownloadFile operation, OperationContext context)
    {
        _executor = executor;
        _files = operation.Files;
        _bucket = DriverBucket.Open(executor.Open(isUnacknowledged: false), operation, _files.Bucket);
        _scratch = new byte[_files.Bucket.ChunkSize];
        _draws = new OperationDraws(operation, context);
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        _number = _draws.NextKey();
        return true;
    }

    public OperationOutcome Execute()
    {
        try
        {
            _content = _bucket.DownloadAsBytes(DriverValues.ToDriver(_files.IdOf(_number)), null, _executor.Stop);
            return new OperationOutcome(true, 1, _content.Length);
        }
        catch (GridFSException e)
        {
            LastError = new ServerError(0, "GridFsFormatError", e.Message, []);
            return default;
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
        {
            LastError = error;
            return default;
        }
        catch (Exception e) when (DriverFailure.IsLost(e))
        {
            throw _executor.Lost(e);
        }
    }

    public VerificationOutcome Verify() => new(1, _files.Matches(_number, _content, _scratch) ? 0 : 1);

    public void Complete()
    {
    }
}

internal static class DriverBucket
{
    public static GridFSBucket<ObjectId> Open(IMongoDatabase database, Operation operation, GridFsBucket bucket)
    {
        // What the operation asks for.
        IMongoCollection<RawBsonDocument> asked = DriverValues.CollectionOf(database, operation);
        return new GridFSBucket<ObjectId>(database, new GridFSBucketOptions
        {
            BucketName = bucket.Name,
            ChunkSizeBytes = bucket.ChunkSize,
            WriteConcern = asked.Settings.WriteConcern,
            ReadConcern = asked.Settings.ReadConcern,
            ReadPreference = asked.Settings.ReadPreference,
        });
    }
}

using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Storage;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Replaying;

/// <summary>The requests of one worker, sent one after the other. One thread.</summary>
internal sealed class WorkerRequests : IScriptedOperation, IDisposable
{
    private static readonly ServerError CursorGone =
        new(0, ErrorCount.NoValue, "the cursor that was read on or closed here had already ended, or was not opened", []);

    private readonly ReplayExecutor _executor;
    private readonly ReplayState _state;
    private readonly int _worker;
    private readonly int[] _mine;
    private readonly RecordedRequest[] _all;
    private readonly MessageUnpacker _unpacker = new();
    private readonly RequestWriter _writer;
    private readonly double _secondsPerMicrosecond;
    private readonly double _delaySeconds;
    private byte[] _stored = new byte[1 << 16];
    private long[] _cursors = new long[1];
    private int _next;
    private int _number = -1;
    private int _requestId;
    private int _messageLength;
    private byte[] _message = [];
    private bool _hasUnacknowledged;
    private ReplyComparison _comparison;

    public WorkerRequests(ReplayExecutor executor, ReplayState state, ReplayedConnection line)
    {
        (_executor, _state, _worker) = (executor, state, line.Worker);
        _mine = state.Script.Workers[line.Worker];
        _all = state.Script.Requests;
        ReplaySettings settings = state.Script.Settings;
        _secondsPerMicrosecond = 1e-6 / state.Script.Speed;
        // Users don't do the same at the same moment.
        _delaySeconds = (double)line.Copy / settings.Copies;
        _writer = new RequestWriter(settings.Databases) { SessionSalt = state.SessionSalt };
        Operations = [.. state.Script.Shapes.Select(_ => this)];
        Parts = [.. Enumerable.Range(0, Operations.Count)];
    }

    public IReadOnlyList<IPreparedOperation> Operations { get; }

    public IReadOnlyList<int> Parts { get; }

    public int Drawn => Part;

    public int Part { get; private set; }

    public ServerError? LastError { get; private set; }

    public string? Member => _executor.Member;

    /// <summary>Documents are compared here, not while the request is timed.</summary>
    public ReplyComparison Comparison => _comparison with { HasOtherContent = HasOtherContent() };

    public bool TryTake(out double seconds)
    {
        seconds = 0;
        if (_next == _mine.Length)
            return false;
        _number = _mine[_next++];
        Part = _all[_number].Shape;
        seconds = (_all[_number].Due * _secondsPerMicrosecond) + _delaySeconds;
        return true;
    }

    /// <summary>Waits for what must have happened before, and puts the message together.</summary>
    /// <returns>False when what must have happened will not.</returns>
    public bool Draw()
    {
        ref readonly RecordedRequest request = ref _all[_number];
        if (!Await(request.After) || !AwaitSession(request.InSession) || !AwaitPriors())
            return false;
        ReadOnlySpan<long> cursors = CursorsOf(request);
        if (request.Uses >= 0 && cursors.Length == 0)
        {
            _messageLength = 0;
            return true;
        }

        if (_stored.Length < request.Length)
            _stored = new byte[request.Length];
        Span<byte> stored = _stored.AsSpan(0, request.Length);
        _state.Script.Recording.ReadMessage(request.Place, stored);
        HelloReply server = _executor.Connection.Server;
        _writer.HasTransactions = server.ReplicaSetName is not null || server.IsMongos;
        ReadOnlySpan<byte> message = _writer.Write(OpMsg.Parse(_unpacker.Unpack(stored)), ++_requestId, cursors);
        if (_message.Length < message.Length)
            _message = new byte[message.Length * 2];
        message.CopyTo(_message);
        _messageLength = message.Length;
        if (request.UsesGeneratedIds)
            PutGeneratedIds();
        return true;
    }

    public OperationOutcome Execute()
    {
        ref readonly RecordedRequest request = ref _all[_number];
        _comparison = default;
        try
        {
            if (_messageLength == 0)
            {
                LastError = CursorGone;
                return default;
            }

            MongoConnection connection = _executor.Connection;
            connection.Send(_message.AsSpan(0, _messageLength));
            if (!request.IsUnacknowledged)
                return Take(request, connection.Receive());
            _hasUnacknowledged = true;
            return new OperationOutcome(true, 0, 0);
        }
        finally
        {
            Volatile.Write(ref _state.Done[_number], 1);
        }
    }

    /// <summary>Nothing of it is known beyond the recording.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        Volatile.Write(ref _state.HasLeft[_worker], true);
        // A server works through one connection in order: once it answers, it has seen everything that was not acknowledged.
        if (_hasUnacknowledged)
            _executor.Connection.RunCommand("admin", BsonDocument.Of(("ping", 1)));
    }

    public void Dispose() => _unpacker.Dispose();

    private OperationOutcome Take(in RecordedRequest request, ReadOnlySpan<byte> message)
    {
        RecordedFacts reply = ReplyReader.Read(_requestId, message);
        (_, ReplyFacts facts, long cursor) = reply;
        int opened = request.Opens >= 0 ? request.Opens : request.Uses;
        if (opened >= 0)
            Volatile.Write(ref _state.Cursors[opened], cursor == 0 ? ReplayState.CursorEnded : cursor);
        if (_state.GeneratedIds.Length > 0 && _state.Script.IdsMadeBy.TryGetValue(_number, out MadeIds? made))
            NoteGeneratedIds(made, message);
        _comparison = new ReplyComparison(request.HasReply, request.Reply, facts, request.ReplyMicroseconds * 1000)
        {
            Modified = request.Modified is { } recorded ? (recorded, reply.Modified ?? 0) : null,
        };
        if (facts.Code != 0)
            LastError = OperationReply.ReadError(message).WithoutValues();
        else if (request is { IsStatement: true, HasReply: true, Reply.Code: not 0 })
            Abort();
        // The error that the application got, too, is what this request leads to.
        bool isAsRecorded = facts.Code == 0 || (request.HasReply && request.Reply.Code == facts.Code);
        return new OperationOutcome(isAsRecorded, (int)Math.Min(facts.Documents, int.MaxValue), facts.Bytes);
    }

    /// <summary>
    /// When it was recorded this statement failed, so that its transaction was over and held no document: others wrote those.
    /// </summary>
    private void Abort()
    {
        var statement = new BsonDocument(OpMsg.Parse(_message.AsSpan(0, _messageLength)).Body.ToArray());
        _executor.Connection.RunUnchecked("admin", BsonDocument.Of([("abortTransaction", 1), .. statement
            .Where(field => field.Key is "lsid" or "txnNumber" or "autocommit").Select(field => (field.Key, (object?)field.Value))]));
    }

    private bool HasOtherContent() => _all[_number].ReplyHash is var recorded && recorded != 0
        && _comparison.IsCompared && _comparison.Recorded == _comparison.Now
        && ReplyHash.Of(_executor.Connection.LastReceived) != recorded;

    /// <summary>Puts the target's own ids in place of those that the recorded server made.</summary>
    private void PutGeneratedIds()
    {
        Memory<byte> message = _message.AsMemory(0, _messageLength);
        ObjectIdFinder.ForEach(message.Span, (place, recorded) =>
        {
            if (_state.Script.GeneratedIds.TryGetValue(recorded, out int number)
                && _state.GeneratedIds[number] is var own && own != default)
                own.CopyTo(message.Span[place..]);
        });
    }

    /// <summary>Both lists go by statements; one of the two servers may have made an id where the other did not.</summary>
    private void NoteGeneratedIds(MadeIds made, ReadOnlySpan<byte> message)
    {
        int next = 0;
        var ids = new GeneratedIds(message);
        while (ids.Read(out GeneratedId id))
        {
            while (next < made.Statements.Length && made.Statements[next] < id.Statement)
                next++;
            if (next < made.Statements.Length && made.Statements[next] == id.Statement)
                _state.GeneratedIds[made.First + next] = id.Id;
        }
    }

    /// <summary>Waits for what it depends on.</summary>
    /// <returns>False when that will not come.</returns>
    private bool AwaitPriors()
    {
        IReadOnlyList<Prior> priors = _state.Script.Priors;
        (int first, int end) = _state.Script.PriorsOf(_number);
        for (int i = first; i < end; i++)
        {
            (int sequence, int count) = priors[i];
            if (sequence < 0 ? !Await(count) : !AwaitBeginning(sequence, count))
                return false;
        }

        return true;
    }

    /// <summary>What one worker has seen to be over, no other one looks at again.</summary>
    private bool AwaitBeginning(int sequence, int count)
    {
        ref int ended = ref _state.Ended[sequence];
        int[] requests = _state.Script.Sequences[sequence];
        for (int known; (known = Volatile.Read(ref ended)) < count;)
        {
            if (!Await(requests[known]))
                return false;
            Interlocked.CompareExchange(ref ended, known + 1, known);
        }

        return true;
    }

    private bool AwaitSession(int earlier) => earlier < 0 || !_state.Script.Has(_state.Script.WorkerOf[earlier]) || Await(earlier);

    private bool Await(int earlier)
    {
        if (earlier < 0)
            return true;
        var spin = new SpinWait();
        while (Volatile.Read(ref _state.Done[earlier]) == 0)
        {
            if (_executor.IsAborted
                || (Volatile.Read(ref _state.HasLeft[_state.Script.WorkerOf[earlier]]) && Volatile.Read(ref _state.Done[earlier]) == 0))
                return false;
            spin.SpinOnce();
        }

        return true;
    }

    /// <summary>The target's cursors that a request reads on or closes, as far as they are open.</summary>
    private ReadOnlySpan<long> CursorsOf(in RecordedRequest request)
    {
        if (request.Uses < 0)
            return default;
        int count = 0;
        if (!_state.Script.Closed.TryGetValue(_number, out int[]? closed))
            return IsOpen(request.Uses, out _cursors[0]) ? _cursors.AsSpan(0, 1) : default;
        if (_cursors.Length < closed.Length)
            _cursors = new long[closed.Length];
        foreach (int cursor in closed)
        {
            if (IsOpen(cursor, out _cursors[count]))
                count++;
        }

        return _cursors.AsSpan(0, count);
    }

    private bool IsOpen(int cursor, out long id) => (id = Volatile.Read(ref _state.Cursors[cursor])) is not (0 or ReplayState.CursorEnded);
}

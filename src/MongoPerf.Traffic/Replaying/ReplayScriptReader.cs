using System.Buffers.Binary;
using System.Runtime.InteropServices;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Replaying;

/// <summary>Reads a recording once, before anything is sent: which requests there are, of what shape, when, and what they need.</summary>
public sealed class ReplayScriptReader
{
    /// <summary>Their places take some 100 bytes each.</summary>
    private const int MostRequests = 5_000_000;

    /// <summary>Each is counted, sampled and timed by itself.</summary>
    private const int MostShapes = 100;

    private const string OtherShapes = "other requests";
    private const int MostNames = 100_000;
    private const int MostPending = 1_000_000;

    private readonly Recording _recording;
    private readonly ReplaySettings _settings;
    private readonly RequestTargets _targets;
    private readonly List<RecordedRequest> _requests = [];
    private readonly Dictionary<long, Line> _lines = [];
    private readonly Dictionary<(long Connection, int Request), int> _pending = [];
    private readonly Dictionary<long, int> _cursors = [];
    private readonly List<int> _lastUse = [];
    private readonly Dictionary<Guid, int> _transactions = [];
    private readonly Dictionary<Guid, int> _sessions = [];
    private readonly Dictionary<int, int[]> _closed = [];
    private readonly Dictionary<string, int> _shapes = new(StringComparer.Ordinal);
    private readonly List<(string Name, long Count, bool Writes)> _shapeFacts = [];
    private readonly Dictionary<string, long> _leftOut = [];
    private readonly Dictionary<string, long> _databases = new(StringComparer.Ordinal);
    private readonly HashSet<WriteTarget> _writes = [];
    private readonly UsedCollections _used;
    private readonly List<Prior> _priors = [];
    private readonly Dictionary<ObjectId, int> _generated = [];
    private readonly List<int> _generatedBy = [];
    private readonly Dictionary<int, MadeIds> _made = [];
    private readonly RequestDependencies? _dependencies;
    private readonly TransactionOrder _order = new();
    private readonly RequestParts _parts;

    /// <summary>By request: how many requests and replies of those that are replayed had come when its own reply came, or it did.</summary>
    private readonly List<int> _ends = [];

    /// <summary>The same, when it came itself.</summary>
    private readonly List<int> _begins = [];
    private int _come;
    private long? _start;

    private ReplayScriptReader(Recording recording, ReplaySettings settings)
    {
        (_recording, _settings) = (recording, settings);
        _targets = new RequestTargets(settings.Databases);
        _parts = new RequestParts(settings.Databases);
        _used = new UsedCollections(settings.Databases);
        _dependencies = settings.KeepsDependencies ? new RequestDependencies() : null;
    }

    /// <summary>Reads it to its end.</summary>
    /// <exception cref="MongoPerfException">It is damaged, too long, or has nothing to replay (2).</exception>
    public static ReplayScript Read(Recording recording, ReplaySettings settings)
    {
        var reader = new ReplayScriptReader(recording, settings);
        while (recording.TryRead(out RecordedMessage message))
            reader.Add(message);
        return reader.Finish();
    }

    private void Add(in RecordedMessage recorded)
    {
        if (recorded.Reply is { } facts)
        {
            if (_pending.Remove((recorded.Connection, facts.Request), out int request))
                AddReply(recorded, request, facts);
            return;
        }

        MessageHeader header = MessageHeader.Read(recorded.Message);
        if (IsAskedByServer(header, recorded.Message))
            return;
        if (IsReply(recorded, header) && _pending.Remove((recorded.Connection, header.ResponseTo), out int answered))
            AddReply(recorded, answered, header);
        else if (header.ResponseTo == 0)
            AddRequest(recorded, header);
    }

    /// <summary>
    /// A server records what it asks itself for the next reply of a stream, with the numbers of any reply of it. The replies say as much.
    /// </summary>
    private static bool IsAskedByServer(in MessageHeader header, ReadOnlySpan<byte> message) =>
        header is { OpCode: OpCode.Msg, ResponseTo: not 0 } && message.Length >= MessageHeader.Size + sizeof(int)
        && ((OpMsgFlags)BinaryPrimitives.ReadInt32LittleEndian(message[MessageHeader.Size..]) & OpMsgFlags.ExhaustAllowed) != 0;

    /// <summary>
    /// A request answers message 0, and so does the reply to a request that has this number; but only requests name a database.
    /// </summary>
    private bool IsReply(in RecordedMessage recorded, in MessageHeader header)
    {
        if (header.ResponseTo != 0)
            return true;
        if (header.OpCode != OpCode.Msg || !_pending.ContainsKey((recorded.Connection, 0)))
            return false;
        try
        {
            return !new BsonReader(OpMsg.Parse(recorded.Message).Body).Find("$db"u8);
        }
        catch (Exception e) when (e is BsonFormatException or WireProtocolException)
        {
            return false;
        }
    }

    private void AddRequest(in RecordedMessage recorded, in MessageHeader header)
    {
        try
        {
            if (header.OpCode == OpCode.Msg)
                AddRequest(recorded, header.RequestId, OpMsg.Parse(recorded.Message));
            else
                LeaveOut(LeftOutCommands.WhyNot(header.OpCode, recorded.Message));
        }
        catch (Exception e) when (e is BsonFormatException or WireProtocolException)
        {
            LeaveOut(LeftOutCommands.Unreadable);
        }
    }

    private void AddRequest(in RecordedMessage recorded, int requestId, in OpMsg message)
    {
        BsonValidator.ValidateStructure(message.Body);
        Envelope envelope = Envelope.Of(message.Body);
        if (envelope.Command is not { } command || envelope.Database is not { } database || !HasSoundSequences(message))
        {
            LeaveOut(LeftOutCommands.Unreadable);
            return;
        }

        if ((envelope.IsInternal ? LeftOutCommands.Internal
            : envelope.IsOfRecorder ? LeftOutCommands.Recording : LeftOutCommands.WhyNot(command)) is { } why)
        {
            LeaveOut(why);
            return;
        }

        int[] used = command is "getMore" or "killCursors" ? KnownCursors(message.Body, command) : [];
        if (command is "getMore" or "killCursors" && used.Length == 0)
        {
            LeaveOut(LeftOutCommands.Unanswerable);
            return;
        }

        IReadOnlyList<WriteTarget> writes = used.Length > 0 ? [] : _targets.Of(message, command, database);
        if (!IsChosen(command, writes))
        {
            if (envelope is { StartsTransaction: true, Session: { } started })
                _transactions.Remove(started);
            LeaveOut(LeftOutCommands.NotChosen);
            return;
        }

        if (envelope is { IsInTransaction: true, StartsTransaction: false } && !(envelope.Session is { } session
            && _transactions.ContainsKey(session)))
        {
            LeaveOut(LeftOutCommands.TransactionNotBegun);
            return;
        }

        if (_requests.Count == MostRequests)
            throw new MongoPerfException(Fault.WrongUsage, $"{_recording.Path} has more than {MostRequests:N0} requests to replay",
                "choose some with --only, or record a shorter time");
        _writes.UnionWith(writes);
        _used.Add(command, database, RequestParts.CollectionOf(message.Body, command));
        _databases[database] = _databases.GetValueOrDefault(database) + 1;
        int firstPrior = _priors.Count;
        if (_dependencies is not null)
            AddDependencies(_dependencies, recorded.Connection, message, envelope, writes);
        bool usesGenerated = _generated.Count > 0 && UsesGeneratedIds(recorded.Message);
        int shape = ShapeOf(message, command, database, writes.Count > 0);
        Keep(recorded, requestId, message, envelope, used, new RecordedRequest
        {
            Place = recorded.Place, Length = recorded.Length, Shape = shape, FirstPrior = firstPrior, UsesGeneratedIds = usesGenerated,
            InSession = BeforeInSession(envelope, writes.Count > 0),
        });
    }

    private void AddDependencies(
        RequestDependencies dependencies, long connection, in OpMsg message, in Envelope envelope, IReadOnlyList<WriteTarget> writes)
    {
        DataPart[] parts = _parts.Of(message, envelope.Command!, envelope.Database!, writes);
        if (envelope is { IsInTransaction: true, Session: { } session })
        {
            IReadOnlyCollection<DataPart> all = dependencies.AddStatement(_requests.Count, session, envelope.StartsTransaction, parts);
            // What it has written is seen, and what it holds is free, once it ends.
            if (envelope.Command is "commitTransaction" or "abortTransaction")
                parts = [.. all];
        }

        dependencies.Begin(_requests.Count, parts, _priors);
        _order.Begin(_requests.Count, connection, before => _requests[before] is { HasReply: true } or { IsUnacknowledged: true }, parts,
            envelope.IsInTransaction ? envelope.Session : null, envelope.StartsTransaction, envelope.Command switch
            {
                "commitTransaction" => true, "abortTransaction" => false, _ => null,
            });
        // What a transaction sees is settled by its first statement; what comes later in it would conflict with what it has not seen.
        if (envelope.StartsTransaction)
            dependencies.AwaitWrites(_priors);
    }

    /// <summary>Looks for ids that replies have told, and has the request wait for what led to them.</summary>
    private bool UsesGeneratedIds(ReadOnlySpan<byte> message)
    {
        int first = _priors.Count;
        bool isUsed = false;
        ObjectIdFinder.ForEach(message, (_, id) =>
        {
            if (!_generated.TryGetValue(id, out int number))
                return;
            isUsed = true;
            var prior = new Prior(-1, _generatedBy[number]);
            if (_priors.FindIndex(first, other => other == prior) < 0)
                _priors.Add(prior);
        });
        return isUsed;
    }

    /// <summary>
    /// What it writes is judged by what it names, so nothing may be named twice, or where nobody looks; servers refuse that, too.
    /// </summary>
    /// <exception cref="BsonFormatException">They are no BSON.</exception>
    private static bool HasSoundSequences(in OpMsg message)
    {
        ReadOnlySpan<byte> first = default;
        foreach (DocumentSequence sequence in message.Sequences)
        {
            bool isNames = sequence.Name.SequenceEqual("nsInfo"u8);
            bool isKnown = isNames || sequence.Name.SequenceEqual("documents"u8) || sequence.Name.SequenceEqual("updates"u8)
                || sequence.Name.SequenceEqual("deletes"u8) || sequence.Name.SequenceEqual("ops"u8);
            if (!isKnown || sequence.Name.SequenceEqual(first) || new BsonReader(message.Body).Find(sequence.Name))
                return false;
            first = sequence.Name;
            for (ReadOnlySpan<byte> left = isNames ? sequence.Documents : default; left.Length > 0;)
            {
                ReadOnlySpan<byte> document = new BsonReader(left).Document;
                BsonValidator.ValidateStructure(document);
                left = left[document.Length..];
            }
        }

        return true;
    }

    private void Keep(
        in RecordedMessage recorded, int requestId, in OpMsg message, in Envelope envelope, int[] used, RecordedRequest request)
    {
        int number = _requests.Count;
        _start ??= recorded.Microseconds;
        if (!_lines.TryGetValue(recorded.Connection, out Line? line))
            _lines[recorded.Connection] = line = new Line();
        // Clocks may be set back; what is sent on one connection keeps its order.
        long due = Math.Max(Math.Max(recorded.Microseconds - _start.Value, 0), line.Last);
        if (line.Requests.Count == 0)
            line.First = due;
        line.Last = due;
        line.Requests.Add(number);
        _requests.Add(request with
        {
            Due = due, Opens = -1,
            Uses = used.Length > 0 ? used[0] : -1,
            After = AfterOf(number, used, envelope),
            IsUnacknowledged = (message.Flags & OpMsgFlags.MoreToCome) != 0,
            IsStatement = envelope is { IsInTransaction: true, Command: not ("commitTransaction" or "abortTransaction") },
        });
        _ends.Add(++_come);
        _begins.Add(_come);
        if (used.Length > 1)
            _closed[number] = used;
        if ((message.Flags & OpMsgFlags.MoreToCome) != 0)
            return;
        if (_pending.Count == MostPending)
            _pending.Clear();
        _pending[(recorded.Connection, requestId)] = number;
    }

    /// <summary>The last request that used the same cursor, or was in the same transaction; of several all but one become priors.</summary>
    private int AfterOf(int number, int[] used, in Envelope envelope)
    {
        int after = -1;
        foreach (int cursor in used)
        {
            Add(_lastUse[cursor]);
            _lastUse[cursor] = number;
        }

        if (envelope.Session is not { } session || !envelope.IsInTransaction)
            return after;
        if (_transactions.TryGetValue(session, out int before))
            Add(before);
        if (_transactions.Count == MostPending)
            _transactions.Clear();
        _transactions[session] = number;
        return after;

        void Add(int earlier)
        {
            if (after >= 0 && earlier != after)
                _priors.Add(new Prior(-1, after));
            after = earlier;
        }
    }

    /// <summary>
    /// A server refuses what has a lower number than the session's last one (TransactionTooOld), and what must see the session's writes
    /// must come after them. Of other reads no order is promised, and drivers share sessions among all that run at once.
    /// </summary>
    private int BeforeInSession(in Envelope envelope, bool writes)
    {
        if (envelope.Session is not { } session || !(writes || envelope.KeepsOrder))
            return -1;
        int before = _sessions.GetValueOrDefault(session, -1);
        if (_sessions.Count == MostPending)
            _sessions.Clear();
        _sessions[session] = _requests.Count;
        // What overlapped had no order.
        return before >= 0 && _requests[before].HasReply ? before : -1;
    }

    private void AddReply(in RecordedMessage recorded, int answered, in MessageHeader header)
    {
        if (header.OpCode != OpCode.Msg)
            return;
        try
        {
            AddReply(recorded, answered, ReplyReader.Read(header.ResponseTo, recorded.Message) with
            {
                Hash = ReplyHash.Of(recorded.Message), GeneratedIds = GeneratedIds.Of(recorded.Message),
            });
            if ((OpMsg.Parse(recorded.Message).Flags & OpMsgFlags.MoreToCome) != 0)
                AddStreamed(recorded, answered, header.RequestId);
        }
        catch (Exception e) when (e is BsonFormatException or WireProtocolException)
        {
            // It is not compared.
        }
    }

    /// <summary>
    /// A server answers a request that allows it with a stream of replies, each of which answers the one before. A replay asks for each.
    /// </summary>
    private void AddStreamed(in RecordedMessage reply, int answered, int number)
    {
        RecordedRequest request = _requests[answered];
        byte[] stored = new byte[request.Length];
        _recording.ReadMessage(request.Place, stored);
        using var unpacker = new MessageUnpacker();
        ReadOnlySpan<byte> message = unpacker.Unpack(stored);
        OpMsg parsed = OpMsg.Parse(message);
        if ((parsed.Flags & OpMsgFlags.ExhaustAllowed) != 0)
            AddRequest(new RecordedMessage(reply.Connection, reply.Microseconds, request.Place, request.Length, message), number, parsed);
    }

    private void AddReply(in RecordedMessage recorded, int answered, in RecordedFacts facts)
    {
        ref RecordedRequest request = ref CollectionsMarshal.AsSpan(_requests)[answered];
        request.HasReply = true;
        request.Reply = facts.Reply;
        request.Modified = facts.Modified;
        request.ReplyHash = facts.Hash;
        _ends[answered] = ++_come;
        _dependencies?.End(answered, facts.Reply.Code != 0);
        if (facts.GeneratedIds is { } generated)
            AddGenerated(answered, generated);
        request.ReplyMicroseconds = Math.Max(0, recorded.Microseconds - _start!.Value - request.Due);
        Line line = _lines[recorded.Connection];
        line.Last = Math.Max(line.Last, recorded.Microseconds - _start.Value);
        if (facts.Cursor == 0 || request.Uses >= 0)
            return;
        request.Opens = _lastUse.Count;
        _cursors[facts.Cursor] = _lastUse.Count;
        _lastUse.Add(answered);
    }

    private void AddGenerated(int answered, GeneratedId[] generated)
    {
        if (_generatedBy.Count > MostPending)
            return;
        _made[answered] = new MadeIds(_generatedBy.Count, [.. generated.Select(id => id.Statement)]);
        foreach (GeneratedId id in generated)
        {
            _generated[id.Id] = _generatedBy.Count;
            _generatedBy.Add(answered);
        }
    }

    /// <summary>The numbers of the cursors that a getMore or a killCursors names, as far as replies opened them.</summary>
    private int[] KnownCursors(ReadOnlySpan<byte> body, string command)
    {
        var reader = new BsonReader(body);
        if (command == "getMore")
            return reader.Read() && reader.Type == BsonType.Int64 && _cursors.TryGetValue(reader.Int64, out int only) ? [only] : [];
        var known = new List<int>();
        if (!reader.Find("cursors"u8) || reader.Type != BsonType.Array)
            return [];
        var items = new BsonReader(reader.Value);
        while (items.Read())
        {
            if (items.Type == BsonType.Int64 && _cursors.TryGetValue(items.Int64, out int cursor))
                known.Add(cursor);
        }

        return [.. known.Distinct()];
    }

    private bool IsChosen(string command, IReadOnlyList<WriteTarget> writes) => _settings.Only switch
    {
        // The ends of the transactions that they are in: the target would keep those open.
        ReplayedRequests.Finds => command is "find" or "getMore" or "killCursors" or "commitTransaction" or "abortTransaction",
        ReplayedRequests.Reads => writes.Count == 0,
        _ => true,
    };

    private int ShapeOf(in OpMsg message, string command, string database, bool writes)
    {
        string name = RequestShape.Of(message, command, database);
        if (_shapes.Count >= MostNames && !_shapes.ContainsKey(name))
            name = OtherShapes;
        if (!_shapes.TryGetValue(name, out int shape))
        {
            _shapes[name] = shape = _shapeFacts.Count;
            _shapeFacts.Add((name, 0, false));
        }

        (string known, long count, bool wrote) = _shapeFacts[shape];
        _shapeFacts[shape] = (known, count + 1, wrote || writes);
        return shape;
    }

    private void LeaveOut(string why) => _leftOut[why] = _leftOut.GetValueOrDefault(why) + 1;

    private ReplayScript Finish()
    {
        (string Why, long Count)[] leftOut = [.. _leftOut.Select(one => (one.Key, one.Value)).OrderByDescending(one => one.Value)];
        if (_requests.Count == 0)
            throw new MongoPerfException(Fault.WrongUsage, $"{_recording.Path}: no request to replay"
                + (leftOut.Length > 0 ? $"; left out: {string.Join(", ", leftOut.Select(one => $"{one.Count:N0} {one.Why}"))}" : ""));
        List<RecordedOperation> shapes = NameShapes();
        int[][] sequences = [.. _dependencies?.Sequences ?? []];
        List<List<int>> workers = Share();
        if (_settings.Threads < workers.Count)
            workers = Fold(workers, _settings.Threads.Value, sequences);
        else if (_dependencies is not null)
            AddTransactionOrder(workers, sequences);
        RequireFew(workers.Count);
        return new ReplayScript(_recording, _settings, [.. _requests], [.. workers.Select(worker => worker.ToArray())])
        {
            RecordedConnections = _lines.Count,
            Shapes = shapes,
            Writes = [.. _writes],
            Collections = _used.Needed,
            LeftOut = leftOut,
            RecordedDatabases = [.. _databases.Keys.Order(StringComparer.Ordinal)],
            Database = MainDatabase(),
            Cursors = _lastUse.Count,
            Closed = _closed,
            Priors = _priors,
            Sequences = sequences,
            GeneratedIds = _generated,
            Generated = _generatedBy.Count,
            IdsMadeBy = _made,
        };
    }

    /// <summary>Waits that only the whole recording tells; connections that share threads would wait for one another.</summary>
    private void AddTransactionOrder(List<List<int>> workers, int[][] sequences)
    {
        Dictionary<int, List<int>> more =
            _order.Find(_requests, number => _requests[number].HasReply ? (_begins[number], _ends[number]) : null);
        if (more.Count == 0)
            return;
        new ReplayRehearsal(_requests, workers, PriorsOf, sequences).Prune(more);
        List<Prior> all = new(_priors.Count + more.Count);
        int[] firsts = new int[_requests.Count];
        for (int number = 0; number < firsts.Length; number++)
        {
            firsts[number] = all.Count;
            all.AddRange(PriorsOf(number).Union((more.GetValueOrDefault(number) ?? []).Select(other => new Prior(-1, other))));
        }

        for (int number = 0; number < firsts.Length; number++)
            _requests[number] = _requests[number] with { FirstPrior = firsts[number] };
        _priors.Clear();
        _priors.AddRange(all);
    }

    private IEnumerable<Prior> PriorsOf(int number)
    {
        int end = number + 1 < _requests.Count ? _requests[number + 1].FirstPrior : _priors.Count;
        for (int i = _requests[number].FirstPrior; i < end; i++)
            yield return _priors[i];
    }

    /// <exception cref="MongoPerfException">No client can have so many connections (2).</exception>
    private void RequireFew(int connections)
    {
        int copies = _settings.Copies;
        long all = (long)connections * copies;
        if (all > ReplaySettings.MostConnections)
            throw new MongoPerfException(Fault.WrongUsage, $"{_recording.Path}: {connections:N0} connections "
                + (copies == 1 ? "were open at once" : $"in {copies:N0} copies are {all:N0}")
                + $"; allowed: {ReplaySettings.MostConnections:N0}",
                copies == 1 ? "--threads N lets them share N" : "use fewer --copies, or let connections share N (--threads N)");
    }

    private string MainDatabase()
    {
        string? main = _databases.Where(one => one.Key is not ("admin" or "config" or "local")).OrderByDescending(one => one.Value)
            .Select(one => one.Key).FirstOrDefault();
        return main is null ? "admin" : _settings.Databases.GetValueOrDefault(main, main);
    }

    /// <summary>Keeps the most frequent shapes; all others count together.</summary>
    private List<RecordedOperation> NameShapes()
    {
        int[] byCount = [.. Enumerable.Range(0, _shapeFacts.Count).OrderByDescending(shape => _shapeFacts[shape].Count)];
        int own = byCount.Length <= MostShapes ? byCount.Length : MostShapes - 1;
        int[] numbers = new int[byCount.Length];
        for (int i = 0; i < byCount.Length; i++)
            numbers[byCount[i]] = Math.Min(i, own);
        foreach (ref RecordedRequest request in CollectionsMarshal.AsSpan(_requests))
            request.Shape = numbers[request.Shape];
        List<RecordedOperation> shapes =
            [.. byCount.Take(own).Select(shape => new RecordedOperation(_shapeFacts[shape].Name, _shapeFacts[shape].Writes))];
        if (own < byCount.Length)
            shapes.Add(new RecordedOperation(OtherShapes, byCount.Skip(own).Any(shape => _shapeFacts[shape].Writes)));
        return shapes;
    }

    /// <summary>Connections that were not open at the same time share a worker, so that there are as many as at the busiest time.</summary>
    private List<List<int>> Share()
    {
        var free = new PriorityQueue<List<int>, long>();
        var workers = new List<List<int>>();
        foreach (Line line in _lines.Values.OrderBy(line => line.First))
        {
            // In the file's order, too, whatever the clocks say: nobody may wait for what comes behind it on its own connection.
            if (free.TryPeek(out List<int>? worker, out long end) && end < line.First && worker[^1] < line.Requests[0])
                free.Dequeue();
            else
                workers.Add(worker = []);
            worker!.AddRange(line.Requests);
            free.Enqueue(worker, line.Last);
        }

        return workers;
    }

    /// <summary>
    /// Puts connections together on fewer workers, with about as many requests each. Requests that overlapped stand in the order of their
    /// replies: one that waited at the server, such as for a lock or for new data, must not keep back what ended its wait.
    /// </summary>
    private List<List<int>> Fold(List<List<int>> workers, int threads, int[][] sequences)
    {
        int[] places = Places(workers, sequences);
        var folded = new PriorityQueue<List<int>, int>(Enumerable.Range(0, threads).Select(_ => (new List<int>(), 0)));
        foreach (List<int> worker in workers.OrderByDescending(worker => worker.Count))
        {
            List<int> least = folded.Dequeue();
            least.AddRange(worker);
            folded.Enqueue(least, least.Count);
        }

        List<List<int>> all = [.. folded.UnorderedItems.Select(one => one.Element).OrderBy(worker => worker.Min())];
        foreach (List<int> worker in all)
            worker.Sort((a, b) => (places[a], a).CompareTo((places[b], b)));
        return all;
    }

    /// <summary>
    /// By request: when its reply came, and no earlier than that of anything it waits for. Whoever goes by places, and by numbers where
    /// those are equal, never waits for what comes later, so nobody waits for ever.
    /// </summary>
    private int[] Places(List<List<int>> workers, int[][] sequences)
    {
        int[] places = new int[_requests.Count];
        int[] before = new int[_requests.Count];
        foreach (List<int> worker in workers)
        {
            for (int i = 0; i < worker.Count; i++)
                before[worker[i]] = i == 0 ? -1 : worker[i - 1];
        }

        // The beginnings that later requests wait for are no shorter than those of earlier ones.
        var seen = new (int Count, int Place)[sequences.Length];
        for (int number = 0; number < places.Length; number++)
        {
            int place = Math.Max(Math.Max(_ends[number], PlaceOf(before[number])),
                Math.Max(PlaceOf(_requests[number].After), PlaceOf(_requests[number].InSession)));
            int end = number + 1 < places.Length ? _requests[number + 1].FirstPrior : _priors.Count;
            foreach ((int sequence, int count) in CollectionsMarshal.AsSpan(_priors)[_requests[number].FirstPrior..end])
            {
                if (sequence < 0)
                {
                    place = Math.Max(place, places[count]);
                    continue;
                }

                ref (int Count, int Place) known = ref seen[sequence];
                for (; known.Count < count; known.Count++)
                    known.Place = Math.Max(known.Place, places[sequences[sequence][known.Count]]);
                place = Math.Max(place, known.Place);
            }

            places[number] = place;
        }

        return places;

        int PlaceOf(int request) => request < 0 ? 0 : places[request];
    }

    /// <summary>A connection's requests, and from when to when it had some under way; microseconds.</summary>
    private sealed class Line
    {
        public List<int> Requests { get; } = [];

        public long First { get; set; }

        public long Last { get; set; }
    }

    /// <summary>What any command says of itself.</summary>
    private readonly record struct Envelope(string? Command, string? Database, Guid? Session, bool IsInTransaction, bool IsInternal)
    {
        /// <summary>A namespace has at most 255 bytes. A packed message may hold millions, which would all be kept.</summary>
        private const int LongestName = 512;

        public bool StartsTransaction { get; init; }

        /// <summary>It has a number within its session, or must see what the session did.</summary>
        public bool KeepsOrder { get; init; }

        /// <summary>Sent by what looks after the server's recording.</summary>
        public bool IsOfRecorder { get; init; }

        public static Envelope Of(ReadOnlySpan<byte> body)
        {
            string? command = null;
            string? database = null;
            Guid? session = null;
            bool isInTransaction = false;
            bool isInternal = false;
            bool isOfRecorder = false;
            bool isTwice = false;
            bool startsTransaction = false;
            bool keepsOrder = false;
            var reader = new BsonReader(body);
            while (reader.Read())
            {
                if (command is null && !HasShortNames(reader))
                    return default;
                command ??= reader.NameText;
                if (reader.NameIs("$db"u8) && reader.Type == BsonType.String)
                {
                    // What it writes is judged by one name, so there must be no other.
                    isTwice = database is not null;
                    database = reader.StringText;
                }
                else if (reader.NameIs("lsid"u8) && reader.Type == BsonType.Document)
                    session = SessionOf(reader.Value);
                else if (reader.NameIs("autocommit"u8))
                    isInTransaction = true;
                else if (reader.NameIs("startTransaction"u8))
                    startsTransaction = true;
                else if (reader.NameIs("txnNumber"u8))
                    keepsOrder = true;
                else if (reader.NameIs("readConcern"u8) && reader.Type == BsonType.Document)
                    keepsOrder |= new BsonReader(reader.Value).Find("afterClusterTime"u8);
                else if (command is "serverStatus" && reader.NameIs(LeftOutCommands.RecordingSection))
                    isOfRecorder = true;
                else
                    isInternal |= LeftOutCommands.IsInternal(reader.Name);
            }

            string? only = isTwice || database?.Length > LongestName ? null : database;
            return new Envelope(command, only, session, isInTransaction, isInternal)
            {
                StartsTransaction = startsTransaction, IsOfRecorder = isOfRecorder, KeepsOrder = keepsOrder,
            };
        }

        /// <param name="first">The element that names the command, and mostly the collection.</param>
        private static bool HasShortNames(in BsonReader first) => first.Name.Length <= LongestName
            && (first.Type != BsonType.String || first.StringBytes.Length <= LongestName);

        private static Guid? SessionOf(ReadOnlySpan<byte> session)
        {
            var reader = new BsonReader(session);
            return reader.Find("id"u8) && reader.Type == BsonType.Binary && reader.Value.Length == 5 + 16
                ? new Guid(reader.Value[5..])
                : null;
        }
    }
}

using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Collections;

/// <summary>Another run writes the collection. The user's to settle.</summary>
/// <param name="message">Who writes it.</param>
/// <param name="hint">What can be done.</param>
public sealed class CollectionBusyException(string message, string hint) : MongoPerfException(Fault.Refused, message, hint);

/// <summary>
/// One writer for each collection: its marker names the run that writes it, with the host and the process, and until when. The run renews
/// that as long as it lives; another one may take over when the time has passed. All times are the server's.
/// </summary>
/// <remarks>
/// Read, then written only if nobody was faster (the update's filter has what was read), so it takes no transaction, no findAndModify and
/// no version beyond 3.6, and works through any router. One thread takes and releases, another one may renew meanwhile.
/// </remarks>
/// <param name="database">The database of the collections.</param>
/// <param name="runId">The id of the run.</param>
/// <param name="token">The run's, by which it knows its own lease again when it continues; null for a run without one.</param>
/// <param name="length">How long a lease holds after it was renewed last.</param>
public sealed class WriterLeases(string database, string runId, string? token, TimeSpan length)
{
    private const int Attempts = 5;
    private const int LongestName = 100;

    /// <summary>Beyond this a lease was not given by the clock that the server has now.</summary>
    private const int MostLengths = 10;

    private static readonly string[] Fields =
        ["program", "template", "seed", "run", "token", "documents", "grown", "refused", "zones", "untagged", WireCollection.Adopted,
            WireCollection.Pending];

    private readonly Lock _lock = new();
    private readonly HashSet<string> _held = new(StringComparer.Ordinal);
    private readonly string _session = Guid.NewGuid().ToString("N");
    private volatile string? _lost;

    /// <summary>Why this run must stop writing, in a sentence: another one has taken a collection over. Null while it need not.</summary>
    public string? Lost => _lost;

    /// <summary>Whether there is anything to renew or to give back.</summary>
    public bool HoldsAny => Held().Length > 0;

    /// <summary>How often leases must be renewed.</summary>
    public TimeSpan RenewEvery => length / 3;

    private long LengthMilliseconds => (long)length.TotalMilliseconds;

    /// <summary>
    /// Takes the lease of a collection, which may be this run's already. Makes a marker that only names the writer where there is none.
    /// </summary>
    /// <param name="connection">A connection to the server or router.</param>
    /// <param name="collection">Its name.</param>
    /// <exception cref="CollectionBusyException">Another run has it.</exception>
    public void Take(MongoConnection connection, string collection)
    {
        for (int attempt = 1; ; attempt++)
        {
            BsonDocument? marker = FindMarker(connection, collection);
            BsonDocument? writer = marker?.FindDocument("writer");
            long now = ServerClock.ReadTime(connection);
            bool isFree = writer is null || MayTake(writer, now);
            if (isFree && TryWrite(connection, collection, marker, now))
            {
                lock (_lock)
                    _held.Add(collection);
                return;
            }

            if (!isFree || attempt == Attempts)
                throw Busy(collection, writer, now);
        }
    }

    /// <summary>Renews all that are held. What another run has taken over makes <see cref="Lost"/>.</summary>
    /// <param name="connection">The connection of the thread that renews.</param>
    public void Renew(MongoConnection connection)
    {
        string[] held = Held();
        if (held.Length == 0 || _lost is not null)
            return;
        long until = ServerClock.ReadTime(connection) + LengthMilliseconds;
        BsonDocument[] updates =
            [.. held.Select(name => Update(OwnLease(name), BsonDocument.Of(("$set", BsonDocument.Of(("writer.until", Time(until)))))))];
        if (connection.RunCommand(database, BsonDocument.Of(("update", WireCollection.MarkerCollection), ("updates", updates))).FindInt64(
            "n") == held.Length)
            return;
        foreach (string name in held)
            Recover(connection, name);
    }

    /// <summary>Gives all back; markers that only named the writer go.</summary>
    public void Release(MongoConnection connection)
    {
        string[] held = Held();
        lock (_lock)
            _held.Clear();
        if (held.Length == 0)
            return;
        connection.RunCommand(database, BsonDocument.Of(
            ("update", WireCollection.MarkerCollection),
            ("updates",
                held.Select(name => Update(OwnLease(name), BsonDocument.Of(("$unset", BsonDocument.Of(("writer", "")))))).ToArray())));
        connection.RunCommand(database, BsonDocument.Of(
            ("delete", WireCollection.MarkerCollection),
            ("deletes", held.Select(name => BsonDocument.Of(
                ("q", BsonDocument.Of(("_id", name), ("program", IsThere(false)), ("writer", IsThere(false)))), ("limit", 1))).ToArray())));
    }

    /// <summary>What takes a collection's marker away and leaves its lease: the collection is made again at once.</summary>
    internal BsonDocument ForgetCollection(string collection)
    {
        BsonDocument fields = BsonDocument.Of([.. Fields.Select(field => (field, (object?)""))]);
        return BsonDocument.Of(
            ("update", WireCollection.MarkerCollection),
            ("updates", new[] { Update(BsonDocument.Of(("_id", collection)), BsonDocument.Of(("$unset", fields))) }));
    }

    /// <summary>Whether a marker names a writer whose time has not passed.</summary>
    internal static bool IsHeld(MongoConnection connection, BsonDocument marker) =>
        marker.FindInt64("writer.until") is { } until && until > ServerClock.ReadTime(connection);

    /// <summary>Takes a collection's marker away, and its lease with it.</summary>
    /// <param name="connection">A connection to the server or router.</param>
    /// <param name="collection">Its name.</param>
    internal void Forget(MongoConnection connection, string collection)
    {
        lock (_lock)
            _held.Remove(collection);
        connection.RunCommand(database, BsonDocument.Of(
            ("delete", WireCollection.MarkerCollection),
            ("deletes", new[] { BsonDocument.Of(("q", OwnLease(collection)), ("limit", 1)) })));
    }

    private string[] Held()
    {
        lock (_lock)
            return [.. _held];
    }

    /// <summary>A marker that is gone, or names nobody, was dropped with its collection: then it is taken again.</summary>
    private void Recover(MongoConnection connection, string collection)
    {
        try
        {
            if (FindMarker(connection, collection)?.FindString("writer.session") != _session)
                Take(connection, collection);
        }
        catch (CollectionBusyException)
        {
            _lost = $"{database}.{collection} was taken over by {Describe(FindMarker(connection, collection)?.FindDocument("writer"))}: "
                + "this run's lease had expired";
        }
    }

    private BsonDocument? FindMarker(MongoConnection connection, string collection) =>
        WireCollection.FindMarker(connection, database, collection);

    private bool MayTake(BsonDocument writer, long now)
    {
        if (writer.FindString("session") == _session)
            return true;
        long left = (writer.FindInt64("until") ?? 0) - now;
        return left <= 0 || left > MostLengths * Math.Max(LengthMilliseconds, 60_000) || IsThisRunsGoneProcess(writer);
    }

    /// <summary>The run itself, killed on this machine: nobody writes any more.</summary>
    private bool IsThisRunsGoneProcess(BsonDocument writer) =>
        token is not null && writer.FindString("token") == token && writer.FindString("host") == Environment.MachineName
        && !new WriterProcess(
            (int)(writer.FindInt64("process") ?? 0), writer.FindInt64("started") ?? 0, writer.FindString("boot") ?? "").IsAlive;

    /// <returns>False when somebody was faster.</returns>
    private bool TryWrite(MongoConnection connection, string collection, BsonDocument? marker, long now)
    {
        // Of a document what changes with each lease; anything else that has the name is nobody's lease.
        string[] read = marker?.FindDocument("writer") is null ? ["writer"] : ["writer.session", "writer.until"];
        (string Name, object? Value)[] asRead =
            [.. read.Select(field => (field, marker?.Find(field) is { } value ? (object?)value : IsThere(false)))];
        BsonDocument update = BsonDocument.Of(
            ("q", BsonDocument.Of([("_id", collection), .. asRead])),
            ("u", BsonDocument.Of(("$set", BsonDocument.Of(("writer", Writer(now)))))),
            ("upsert", marker is null));
        BsonDocument reply = connection.RunUnchecked(database, BsonDocument.Of(
            ("update", WireCollection.MarkerCollection),
            ("updates", new[] { update }),
            ("writeConcern", BsonDocument.Of(("w", 1), ("j", true)))));
        if (!reply.IsTrue("ok"))
            throw new ServerCommandException("update", ServerError.From(reply));
        if (reply.FindDocument("writeErrors.0") is { } wrong)
            return ServerError.From(wrong) is { Code: ServerError.DuplicateKey } ? false
                : throw new ServerCommandException("update", ServerError.From(wrong));
        return reply.FindInt64("n") == 1;
    }

    private BsonDocument Writer(long now) => BsonDocument.Of(
        ("run", runId),
        ("host", Environment.MachineName),
        ("process", WriterProcess.Current.Id),
        ("started", WriterProcess.Current.StartTicks),
        ("boot", WriterProcess.Current.Boot),
        ("token", token),
        ("session", _session),
        ("until", Time(now + LengthMilliseconds)));

    private BsonDocument OwnLease(string collection) => BsonDocument.Of(("_id", collection), ("writer.session", _session));

    private static BsonDocument Update(BsonDocument filter, BsonDocument change) => BsonDocument.Of(("q", filter), ("u", change));

    private static BsonDocument IsThere(bool isThere) => BsonDocument.Of(("$exists", isThere));

    private static DateTime Time(long milliseconds) => DateTimeOffset.FromUnixTimeMilliseconds(milliseconds).UtcDateTime;

    private CollectionBusyException Busy(string collection, BsonDocument? writer, long now)
    {
        double left = Math.Max(1, ((writer?.FindInt64("until") ?? now) - now) / 1000.0);
        return new CollectionBusyException(
            $"{database}.{collection} is being written by {Describe(writer)}",
            $"wait for that run, or use another --db or collection; if it was killed, its lease ends in {Math.Ceiling(left):0} s");
    }

    /// <summary>What a server says is shown at a sensible length.</summary>
    private static string Describe(BsonDocument? writer) => writer is null
        ? "another run"
        : $"run {NameOf(writer, "run")} (host {NameOf(writer, "host")}, process {writer.FindInt64("process")?.ToString() ?? "?"})";

    private static string NameOf(BsonDocument writer, string field) =>
        writer.FindString(field) is { } name ? ForeignText.OneLine(name, LongestName) : "?";
}

using MongoPerf.Load.Failures;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>
/// Sees which shards answer, beside the operations: a router keeps its clients waiting for one that is away, and they see
/// nothing but a slow reply.
/// </summary>
/// <remarks>
/// One thread at a time. A shard that could not be reached from here at the beginning is none that went away, and is asked no more.
/// </remarks>
/// <param name="cluster">Where its parts are now.</param>
/// <param name="refresh">Looks again where they are: called when a primary is none any more, or does not answer.</param>
/// <param name="settings">As clients connect; nothing that is asked here takes a login.</param>
/// <param name="clock">Time.</param>
/// <param name="report">Gets an event "outage" with its length when a shard answers again.</param>
public sealed class ShardWatch(
    Func<ShardedCluster?> cluster, Action refresh, ConnectionSettings settings, IClock clock, Action<RunEvent> report) : IDisposable
{
    private const int FirstTries = 3;

    // By its old name, which every version and every role answers without a login.
    private static readonly BsonDocument Hello = BsonDocument.Of(("isMaster", 1));

    private readonly ConnectionSettings _settings = settings.ConnectingWithin(TimeSpan.FromSeconds(2)) with
    {
        Dialect = CommandDialect.Plain, ReplyTimeout = TimeSpan.FromSeconds(10), Credential = null,
    };

    private readonly Dictionary<string, Watched> _shards = [];

    /// <summary>
    /// Asks every shard once, and where its primary is gone, whoever has taken over. Never throws for one that does not answer.
    /// </summary>
    public void Look()
    {
        ShardAddress[] missing = [.. (cluster()?.Shards ?? []).Where(shard => !Ask(shard))];
        if (missing.Length == 0)
            return;
        refresh();
        foreach (ShardAddress shard in (cluster()?.Shards ?? []).Except(missing).Where(shard => missing.Any(one => one.Name == shard.Name)))
            Ask(shard);
    }

    /// <returns>False when a shard that has answered before has no primary there now.</returns>
    private bool Ask(ShardAddress shard)
    {
        if (!_shards.TryGetValue(shard.Name, out Watched? watched))
            _shards[shard.Name] = watched = new Watched();
        if (watched is { AnsweredAt: null, Misses: FirstTries })
            return true;
        try
        {
            watched.Ask(shard.Primary, _settings);
            NoteAnswer(shard, watched);
            return true;
        }
        catch (Exception e) when (ErrorTally.BreaksConnection(e) || e is ServerCommandException)
        {
            watched.Dispose();
            watched.Misses++;
            if (watched.AnsweredAt is { } last && watched.AwaySince is null)
                (watched.AwaySince, watched.Why) = (last, e.Message);
            return watched.AnsweredAt is null;
        }
    }

    /// <summary>An outage that lasts is told as well.</summary>
    public void Dispose()
    {
        foreach ((string name, Watched watched) in _shards)
        {
            Notify(name, watched, null);
            watched.Dispose();
        }
    }

    private void NoteAnswer(ShardAddress shard, Watched watched)
    {
        Notify(shard.Name, watched, shard.Primary);
        watched.AwaySince = null;
        watched.AnsweredAt = clock.Now;
        watched.Primary = shard.Primary;
    }

    /// <param name="name">Of the shard.</param>
    /// <param name="watched">What is known of it; nothing is told of one that is not away.</param>
    /// <param name="primary">Who answers now; null when nobody does as the run ends.</param>
    private void Notify(string name, Watched watched, ServerAddress? primary)
    {
        if (watched.AwaySince is not { } since)
            return;
        double seconds = clock.SecondsBetween(since, clock.Now);
        string what =
            primary is null ? $"shard {name} did not answer ({watched.Why}) and was still down when the run ended, after {seconds:0.0} s"
                : primary == watched.Primary ? $"shard {name} did not answer ({watched.Why}) and was back after {seconds:0.0} s"
                : $"shard {name}: primary {watched.Primary} → {primary}, no primary for {seconds:0.0} s ({watched.Why})";
        report(new RunEvent(clock.UtcNow.ToUnixTimeMilliseconds(), "outage", what, seconds));
    }

    private sealed class Watched : IDisposable
    {
        private MongoConnection? _connection;

        /// <summary>Ticks; null when it never did.</summary>
        public long? AnsweredAt { get; set; }

        /// <summary>Its last answer before it fell silent, ticks; null while it answers.</summary>
        public long? AwaySince { get; set; }

        public string? Why { get; set; }

        /// <summary>Who answered last.</summary>
        public ServerAddress? Primary { get; set; }

        public int Misses { get; set; }

        /// <exception cref="ConnectionFailedException">It does not answer.</exception>
        public void Ask(ServerAddress address, ConnectionSettings settings)
        {
            // Another member may be the primary by now: that is no outage.
            if (_connection is not null && _connection.Address != address)
                Dispose();
            bool isPrimary;
            if (_connection is null)
                isPrimary = (_connection = MongoConnection.Open(address, settings)).Server.IsWritablePrimary;
            else
                isPrimary = _connection.RunCommand("admin", Hello).IsTrue("ismaster");
            if (!isPrimary)
                throw new ConnectionFailedException(address, "it is not the primary any more");
        }

        public void Dispose()
        {
            _connection?.Dispose();
            _connection = null;
        }
    }
}

using MongoPerf.Engine.Failures;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Sharding;

/// <summary>Sees which shards answer, beside the operations: a router keeps its clients waiting for one that is away, and they see nothing but a slow reply.</summary>
/// <remarks>One thread at a time. A shard that could not be reached from here at the beginning is none that went away, and is asked no more.</remarks>
/// <param name="cluster">Where its parts are now.</param>
/// <param name="settings">As clients connect.</param>
/// <param name="clock">Time.</param>
/// <param name="report">Gets an event "outage" with its length when a shard answers again.</param>
public sealed class ShardWatch(Func<ShardedCluster?> cluster, ConnectionSettings settings, IClock clock, Action<RunEvent> report) : IDisposable
{
    private const int FirstTries = 3;

    private static readonly BsonDocument Ping = BsonDocument.Of(("ping", 1));

    private readonly ConnectionSettings _settings = settings.ConnectingWithin(TimeSpan.FromSeconds(2)) with { Dialect = CommandDialect.Plain, ReplyTimeout = TimeSpan.FromSeconds(10) };
    private readonly Dictionary<string, Watched> _shards = [];

    /// <summary>Asks every shard once. Never throws for one that does not answer.</summary>
    public void Look()
    {
        foreach (ShardAddress shard in cluster()?.Shards ?? [])
        {
            if (!_shards.TryGetValue(shard.Name, out Watched? watched))
                _shards[shard.Name] = watched = new Watched();
            if (watched is { AnsweredAt: null, Misses: FirstTries })
                continue;
            try
            {
                watched.Ask(shard.Primary, _settings);
                NoteAnswer(shard.Name, watched);
            }
            catch (Exception e) when (ErrorTally.BreaksConnection(e) || e is ServerCommandException)
            {
                watched.Dispose();
                watched.Misses++;
                if (watched.AnsweredAt is { } last && watched.AwaySince is null)
                    (watched.AwaySince, watched.Why) = (last, e.Message);
            }
        }
    }

    /// <summary>An outage that lasts is told as well.</summary>
    public void Dispose()
    {
        foreach ((string name, Watched watched) in _shards)
        {
            Tell(name, watched, "and was still down when the run ended, after");
            watched.Dispose();
        }
    }

    private void NoteAnswer(string name, Watched watched)
    {
        Tell(name, watched, "and was back after");
        watched.AwaySince = null;
        watched.AnsweredAt = clock.Now;
    }

    private void Tell(string name, Watched watched, string how)
    {
        if (watched.AwaySince is not { } since)
            return;
        double seconds = clock.SecondsBetween(since, clock.Now);
        report(new RunEvent(clock.UtcNow.ToUnixTimeMilliseconds(), "outage", $"shard {name} did not answer ({watched.Why}) {how} {seconds:0.0} s", seconds));
    }

    private sealed class Watched : IDisposable
    {
        private MongoConnection? _connection;

        /// <summary>Ticks; null when it never did.</summary>
        public long? AnsweredAt { get; set; }

        /// <summary>Its last answer before it fell silent, ticks; null while it answers.</summary>
        public long? AwaySince { get; set; }

        public string? Why { get; set; }

        public int Misses { get; set; }

        /// <exception cref="ConnectionFailedException">It does not answer.</exception>
        public void Ask(ServerAddress address, ConnectionSettings settings)
        {
            // Another member may be the primary by now: that is no outage.
            if (_connection is not null && _connection.Address != address)
                Dispose();
            if (_connection is null)
                _connection = MongoConnection.Open(address, settings);
            else
                _connection.RunCommand("admin", Ping);
        }

        public void Dispose()
        {
            _connection?.Dispose();
            _connection = null;
        }
    }
}

using MongoPerf.Load.Failures;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Sharding;

/// <summary>A replica set of a deployment: a shard, or the set that it is.</summary>
/// <param name="Title">Such as "shard s0".</param>
/// <param name="Primary">The member that takes writes, as far as is known.</param>
public sealed record WatchedSet(string Title, ServerAddress Primary)
{
    /// <summary>Who else may have become the primary, where nobody says; empty for who is found by looking again.</summary>
    public IReadOnlyList<ServerAddress> Members { get; init; } = [];

    /// <param name="cluster">Null for none.</param>
    public static IReadOnlyList<WatchedSet> Of(ShardedCluster? cluster) =>
        [.. (cluster?.Shards ?? []).Select(shard => new WatchedSet($"shard {shard.Name}", shard.Primary))];

    /// <param name="cluster">Null for none.</param>
    /// <returns>The config server; none where it is not known.</returns>
    public static IReadOnlyList<WatchedSet> OfConfig(ShardedCluster? cluster) =>
        cluster is { ConfigMembers: [var first, ..] members } ? [new WatchedSet("config server", first) { Members = members }] : [];
}

/// <summary>
/// Sees which replica sets have a primary, beside the operations: a router keeps its clients waiting for a shard without one, and they see
/// nothing but a slow reply.
/// </summary>
/// <remarks>
/// One thread at a time. A set that could not be reached from here at the beginning is none that went away, and is asked no more.
/// </remarks>
/// <param name="sets">Where they are now.</param>
/// <param name="refresh">Looks again where they are: called when a primary is none any more, or does not answer.</param>
/// <param name="settings">As clients connect; nothing that is asked here takes a login.</param>
/// <param name="clock">Time.</param>
/// <param name="report">Gets an event with its length when a set has a primary again.</param>
/// <param name="kind">The kind of that event.</param>
public sealed class PrimaryWatch(
    Func<IReadOnlyList<WatchedSet>> sets, Action refresh, ConnectionSettings settings, IClock clock, Action<RunEvent> report,
    string kind = RunEvent.Outage) : IDisposable
{
    private const int FirstTries = 3;

    // By its old name, which every version and every role answers without a login.
    private static readonly BsonDocument Hello = BsonDocument.Of(("isMaster", 1));

    private readonly ConnectionSettings _settings =
        settings.ConnectingWithin(TimeSpan.FromSeconds(2)).ForHello() with { ReplyTimeout = TimeSpan.FromSeconds(10) };

    private readonly Dictionary<string, Watched> _sets = [];

    /// <summary>
    /// Asks every primary once, and where one is gone, whoever has taken over. Never throws for one that does not answer.
    /// </summary>
    public void Look()
    {
        WatchedSet[] missing = [.. sets().Where(set => !Ask(set))];
        if (missing.Length == 0)
            return;
        refresh();
        foreach (WatchedSet set in sets().Except(missing).Where(set => missing.Any(one => one.Title == set.Title)))
            Ask(set);
    }

    /// <returns>False when a set that has answered before has no primary there now.</returns>
    private bool Ask(WatchedSet set)
    {
        if (!_sets.TryGetValue(set.Title, out Watched? watched))
            _sets[set.Title] = watched = new Watched();
        if (watched is { AnsweredAt: null, Misses: FirstTries })
            return true;
        try
        {
            ServerAddress primary = watched.Ask(set, _settings);
            NoteAnswer(set with { Primary = primary }, watched);
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
        foreach ((string title, Watched watched) in _sets)
        {
            Notify(title, watched, null);
            watched.Dispose();
        }
    }

    private void NoteAnswer(WatchedSet set, Watched watched)
    {
        Notify(set.Title, watched, set.Primary);
        watched.AwaySince = null;
        watched.AnsweredAt = clock.Now;
        watched.Primary = set.Primary;
    }

    /// <param name="title">Of the set.</param>
    /// <param name="watched">What is known of it; nothing is told of one that is not away.</param>
    /// <param name="primary">Who answers now; null when nobody does as the run ends.</param>
    private void Notify(string title, Watched watched, ServerAddress? primary)
    {
        if (watched.AwaySince is not { } since)
            return;
        double seconds = clock.SecondsBetween(since, clock.Now);
        string what =
            primary is null ? $"{title} did not answer ({watched.Why}) and was still down when the run ended, after {seconds:0.0} s"
                : primary == watched.Primary ? $"{title} did not answer ({watched.Why}) and was back after {seconds:0.0} s"
                : $"{title}: primary {watched.Primary} → {primary}, no primary for {seconds:0.0} s ({watched.Why})";
        report(new RunEvent(clock.UtcNow.ToUnixTimeMilliseconds(), kind, what, seconds));
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

        /// <returns>Who is the primary.</returns>
        /// <exception cref="ConnectionFailedException">Nobody answers as one; the first that was asked says why.</exception>
        public ServerAddress Ask(WatchedSet set, ConnectionSettings settings)
        {
            ServerAddress first = set.Members.Count > 0 ? Primary ?? set.Primary : set.Primary;
            try
            {
                Ask(first, settings);
                return first;
            }
            catch (Exception e) when (set.Members.Count > 1 && (ErrorTally.BreaksConnection(e) || e is ServerCommandException))
            {
                foreach (ServerAddress other in set.Members.Where(member => member != first))
                {
                    try
                    {
                        Ask(other, settings);
                        return other;
                    }
                    catch (Exception none) when (ErrorTally.BreaksConnection(none) || none is ServerCommandException)
                    {
                        Dispose();
                    }
                }

                throw;
            }
        }

        private void Ask(ServerAddress address, ConnectionSettings settings)
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

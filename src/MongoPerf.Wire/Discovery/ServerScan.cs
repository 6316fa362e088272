using System.Collections.Concurrent;
using System.Diagnostics;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Wire.Discovery;

/// <summary>
/// Looks at servers, and at those that they name as members of their set: all at once, without a login, by connections of its own.
/// </summary>
/// <param name="settings">How to connect; no credential is sent, and nobody is waited for without end.</param>
internal sealed class ServerScan(ConnectionSettings settings)
{
    /// <summary>One round trip may have been held up by anything; the least of a few is the way's.</summary>
    private const int Pings = 3;

    /// <summary>How much of a server's age the newest round trip changes. Source: server-selection.md, "round trip times".</summary>
    private const double NewestWeight = 0.2;

    /// <summary>A server that does not answer must not hold up those who wait for one that does.</summary>
    private static readonly TimeSpan LeastPatience = TimeSpan.FromSeconds(3);

    private readonly ConnectionSettings _settings = settings with
    {
        ConnectTimeout = settings.ConnectTimeout > TimeSpan.Zero ? settings.ConnectTimeout : ConnectionSettings.Default.ConnectTimeout,
        ReplyTimeout = settings.ConnectTimeout > TimeSpan.Zero ? settings.ConnectTimeout : ConnectionSettings.Default.ConnectTimeout,
        Credential = null,
        RequiredSetName = null,
        CompressorNames = [],
        ApplicationName = settings.ApplicationName + " monitor",
    };

    /// <param name="start">Where to begin.</param>
    /// <param name="earlier">What the last look found; empty at first.</param>
    /// <returns>What each server said that was asked, in the order in which they became known.</returns>
    public IReadOnlyList<ServerDescription> Run(IEnumerable<ServerAddress> start, IReadOnlyList<ServerDescription> earlier)
    {
        var asked = new List<ServerAddress>();
        var found = new Dictionary<ServerAddress, ServerDescription>();
        // Not disposed of: who answers too late still puts its answer there.
        var answers = new BlockingCollection<ServerDescription>();
        long begun = Stopwatch.GetTimestamp();
        TimeSpan? limit = null;
        Ask(start);
        while (found.Count < asked.Count)
        {
            TimeSpan left = limit is { } end ? end - Stopwatch.GetElapsedTime(begun) : Timeout.InfiniteTimeSpan;
            if (!answers.TryTake(out ServerDescription? answer, limit is not null && left < TimeSpan.Zero ? TimeSpan.Zero : left))
                break;
            found[answer.Address] = Continue(answer, Last(answer.Address));
            if (!settings.IsDirect)
                Ask(answer.Hello?.Members.Select(ServerAddress.TryParse).OfType<ServerAddress>() ?? []);
            if (answer.Kind is ServerKind.Primary or ServerKind.Mongos)
                limit ??= Later(LeastPatience, 3 * Stopwatch.GetElapsedTime(begun));
        }

        return [.. asked.Select(address => found.GetValueOrDefault(address) ?? Continue(Silent(address), Last(address)))];

        ServerDescription? Last(ServerAddress address) => earlier.FirstOrDefault(server => server.Address == address);

        void Ask(IEnumerable<ServerAddress> servers)
        {
            foreach (ServerAddress server in servers.Where(server => !asked.Contains(server)))
            {
                asked.Add(server);
                // Threads of their own: they block, and the pool has few.
                Task.Factory.StartNew(() => answers.Add(Describe(server)), CancellationToken.None,
                    TaskCreationOptions.LongRunning, TaskScheduler.Default);
            }
        }
    }

    private static TimeSpan Later(TimeSpan one, TimeSpan other) => one > other ? one : other;

    private static ServerDescription Silent(ServerAddress address) =>
        ServerDescription.Unreachable(address, new ConnectionFailedException(address, "no answer while others answered"));

    /// <summary>What is remembered of a server is kept.</summary>
    private static ServerDescription Continue(ServerDescription now, ServerDescription? last)
    {
        if (now.Kind == ServerKind.Unknown)
            return now with { Earlier = last?.Kind == ServerKind.Unknown ? last.Earlier : last };
        return last is null or { Kind: ServerKind.Unknown } ? now
            : now with { RoundTripTime = (NewestWeight * now.RoundTripTime) + ((1 - NewestWeight) * last.RoundTripTime) };
    }

    private ServerDescription Describe(ServerAddress address)
    {
        try
        {
            using MongoConnection connection = MongoConnection.Open(address, _settings);
            TimeSpan least = TimeSpan.MaxValue;
            for (int i = 0; i < Pings; i++)
            {
                long sent = Stopwatch.GetTimestamp();
                connection.RunUnchecked("admin", BsonDocument.Of(("ping", 1)));
                TimeSpan taken = Stopwatch.GetElapsedTime(sent);
                least = taken < least ? taken : least;
            }

            return ServerDescription.From(address, connection.Server) with { RoundTripTime = least };
        }
        catch (Exception e)
        {
            // Whatever it is: on a thread of its own nobody would hear of it.
            return ServerDescription.Unreachable(address, e);
        }
    }
}

using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Sampling;

/// <summary>A sampler's own connection: opened when it is needed, and left alone for a while after it failed.</summary>
/// <remarks>
/// One thread. After a failure the first attempt comes 0.25 s later, then twice as long each time up to <paramref name="longestPause"/>.
/// </remarks>
/// <param name="address">Asked before each attempt to connect: a server that was started again may listen elsewhere.</param>
/// <param name="settings">The settings as the run's connections have them; its time limits are replaced.</param>
/// <param name="longestPause">The longest pause, between two attempts.</param>
public sealed class SamplerConnection(Func<ServerAddress> address, ConnectionSettings settings, TimeSpan longestPause) : IDisposable
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(250);

    private readonly ConnectionSettings _settings = settings with
    {
        ConnectTimeout = TimeSpan.FromSeconds(3),
        ReplyTimeout = TimeSpan.FromSeconds(10),
        ApplicationName = settings.ApplicationName + " sampler",
    };

    private MongoConnection? _connection;
    private TimeSpan _pause;
    private long _nextAttempt;

    /// <summary>Where it connected last; empty before the first attempt.</summary>
    public string Address { get; private set; } = "";

    /// <summary>What a sampler survives.</summary>
    public static bool IsFailure(Exception e) =>
        e is IOException or BsonFormatException or ServerCommandException or ServerTooOldException or DeploymentException;

    /// <returns><paramref name="otherwise"/> when it fails, or while it is left alone.</returns>
    public T Ask<T>(T otherwise, Func<MongoConnection, T> ask)
    {
        try
        {
            return Connect() is { } open ? ask(open) : otherwise;
        }
        catch (Exception e) when (IsFailure(e))
        {
            Fail();
            return otherwise;
        }
    }

    public void Dispose() => _connection?.Dispose();

    private MongoConnection? Connect()
    {
        if (_connection is not null || Environment.TickCount64 < _nextAttempt)
            return _connection;
        ServerAddress server = address();
        Address = server.ToString();
        _connection = MongoConnection.Open(server, _settings);
        _pause = TimeSpan.Zero;
        return _connection;
    }

    private void Fail()
    {
        _connection?.Dispose();
        _connection = null;
        TimeSpan doubled = 2 * _pause;
        _pause = _pause == TimeSpan.Zero ? FirstPause : doubled < longestPause ? doubled : longestPause;
        _nextAttempt = Environment.TickCount64 + (long)_pause.TotalMilliseconds;
    }
}

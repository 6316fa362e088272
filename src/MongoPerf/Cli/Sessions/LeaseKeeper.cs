using MongoPerf.Deployments.Sampling;
using MongoPerf.Engine.Collections;
using MongoPerf.Engine.Measurement;
using MongoPerf.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Cli.Sessions;

/// <summary>Renews a run's leases as long as it continues, on a thread and a connection of its own, and gives them back at its end.</summary>
/// <remarks>Every ten seconds two small commands. While the server is away it is tried again once a second.</remarks>
internal sealed class LeaseKeeper : IDisposable
{
    /// <summary>Another length than thirty seconds, such as 3s; for tests.</summary>
    private const string Variable = "MONGOPERF_LEASE";

    private const double DefaultSeconds = 30;

    private readonly WriterLeases _leases;
    private readonly IClock _clock;
    private readonly SamplerConnection _connection;
    private readonly IDisposable _timer;

    /// <param name="leases">Of the run; maybe none yet.</param>
    /// <param name="address">Of the server or router, asked at each attempt to connect.</param>
    /// <param name="connections">How clients connect.</param>
    /// <param name="clock">Real time.</param>
    public LeaseKeeper(WriterLeases leases, Func<ServerAddress> address, ConnectionSettings connections, IClock clock)
    {
        _leases = leases;
        _clock = clock;
        _connection = new SamplerConnection(address, connections, longestPause: TimeSpan.FromSeconds(1));
        _timer = clock.Schedule(clock.Now + clock.TicksOf(leases.RenewEvery.TotalSeconds), () => clock.Now + clock.TicksOf(Renew()));
    }

    /// <exception cref="UserException">The environment names no length.</exception>
    public static TimeSpan Length
    {
        get
        {
            try
            {
                double seconds = Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } text ? Quantities.ParseDuration(text) : DefaultSeconds;
                return seconds > 0 ? TimeSpan.FromSeconds(seconds) : throw new FormatException("it is 0");
            }
            catch (FormatException e)
            {
                throw new UserException(ExitCode.WrongUsage, $"{Variable}: {e.Message}");
            }
        }
    }

    public void Dispose()
    {
        _timer.Dispose();
        Try(_leases.Release);
        _connection.Dispose();
    }

    /// <returns>Seconds until the next time.</returns>
    private double Renew() => Try(_leases.Renew) ? _leases.RenewEvery.TotalSeconds : Math.Min(1, _leases.RenewEvery.TotalSeconds);

    private bool Try(Action<MongoConnection> action)
    {
        try
        {
            // A run that only reads opens no connection for it.
            if (!_leases.HoldsAny)
                return true;
            if (_connection.Connect() is not { } connection)
                return false;
            action(connection);
            return true;
        }
        catch (Exception e) when (SamplerConnection.IsFailure(e))
        {
            _connection.Fail();
            return false;
        }
    }
}

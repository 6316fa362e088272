using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Collections;
using MongoPerf.Measurement;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Renews a run's leases as long as it continues, on a thread and a connection of its own, and gives them back at its end.
/// </summary>
/// <remarks>Every ten seconds two small commands. While the server is away it is tried again once a second.</remarks>
internal sealed class LeaseKeeper : IDisposable
{
    /// <summary>Another length than thirty seconds, such as 3s; for tests.</summary>
    private const string Variable = "MONGOPERF_LEASE";

    private const double DefaultSeconds = 30;

    private readonly WriterLeases _leases;
    private readonly Func<ServerAddress> _address;
    private readonly ConnectionSettings _atEnd;
    private readonly SamplerConnection _connection;
    private readonly IDisposable _timer;

    /// <param name="leases">The leases of the run; maybe none yet.</param>
    /// <param name="address">The address of the server or router, asked at each attempt to connect.</param>
    /// <param name="connections">How clients connect.</param>
    /// <param name="clock">Real time.</param>
    public LeaseKeeper(WriterLeases leases, Func<ServerAddress> address, ConnectionSettings connections, IClock clock)
    {
        _leases = leases;
        _address = address;
        _atEnd = connections with
        {
            Stop = CancellationToken.None, ConnectTimeout = TimeSpan.FromSeconds(1), ReplyTimeout = TimeSpan.FromSeconds(1),
        };
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
                double seconds = Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } text
                    ? Quantities.ParseDuration(text)
                    : DefaultSeconds;
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
        _connection.Dispose();
        if (!_leases.HoldsAny)
            return;
        try
        {
            // On a connection of its own: a stop has ended all others.
            using MongoConnection connection = MongoConnection.Open(_address(), _atEnd);
            _leases.Release(connection);
        }
        catch (Exception e) when (SamplerConnection.IsFailure(e))
        {
            // They expire.
        }
    }

    /// <returns>Seconds until the next time.</returns>
    private double Renew()
    {
        double regularly = _leases.RenewEvery.TotalSeconds;
        // A run that only reads opens no connection for it.
        return !_leases.HoldsAny ? regularly : _connection.Ask(Math.Min(1, regularly), connection =>
        {
            _leases.Renew(connection);
            return regularly;
        });
    }
}

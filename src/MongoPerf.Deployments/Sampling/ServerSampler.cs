using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Reads <see cref="MetricCatalogue.Server"/> from one server's serverStatus, over a connection of its own.</summary>
/// <remarks>
/// One thread, which waits while the server answers (at most 10 s): give it one of its own. Never throws: while the server is away all
/// columns are NaN, and it is tried again after 0.25 s, then twice as long each time up to a
/// second: what a server does when it is back is what people look for.
/// </remarks>
/// <param name="address">Asked before each attempt to connect: a server that was started again may listen elsewhere.</param>
/// <param name="settings">The settings as the run's connections have them; its time limits are replaced.</param>
/// <param name="holdsData">False for a router and a config server: what their storage does is nothing of the data's, and reads NaN.</param>
public sealed class ServerSampler(Func<ServerAddress> address, ConnectionSettings settings, bool holdsData = true) : IServerSampler
{
    private static readonly int[] OfStorage =
    [
        .. Enumerable.Range(0, MetricCatalogue.Server.Count)
            .Where(static column => MetricCatalogue.Server[column].Path.StartsWith("wiredTiger.", StringComparison.Ordinal)),
    ];

    private static readonly byte[] Request = new OpMsgWriter()
        .WriteCommand("admin", ServerStatusRequest.WithStorage, requestId: 1).ToArray();

    private readonly SamplerConnection _connection = new(address, settings, longestPause: TimeSpan.FromSeconds(1));

    private readonly CounterClock _clock = new();

    public MetricSample Sample()
    {
        var values = new double[MetricCatalogue.Server.Count];
        Array.Fill(values, double.NaN);
        double uptime = _connection.Ask(double.NaN, connection =>
        {
            ReadOnlySpan<byte> reply = OpMsg.Parse(connection.RoundTrip(Request)).Body;
            StatusTree.Catalogue.Fill(reply, values);
            return StatusTree.FindUptimeMilliseconds(reply);
        });
        long receivedAt = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        foreach (int column in holdsData ? [] : OfStorage)
            values[column] = double.NaN;
        return new MetricSample(_clock.At(uptime, receivedAt), _connection.Address, values);
    }

    public void Dispose() => _connection.Dispose();
}

using System.Globalization;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Running.Systems;

/// <summary>
/// Reads what Tokyo Tyrant's stat says, over a connection of its own, into the columns of a server's metrics that it has a word for.
/// </summary>
/// <remarks>One thread. Never throws: while the server is away all columns are NaN, and each sample tries again.</remarks>
internal sealed class TyrantSampler(Func<ServerAddress> address, ConnectionSettings settings) : IServerSampler
{
    private static readonly (int Column, string Name, double Factor)[] Columns =
    [
        (Column("mem_resident"), "memrss", 1.0 / (1 << 20)),
        (Column("mem_virtual"), "memsize", 1.0 / (1 << 20)),
        (Column("server_user_time"), "ru_user", 1e6),
        (Column("server_system_time"), "ru_sys", 1e6),
        (Column("opcounters_insert"), "cnt_putnr", 1),
        (Column("opcounters_command"), "cnt_misc", 1),
    ];

    private readonly ConnectionSettings _settings = settings with
    {
        ConnectTimeout = TimeSpan.FromSeconds(3), ReplyTimeout = TimeSpan.FromSeconds(10),
    };

    private readonly CounterClock _clock = new();
    private TyrantConnection? _connection;
    private string _member = "";

    public MetricSample Sample()
    {
        var values = new double[MetricCatalogue.Server.Count];
        Array.Fill(values, double.NaN);
        double seconds = double.NaN;
        try
        {
            TyrantStatus status = Connect().ReadStatus();
            seconds = Number(status, "time");
            foreach ((int column, string name, double factor) in Columns)
                values[column] = Number(status, name) * factor;
        }
        catch (Exception e) when (e is IOException or TyrantServerException)
        {
            _connection?.Dispose();
            _connection = null;
        }

        return new MetricSample(_clock.At(seconds * 1000, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()), _member, values);
    }

    public void Dispose() => _connection?.Dispose();

    private TyrantConnection Connect()
    {
        if (_connection is null)
        {
            ServerAddress server = address();
            _member = server.ToString();
            _connection = TyrantConnection.Open(server, _settings);
        }

        return _connection;
    }

    private static double Number(TyrantStatus status, string name) =>
        double.TryParse(status.Find(name), NumberStyles.Float, CultureInfo.InvariantCulture, out double value) ? value : double.NaN;

    private static int Column(string name) => MetricCatalogue.IndexOf(MetricCatalogue.Server, name);
}

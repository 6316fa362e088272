using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Cli.Sessions;

/// <summary>Reads <c>--uri</c>: what can't be done with it yet is refused, never ignored in silence.</summary>
internal static class ServerUri
{
    /// <exception cref="ConnectionStringException">Not a connection string.</exception>
    /// <exception cref="UserException">It asks for something that is not supported yet.</exception>
    public static (IReadOnlyList<ServerAddress> Hosts, ConnectionSettings Settings) Read(string uri)
    {
        ConnectionString parsed = Parse(uri);
        foreach (string warning in parsed.Warnings)
            Console.Error.WriteLine($"warning: --uri: {warning}");
        if (parsed.W is not null || parsed.Journal is not null)
            Console.Error.WriteLine("warning: --uri: w and journal are ignored: each test sets its own write concern (--journal asks for j:true)");
        foreach (string option in parsed.OptionsWithoutEffect())
            Console.Error.WriteLine($"warning: --uri: {option} has no effect: each thread has one connection of its own");
        return (parsed.Hosts, ConnectionSettings.Default with
        {
            ConnectTimeout = parsed.ConnectTimeout,
            ReplyTimeout = parsed.SocketTimeout > TimeSpan.Zero ? parsed.SocketTimeout : ConnectionSettings.Default.ReplyTimeout,
            ApplicationName = parsed.AppName ?? ConnectionSettings.Default.ApplicationName,
        });
    }

    /// <summary>The server that <c>tyrant://</c> names; null for any other connection string.</summary>
    /// <exception cref="ConnectionStringException">It names none.</exception>
    public static ServerAddress? ReadTyrant(string uri) => TyrantUri.IsOne(uri) ? TyrantUri.Parse(uri) : null;

    /// <summary>For what is stored and shown: secrets replaced by ***.</summary>
    /// <inheritdoc cref="Read"/>
    public static string Mask(string uri) => ReadTyrant(uri) is { } tyrant ? TyrantUri.Scheme + tyrant : Parse(uri).ToMaskedString();

    private static ConnectionString Parse(string uri)
    {
        ConnectionString parsed = ConnectionString.Parse(uri.Contains("://", StringComparison.Ordinal) ? uri : "mongodb://" + uri);
        return parsed.UnsupportedFeatures().FirstOrDefault() is { } unsupported
            ? throw new UserException(ExitCode.WrongUsage, $"--uri: {unsupported} is not supported yet", "use a deployment that can do without it")
            : parsed;
    }
}

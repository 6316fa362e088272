using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Systems;

/// <summary>
/// Reads the connection string of a MongoDB: what can't be done is refused in one line, and what has no effect here is said; nothing
/// is silently ignored.
/// </summary>
internal static class ServerUri
{
    /// <summary>Looks mongodb+srv up, reads certificates' files; connects to nothing.</summary>
    /// <param name="uri">The connection string as typed.</param>
    /// <param name="engine">The client of the measured operations: the official driver has options and compressors of its own.</param>
    /// <param name="stop">Ends the wait for DNS.</param>
    /// <exception cref="ConnectionStringException">
    /// Not a connection string, DNS does not know it, a file can't be used, or it asks for what can't be done.
    /// </exception>
    public static (IReadOnlyList<ServerAddress> Hosts, ConnectionSettings Settings) Read(
        string uri, EngineKind engine, CancellationToken stop = default)
    {
        ConnectionString named = Parse(uri);
        ConnectionString parsed = Abandonable.Run(() => named.Resolve(), stop);
        foreach (string warning in parsed.Warnings)
            Console.Error.WriteLine($"warning: --uri: {warning}");
        if (engine == EngineKind.Wire)
            WarnOfNoEffect(parsed);
        return (parsed.Hosts, ConnectionSettings.From(parsed));
    }

    /// <summary>The same with the server API that <c>--server-api</c> names, in place of the connection string's.</summary>
    /// <exception cref="UserException">The settings come from elsewhere and name one that there is not.</exception>
    public static ConnectionSettings WithServerApi(ConnectionSettings connections, DeploymentSettings settings)
    {
        try
        {
            return settings.ServerApi is { } text ? connections with { ServerApi = ServerApi.Parse(text) } : connections;
        }
        catch (FormatException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"--server-api: {e.Message}");
        }
    }

    /// <summary>What MongoPerf's own client does not do.</summary>
    private static void WarnOfNoEffect(ConnectionString parsed)
    {
        foreach (string option in parsed.OptionsWithoutEffect())
            Console.Error.WriteLine(
                $"warning: --uri: {option} has no effect: each thread uses its own connection, and failures are counted, not retried");
    }

    /// <summary>
    /// A line for people whose connection string names a database that the run does not use. Null where it names none, the run's, or the
    /// usual one of logins.
    /// </summary>
    /// <param name="uri">The connection string as typed.</param>
    /// <param name="used">The run's.</param>
    public static string? UnusedDatabase(string uri, string used) =>
        Parse(uri).Database is { } named and not ("admin" or "$external") && named != used
            ? $"'/{named}' is used for authentication only; --db chooses the database (now '{used}')"
            : null;

    /// <inheritdoc cref="Read"/>
    public static ConnectionString Parse(string uri)
    {
        var parsed = ConnectionString.Parse(uri.Contains("://", StringComparison.Ordinal) ? uri : "mongodb://" + uri);
        parsed.RequireSupport();
        return parsed;
    }
}

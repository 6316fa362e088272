using MongoDB.Driver;
using MongoPerf.Load.Executors;
using MongoPerf.Load.Phases;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Driver;

/// <summary>The one client of a run, whose pool all its workers share, as the driver's documentation has applications do it.</summary>
internal sealed class DriverSession : IExecutorSource
{
    private readonly MongoClientSettings _settings;
    private readonly Dictionary<GroupPlan, DriverPool> _pools = new(ReferenceEqualityComparer.Instance);

    /// <exception cref="ConnectionStringException">The driver does not take the connection string.</exception>
    public DriverSession(ClientOptions options)
    {
        Options = options;
        _settings = ReadSettings(options);
        Client = new MongoClient(_settings);
    }

    public ClientOptions Options { get; }

    public MongoClient Client { get; }

    public IOperationExecutor OpenExecutor(GroupPlan? group = null) => new DriverExecutor(this, OpenPool(group));

    /// <summary>An executor of a group with a pool needs it no more; with the last one it ends.</summary>
    public void Close(DriverPool pool)
    {
        lock (_pools)
        {
            if (--pool.Users > 0)
                return;
            _pools.Remove(pool.Group);
        }

        pool.Dispose();
    }

    /// <summary>A client with one connection, which everything that it does goes through in order. Belongs to the caller.</summary>
    public MongoClient OpenOrdered()
    {
        MongoClientSettings settings = _settings.Clone();
        settings.MinConnectionPoolSize = 0;
        settings.MaxConnectionPoolSize = 1;
        // Clients of equal settings share their connections; no two of these are equal.
        var own = new object();
        settings.ClusterConfigurator = _ => GC.KeepAlive(own);
        return new MongoClient(settings);
    }

    public void Dispose() => Client.Dispose();

    /// <returns>Null for a group whose threads have a connection each: they use <see cref="Client"/>.</returns>
    private DriverPool? OpenPool(GroupPlan? group)
    {
        if (group?.Connections is null)
            return null;
        lock (_pools)
        {
            if (!_pools.TryGetValue(group, out DriverPool? pool))
                _pools.Add(group, pool = new DriverPool(_settings, group));
            pool.Users++;
            return pool;
        }
    }

    private static MongoClientSettings ReadSettings(ClientOptions options)
    {
        string uri = options.Uri ?? OwnUri(options);
        if (options.Address() is { Port: 0 } socket)
            throw new ConnectionStringException(
                $"MongoDB.Driver can't connect to the unix socket {socket}: name a host and a port, or use --engine wire");
        MongoClientSettings settings = Parse(uri.Contains("://", StringComparison.Ordinal) ? uri : "mongodb://" + uri);
        settings.ApplicationName ??= options.Connections.ApplicationName;
        // Threads that wait for one another's connections would measure the pool's limit; who sets that limit wants to.
        if (!uri.Contains("maxPoolSize=", StringComparison.OrdinalIgnoreCase))
            settings.MaxConnectionPoolSize = Math.Max(settings.MaxConnectionPoolSize, options.Workers);
        if (options.Uri is null && options.Connections.Credential is { UserName: { } user, Password: { } password } own)
            settings.Credential = MongoCredential.CreateCredential(own.Source, user, password);
        if (options.Connections.ServerApi is { } api)
            settings.ServerApi = new MongoDB.Driver.ServerApi(ServerApiVersion.V1, api.IsStrict, api.RefusesDeprecated);
        if (options.Connections.Tls is { } tls)
            UseFiles(settings, tls);
        return settings;
    }

    /// <summary>A server that the run started; of a replica set all members, so that the driver finds a new primary.</summary>
    private static string OwnUri(ClientOptions options) => options.Members.Count > 1
        ? $"mongodb://{string.Join(',', options.Members)}/"
        : $"mongodb://{options.Address()}/?directConnection=true";

    private static MongoClientSettings Parse(string uri)
    {
        try
        {
            return MongoClientSettings.FromConnectionString(uri);
        }
        catch (Exception e) when (e is MongoConfigurationException or FormatException or ArgumentException or NotSupportedException)
        {
            throw new ConnectionStringException($"MongoDB.Driver refuses it{WithoutSecrets(e.Message, uri)}");
        }
    }

    /// <summary>The driver quotes the whole string, password and all.</summary>
    private static string WithoutSecrets(string message, string uri)
    {
        string hosts = uri[(uri.IndexOf("://", StringComparison.Ordinal) + 3)..];
        string login = hosts[..(hosts.LastIndexOf('@') + 1)].TrimEnd('@');
        string shown = message.Replace(uri, "…", StringComparison.Ordinal);
        return login.Length > 0 && login.Split(':').Any(part => part.Length > 0 && shown.Contains(part, StringComparison.Ordinal)) ? ""
            : $": {ForeignText.OneLine(shown, 300)}";
    }

    /// <summary>The driver's connection string knows no files of certificates: applications give it what they read from them.</summary>
    private static void UseFiles(MongoClientSettings settings, TlsSettings tls)
    {
        settings.UseTls = true;
        settings.AllowInsecureTls = false;
        settings.SslSettings = new SslSettings
        {
            ServerCertificateValidationCallback = tls.Check,
            CheckCertificateRevocation = tls.CheckRevocation,
            ClientCertificates = tls.ClientCertificate is { } own ? [own] : null,
        };
    }
}

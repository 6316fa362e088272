using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Deployments.Processes;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>A real mongod with the options that a test gives it: logins, TLS, key files.</summary>
internal sealed class SecuredMongod : IDisposable
{
    private readonly Process _process;
    private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-secured-").FullName;

    private SecuredMongod(int port, string[] options)
    {
        Address = new ServerAddress("localhost", port);
        string[] always =
        [
            "--port", $"{port}", .. options.Contains("--bind_ip") ? Array.Empty<string>() : ["--bind_ip", "127.0.0.1"], "--dbpath", _folder,
            "--unixSocketPrefix", _folder, "--wiredTigerCacheSizeGB", "0.25", "--logpath", Log,
        ];
        _process = Process.Start(new ProcessStartInfo(MongodBinary.Path, [.. always, .. options]) { RedirectStandardOutput = true })!;
        // Its pipe must not fill; it says nothing there once it logs to the file.
        _process.OutputDataReceived += (_, _) => { };
        _process.BeginOutputReadLine();
    }

    public ServerAddress Address { get; }

    public string SocketPath => Path.Combine(_folder, $"mongodb-{Address.Port}.sock");

    private string Log => Path.Combine(_folder, "mongod.log");

    /// <summary>Waits until it listens.</summary>
    public static SecuredMongod Start(params string[] options)
    {
        var server = new SecuredMongod(FreePort.Find(), options);
        try
        {
            server.AwaitPort();
            return server;
        }
        catch
        {
            server.Dispose();
            throw;
        }
    }

    /// <summary>The first user, through the exception that a mongod without users makes for this machine.</summary>
    public void CreateUser(string user, string password, string database, ConnectionSettings? settings = null, params string[] mechanisms)
    {
        using MongoConnection connection = MongoConnection.Open(Address, settings ?? ConnectionSettings.Default);
        AddUser(connection, user, password, database, mechanisms);
    }

    public static void AddUser(MongoConnection connection, string user, string password, string database, params string[] mechanisms) =>
        connection.RunCommand(database, BsonDocument.Of(
        [
            ("createUser", user), ("pwd", password), ("roles", new[] { BsonDocument.Of(("role", "root"), ("db", "admin")) }),
            .. mechanisms.Length > 0 ? [("mechanisms", mechanisms)] : Array.Empty<(string, object?)>(),
        ]));

    public MongoConnection Open(string uri) => MongoConnection.Open(Address, ConnectionSettings.From(ConnectionString.Parse(uri)));

    /// <summary>A string that names this server: credentials before it, options behind it.</summary>
    public string Uri(string user = "", string options = "") => $"mongodb://{(user.Length > 0 ? user + "@" : "")}{Address}/?{options}";

    public void Dispose()
    {
        if (!_process.HasExited)
            _process.Kill();
        _process.WaitForExit();
        _process.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    private void AwaitPort()
    {
        for (int attempt = 0; attempt < 3000; attempt++)
        {
            Assert.False(_process.HasExited, $"mongod ended: {(File.Exists(Log) ? File.ReadAllText(Log) : "no log")}");
            try
            {
                using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
                socket.Connect(IPAddress.Loopback, Address.Port);
                return;
            }
            catch (SocketException)
            {
                Thread.Sleep(100);
            }
        }

        Assert.Fail("mongod does not listen after five minutes");
    }
}

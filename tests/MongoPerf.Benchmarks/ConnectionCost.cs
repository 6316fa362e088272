using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Testing;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Benchmarks;

/// <summary>
/// What TLS and compression cost per operation, and logins per connection: <c>connections [--rounds 301]</c>. One mongod of
/// MONGOPERF_MONGOD that takes both plain and TLS connections, on loopback; the ways take short turns within each round, so that what else
/// the machine does meets all of them alike, and medians over the rounds are printed as Markdown.
/// </summary>
internal static class ConnectionCost
{
    private const int OperationsPerRound = 100;
    private const int ConnectionsPerRound = 4;
    private const int Documents = 100;

    public static int Run(string[] args)
    {
        int at = Array.IndexOf(args, "--rounds");
        int rounds = at < 0 ? 301 : int.Parse(args[at + 1], CultureInfo.InvariantCulture);
        using var certificates = new TestCertificates();
        using var server = new Server(certificates);
        PrintOperations(server, rounds);
        Console.WriteLine();
        PrintConnections(server, rounds);
        return 0;
    }

    private static void PrintOperations(Server server, int rounds)
    {
        (string Name, string Options)[] ways = [("plain", ""), ("TLS", server.Tls), ("snappy", "compressors=snappy"),
            ("zstd", "compressors=zstd"), ("zlib", "compressors=zlib"), ("TLS and zstd", $"{server.Tls}&compressors=zstd")];
        Console.WriteLine("| | find of 1 document (1 KB), us | client CPU, us | bytes received | find of 100 documents (100 KB), "
            + "us | client CPU, us | bytes received |");
        Console.WriteLine("| --- | --- | --- | --- | --- | --- | --- |");
        MongoConnection[] connections = [.. ways.Select(way => server.Open(Server.Login, way.Options))];
        var results = ways.ToDictionary(way => way.Name, _ => new List<(double Time, double Cpu, double Bytes)>[2] { [], [] });
        for (int round = -1; round < rounds; round++)
        {
            for (int size = 0; size < 2; size++)
            {
                for (int way = 0; way < ways.Length; way++)
                {
                    (double, double, double) measured = Find(connections[way], size == 0 ? 1 : Documents,
                        size == 0 ? OperationsPerRound : OperationsPerRound / 5);
                    // The first round compiles and warms up.
                    if (round >= 0)
                        results[ways[way].Name][size].Add(measured);
                }
            }
        }

        foreach ((string name, _) in ways)
        {
            IEnumerable<string> cells = results[name].Select(size =>
                $"{Median(size.Select(r => r.Time)):0.0} | {Median(size.Select(r => r.Cpu)):0.0} | {Median(size.Select(r => r.Bytes)):N0}");
            Console.WriteLine($"| {name} | {string.Join(" | ", cells)} |");
        }

        foreach (MongoConnection connection in connections)
            connection.Dispose();
    }

    private static void PrintConnections(Server server, int rounds)
    {
        (string Name, Func<ConnectionSettings> Settings)[] ways =
        [
            ("plain, no login", Always(server.Settings("", ""))),
            ("SCRAM-SHA-256", Always(server.Settings(Server.Login, "authMechanism=SCRAM-SHA-256"))),
            ("SCRAM-SHA-1", Always(server.Settings(Server.Login, "authMechanism=SCRAM-SHA-1"))),
            ("SCRAM-SHA-256, keys derived each time", () => server.Settings(Server.Login, "authMechanism=SCRAM-SHA-256")),
            ("TLS, no login", Always(server.Settings("", server.Tls))),
            ("TLS and SCRAM-SHA-256", Always(server.Settings(Server.Login, $"{server.Tls}&authMechanism=SCRAM-SHA-256"))),
            ("TLS and MONGODB-X509",
                Always(server.Settings("", $"{server.Tls}&tlsCertificateKeyFile={server.Client}&authMechanism=MONGODB-X509"))),
        ];
        var results = ways.ToDictionary(way => way.Name, _ => new List<(double Time, double Cpu)>());
        for (int round = -1; round < rounds; round++)
        {
            foreach ((string name, Func<ConnectionSettings> settings) in ways)
            {
                TimeSpan cpu = Environment.CpuUsage.TotalTime;
                long start = Stopwatch.GetTimestamp();
                for (int i = 0; i < ConnectionsPerRound; i++)
                    MongoConnection.Open(server.Address, settings()).Dispose();
                if (round >= 0)
                    results[name].Add((Stopwatch.GetElapsedTime(start).TotalMilliseconds / ConnectionsPerRound,
                        (Environment.CpuUsage.TotalTime - cpu).TotalMilliseconds / ConnectionsPerRound));
            }
        }

        Console.WriteLine("| | to open and close a connection, ms | client CPU, ms |");
        Console.WriteLine("| --- | --- | --- |");
        foreach ((string name, _) in ways)
            Console.WriteLine(
                $"| {name} | {Median(results[name].Select(r => r.Time)):0.00} | {Median(results[name].Select(r => r.Cpu)):0.00} |");
    }

    private static Func<ConnectionSettings> Always(ConnectionSettings settings) => () => settings;

    private static (double Microseconds, double CpuMicroseconds, double BytesReceived) Find(
        MongoConnection connection, int documents, int operations)
    {
        byte[] message = new OpMsgWriter()
            .WriteCommand("cost", BsonDocument.Of(("find", "documents"), ("limit", documents), ("batchSize", documents)), 1).ToArray();
        long bytes = connection.Traffic.WireBytesReceived;
        TimeSpan cpu = Environment.CpuUsage.TotalTime;
        long start = Stopwatch.GetTimestamp();
        for (int i = 0; i < operations; i++)
            _ = connection.RoundTrip(message);
        double time = Stopwatch.GetElapsedTime(start).TotalMicroseconds / operations;
        return (time, (Environment.CpuUsage.TotalTime - cpu).TotalMicroseconds / operations,
            (double)(connection.Traffic.WireBytesReceived - bytes) / operations);
    }

    private static double Median(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        return (sorted[sorted.Length / 2] + sorted[(sorted.Length - 1) / 2]) / 2;
    }

    /// <summary>A mongod with logins and preferTLS, and its documents.</summary>
    private sealed class Server : IDisposable
    {
        public const string Login = "root:root@";
        private const string Subject = "CN=bench,OU=clients,O=MongoPerf";

        private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-cost-").FullName;
        private readonly Process _process;

        public Server(TestCertificates certificates)
        {
            using (var free = new TcpListener(IPAddress.Loopback, 0))
            {
                free.Start();
                Address = new ServerAddress("localhost", ((IPEndPoint)free.LocalEndpoint).Port);
            }

            Tls = $"tls=true&tlsCAFile={certificates.AuthorityFile}";
            Client = certificates.ForClient(Subject);
            string program = Environment.GetEnvironmentVariable("MONGOPERF_MONGOD")
                ?? throw new InvalidOperationException("MONGOPERF_MONGOD has to name a mongod");
            string[] options =
            [
                "--port", $"{Address.Port}", "--bind_ip", "127.0.0.1", "--dbpath", _folder, "--logpath", Path.Combine(_folder, "log"),
                "--nounixsocket", "--auth",
                "--tlsMode", "preferTLS", "--tlsCertificateKeyFile", certificates.ForLoopback(), "--tlsCAFile", certificates.AuthorityFile,
                "--tlsAllowConnectionsWithoutCertificates",
                "--networkMessageCompressors", "snappy,zstd,zlib",
                "--setParameter", "authenticationMechanisms=SCRAM-SHA-1,SCRAM-SHA-256,MONGODB-X509",
            ];
            _process = Processes.Start(program, options, []);
            Prepare();
        }

        public ServerAddress Address { get; }

        public string Tls { get; }

        public string Client { get; }

        public ConnectionSettings Settings(string login, string options) =>
            ConnectionSettings.From(ConnectionString.Parse($"mongodb://{login}{Address}/?{options}"));

        public MongoConnection Open(string login, string options) => MongoConnection.Open(Address, Settings(login, options));

        public void Dispose()
        {
            _process.Kill();
            _process.WaitForExit();
            _process.Dispose();
            Directory.Delete(_folder, recursive: true);
        }

        private void Prepare()
        {
            BsonDocument root = BsonDocument.Of(("role", "root"), ("db", "admin"));
            using (MongoConnection first = AwaitStart())
                first.RunCommand("admin", BsonDocument.Of(("createUser", "root"), ("pwd", "root"), ("roles", new[] { root })));
            using MongoConnection connection = Open(Login, "");
            connection.RunCommand("$external", BsonDocument.Of(("createUser", Subject), ("roles", new[] { root })));
            // Words, as texts are: half of it goes away when it is compressed.
            var random = new Random(42);
            string[] words = [.. Enumerable.Range(0, 2000)
                .Select(_ => new string([.. Enumerable.Range(0, random.Next(2, 10)).Select(_ => (char)('a' + random.Next(26)))]))];
            IEnumerable<BsonDocument> documents = Enumerable.Range(0, Documents)
                .Select(i => BsonDocument.Of(("_id", i), ("text", string.Join(' ', random.GetItems(words, 200))[..980])));
            connection.RunCommand("cost", BsonDocument.Of(("insert", "documents"), ("documents", documents)));
        }

        private MongoConnection AwaitStart()
        {
            for (int attempt = 0; ; attempt++)
            {
                try
                {
                    return Open("", "");
                }
                catch (ConnectionFailedException) when (attempt < 600 && !_process.HasExited)
                {
                    Thread.Sleep(100);
                }
            }
        }
    }
}

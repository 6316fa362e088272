using System.Diagnostics;
using System.Globalization;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Connections;

/// <summary>
/// TLS connections with a login, opened and closed, leave nothing behind on either side. MONGOPERF_TLS_CONNECTIONS=10000 opens as
/// many, on a mongod too.
/// </summary>
/// <remarks>The client is the tests' own process, which must do nothing else meanwhile: others' handles and memory would count.</remarks>
[Collection(MeasuringTests.Name)]
public sealed class TlsConnectionTests
{
    private const string Variable = "MONGOPERF_TLS_CONNECTIONS";
    private const int UsualConnections = 400;
    private const long MegaByte = 1 << 20;

    private static readonly int? Asked =
        Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } text ? int.Parse(text, CultureInfo.InvariantCulture) : null;

    public static TheoryData<string> Servers => Asked is null ? ["embedded"] : ["embedded", "mongod"];

    [Theory]
    [MemberData(nameof(Servers))]
    public void They_leave_no_handle_and_no_memory_behind_at_the_client_or_the_server(string kind)
    {
        int connections = Asked ?? UsualConnections;
        using var server = TestServer.StartSecured(kind);
        OpenAndClose(server, Math.Max(200, connections / 10));
        (Footprint Client, Footprint Server) before = (Footprint.Of(Environment.ProcessId), Footprint.AtRest(server.ProcessId));
        var time = Stopwatch.StartNew();
        OpenAndClose(server, connections);
        TimeSpan taken = time.Elapsed;
        (Footprint Client, Footprint Server) after = (Footprint.Of(Environment.ProcessId), Footprint.AtRest(server.ProcessId));
        if (Environment.GetEnvironmentVariable(Variable + "_LOG") is { Length: > 0 } log)
            File.AppendAllText(log, $"{kind}: {connections} in {taken.TotalSeconds:0.0} s; client {before.Client} to {after.Client}; "
                + $"server {before.Server} to {after.Server}\n");
        Assert.InRange(after.Client.Handles, 0, before.Client.Handles + 20);
        Assert.InRange(after.Server.Handles, 0, before.Server.Handles + 20);
        // A leak of one TLS session each would be tens of kilobytes times their number.
        Assert.InRange(after.Client.Bytes - before.Client.Bytes, long.MinValue, 64 * MegaByte);
        Assert.InRange(after.Server.Bytes - before.Server.Bytes, long.MinValue, 64 * MegaByte);
    }

    private static void OpenAndClose(TestServer server, int connections) =>
        Parallel.For(0, connections, new ParallelOptions { MaxDegreeOfParallelism = 4 }, _ =>
        {
            using MongoConnection connection = server.Connect();
            Assert.True(connection.RunCommand("admin", BsonDocument.Of(("dbStats", 1))).IsTrue("ok"));
        });

    /// <summary>What a process holds.</summary>
    private readonly record struct Footprint(int Handles, long Bytes)
    {
        public static Footprint Of(int process)
        {
            if (process == Environment.ProcessId)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                GC.Collect();
            }

            string status = File.ReadLines($"/proc/{process}/status").First(line => line.StartsWith("VmRSS:", StringComparison.Ordinal));
            return new(Directory.GetFileSystemEntries($"/proc/{process}/fd").Length,
                1024 * long.Parse(status.Split(' ', StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture));
        }

        /// <summary>Once it has closed what its clients have closed.</summary>
        public static Footprint AtRest(int process)
        {
            Footprint last = Of(process);
            for (int i = 0; i < 50; i++)
            {
                Thread.Sleep(100);
                Footprint now = Of(process);
                if (now.Handles >= last.Handles && i >= 5)
                    return now;
                last = now;
            }

            return last;
        }

        public override string ToString() => $"{Handles} handles, {Bytes / MegaByte} MB";
    }
}

using System.CommandLine;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Options;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Commands;

/// <summary>
/// <c>record</c>: records the traffic of a deployment, as a proxy that clients connect to, or by having the server record itself.
/// </summary>
internal sealed class RecordCommand
{
    private readonly SharedOptions _shared = new();

    private readonly Option<IPEndPoint?> _listen = OptionTypes.Make<IPEndPoint?>("--listen", null,
        "Be a proxy: accept clients here, and pass on what they send, and what the server answers, as it is",
        "ADDRESS:PORT", ParseEndPoint);

    private readonly Option<bool> _server = new("--server")
    {
        Description = "Have the server record itself (4.2 to 8.1; its parameter trafficRecordingDirectory must be set); "
            + "the file is on the server's machine",
    };

    private readonly Option<string?> _output = OptionTypes.Text(
        "--output", "The recording, which must not be there; with --server a name without a folder", "FILE", "-o");

    private readonly Option<double?> _duration = OptionTypes.Duration("--duration", "End after this time [default: with Ctrl+C]");

    public static Command Create() => new RecordCommand().Build();

    private Command Build()
    {
        var command = new Command("record", "Record the traffic between clients and a deployment, for 'replay'")
        {
            _shared.Uri, _shared.PasswordFile, _listen, _server, _output, _duration,
        };
        command.Runs(Run);
        return command;
    }

    private ExitCode Run(ParseResult parsed)
    {
        string uri = parsed.GetValue(_shared.Uri) ?? UriVariable.Value
            ?? throw new UserException(ExitCode.WrongUsage, "--uri is missing: the deployment whose traffic is recorded");
        string output = parsed.GetValue(_output) is { Length: > 0 } named ? named
            : throw new UserException(ExitCode.WrongUsage, "--output is missing: the file of the recording");
        if (DatabaseSystems.Of(uri) != DatabaseSystems.MongoDb)
            throw new UserException(ExitCode.WrongUsage, $"{DatabaseSystems.Of(uri).Name} is not recorded, only MongoDB");
        if ((parsed.GetValue(_listen) is null) != parsed.GetValue(_server))
            throw new UserException(ExitCode.WrongUsage, parsed.GetValue(_server)
                ? "--listen makes a proxy, and --server needs none" : "--listen or --server is missing",
                "--listen 127.0.0.1:27018 records as a proxy, --server has the server record itself");
        TimeSpan? duration = parsed.GetValue(_duration) is { } seconds ? TimeSpan.FromSeconds(seconds) : null;
        return parsed.GetValue(_server)
            ? RecordByServer(ConnectionSecrets.Complete(uri, uri, parsed.GetValue(_shared.PasswordFile)), output, duration)
            : RecordByProxy(uri, parsed.GetValue(_listen)!, output, duration);
    }

    private static ExitCode RecordByProxy(string uri, IPEndPoint listen, string output, TimeSpan? duration)
    {
        (IReadOnlyList<ServerAddress> hosts, ConnectionSettings settings) = DatabaseSystems.MongoDb.Read(uri, EngineKind.Wire);
        if (hosts is not [{ Port: > 0 } server])
            throw new UserException(ExitCode.WrongUsage, "--uri: a proxy leads to one server, by TCP",
                "name the primary, or a mongos, alone");
        if (settings.Tls is not null)
            throw new UserException(ExitCode.WrongUsage, "--uri: the proxy passes bytes on as they are, and can't record encrypted ones",
                "have the server record itself (--server), or let it accept plain connections from this machine (--tlsMode preferTLS)");
        if (!IPAddress.IsLoopback(listen.Address))
            Console.Error.WriteLine("warning: clients on other machines can connect here, as they can to the server");
        using var signals = new StopSignals("stopping: saving the recording");
        string? stopped = null;
        // Before there is a file: it would be in the way of the next try.
        using Socket listener = Listen(listen);
        using var recorder = new TrafficRecorder(output)
        {
            OnStopped = why =>
            {
                stopped = why;
                Console.Error.WriteLine($"warning: recording has stopped: {why}; clients are served as before");
            },
        };
        using var proxy = new TrafficProxy(listener, server, recorder,
            why => Console.Error.WriteLine($"warning: {server} can't be reached for a client: {why}"));
        Console.Error.WriteLine($"recording what goes through {proxy.Address} to {server}; Ctrl+C ends it");
        Console.Error.WriteLine("note: clients of a replica set leave the proxy for the set's own addresses unless they connect with "
            + "directConnection=true");
        Wait(duration, signals);
        proxy.Dispose();
        recorder.Dispose();
        Console.WriteLine($"{output}: {Units.Counted(recorder.Requests, "request")} of {Units.Counted(proxy.Connections, "connection")}, "
            + $"{Units.Bytes(recorder.Bytes)}"
            + (recorder.Unreadable > 0
                ? $"; {Units.Counted(recorder.Unreadable, "connection")} could not be read (encrypted, or not MongoDB's protocol)" : "")
            + (stopped is null ? "" : $"; recording stopped early: {stopped}"));
        return stopped is null ? ExitCode.Done : ExitCode.Refused;
    }

    private static Socket Listen(IPEndPoint listen)
    {
        try
        {
            return TrafficProxy.Listen(listen);
        }
        catch (SocketException e)
        {
            throw new UserException(ExitCode.CannotConnect, $"can't listen on {listen}: {e.Message}",
                "--listen takes an address of this machine and a free port");
        }
    }

    private static ExitCode RecordByServer(string uri, string output, TimeSpan? duration)
    {
        if (output.AsSpan().IndexOfAny('/', '\\') >= 0)
            throw new UserException(ExitCode.WrongUsage,
                $"--output: '{output}' has a folder, and a server records into its own (trafficRecordingDirectory)",
                "name a file without one, such as shop.bin");
        using var signals = new StopSignals("stopping: ending the recording");
        (IReadOnlyList<ServerAddress> hosts, ConnectionSettings settings) =
            DatabaseSystems.MongoDb.Read(uri, EngineKind.Wire, signals.Token);
        if (hosts is not [{ } address])
            throw new UserException(ExitCode.WrongUsage, "--uri: one server records", "name the primary, or a mongos, alone");
        // Not ended by a signal: the recording must be.
        using MongoConnection connection = MongoConnection.Open(address, settings);
        var recording = new ServerRecordingControl(connection);
        recording.Start(output);
        string? ended = null;
        try
        {
            Console.Error.WriteLine($"{address} records its traffic into {recording.File ?? output}; Ctrl+C ends it");
            Wait(duration, signals, () => (ended = recording.WhyEnded()) is not null);
        }
        finally
        {
            ended = recording.Stop() ?? ended;
        }

        Console.WriteLine($"{recording.File ?? output} on {address.Host}: {Units.Bytes(recording.Bytes)}"
            + (ended is null ? "" : $"; the server ended it: {ended}"));
        return ended is null ? ExitCode.Done : ExitCode.Refused;
    }

    private static void Wait(TimeSpan? duration, StopSignals signals, Func<bool>? isOver = null)
    {
        DateTime end = duration is { } time ? DateTime.UtcNow + time : DateTime.MaxValue;
        while (!signals.WasStopped && DateTime.UtcNow < end && isOver?.Invoke() is not true)
        {
            TimeSpan left = end - DateTime.UtcNow;
            signals.Token.WaitHandle.WaitOne(left < TimeSpan.FromSeconds(1) ? left > TimeSpan.Zero ? left : TimeSpan.Zero
                : TimeSpan.FromSeconds(1));
        }
    }

    private static IPEndPoint ParseEndPoint(string text)
    {
        string named = text.StartsWith("localhost:", StringComparison.Ordinal) ? $"127.0.0.1{text["localhost".Length..]}" : text;
        return IPEndPoint.TryParse(named, out IPEndPoint? parsed) && named.LastIndexOf(':') is > 0 and var colon
            && int.TryParse(named.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out _)
            && !named.EndsWith(']') && (named.StartsWith('[') || named.Count(one => one == ':') == 1)
            ? parsed
            : throw new FormatException($"'{text}' is not valid; expected ADDRESS:PORT such as 127.0.0.1:27018");
    }
}

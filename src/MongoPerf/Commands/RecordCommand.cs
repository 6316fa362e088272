using System.CommandLine;
using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using MongoPerf.Options;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Sessions;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Traffic.Capturing;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Commands;

/// <summary>
/// <c>record</c>: records the traffic of a deployment, as a proxy that clients connect to, by having the server record itself, or from
/// captured packets.
/// </summary>
internal sealed class RecordCommand
{
    private const string TlsOption = "--tls-certificate-key-file";

    private readonly SharedOptions _shared = new();

    private readonly Option<string?> _uri = OptionTypes.Uri(
        "--uri", "Connection string of an existing deployment, or its name in the configuration (environment: MONGOPERF_URI)", "-u");

    private readonly Option<IPEndPoint?> _listen = OptionTypes.Make<IPEndPoint?>("--listen", null,
        "Record as a proxy: accept clients here and forward every byte unchanged",
        "ADDRESS:PORT", ParseEndPoint);

    private readonly Option<bool> _server = new("--server")
    {
        Description = "Let the server record itself (4.2 to 8.1, with its parameter trafficRecordingDirectory set); the file is "
            + "on the server's machine",
    };

    private readonly Option<string?> _pcap = OptionTypes.Text("--pcap",
        "Make a recording from captured packets (pcap or pcapng, as tcpdump -w writes them) of connections without TLS; needs "
        + "no --uri", "FILE");

    private readonly Option<string?> _certificate = OptionTypes.Text(TlsOption,
        "As a proxy, accept only TLS connections; the file holds the certificate and its private key (PEM)", "FILE");

    private readonly Option<bool> _redact = new("--redact")
    {
        Description = "Replace the values in stored requests with pseudonyms of the same type and length, equal values with "
            + "equal ones; names, operators and options stay",
    };

    private readonly Option<string?> _output = OptionTypes.Text(
        "--output", "The recording, a file that must not exist yet; with --server, a file name without a folder", "FILE", "-o");

    private readonly Option<double?> _duration = OptionTypes.Duration(
        "--duration", "Stop after this time [default: on Ctrl+C]", allowsZero: false);

    public static Command Create() => new RecordCommand().Build();

    private Command Build()
    {
        var command = new Command("record", "Record the traffic between clients and a deployment, for 'replay'")
        {
            _uri, _shared.PasswordFile, _listen, _server, _pcap, _certificate, _redact, _output, _duration,
        };
        command.Runs(Run);
        return command;
    }

    private ExitCode Run(ParseResult parsed)
    {
        string output = parsed.GetValue(_output) is { Length: > 0 } named ? named
            : throw new UserException(ExitCode.WrongUsage, "--output is missing: the file of the recording");
        IPEndPoint? listen = parsed.GetValue(_listen);
        string? capture = parsed.GetValue(_pcap);
        bool isServer = parsed.GetValue(_server);
        if ((listen is null ? 0 : 1) + (isServer ? 1 : 0) + (capture is null ? 0 : 1) != 1)
            throw new UserException(ExitCode.WrongUsage, listen is null && capture is null && !isServer
                ? "--listen, --server or --pcap is missing" : "--listen, --server and --pcap exclude one another",
                "--listen 127.0.0.1:27018 records as a proxy, --server has the server record itself, --pcap FILE reads captured packets");
        bool redacts = parsed.GetValue(_redact);
        if (isServer && redacts)
            throw new UserException(ExitCode.WrongUsage, "--redact: a server records what it gets as it is",
                "record as a proxy: --listen 127.0.0.1:27018");
        if (listen is null && parsed.GetValue(_certificate) is not null)
            throw new UserException(ExitCode.WrongUsage, $"{TlsOption} is for a proxy (--listen)");
        if (capture is not null)
        {
            Option[] others = [_uri, _shared.PasswordFile, _duration];
            if (others.FirstOrDefault(parsed.HasTyped)?.Name is { } other)
                throw new UserException(
                    ExitCode.WrongUsage, $"--pcap is read to its end, and from no server, so {other} does not apply", $"omit {other}");
            return Convert(capture, output, redacts);
        }

        string uri = parsed.GetValue(_uri) ?? UriVariable.Value
            ?? throw new UserException(ExitCode.WrongUsage, "--uri is missing: the deployment whose traffic is recorded");
        if (DatabaseSystems.Of(uri) != DatabaseSystems.MongoDb)
            throw new UserException(ExitCode.WrongUsage, $"{DatabaseSystems.Of(uri).Name} is not recorded, only MongoDB");
        TimeSpan? duration = parsed.GetValue(_duration) is { } seconds ? TimeSpan.FromSeconds(seconds) : null;
        return listen is null
            ? RecordByServer(ConnectionSecrets.Complete(uri, uri, parsed.GetValue(_shared.PasswordFile)), output, duration)
            : RecordByProxy(uri, new Proxy(listen, LoadCertificate(parsed.GetValue(_certificate)), output, redacts), duration);
    }

    private static ExitCode RecordByProxy(string uri, Proxy own, TimeSpan? duration)
    {
        (IReadOnlyList<ServerAddress> hosts, ConnectionSettings settings) = DatabaseSystems.MongoDb.Read(uri, EngineKind.Wire);
        if (hosts is not [{ Port: > 0 } server])
            throw new UserException(ExitCode.WrongUsage, "--uri: a proxy leads to one server, by TCP",
                "name the primary, or a mongos, alone");
        // A mistyped address is told at once, not by the first client's failure. Ctrl+C ends this as it ends any program.
        MongoConnection.Open(server, settings with { Credential = null }).Dispose();
        // Before there is a file: it would be in the way of the next try.
        using Socket listener = Listen(own.Address);
        using var notices = new Notices(Console.Error);
        if (own.Certificate is null && !IPAddress.IsLoopback(own.Address.Address))
            notices.Say("warning: clients on other machines can connect here, as they can to the server"
                + (settings.Tls is null ? "" : $"; without {TlsOption} what they send is not encrypted"));
        if (settings.Tls?.HasClientCertificate is true)
            notices.Say("warning: whoever connects here can log in (x.509) as the subject of tlsCertificateKeyFile");
        using var signals = new StopSignals("stopping: saving the recording");
        string? stopped = null;
        using var recorder = new TrafficRecorder(own.Output, own.Redacts)
        {
            OnStopped = why =>
            {
                stopped = why;
                notices.Say($"warning: recording has stopped: {why}; clients are served as before");
            },
        };
        using var proxy = new TrafficProxy(listener, new ProxiedServer(server, settings.Tls), own.Certificate, recorder,
            what => notices.Say($"warning: {what}"));
        notices.Say($"recording what goes through {proxy.Address} to {server}; Ctrl+C ends it");
        notices.Say("note: clients of a replica set leave the proxy for the set's own addresses unless they connect with "
            + "directConnection=true");
        Wait(duration, signals);
        proxy.Dispose();
        recorder.Dispose();
        // Where nobody reads what is printed, the next line would wait for ever.
        if (notices.End())
            Console.WriteLine(Told(own.Output, recorder.Requests, proxy.Connections, recorder.Bytes)
                + $"; at most {Units.Bytes(recorder.MostBehind)} waited to be written"
                + Told(recorder.Unreadable, recorder.Unredactable, recorder.Legacy)
                + (stopped is null ? "" : $"; recording stopped early: {stopped}"));
        return stopped is null ? ExitCode.Done : ExitCode.Refused;
    }

    private static ExitCode Convert(string capture, string output, bool redacts)
    {
        using var signals = new StopSignals("stopping: saving the recording");
        ConvertedCapture made = CaptureConverter.Convert(capture, output, redacts, signals.Token);
        Console.WriteLine(Told(output, made.Requests, made.Connections, made.Bytes)
            + Told(made.Unreadable, made.Unredactable, made.Legacy)
            + (made.Gaps == 0 ? "" : $"; at {Units.Counted(made.Gaps, "place")} what was recorded of a connection ends: {made.FirstGap}")
            + (made.IsTruncated ? "; the capture ends within a packet" : "")
            + (made.EndedBy is null ? "" : $"; the capture was not read to its end: {made.EndedBy}"));
        return made.EndedBy is null ? ExitCode.Done : ExitCode.Refused;
    }

    private static string Told(string output, long requests, long connections, long bytes) =>
        $"{output}: {Units.Counted(requests, "request")} of {Units.Counted(connections, "connection")}, {Units.Bytes(bytes)}";

    private static string Told(long unreadable, long unredactable, long legacy) =>
        (unreadable > 0 ? $"; {Units.Counted(unreadable, "connection")} could not be read (encrypted, or not MongoDB's protocol)" : "")
        + (unredactable > 0 ? $"; {Units.Counted(unredactable, "request")} with code left out: --redact can't tell values in it" : "")
        + (legacy > 0 ? $"; {Units.Counted(legacy, "request")} in a protocol before OP_MSG (an old driver's) left out" : "");

    private static SslStreamCertificateContext? LoadCertificate(string? file)
    {
        if (file is null)
            return null;
        try
        {
            return PemFiles.ReadIdentity(TlsOption, file, KeyPassword.Ask(TlsOption, file), "that password");
        }
        catch (PemFileException e)
        {
            throw new UserException(ExitCode.WrongUsage, e.Message);
        }
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
        if (output is "." or ".." || output.AsSpan().IndexOfAny('/', '\\') >= 0)
            throw new UserException(ExitCode.WrongUsage,
                $"--output: '{output}' names a folder, and a server records into its own (trafficRecordingDirectory)",
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
            ended = recording.WhyEnded();
            Console.Error.WriteLine($"{address} records its traffic into {recording.File ?? output}; Ctrl+C ends it");
            Wait(duration, signals, () => (ended = recording.WhyEnded()) is not null);
        }
        finally
        {
            ended = recording.Stop() ?? ended;
        }

        Console.WriteLine($"{recording.File ?? output} on {address.Host}: "
            + (recording.Bytes is { } bytes ? Units.Bytes(bytes) : "size unknown, as serverStatus needs the role clusterMonitor")
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

    /// <param name="Address">Where clients connect.</param>
    /// <param name="Certificate">Clients must speak TLS; null: plainly.</param>
    /// <param name="Output">The recording.</param>
    /// <param name="Redacts">Values are replaced.</param>
    private sealed record Proxy(IPEndPoint Address, SslStreamCertificateContext? Certificate, string Output, bool Redacts);
}

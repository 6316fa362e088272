using System.CommandLine;
using System.Net.Sockets;
using MongoPerf.Deployments.Processes;
using MongoPerf.Options;
using MongoPerf.Reports.Html;
using MongoPerf.Running.Live;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Telemetry;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands.Live;

/// <summary><c>watch RUN</c>: serves the page of a run, under way or not, and sends its metrics, from its folder alone.</summary>
internal static class WatchCommand
{
    /// <summary>How long to wait for the port: in a sequence, the child of the run before may still hold it.</summary>
    private static readonly TimeSpan PortLimit = TimeSpan.FromSeconds(10);

    public static Command Create()
    {
        var shared = new SharedOptions();
        Argument<string> run = RunArgument.Create();
        Option<long?> port = ServeCommand.PortOption();
        var noPage = new Option<bool>(LiveChild.NoPageOption) { Description = "Serve no page, only send metrics (--otlp)" };
        var command = new Command(
            "watch", "Serve a page with live charts of a run on 127.0.0.1, while it runs or afterwards")
        {
            run, port, shared.Otlp, noPage, shared.Out,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(noPage) && result.GetValue(shared.Otlp) is null)
                result.AddError($"{LiveChild.NoPageOption} leaves nothing to do without {LiveChild.ReceiverOption}");
        });
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            bool isChild = Environment.GetEnvironmentVariable(ParentWatch.Variable) is not null;
            string key = isChild && Console.In.ReadLine() is { Length: > 0 } given ? given : LiveChild.NewKey();
            string? receiver = isChild && Console.In.ReadLine() is { Length: > 0 } whole ? whole : parsed.GetValue(shared.Otlp);
            RunFolder folder = RunFolder.Find(PlanRequests.RunsFolder(parsed, shared.Out), parsed.GetValue(run)!);
            using (StoredRun.Open(folder.Path))
            {
                // Before the address is printed: whoever reads that may send a signal at once.
                using var watch = new ParentWatch();
                using OtlpSender? sender = receiver is null ? null : Send(folder, receiver);
                if (sender is not null && !isChild)
                    Console.Error.WriteLine($"metrics: {Masking.MaskArgument(receiver!)} (Ctrl+C ends it)");
                if (parsed.GetValue(noPage))
                    watch.Wait();
                else
                    Serve(folder, (int)(parsed.GetValue(port) ?? 0), key, isChild, watch);
                return ExitCode.Done;
            }
        }));
        return command;
    }

    private static OtlpSender Send(RunFolder folder, string receiver)
    {
        try
        {
            return new OtlpSender(folder.Path, new Uri(receiver), text => Console.Error.WriteLine(Masking.Shown($"warning: {text}")));
        }
        catch (FormatException e)
        {
            throw new UserException(ExitCode.WrongUsage, e.Message, "such as api-key=abc,tenant=7");
        }
    }

    private static void Serve(RunFolder folder, int port, string key, bool isChild, ParentWatch watch)
    {
        using LiveServer server = Open(folder, port, key, LivePage.Of(folder.Id), isChild ? PortLimit : TimeSpan.Zero);
        Task served = server.Start();
        // Where a child's parent reads it; a person's terminal keeps its standard output for results.
        (isChild ? Console.Out : Console.Error).WriteLine(isChild ? server.Url : $"live: {server.Url} (Ctrl+C ends it)");
        Console.Out.Flush();
        watch.Wait();
        server.Stop();
        served.Wait(TimeSpan.FromSeconds(1));
    }

    private static LiveServer Open(RunFolder folder, int port, string key, LivePage page, TimeSpan patience)
    {
        for (long begun = Environment.TickCount64; ; Thread.Sleep(200))
        {
            try
            {
                return new LiveServer(folder.Path, port, key, page);
            }
            catch (SocketException e)
                when (e.SocketErrorCode == SocketError.AddressAlreadyInUse && Environment.TickCount64 - begun < patience.TotalMilliseconds)
            {
                // Tried again.
            }
            catch (SocketException e)
            {
                throw new UserException(
                    ExitCode.WrongUsage, e.SocketErrorCode == SocketError.AddressAlreadyInUse
                        ? $"port {port} of 127.0.0.1 is in use"
                        : $"can't listen on 127.0.0.1:{port}: {e.Message}",
                    "choose another --port, or omit it to use a free one");
            }
        }
    }
}

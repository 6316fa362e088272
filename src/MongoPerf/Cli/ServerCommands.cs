using System.CommandLine;
using System.Net.Sockets;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Null;
using MongoPerf.Deployments.Processes;
using MongoPerf.Server;

namespace MongoPerf.Cli;

/// <summary><c>serve</c>: the embedded server, by itself.</summary>
internal static class ServeCommand
{
    public static Command Create()
    {
        Option<long?> port = PortOption();
        Option<string?> data = OptionTypes.Text("--data", "Folder of its data (required)", "DIR");
        Option<long?> cache = OptionTypes.Size("--cache", "Limit of its cache [default: a quarter of memory, 1GB at most]");
        var command = new Command("serve", "Run the embedded server, which speaks MongoDB's protocol but is not MongoDB") { port, data, cache };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            string folder = parsed.GetValue(data) ?? throw new UserException(ExitCode.WrongUsage, "--data is missing: the folder for the server's data");
            DataFolderOwner.RefuseForEmbedded(folder);
            using EmbeddedServer server = Start(new EmbeddedServerOptions
            {
                Port = (int)(parsed.GetValue(port) ?? 0),
                DataPath = folder,
                CacheBytes = parsed.GetValue(cache),
            });
            Console.WriteLine($"mongoperf embedded server (not MongoDB) listening on 127.0.0.1:{server.Port}");
            Console.Out.Flush();
            ParentWatch.WaitForEnd(server.ShutdownRequested);
            return ExitCode.Done;
        }));
        return command;
    }

    private static EmbeddedServer Start(EmbeddedServerOptions options)
    {
        try
        {
            return EmbeddedServer.Start(options);
        }
        catch (SocketException e)
        {
            throw new UserException(ExitCode.CannotConnect, $"can't listen on 127.0.0.1:{options.Port}: {e.Message}", "take another --port, or leave it out for a free one");
        }
    }

    public static Option<long?> PortOption() =>
        OptionTypes.Make<long?>("--port", null, "Port on loopback [default: a free one]", "PORT", text => SharedOptions.Bounded(Quantities.ParseCount(text, 0), 65535));
}

/// <summary><c>null-server</c>, hidden: answers everything and stores nothing.</summary>
internal static class NullServerCommand
{
    public static Command Create()
    {
        Option<long?> port = ServeCommand.PortOption();
        var command = new Command("null-server", "Answer every message with generated documents and store nothing") { port };
        command.Hidden = true;
        command.SetAction(parsed => CommandRunner.Run(() => (ExitCode)NullServer.Run((int)(parsed.GetValue(port) ?? 0), Console.Out)));
        return command;
    }
}

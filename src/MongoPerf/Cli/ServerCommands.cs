using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Plans;
using MongoPerf.Cli.Sessions;
using System.CommandLine;
using System.Net.Sockets;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Null;
using MongoPerf.Deployments.Processes;
using MongoPerf.Input;
using MongoPerf.Server;

namespace MongoPerf.Cli;

/// <summary><c>serve</c>: the embedded server, by itself.</summary>
internal static class ServeCommand
{
    public static Command Create()
    {
        Option<long?> port = PortOption();
        Option<string?> data = OptionTypes.Text("--data", "Data folder (required)", "DIR");
        Option<long?> cache = OptionTypes.Size("--cache", "Cache size [default: a quarter of memory, at most 1GB]");
        var command = new Command("serve", "Run the embedded server (speaks MongoDB's protocol, but is not MongoDB)") { port, data, cache };
        command.SetAction(parsed => CommandRunner.Run(() =>
        {
            string folder = parsed.GetValue(data) ?? throw new UserException(ExitCode.WrongUsage, "--data is missing: the server's data folder");
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
            throw new UserException(ExitCode.CannotConnect, $"can't listen on 127.0.0.1:{options.Port}: {e.Message}", "choose another --port, or omit it to use a free one");
        }
    }

    public static Option<long?> PortOption() =>
        OptionTypes.Make<long?>("--port", null, "Loopback port [default: a free one]", "PORT", text => SharedOptions.Bounded(Quantities.ParseCount(text, 0), 65535));
}

/// <summary><c>null-server</c>, hidden: answers everything and stores nothing.</summary>
internal static class NullServerCommand
{
    public static Command Create()
    {
        Option<long?> port = ServeCommand.PortOption();
        Option<string?> run = OptionTypes.Text("--run", "Folder of the run whose plan says what documents to answer with", "DIR");
        var command = new Command("null-server", "Answer every message with generated documents and store nothing") { port, run };
        command.Hidden = true;
        command.SetAction(parsed => CommandRunner.Run(() => (ExitCode)NullServer.Run((int)(parsed.GetValue(port) ?? 0), CollectionsOf(parsed.GetValue(run)), Console.Out)));
        return command;
    }

    private static IReadOnlyList<PlanCollection> CollectionsOf(string? runFolder)
    {
        if (runFolder is null)
            return [];
        using StoredRun run = StoredRun.Open(runFolder);
        return [.. StoredPlan.Read(run.Settings, run.Run.Seed).Plan.Rounds.SelectMany(round => round.Collections).DistinctBy(collection => collection.Name)];
    }
}

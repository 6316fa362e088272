using System.CommandLine;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Options;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary><c>cluster start|status|stop</c>: sharded clusters and replica sets of real programs on this machine.</summary>
internal static class ClusterCommand
{
    private const string DefaultFolder = "cluster";

    public static Command Create() =>
        new("cluster", "Start, inspect and stop a real sharded MongoDB cluster, or replica set, on this machine")
        {
            CreateStart(), CreateStatus(), CreateStop(),
        };

    private static Command CreateStart()
    {
        var shared = new SharedOptions();
        var options = new ClusterOptions();
        var limits = new LimitOptions();
        var security = new SecurityOptions();
        Option<string?> folder = FolderOption();
        Option<string?> topology = OptionTypes.Choice("--topology", "What to start [default: sharded]", "sharded", "replicaset");
        Option<long?> cache = OptionTypes.Size(
            "--cache", "Cache size of each member that holds data, at least 64MB [default: half of the memory, shared by all]");
        Option<long?> port = OptionTypes.Make<long?>("--port", null,
            "Port of the router or first member; the other processes use the ports after it [default: free ports]", "PORT",
            text => Quantities.ParseCount(text, 1, ushort.MaxValue));
        var command = new Command(
            "start", "Start a cluster or replica set, or the stopped parts of an existing one; it runs until 'cluster stop'")
        {
            topology, options.Shards, options.Members, options.ConfigServers, options.Arbiter, cache, limits.MemoryLimit, limits.Cpus,
            security.Auth, security.Tls, shared.Mongod, folder, port,
        };
        command.Runs(parsed =>
        {
            (long? memory, int? cpus) = limits.ReadOne(parsed);
            (bool? tls, bool? auth) = security.ReadOne(parsed);
            Topology? asked =
                parsed.GetValue(topology) is { } named ? named == "replicaset" ? Topology.ReplicaSet : Topology.Sharded : null;
            if (asked == Topology.ReplicaSet && options.Typed(parsed).FirstOrDefault(options.IsForShardsOnly) is { } wrong)
                throw new UserException(ExitCode.WrongUsage, $"{wrong.Name} does not apply to --topology replicaset", "omit one of them");
            using var signals = new StopSignals("stopping");
            string where = parsed.GetValue(folder) ?? DefaultFolder;
            using LocalCluster cluster = LocalCluster.Prepare(where, new ClusterRequest
            {
                Settings = options.Apply(parsed, new DeploymentSettings
                {
                    Topology = asked,
                    Auth = auth,
                    Tls = tls,
                    CacheBytes = parsed.GetValue(cache),
                    MemoryLimitBytes = memory,
                    Cpus = cpus,
                    MongodPath = shared.OneMongod(parsed),
                }),
                FirstPort = (int?)parsed.GetValue(port),
                Interrupt = signals.Token,
            });
            cluster.EnsureRunning();
            // Disposing of the cluster ends what was started.
            if (signals.WasStopped)
                return ExitCode.Interrupted;
            cluster.Leave();
            ClusterPrinter.WriteUse(cluster, where, where == DefaultFolder ? "" : $" --folder {where}", Console.Out);
            return ExitCode.Done;
        });
        return command;
    }

    private static Command CreateStatus()
    {
        Option<string?> folder = FolderOption();
        Option<string?> format = OptionTypes.Choice("--format", "Output format [default: text]", "text", "json");
        var command = new Command("status", "Show the processes of a cluster; exit code 3 if one is down") { folder, format };
        command.Runs(parsed =>
        {
            ClusterStatus status = ClusterStatus.Read(parsed.GetValue(folder) ?? DefaultFolder);
            if (parsed.GetValue(format) == "json")
                ClusterPrinter.WriteJson(status, Console.Out);
            else
                ClusterPrinter.WriteTable(status, Console.Out);
            return status.IsRunning ? ExitCode.Done : ExitCode.CannotConnect;
        });
        return command;
    }

    private static Command CreateStop()
    {
        Option<string?> folder = FolderOption();
        var remove = new Option<bool>("--remove") { Description = "Also delete its data and folder" };
        var command = new Command("stop", "Stop a cluster; its data stays, and 'cluster start' resumes it") { folder, remove };
        command.Runs(parsed =>
        {
            string where = parsed.GetValue(folder) ?? DefaultFolder;
            using LocalCluster cluster = LocalCluster.Open(where);
            int ended = cluster.Stop();
            long bytes = DataFolderSize.ReadBytes(cluster.Folder) ?? 0;
            IReadOnlyList<string> kept = parsed.GetValue(remove) ? cluster.Remove() : [];
            string data = parsed.GetValue(remove) ? $"{Units.Bytes(bytes)} of data deleted from" : $"{Units.Bytes(bytes)} of data kept in";
            Console.WriteLine($"{ended} of {cluster.Plan.Processes.Count} processes stopped, {data} {cluster.Folder}");
            if (kept.Count > 0)
                Console.WriteLine($"kept in {cluster.Folder}, as its servers did not make it: {string.Join(", ", kept)}");
        });
        return command;
    }

    private static Option<string?> FolderOption() =>
        OptionTypes.Text("--folder", $"The cluster's folder [default: {DefaultFolder}]", "DIR");
}

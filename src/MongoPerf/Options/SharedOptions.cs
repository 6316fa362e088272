using System.CommandLine;
using MongoPerf.Commands.Live;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary>Options that several commands take, each made once per command.</summary>
internal sealed class SharedOptions
{
    private static readonly string[] Topologies = ["standalone", "replicaset", "sharded", "null"];

    public Option<string?> Uri { get; } = OptionTypes.Uri(
        "--uri", "Connection string of an existing deployment, or its name in the configuration (environment: MONGOPERF_URI); "
        + "scenarios also accept tyrant://HOST. Without it, a mongod or the embedded server is started.", "-u");

    /// <summary>The connection string of a stored run.</summary>
    public Option<string?> RunUri { get; } = OptionTypes.Uri(
        "--uri", "Connection string of the run's deployment, with its passwords (environment: MONGOPERF_URI) [default: the stored one]",
        "-u");

    public Option<string?> PasswordFile { get; } = OptionTypes.Text(Running.Secrets.PasswordFile.Option,
        "File with the password missing from the connection string: the user's, or else the certificate key's; without it, "
        + "you are prompted at the terminal", "FILE");

    public Option<string?> ShardUser { get; } = OptionTypes.Text("--shard-user",
        "User for reading the shards' state directly, defined in each shard's admin database: "
            + "a cluster's users do not exist on its shards", "NAME");

    public Option<string?> ShardPasswordFile { get; } = OptionTypes.Text(Running.Secrets.ShardLogin.FileOption,
        "File with the password of --shard-user; without it, you are prompted at the terminal", "FILE");

    public Option<string?> ServerApi { get; } = OptionTypes.Make<string?>("--server-api", null,
        "Stable API that every operation names (serverApi in drivers); strict makes the server refuse what the API lacks, "
            + "deprecationErrors what it deprecates [default: none]", "1[,strict][,deprecationErrors]",
        text => Wire.Connections.ServerApi.Parse(text).ToString()).Suggesting("1", "1,strict", "1,strict,deprecationErrors");

    public Option<string?> Database { get; } = OptionTypes.Text("--db", "Database [default: mongoperf]", "NAME");

    public Option<string?> Collection { get; } = OptionTypes.Text("--collection", "Collection [default: series]", "NAME");

    public Option<IReadOnlyList<string>?> Mongod { get; } = OptionTypes.Make<IReadOnlyList<string>?>(
        "--mongod", null, "The mongod to start: a path, or an installed version; a list runs each in turn and compares them "
            + "(environment: MONGOPERF_MONGOD) [default: the last one from 'server install', then PATH]", "PATH[,PATH…]",
        // A path may hold commas.
        text => File.Exists(text) || Directory.Exists(text) ? [text] : Quantities.ParseList(text, static one => one));

    public Option<long?> Cache { get; } = OptionTypes.Size(
        "--cache", "Cache size of a started server, at least 64MB [default: the server's own]");

    public Option<IReadOnlyList<Topology>?> Topology { get; } = OptionTypes.List("--topology",
        "What to test: standalone (one server), replicaset or sharded (started on this machine) or null (stores nothing: "
        + "measures the client itself); a list runs them in turn and compares them [default: standalone]", "KIND[,KIND…]", ParseTopology)
        .Suggesting(Topologies);

    public Option<IReadOnlyList<EngineKind>?> Engines { get; } = OptionTypes.List(
        "--engine", "Client that runs the operations: wire (MongoPerf's own client) or driver (MongoDB.Driver, the official driver); "
            + "a list runs each in turn and compares them [default: wire]", "NAME[,NAME…]", ParseEngine)
        .Suggesting("wire", "driver");

    public Option<string?> Against { get; } = OptionTypes.Uri(
        "--against", "A second deployment: run the same on it and compare with --uri");

    /// <summary>The mongod of a command that starts one deployment; null when none was typed.</summary>
    /// <exception cref="UserException">A list.</exception>
    public string? OneMongod(ParseResult parsed) => parsed.GetValue(Mongod) is not { } typed ? null : typed is [var only] ? only
        : throw new UserException(ExitCode.WrongUsage, $"--mongod names {typed.Count} programs; here it takes one",
            "a list runs a scenario or the series on each in turn");

    public Option<long?> Repeat { get; } = OptionTypes.Make<long?>("--repeat", null,
        "Repeat N times and report the spread; two deployments take turns and are compared run by run. Each repeat deletes its server data "
        + "when it ends. [default: 1]", "N", text => Quantities.ParseCount(text, 1, 1000));

    public ClusterOptions Cluster { get; } = new();

    public LimitOptions Limits { get; } = new();

    public SecurityOptions Security { get; } = new();

    public Option<string?> ClusterFolder { get; } = OptionTypes.Text(
        "--cluster", "Folder of a cluster or replica set started by 'cluster start'", "DIR");

    /// <summary>Those that take the place of a scenario file's values; <c>--threads</c> and <c>--rate</c> among them.</summary>
    public OverrideOptions Overrides { get; } = new();

    public Option<long?> Batch { get; } = OptionTypes.Make<long?>("--batch", null,
        "Documents per command in the batch phase [default: 1000]", "COUNT", text => Quantities.ParseCount(text, 1, 100_000));

    public Option<ulong?> Seed { get; } = OptionTypes.Make<ulong?>(
        "--seed", null, "Seed of the documents and of every random choice [default: 42]", "N", ParseSeed);

    public Option<bool> Journal { get; } = new("--journal") { Description = "Acknowledged inserts wait for the journal (j:true)" };

    public Option<string?> Ordered { get; } = OptionTypes.Choice(
        "--ordered", "Whether a batch stops at its first error [default: true; false on shards]", "true", "false");

    public Option<string?> ShardKey { get; } = OptionTypes.Make<string?>("--shard-key", null,
        "Shard key: hashed (a hashed _id), FIELD, FIELD:hashed, or several fields separated by commas [default: hashed]", "KEY", text =>
        {
            _ = Load.Sharding.ShardKey.Parse(text);
            return text;
        }).Suggesting("hashed");

    public Option<int?> Presplit { get; } = OptionTypes.Make<int?>("--presplit", null,
        "Split a new sharded collection into N chunks, spread over the shards [default: the server's choice]", "N",
        text => (int)Quantities.ParseCount(text, 1, 8192));

    public Option<int?> ChunkSize { get; } = OptionTypes.Make<int?>(
        "--chunk-size", null, "Chunk size of the cluster, in whole megabytes, 1MB to 1GB [default: unchanged]", "SIZE", ParseChunkSize);

    public Option<string?> Balancer { get; } = OptionTypes.Make<string?>("--balancer", null,
        "Balancer of the cluster: on, off, or its active window in the servers' time [default: unchanged]",
        "on|off|HH:MM-HH:MM", ParseBalancer).Suggesting("on", "off");

    public Option<string?> Preset { get; } = OptionTypes.Choice(
        "--preset", "Settings of the original 2011 test of a sharded collection: --shard-key _id --ordered true --balancer on", "2011");

    public Option<double?> Verify { get; } = OptionTypes.Make<double?>("--verify", null,
        "Share of replies to verify byte by byte: all, none, or a percentage [default: 1%]", "SHARE", text => ParseShare(text))
        .Suggesting("all", "none");

    public Option<long?> MaxErrors { get; } = OptionTypes.Count(
        "--max-errors", "Failed operations allowed before the exit code is 4 [default: 0]", least: 0);

    public Option<bool> AwaitReplication { get; } = new("--await-replication")
    {
        Description = "Before each measured phase, wait until the secondaries have all that was written",
    };

    public Option<SkipLimit?> MaxSkipped { get; } = OptionTypes.Make<SkipLimit?>("--max-skipped", null,
        "Arrivals of a --rate that may be skipped before the exit code is 4: a number, or a share such as 1% [default: 0]",
        "N|SHARE", SkipLimits.Parse);

    public Option<long?> Compressibility { get; } = OptionTypes.Make<long?>("--compressibility", null,
        "Compressibility of the filler text, in percent [default: 0]", "PERCENT", text => Quantities.ParseCount(text, 0, 100));

    public Option<string?> ForceDrop { get; } = OptionTypes.Text(
        "--force-drop", "Drop this collection first, whoever created it", "DB.COLL");

    public Option<string[]?> MayWrite { get; } = new("--may-write")
    {
        Description = "Let the scenario write what its file lists in mayWrite: a collection that the run does not create, "
            + "DB.* for a whole database, or server; may be repeated",
        HelpName = "DB.COLL",
        AllowMultipleArgumentsPerToken = false,
    };

    public Option<string?> Files { get; } = FilesOption.Create();

    public Option<string?> Out { get; } = OptionTypes.Folder("--out", "Runs folder [default: runs]");

    public Option<bool> Quiet { get; } = new("--quiet") { Description = "Print only the result, no progress" };

    public Option<bool> Full { get; } = new("--full") { Description = "Print the whole report, not just its last screen" };

    public Option<bool> NoReport { get; } = new(
        "--no-report") { Description = "Write no report folder; 'mongoperf report RUN' writes it later" };

    public Option<string?> Plots { get; } = OptionTypes.Folder(
        "--plots", "Folder with your own plots, drawn beside the standard ones; one with a standard plot's name replaces it");

    public Option<long?> Live { get; } = LiveOption.Create();

    public Option<string?> Otlp { get; } = LiveOption.CreateReceiver();

    public Option<bool> NoTui { get; } = new("--no-tui") { Description = "Print progress as plain lines, even in a terminal" };

    /// <summary>Those that set the parameter of scenarios/series.yaml that has their name, and the text that each sets;
    /// null for one that was not typed.</summary>
    public IReadOnlyList<(Option Option, Func<ParseResult, string?> Text)> OfSeries =>
    [
        (Collection, parsed => parsed.GetValue(Collection) is { } name ? Names.Collection(name, "mongoperf") : null),
        (Batch, parsed => parsed.GetValue(Batch)?.ToString()),
        (Overrides[PlanOptions.Threads], parsed => new OverrideReader(Overrides.Read(parsed)).ParameterText(PlanOptions.Threads)),
        (Overrides[PlanOptions.Rates], parsed => new OverrideReader(Overrides.Read(parsed)).ParameterText(PlanOptions.Rates)),
        (Journal, parsed => parsed.GetValue(Journal) ? "true" : null),
        (Ordered, parsed => parsed.GetValue(Ordered)),
        (Compressibility, parsed => parsed.GetValue(Compressibility)?.ToString()),
    ];

    /// <summary>What the file of any other scenario says, and no option.</summary>
    public IEnumerable<Option> OfSeriesAlone =>
        OfSeries.Select(one => one.Option).Except([Overrides[PlanOptions.Threads], Overrides[PlanOptions.Rates]]);

    /// <summary>The first option typed that would change a deployment whose data are only read; null for none.</summary>
    public Option? TypedChange(ParseResult parsed) =>
        ((Option[])[ShardKey, Presplit, ChunkSize, Balancer, Preset, ForceDrop]).FirstOrDefault(parsed.HasTyped);

    /// <summary>Adds the options that every measuring command takes.</summary>
    public void AddTo(Command command)
    {
        Option[] all =
        [
            Uri, PasswordFile, ShardUser, ShardPasswordFile, ServerApi,
            Database, Collection, Mongod, Cache, Topology, Engines, Against, Repeat, .. Cluster.All, ClusterFolder,
            Limits.MemoryLimit, Limits.Cpus, Security.Tls, Security.Auth,
            Overrides[PlanOptions.Threads], Batch, Overrides[PlanOptions.Rates], ShardKey, Presplit, ChunkSize, Balancer, Preset,
            Seed, Journal, Ordered, Verify, MaxErrors, MaxSkipped, AwaitReplication, Compressibility, ForceDrop, Out, Quiet, Full, NoTui,
            NoReport, Plots, Live, Otlp,
        ];
        foreach (Option option in all)
            command.Options.Add(option);
    }

    public static double ParseShare(string text) => text switch
    {
        "all" => 1,
        "none" => 0,
        _ when text.EndsWith('%') && double.TryParse(text[..^1], out double percent) && percent is >= 0 and <= 100 => percent / 100,
        _ => throw new FormatException($"'{text}' is not valid; allowed: all, none, or a percentage such as 1%"),
    };

    private static Topology ParseTopology(string text) => text switch
    {
        // The word of earlier versions.
        "single" => Storage.Topology.Standalone,
        _ => OptionTypes.OneOf(text, Topologies) switch
        {
            "replicaset" => Storage.Topology.ReplicaSet,
            "sharded" => Storage.Topology.Sharded,
            "null" => Storage.Topology.Null,
            _ => Storage.Topology.Standalone,
        },
    };

    private static EngineKind ParseEngine(string text) => text switch
    {
        "wire" => EngineKind.Wire,
        "driver" => EngineKind.Driver,
        _ => throw new FormatException($"'{text}' is not an engine; allowed: wire, driver"),
    };

    private static int? ParseChunkSize(string text)
    {
        const long Megabyte = 1L << 20;
        long bytes = Quantities.ParseSize(text);
        return bytes % Megabyte == 0 && bytes / Megabyte is >= 1 and <= 1024
            ? (int)(bytes / Megabyte)
            : throw new FormatException($"'{text}' is not a chunk size; allowed: whole megabytes from 1MB to 1GB");
    }

    private static string ParseBalancer(string text) =>
        text is "on" or "off" || BalancerReader.IsWindow(text) ? text
            : throw new FormatException($"'{text}' is not valid; allowed: on, off, or a window such as 22:00-06:00");

    private static ulong? ParseSeed(string text) =>
        ulong.TryParse(text, out ulong seed) ? seed : throw new FormatException($"'{text}' is not a seed; allowed: 0 to {ulong.MaxValue}");
}

using System.CommandLine;
using MongoPerf.Engine.Workloads;
using MongoPerf.Scenarios;

namespace MongoPerf.Cli;

/// <summary>Options that several commands take, each made once per command.</summary>
internal sealed class SharedOptions
{
    public Option<string?> Uri { get; } = OptionTypes.Text("--uri", "Connection string of a deployment that exists (environment: MONGOPERF_URI); scenarios take tyrant://HOST too. Without it a mongod is started, or the embedded server.", "URI", "-u");

    public Option<string?> Database { get; } = OptionTypes.Text("--db", "Database [default: mongoperf]", "NAME");

    public Option<string?> Collection { get; } = OptionTypes.Text("--collection", "Collection [default: series]", "NAME");

    public Option<string?> Mongod { get; } = OptionTypes.Text("--mongod", "The mongod program to start, or the version of an installed one (environment: MONGOPERF_MONGOD; then what 'server install' brought, then PATH)", "PATH");

    public Option<long?> Cache { get; } = OptionTypes.Size("--cache", "Cache limit of a server that is started, 256MB at least [default: the server's own]");

    public Option<IReadOnlyList<string>?> Topology { get; } = OptionTypes.List("--topology", "What is put under load: single (one server), sharded (a cluster that is started on this machine), or null (only answers); a list runs one after the other and compares them [default: single]", "KIND[,KIND…]", text => OptionTypes.OneOf(text, ["single", "sharded", "null"]));

    public Option<string?> Against { get; } = OptionTypes.Text("--against", "A second deployment: the same is run on it, and compared with that of --uri", "URI");

    public Option<long?> Repeat { get; } = OptionTypes.Make<long?>("--repeat", null, "Run it so many times and show the spread; two deployments take turns and are compared run by run. Server data of repeats are deleted as they end. [default: 1]", "N", text => Bounded(Quantities.ParseCount(text), 1000));

    public ClusterOptions Cluster { get; } = new();

    public LimitOptions Limits { get; } = new();

    public Option<string?> ClusterFolder { get; } = OptionTypes.Text("--cluster", "Folder of a cluster that 'cluster start' brought up", "DIR");

    public Option<IReadOnlyList<int>?> Threads { get; } = OptionTypes.List("--threads", "Threads of the query tests; a list gives a result for each [default: 8]", "N[,N…]", text => (int)Bounded(Quantities.ParseCount(text), 10_000), alias: "-t");

    public Option<long?> Batch { get; } = OptionTypes.Make<long?>("--batch", null, "Documents per command of the batch test [default: 1000]", "COUNT", text => Bounded(Quantities.ParseCount(text), 100_000));

    public Option<double?> Rate { get; } = OptionTypes.Make<double?>("--rate", null, "Operations per second over all threads, for the query tests; response time is then counted from the intended start [default: as fast as possible]", "RATE", text => Quantities.ParseCount(text));

    public Option<ulong?> Seed { get; } = OptionTypes.Make<ulong?>("--seed", null, "Seed of the documents and of everything drawn [default: 42]", "N", ParseSeed);

    public Option<bool> Journal { get; } = new("--journal") { Description = "Acknowledged inserts wait for the journal (j:true)" };

    public Option<string?> Ordered { get; } = OptionTypes.Choice("--ordered", "Batches stop at the first error, or go on [default: true, on shards false]", "true", "false");

    public Option<string?> ShardKey { get; } = OptionTypes.Make<string?>("--shard-key", null, "Field that a sharded collection is spread by: hashed (a hashed _id), _id, Number, Number1, Date, FIELD:hashed, or several with commas [default: hashed]", "KEY", text =>
    {
        _ = Engine.Execution.Sharding.ShardKey.Parse(text);
        return text;
    });

    public Option<int?> Presplit { get; } = OptionTypes.Make<int?>("--presplit", null, "Chunks that a new sharded collection begins with, dealt out to the shards [default: the server's own]", "N", text => (int)Bounded(Quantities.ParseCount(text), 8192));

    public Option<int?> ChunkSize { get; } = OptionTypes.Make<int?>("--chunk-size", null, "Chunk size of the cluster, whole megabytes from 1MB to 1GB [default: as it is]", "SIZE", ParseChunkSize);

    public Option<string?> Balancer { get; } = OptionTypes.Make<string?>("--balancer", null, "Balancer of the cluster: on, off, or the hours of the day in which it may work, in the servers' time [default: as it is]", "on|off|HH:MM-HH:MM", ParseBalancer);

    public Option<string?> Preset { get; } = OptionTypes.Choice("--preset", "Settings of the original test of 2011, for a sharded collection: --shard-key _id --ordered true --balancer on", "2011");

    public Option<string?> Verify { get; } = OptionTypes.Make<string?>("--verify", null, "Share of replies whose documents are compared with the generator's: all, none, or a percentage [default: 1%]", "SHARE", text =>
    {
        _ = ParseShare(text);
        return text;
    });

    public Option<long?> MaxErrors { get; } = OptionTypes.Count("--max-errors", "Failed operations beyond this end with exit code 4 [default: 0]", least: 0);

    public Option<long?> Compressibility { get; } = OptionTypes.Make<long?>("--compressibility", null, "Percent of the filler text that compresses away [default: 0]", "PERCENT", text => Bounded(Quantities.ParseCount(text, 0), 100));

    public Option<string?> ForceDrop { get; } = OptionTypes.Text("--force-drop", "Drop this collection first, whoever made it", "DB.COLL");

    public Option<string?> Out { get; } = OptionTypes.Text("--out", "Folder of the runs [default: runs]", "DIR");

    public Option<bool> Quiet { get; } = new("--quiet") { Description = "No progress, only the result" };

    public Option<bool> NoTui { get; } = new("--no-tui") { Description = "Progress as plain lines, also in a terminal" };

    public static double ParseShare(string text) => text switch
    {
        "all" => 1,
        "none" => 0,
        _ when text.EndsWith('%') && double.TryParse(text[..^1], out double percent) && percent is >= 0 and <= 100 => percent / 100,
        _ => throw new FormatException($"'{text}' is none of all, none, or a percentage such as 1%"),
    };

    public static string ParseTest(string text) => OptionTypes.OneOf(text, SeriesTests.All);

    public static long Bounded(long value, long most) =>
        value <= most ? value : throw new FormatException($"{value} is too many, allowed are up to {most}");

    private static int? ParseChunkSize(string text)
    {
        const long Megabyte = 1L << 20;
        long bytes = Quantities.ParseSize(text);
        return bytes % Megabyte == 0 && bytes / Megabyte is >= 1 and <= 1024
            ? (int)(bytes / Megabyte)
            : throw new FormatException($"'{text}' is no chunk size, allowed are whole megabytes from 1MB to 1GB");
    }

    private static string ParseBalancer(string text) =>
        text is "on" or "off" || BalancerReader.IsWindow(text) ? text : throw new FormatException($"'{text}' is none of on, off, or two different times such as 22:00-06:00");

    private static ulong? ParseSeed(string text) =>
        ulong.TryParse(text, out ulong seed) ? seed : throw new FormatException($"'{text}' is no seed, allowed are 0 to {ulong.MaxValue}");
}

using System.CommandLine;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Cli;

/// <summary>Options that several commands take, each made once per command.</summary>
internal sealed class SharedOptions
{
    public Option<string?> Uri { get; } = OptionTypes.Text("--uri", "Connection string of a deployment that exists (environment: MONGOPERF_URI); scenarios take tyrant://HOST too. Without it a mongod is started, or the embedded server.", "URI", "-u");

    public Option<string?> Database { get; } = OptionTypes.Text("--db", "Database [default: mongoperf]", "NAME");

    public Option<string?> Collection { get; } = OptionTypes.Text("--collection", "Collection [default: series]", "NAME");

    public Option<string?> Mongod { get; } = OptionTypes.Text("--mongod", "The mongod program to start (environment: MONGOPERF_MONGOD; then PATH)", "PATH");

    public Option<long?> Cache { get; } = OptionTypes.Size("--cache", "Cache limit of a server that is started, 256MB at least [default: the server's own]");

    public Option<string?> Topology { get; } = OptionTypes.Choice("--topology", "What is put under load: one server, or the null deployment that only answers [default: single]", "single", "null");

    public Option<IReadOnlyList<int>?> Threads { get; } = OptionTypes.List("--threads", "Threads of the query tests; a list gives a result for each [default: 8]", "N[,N…]", text => (int)Bounded(Quantities.ParseCount(text), 10_000), alias: "-t");

    public Option<long?> Batch { get; } = OptionTypes.Make<long?>("--batch", null, "Documents per command of the batch test [default: 1000]", "COUNT", text => Bounded(Quantities.ParseCount(text), 100_000));

    public Option<double?> Rate { get; } = OptionTypes.Make<double?>("--rate", null, "Operations per second over all threads, for the query tests; response time is then counted from the intended start [default: as fast as possible]", "RATE", text => Quantities.ParseCount(text));

    public Option<ulong?> Seed { get; } = OptionTypes.Make<ulong?>("--seed", null, "Seed of the documents and of everything drawn [default: 42]", "N", ParseSeed);

    public Option<bool> Journal { get; } = new("--journal") { Description = "Acknowledged inserts wait for the journal (j:true)" };

    public Option<string?> Ordered { get; } = OptionTypes.Choice("--ordered", "Batches stop at the first error, or go on [default: true]", "true", "false");

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

    private static ulong? ParseSeed(string text) =>
        ulong.TryParse(text, out ulong seed) ? seed : throw new FormatException($"'{text}' is no seed, allowed are 0 to {ulong.MaxValue}");
}

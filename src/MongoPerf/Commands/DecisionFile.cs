using System.Text.RegularExpressions;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>
/// A scenario that decides between one server and shards: the growth of a file on one server, on two shards with as much in all, and on
/// two shards of which each has as much.
/// </summary>
internal static partial class DecisionFile
{
    public const string SingleOrSharded = "single-or-sharded";

    private const double MemoryBytes = 960 << 20;
    private const double CacheShare = 0.3125;

    /// <summary>Data this much larger than the memory show what happens when it has run out.</summary>
    private const double TimesMemory = 2.5;

    /// <summary>Fewer documents are no growth, more take days.</summary>
    private const double LeastDocuments = 200_000;
    private const double MostDocuments = 50_000_000;
    private const int Steps = 10;
    private const int MeasuredDocuments = 20;

    /// <summary>Writes the file.</summary>
    /// <param name="path">Where; nothing is there.</param>
    /// <param name="source">Has the documents and what is done with them; null for the example.</param>
    /// <param name="documents">That the deployment will hold; null where that is not known.</param>
    /// <param name="memory">Bytes that the one server will have; null where that is not known.</param>
    /// <returns>The command that runs it.</returns>
    /// <exception cref="UserException">The source has no growth, or the file can't be written.</exception>
    public static string Write(string path, string? source, long? documents, long? memory)
    {
        ScenarioFile file = ScenarioFile.Find(source ?? SingleOrSharded);
        PlanRound plan = PlanReader.Read(file, new PlanOverrides(), PlanRequests.DefaultSeed).Plan.Rounds[0];
        if (!plan.Phases.Any(phase => phase.Growth is not null))
            throw new UserException(
                ExitCode.WrongUsage, $"{file.ShownPath} grows no collection, and a decision needs figures at several sizes",
                "'mongoperf new --growth my.yaml' writes a scenario that does; put your documents and queries there");
        GrowthPlan growth = plan.Phases.First(phase => phase.Growth is not null).Growth!;
        // What belongs to one of a size: a document, where one collection grows.
        double size = growth.Collections.Sum(one => one.Factor * Enumerable.Range(0, MeasuredDocuments)
            .Average(i => plan.Collections.First(collection => collection.Name == one.Name).Documents.Make(i).Bytes.Length));
        if (documents is { } all)
            documents = Math.Max(1, all / growth.Collections.Sum(one => one.Factor));
        double limit = MemoryBytes;
        double target = memory is { } bytes && documents is { } count ? limit * count / bytes : TimesMemory * limit / size;
        if (target < LeastDocuments || target > MostDocuments)
        {
            double fitting = Math.Clamp(target, LeastDocuments, MostDocuments);
            limit *= fitting / target;
            target = fitting;
        }

        long rounded = Units.TwoDigits(target);
        string step = Units.Count(Units.TwoDigits(rounded / (double)Steps));
        string run = $"{CommandText.Program} run {CommandText.Quoted(path)} --target {Units.Count(rounded)} --step {step}";
        string text = $"{Header(run, documents, memory)}onlyMongoDb: true\n\n{Deployments(limit)}"
            + WithUnorderedBatches(WithShardKeys(WithoutHead(file.Text), plan));
        ScenarioCommands.WriteText(path, text);
        try
        {
            _ = PlanReader.Read(ScenarioFile.Find(path), new PlanOverrides(), PlanRequests.DefaultSeed);
        }
        catch (UserException e)
        {
            File.Delete(path);
            throw new UserException(ExitCode.WrongUsage, $"{file.ShownPath} can't be made an experiment on shards: {e.Message}",
                "give each collection a shardKey in block style, and run it with deployments of your own (docs/scenarios.md)");
        }

        return run;
    }

    private static string Header(string run, long? documents, long? memory)
    {
        string asked = documents is { } count && memory is { } bytes
            ? $" --documents {Units.Count(count)} --memory {Units.Megabytes(bytes)}"
            : " --documents 500M --memory 64GB";
        return $"""
            # One server or shards, decided for your data. The same growth runs on one server, on two shards with as much memory and CPUs
            # in all, and on two shards of which each has as much as the one server, until the data have outgrown the memory.
            #
            #   {run}
            #   … --repeat 3     how far another run differs
            #
            # It ends with the ids of the three runs. What they would do at your size:
            #
            #   {CommandText.Program} forecast A B C{asked}
            #
            # Yours are the documents, indexes and shard key under 'data', and the operations under 'each'.

            """;
    }

    private static string Deployments(double limit)
    {
        string whole = $"memory: {Units.Megabytes(limit)}, cache: {Units.Megabytes(limit * CacheShare)}, cpus: 2";
        string half = $"memory: {Units.Megabytes(limit / 2)}, cache: {Units.Megabytes(limit / 2 * CacheShare)}, cpus: 1";
        return $$"""
            deployments:
              one server: { {{whole}} }
              two shards with as much in all: {shards: 2, {{half}}}
              two shards with as much each: {shards: 2, {{whole}}}


            """;
    }

    /// <summary>Without the comment at its top, which is of another file, and without what this one says itself.</summary>
    private static string WithoutHead(string text)
    {
        string body = string.Join('\n', text.ReplaceLineEndings("\n").Split('\n').SkipWhile(line => line.Length == 0 || line[0] == '#'));
        return OwnKeys().Replace(body, "");
    }

    /// <summary>A hashed _id where a collection has no key: it spreads any documents evenly.</summary>
    private static string WithShardKeys(string text, PlanRound plan)
    {
        foreach (PlanCollection collection in plan.Collections.Where(one => one is { ShardKey: null, Shard: null, Files: null }))
        {
            var head = new Regex($@"^( +){Regex.Escape(collection.Name)}:[ ]*(#.*)?$", RegexOptions.Multiline);
            text = head.Replace(text, match => $"{match.Value}\n{match.Groups[1].Value}  shardKey: {{_id: hashed}}", 1);
        }

        return text;
    }

    /// <summary>
    /// An ordered batch is cut at every change of shard: what that costs is no question of one server or shards. A file that says itself
    /// which of its batches are ordered is left as it is.
    /// </summary>
    private static string WithUnorderedBatches(string text) => text.Contains("ordered:", StringComparison.Ordinal) ? text
        : Batches().Replace(text, static match => match.Groups["indent"] is { Success: true, Value: var indent }
            ? $"{match.Value}\n{new string(' ', indent.Length)}ordered: false" : $"{match.Value}, ordered: false");

    /// <summary>On a line of its own, or within braces.</summary>
    [GeneratedRegex(@"^(?<indent>[ ]+(?:- )?)batch:[^\n]*|(?<=\{[^\n]*)\bbatch: *[^,}\n]+", RegexOptions.Multiline)]
    private static partial Regex Batches();

    [GeneratedRegex(@"^(?:deployments|onlyMongoDb):.*\n(?:[ \t#].*\n|\n)*", RegexOptions.Multiline)]
    private static partial Regex OwnKeys();
}

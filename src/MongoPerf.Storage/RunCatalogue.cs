using System.Globalization;
using MongoPerf.Platforms;

namespace MongoPerf.Storage;

/// <summary>
/// One line of `list runs`. The name is that of its deployment, if it has one. The state is <see cref="StoredRun.StateText"/>, or
/// "unreadable": then the problem says why, in one line, and what can't be known is null.
/// </summary>
public sealed record RunListing(
    string Id,
    string Folder,
    string State,
    DateTimeOffset? StartedAt,
    DateTimeOffset? EndedAt,
    long? Target,
    long DocumentsReached,
    string? Plan,
    string? Name,
    Topology? Topology,
    string? ServerVersion,
    EngineSettings? Engine,
    string? Problem)
{
    /// <inheritdoc cref="DeploymentInfo.NotMongoDb"/>
    public string? NotMongoDb { get; init; }
}

/// <summary>The folder of runs: what is in it, and names for new ones.</summary>
public static class RunCatalogue
{
    /// <summary>Folders of comparisons lie beside the runs and begin so.</summary>
    public const string ComparisonPrefix = "compare-";

    /// <summary>So do those of histories.</summary>
    public const string HistoryPrefix = "history-";

    /// <summary>
    /// The oldest first; folders that hold no readable run come last, with the reason. Empty when there is no such folder.
    /// </summary>
    public static IReadOnlyList<RunListing> List(string runsFolder)
    {
        if (!Directory.Exists(runsFolder))
            return [];
        return [.. Directory.EnumerateDirectories(runsFolder)
            .Where(folder => !new[] { ".", ComparisonPrefix, HistoryPrefix }
                .Any(prefix => Path.GetFileName(folder).StartsWith(prefix, StringComparison.Ordinal)))
            .Select(Describe)
            .OrderBy(listing => listing.StartedAt ?? DateTimeOffset.MaxValue)
            .ThenBy(listing => listing.Id.Length)
            .ThenBy(listing => listing.Id, StringComparer.Ordinal)];
    }

    /// <summary>When the run in a folder stored something last.</summary>
    public static DateTimeOffset LastWritten(string runFolder) => new[] { RunSchema.FileName, RunSchema.FileName + "-wal" }
        .Select(name => new DateTimeOffset(File.GetLastWriteTimeUtc(Path.Combine(runFolder, name)))).Max();

    /// <summary>
    /// Takes the next free id of that day (2026-11-21-a, -b … -z, -aa) and makes its folder, which makes it this caller's.
    /// </summary>
    /// <remarks>
    /// The letters continue after the last one in use, so that the id of a run that was deleted in between isn't given to another.
    /// </remarks>
    /// <exception cref="RunStoreException">The folder of runs can't be made or written.</exception>
    public static string NewId(string runsFolder, DateTimeOffset now)
    {
        string day = now.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);
        try
        {
            Directory.CreateDirectory(runsFolder);
            int last = Directory.EnumerateFileSystemEntries(runsFolder, day + "-*")
                .Select(entry => NumberOf(Path.GetFileName(entry)[(day.Length + 1)..]))
                .DefaultIfEmpty(0)
                .Max();
            while (true)
            {
                string id = day + "-" + LettersOf(++last);
                if (SystemCalls.TryMakeFolder(Path.Combine(runsFolder, id)))
                    return id;
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new RunStoreException($"can't create a run in {runsFolder} ({e.Message})\nhint:  choose another folder with --out");
        }
    }

    /// <summary>1 is a, 26 z, 27 aa.</summary>
    internal static string LettersOf(int number)
    {
        string letters = "";
        for (; number > 0; number = (number - 1) / 26)
            letters = (char)('a' + ((number - 1) % 26)) + letters;
        return letters;
    }

    /// <summary>0 when these are not letters of an id.</summary>
    private static int NumberOf(string letters) =>
        letters.Length is 0 or > 5 || letters.Any(letter => letter is < 'a' or > 'z')
            ? 0
            : letters.Aggregate(0, (number, letter) => (number * 26) + letter - 'a' + 1);

    private static RunListing Describe(string folder)
    {
        string id = Path.GetFileName(folder);
        try
        {
            using StoredRun run = StoredRun.Open(folder);
            return new RunListing(
                id, folder, run.StateText, run.Run.StartedAt, run.Run.EndedAt, run.Settings.Plan.TargetDocuments, run.DocumentsReached,
                run.Settings.Plan.Name, run.DeploymentName,
                run.Deployment?.Topology, run.Deployment?.ServerVersion, run.Settings.Engine, null)
            {
                NotMongoDb = run.Deployment?.NotMongoDb,
            };
        }
        catch (RunStoreException e)
        {
            return new RunListing(id, folder, "unreadable", null, null, null, 0, null, null, null, null, null, e.Message.Split('\n')[0]);
        }
    }
}

using MongoPerf.Deployments;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Growth;
using MongoPerf.Load.Keys;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Sees to it that an interrupted run's documents are where it is to continue: run.db may be older than the server, and another server than
/// the one that it knows.
/// </summary>
internal static class ResumedData
{
    /// <summary>How many numbers at either end must be there; those in between are counted only.</summary>
    private const long Probed = 1000;

    /// <summary>Requires the data folder of a run that starts a server of its own.</summary>
    /// <exception cref="UserException">What its server stored is gone (6).</exception>
    public static void RequireFolder(RunDataFolder data, string runId)
    {
        if (data.Look(out _) == DataFolderState.None)
            throw new UserException(ExitCode.Refused, $"{data.Path} does not exist, but run {runId} kept its server's data there",
                $"restore the folder, or start a new run; 'mongoperf report {runId}' shows what was measured");
    }

    /// <param name="data">The collections of the plan.</param>
    /// <param name="vouched">What must be there.</param>
    /// <param name="place">Names the run, the database and the server in messages.</param>
    /// <exception cref="UserException">It is not, or no longer MongoPerf's (6).</exception>
    public static void Require(IDataStore data, IReadOnlyList<VouchedDocuments> vouched, ResumedPlace place)
    {
        foreach (VouchedDocuments one in vouched)
        {
            CollectionMarker marker = RequireMarker(data, one, place);
            // Other clients of the run, or a run that grew the collection, may have gone on without some that this one does not know.
            if (data.FindsDocuments(one.Collection))
                one.Refused.Add(one.Collection.Name, marker.Refused);
            if (!one.MayHaveShrunk)
                RequireDocuments(data, one, place);
        }
    }

    private static CollectionMarker RequireMarker(IDataStore data, VouchedDocuments vouched, ResumedPlace place)
    {
        CollectionState state = data.Inspect(vouched.Collection.Stored[^1]);
        if (!state.Exists)
            throw Refused(vouched, place, "does not exist");
        if (state.Marker is not { } marker)
            throw Refused(vouched, place, "was not created by MongoPerf");
        bool isOwn = marker.RunId == place.RunId && (marker.Token is null || place.Token is null || marker.Token == place.Token);
        // One that grows may have been continued by another run: its documents are the same.
        if (!isOwn && !vouched.Collection.IsGrown && !place.IsExisting)
            throw Refused(
                vouched, place, $"now belongs to {(marker.RunId == place.RunId ? "another run of this name" : $"run {marker.RunId}")}");
        if (marker.Documents < vouched.Documents && !place.IsExisting)
            throw Refused(vouched, place, $"holds {marker.Documents:N0} documents according to its marker");
        return marker;
    }

    private static void RequireDocuments(IDataStore data, VouchedDocuments vouched, ResumedPlace place)
    {
        // What another run made need not be whole.
        bool isFound = data.FindsDocuments(vouched.Collection);
        string name = vouched.Collection.Name;
        long needed = place.IsExisting ? 1
            : isFound ? vouched.Refused.Without(name, [new NumberRange(0, vouched.Documents)]).Sum(range => range.Count)
            : vouched.Documents;
        long found = data.CountAtLeast(vouched.Collection, needed);
        if (found < needed)
            throw Refused(vouched, place, $"holds {found:N0} documents");
        if (place.IsExisting || !isFound)
            return;
        NumberRange[] ends = [new(0, Math.Min(Probed, vouched.Documents)), new(Math.Max(0, vouched.Documents - Probed), vouched.Documents)];
        if (ends.SelectMany(range => vouched.Refused.Without(name, data.FindMissing(vouched.Collection, range)))
            .FirstOrDefault() is { Count: > 0 } missing)
            throw Refused(vouched, place, $"holds {found:N0} documents, but not number {missing.First:N0}");
    }

    private static UserException Refused(VouchedDocuments vouched, ResumedPlace place, string found) => new(
        ExitCode.Refused,
        $"{place.Database}.{vouched.Collection.Name} on {place.Address} {found}; to continue, "
        + $"run {place.RunId} needs the {vouched.Documents:N0} documents that were there when it was interrupted",
        place.BeganOn is { } other && other != place.Address
            ? $"the run was on {other}: resume it there"
            : "restore the data, or start a new run");
}

/// <summary>Where a run is resumed.</summary>
/// <param name="RunId">The id of the run, as in its markers.</param>
/// <param name="Token">The token of the run; null for one without.</param>
/// <param name="Database">The database of its collections.</param>
/// <param name="Address">The address of the server.</param>
/// <param name="BeganOn">Address of the server that it had before; null when that is not known, or was the run's own.</param>
/// <param name="IsExisting">Its collections were there before it, and are another run's.</param>
internal sealed record ResumedPlace(string RunId, string? Token, string Database, string Address, string? BeganOn, bool IsExisting);

using System.Globalization;
using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Plans;
using MongoPerf.Reports;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Commands;

/// <summary><c>learn --check</c>: how far a scenario is from a deployment.</summary>
internal static class LearnCheck
{
    /// <param name="plan">The scenario's.</param>
    /// <param name="sample">The deployment's database.</param>
    /// <param name="names">What the file calls collections and fields.</param>
    /// <param name="budget">So many documents are generated.</param>
    /// <param name="run">A run of the scenario; null for none.</param>
    /// <param name="seen">What the deployment was seen doing; null for nothing.</param>
    /// <exception cref="UserException">They have no collection in common (2).</exception>
    public static ExitCode Run(
        Plan plan, DatabaseSample sample, WrittenNames names, SamplingBudget budget, StoredRun? run, Observation? seen)
    {
        using StoredRun? compared = run;
        if (!sample.Collections.Any(there => plan.Collections.Any(one => one.Name == names.Collection(there.Name))))
            throw new UserException(ExitCode.WrongUsage, $"{sample.Name} has none of the scenario's collections",
                "--db names another database; a file with hashed names needs its key: --hash-names=KEY");
        CollectionSample[] made = [.. plan.Collections.DistinctBy(one => one.Name).Where(one => !one.IsExisting && one.Files is null)
            .Select(one => Make(one, CountOf(one), budget))];
        string? changed = run is null ? null : ChangedCounts(run);
        if (changed is not null)
            Console.Error.WriteLine($"--run: {run!.Run.Id} had {changed}, so the p99 of its operations and the sizes of its indexes are "
                + "shown, but not judged");
        Deviation[] all =
        [
            .. DataComparison.Of(sample.Collections, made, names),
            .. run is null || seen is null ? [] : seen.Against(run, sample, names, areTimesJudged: changed is null),
            .. run is null ? [] : SizeComparison.Of(sample.Collections, SizesOf(run), names)
                .Select(one => changed is null ? one : one with { Limit = null }),
        ];
        if (run is not null && NotMongoDb.Mark(run) is { } mark)
            Console.WriteLine($"run {run.Run.Id}: {mark}; do not take its figures for MongoDB's");
        DeviationTable.Write(all, Console.Out);
        return all.All(one => one.IsWithin) ? ExitCode.Done : ExitCode.AssertionFailed;

        // 'learn' loads what is there in the end without what phases insert, or all of it: whichever this file does.
        long CountOf(PlanCollection collection)
        {
            long there = sample.Collections.FirstOrDefault(one => names.Collection(one.Name) == collection.Name)?.Count ?? 0;
            long grown = collection.Count + plan.Phases.SelectMany(phase => phase.Groups)
                .Sum(group => group.ExpectedInserts(collection.Name) - group.ExpectedRemovals(collection.Name));
            return Math.Abs(grown - there) < Math.Abs(collection.Count - there) ? grown : collection.Count;
        }
    }

    /// <summary>Of another number of documents, indexes have other sizes, and operations take other times.</summary>
    /// <returns>The options that gave the run a number other than the file's; null for none.</returns>
    private static string? ChangedCounts(StoredRun run)
    {
        PlanOverrides changed = StoredPlan.EffectiveOverrides(run);
        string[] options =
        [
            changed.Scale == 1 ? "" : string.Create(CultureInfo.InvariantCulture, $"--scale {changed.Scale}"),
            changed.Records is { } records ? string.Create(CultureInfo.InvariantCulture, $"--records {records}") : "",
        ];
        string typed = string.Join(" and ", options.Where(option => option.Length > 0));
        return typed.Length == 0 ? null : typed;
    }

    /// <summary>By collection, as they were measured last.</summary>
    private static Dictionary<string, SizeResult> SizesOf(StoredRun run)
    {
        var sizes = new Dictionary<string, SizeResult>(StringComparer.Ordinal);
        foreach (PhaseRecord phase in run.Phases)
        {
            foreach (SizeResult size in phase.Sizes)
                sizes[size.Collection ?? phase.Collection ?? ""] = size;
        }

        return sizes;
    }

    /// <summary>Documents from all over the collection, in the order in which they would be inserted.</summary>
    /// <param name="collection">The collection.</param>
    /// <param name="all">How many documents it is to have, maybe with those that phases insert.</param>
    /// <param name="budget">So many are made.</param>
    private static CollectionSample Make(PlanCollection collection, long all, SamplingBudget budget)
    {
        long count = Math.Min(budget.Documents, all);
        var documents = new List<BsonDocument>();
        long bytes = 0;
        for (long i = 0; i < count && bytes < budget.Bytes; i++)
        {
            documents.Add(collection.Documents.Make((long)((double)i * all / count)));
            bytes += documents[^1].Bytes.Length;
        }

        return new CollectionSample(collection.Name, all, documents, AreInOrder: true)
        {
            Indexes = collection.Indexes, Options = collection.Options ?? BsonDocument.Empty,
        };
    }
}

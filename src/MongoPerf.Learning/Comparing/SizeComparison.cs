using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Comparing;

/// <summary>
/// Compares what indexes take on the disk of a run with what they take on the deployment's; of time series also buckets and measurements,
/// which the server packs by their order.
/// </summary>
/// <remarks>
/// What is compared are the blocks that a checkpoint uses. The rest of a file, which later writes will use, depends on what was
/// written between checkpoints in the past (after random writes it is about half of the file), which no copy repeats. Both are divided by
/// the number of documents: a copy may insert more of them than it leaves out of its load, and the deployment may have grown since.
/// </remarks>
public static class SizeComparison
{
    /// <summary>In bytes. How full the pages of smaller ones are differs by more than a tenth between loads of the same data.</summary>
    private const long Small = 1024 * 1024;

    /// <param name="deployment">Its collections.</param>
    /// <param name="run">The sizes of the run's, by the file's names.</param>
    /// <param name="names">What the file calls the deployment's collections and fields.</param>
    public static IEnumerable<Deviation> Of(
        IReadOnlyList<CollectionSample> deployment, IReadOnlyDictionary<string, SizeResult> run, WrittenNames names)
    {
        foreach (CollectionSample there in deployment)
        {
            string collection = names.Collection(there.Name);
            if (there.Sizes is not { Documents: > 0 } sizes || !run.TryGetValue(collection, out SizeResult? here) || here.Documents == 0)
                continue;
            if (sizes.Buckets is > 0)
            {
                yield return new(collection, "measurements in a bucket", (double)sizes.Documents / sizes.Buckets,
                    here.Buckets is > 0 ? (double)here.Documents / here.Buckets : null, Deviation.OfSizes);
                if (sizes.StorageBytes > Small)
                {
                    yield return new(collection, "on disk per measurement (B)",
                        (double)(sizes.StorageBytes - (sizes.FreeStorageBytes ?? 0)) / sizes.Documents,
                        (double)(here.StorageBytes - (here.FreeStorageBytes ?? 0)) / here.Documents, Deviation.OfSizes);
                }
            }

            foreach (string index in sizes.Indexes.Keys)
            {
                string name = NameOf(there, index, names);
                (double? file, double? ownFile) = (Find(sizes.Indexes, index), Find(here.Indexes, name));
                (double? used, double? ownUsed) = (Find(sizes.UsedIndexBytes, index), Find(here.UsedIndexBytes, name));
                bool areKnown = used is not null && (ownFile is null || ownUsed is not null);
                if ((areKnown ? used : file) <= Small)
                    continue;
                if (areKnown)
                    yield return new(collection, $"index {name}: used per document (B)", used / sizes.Documents, ownUsed / here.Documents,
                        Deviation.OfSizes);
                yield return new(collection, $"index {name}: file per document (B)", file / sizes.Documents, ownFile / here.Documents,
                    areKnown ? null : Deviation.OfSizes);
            }
        }
    }

    private static double? Find(IReadOnlyDictionary<string, long>? sizes, string index) =>
        sizes is not null && sizes.TryGetValue(index, out long bytes) ? bytes : null;

    /// <summary>Where names are hashed, indexes have the names that follow from their keys.</summary>
    private static string NameOf(CollectionSample collection, string index, WrittenNames names) => !names.AreHashed
        || collection.Indexes.FirstOrDefault(one => one.FindString("name") == index)?.FindDocument("key") is not { } key
            ? index
            : string.Join('_', key.Select(one => $"{names.Path(one.Key)}_{(one.Value.IsNumber ? one.Value.ToDouble() : one.Value)}"));
}

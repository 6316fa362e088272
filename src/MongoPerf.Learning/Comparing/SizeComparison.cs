using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Comparing;

/// <summary>Compares what indexes take in the files of a run with what they take in the deployment's.</summary>
public static class SizeComparison
{
    /// <summary>Of smaller files much is room that is not used yet.</summary>
    private const long SmallFile = 256 * 1024;

    /// <param name="deployment">Its collections.</param>
    /// <param name="run">Bytes of each index by its name, by the file's names of collections.</param>
    /// <param name="names">What the file calls the deployment's collections and fields.</param>
    public static IEnumerable<Deviation> Of(IReadOnlyList<CollectionSample> deployment,
        IReadOnlyDictionary<string, IReadOnlyDictionary<string, long>> run, WrittenNames names)
    {
        foreach (CollectionSample there in deployment)
        {
            string collection = names.Collection(there.Name);
            if (!run.TryGetValue(collection, out IReadOnlyDictionary<string, long>? here))
                continue;
            foreach ((string index, long bytes) in there.IndexSizes.Where(one => one.Value > SmallFile))
            {
                string name = NameOf(there, index, names);
                yield return new(collection, $"index {name} (kB)", bytes / 1024.0,
                    here.TryGetValue(name, out long own) ? own / 1024.0 : null, Deviation.OfSizes);
            }
        }
    }

    /// <summary>Where names are hashed, indexes have the names that follow from their keys.</summary>
    private static string NameOf(CollectionSample collection, string index, WrittenNames names) => !names.AreHashed
        || collection.Indexes.FirstOrDefault(one => one.FindString("name") == index)?.FindDocument("key") is not { } key
            ? index
            : string.Join('_', key.Select(one => $"{names.Path(one.Key)}_{(one.Value.IsNumber ? one.Value.ToDouble() : one.Value)}"));
}

using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>Marks sizes that were read without a checkpoint: their files may still be as small as before a load.</summary>
internal static class SizeAge
{
    /// <summary>Begins with a space; empty where a checkpoint was taken first.</summary>
    public static string Of(IEnumerable<SizeResult> sizes) => Of(sizes.Any(static one => one.AreOfCheckpoint));

    /// <inheritdoc cref="Of(IEnumerable{SizeResult})"/>
    public static string Of(bool areOfCheckpoint) =>
        areOfCheckpoint ? Words.Of(" (storage and indexes as of the last checkpoint, up to a minute old)") : "";
}

namespace MongoPerf.Testing;

/// <summary>
/// A test that reads MongoDB's specification vectors: skipped with a reason when they are absent, failing then when CI=true.
/// </summary>
public sealed class VectorFactAttribute : FactAttribute
{
    internal const string HowToGetThem =
        "no test vectors: put them at ../shared/protocol/vectors, or set MONGOPERF_VECTORS to a folder that holds source/NAME/tests of "
        + "github.com/mongodb/specifications as NAME";

    public VectorFactAttribute() => Skip = SkipReason;

    /// <summary>Null: run the test.</summary>
    internal static string? SkipReason => RepositoryPaths.Vectors is null && !RepositoryPaths.IsContinuousIntegration ? HowToGetThem : null;
}

/// <inheritdoc cref="VectorFactAttribute"/>
public sealed class VectorTheoryAttribute : TheoryAttribute
{
    public VectorTheoryAttribute() => Skip = VectorFactAttribute.SkipReason;
}

namespace MongoPerf.Testing;

/// <summary>
/// A test that reads MongoDB's specification vectors: skipped where they are absent, but failing then when CI=true.
/// </summary>
public sealed class VectorFactAttribute : FactAttribute
{
    public VectorFactAttribute() => Skip = SkipReason;

    /// <summary>Null: run the test.</summary>
    internal static string? SkipReason => Need.Vectors.Unless(RepositoryPaths.Vectors is not null);
}

/// <inheritdoc cref="VectorFactAttribute"/>
public sealed class VectorTheoryAttribute : TheoryAttribute
{
    public VectorTheoryAttribute() => Skip = VectorFactAttribute.SkipReason;
}

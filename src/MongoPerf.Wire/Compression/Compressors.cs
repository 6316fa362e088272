namespace MongoPerf.Wire.Compression;

/// <summary>Which compressors there are.</summary>
public static class Compressors
{
    /// <summary>The names of the compressors as MongoDB spells them.</summary>
    public static IReadOnlyList<string> Known { get; } = ["snappy", "zlib", "zstd"];

    /// <summary>
    /// The system's C library where there is one: it allocates nothing, and zstd's is faster; docs/performance.md has figures.
    /// </summary>
    /// <param name="name">One of <see cref="Known"/>.</param>
    /// <param name="zlibLevel">-1 to 9.</param>
    internal static Compressor Create(string name, int zlibLevel) => name switch
    {
        "snappy" when NativeSnappyCompressor.IsInstalled => new NativeSnappyCompressor(),
        "zstd" when NativeZstdCompressor.IsInstalled => new NativeZstdCompressor(),
        "zlib" => new ZlibCompressor(zlibLevel),
        _ => CreateManaged(name),
    };

    /// <summary>Needs nothing of the system.</summary>
    internal static Compressor CreateManaged(string name) => name == "snappy" ? new SnappyCompressor() : new ZstdCompressor();
}

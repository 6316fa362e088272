using System.Runtime.InteropServices;

namespace MongoPerf.Wire.Compression;

/// <summary>Which compressors there are, and which of them work on this machine.</summary>
public static class Compressors
{
    /// <summary>As MongoDB spells them.</summary>
    public static IReadOnlyList<string> Known { get; } = ["snappy", "zlib", "zstd"];

    /// <summary>Why a compressor can't be used here.</summary>
    /// <returns>Null when it can.</returns>
    public static string? WhyMissing(string name) => name switch
    {
        "snappy" => WhyMissing(SnappyCompressor.Library, "libsnappy1v5"),
        "zstd" => WhyMissing(ZstdCompressor.Library, "libzstd1"),
        _ => null,
    };

    /// <param name="name">One that <see cref="WhyMissing(string)"/> knows nothing against.</param>
    /// <param name="zlibLevel">-1 to 9.</param>
    internal static Compressor Create(string name, int zlibLevel) => name switch
    {
        "snappy" => new SnappyCompressor(),
        "zstd" => new ZstdCompressor(),
        _ => new ZlibCompressor(zlibLevel),
    };

    private static string? WhyMissing(string library, string package) => NativeLibrary.TryLoad(library, typeof(Compressors).Assembly, null, out _)
        ? null
        : $"{library} is not installed (Debian: apt-get install {package})";
}

using System.Runtime.InteropServices;

namespace MongoPerf.Wire.Compression;

/// <summary>snappy through its C library (Debian: libsnappy1v5), in the raw format without frames.</summary>
internal sealed partial class NativeSnappyCompressor : Compressor
{
    private const string Library = "libsnappy.so.1";

    /// <summary>Whether this system has it.</summary>
    public static bool IsInstalled { get; } = NativeLibrary.TryLoad(Library, typeof(NativeSnappyCompressor).Assembly, null, out _);

    public override string Name => "snappy";

    public override byte Id => 1;

    public override int LongestCompressed(int length) => (int)MaximumLength((nuint)length);

    public override int Compress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        nuint length = (nuint)destination.Length;
        int status = Compress(source, (nuint)source.Length, destination, ref length);
        return status == 0 ? (int)length : throw new InvalidOperationException($"snappy_compress answers {status}");
    }

    public override bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        // The library writes as much as the data declare, so that is compared first.
        if (ReadLength(source, (nuint)source.Length, out nuint declared) != 0 || declared != (nuint)destination.Length)
            return false;
        nuint length = (nuint)destination.Length;
        return Decompress(source, (nuint)source.Length, destination, ref length) == 0 && length == (nuint)destination.Length;
    }

    [LibraryImport(Library, EntryPoint = "snappy_max_compressed_length")]
    private static partial nuint MaximumLength(nuint length);

    [LibraryImport(Library, EntryPoint = "snappy_compress")]
    private static partial int Compress(ReadOnlySpan<byte> source, nuint length, Span<byte> destination, ref nuint destinationLength);

    [LibraryImport(Library, EntryPoint = "snappy_uncompressed_length")]
    private static partial int ReadLength(ReadOnlySpan<byte> source, nuint length, out nuint result);

    [LibraryImport(Library, EntryPoint = "snappy_uncompress")]
    private static partial int Decompress(ReadOnlySpan<byte> source, nuint length, Span<byte> destination, ref nuint destinationLength);
}

using System.Runtime.InteropServices;

namespace MongoPerf.Wire.Compression;

/// <summary>
/// zstd through its C library (Debian: libzstd1), at the library's default level; its contexts live as long as the connection.
/// </summary>
internal sealed partial class NativeZstdCompressor : Compressor
{
    private const string Library = "libzstd.so.1";

    /// <summary>0 is the library's default.</summary>
    private const int Level = 0;

    private nint _compression = CreateCompression();
    private nint _decompression = CreateDecompression();

    ~NativeZstdCompressor() => Free();

    /// <summary>Whether this system has it.</summary>
    public static bool IsInstalled { get; } = NativeLibrary.TryLoad(Library, typeof(NativeZstdCompressor).Assembly, null, out _);

    public override string Name => "zstd";

    public override byte Id => 3;

    public override int LongestCompressed(int length) => (int)Bound((nuint)length);

    public override int Compress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        nuint length = Compress(_compression, destination, (nuint)destination.Length, source, (nuint)source.Length, Level);
        return IsError(length) == 0 ? (int)length : throw new InvalidOperationException("ZSTD_compressCCtx failed");
    }

    public override bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        nuint length = Decompress(_decompression, destination, (nuint)destination.Length, source, (nuint)source.Length);
        return IsError(length) == 0 && length == (nuint)destination.Length;
    }

    public override void Dispose()
    {
        Free();
        base.Dispose();
        GC.SuppressFinalize(this);
    }

    private void Free()
    {
        _ = FreeCompression(Interlocked.Exchange(ref _compression, 0));
        _ = FreeDecompression(Interlocked.Exchange(ref _decompression, 0));
    }

    [LibraryImport(Library, EntryPoint = "ZSTD_createCCtx")]
    private static partial nint CreateCompression();

    [LibraryImport(Library, EntryPoint = "ZSTD_createDCtx")]
    private static partial nint CreateDecompression();

    [LibraryImport(Library, EntryPoint = "ZSTD_freeCCtx")]
    private static partial nuint FreeCompression(nint context);

    [LibraryImport(Library, EntryPoint = "ZSTD_freeDCtx")]
    private static partial nuint FreeDecompression(nint context);

    [LibraryImport(Library, EntryPoint = "ZSTD_compressBound")]
    private static partial nuint Bound(nuint length);

    [LibraryImport(Library, EntryPoint = "ZSTD_isError")]
    private static partial uint IsError(nuint code);

    [LibraryImport(Library, EntryPoint = "ZSTD_compressCCtx")]
    private static partial nuint Compress(
        nint context, Span<byte> destination, nuint capacity, ReadOnlySpan<byte> source, nuint length, int level);

    [LibraryImport(Library, EntryPoint = "ZSTD_decompressDCtx")]
    private static partial nuint Decompress(nint context, Span<byte> destination, nuint capacity, ReadOnlySpan<byte> source, nuint length);
}

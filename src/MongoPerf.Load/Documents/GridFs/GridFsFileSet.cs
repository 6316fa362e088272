using System.Globalization;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.GridFs;

/// <summary>Files of one length whose names, dates and bytes are functions of seed and number: what is stored can be checked.</summary>
/// <remarks>Immutable, for all threads. The bytes hardly compress.</remarks>
public sealed class GridFsFileSet
{
    private readonly DocumentNumbers _numbers;

    /// <param name="seed">The run's.</param>
    /// <param name="bucket">Where they go.</param>
    /// <param name="length">The length of each file in bytes: 0 to <see cref="Array.MaxLength"/>.</param>
    public GridFsFileSet(ulong seed, GridFsBucket bucket, int length)
    {
        if (length < 0 || length > Array.MaxLength)
            throw new ArgumentOutOfRangeException(nameof(length), length, $"a file's length is 0 to {Array.MaxLength} bytes");
        Seed = seed;
        _numbers = new DocumentNumbers(seed);
        Bucket = bucket;
        Length = length;
    }

    public ulong Seed { get; }

    public GridFsBucket Bucket { get; }

    public int Length { get; }

    /// <summary>How many chunks each file has; 0 for empty ones.</summary>
    public int ChunkCount => (int)((Length + (long)Bucket.ChunkSize - 1) / Bucket.ChunkSize);

    /// <param name="number">0-based; times the chunks of a file below <see cref="DocumentNumbers.Limit"/>.</param>
    public GridFsFile FileAt(long number) => new(
        IdOf(number), Length, Bucket.ChunkSize, DocumentNumbers.FirstDate + number,
        "file" + number.ToString("D10", CultureInfo.InvariantCulture));

    public ObjectId IdOf(long number) => _numbers.IdOf(number);

    /// <summary>The <c>_id</c> of chunk n of file <paramref name="number"/>: increasing, as an inserting client's are.</summary>
    public ObjectId ChunkIdOf(long number, int n) => _numbers.IdOf((number * ChunkCount) + n);

    /// <summary>Writes the bytes of file <paramref name="number"/> from <paramref name="offset"/> on.</summary>
    /// <param name="number">The file's.</param>
    /// <param name="offset">A multiple of <see cref="Bucket"/>'s chunk size.</param>
    /// <param name="destination">Filled to its end.</param>
    public void Fill(long number, long offset, Span<byte> destination)
    {
        ulong chunkSeed = Mixing.At(Seed ^ 0x67726964, (ulong)number) + (ulong)offset;
        for (int at = 0, piece = 0; at < destination.Length; at += FillerText.LongestPiece, piece++)
        {
            Span<byte> part = destination[at..Math.Min(destination.Length, at + FillerText.LongestPiece)];
            int place = (int)(Mixing.At(chunkSeed, (ulong)piece) & (FillerText.PoolPlaces - 1));
            FillerText.Pool.AsSpan(place, part.Length).CopyTo(part);
        }
    }

    /// <summary>Whether these are the bytes of file <paramref name="number"/>.</summary>
    /// <param name="number">The file's.</param>
    /// <param name="content">What came back.</param>
    /// <param name="scratch">A buffer of at least a chunk, which is overwritten.</param>
    public bool Matches(long number, ReadOnlySpan<byte> content, Span<byte> scratch)
    {
        if (content.Length != Length)
            return false;
        for (long offset = 0; offset < Length; offset += Bucket.ChunkSize)
        {
            Span<byte> expected = scratch[..(int)Math.Min(Bucket.ChunkSize, Length - offset)];
            Fill(number, offset, expected);
            if (!content.Slice((int)offset, expected.Length).SequenceEqual(expected))
                return false;
        }

        return true;
    }
}

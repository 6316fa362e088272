using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using MongoPerf.Engine.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Engine.Documents;

/// <summary>Makes the series' documents: exactly 1,024 bytes of BSON, a function of seed, schema version and number alone.</summary>
/// <remarks>
/// <para>Fields: <c>_id</c> ObjectId (see <see cref="DocumentNumbers"/>), <c>Number</c> and <c>Number1</c> int32 (uniform over
/// 0 ≤ v &lt; 1,000,000), <c>Date</c> (increasing, 1 ms apart), <c>Text</c> (952 characters).</para>
/// <para>The text is put together from eight pieces of a pool of a million random characters, so it costs eight copies and
/// hardly compresses within a storage block of 32 KB; <c>compressibility</c> percent of each piece are the letter x instead.</para>
/// <para>Thread-safe: nothing changes after construction. What is written here is never changed under the same schema version.</para>
/// </remarks>
public sealed class DocumentGenerator
{
    public const int SchemaVersion = 1;
    public const int DocumentLength = 1024;

    /// <summary>Number and Number1 lie below this.</summary>
    public const int ValueRange = 1_000_000;

    /// <summary>Date of document 0, milliseconds since 1970.</summary>
    public const long FirstDate = 1_300_000_000_000;

    private const int IdOffset = 9;
    private const int NumberOffset = 29;
    private const int Number1Offset = 42;
    private const int DateOffset = 52;
    private const int TextOffset = 70;
    private const int TextLength = 952;
    private const int PieceCount = 8;
    private const int PieceLength = TextLength / PieceCount;

    private readonly ulong _seed;
    private readonly byte[] _template = new byte[DocumentLength];
    private readonly int _plainLength;
    private readonly byte[] _pool;

    /// <param name="seed">The run's seed.</param>
    /// <param name="compressibility">0 to 100: percent of the text that is one letter.</param>
    public DocumentGenerator(ulong seed, int compressibility = 0)
    {
        if (compressibility is < 0 or > 100)
            throw new ArgumentOutOfRangeException(nameof(compressibility), compressibility, "compressibility is a percentage, 0 to 100");
        _seed = seed;
        Numbers = new DocumentNumbers(seed);
        Compressibility = compressibility;
        _plainLength = PieceLength * compressibility / 100;
        _pool = FillerText.Pool;
        WriteTemplate();
    }

    public ulong Seed => _seed;

    public int Compressibility { get; }

    public DocumentNumbers Numbers { get; }

    /// <summary>Fills <paramref name="destination"/> with document <paramref name="number"/> (0-based), every byte of it.</summary>
    /// <param name="number">0 ≤ number &lt; <see cref="DocumentNumbers.Limit"/>.</param>
    /// <param name="destination">At least <see cref="DocumentLength"/> bytes.</param>
    public void Fill(long number, Span<byte> destination)
    {
        _template.CopyTo(destination);
        Patch(number, destination);
    }

    /// <summary>Turns one document into another in place: writes only what depends on the number.</summary>
    /// <remarks>No allocation.</remarks>
    public void Patch(long number, Span<byte> document)
    {
        // One check for all the offsets below.
        document = document[..DocumentLength];
        Numbers.IdOf(number).CopyTo(document[IdOffset..]);
        BinaryPrimitives.WriteInt32LittleEndian(document[NumberOffset..], NumberAt(number));
        BinaryPrimitives.WriteInt32LittleEndian(document[Number1Offset..], Number1At(number));
        BinaryPrimitives.WriteInt64LittleEndian(document[DateOffset..], FirstDate + number);
        PatchText(number, document.Slice(TextOffset, TextLength));
    }

    /// <summary>Number of document <paramref name="number"/>.</summary>
    public int NumberAt(long number) => Mixing.Scale((uint)(ValueBits(number) >> 32), ValueRange);

    /// <summary>Number1 of document <paramref name="number"/>.</summary>
    public int Number1At(long number) => Mixing.Scale((uint)ValueBits(number), ValueRange);

    /// <summary>Whether these bytes are document <paramref name="number"/>.</summary>
    /// <param name="number">As in <see cref="Fill"/>.</param>
    /// <param name="document">What the server returned.</param>
    /// <param name="scratch">At least <see cref="DocumentLength"/> bytes, overwritten.</param>
    public bool Matches(long number, ReadOnlySpan<byte> document, Span<byte> scratch)
    {
        if (document.Length != DocumentLength)
            return false;
        Fill(number, scratch);
        return document.SequenceEqual(scratch[..DocumentLength]);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ulong ValueBits(long number) => Mixing.At(_seed, (ulong)number);

    private void PatchText(long number, Span<byte> text)
    {
        // Twenty bits choose a place in the pool; 3 of them fit one mixed word. The next word comes from the whole one before it, never
        // from what shifting left of that: 4 bits would make the same few pieces come again and again, and the text compress.
        ulong word = Mixing.At(_seed ^ 0x74657874, (ulong)number);
        ulong places = word;
        int plain = _plainLength;
        for (int piece = 0; piece < PieceCount; piece++)
        {
            if (piece is 3 or 6)
                places = word = Mixing.Mix(word + Mixing.GoldenGamma);
            int place = (int)(places & (FillerText.PoolPlaces - 1));
            places >>= 20;
            _pool.AsSpan(place, PieceLength - plain).CopyTo(text[((piece * PieceLength) + plain)..]);
        }
    }

    private void WriteTemplate()
    {
        var writer = new BsonWriter(DocumentLength);
        writer.StartDocument();
        writer.WriteObjectId("_id"u8, default);
        writer.WriteInt32("Number"u8, 0);
        writer.WriteInt32("Number1"u8, 0);
        writer.WriteDateTime("Date"u8, 0);
        Span<byte> text = stackalloc byte[TextLength];
        text.Fill((byte)'x');
        writer.WriteString("Text"u8, text);
        writer.End();
        if (writer.Length != DocumentLength)
            throw new InvalidOperationException($"the document template has {writer.Length} bytes, not {DocumentLength}");
        writer.Written.CopyTo(_template);
    }
}

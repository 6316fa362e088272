using System.Buffers.Binary;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>
/// Text of one length that is put together from eight or more pieces of <see cref="FillerText"/>, so that it hardly compresses within a
/// storage block of 32 KB.
/// </summary>
/// <remarks>
/// A part of each piece is the letter x instead, where the text is to compress. It depends on seed and number alone, whatever the field is
/// called. Never changed: stored collections depend on it.
/// </remarks>
public sealed class PiecedText : FixedValue
{
    private const int LeastPieces = 8;

    /// <summary>Twenty bits choose a place in the pool; three of them fit one mixed word.</summary>
    private const int PlaceBits = 20;
    private const int PlacesPerWord = 3;

    private readonly ulong _seed;
    private readonly int _pieceLength;
    private readonly int _plainLength;

    /// <param name="length">Characters, in UTF-8 a byte each.</param>
    /// <param name="compressibility">0 to 100: percent of each piece that is one letter.</param>
    /// <param name="seed">The run's.</param>
    public PiecedText(int length, int compressibility, ulong seed)
        : base(BsonType.String, length + 5)
    {
        int pieces = Math.Max(LeastPieces, (length + FillerText.LongestPiece - 1) / FillerText.LongestPiece);
        _pieceLength = Math.Max(1, (length + pieces - 1) / pieces);
        _plainLength = _pieceLength * compressibility / 100;
        _seed = seed ^ 0x74657874;
    }

    public override void Fill(Span<byte> value, in ValueContext context)
    {
        BinaryPrimitives.WriteInt32LittleEndian(value, value.Length - 4);
        value[^1] = 0;
        Span<byte> text = value[4..^1];
        ulong word = Mixing.At(_seed, (ulong)context.Number);
        ulong places = word;
        for (int at = 0, piece = 0; at < text.Length; at += _pieceLength, piece++)
        {
            // The next word comes from the whole one before it, never from what shifting left of that: 4 bits would make the same few
            // pieces come again and again, and the text compress.
            if (piece > 0 && piece % PlacesPerWord == 0)
                places = word = Mixing.Mix(word + Mixing.GoldenGamma);
            int place = (int)(places & (FillerText.PoolPlaces - 1));
            places >>= PlaceBits;
            Span<byte> part = text[at..Math.Min(text.Length, at + _pieceLength)];
            int plain = Math.Min(_plainLength, part.Length);
            part[..plain].Fill((byte)'x');
            FillerText.Pool.AsSpan(place, part.Length - plain).CopyTo(part[plain..]);
        }
    }
}

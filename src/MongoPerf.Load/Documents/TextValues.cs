using System.Buffers.Binary;
using System.Buffers.Text;
using System.Text;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>Bytes or characters that hardly compress, cut from a pool of a million.</summary>
internal static class Filler
{
    public static void Fill(Span<byte> destination, ulong bits)
    {
        for (int at = 0; at < destination.Length; at += FillerText.LongestPiece)
        {
            Span<byte> piece = destination[at..Math.Min(destination.Length, at + FillerText.LongestPiece)];
            bits = Mixing.Mix(bits + Mixing.GoldenGamma);
            FillerText.Pool.AsSpan((int)(bits & (FillerText.PoolPlaces - 1)), piece.Length).CopyTo(piece);
        }
    }
}

/// <summary>Random characters (letters, digits, - and _) or random bytes, of one length or of random length.</summary>
public static class FillerValue
{
    /// <param name="length">Characters, in UTF-8 a byte each.</param>
    /// <param name="salt">The value's own.</param>
    public static TemplateValue Text(LengthRange length, ulong salt) =>
        length.IsFixed ? new FixedText(length.Min, salt) : new VaryingText(length, salt);

    /// <param name="length">Bytes.</param>
    /// <param name="salt">The value's own.</param>
    public static TemplateValue Binary(LengthRange length, ulong salt) =>
        length.IsFixed ? new FixedBinary(length.Min, 0, salt) : new VaryingBinary(length, salt);

    /// <summary>A UUID of version 4.</summary>
    public static TemplateValue Uuid(ulong salt) => new UuidValue(salt);

    /// <summary>A UUID of version 7, which begins with a time.</summary>
    /// <param name="start">The first document's, milliseconds since 1970.</param>
    /// <param name="step">Milliseconds from one document to the next, above 0.</param>
    /// <param name="salt">The value's own.</param>
    public static TemplateValue TimedUuid(long start, double step, ulong salt) => new UuidValue(salt, start, step);

    private sealed class FixedText(int length, ulong salt) : FixedValue(BsonType.String, length + 5)
    {
        public override void Fill(Span<byte> value, in ValueContext context)
        {
            BinaryPrimitives.WriteInt32LittleEndian(value, length + 1);
            Filler.Fill(value.Slice(4, length), context.BitsOf(salt));
            value[^1] = 0;
        }
    }

    private sealed class VaryingText(LengthRange length, ulong salt) : TemplateValue
    {
        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
        {
            ulong bits = context.BitsOf(salt);
            int characters = length.Draw(bits);
            writer.WriteName(BsonType.String, name);
            writer.WriteRawInt32(characters + 1);
            Filler.Fill(writer.Grow(characters), bits);
            writer.WriteRawByte(0);
        }
    }

    private sealed class FixedBinary(int length, byte subtype, ulong salt) : FixedValue(BsonType.Binary, length + 5)
    {
        public override void Fill(Span<byte> value, in ValueContext context)
        {
            BinaryPrimitives.WriteInt32LittleEndian(value, length);
            value[4] = subtype;
            Filler.Fill(value[5..], context.BitsOf(salt));
        }
    }

    private sealed class VaryingBinary(LengthRange length, ulong salt) : TemplateValue
    {
        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
        {
            ulong bits = context.BitsOf(salt);
            int bytes = length.Draw(bits);
            writer.WriteName(BsonType.Binary, name);
            writer.WriteRawInt32(bytes);
            writer.WriteRawByte(0);
            Filler.Fill(writer.Grow(bytes), bits);
        }
    }

    private sealed class UuidValue(ulong salt, long start = 0, double step = 0) : FixedValue(BsonType.Binary, 21)
    {
        /// <summary>The time has 48 bits.</summary>
        public override long Limit => step > 0 ? (long)Math.Min(long.MaxValue, Math.Floor(((1L << 48) - start) / step)) : long.MaxValue;

        public override void Fill(Span<byte> value, in ValueContext context)
        {
            ulong bits = context.BitsOf(salt);
            BinaryPrimitives.WriteInt32LittleEndian(value, 16);
            value[4] = 4;
            BinaryPrimitives.WriteUInt64BigEndian(value[5..], bits);
            BinaryPrimitives.WriteUInt64BigEndian(value[13..], Mixing.Mix(bits + Mixing.GoldenGamma));
            if (step > 0)
            {
                ulong time = (ulong)(start + (long)(context.Number * step));
                BinaryPrimitives.WriteUInt64BigEndian(value[5..], (time << 16) | (bits & 0xFFFF));
            }

            // Version 4 or 7, variant 1 (RFC 9562).
            value[11] = (byte)((value[11] & 0x0F) | (step > 0 ? 0x70 : 0x40));
            value[13] = (byte)((value[13] & 0x3F) | 0x80);
        }
    }
}

/// <summary>A text that holds the document's number, or its hash: <c>user0000000042</c>, YCSB's <c>user6284781860667377211</c>.</summary>
/// <param name="prefix">The prefix in front of the digits.</param>
/// <param name="digits">The least number of digits, zeros in front; 1 to 20.</param>
/// <param name="isHashed">The number's FNV-1a hash in its place, so that neighbours lie apart.</param>
public sealed class NumberedTextValue(string prefix, int digits, bool isHashed) : TemplateValue, INumbered
{
    private const int MostDigits = 20;

    private readonly byte[] _prefix = Encoding.UTF8.GetBytes(prefix);

    bool INumbered.IsInvertible => !isHashed;

    /// <summary>Texts of one length are in the order of their numbers.</summary>
    long INumbered.OrderedBelow => digits >= 18 ? long.MaxValue : (long)Math.Pow(10, digits);

    long INumbered.NumberOf(BsonType type, ReadOnlySpan<byte> value)
    {
        if (type != BsonType.String || value.Length < 5)
            return -1;
        ReadOnlySpan<byte> text = value[4..^1];
        return text.Length >= _prefix.Length + digits && text.StartsWith(_prefix)
            && Utf8Parser.TryParse(text[_prefix.Length..], out long number, out int read)
            && read == text.Length - _prefix.Length ? number : -1;
    }

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        Span<byte> text = stackalloc byte[MostDigits];
        long number = isHashed ? FowlerNollVo.Hash(context.Number) : context.Number;
        Utf8Formatter.TryFormat(number, text, out int written);
        int zeros = Math.Max(0, digits - written);
        writer.WriteName(BsonType.String, name);
        writer.WriteRawInt32(_prefix.Length + zeros + written + 1);
        writer.WriteRaw(_prefix);
        writer.Grow(zeros).Fill((byte)'0');
        writer.WriteRaw(text[..written]);
        writer.WriteRawByte(0);
    }
}

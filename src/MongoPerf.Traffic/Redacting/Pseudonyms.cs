using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Traffic.Redacting;

/// <summary>
/// Replaces values by others of the same type and length: a value by the same one each time, and two by two. Numbers that are equal stay
/// equal, whatever their types. Their order is not kept. One thread.
/// </summary>
/// <remarks>
/// Kept are: true and false, null, how a text alternates between letters, digits and other characters, how many digits a whole number has,
/// the sign and power of two of a fraction, and which of the periods of about two years (2³⁶ ms) a date is in.
/// </remarks>
/// <param name="permutation">With a secret key.</param>
internal sealed class Pseudonyms(Permutation permutation)
{
    /// <summary>From here on not every whole double is a number of its own to count with.</summary>
    private const double MostExact = 1e15;
    private const int DateBits = 36;
    private const ulong TenTo18 = 1_000_000_000_000_000_000;

    private static readonly SearchValues<byte> OfQuantifiers = SearchValues.Create("0123456789,"u8);

    /// <summary>What tells the permutations of different kinds of values apart.</summary>
    private const ulong OfNumbers = 1;
    private const ulong OfTexts = 2;
    private const ulong OfBinaries = 3;
    private const ulong OfObjectIds = 4;
    private const ulong OfTimestamps = 5;

    /// <summary>Whole numbers with as many digits, and those that an int32 holds, stay among themselves: the bounds between.</summary>
    private static readonly ulong[] Bounds =
        [0, .. Enumerable.Range(1, 9).Select(PowerOfTen), 1UL << 31, .. Enumerable.Range(10, 9).Select(PowerOfTen), 1UL << 63];

    /// <param name="type">Of the value.</param>
    /// <param name="value">As it stands in a document that was checked.</param>
    public void Replace(BsonType type, Span<byte> value)
    {
        switch (type)
        {
            case BsonType.Int32:
                BinaryPrimitives.WriteInt32LittleEndian(value, (int)Of(BinaryPrimitives.ReadInt32LittleEndian(value)));
                break;
            case BsonType.Int64:
                BinaryPrimitives.WriteInt64LittleEndian(value, Of(BinaryPrimitives.ReadInt64LittleEndian(value)));
                break;
            case BsonType.Double:
                BinaryPrimitives.WriteDoubleLittleEndian(value, Of(BinaryPrimitives.ReadDoubleLittleEndian(value)));
                break;
            case BsonType.Decimal128:
                Of(Decimal128.FromBytes(value)).CopyTo(value);
                break;
            case BsonType.String or BsonType.Symbol:
                ReplaceText(value[4..^1]);
                break;
            case BsonType.DateTime:
                ReplaceDate(value);
                break;
            case BsonType.Timestamp:
                ReplaceHalves(value, 4, OfTimestamps);
                break;
            case BsonType.ObjectId:
                ReplaceHalves(value, 6, OfObjectIds);
                break;
            case BsonType.DbPointer:
                ReplaceHalves(value[^ObjectId.Size..], 6, OfObjectIds);
                break;
            case BsonType.Binary:
                ReplaceBinary(value);
                break;
            case BsonType.Regex:
                ReplacePattern(value[..value.IndexOf((byte)0)]);
                break;
        }
    }

    /// <summary>Replaces letters and digits that a regular expression looks for, and leaves what it is made of.</summary>
    public void ReplacePattern(Span<byte> pattern)
    {
        ulong seed = permutation.Hash(pattern);
        bool isInBrackets = false;
        for (int i = 0; i < pattern.Length;)
        {
            byte one = pattern[i];
            if (isInBrackets && one == ']')
                isInBrackets = false;
            else if (one == '[')
                isInBrackets = true;
            int kept = KeptOf(pattern[i..], isInBrackets);
            if (kept > 0)
            {
                i += kept;
                continue;
            }

            i += Shift(pattern[i..], seed, (ulong)i);
        }
    }

    /// <returns>How many bytes of a pattern stay from here on; 0 for what it looks for.</returns>
    private static int KeptOf(ReadOnlySpan<byte> pattern, bool isInBrackets)
    {
        switch (pattern[0])
        {
            case (byte)'\\':
                return pattern is [_, (byte)'p' or (byte)'P' or (byte)'k' or (byte)'g', (byte)'{', ..] ? LengthTo(pattern, "}"u8) : 2;
            case (byte)'{' when !isInBrackets:
                // Anything else in braces is a text that is looked for.
                int digits = pattern[1..].IndexOfAnyExcept(OfQuantifiers);
                return digits > 0 && pattern[digits + 1] == '}' ? digits + 2 : 0;
            case (byte)'(' when !isInBrackets && pattern is [_, (byte)'?', ..]:
                return pattern is [_, _, (byte)'|' or (byte)'#' or (byte)'\'', ..] ? 3 : LengthTo(pattern, ":)=!>"u8);
            default:
                return isInBrackets ? 1 : 0;
        }

        static int LengthTo(ReadOnlySpan<byte> bytes, ReadOnlySpan<byte> ends) => bytes.IndexOfAny(ends) is >= 0 and var end ? end + 1 : 2;
    }

    private static ulong PowerOfTen(int exponent)
    {
        ulong power = 1;
        for (int i = 0; i < exponent; i++)
            power *= 10;
        return power;
    }

    private long Of(long value)
    {
        // Of a negative number its complement, which has a counterpart for each.
        ulong magnitude = (ulong)(value < 0 ? ~value : value);
        long replaced = (long)WithinDigits(magnitude, OfNumbers);
        return value < 0 ? ~replaced : replaced;
    }

    private ulong WithinDigits(ulong magnitude, ulong tweak)
    {
        int upper = Array.FindIndex(Bounds, bound => magnitude < bound);
        (ulong least, ulong end) = (Bounds[upper - 1], Bounds[upper]);
        // The uppermost range is wider than a permutation may be: its halves stay among themselves.
        if (end - least > 1UL << 62)
            (least, end) = magnitude - least < 1UL << 62 ? (least, least + (1UL << 62)) : (least + (1UL << 62), end);
        return least + permutation.Of(magnitude - least, end - least, tweak << 6 | (uint)upper);
    }

    private double Of(double value)
    {
        if (IsWhole(value))
            return Of((long)value);
        if (!double.IsFinite(value))
            return value;
        ulong bits = BitConverter.DoubleToUInt64Bits(value);
        ulong head = bits >> 52;
        do
            bits = head << 52 | permutation.Of(bits & ((1UL << 52) - 1), 1UL << 52, head << 8 | OfNumbers);
        while (IsWhole(BitConverter.UInt64BitsToDouble(bits)));
        return BitConverter.UInt64BitsToDouble(bits);
    }

    private static bool IsWhole(double value) => Math.Abs(value) < MostExact && value == Math.Truncate(value);

    private Decimal128 Of(Decimal128 value)
    {
        if (!value.IsFinite)
            return value;
        // 1.50 equals 1.5, and 5E+2 a whole 500.
        (UInt128 coefficient, int exponent, UInt128 scale) = (value.Coefficient, value.Exponent, 1);
        for (; exponent < 0 && coefficient != 0 && coefficient % 10 == 0; exponent++)
            (coefficient, scale) = (coefficient / 10, scale * 10);
        if (exponent is > 0 and < 15 && coefficient < PowerOfTen(15 - exponent))
            (coefficient, exponent) = (coefficient * PowerOfTen(exponent), 0);
        if (coefficient == 0 || (exponent == 0 && coefficient < TenTo18))
        {
            long whole = Of(value.IsNegative && coefficient != 0 ? -(long)coefficient : (long)coefficient);
            var magnitude = (UInt128)Math.Abs(whole) * scale;
            return Decimal128.Of(whole < 0, magnitude, scale == 1 ? 0 : value.Exponent);
        }

        (ulong high, ulong low) = ((ulong)(coefficient / TenTo18), (ulong)(coefficient % TenTo18));
        ulong tweak = permutation.Hash((ulong)(uint)exponent << 1 | (value.IsNegative ? 1UL : 0), high);
        UInt128 replaced;
        do
        {
            low = high == 0 ? WithinDigits(low, tweak >> 6) : permutation.Of(low, TenTo18, tweak);
            replaced = (high == 0 ? 0 : (UInt128)WithinDigits(high, OfNumbers) * TenTo18) + low;
        }
        while (exponent < 0 && replaced % 10 == 0);
        return Decimal128.Of(value.IsNegative, replaced * scale, value.Exponent);
    }

    private void ReplaceDate(Span<byte> value)
    {
        long time = BinaryPrimitives.ReadInt64LittleEndian(value);
        long period = time >> DateBits;
        ulong within = permutation.Of((ulong)(time - (period << DateBits)), 1UL << DateBits, permutation.Hash((ulong)period, 0));
        BinaryPrimitives.WriteInt64LittleEndian(value, (period << DateBits) + (long)within);
    }

    /// <summary>Replaces a value of two halves of so many bytes.</summary>
    private void ReplaceHalves(Span<byte> value, int bytes, ulong tweak)
    {
        Span<byte> words = stackalloc byte[16];
        words.Clear();
        value[..bytes].CopyTo(words);
        value.Slice(bytes, bytes).CopyTo(words[8..]);
        ulong mask = (1UL << (8 * bytes)) - 1;
        (ulong left, ulong right) = permutation.Of(
            BinaryPrimitives.ReadUInt64LittleEndian(words), BinaryPrimitives.ReadUInt64LittleEndian(words[8..]), mask, tweak);
        BinaryPrimitives.WriteUInt64LittleEndian(words, left);
        BinaryPrimitives.WriteUInt64LittleEndian(words[8..], right);
        words[..bytes].CopyTo(value);
        words.Slice(8, bytes).CopyTo(value[bytes..]);
    }

    private void ReplaceBinary(Span<byte> value)
    {
        // Old binaries repeat their length; a vector begins with what its numbers are.
        Span<byte> bytes = value[(value[4] switch { 2 => 9, 9 => Math.Min(7, value.Length), _ => 5 })..];
        if (bytes.Length <= 7)
        {
            Span<byte> word = stackalloc byte[8];
            word.Clear();
            bytes.CopyTo(word);
            ulong replaced = permutation.Of(
                BinaryPrimitives.ReadUInt64LittleEndian(word), 1UL << (8 * bytes.Length), OfBinaries << 8 | value[4]);
            BinaryPrimitives.WriteUInt64LittleEndian(word, replaced);
            word[..bytes.Length].CopyTo(bytes);
            return;
        }

        ulong seed = permutation.Hash(bytes);
        for (ulong i = 0; bytes.Length > 0; i++)
        {
            ulong word = permutation.Hash(seed, i);
            for (int left = Math.Min(8, bytes.Length); left > 0; left--, word >>= 8, bytes = bytes[1..])
                bytes[0] = (byte)word;
        }
    }

    /// <summary>Replaces each character by one of its class, which has as many bytes.</summary>
    private void ReplaceText(Span<byte> text)
    {
        // Of a short text there are few like it: none may become the same one.
        ulong number = 0;
        ulong bound = 1;
        for (int i = 0; i < text.Length;)
        {
            i += Measure(text[i..], out CharacterClass of, out ulong index);
            if (of.Size == 0)
                continue;
            if (bound > (1UL << 62) / of.Size)
            {
                ShiftAll(text);
                return;
            }

            number = number * of.Size + index;
            bound *= of.Size;
        }

        number = permutation.Of(number, bound, OfTexts);
        for (int i = text.Length; i > 0;)
        {
            int start = i - 1;
            while (start > 0 && (text[start] & 0xC0) == 0x80)
                start--;
            int length = Measure(text[start..i], out CharacterClass of, out _);
            if (length != i - start)
                (start, of) = (i - 1, default);
            if (of.Size > 0)
            {
                of.Write(number % of.Size, text[start..]);
                number /= of.Size;
            }

            i = start;
        }
    }

    private void ShiftAll(Span<byte> text)
    {
        ulong seed = permutation.Hash(text);
        for (int i = 0; i < text.Length;)
            i += Shift(text[i..], seed, (ulong)i);
    }

    /// <returns>The bytes of the character.</returns>
    private int Shift(Span<byte> text, ulong seed, ulong at)
    {
        int length = Measure(text, out CharacterClass of, out ulong index);
        if (of.Size > 0)
            of.Write((index + permutation.Hash(seed, at) % of.Size) % of.Size, text);
        return length;
    }

    /// <param name="text">Begins with a character.</param>
    /// <param name="of">Of no size for one that stays.</param>
    /// <param name="index">Its number there.</param>
    /// <returns>Its bytes; what is no UTF-8 becomes a question mark, byte by byte.</returns>
    private static int Measure(Span<byte> text, out CharacterClass of, out ulong index)
    {
        of = default;
        index = 0;
        if (Rune.DecodeFromUtf8(text, out Rune rune, out int length) != OperationStatus.Done)
        {
            text[0] = (byte)'?';
            return 1;
        }

        of = CharacterClass.Of(rune.Value);
        if (of.Size > 0)
            index = of.IndexOf(rune.Value);
        return length;
    }

    /// <param name="First">Its first character.</param>
    /// <param name="Size">How many there are.</param>
    private readonly record struct CharacterClass(int First, ulong Size)
    {
        private const int Surrogates = 0xD800;
        private const int SurrogateCount = 0x800;

        public static CharacterClass Of(int character) => character switch
        {
            >= '0' and <= '9' => new('0', 10),
            >= 'a' and <= 'z' => new('a', 26),
            >= 'A' and <= 'Z' => new('A', 26),
            >= 0xA0 and < 0x800 => new(0xA0, 0x800 - 0xA0),
            >= 0x800 and < 0x10000 => new(0x800, 0x10000 - 0x800 - SurrogateCount),
            >= 0x10000 => new(0x10000, 0x100000),
            _ => default,
        };

        public ulong IndexOf(int character) =>
            (ulong)(character - First - (First == 0x800 && character >= Surrogates ? SurrogateCount : 0));

        public void Write(ulong index, Span<byte> destination)
        {
            int character = First + (int)index;
            if (First == 0x800 && character >= Surrogates)
                character += SurrogateCount;
            new Rune(character).EncodeToUtf8(destination);
        }
    }
}

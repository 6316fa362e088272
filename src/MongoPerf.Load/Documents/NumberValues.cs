using System.Buffers.Binary;
using System.Numerics;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>How a number is stored.</summary>
public enum NumberKind
{
    Int32,
    Int64,
    Double,
    Date,
}

/// <summary>A number of eight or four bytes.</summary>
public abstract class NumberValue(NumberKind kind) : FixedValue(TypeOf(kind), kind == NumberKind.Int32 ? 4 : 8)
{
    public sealed override void Fill(Span<byte> value, in ValueContext context)
    {
        if (kind == NumberKind.Int32)
            BinaryPrimitives.WriteInt32LittleEndian(value, (int)Compute(context));
        else if (kind == NumberKind.Double)
            BinaryPrimitives.WriteDoubleLittleEndian(value, ComputeDouble(context));
        else
            BinaryPrimitives.WriteInt64LittleEndian(value, Compute(context));
    }

    public abstract long Compute(in ValueContext context);

    protected virtual double ComputeDouble(in ValueContext context) => Compute(context);

    private static BsonType TypeOf(NumberKind kind) => kind switch
    {
        NumberKind.Int32 => BsonType.Int32,
        NumberKind.Int64 => BsonType.Int64,
        NumberKind.Double => BsonType.Double,
        _ => BsonType.DateTime,
    };
}

/// <summary>start + step × number: increasing, falling, or the number itself; or of groups of documents, each with a number.</summary>
/// <param name="kind">How it is stored.</param>
/// <param name="start">The first document's.</param>
/// <param name="step">The step from one group to the next; below 0 it falls.</param>
/// <param name="groups">Which documents have one number; null gives each its own.</param>
/// <param name="cycle">Groups after which it begins again at the start, 1 or more.</param>
/// <param name="isShuffled">The numbers of each cycle come in an order of its own, each once; only with a cycle.</param>
/// <param name="jitter">Each is larger by a random whole number below this; 0 for none.</param>
/// <param name="salt">The value's own, for that.</param>
public sealed class SequenceValue(NumberKind kind, long start, long step, NumberGroups? groups = null, long cycle = long.MaxValue,
    bool isShuffled = false, long jitter = 0, ulong salt = 0) : NumberValue(kind), INumbered
{
    private readonly long _stride = isShuffled ? StrideOf(cycle) : 1;

    bool INumbered.IsInvertible => IsOneToOne && Type != BsonType.Double;

    long INumbered.OrderedBelow => step > 0 ? ((Type == BsonType.Int32 ? int.MaxValue : long.MaxValue) - Math.Max(0, start)) / step : 0;

    private bool IsOneToOne => groups is null && cycle == long.MaxValue && step != 0 && jitter == 0;

    public override long Limit
    {
        get
        {
            (long least, long most) = Type == BsonType.Int32 ? (int.MinValue, int.MaxValue) : (long.MinValue, long.MaxValue);
            if (start < least || start > most)
                return 0;
            if (step == 0 || Type == BsonType.Double)
                return long.MaxValue;
            Int128 beyond = ((step > 0 ? (Int128)most - start : (Int128)start - least) / Int128.Abs(step)) + 1;
            return beyond >= cycle ? long.MaxValue : isShuffled ? 0 : groups?.FirstOf((long)beyond) ?? (long)beyond;
        }
    }

    long INumbered.NumberOf(BsonType type, ReadOnlySpan<byte> value)
    {
        if (type != Type)
            return -1;
        long whole = type == BsonType.Int32 ? BinaryPrimitives.ReadInt32LittleEndian(value) : BinaryPrimitives.ReadInt64LittleEndian(value);
        (long number, long rest) = Math.DivRem(unchecked(whole - start), step);
        return rest == 0 && number >= 0 ? number : -1;
    }

    /// <summary>For each document, how many before it have the same value, from <paramref name="first"/> on.</summary>
    /// <returns>Null where that does not follow from the document's number alone.</returns>
    public PlaceValue? PlacesFrom(long first) => groups is null && cycle == long.MaxValue || (cycle != long.MaxValue && groups?.Size == 0)
        ? null
        : new PlaceValue(groups, cycle, first);

    public override long Compute(in ValueContext context)
    {
        (long round, long place) = Math.DivRem(groups?.Of(context.Number) ?? context.Number, cycle);
        long moved = jitter == 0 ? 0 : (long)Math.BigMul(context.BitsOf(salt), (ulong)jitter, out _);
        return unchecked(start + (step * (isShuffled ? Shuffle(round, place) : place)) + moved);
    }

    /// <summary>Steps of a stride that has no factor in common with the cycle meet each of its places once.</summary>
    private long Shuffle(long round, long place)
    {
        UInt128 first = Mixing.Mix((ulong)round) % (ulong)cycle;
        return (long)((first + ((UInt128)(ulong)place * (ulong)_stride)) % (ulong)cycle);
    }

    /// <summary>Near the golden section of the cycle, so that neighbours end up far apart.</summary>
    private static long StrideOf(long cycle)
    {
        long stride = Math.Max(1, (long)(cycle * 0.618));
        while (BigInteger.GreatestCommonDivisor(stride, cycle) != 1)
            stride++;
        return stride;
    }
}

/// <summary>TPC-C's NURand: a whole number of min ≤ v ≤ max, some of them much more often than others.</summary>
/// <param name="min">The least.</param>
/// <param name="max">The greatest.</param>
/// <param name="a">The A of TPC-C, 2.1.6: the larger against max - min, the more even.</param>
/// <param name="c">Its constant C, 0 to A: which numbers are the frequent ones.</param>
/// <param name="salt">The value's own.</param>
public sealed class NonUniformValue(int min, int max, int a, int c, ulong salt) : NumberValue(NumberKind.Int32)
{
    public override long Compute(in ValueContext context)
    {
        ulong bits = context.BitsOf(salt);
        long range = (long)max - min + 1;
        long of = (long)Math.BigMul(bits, (ulong)a + 1, out _);
        long uniform = min + (long)Math.BigMul(Mixing.Mix(bits), (ulong)range, out _);
        return (((of | uniform) + c) % range) + min;
    }
}

/// <summary>Cuts the numbers 0, 1, 2 … into groups of drawn sizes, so that the group of any number is known without counting.</summary>
/// <remarks>
/// Groups come in pairs: the first of a pair has a size that is uniform over least to most, the second what is left of least + most. So is
/// each size uniform, every pair has the same length, and the mean over pairs is exactly (least + most) / 2.
/// </remarks>
/// <param name="least">Documents of the smallest group, 1 or more.</param>
/// <param name="most">The most that can be drawn, at least as many as the least; their sum fits a long.</param>
/// <param name="seed">What the sizes derive from.</param>
public sealed class NumberGroups(long least, long most, ulong seed)
{
    private readonly long _pair = least + most;

    /// <param name="number">0 or more.</param>
    /// <returns>Its group, 0-based.</returns>
    public long Of(long number)
    {
        (long pair, long place) = Math.DivRem(number, _pair);
        return (2 * pair) + (place < SizeOfFirst(pair) ? 0 : 1);
    }

    /// <summary>The number of a group's first document; the largest number where that is beyond.</summary>
    public long FirstOf(long group)
    {
        Int128 first = ((Int128)(group / 2) * _pair) + (group % 2 == 0 ? 0 : SizeOfFirst(group / 2));
        return first < long.MaxValue ? (long)first : long.MaxValue;
    }

    /// <summary>Documents of every group; 0 where they differ.</summary>
    public long Size => least == most ? least : 0;

    /// <param name="number">0 or more.</param>
    /// <returns>Its place in its group, 0-based.</returns>
    public long PlaceOf(long number)
    {
        (long pair, long place) = Math.DivRem(number, _pair);
        long first = SizeOfFirst(pair);
        return place < first ? place : place - first;
    }

    private long SizeOfFirst(long pair) => least + (long)Math.BigMul(Mixing.At(seed, (ulong)pair), (ulong)(most - least + 1), out _);
}

/// <summary>How many documents before one have the same number, of those that a <see cref="SequenceValue"/> gives.</summary>
/// <param name="groups">Consecutive documents with the same number; null where each has its own.</param>
/// <param name="cycle">Numbers after which they begin again.</param>
/// <param name="first">What the first one gets.</param>
public sealed class PlaceValue(NumberGroups? groups, long cycle, long first) : NumberValue(NumberKind.Int64)
{
    public override long Compute(in ValueContext context) => first + (cycle == long.MaxValue ? groups!.PlaceOf(context.Number)
        : groups is null ? context.Number / cycle
        : (context.Number / groups.Size / cycle * groups.Size) + (context.Number % groups.Size));
}

/// <summary>A decimal128, uniform over min ≤ v ≤ max.</summary>
/// <param name="min">The least, in units of its last decimal place.</param>
/// <param name="max">The greatest, in the same.</param>
/// <param name="places">Decimal places.</param>
/// <param name="salt">The value's own.</param>
public sealed class DecimalValue(long min, long max, int places, ulong salt) : FixedValue(BsonType.Decimal128, Decimal128.Size)
{
    public override void Fill(Span<byte> value, in ValueContext context)
    {
        long units = min + (long)Math.BigMul(context.BitsOf(salt), (ulong)(max - min) + 1, out _);
        Decimal128.Of(units < 0, (UInt128)Math.Abs(units), -places).CopyTo(value);
    }
}

/// <summary>A whole number, uniform over min ≤ v ≤ max; as a date, milliseconds since 1970.</summary>
public sealed class IntegerValue(NumberKind kind, long min, long max, ulong salt) : NumberValue(kind), IUniform
{
    public long Min => min;

    public long Max => max;

    private readonly ulong _range = unchecked((ulong)(max - min) + 1);

    public override long Compute(in ValueContext context)
    {
        ulong bits = context.BitsOf(salt);
        return unchecked(min + (long)(_range == 0 ? bits : Math.BigMul(bits, _range, out _)));
    }
}

/// <summary>A double, uniform over min ≤ v ≤ max.</summary>
/// <param name="min">The least, finite.</param>
/// <param name="max">The greatest, finite; at least the least.</param>
/// <param name="salt">The value's own.</param>
/// <param name="decimals">Decimal places to which it is rounded, 0 to 15; null for all that there are.</param>
public sealed class DoubleValue(double min, double max, ulong salt, int? decimals = null) : NumberValue(NumberKind.Double)
{
    public override long Compute(in ValueContext context) => (long)ComputeDouble(context);

    protected override double ComputeDouble(in ValueContext context)
    {
        ulong bits = context.BitsOf(salt) >> 11;
        double value = min + ((max - min) * bits * (1.0 / (1UL << 53)));
        // Beyond half of all doubles the width of the range is infinite; rounding may lead beyond its end.
        if (!double.IsFinite(value))
            value = (min * (1 - (bits * (1.0 / (1UL << 53))))) + (max * (bits * (1.0 / (1UL << 53))));
        return Math.Clamp(decimals is { } places ? Math.Round(value, places) : value, min, max);
    }
}

/// <summary>True with a probability.</summary>
public sealed class BooleanValue(double probability, ulong salt) : FixedValue(BsonType.Boolean, 1)
{
    public override void Fill(Span<byte> value, in ValueContext context) =>
        value[0] = (context.BitsOf(salt) >> 11) * (1.0 / (1UL << 53)) < probability ? (byte)1 : (byte)0;
}

/// <summary>How often something repeats: uniform over Min to Max.</summary>
/// <param name="Min">0 or more.</param>
/// <param name="Max">The largest, at least Min.</param>
public readonly record struct LengthRange(int Min, int Max)
{
    public bool IsFixed => Min == Max;

    public int Draw(ulong bits) => Min + Mixing.Scale((uint)(bits >> 32), Max - Min + 1);
}

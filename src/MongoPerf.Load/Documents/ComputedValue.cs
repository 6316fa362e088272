using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>A number computed from others, of the type that MongoDB's expressions of the same names give it.</summary>
/// <remarks>
/// int32 and int64 stay whole numbers, of the wider type or of one in which the result fits; beyond int64 the result is a double. A double
/// among the operands makes it a double, a Decimal128 a Decimal128. A date and milliseconds, added or subtracted, are a date, and the
/// difference of two dates is milliseconds.
/// </remarks>
/// <param name="operation">One of <see cref="Names"/>.</param>
/// <param name="operands">Two or more, computed from left to right.</param>
/// <param name="steps">What operands are taken from; null for none.</param>
public sealed class ComputedValue(string operation, IReadOnlyList<TemplateValue> operands, StepValues? steps = null) : TemplateValue
{
    private readonly byte[] _text = Encoding.UTF8.GetBytes(operation);

    public static IReadOnlyList<string> Names { get; } = ["^add", "^subtract", "^multiply"];

    public override IEnumerable<TemplateValue> Parts => operands;

    public override TemplateValue Bind(StepValues values) =>
        new ComputedValue(operation, [.. operands.Select(operand => operand.Bind(values))], values);

    /// <remarks>Where an operand is no number, as one that a step has still to bring, it stands for itself.</remarks>
    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        Number result = default;
        for (int i = 0; i < operands.Count; i++)
        {
            if (!Number.TryTake(writer, operands[i], context, out Number number, out BsonType found))
            {
                steps?.Fail($"computes {operation} of a value of type {found}, which is not a number");
                writer.WriteString(name, _text);
                return;
            }

            if (i > 0 && !Number.CanCompute(operation, result.Type, number.Type))
            {
                steps?.Fail($"computes {operation} of {result.Type} and {number.Type}, which MongoDB does not");
                writer.WriteString(name, _text);
                return;
            }

            result = i == 0 ? number : Number.Compute(operation, result, number);
        }

        result.Write(writer, name);
    }

    /// <summary>Computes whole numbers as they stand in a file.</summary>
    /// <exception cref="OverflowException">The result is no 64-bit number.</exception>
    public static long Fold(string operation, IEnumerable<long> operands) => operands.Aggregate((a, b) => checked(operation switch
    {
        "^add" => a + b,
        "^subtract" => a - b,
        _ => a * b,
    }));
}

/// <summary>A number of any of MongoDB's types, or a date.</summary>
/// <param name="Type">Int32, Int64, Double, Decimal128 or DateTime.</param>
/// <param name="Whole">Of whole numbers; of a date milliseconds since 1970.</param>
/// <param name="Real">Of a double.</param>
/// <param name="Decimal">Of a Decimal128.</param>
public readonly record struct Number(BsonType Type, long Whole, double Real, Decimal128 Decimal)
{
    private long Milliseconds => Type switch
    {
        BsonType.Double => (long)Math.Round(Real),
        BsonType.Decimal128 => double.TryParse(Decimal.ToString(), CultureInfo.InvariantCulture, out double real) ? (long)Math.Round(real)
            : 0,
        _ => Whole,
    };

    private double AsDouble => Type == BsonType.Double ? Real : Whole;

    /// <param name="isInSum">$add takes all digits of a double, $subtract and $multiply the first 15.</param>
    private Decimal128 ToDecimal(bool isInSum) => Type switch
    {
        BsonType.Decimal128 => Decimal,
        BsonType.Double => isInSum ? DecimalArithmetic.OfDouble(Real) : DecimalArithmetic.OfRoundedDouble(Real),
        _ => DecimalArithmetic.OfInteger(Whole),
    };

    /// <summary>Makes a value, and takes it back from the writer.</summary>
    /// <returns>False for one that is no number.</returns>
    public static bool TryTake(BsonWriter writer, TemplateValue value, in ValueContext context, out Number number, out BsonType type)
    {
        int start = writer.Length;
        ReadOnlySpan<byte> name = "v"u8;
        value.Write(writer, name, context);
        type = (BsonType)writer.Written[start];
        ReadOnlySpan<byte> bytes = writer.Written[(start + name.Length + 2)..];
        number = type switch
        {
            BsonType.Int32 => new Number(type, BinaryPrimitives.ReadInt32LittleEndian(bytes), 0, default),
            BsonType.Int64 or BsonType.DateTime => new Number(type, BinaryPrimitives.ReadInt64LittleEndian(bytes), 0, default),
            BsonType.Double => new Number(type, 0, BinaryPrimitives.ReadDoubleLittleEndian(bytes), default),
            BsonType.Decimal128 => new Number(type, 0, 0, Decimal128.FromBytes(bytes)),
            _ => default,
        };
        writer.Truncate(start);
        return type is BsonType.Int32 or BsonType.Int64 or BsonType.Double or BsonType.Decimal128 or BsonType.DateTime;
    }

    /// <summary>Whether MongoDB's expression of that name takes operands of these types.</summary>
    public static bool CanCompute(string operation, BsonType left, BsonType right) => operation switch
    {
        "^add" => left != BsonType.DateTime || right != BsonType.DateTime,
        "^subtract" => left == BsonType.DateTime || right != BsonType.DateTime,
        _ => left != BsonType.DateTime && right != BsonType.DateTime,
    };

    /// <summary>Of operands that <see cref="CanCompute"/> allows; a fraction of a millisecond is rounded.</summary>
    public static Number Compute(string operation, Number left, Number right)
    {
        if (left.Type == BsonType.DateTime || right.Type == BsonType.DateTime)
        {
            Int128 sum = operation == "^add" ? (Int128)left.Milliseconds + right.Milliseconds
                : (Int128)left.Milliseconds - right.Milliseconds;
            return new Number(left.Type == right.Type ? BsonType.Int64 : BsonType.DateTime,
                (long)Int128.Clamp(sum, long.MinValue, long.MaxValue), 0, default);
        }

        if (left.Type == BsonType.Decimal128 || right.Type == BsonType.Decimal128)
        {
            Decimal128 a = left.ToDecimal(operation == "^add");
            Decimal128 b = right.ToDecimal(operation == "^add");
            return new Number(BsonType.Decimal128, 0, 0, operation switch
            {
                "^add" => DecimalArithmetic.Add(a, b),
                "^subtract" => DecimalArithmetic.Subtract(a, b),
                _ => DecimalArithmetic.Multiply(a, b),
            });
        }

        if (left.Type != BsonType.Double && right.Type != BsonType.Double)
        {
            Int128 whole = operation switch
            {
                "^add" => (Int128)left.Whole + right.Whole,
                "^subtract" => (Int128)left.Whole - right.Whole,
                _ => (Int128)left.Whole * right.Whole,
            };
            bool isSmall = left.Type == BsonType.Int32 && right.Type == BsonType.Int32 && whole >= int.MinValue && whole <= int.MaxValue;
            return whole >= long.MinValue && whole <= long.MaxValue
                ? new Number(isSmall ? BsonType.Int32 : BsonType.Int64, (long)whole, 0, default)
                : new Number(BsonType.Double, 0, (double)whole, default);
        }

        return new Number(BsonType.Double, 0, operation switch
        {
            "^add" => left.AsDouble + right.AsDouble,
            "^subtract" => left.AsDouble - right.AsDouble,
            _ => left.AsDouble * right.AsDouble,
        }, default);
    }

    public void Write(BsonWriter writer, ReadOnlySpan<byte> name)
    {
        switch (Type)
        {
            case BsonType.Int32:
                writer.WriteInt32(name, (int)Whole);
                break;
            case BsonType.Int64:
                writer.WriteInt64(name, Whole);
                break;
            case BsonType.DateTime:
                writer.WriteDateTime(name, Whole);
                break;
            case BsonType.Double:
                writer.WriteDouble(name, Real);
                break;
            default:
                Span<byte> bytes = stackalloc byte[Decimal128.Size];
                Decimal.CopyTo(bytes);
                writer.WriteValue(name, Type, bytes);
                break;
        }
    }
}

/// <summary>A number whose digits are texts, such as TPC-C's last names of three syllables.</summary>
/// <param name="number">The number; what is no whole number from 0 counts as 0.</param>
/// <param name="texts">Two or more, one for each digit from 0: as many as the base has.</param>
/// <param name="digits">How many are written, the lowest last; 1 or more.</param>
public sealed class SpelledValue(TemplateValue number, IReadOnlyList<string> texts, int digits) : TemplateValue
{
    private readonly byte[][] _texts = [.. texts.Select(Encoding.UTF8.GetBytes)];

    public override IEnumerable<TemplateValue> Parts => [number];

    public override TemplateValue Bind(StepValues values) => new SpelledValue(number.Bind(values), texts, digits);

    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        ulong rest = Number.TryTake(writer, number, context, out Number found, out BsonType type) && type != BsonType.DateTime
            ? (ulong)Math.Max(0, found.Whole) : 0;
        Span<byte> spelled = stackalloc byte[digits];
        for (int i = digits - 1; i >= 0; i--, rest /= (ulong)_texts.Length)
            spelled[i] = (byte)(rest % (ulong)_texts.Length);
        int length = 0;
        foreach (byte digit in spelled)
            length += _texts[digit].Length;
        writer.WriteName(BsonType.String, name);
        writer.WriteRawInt32(length + 1);
        foreach (byte digit in spelled)
            writer.WriteRaw(_texts[digit]);
        writer.WriteRawByte(0);
    }
}

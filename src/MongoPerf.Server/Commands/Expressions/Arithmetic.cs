using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>
/// Sums and products of numbers with the types that MongoDB gives them: the widest operand's, wider when the result does not fit.
/// </summary>
internal static class Arithmetic
{
    /// <summary>Subtracts as expressions do: int32 grows to int64, and what int64 cannot hold becomes a double.</summary>
    public static BsonValue Subtract(BsonValue left, BsonValue right) =>
        Exactly(left, right, DecimalArithmetic.Subtract, static (a, b) => a - b, static (a, b) => checked(a - b))
        ?? Values.Of(left.ToDouble() - right.ToDouble());

    /// <inheritdoc cref="Subtract"/>
    public static BsonValue Multiply(BsonValue left, BsonValue right) =>
        MultiplyExactly(left, right) ?? Values.Of(left.ToDouble() * right.ToDouble());

    /// <summary>Divides; the divisor is not zero.</summary>
    public static BsonValue Divide(BsonValue left, BsonValue right) => IsOfDecimals(left, right)
        ? Values.Of(DecimalArithmetic.Divide(DecimalArithmetic.Of(left), DecimalArithmetic.Of(right)))
        : Values.Of(left.ToDouble() / right.ToDouble());

    /// <summary>Adds as $inc and $mul do: what int64 cannot hold is an error, told by null.</summary>
    public static BsonValue? AddExactly(BsonValue left, BsonValue right) =>
        Exactly(left, right, DecimalArithmetic.Add, static (a, b) => a + b, static (a, b) => checked(a + b));

    /// <inheritdoc cref="AddExactly"/>
    public static BsonValue? MultiplyExactly(BsonValue left, BsonValue right) =>
        Exactly(left, right, DecimalArithmetic.Multiply, static (a, b) => a * b, static (a, b) => checked(a * b));

    private static bool IsOfDecimals(BsonValue left, BsonValue right) =>
        left.Type == BsonType.Decimal128 || right.Type == BsonType.Decimal128;

    private static BsonValue? Exactly(
        BsonValue left, BsonValue right, Func<Decimal128, Decimal128, Decimal128> ofDecimals, Func<double, double, double> ofDoubles,
        Func<long, long, long> ofIntegers)
    {
        if (IsOfDecimals(left, right))
            return Values.Of(ofDecimals(DecimalArithmetic.Of(left), DecimalArithmetic.Of(right)));
        if (left.Type == BsonType.Double || right.Type == BsonType.Double)
            return Values.Of(ofDoubles(left.ToDouble(), right.ToDouble()));
        try
        {
            long result = ofIntegers(left.ToInt64(), right.ToInt64());
            bool isInt32 = left.Type == BsonType.Int32 && right.Type == BsonType.Int32 && result is >= int.MinValue and <= int.MaxValue;
            return isInt32 ? Values.Int32((int)result) : Values.Int64(result);
        }
        catch (OverflowException)
        {
            return null;
        }
    }
}

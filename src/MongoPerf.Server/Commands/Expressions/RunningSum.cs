using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>
/// A running sum as $add, $sum and $avg keep it: exact for integers, for doubles with the error of each addition carried along
/// (two-sum, D. Knuth), and decimals for themselves.
/// </summary>
internal sealed class RunningSum
{
    private Int128 _integers;
    private double _sum;
    private double _error;
    private Decimal128 _decimals = DecimalArithmetic.OfInteger(0);
    private bool _hasDoubles;
    private bool _hasInt64;
    private bool _hasDecimals;

    public long Count { get; private set; }

    /// <summary>The total, of the widest type that was added; a double when int64 cannot hold it.</summary>
    public BsonValue Total
    {
        get
        {
            if (_hasDecimals)
                return Values.Of(TotalAsDecimal);
            if (_hasDoubles || _integers < long.MinValue || _integers > long.MaxValue)
                return Values.Of(TotalAsDouble);
            return _hasInt64 || _integers < int.MinValue || _integers > int.MaxValue
                ? Values.Int64((long)_integers) : Values.Int32((int)_integers);
        }
    }

    /// <summary>Null when nothing was added.</summary>
    public BsonValue Average => Count == 0 ? Values.Null
        : _hasDecimals ? Values.Of(DecimalArithmetic.Divide(TotalAsDecimal, DecimalArithmetic.OfInteger(Count)))
        : Values.Of(TotalAsDouble / Count);

    /// <param name="number">Of any type.</param>
    public void Add(BsonValue number)
    {
        Count++;
        switch (number.Type)
        {
            case BsonType.Double:
                _hasDoubles = true;
                (_sum, _error) = Plus(_sum, _error, number.ToDouble());
                break;
            case BsonType.Decimal128:
                _hasDecimals = true;
                _decimals = DecimalArithmetic.Add(_decimals, number.ToDecimal128());
                break;
            default:
                _hasInt64 |= number.Type == BsonType.Int64;
                _integers += number.ToInt64();
                break;
        }
    }

    private double TotalAsDouble
    {
        get
        {
            // Two doubles hold what one would round.
            double high = (double)_integers;
            (double sum, double error) = Plus(_sum, _error, high);
            (sum, error) = Plus(sum, error, (double)(_integers - (Int128)high));
            return double.IsFinite(sum) ? sum + error : sum;
        }
    }

    private Decimal128 TotalAsDecimal
    {
        get
        {
            Decimal128 others = DecimalArithmetic.OfInteger(_integers);
            if (_hasDoubles)
                others = DecimalArithmetic.Add(others, DecimalArithmetic.OfDouble(_sum));
            if (_hasDoubles && double.IsFinite(_sum))
                others = DecimalArithmetic.Add(others, DecimalArithmetic.OfDouble(_error));
            return DecimalArithmetic.Add(_decimals, others);
        }
    }

    private static (double Sum, double Error) Plus(double sum, double error, double value)
    {
        double next = sum + value;
        double part = next - sum;
        return (next, error + (sum - (next - part)) + (value - part));
    }
}

using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>
/// A running sum as $sum and $avg keep it: exact for integers, and for doubles with the error of each addition carried along
/// (two-sum, D. Knuth).
/// </summary>
internal sealed class RunningSum
{
    private long _integers;
    private double _sum;
    private double _error;
    private bool _hasDoubles;
    private bool _isOverflown;
    private bool _hasInt64;

    public long Count { get; private set; }

    /// <summary>The total, of the widest type that was added; a double when int64 cannot hold it.</summary>
    public BsonValue Total
    {
        get
        {
            if (_hasDoubles || _isOverflown)
                return Values.Of(TotalAsDouble);
            return _hasInt64 || _integers is < int.MinValue or > int.MaxValue ? Values.Int64(_integers) : Values.Int32((int)_integers);
        }
    }

    /// <summary>Null when nothing was added.</summary>
    public BsonValue Average => Count == 0 ? Values.Null : Values.Of(TotalAsDouble / Count);

    /// <param name="number">int32, int64 or double.</param>
    public void Add(BsonValue number)
    {
        Count++;
        if (number.Type == BsonType.Double)
        {
            _hasDoubles = true;
            (_sum, _error) = Plus(_sum, _error, number.ToDouble());
            return;
        }

        _hasInt64 |= number.Type == BsonType.Int64;
        long value = number.ToInt64();
        long next = unchecked(_integers + value);
        if (((_integers ^ next) & (value ^ next)) < 0)
        {
            _isOverflown = true;
            (_sum, _error) = Plus(_sum, _error, _integers);
            next = value;
        }

        _integers = next;
    }

    private double TotalAsDouble
    {
        get
        {
            (double sum, double error) = Plus(_sum, _error, _integers);
            return double.IsFinite(sum) ? sum + error : sum;
        }
    }

    private static (double Sum, double Error) Plus(double sum, double error, double value)
    {
        double next = sum + value;
        double part = next - sum;
        return (next, error + (sum - (next - part)) + (value - part));
    }
}

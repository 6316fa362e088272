using System.Globalization;

namespace MongoPerf.Measurement;

/// <summary>Percentiles by their usual names: p50, p75, p99, p999 for 99.9 %, p9999 for 99.99 %.</summary>
public static class Percentile
{
    /// <summary>For hints.</summary>
    public const string Rule = "percentiles are p1 to p99, and with decimals p999 (99.9 %), p9999 (99.99 %) and the like: "
        + "six digits at most, the last decimal not 0";

    private const int MostDigits = 6;

    /// <param name="name">p and one or two digits, behind which decimals may follow.</param>
    /// <param name="percent">More than 0, less than 100.</param>
    /// <returns>False for any other text, also for another spelling of the same percentile, such as p05 or p990.</returns>
    public static bool TryParse(ReadOnlySpan<char> name, out double percent)
    {
        percent = 0;
        if (name is not ['p' or 'P', _, ..] || name.Length > 1 + MostDigits)
            return false;
        ReadOnlySpan<char> digits = name[1..];
        if (digits[0] == '0' || (digits.Length > 2 && digits[^1] == '0') || digits.ContainsAnyExceptInRange('0', '9'))
            return false;
        int whole = Math.Min(2, digits.Length);
        percent = double.Parse($"{digits[..whole]}.{digits[whole..]}0", CultureInfo.InvariantCulture);
        return true;
    }
}

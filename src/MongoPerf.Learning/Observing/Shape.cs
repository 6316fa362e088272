using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>A part of a command (filter, update, pipeline) without the values that differ from one operation to the next.</summary>
public abstract record Shape
{
    /// <summary>The values in it that operations fill in.</summary>
    public IEnumerable<ValueShape> Values => this switch
    {
        ValueShape value => [value],
        DocumentShape document => document.Fields.SelectMany(part => part.Value.Values),
        _ => [],
    };
}

/// <summary>A document or an array: its names, in order, and what they hold.</summary>
public sealed record DocumentShape(IReadOnlyList<KeyValuePair<string, Shape>> Fields, bool IsArray) : Shape;

/// <summary>
/// What belongs to the form of a command and is no datum: a direction of a sort, a 1 of a projection, a <c>$name</c> of an expression,
/// the argument of <c>$exists</c>.
/// </summary>
public sealed record ConstantShape(BsonValue Value) : Shape;

/// <summary>A value that operations fill in.</summary>
/// <param name="Field">The dotted path of the field that it is compared with or written to; empty where there is none.</param>
/// <param name="Role">What it does there.</param>
/// <param name="Seen">What is known of the values that were seen.</param>
public sealed record ValueShape(string Field, ValueRole Role, ObservedValues Seen) : Shape;

/// <summary>What a value in a command does.</summary>
public enum ValueRole
{
    /// <summary>The field equals it.</summary>
    Equal,

    /// <summary>It is one of a list that the field must be in.</summary>
    In,

    /// <summary>It bounds the field from below.</summary>
    Above,

    /// <summary>It bounds the field from above.</summary>
    Below,

    /// <summary>The field must be another one ($ne, $nin).</summary>
    NotEqual,

    /// <summary>A regular expression that begins with ^ and a fixed text, which an index can answer.</summary>
    Prefix,

    /// <summary>A point of GeoJSON that the field is near; without a field, the one that has a geospatial index.</summary>
    Place,

    /// <summary>Any other operator's argument.</summary>
    Other,

    /// <summary>It is stored in the field.</summary>
    Written,

    /// <summary>It is added to the field.</summary>
    Added,
}

/// <summary>Statistics of the values that were seen in one place of a command; of values only a few stay, which nobody writes.</summary>
/// <param name="Types">How many values had each type.</param>
/// <param name="Distinct">An estimate of how many different ones there were.</param>
/// <param name="Keys">How they were drawn.</param>
public sealed record ObservedValues(IReadOnlyDictionary<BsonType, long> Types, double Distinct, KeyDistribution Keys)
{
    /// <summary>For a list ($in): how many values one operation had, least and most.</summary>
    public (int Least, int Most)? ListLength { get; init; }

    /// <summary>
    /// For numbers and dates with both bounds, of the upper one: its mean distance from the lower (dates in milliseconds).
    /// </summary>
    public double? MeanWidth { get; init; }

    /// <summary>The same distances one by one with how often they came, most frequent first, where few different ones came often.</summary>
    public IReadOnlyList<KeyValuePair<double, long>> Widths { get; init; } = [];

    /// <summary>For texts: the mean length in bytes.</summary>
    public double? MeanLength { get; init; }

    /// <summary>For numbers and dates (in milliseconds): the least and the greatest, rounded outward to two digits.</summary>
    public (double Least, double Greatest)? Range { get; init; }

    /// <summary>
    /// Where few different ones came, each at least ten times, or one at least twenty times: them, most frequent first, with how often
    /// they came. What is written is what the file has in their place.
    /// </summary>
    public IReadOnlyList<KeyValuePair<BsonValue, long>> Few { get; init; } = [];

    /// <summary>For numbers and dates (in milliseconds): the least and the greatest, which nobody writes.</summary>
    public (double Least, double Greatest)? Ends { get; init; }

    /// <summary>They are numbers spread evenly over the range.</summary>
    public bool IsEven { get; init; }
}

/// <summary>How keys are drawn, in the words of scenarios.</summary>
public enum KeyDistributionKind
{
    /// <summary>Too few values to tell.</summary>
    Unknown,
    Uniform,
    Zipfian,
    Latest,

    /// <summary>One after the other, each once.</summary>
    Sequential,
}

/// <summary>How keys are drawn.</summary>
/// <param name="Kind">Its name in scenarios.</param>
/// <param name="Theta">Of a zipfian and latest: the skew, above 0 and below 1.</param>
/// <param name="IsScrambled">
/// Of a zipfian: ranks are those of YCSB's scrambled one, 10^10 hashed to the keys, of which most are then equally popular.
/// </param>
public readonly record struct KeyDistribution(KeyDistributionKind Kind, double Theta = 0, bool IsScrambled = false);

using System.Globalization;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>$convert and its short forms, such as $toInt.</summary>
internal static class ConversionOperators
{
    /// <summary>{$toInt: value}.</summary>
    /// <exception cref="CommandException">50723 for more than one operand; 241 for a constant that has no such value.</exception>
    public static Expression ParseShort(string name, BsonType target, BsonValue operand, Variables? variables)
    {
        Expression[] operands = ExpressionParser.Operands(operand, variables);
        return operands.Length == 1
            ? Folded(operands, scope => operands[0].Evaluate(scope) is { } value && !Values.IsNullish(value)
                ? ValueConversion.To(target, value) : Values.Null)
            : throw CommandException.Location(50723, $"{name} requires a single argument, got {operands.Length}");
    }

    /// <summary>{$convert: {input, to, onError, onNull}}.</summary>
    /// <exception cref="CommandException">9: a field that is missing or unknown; what is wrong with constants.</exception>
    public static Expression Parse(BsonValue operand, Variables? variables)
    {
        if (operand.Type != BsonType.Document)
            throw CommandException.FailedToParse(
                $"$convert expects an object of named arguments but found: {Values.TypeName(operand)}");
        var named = new Dictionary<string, Expression>();
        foreach ((string name, BsonValue value) in operand.ToDocument())
            named[name] = name is "input" or "to" or "onError" or "onNull"
                ? ExpressionParser.Parse(value, variables)
                : throw CommandException.FailedToParse($"$convert found an unknown argument: {name}");
        Expression input = named.GetValueOrDefault("input")
            ?? throw CommandException.FailedToParse("Missing 'input' parameter to $convert");
        Expression to = named.GetValueOrDefault("to") ?? throw CommandException.FailedToParse("Missing 'to' parameter to $convert");
        (Expression? onError, Expression? onNull) = (named.GetValueOrDefault("onError"), named.GetValueOrDefault("onNull"));
        return Folded([.. named.Values], scope => Convert(scope, input, to, onError, onNull));
    }

    private static BsonValue? Convert(Scope scope, Expression input, Expression to, Expression? onError, Expression? onNull)
    {
        BsonValue? type = to.Evaluate(scope);
        BsonType? target = Values.IsNullish(type) ? null : Target(type!.Value);
        BsonValue? value = input.Evaluate(scope);
        if (Values.IsNullish(value))
            return onNull == null ? Values.Null : onNull.Evaluate(scope);
        if (target == null)
            return Values.Null;
        try
        {
            return ValueConversion.To(target.Value, value!.Value);
        }
        catch (CommandException failure) when (failure.Code == ValueConversion.Failure && onError != null)
        {
            return onError.Evaluate(scope);
        }
    }

    private static BsonType Target(BsonValue type)
    {
        if (type.Type == BsonType.String)
            return Queries.TypeSet.Find(type.ToString())
                ?? throw CommandException.BadValue($"Unknown type name: {type}");
        if (!type.IsNumber)
            throw CommandException.FailedToParse(
                $"$convert's 'to' argument must be a string or number, but is {Values.TypeName(type)}");
        if (type.ToDouble() != Math.Floor(type.ToDouble()))
            throw CommandException.FailedToParse("In $convert, numeric 'to' argument is not an integer");
        return Queries.TypeSet.Find(type.ToDouble()) ?? throw CommandException.FailedToParse(
            $"In $convert, numeric value for 'to' does not correspond to a BSON type: {type}");
    }

    /// <summary>What is constant is worked out once, and what is wrong with it told even where no document comes.</summary>
    private static Expression Folded(Expression[] operands, Func<Scope, BsonValue?> evaluate)
    {
        if (!operands.All(operand => operand is ConstantExpression))
            return new ControlExpression(evaluate);
        BsonValue? value = evaluate(new Scope(BsonDocument.Empty, null));
        Values.Hold(value);
        return new ConstantExpression(value ?? Values.Null);
    }
}

/// <summary>Makes values of one type from values of another. Source: manual, "$convert".</summary>
internal static class ValueConversion
{
    public const int Failure = 241;

    private const int DigitsOfDecimal = 34;

    // Doubles at and above are no int64 any more.
    private const double BeyondInt64 = 9223372036854775808.0;

    /// <param name="target">The type that is wanted.</param>
    /// <param name="value">Neither null nor undefined.</param>
    /// <exception cref="CommandException">241: there is no such value; 238: a text or date that only mongod takes.</exception>
    public static BsonValue To(BsonType target, BsonValue value)
    {
        ActiveOperation.Check();
        return target switch
        {
            BsonType.Boolean => Values.Of(!(value.IsNumber || value.Type == BsonType.Boolean) || value.ToBoolean()),
            BsonType.String => Values.Of(Text(value)),
            BsonType.Int32 => Values.Int32((int)Integer(value, target)),
            BsonType.Int64 => Values.Int64(value.Type == BsonType.DateTime ? value.ToInt64() : Integer(value, target)),
            BsonType.Double => Values.Of(Double(value)),
            BsonType.Decimal128 => Values.Of(Decimal(value)),
            BsonType.DateTime => Values.Date(Milliseconds(value)),
            BsonType.ObjectId => Id(value),
            _ => throw Unsupported(value, target),
        };
    }

    private static string Text(BsonValue value) => value.Type switch
    {
        BsonType.String or BsonType.Int32 or BsonType.Int64 or BsonType.Decimal128 or BsonType.ObjectId => value.ToString(),
        BsonType.Boolean => value.ToBoolean() ? "true" : "false",
        BsonType.Double => Text(value.ToDouble()),
        BsonType.DateTime when value.ToInt64() is >= -62135596800000 and <= 253402300799999 and var milliseconds =>
            DateTimeOffset.FromUnixTimeMilliseconds(milliseconds).ToString("yyyy-MM-ddTHH:mm:ss.fffZ", CultureInfo.InvariantCulture),
        BsonType.DateTime => throw CommandException.NotSupported("texts of dates but those of the years 1 to 9999"),
        _ => throw Unsupported(value, BsonType.String),
    };

    /// <summary>Six digits, as printf's %g.</summary>
    private static string Text(double value) => double.IsFinite(value)
        ? value.ToString("g6", CultureInfo.InvariantCulture)
        : double.IsNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";

    private static long Integer(BsonValue value, BsonType target)
    {
        (long least, long most) = target == BsonType.Int32 ? (int.MinValue, (long)int.MaxValue) : (long.MinValue, long.MaxValue);
        long number;
        switch (value.Type)
        {
            case BsonType.Boolean:
                return value.ToBoolean() ? 1 : 0;
            case BsonType.String:
                // Digits and a sign; whatever else a number may be written with is refused.
                if (!long.TryParse(value.ToString(), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number))
                    throw NoNumber(value);
                break;
            case BsonType.Double:
                double real = value.ToDouble();
                if (!double.IsFinite(real) || real < least || (target == BsonType.Int32 ? real > most : real >= BeyondInt64))
                    throw NotRepresentable(value);
                return (long)real;
            case BsonType.Decimal128:
                Decimal128 exact = value.ToDecimal128();
                if (!exact.IsFinite || Math.Abs(exact.ToDouble()) > BeyondInt64)
                    throw NotRepresentable(value);
                number = exact.ToInt64();
                // At the very ends ToInt64 takes what is nearest; elsewhere a fraction is cut off.
                if (Math.Abs(exact.ToDouble()) == BeyondInt64 && !Values.AreEqual(value, Values.Int64(number)))
                    throw NotRepresentable(value);
                break;
            case BsonType.Int32 or BsonType.Int64:
                number = value.ToInt64();
                break;
            default:
                throw Unsupported(value, target);
        }

        return number >= least && number <= most ? number : throw NotRepresentable(value);
    }

    private static double Double(BsonValue value)
    {
        switch (value.Type)
        {
            case BsonType.Boolean or BsonType.DateTime or BsonType.Int32 or BsonType.Int64:
                return value.Type == BsonType.Boolean ? (value.ToBoolean() ? 1 : 0) : value.ToInt64();
            case BsonType.Double:
                return value.ToDouble();
            case BsonType.Decimal128:
                Decimal128 exact = value.ToDecimal128();
                double nearest = exact.ToDouble();
                return exact.IsFinite && (!double.IsFinite(nearest) || (nearest == 0 && !exact.IsZero))
                    ? throw NotRepresentable(value)
                    : nearest;
            case BsonType.String:
                return Parse(value);
            default:
                throw Unsupported(value, BsonType.Double);
        }
    }

    private static double Parse(BsonValue value)
    {
        const NumberStyles Styles = NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint | NumberStyles.AllowExponent;
        string text = value.ToString();
        string name = text.TrimStart('+', '-').ToLowerInvariant();
        if (name.Length >= text.Length - 1 && name is "nan" or "inf" or "infinity")
            return name == "nan" ? double.NaN : text[0] == '-' ? double.NegativeInfinity : double.PositiveInfinity;
        if (!double.TryParse(text, Styles, CultureInfo.InvariantCulture, out double number) || !double.IsFinite(number))
            throw NoNumber(value);
        // What is too small for a double is out of range, and no zero.
        return number == 0 && text.TakeWhile(c => c is not ('e' or 'E')).Any(c => c is >= '1' and <= '9') ? throw NoNumber(value) : number;
    }

    private static Decimal128 Decimal(BsonValue value) => value.Type switch
    {
        BsonType.Boolean => DecimalArithmetic.OfInteger(value.ToBoolean() ? 1 : 0),
        BsonType.DateTime => DecimalArithmetic.OfInteger(value.ToInt64()),
        BsonType.String when Decimal128.TryParse(value.ToString(), out Decimal128 number) => number,
        BsonType.String when value.ToString().Count(char.IsAsciiDigit) > DigitsOfDecimal =>
            throw CommandException.NotSupported($"decimals from texts of more than {DigitsOfDecimal} digits"),
        BsonType.String => throw NoNumber(value),
        _ when value.IsNumber => DecimalArithmetic.Of(value),
        _ => throw Unsupported(value, BsonType.Decimal128),
    };

    private static long Milliseconds(BsonValue value) => value.Type switch
    {
        BsonType.DateTime => value.ToInt64(),
        BsonType.Int64 or BsonType.Double or BsonType.Decimal128 => Integer(value, BsonType.Int64),
        BsonType.ObjectId => 1000L * System.Buffers.Binary.BinaryPrimitives.ReadUInt32BigEndian(value.Bytes.Span),
        // Seconds, above the counter.
        BsonType.Timestamp => 1000L * System.Buffers.Binary.BinaryPrimitives.ReadUInt32LittleEndian(value.Bytes.Span[4..]),
        BsonType.String => Date(value.ToString()),
        _ => throw Unsupported(value, BsonType.DateTime),
    };

    /// <summary>Of the many ways in which mongod reads dates that of ISO 8601, in UTC where no offset is given.</summary>
    private static long Date(string text)
    {
        string[] formats =
        [
            "yyyy-MM-dd", "yyyy-MM-ddTHH:mm", "yyyy-MM-ddTHH:mmK", "yyyy-MM-ddTHH:mm:ss", "yyyy-MM-ddTHH:mm:ssK",
            "yyyy-MM-ddTHH:mm:ss.FFF", "yyyy-MM-ddTHH:mm:ss.FFFK",
        ];
        return DateTimeOffset.TryParseExact(
            text, formats, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out DateTimeOffset date)
            ? date.ToUnixTimeMilliseconds()
            : throw CommandException.NotSupported("dates from texts but such as 2026-11-27T09:30:00.000Z");
    }

    private static BsonValue Id(BsonValue value)
    {
        if (value.Type == BsonType.ObjectId)
            return value;
        if (value.Type != BsonType.String)
            throw Unsupported(value, BsonType.ObjectId);
        string text = value.ToString();
        byte[] bytes = new byte[ObjectId.Size];
        return text.Length == 2 * ObjectId.Size
            && Convert.FromHexString(text, bytes, out _, out int written) == System.Buffers.OperationStatus.Done && written == ObjectId.Size
            ? new BsonValue(BsonType.ObjectId, bytes)
            : throw Failed($"Failed to parse objectId '{text}' in $convert with no onError value");
    }

    private static CommandException Unsupported(BsonValue value, BsonType target) => Failed(
        $"Unsupported conversion from {Values.TypeName(value)} to {Queries.TypeSet.AliasOf(target)} in $convert with no onError value");

    private static CommandException NoNumber(BsonValue value) =>
        Failed($"Failed to parse number '{value}' in $convert with no onError value");

    private static CommandException NotRepresentable(BsonValue value) =>
        Failed($"Conversion would overflow target type in $convert with no onError value: {Values.Text(value)}");

    private static CommandException Failed(string message) => new(Failure, "ConversionFailure", message);
}

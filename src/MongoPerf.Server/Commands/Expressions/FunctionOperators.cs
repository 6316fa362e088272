using System.Collections.Frozen;
using System.Globalization;
using System.Text;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Expressions;

/// <summary>An operator as a function of its operands' values.</summary>
/// <param name="Least">Operands at least.</param>
/// <param name="Most">Operands at most.</param>
/// <param name="Evaluate">A missing operand or result is null.</param>
internal sealed record FunctionOperator(int Least, int Most, Func<BsonValue?[], BsonValue?> Evaluate)
{
    public void RequireCount(string name, int count)
    {
        if (count >= Least && count <= Most)
            return;
        throw Least == Most
            ? CommandException.Location(16020, $"Expression {name} takes exactly {Least} arguments. {count} were passed in.")
            : CommandException.Location(
                28667, $"Expression {name} takes at least {Least} arguments, and at most {Most}, but {count} were passed in.");
    }
}

/// <summary>Operators that are functions of their operands' values. Source: manual, "Aggregation Expression Operators".</summary>
internal static class FunctionOperators
{
    private static readonly FrozenDictionary<string, FunctionOperator> Functions = new Dictionary<string, FunctionOperator>
    {
        ["$eq"] = Comparison(order => order == 0),
        ["$ne"] = Comparison(order => order != 0),
        ["$gt"] = Comparison(order => order > 0),
        ["$gte"] = Comparison(order => order >= 0),
        ["$lt"] = Comparison(order => order < 0),
        ["$lte"] = Comparison(order => order <= 0),
        ["$cmp"] = new(2, 2, values => Values.Int32(Math.Sign(Values.Compare(values[0], values[1])))),
        ["$not"] = new(1, 1, values => Values.Of(!Values.IsTrue(values[0]))),
        ["$add"] = new(0, int.MaxValue, Add),
        ["$subtract"] = new(2, 2, Subtract),
        ["$multiply"] = new(0, int.MaxValue, Multiply),
        ["$divide"] = new(2, 2, Divide),
        ["$mod"] = new(2, 2, Modulo),
        ["$abs"] = new(1, 1, values => Number("$abs", values[0], Absolute)),
        ["$ceil"] = new(1, 1, values => Number("$ceil", values[0], number => Whole(number, Math.Ceiling, isUp: true))),
        ["$floor"] = new(1, 1, values => Number("$floor", values[0], number => Whole(number, Math.Floor, isUp: false))),
        ["$concat"] = new(0, int.MaxValue, Concatenate),
        ["$toUpper"] = new(1, 1, values => Values.Of(Text("$toUpper", values[0])
            .Aggregate(new StringBuilder(), (text, c) => text.Append(char.IsAscii(c) ? char.ToUpperInvariant(c) : c)).ToString())),
        ["$toLower"] = new(1, 1, values => Values.Of(Text("$toLower", values[0])
            .Aggregate(new StringBuilder(), (text, c) => text.Append(char.IsAscii(c) ? char.ToLowerInvariant(c) : c)).ToString())),
        ["$strLenCP"] = new(1, 1, values => Values.Int32(String("$strLenCP", values[0], 34471).EnumerateRunes().Count())),
        ["$strLenBytes"] = new(1, 1, values => Values.Int32(Encoding.UTF8.GetByteCount(String("$strLenBytes", values[0], 34473)))),
        ["$substrCP"] = new(3, 3, Substring),
        ["$isArray"] = new(1, 1, values => Values.Of(values[0] is { Type: BsonType.Array })),
        ["$isNumber"] = new(1, 1, values => Values.Of(values[0] is { IsNumber: true })),
        ["$size"] = new(1, 1, values => Values.Int32(
            Array(values[0], 17124, $"The argument to $size must be an array, but was of type: {Values.TypeName(values[0])}").Count())),
        ["$arrayElemAt"] = new(2, 2, ElementAt),
        ["$first"] = new(1, 1, values =>
            Values.IsNullish(values[0]) ? Values.Null : End("$first", values[0], items => items.Cast<BsonValue?>().FirstOrDefault())),
        ["$last"] = new(1, 1, values =>
            Values.IsNullish(values[0]) ? Values.Null : End("$last", values[0], items => items.Cast<BsonValue?>().LastOrDefault())),
        ["$in"] = new(2, 2,
            values => Values.Of(Array(values[1], 40081, $"$in requires an array as a second argument, found: {Values.TypeName(values[1])}")
                .Any(item => Values.AreEqual(item, values[0])))),
        ["$concatArrays"] = new(0, int.MaxValue, ConcatenateArrays),
        ["$range"] = new(2, 3, Range),
        ["$mergeObjects"] = new(0, int.MaxValue, MergeObjects),
        ["$type"] = new(1, 1, values => Values.Of(Values.TypeName(values[0]))),
        ["$sum"] = new(0, int.MaxValue, values => Accumulate(values, new SumAccumulator())),
        ["$avg"] = new(0, int.MaxValue, values => Accumulate(values, new AverageAccumulator())),
        ["$min"] = new(0, int.MaxValue, values => Accumulate(values, new ExtremeAccumulator(isGreatest: false))),
        ["$max"] = new(0, int.MaxValue, values => Accumulate(values, new ExtremeAccumulator(isGreatest: true))),
        ["$year"] = DatePart("$year", date => date.Year),
        ["$month"] = DatePart("$month", date => date.Month),
        ["$dayOfMonth"] = DatePart("$dayOfMonth", date => date.Day),
        ["$dayOfYear"] = DatePart("$dayOfYear", date => date.DayOfYear),
        ["$dayOfWeek"] = DatePart("$dayOfWeek", date => (int)date.DayOfWeek + 1),
        ["$hour"] = DatePart("$hour", date => date.Hour),
        ["$minute"] = DatePart("$minute", date => date.Minute),
        ["$second"] = DatePart("$second", date => date.Second),
        ["$millisecond"] = DatePart("$millisecond", date => date.Millisecond),
    }.ToFrozenDictionary();

    public static IEnumerable<string> Names => Functions.Keys;

    /// <returns>Null when there is none of that name.</returns>
    public static FunctionOperator? Find(string name) => Functions.GetValueOrDefault(name);

    private static FunctionOperator Comparison(Func<int, bool> test) =>
        new(2, 2, values => Values.Of(test(Values.Compare(values[0], values[1]))));

    private static BsonValue? Add(BsonValue?[] values)
    {
        var total = new RunningSum();
        bool isDate = false;
        foreach (BsonValue? operand in values)
        {
            if (Values.IsNullish(operand))
                return Values.Null;
            BsonValue value = operand!.Value;
            if (value.Type == BsonType.DateTime)
            {
                if (isDate)
                    throw CommandException.Location(16612, "only one date allowed in an $add expression");
                isDate = true;
                value = Values.Int64(value.ToInt64());
            }
            else if (!value.IsNumber)
            {
                throw CommandException.Location(16554, $"$add only supports numeric or date types, not {Values.TypeName(value)}");
            }

            total.Add(value);
        }

        return isDate ? Values.Date(Rounded(total.Total)) : total.Total;
    }

    private static BsonValue? Subtract(BsonValue?[] values)
    {
        if (Values.IsNullish(values[0]) || Values.IsNullish(values[1]))
            return Values.Null;
        (BsonValue left, BsonValue right) = (values[0]!.Value, values[1]!.Value);
        if (left.Type == BsonType.DateTime && right.Type == BsonType.DateTime)
            return Values.Int64(left.ToInt64() - right.ToInt64());
        if (left.Type == BsonType.DateTime && right.IsNumber)
            return Values.Date(left.ToInt64() - (right.Type == BsonType.Decimal128 ? Rounded(right) : right.ToInt64()));
        if (!left.IsNumber || !right.IsNumber)
            throw CommandException.TypeMismatch($"can't $subtract {Values.TypeName(right)} from {Values.TypeName(left)}");
        return Arithmetic.Subtract(left, right);
    }

    /// <summary>Counts in code points, so that no character is cut in two.</summary>
    private static BsonValue? Substring(BsonValue?[] values)
    {
        int start = Place(values[1], "starting index", 34450);
        int length = Place(values[2], "length", 34452);
        string text = Text("$substrCP", values[0]);
        if (length < 0)
            throw CommandException.Location(34454, "$substrCP: length must be a nonnegative integer.");
        if (start < 0)
            throw CommandException.Location(34455, "$substrCP: the starting index must be nonnegative integer.");
        return Values.Of(string.Concat(text.EnumerateRunes().Skip(start).Take(length)));

        static int Place(BsonValue? value, string what, int code)
        {
            if (value is not { IsNumber: true } number)
                throw CommandException.Location(
                    code, $"$substrCP: {what} must be a numeric type (is BSON type {Values.TypeName(value)})");
            double whole = number.ToDouble();
            return whole == Math.Floor(whole) && Math.Abs(whole) <= int.MaxValue ? (int)whole : throw CommandException.Location(
                code + 1, $"$substrCP: {what} cannot be represented as a 32-bit integral value: {Values.Text(number)}");
        }
    }

    private static BsonValue? Multiply(BsonValue?[] values)
    {
        BsonValue product = Values.Int32(1);
        foreach (BsonValue? operand in values)
        {
            if (Values.IsNullish(operand))
                return Values.Null;
            if (!operand!.Value.IsNumber)
                throw CommandException.TypeMismatch($"$multiply only supports numeric types, not {Values.TypeName(operand)}");
            product = Arithmetic.Multiply(product, operand.Value);
        }

        return product;
    }

    private static BsonValue? Divide(BsonValue?[] values)
    {
        if (Values.IsNullish(values[0]) || Values.IsNullish(values[1]))
            return Values.Null;
        (BsonValue left, BsonValue right) = (values[0]!.Value, values[1]!.Value);
        if (!left.IsNumber || !right.IsNumber)
            throw CommandException.TypeMismatch(
                $"$divide only supports numeric types, not {Values.TypeName(left)} and {Values.TypeName(right)}");
        if (!right.ToBoolean())
            throw CommandException.BadValue("can't $divide by zero");
        return Arithmetic.Divide(left, right);
    }

    private static BsonValue? Modulo(BsonValue?[] values)
    {
        if (Values.IsNullish(values[0]) || Values.IsNullish(values[1]))
            return Values.Null;
        (BsonValue left, BsonValue right) = (values[0]!.Value, values[1]!.Value);
        if (!left.IsNumber || !right.IsNumber)
            throw CommandException.Location(
                16611, $"$mod only supports numeric types, not {Values.TypeName(left)} and {Values.TypeName(right)}");
        bool isDecimal = left.Type == BsonType.Decimal128 || right.Type == BsonType.Decimal128;
        if (!right.ToBoolean())
            throw CommandException.Location(isDecimal ? 5733415 : 16610, "can't $mod by zero");
        if (isDecimal)
            return Values.Of(DecimalArithmetic.Remainder(DecimalArithmetic.Of(left), DecimalArithmetic.Of(right)));
        if (left.Type == BsonType.Double || right.Type == BsonType.Double)
            return Values.Of(left.ToDouble() % right.ToDouble());
        long rest = right.ToInt64() == -1 ? 0 : left.ToInt64() % right.ToInt64();
        return left.Type == BsonType.Int64 || right.Type == BsonType.Int64 ? Values.Int64(rest) : Values.Int32((int)rest);
    }

    private static BsonValue? Number(string name, BsonValue? operand, Func<BsonValue, BsonValue> function)
    {
        if (Values.IsNullish(operand))
            return Values.Null;
        if (!operand!.Value.IsNumber)
            throw CommandException.Location(28765, $"{name} only supports numeric types, not {Values.TypeName(operand)}");
        return function(operand.Value);
    }

    private static BsonValue Absolute(BsonValue number)
    {
        if (number.Type == BsonType.Double)
            return Values.Of(Math.Abs(number.ToDouble()));
        if (number.Type == BsonType.Decimal128)
            return Values.Of(DecimalArithmetic.Absolute(number.ToDecimal128()));
        if (number.ToInt64() == long.MinValue)
            throw CommandException.Location(28680, "can't take $abs of long long min");
        long value = Math.Abs(number.ToInt64());
        return number.Type == BsonType.Int32 && value <= int.MaxValue ? Values.Int32((int)value) : Values.Int64(value);
    }

    private static BsonValue Whole(BsonValue number, Func<double, double> round, bool isUp) => number.Type switch
    {
        BsonType.Double => Values.Of(round(number.ToDouble())),
        BsonType.Decimal128 => Values.Of(DecimalArithmetic.Whole(number.ToDecimal128(), isUp)),
        _ => number,
    };

    private static BsonValue? Concatenate(BsonValue?[] values)
    {
        var text = new StringBuilder();
        foreach (BsonValue? value in values)
        {
            if (Values.IsNullish(value))
                return Values.Null;
            text.Append(value!.Value.Type == BsonType.String
                ? value.Value.ToString()
                : throw CommandException.Location(16702, $"$concat only supports strings, not {Values.TypeName(value)}"));
            if (text.Length > ProtocolLimits.MaximumDocumentBytes)
                throw Values.TooLong();
        }

        return Values.Of(text.ToString());
    }

    /// <summary>A string as it is, nothing as the empty one, a double with six digits.</summary>
    private static string Text(string name, BsonValue? value)
    {
        if (Values.IsNullish(value))
            return "";
        return value!.Value.Type switch
        {
            BsonType.String or BsonType.Symbol or BsonType.Int32 or BsonType.Int64 or BsonType.Decimal128 => value.Value.ToString(),
            BsonType.Double when double.IsFinite(value.Value.ToDouble()) =>
                value.Value.ToDouble().ToString("g6", CultureInfo.InvariantCulture),
            BsonType.Double or BsonType.DateTime or BsonType.Timestamp or BsonType.JavaScript =>
                throw CommandException.NotSupported($"{name} of a {Values.TypeName(value)}"),
            _ => throw CommandException.Location(16007, $"can't convert from BSON type {Values.TypeName(value)} to String"),
        };
    }

    private static string String(string name, BsonValue? value, int code) => value is { Type: BsonType.String } text
        ? text.ToString()
        : throw CommandException.Location(code, $"{name} requires a string argument, found: {Values.TypeName(value)}");

    private static IEnumerable<BsonValue> Array(BsonValue? value, int code, string text) =>
        value is { Type: BsonType.Array } array ? Values.Items(array) : throw CommandException.Location(code, text);

    private static BsonValue? End(string name, BsonValue? value, Func<IEnumerable<BsonValue>, BsonValue?> pick) =>
        pick(Array(value, 28689, $"{name}'s argument must be an array, but is {Values.TypeName(value)}"));

    private static BsonValue? ElementAt(BsonValue?[] values)
    {
        if (Values.IsNullish(values[0]) || Values.IsNullish(values[1]))
            return Values.Null;
        BsonValue[] items =
            [.. Array(values[0], 28689, $"$arrayElemAt's first argument must be an array, but is {Values.TypeName(values[0])}")];
        int index = Integer("$arrayElemAt's second argument", values[1]!.Value, 28690, 28691);
        int at = index < 0 ? items.Length + index : index;
        return at >= 0 && at < items.Length ? items[at] : null;
    }

    private static int Integer(string what, BsonValue value, int notANumber, int notWhole)
    {
        if (!value.IsNumber)
            throw CommandException.Location(notANumber, $"{what} must be a numeric value, but is {Values.TypeName(value)}");
        double number = value.ToDouble();
        return number == Math.Floor(number) && number is >= int.MinValue and <= int.MaxValue
            ? (int)number
            : throw CommandException.Location(notWhole, $"{what} must be representable as a 32-bit integer: {value}");
    }

    private static BsonValue? ConcatenateArrays(BsonValue?[] values)
    {
        foreach (BsonValue? value in values)
        {
            if (Values.IsNullish(value))
                return Values.Null;
            _ = Array(value, 28664, $"$concatArrays only supports arrays, not {Values.TypeName(value)}");
        }

        return Values.Array(values.SelectMany(value => Values.Items(value!.Value)));
    }

    private static BsonValue? Range(BsonValue?[] values)
    {
        int start = Bound("starting", values[0], 34443, 34444);
        int end = Bound("ending", values[1], 34445, 34446);
        int step = values.Length > 2 ? Bound("step", values[2], 34447, 34448) : 1;
        if (step == 0)
            throw CommandException.Location(34449, "$range requires a non-zero step value");
        RequireRangeMemory(Math.Max(0, step > 0 ? ((long)end - start + step - 1) / step : ((long)start - end - step - 1) / -(long)step));
        return Values.Array(Steps(start, end, step));
    }

    private static IEnumerable<BsonValue> Steps(int start, int end, int step)
    {
        for (long i = start; step > 0 ? i < end : i > end; i += step)
            yield return Values.Int32((int)i);
    }

    /// <summary>Requires memory for a range by mongod's account: 16 bytes an element, and 40 for the array.</summary>
    private static void RequireRangeMemory(long count)
    {
        long bytes = (16 * count) + 40;
        if (bytes > ActiveOperation.MaximumHeldBytes)
        {
            throw new CommandException(146, "ExceededMemoryLimit",
                $"$range would use too much memory ({bytes} bytes) and cannot spill to disk. Memory limit: "
                + $"{ActiveOperation.MaximumHeldBytes} bytes");
        }
    }

    private static int Bound(string which, BsonValue? value, int notANumber, int notWhole) =>
        Integer($"$range requires a numeric {which} value; it", value ?? Values.Null, notANumber, notWhole);

    private static BsonValue? MergeObjects(BsonValue?[] values)
    {
        var fields = new List<(string Name, BsonValue Value)>();
        foreach (BsonValue? value in values.Where(value => !Values.IsNullish(value)))
        {
            if (value!.Value.Type != BsonType.Document)
                throw CommandException.Location(40400,
                    $"$mergeObjects requires object inputs, but input {Values.Text(value.Value)} is of type {Values.TypeName(value)}");
            foreach ((string name, BsonValue field) in value.Value.ToDocument())
            {
                ActiveOperation.Check();
                int at = fields.FindIndex(pair => pair.Name == name);
                if (at >= 0)
                    fields[at] = (name, field);
                else
                    fields.Add((name, field));
            }
        }

        return Values.Document(fields);
    }

    /// <summary>Accumulates as in $group, over the operands, or over the elements of the one that is an array.</summary>
    private static BsonValue? Accumulate(BsonValue?[] values, Accumulator accumulator)
    {
        IEnumerable<BsonValue?> all = values is [{ Type: BsonType.Array } array] ? Values.Items(array).Cast<BsonValue?>() : values;
        foreach (BsonValue? value in all)
            accumulator.Add(value);
        return accumulator.Result;
    }

    private static FunctionOperator DatePart(string name, Func<DateTimeOffset, int> part) => new(1, 1, values =>
    {
        if (Values.IsNullish(values[0]))
            return Values.Null;
        if (values[0]!.Value.Type is not (BsonType.DateTime or BsonType.Document or BsonType.Timestamp or BsonType.ObjectId))
            throw CommandException.Location(16006, $"can't convert from BSON type {Values.TypeName(values[0])} to Date");
        if (values[0]!.Value.Type != BsonType.DateTime || values[0]!.Value.ToInt64() is < -62135596800000 or > 253402300799999)
            throw CommandException.NotSupported($"{name} of anything but dates of the years 1 to 9999, in UTC");
        return Values.Int32(part(DateTimeOffset.FromUnixTimeMilliseconds(values[0]!.Value.ToInt64())));
    });

    /// <summary>
    /// The nearest whole number. Of two that are as near mongod takes the one nearer to zero for a double, and the even one for a decimal.
    /// </summary>
    private static long Rounded(BsonValue number) => number.Type switch
    {
        BsonType.Double => (long)Math.Truncate(number.ToDouble()) is var whole && Math.Abs(number.ToDouble() - whole) > 0.5
            ? whole + Math.Sign(number.ToDouble()) : whole,
        BsonType.Decimal128 => DecimalArithmetic.Nearest(number.ToDecimal128()).ToInt64(),
        _ => number.ToInt64(),
    };
}

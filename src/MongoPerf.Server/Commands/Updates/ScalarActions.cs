using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>The operators on single values: $set, $inc, $mul, $min, $max, $bit, $currentDate.</summary>
internal static class ScalarActions
{
    public static UpdateAction Set(BsonValue value) => new ChangeAction((_, _) => value);

    public static UpdateAction Increment(string field, BsonValue amount)
    {
        if (!amount.IsNumber)
            throw CommandException.TypeMismatch($"Cannot increment with non-numeric argument: {{{field}: {Values.Text(amount)}}}");
        return new ChangeAction((present, path) => present == null
            ? amount
            : Different(present.Value,
                Arithmetic.AddExactly(Number(present, path, "$inc"), amount) ?? throw Overflow("$inc", present, path)), CountsAlways: true);
    }

    public static UpdateAction Multiply(string field, BsonValue factor)
    {
        if (!factor.IsNumber)
            throw CommandException.TypeMismatch($"Cannot multiply with non-numeric argument: {{{field}: {Values.Text(factor)}}}");
        // A missing field counts as zero of the factor's type.
        return new ChangeAction((present, path) =>
            Different(present?.Value, Arithmetic.MultiplyExactly(present == null ? Values.Int32(0) : Number(present, path, "$mul"), factor)
                ?? throw Overflow("$mul", present!, path)), CountsAlways: true);
    }

    /// <summary>
    /// A result is another value where its type or number is: 0.0 and -0.0 are the same, and NaN is never what was there.
    /// </summary>
    private static BsonValue? Different(BsonValue? before, BsonValue after)
    {
        bool isSame = before is { } old && old.Type == after.Type
            && (old.Type is BsonType.Double or BsonType.Decimal128 ? IsSameNumber(old, after) : Values.AreIdentical(old, after));
        return isSame ? null : after;
    }

    private static bool IsSameNumber(BsonValue before, BsonValue after) =>
        !double.IsNaN(before.ToDouble()) && Values.AreEqual(before, after);

    public static UpdateAction Extreme(BsonValue value, bool isGreatest) => new ChangeAction((present, _) =>
        present == null || (isGreatest ? Values.Compare(value, present.Value) > 0 : Values.Compare(value, present.Value) < 0) ? value
            : null);

    public static UpdateAction CurrentDate(string field, BsonValue specification)
    {
        bool isTimestamp = false;
        if (specification.Type == BsonType.Document)
        {
            KeyValuePair<string, BsonValue>[] fields = [.. specification.ToDocument()];
            if (fields is not [{ Key: "$type" }])
                throw CommandException.BadValue($"The only valid field of the option is '$type': {{$currentDate: {{field : {{$type: "
                    + $"'date/timestamp'}}}}}}; found {Values.Text(specification)}");
            isTimestamp = fields[0].Value.ToString() switch
            {
                "date" => false,
                "timestamp" => true,
                _ => throw CommandException.BadValue(
                    "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}"),
            };
        }
        else if (specification.Type != BsonType.Boolean)
        {
            throw CommandException.BadValue($"{Values.TypeName(specification)} is not valid type for $currentDate. "
                + $"Please use a boolean ('true') or a $type expression ({{$type: 'timestamp/date'}}): {field}");
        }

        return new ChangeAction((_, _) => isTimestamp
            ? new BsonValue(BsonType.Timestamp, BitConverter.GetBytes(((ulong)DateTimeOffset.UtcNow.ToUnixTimeSeconds() << 32) | 1))
            : Values.Date(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()));
    }

    public static UpdateAction Bits(BsonValue specification)
    {
        if (specification.Type != BsonType.Document)
            throw CommandException.BadValue($"The $bit modifier is not compatible with a {Values.TypeName(specification)}. "
                + $"You must pass in an embedded document: {{$bit: {{field: {{and/or/xor: #}}}}");
        KeyValuePair<string, BsonValue>[] operations = [.. specification.ToDocument()];
        if (operations.Length == 0)
            throw CommandException.BadValue(
                "You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}");
        foreach ((string name, BsonValue value) in operations)
        {
            if (name is not ("and" or "or" or "xor"))
                throw CommandException.BadValue($"The $bit modifier only supports 'and', 'or', and 'xor', not '{name}' which is an unknown "
                    + $"operator: {{{name}: {Values.Text(value)}}}");
            if (value.Type is not (BsonType.Int32 or BsonType.Int64))
                throw CommandException.BadValue("The $bit modifier field must be an Integer(32/64 bit); "
                    + $"a '{Values.TypeName(value)}' is not supported here: {{{name}: {Values.Text(value)}}}");
        }

        return new ChangeAction((present, path) => operations.Aggregate(present?.Value ?? Values.Int32(0),
            (value, operation) => Combine(value, operation.Key, operation.Value, path)));
    }

    private static BsonValue Combine(BsonValue value, string operation, BsonValue operand, string path)
    {
        if (value.Type is not (BsonType.Int32 or BsonType.Int64))
            throw CommandException.BadValue(
                $"Cannot apply $bit to a value of non-integral type. The field '{path}' has non-integral type {Values.TypeName(value)}");
        long result = operation switch
        {
            "and" => value.ToInt64() & operand.ToInt64(),
            "or" => value.ToInt64() | operand.ToInt64(),
            _ => value.ToInt64() ^ operand.ToInt64(),
        };
        return value.Type == BsonType.Int32 && operand.Type == BsonType.Int32 ? Values.Int32((int)result) : Values.Int64(result);
    }

    private static BsonValue Number(EditNode present, string path, string operation)
    {
        BsonValue value = present.Value;
        return value.IsNumber
            ? value
            : throw CommandException.TypeMismatch($"Cannot apply {operation} to a value of non-numeric type. The field '{path}' has the "
                + $"non-numeric type {Values.TypeName(value)}");
    }

    private static CommandException Overflow(string operation, EditNode present, string path) =>
        CommandException.BadValue($"Failed to apply {operation} operations to current value ({Values.Text(present.Value)}) "
            + $"for the field '{path}': integer overflow");
}

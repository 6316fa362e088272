using System.Buffers.Binary;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Applies $set, $unset, $inc and $setOnInsert to top-level fields, or puts a replacement in the place of a document.</summary>
internal static class UpdateOperators
{
    /// <summary>Whether the update is operators (its first name starts with $) and not a replacement.</summary>
    public static bool AreOperators(ReadOnlySpan<byte> update)
    {
        var reader = new BsonReader(update);
        return reader.Read() && reader.Name.Length > 0 && reader.Name[0] == '$';
    }

    /// <summary>The document after the update.</summary>
    /// <exception cref="CommandException">An unknown operator, a field given twice, a changed _id.</exception>
    public static byte[] Apply(ReadOnlySpan<byte> document, BsonDocument update, bool isInsert)
    {
        BsonValue? id = new BsonDocument(document.ToArray()).Find("_id");
        List<(string Name, BsonValue Value)> elements = AreOperators(update.Bytes)
            ? ApplyOperators(document, update, isInsert)
            : Replace(update, id);
        BsonValue? newId = Find(elements, "_id") is var at && at >= 0 ? elements[at].Value : null;
        if (id is { } old && (newId is not { } now || now.Type != old.Type || !now.Bytes.Span.SequenceEqual(old.Bytes.Span)))
            throw new CommandException(66, "ImmutableField", "Performing an update on the path '_id' would modify the immutable field '_id'");
        return BsonDocument.Of([.. elements.Select(element => (element.Name, (object?)element.Value))]).Bytes.ToArray();
    }

    private static List<(string Name, BsonValue Value)> Replace(BsonDocument replacement, BsonValue? id)
    {
        List<(string Name, BsonValue Value)> elements = [.. replacement.Select(pair => (pair.Key, pair.Value))];
        if (id is { } kept && Find(elements, "_id") < 0)
            elements.Insert(0, ("_id", kept));
        return elements;
    }

    private static List<(string Name, BsonValue Value)> ApplyOperators(ReadOnlySpan<byte> document, BsonDocument update, bool isInsert)
    {
        List<(string Name, BsonValue Value)> elements = [.. new BsonDocument(document.ToArray()).Select(pair => (pair.Key, pair.Value))];
        var touched = new HashSet<string>();
        foreach ((string name, BsonValue fields) in update)
        {
            if (name is not ("$set" or "$unset" or "$inc" or "$setOnInsert"))
                throw Unknown(name);
            if (fields.Type != BsonType.Document)
                throw CommandException.FailedToParse($"Modifiers operate on fields but we found type {fields.Type} instead. For example: {{$mod: {{<field>: ...}}}} not {{{name}: ...}}");
            // New fields are appended in the order of their names, as MongoDB does.
            foreach ((string field, BsonValue value) in fields.ToDocument().OrderBy(pair => pair.Key, StringComparer.Ordinal))
            {
                RequireTopLevel(field);
                if (!touched.Add(field))
                    throw new CommandException(40, "ConflictingUpdateOperators", $"Updating the path '{field}' would create a conflict at '{field}'");
                if (name != "$setOnInsert" || isInsert)
                    ApplyOne(elements, name, field, value);
            }
        }

        return elements;
    }

    private static void ApplyOne(List<(string Name, BsonValue Value)> elements, string operation, string field, BsonValue value)
    {
        int at = Find(elements, field);
        if (operation == "$unset")
        {
            if (at >= 0)
                elements.RemoveAt(at);
            return;
        }

        BsonValue result = operation == "$inc" ? Sum(field, at >= 0 ? elements[at].Value : null, value) : value;
        if (at >= 0)
            elements[at] = (field, result);
        else
            elements.Add((field, result));
    }

    private static BsonValue Sum(string field, BsonValue? present, BsonValue increment)
    {
        if (!increment.IsNumber)
            throw CommandException.TypeMismatch($"Cannot increment with non-numeric argument: {{{field}: {increment}}}");
        if (present is not { } old)
            return increment;
        if (!old.IsNumber)
            throw CommandException.TypeMismatch($"Cannot apply $inc to a value of non-numeric type. The field '{field}' has non-numeric type {old.Type}");
        if (old.Type == BsonType.Double || increment.Type == BsonType.Double)
            return Make(BsonType.Double, BitConverter.DoubleToInt64Bits(old.ToDouble() + increment.ToDouble()));
        long sum;
        try
        {
            sum = checked(old.ToInt64() + increment.ToInt64());
        }
        catch (OverflowException)
        {
            throw CommandException.BadValue($"Failed to apply $inc operations to current value ({old}) for field '{field}': integer overflow");
        }

        bool isInt32 = old.Type == BsonType.Int32 && increment.Type == BsonType.Int32 && sum is >= int.MinValue and <= int.MaxValue;
        return Make(isInt32 ? BsonType.Int32 : BsonType.Int64, sum);
    }

    private static BsonValue Make(BsonType type, long bits)
    {
        byte[] bytes = new byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, bits);
        return new BsonValue(type, type == BsonType.Int32 ? bytes.AsMemory(0, 4) : bytes);
    }

    private static int Find(List<(string Name, BsonValue Value)> elements, string name) => elements.FindIndex(element => element.Name == name);

    private static void RequireTopLevel(string field)
    {
        if (field.Length == 0 || field[0] == '$')
            throw new CommandException(52, "DollarPrefixedFieldName", $"The dollar ($) prefixed field '{field}' is not allowed in the context of an update");
        if (field.Contains('.'))
            throw CommandException.NotSupported($"updates of nested fields ('{field}')");
    }

    private static CommandException Unknown(string name) =>
        name is "$push" or "$pull" or "$addToSet" or "$pop" or "$min" or "$max" or "$mul" or "$rename" or "$currentDate" or "$bit" or "$pullAll"
            ? CommandException.NotSupported($"the update operator {name}")
            : CommandException.FailedToParse($"Unknown modifier: {name}. Expected a valid update modifier or pipeline-style update specified as an array");
}

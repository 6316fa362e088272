using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>Writes a filter of MongoDB's as conditions of a table database's search, all of which must hold.</summary>
/// <remarks>
/// Allowed: field: value, and field: {$eq, $gt, $gte, $lt, $lte, $in, $all}. A value meets a column of several words when it is one of
/// them, as with MongoDB's arrays. $gte and $lte together are one condition (between): the server uses one index condition best. One
/// thread; allocates nothing.
/// </remarks>
internal sealed class TyrantConditions(TyrantRequest request, TyrantColumns columns)
{
    private static ReadOnlySpan<byte> TextEqual => "0"u8;

    private static ReadOnlySpan<byte> AllWords => "4"u8;

    private static ReadOnlySpan<byte> OneWord => "5"u8;

    private static ReadOnlySpan<byte> TextIsOneOf => "6"u8;

    private static ReadOnlySpan<byte> NumberEqual => "8"u8;

    private static ReadOnlySpan<byte> Between => "13"u8;

    private static ReadOnlySpan<byte> NumberIsOneOf => "14"u8;

    /// <param name="filter">A find's filter.</param>
    /// <exception cref="OperationLimitException">It asks for what a search can't do.</exception>
    public void Write(ReadOnlySpan<byte> filter)
    {
        var field = new BsonReader(filter);
        while (field.Read())
        {
            if (field.Name.StartsWith("$"u8))
                throw new OperationLimitException(
                    $"Tokyo Tyrant can't filter with '{field.NameText}'; allowed: conditions on single fields, all of which must hold");
            if (field.Type == BsonType.Document)
                WriteOperators(field.Name, field.DocumentBytes);
            else
                WriteEqual(field.Name, field);
        }
    }

    private void WriteOperators(ReadOnlySpan<byte> field, ReadOnlySpan<byte> operators)
    {
        if (TryWriteBetween(field, operators))
            return;
        var operand = new BsonReader(operators);
        while (operand.Read())
            WriteOperator(field, operand);
    }

    private void WriteOperator(ReadOnlySpan<byte> field, in BsonReader operand)
    {
        if (operand.NameIs("$eq"u8))
            WriteEqual(field, operand);
        else if (operand.NameIs("$gt"u8))
            WriteComparison(field, "9"u8, operand);
        else if (operand.NameIs("$gte"u8))
            WriteComparison(field, "10"u8, operand);
        else if (operand.NameIs("$lt"u8))
            WriteComparison(field, "11"u8, operand);
        else if (operand.NameIs("$lte"u8))
            WriteComparison(field, "12"u8, operand);
        else if (operand.NameIs("$in"u8) && operand.Type == BsonType.Array)
            WriteCondition(field, MembershipOf(field, operand), operand);
        else if (operand.NameIs("$all"u8) && operand.Type == BsonType.Array)
            WriteCondition(field, AllWords, operand);
        else
            throw new OperationLimitException($"'{Text(field)}: {{{operand.NameText}: {operand.Type}}}' is not possible with Tokyo Tyrant; "
                + "allowed: $eq, $gt, $gte, $lt, $lte, and $in and $all with arrays");
    }

    private void WriteEqual(ReadOnlySpan<byte> field, in BsonReader value)
    {
        bool isWord = value.Type != BsonType.Array && columns.KindOf(TyrantColumns.NameOf(field)) == TyrantColumnKind.Words;
        if (!isWord)
        {
            WriteCondition(field, TyrantText.IsNumber(value.Type) ? NumberEqual : TextEqual, value);
            return;
        }

        TyrantText.WriteWord(StartCondition(field, AllWords), value, field);
        request.EndArgument();
    }

    private void WriteComparison(ReadOnlySpan<byte> field, ReadOnlySpan<byte> condition, in BsonReader value)
    {
        if (!TyrantText.IsNumber(value.Type))
            throw new OperationLimitException($"'{Text(field)}: {{{value.NameText}: {value.Type}}}' is not possible with Tokyo Tyrant, "
                + "which only compares numbers and dates");
        WriteCondition(field, condition, value);
    }

    private bool TryWriteBetween(ReadOnlySpan<byte> field, ReadOnlySpan<byte> operators)
    {
        var low = new BsonReader(operators);
        if (!low.Read() || !low.NameIs("$gte"u8) || !TyrantText.IsNumber(low.Type))
            return false;
        BsonReader high = low;
        if (!high.Read() || !high.NameIs("$lte"u8) || !TyrantText.IsNumber(high.Type))
            return false;
        BsonReader rest = high;
        if (rest.Read())
            return false;
        BsonWriter text = StartCondition(field, Between);
        TyrantText.Write(text, low, field);
        text.WriteRawByte((byte)',');
        TyrantText.Write(text, high, field);
        request.EndArgument();
        return true;
    }

    private ReadOnlySpan<byte> MembershipOf(ReadOnlySpan<byte> field, in BsonReader array)
    {
        if (columns.KindOf(TyrantColumns.NameOf(field)) == TyrantColumnKind.Words)
            return OneWord;
        var items = new BsonReader(array.DocumentBytes);
        return items.Read() && TyrantText.IsNumber(items.Type) ? NumberIsOneOf : TextIsOneOf;
    }

    private void WriteCondition(ReadOnlySpan<byte> field, ReadOnlySpan<byte> condition, in BsonReader value)
    {
        TyrantText.Write(StartCondition(field, condition), value, field);
        request.EndArgument();
    }

    private BsonWriter StartCondition(ReadOnlySpan<byte> field, ReadOnlySpan<byte> condition) =>
        request.StartArgument("addcond"u8).AddWord(TyrantColumns.NameOf(field)).AddWord(condition).StartWord();

    private static string Text(ReadOnlySpan<byte> utf8) => Encoding.UTF8.GetString(utf8);
}

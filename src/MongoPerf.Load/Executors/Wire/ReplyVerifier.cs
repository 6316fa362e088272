using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>Compares the documents of a find's reply with those that were written, and with what was asked for.</summary>
/// <remarks>
/// Whole documents must be what was written, byte for byte, wherever their _ids tell their numbers (in a time-series collection,
/// whose server promises no order, field for field); every document must meet the plain conditions of the filter and come in the
/// order asked for. Conditions on what a projection leaves out, and other operators than comparisons, are not looked at. Not on the
/// measured path: it allocates.
/// </remarks>
/// <param name="operation">The find.</param>
/// <param name="documents">Makes what was written.</param>
/// <param name="mayLag">A secondary may answer, which need not have the latest documents yet.</param>
public sealed class ReplyVerifier(FindDocuments operation, DocumentTemplate documents, bool mayLag = false)
{
    private readonly BsonWriter _written = new();

    /// <param name="batch">The reply's array of documents; the first batch of several.</param>
    /// <param name="values">The values that the operation was drawn with.</param>
    public VerificationOutcome Verify(ReadOnlySpan<byte> batch, in ValueContext values)
    {
        BsonDocument filter = operation.Filter.ToDocument(values);
        BsonDocument? sort = operation.Sort?.ToDocument(values);
        BsonDocument? projection =
            operation.Projection is { } asked ? DocumentValue.Of(("p", asked)).ToDocument(values).FindDocument("p") : null;
        BsonDocument? previous = null;
        int seen = 0;
        int wrong = 0;
        var items = new BsonReader(batch);
        while (items.Read())
        {
            seen++;
            if (!IsRight(items, values.Number, filter, projection, sort, ref previous))
                wrong++;
        }

        int most = operation.FullReply > 0 ? operation.FullReply : int.MaxValue;
        // The document that was drawn must be there: none at all is one wrong.
        return operation.IsOfKey && seen == 0 && !mayLag && !operation.MayBeRemoved
            ? new VerificationOutcome(1, 1)
            : new VerificationOutcome(seen, wrong + Math.Max(0, seen - most));
    }

    /// <summary>Bytes that are no document, or values of other types, are a wrong document and no end of the phase.</summary>
    private bool IsRight(
        in BsonReader item, long drawn, BsonDocument filter, BsonDocument? projection, BsonDocument? sort, ref BsonDocument? previous)
    {
        try
        {
            var document = new BsonDocument(item.DocumentBytes.ToArray());
            bool isInOrder = sort is null || MayFollow(previous ?? document, document, sort, projection);
            previous = document;
            return isInOrder && IsAsWritten(document, drawn)
                && filter.All(condition => Meets(document, condition.Key, condition.Value, projection));
        }
        // Nested too deep to be compared, as no server's documents are.
        catch (Exception e) when (e is BsonFormatException or InsufficientExecutionStackException)
        {
            return false;
        }
    }

    private bool IsAsWritten(BsonDocument document, long drawn)
    {
        if (operation.Projection is not null)
            return true;
        if (!operation.IsOfKey && !documents.Ids.AreInvertible)
            return true;
        long number = operation.IsOfKey ? drawn : document.Find("_id") is { } id ? documents.Ids.NumberOf(id.Type, id.Bytes.Span) : -1;
        if (number < 0)
            return false;
        _written.Clear();
        documents.Write(_written, number);
        return operation.MayReorderFields
            ? HasSameFields(document, new BsonDocument(_written.Written.ToArray()))
            : document.Bytes.SequenceEqual(_written.Written);
    }

    /// <summary>The same fields with the same values, in any order; also inside of documents, but not of arrays.</summary>
    private static bool HasSameFields(BsonDocument found, BsonDocument written) => found.Count() == written.Count() && written.All(field =>
        found.FirstOrDefault(other => other.Key == field.Key) is { Key: not null } other && other.Value.Type == field.Value.Type
        && (field.Value.Type == BsonType.Document
            ? HasSameFields(other.Value.ToDocument(), field.Value.ToDocument())
            : other.Value.Bytes.Span.SequenceEqual(field.Value.Bytes.Span)));

    private static bool Meets(BsonDocument document, string path, BsonValue condition, BsonDocument? projection)
    {
        if (path.StartsWith('$') || IsComputed(path, projection))
            return true;
        if (document.Find(path) is not { } value)
            return path.Contains('.', StringComparison.Ordinal) || !DemandsValue(condition) || projection?.IsTrue(path) == false;
        if (value.Type is BsonType.Array or BsonType.Document || condition.Type == BsonType.Regex)
            return true;
        return condition.Type != BsonType.Document
            ? BsonOrder.Values.Compare(value, condition) == 0
            : condition.ToDocument().All(o => Meets(value, o.Key, o.Value));
    }

    /// <summary>A document without the field does not meet it.</summary>
    private static bool DemandsValue(BsonValue condition) => condition.Type == BsonType.Document
        ? condition.ToDocument().Any(o => o.Key is "$eq" or "$gt" or "$gte" or "$lt" or "$lte" && o.Value.Type != BsonType.Null)
        : condition.Type is not (BsonType.Null or BsonType.Regex);

    private static bool Meets(BsonValue value, string comparison, BsonValue operand)
    {
        if (!BsonOrder.AreOfOneKind(value.Type, operand.Type))
            return true;
        int order = BsonOrder.Values.Compare(value, operand);
        return comparison switch
        {
            "$eq" => order == 0,
            "$gt" => order > 0,
            "$gte" => order >= 0,
            "$lt" => order < 0,
            "$lte" => order <= 0,
            _ => true,
        };
    }

    /// <summary>
    /// Whether a document may follow another one in a sort. A field that is missing or an array decides nothing, nor do those after it:
    /// servers sort an array by one of its elements, and a path may lead through one.
    /// </summary>
    private static bool MayFollow(BsonDocument previous, BsonDocument document, BsonDocument sort, BsonDocument? projection)
    {
        foreach ((string path, BsonValue direction) in sort)
        {
            if (!direction.IsNumber || IsComputed(path, projection)
                || previous.Find(path) is not { } before || before.Type == BsonType.Array
                || document.Find(path) is not { } value || value.Type == BsonType.Array)
                return true;
            int order = BsonOrder.Values.Compare(value, before) * Math.Sign(direction.ToDouble());
            if (order != 0)
                return order > 0;
        }

        return true;
    }

    /// <summary>Whether a projection may have replaced what documents have at a path.</summary>
    private static bool IsComputed(string path, BsonDocument? projection) => projection?.Any(field =>
        !field.Value.IsNumber && field.Value.Type != BsonType.Boolean && ($"{field.Key}.".StartsWith($"{path}.", StringComparison.Ordinal)
            || path.StartsWith($"{field.Key}.", StringComparison.Ordinal))) == true;
}

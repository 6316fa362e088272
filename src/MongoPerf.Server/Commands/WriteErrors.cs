using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>The statements of a write command that failed, as they go into its reply.</summary>
internal sealed class WriteErrors
{
    private const int MaximumTextBytes = 1 << 20;

    private readonly List<(int Index, int Code, string Message, DuplicateKey? Duplicate)> _errors = [];

    public int Count => _errors.Count;

    public void Clear() => _errors.Clear();

    public void Add(int index, int code, string message) => _errors.Add((index, code, message, null));

    public void AddDuplicate(int index, DuplicateKey duplicate) => _errors.Add((index, DuplicateKey.Code, duplicate.Text, duplicate));

    /// <summary>Writes the array <c>writeErrors</c>, or nothing when there are none.</summary>
    public void Write(BsonWriter body)
    {
        if (_errors.Count == 0)
            return;
        int start = body.Length;
        body.StartArray("writeErrors"u8);
        for (int i = 0; i < _errors.Count; i++)
        {
            (int index, int code, string message, DuplicateKey? duplicate) = _errors[i];
            body.StartDocument(ArrayNames.Of(i));
            body.WriteInt32("index"u8, index);
            body.WriteInt32("code"u8, code);
            // As mongod: after a megabyte of them the rest come without texts.
            bool isFull = body.Length - start > MaximumTextBytes;
            body.WriteString("errmsg"u8, isFull ? "" : message);
            if (!isFull)
                duplicate?.Write(body);
            body.End();
        }

        body.End();
    }
}

/// <summary>A key that a unique index holds already: what the reply tells of it, wherever the write came from.</summary>
/// <param name="Namespace">The collection's.</param>
/// <param name="Index">The unique index.</param>
/// <param name="Values">One for each field of the index; of an array the one element that is there already.</param>
internal sealed record DuplicateKey(string Namespace, IndexSpec Index, BsonDocument Values)
{
    public const int Code = 11000;

    /// <summary>Makes the error of a document that a collection's writer has not taken.</summary>
    public static DuplicateKey Of(Collection collection, CollectionIndex index, ReadOnlySpan<byte> document) =>
        new(collection.Namespace, index.Spec, IndexKeys.ValuesOf(index.Spec.Fields, document.ToArray(), collection.Writer.TakenKey));

    public string Text =>
        $"E11000 duplicate key error collection: {Namespace} index: {Index.Name}{CollationText} "
            + $"dup key: {ValueText.Of(BsonType.Document, Values.Bytes)}";

    private string CollationText => Index.Collation is { } collation
        ? $" collation: {ValueText.Of(BsonType.Document, collation.Description.Bytes)}" : "";

    /// <summary>Makes the failure of a command that fails as a whole.</summary>
    public CommandException ToException(string prefix = "") => new(Code, "DuplicateKey", prefix + Text) { Duplicate = this };

    public void Write(BsonWriter body)
    {
        body.WriteDocument("keyPattern"u8, Index.KeyPattern().Bytes);
        body.StartDocument("keyValue"u8);
        foreach ((string name, BsonValue value) in Values)
            body.WriteValue(Encoding.UTF8.GetBytes(name), value.Type, value.Bytes.Span);
        body.End();
        if (Index.Collation is { } collation)
            body.WriteDocument("collation"u8, collation.Description.Bytes);
    }
}

/// <summary>Values as MongoDB's shell writes them, for error texts.</summary>
internal static class ValueText
{
    // Source: mongod 6.0.5, BSONElement::toString.
    private const int LongString = 160;
    private const int ShownOfLongString = 150;

    // Longer is not worth its memory.
    private const int MaximumText = 16 << 10;

    public static string Of(BsonType type, ReadOnlySpan<byte> value)
    {
        var text = new StringBuilder();
        Append(text, type, value);
        return text.ToString();
    }

    private static void Append(StringBuilder text, BsonType type, ReadOnlySpan<byte> value)
    {
        if (type is BsonType.Document or BsonType.Array)
            AppendElements(text, isArray: type == BsonType.Array, value);
        else
            text.Append(Scalar(type, value));
    }

    private static void AppendElements(StringBuilder text, bool isArray, ReadOnlySpan<byte> document)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        text.Append(isArray ? "[ " : "{ ");
        var elements = new BsonReader(document);
        for (bool isFirst = true; elements.Read(); isFirst = false)
        {
            if (!isFirst)
                text.Append(", ");
            if (text.Length > MaximumText)
            {
                text.Append("...");
                break;
            }

            if (!isArray)
                text.Append(elements.NameText).Append(": ");
            Append(text, elements.Type, elements.Value);
        }

        text.Append(isArray ? " ]" : " }");
    }

    private static string Scalar(BsonType type, ReadOnlySpan<byte> value)
    {
        if (type == BsonType.String && value.Length > LongString + 4)
            return $"\"{Encoding.UTF8.GetString(value.Slice(4, ShownOfLongString))}...\"";
        if (value.Length > MaximumText)
            return "...";
        var any = new BsonValue(type, value.ToArray());
        return type switch
        {
            BsonType.String => $"\"{any}\"",
            BsonType.ObjectId => $"ObjectId('{any}')",
            BsonType.Null => "null",
            BsonType.Undefined => "undefined",
            BsonType.Double => DoubleText(any.ToDouble()),
            BsonType.DateTime => $"new Date({any.ToInt64()})",
            _ => any.ToString(),
        };
    }

    // A double that is whole shows that it is one.
    private static string DoubleText(double value) => value == Math.Floor(value) && Math.Abs(value) < 1e15
        ? value.ToString("F1", CultureInfo.InvariantCulture)
        : value.ToString("R", CultureInfo.InvariantCulture);
}

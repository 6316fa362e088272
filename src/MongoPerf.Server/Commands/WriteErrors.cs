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

    private readonly List<(int Index, int Code, string Message, CollectionIndex? Duplicate, byte[] Document)> _errors = [];

    public int Count => _errors.Count;

    public void Clear() => _errors.Clear();

    public void Add(int index, int code, string message) => _errors.Add((index, code, message, null, []));

    public void AddDuplicate(int index, string nameSpace, CollectionIndex duplicate, ReadOnlySpan<byte> document) =>
        _errors.Add((index, 11000, DuplicateText(nameSpace, duplicate.Spec, document), duplicate, document.ToArray()));

    /// <summary>Writes the array <c>writeErrors</c>, or nothing when there are none.</summary>
    public void Write(BsonWriter body)
    {
        if (_errors.Count == 0)
            return;
        int start = body.Length;
        body.StartArray("writeErrors"u8);
        for (int i = 0; i < _errors.Count; i++)
        {
            (int index, int code, string message, CollectionIndex? duplicate, byte[] document) = _errors[i];
            body.StartDocument(ArrayNames.Of(i));
            body.WriteInt32("index"u8, index);
            body.WriteInt32("code"u8, code);
            // As mongod: after a megabyte of them the rest come without texts.
            bool isFull = body.Length - start > MaximumTextBytes;
            body.WriteString("errmsg"u8, isFull ? "" : message);
            if (duplicate != null && !isFull)
            {
                body.WriteDocument("keyPattern"u8, duplicate.Spec.KeyPattern().Bytes);
                WriteKeyValue(body, duplicate.Spec, document);
            }

            body.End();
        }

        body.End();
    }

    public static string DuplicateText(string nameSpace, IndexSpec spec, ReadOnlySpan<byte> document)
    {
        var text = new StringBuilder($"E11000 duplicate key error collection: {nameSpace} index: {spec.Name} dup key: {{ ");
        for (int i = 0; i < spec.Fields.Length; i++)
        {
            FieldPath path = spec.Fields[i].Path;
            PathResult found = path.Find(document, out BsonType type, out ReadOnlySpan<byte> value);
            text.Append(i > 0 ? ", " : "").Append(path.Text).Append(": ").Append(found == PathResult.Missing ? "null" : ValueText.Of(type, value));
        }

        return text.Append(" }").ToString();
    }

    private static void WriteKeyValue(BsonWriter body, IndexSpec spec, ReadOnlySpan<byte> document)
    {
        body.StartDocument("keyValue"u8);
        foreach (IndexField field in spec.Fields)
        {
            byte[] name = Encoding.UTF8.GetBytes(field.Path.Text);
            if (field.Path.Find(document, out BsonType type, out ReadOnlySpan<byte> value) == PathResult.Missing)
                body.WriteNull(name);
            else
                body.WriteValue(name, type, value);
        }

        body.End();
    }
}

/// <summary>Values as MongoDB's shell writes them, for error texts.</summary>
internal static class ValueText
{
    // Source: mongod 6.0.5, BSONElement::toString.
    private const int LongString = 160;
    private const int ShownOfLongString = 150;

    // A larger document is not worth the memory of its text.
    private const int MaximumBytes = 16 << 10;

    public static string Of(BsonType type, ReadOnlySpan<byte> value)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        if (type == BsonType.String && value.Length > LongString + 4)
            return $"\"{Encoding.UTF8.GetString(value.Slice(4, ShownOfLongString))}...\"";
        if (value.Length > MaximumBytes)
            return type == BsonType.Array ? "[ ... ]" : type == BsonType.Document ? "{ ... }" : "...";
        var any = new BsonValue(type, value.ToArray());
        return type switch
        {
            BsonType.String => $"\"{any}\"",
            BsonType.ObjectId => $"ObjectId('{any}')",
            BsonType.Null => "null",
            BsonType.Double => DoubleText(any.ToDouble()),
            BsonType.DateTime => $"new Date({any.ToInt64()})",
            BsonType.Document => $"{{ {string.Join(", ", any.ToDocument().Select(pair => $"{pair.Key}: {Of(pair.Value.Type, pair.Value.Bytes.Span)}"))} }}",
            BsonType.Array => $"[ {string.Join(", ", any.ToDocument().Select(pair => Of(pair.Value.Type, pair.Value.Bytes.Span)))} ]",
            _ => any.ToString(),
        };
    }

    // A double that is whole shows that it is one.
    private static string DoubleText(double value) => value == Math.Floor(value) && Math.Abs(value) < 1e15
        ? value.ToString("F1", CultureInfo.InvariantCulture)
        : value.ToString("R", CultureInfo.InvariantCulture);
}

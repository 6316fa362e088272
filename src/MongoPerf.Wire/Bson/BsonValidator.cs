using System.Text.Unicode;

namespace MongoPerf.Wire.Bson;

/// <summary>Checks a whole document, with everything nested in it: structure, and UTF-8 of keys and texts.</summary>
public static class BsonValidator
{
    /// <summary>MongoDB's own limit of nesting is 100; this one only guards the stack.</summary>
    private const int MaximumDepth = 250;

    /// <param name="document">One document and nothing after it.</param>
    /// <exception cref="BsonFormatException">What is wrong, and where (offset within the innermost document).</exception>
    public static void Validate(ReadOnlySpan<byte> document)
    {
        int length = new BsonReader(document).Document.Length;
        if (length != document.Length)
            throw new BsonFormatException(length, $"{document.Length - length} bytes after the end of the document");
        Validate(document, 0);
    }

    private static void Validate(ReadOnlySpan<byte> document, int depth)
    {
        if (depth > MaximumDepth)
            throw new BsonFormatException(0, $"nested deeper than {MaximumDepth} documents");
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            RequireUtf8(reader.Name, reader.ValueOffset);
            switch (reader.Type)
            {
                case BsonType.Document or BsonType.Array:
                    Validate(reader.Value, depth + 1);
                    break;
                case BsonType.String or BsonType.JavaScript or BsonType.Symbol:
                    RequireUtf8(reader.StringBytes, reader.ValueOffset);
                    break;
                case BsonType.DbPointer:
                    RequireUtf8(reader.Value[4..^(ObjectId.Size + 1)], reader.ValueOffset);
                    break;
                case BsonType.Regex:
                    RequireUtf8(reader.Value, reader.ValueOffset);
                    break;
                case BsonType.JavaScriptWithScope:
                    ValidateCodeWithScope(reader.Value, depth);
                    break;
                default:
                    break;
            }
        }
    }

    private static void ValidateCodeWithScope(ReadOnlySpan<byte> value, int depth)
    {
        int codeLength = System.Buffers.Binary.BinaryPrimitives.ReadInt32LittleEndian(value[4..]);
        RequireUtf8(value.Slice(8, codeLength - 1), 8);
        Validate(value[(8 + codeLength)..], depth + 1);
    }

    private static void RequireUtf8(ReadOnlySpan<byte> text, int at)
    {
        if (!Utf8.IsValid(text))
            throw new BsonFormatException(at, "text is not UTF-8");
    }
}

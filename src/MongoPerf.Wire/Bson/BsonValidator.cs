using System.Text.Unicode;

namespace MongoPerf.Wire.Bson;

/// <summary>Checks a whole document, with everything nested in it: structure, depth, and UTF-8 of keys and texts.</summary>
public static class BsonValidator
{
    /// <summary>Levels of documents and arrays inside the outermost one. Source: mongod 6.0.5, maxBSONDepth.</summary>
    public const int MaximumDepth = 200;

    /// <param name="document">One document and nothing after it.</param>
    /// <returns>Levels of documents and arrays, the document itself counted: 1 for a flat one.</returns>
    /// <exception cref="BsonFormatException">What is wrong, and where (offset within the innermost document).</exception>
    /// <exception cref="BsonDepthException">More than <see cref="MaximumDepth"/> levels inside it.</exception>
    public static int Validate(ReadOnlySpan<byte> document)
    {
        RequireWhole(document);
        return 1 + Validate(document, 0);
    }

    /// <summary>
    /// Does the same as <see cref="Validate(ReadOnlySpan{byte})"/> without a look at texts and keys: what a server checks of every message.
    /// </summary>
    /// <inheritdoc cref="Validate(ReadOnlySpan{byte})"/>
    public static int ValidateStructure(ReadOnlySpan<byte> document)
    {
        RequireWhole(document);
        return 1 + ValidateStructure(document, 0);
    }

    private static void RequireWhole(ReadOnlySpan<byte> document)
    {
        int length = new BsonReader(document).Document.Length;
        if (length != document.Length)
            throw new BsonFormatException(length, $"{document.Length - length} bytes after the end of the document");
    }

    /// <returns>The deepest level that was met, counted from <paramref name="depth"/> of the outermost.</returns>
    private static int ValidateStructure(ReadOnlySpan<byte> document, int depth)
    {
        if (depth > MaximumDepth)
            throw new BsonDepthException(MaximumDepth);
        int deepest = depth;
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (reader.Type is BsonType.Document or BsonType.Array)
                deepest = Math.Max(deepest, ValidateStructure(reader.Value, depth + 1));
            else if (reader.Type == BsonType.JavaScriptWithScope)
                deepest = Math.Max(deepest, ValidateStructure(Scope(reader.Value), depth + 1));
        }

        return deepest;
    }

    private static int Validate(ReadOnlySpan<byte> document, int depth)
    {
        if (depth > MaximumDepth)
            throw new BsonDepthException(MaximumDepth);
        int deepest = depth;
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            RequireUtf8(reader.Name, reader.ValueOffset);
            switch (reader.Type)
            {
                case BsonType.Document or BsonType.Array:
                    deepest = Math.Max(deepest, Validate(reader.Value, depth + 1));
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
                    RequireUtf8(reader.Value[8..^(Scope(reader.Value).Length + 1)], 8);
                    deepest = Math.Max(deepest, Validate(Scope(reader.Value), depth + 1));
                    break;
                default:
                    break;
            }
        }

        return deepest;
    }

    private static ReadOnlySpan<byte> Scope(ReadOnlySpan<byte> codeWithScope) =>
        codeWithScope[(8 + System.Buffers.Binary.BinaryPrimitives.ReadInt32LittleEndian(codeWithScope[4..]))..];

    private static void RequireUtf8(ReadOnlySpan<byte> text, int at)
    {
        if (!Utf8.IsValid(text))
            throw new BsonFormatException(at, "text is not UTF-8");
    }
}

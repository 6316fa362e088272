using System.Text;

namespace MongoPerf.Wire.Bson;

/// <summary>Finds where a value stands in a finished document, so that it can be patched in place.</summary>
public static class BsonPath
{
    /// <param name="document">The outermost document.</param>
    /// <param name="path">Keys with dots between them, such as <c>filter.Number.$gte</c>.</param>
    /// <param name="type">What must stand there.</param>
    /// <returns>Offset of the value's first byte from the document's first byte.</returns>
    /// <exception cref="ArgumentException">Nothing of that type stands there.</exception>
    public static int ValueOffset(ReadOnlySpan<byte> document, string path, BsonType type)
    {
        int offset = 0;
        string[] steps = path.Split('.');
        for (int i = 0; i < steps.Length; i++)
        {
            var reader = new BsonReader(document[offset..]);
            if (!reader.Find(Encoding.UTF8.GetBytes(steps[i])))
                throw new ArgumentException($"'{path}' is not in the document: '{steps[i]}' is missing", nameof(path));
            offset += reader.ValueOffset;
            bool last = i == steps.Length - 1;
            if (last ? reader.Type != type : reader.Type is not (BsonType.Document or BsonType.Array))
                throw new ArgumentException(
                    $"'{path}': '{steps[i]}' is {reader.Type}, {(last ? type : BsonType.Document)} is expected", nameof(path));
        }

        return offset;
    }
}

using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Engine.Execution.Tyrant;

/// <summary>Compares fetched records with the generator's documents, and these with what was asked for.</summary>
/// <remarks>A record is its document's when its text is, byte for byte. Filter and order are then checked on the documents themselves. Records that a
/// projection has cut carry no number to compare by; of them only the number is looked at. One thread.</remarks>
internal sealed class TyrantVerifier(FindSpecification specification, DocumentGenerator generator)
{
    private readonly FindVerifier _documents = new(specification, generator);
    private readonly TyrantRecord _record = new();
    private readonly byte[] _document = new byte[DocumentGenerator.DocumentLength];
    private readonly BsonWriter _batch = new();

    /// <param name="reply">Of the search.</param>
    /// <param name="drawn">The values that were in the filter, in the order of the parameters.</param>
    public VerificationOutcome Verify(TyrantReply reply, ReadOnlySpan<int> drawn)
    {
        if (!specification.ReturnsWholeDocuments)
            return new VerificationOutcome(reply.Count, Math.Max(0, reply.Count - specification.Limit));
        int wrong = 0;
        _batch.Clear();
        _batch.StartDocument();
        foreach (ReadOnlySpan<byte> element in reply)
        {
            if (TryFindDocument(element))
                _batch.WriteDocument([], _document);
            else
                wrong++;
        }

        _batch.End();
        VerificationOutcome documents = _documents.Verify(_batch.Written, drawn);
        return new VerificationOutcome(documents.Checked + wrong, documents.Wrong + wrong);
    }

    /// <param name="element">Zero byte, key, zero byte, then the columns: the key stands under the empty name.</param>
    private bool TryFindDocument(ReadOnlySpan<byte> element)
    {
        if (element.Length < 2 || element[0] != 0 || element[1..].IndexOf((byte)0) is not (>= 0 and var length))
            return false;
        ReadOnlySpan<byte> key = element.Slice(1, length);
        Span<byte> id = stackalloc byte[ObjectId.Size];
        if (key.Length != 2 * ObjectId.Size || Convert.FromHexString(key, id, out _, out _) != System.Buffers.OperationStatus.Done)
            return false;
        long number = generator.Numbers.NumberOf(ObjectId.FromBytes(id));
        if (number < 0)
            return false;
        generator.Fill(number, _document);
        _record.Read(_document);
        return element[(length + 2)..].SequenceEqual(_record.Columns);
    }
}

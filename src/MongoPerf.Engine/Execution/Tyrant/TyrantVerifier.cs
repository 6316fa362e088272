using System.Buffers;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Engine.Execution.Tyrant;

/// <summary>Compares fetched records with the generator's documents, and these with what was asked for.</summary>
/// <remarks>A record is its document's when its text is, byte for byte. Filter and order are then checked on the documents themselves. Records that a
/// projection has cut carry no number to compare by; of them only how many there are is looked at. A search without conditions finds the table's marker
/// too, which is right. One thread.</remarks>
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
            TyrantRecord.Split(element, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> columns);
            if (TryFindDocument(key, columns))
                _batch.WriteDocument([], _document);
            else if (!key.SequenceEqual(TyrantTable.MarkerKey))
                wrong++;
        }

        _batch.End();
        VerificationOutcome documents = _documents.Verify(_batch.Written, drawn);
        return new VerificationOutcome(documents.Checked + wrong, documents.Wrong + wrong);
    }

    private bool TryFindDocument(ReadOnlySpan<byte> key, ReadOnlySpan<byte> columns)
    {
        Span<byte> id = stackalloc byte[ObjectId.Size];
        if (key.Length != 2 * ObjectId.Size || Convert.FromHexString(key, id, out _, out _) != OperationStatus.Done)
            return false;
        long number = generator.Numbers.NumberOf(ObjectId.FromBytes(id));
        if (number < 0)
            return false;
        generator.Fill(number, _document);
        _record.Read(_document);
        return columns.SequenceEqual(_record.Columns);
    }
}

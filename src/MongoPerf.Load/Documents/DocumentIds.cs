using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>A value that tells the number of the document that it is in.</summary>
internal interface INumbered
{
    /// <summary>False for a value from which its number can't be told after all, such as a hash.</summary>
    bool IsInvertible { get; }

    /// <summary>Values increase with the numbers below this; 0 when they do not.</summary>
    long OrderedBelow { get; }

    /// <returns>-1 for a value that no document has.</returns>
    long NumberOf(BsonType type, ReadOnlySpan<byte> value);
}

/// <summary>A number whose values are uniform over a range.</summary>
internal interface IUniform
{
    long Min { get; }

    long Max { get; }
}

/// <summary>The _ids of a template's documents: from number to _id and, where the _id allows it, back.</summary>
/// <remarks>Immutable, for all threads.</remarks>
public sealed class DocumentIds
{
    private readonly DocumentTemplate _documents;
    private readonly INumbered? _numbered;

    internal DocumentIds(DocumentTemplate documents)
    {
        _documents = documents;
        _numbered = documents.Id is INumbered { IsInvertible: true } numbered ? numbered : null;
    }

    /// <summary>An _id tells its document's number: not when it is the number's hash, or one that several documents have.</summary>
    public bool AreInvertible => _numbered is not null;

    /// <summary>A range of numbers is a range of the _id index.</summary>
    /// <param name="end">One beyond the last number that matters.</param>
    public bool AreOrdered(long end) => _numbered is not null && end <= _numbered.OrderedBelow;

    public BsonValue Of(long number) => DocumentValue.Of(("_id", _documents.Id)).ToDocument(_documents.ContextOf(number)).First().Value;

    /// <returns>-1 for an _id that no document has, or that does not tell.</returns>
    public long NumberOf(BsonType type, ReadOnlySpan<byte> id) => _numbered?.NumberOf(type, id) ?? -1;
}

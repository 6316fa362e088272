using System.Buffers.Binary;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>The statements of a write command: the documents of a kind 1 section, or of an array in the body.</summary>
internal ref struct DocumentSource
{
    private ReadOnlySpan<byte> _sequence;
    private BsonReader _array;
    private readonly bool _isArray;

    private DocumentSource(ReadOnlySpan<byte> sequence, BsonReader array, bool isArray)
    {
        _sequence = sequence;
        _array = array;
        _isArray = isArray;
    }

    public ReadOnlySpan<byte> Current { get; private set; }

    /// <summary>Levels of the deepest document that is to be stored.</summary>
    public int DeepestLevel { get; private set; }

    /// <exception cref="CommandException">Neither is there, both are, or the batch is empty or too large.</exception>
    public static DocumentSource Of(
        in CommandRequest request, string command, ReadOnlySpan<byte> name, ReadOnlySpan<byte> array, bool hasArray)
    {
        bool hasSequence = request.TryGetSequence(name, out ReadOnlySpan<byte> documents);
        foreach (Wire.Messages.DocumentSequence sequence in request.Sequences)
        {
            if (!sequence.Name.SequenceEqual(name))
                throw CommandException.Location(40415, $"BSON field '{command}.{sequence.NameText}' is an unknown field.");
        }

        if (hasSequence && hasArray)
            throw CommandException.Location(
                40433, $"Duplicate field between body and document sequence '{System.Text.Encoding.ASCII.GetString(name)}'");
        if (!hasSequence && !hasArray)
            throw CommandException.MissingField(command, System.Text.Encoding.ASCII.GetString(name));
        var source = new DocumentSource(documents, hasArray ? new BsonReader(array) : default, hasArray);
        source.RequireSound(isStored: command == "insert");
        return source;
    }

    public bool MoveNext()
    {
        if (_isArray)
        {
            if (!_array.Read())
                return false;
            Current = _array.Type == BsonType.Document ? _array.Value : throw CommandException.TypeMismatch(
                $"BSON field '{_array.NameText}' is the wrong type '{_array.Type}', expected type 'object'");
            return true;
        }

        if (_sequence.IsEmpty)
            return false;
        int length = _sequence.Length >= 5 ? BinaryPrimitives.ReadInt32LittleEndian(_sequence) : 0;
        if (length < 5 || length > _sequence.Length)
            throw new BsonFormatException(0, $"document declares {length} bytes; allowed: 5 to {_sequence.Length}");
        Current = _sequence[..length];
        _sequence = _sequence[length..];
        return true;
    }

    /// <param name="isStored">The documents are to be stored; for the others, what stands in the body was checked with it.</param>
    private void RequireSound(bool isStored)
    {
        DocumentSource copy = this;
        int count = 0;
        while (copy.MoveNext())
        {
            count++;
            if (copy.Current.Length > ProtocolLimits.MaximumBodyBytes)
                throw ProtocolLimits.TooLarge(copy.Current.Length);
            // What is stored is looked at more closely, and all of it before the first is stored: a command that is
            // refused has stored none.
            if (isStored)
                DeepestLevel = Math.Max(DeepestLevel, BsonValidator.Validate(copy.Current));
            else if (!_isArray)
                BsonValidator.ValidateStructure(copy.Current);
        }

        if (count is 0 or > ProtocolLimits.MaximumWriteBatch)
            throw new CommandException(16, "InvalidLength",
                $"Write batch sizes must be between 1 and {ProtocolLimits.MaximumWriteBatch}. Got {count} operations.");
    }
}

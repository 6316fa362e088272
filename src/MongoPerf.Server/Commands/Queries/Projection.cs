using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Which top-level fields of a document are returned. Compiled again and again without new memory. One thread.</summary>
internal sealed class Projection
{
    private readonly List<(int Start, int Length)> _names = [];
    private byte[] _source = new byte[128];
    private bool _includesId;
    private bool _isInclusion;

    /// <summary>False: documents are returned as they are.</summary>
    public bool IsGiven { get; private set; }

    public void Clear() => IsGiven = false;

    /// <exception cref="CommandException">Inclusion and exclusion mixed, or a form that is not known here.</exception>
    public void Compile(ReadOnlySpan<byte> document)
    {
        if (_source.Length < document.Length)
            _source = new byte[2 * document.Length];
        document.CopyTo(_source);
        _names.Clear();
        _includesId = true;
        bool? isInclusion = null;
        bool? idAlone = null;
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            bool included = Flag(reader);
            if (reader.NameIs("_id"u8))
            {
                _includesId = included;
                idAlone = included;
                continue;
            }

            if (isInclusion.HasValue && isInclusion != included)
                throw Mixed(reader.NameText, included);
            isInclusion = included;
            // A BSON element's name starts behind its type byte.
            _names.Add((reader.ElementOffset + 1, reader.Name.Length));
        }

        IsGiven = isInclusion.HasValue || idAlone.HasValue;
        _isInclusion = isInclusion ?? idAlone ?? false;
    }

    /// <summary>Writes the document's chosen elements as a document of that name.</summary>
    public void Write(BsonWriter writer, ReadOnlySpan<byte> name, ReadOnlySpan<byte> document)
    {
        writer.StartDocument(name);
        int missing = _names.Count + (_includesId ? 1 : 0);
        var reader = new BsonReader(document);
        while ((!_isInclusion || missing > 0) && reader.Read())
        {
            bool isId = reader.NameIs("_id"u8);
            if (isId ? !_includesId : Holds(reader.Name) != _isInclusion)
                continue;
            writer.WriteValue(reader.Name, reader.Type, reader.Value);
            missing--;
        }

        writer.End();
    }

    private bool Holds(ReadOnlySpan<byte> name)
    {
        foreach ((int start, int length) in _names)
        {
            if (name.SequenceEqual(_source.AsSpan(start, length)))
                return true;
        }

        return false;
    }

    private static bool Flag(BsonReader reader)
    {
        if (reader.Name.IndexOf((byte)'.') >= 0 || reader.Name.IndexOf((byte)'$') >= 0)
            throw CommandException.NotSupported($"the projection '{reader.NameText}': only top-level fields can be chosen");
        if (!reader.IsNumber && reader.Type != BsonType.Boolean)
            throw CommandException.NotSupported($"expressions in projections ('{reader.NameText}')");
        return reader.ToBoolean();
    }

    private static CommandException Mixed(string field, bool included) => included
        ? CommandException.Location(31253, $"Cannot do inclusion on field {field} in exclusion projection")
        : CommandException.Location(31254, $"Cannot do exclusion on field {field} in inclusion projection");
}

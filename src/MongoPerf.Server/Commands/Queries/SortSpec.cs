using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>The fields to sort by. Compiled again and again without new memory. One thread.</summary>
internal sealed class SortSpec(PathCache paths)
{
    private const int MaximumKnown = 64;

    private readonly List<IndexField> _fields = [];
    private readonly List<IndexField> _known = [];
    private IndexKeys? _arrayKeys;

    public List<IndexField> Fields => _fields;

    /// <summary>1 or -1 for {$natural: ±1}, else 0.</summary>
    public int Natural { get; private set; }

    public bool IsEmpty => _fields.Count == 0;

    public void Clear()
    {
        _fields.Clear();
        Natural = 0;
    }

    /// <summary>Orders strings by a collation; to be called after <see cref="Compile"/>, which forgets it.</summary>
    public void Collate(Collation collation)
    {
        for (int i = 0; i < _fields.Count; i++)
            _fields[i] = _fields[i] with { Collation = collation };
    }

    public void Compile(ReadOnlySpan<byte> document)
    {
        Clear();
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (_fields.Count == ProtocolLimits.MaximumSortFields)
                throw CommandException.Location(13103, "too many compound keys");
            if (!reader.IsNumber || Math.Abs(reader.ToDouble()) != 1)
                throw CommandException.Location(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
            bool isDescending = reader.ToDouble() < 0;
            if (reader.NameIs("$natural"u8))
                Natural = isDescending ? -1 : 1;
            else
                Add(paths.Get(reader.Name), isDescending);
        }
    }

    /// <summary>Writes bytes that sort as the document does.</summary>
    public void WriteKey(KeyBuffer key, ReadOnlySpan<byte> document)
    {
        key.Clear();
        foreach (IndexField field in _fields)
        {
            if (!field.TryAddKey(key, document))
            {
                WriteLeast(key, document);
                return;
            }
        }
    }

    /// <summary>
    /// A document with arrays sorts by the one of its keys that comes first: upwards by the least element, downwards by the greatest.
    /// </summary>
    private void WriteLeast(KeyBuffer key, ReadOnlySpan<byte> document)
    {
        // As on mongod: an _id that a stage has made an array is one value.
        if (_fields is [{ Path.Text: "_id" } id])
        {
            var reader = new BsonReader(document);
            reader.Find("_id"u8);
            KeyEncoder.Write(key, reader.Type, reader.Value, id.IsDescending, id.Collation);
            return;
        }

        try
        {
            (_arrayKeys ??= new IndexKeys()).Build([.. _fields], document);
        }
        catch (IndexKeyException error) when (error.Code == IndexKeyException.ParallelArrays)
        {
            throw CommandException.BadValue("cannot sort with keys that are parallel arrays");
        }

        int least = 0;
        for (int i = 1; i < _arrayKeys.Count; i++)
        {
            if (_arrayKeys[i].SequenceCompareTo(_arrayKeys[least]) < 0)
                least = i;
        }

        key.Clear();
        key.Add(_arrayKeys[least]);
    }

    private void Add(FieldPath path, bool isDescending)
    {
        // The same field and direction again and again is the usual case: the record is kept with the path.
        foreach (IndexField known in _known)
        {
            if (known.Path == path && known.IsDescending == isDescending)
            {
                _fields.Add(known);
                return;
            }
        }

        var field = new IndexField(path, isDescending);
        if (_known.Count == MaximumKnown)
            _known.Clear();
        _known.Add(field);
        _fields.Add(field);
    }
}

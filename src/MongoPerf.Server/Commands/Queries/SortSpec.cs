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

    public List<IndexField> Fields => _fields;

    /// <summary>1 or -1 for {$natural: ±1}, else 0.</summary>
    public int Natural { get; private set; }

    public bool IsEmpty => _fields.Count == 0;

    public void Clear()
    {
        _fields.Clear();
        Natural = 0;
    }

    public void Compile(ReadOnlySpan<byte> document)
    {
        Clear();
        var reader = new BsonReader(document);
        while (reader.Read())
        {
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
            int start = key.Length;
            PathResult found = field.Path.Find(document, out BsonType type, out ReadOnlySpan<byte> value);
            if (found == PathResult.Missing)
                KeyEncoder.WriteMissing(key);
            else if (found == PathResult.Present)
                KeyEncoder.Write(key, type, value);
            else
                WriteExtreme(key, field, document);
            if (field.IsDescending)
                key.Invert(start);
        }
    }

    /// <summary>An array sorts by its least element upwards, by its greatest downwards.</summary>
    private static void WriteExtreme(KeyBuffer key, IndexField field, ReadOnlySpan<byte> document)
    {
        var pick = new ExtremePick(field.IsDescending);
        field.Path.Visit(document, ref pick);
        if (pick.Best.Length == 0)
            key.Add(BsonOrder.UndefinedRank);
        else
            key.Add(pick.Best.Written);
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

    private readonly struct ExtremePick(bool greatest) : IValueVisitor
    {
        private readonly KeyBuffer _candidate = new();

        public KeyBuffer Best { get; } = new();

        public bool Visit(BsonType type, ReadOnlySpan<byte> value, bool isElement)
        {
            if (!isElement && type == BsonType.Array)
                return false;
            _candidate.Clear();
            KeyEncoder.Write(_candidate, type, value);
            return Take();
        }

        public bool VisitMissing()
        {
            _candidate.Clear();
            KeyEncoder.WriteMissing(_candidate);
            return Take();
        }

        private bool Take()
        {
            int order = _candidate.Written.SequenceCompareTo(Best.Written);
            if (Best.Length == 0 || (greatest ? order > 0 : order < 0))
            {
                Best.Clear();
                Best.Add(_candidate.Written);
            }

            return false;
        }
    }
}

using System.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.Rows;

/// <summary>The fields that the rows of a file have, nested ones too; those of documents in arrays count as the array's.</summary>
public sealed class RowFields
{
    private const int MostFields = 10_000;

    private readonly Field _root = new([]);
    private int _count;

    /// <summary>There are more than could be kept: rows may have others.</summary>
    public bool AreTooMany { get; private set; }

    /// <summary>Dotted, without the indexes of arrays.</summary>
    public IEnumerable<string> Paths => PathsOf(_root, "");

    /// <summary>Whether no row has a field, some have it, or all.</summary>
    public RowShare ShareOf(string path)
    {
        Field? at = _root;
        foreach (string step in path.Split('.'))
            at = at?.Find(Encoding.UTF8.GetBytes(step));
        return at is null ? AreTooMany ? RowShare.Some : RowShare.None : at.Rows == _root.Rows ? RowShare.All : RowShare.Some;
    }

    internal void Add(ReadOnlySpan<byte> document) => Add(_root, document, isInArray: false);

    private void Add(Field parent, ReadOnlySpan<byte> document, bool isInArray)
    {
        if (!isInArray)
            parent.Rows++;
        var reader = new BsonReader(document);
        // Rows mostly have the same fields in the same order.
        for (int at = 0; reader.Read(); at++)
        {
            if (FindOrAdd(parent, reader.Name, at) is not { } field)
                continue;
            if (reader.Type == BsonType.Document)
                Add(field, reader.Value, isInArray);
            else if (!isInArray)
                field.Rows++;
            if (reader.Type == BsonType.Array)
                AddItems(field, reader.Value);
        }
    }

    private void AddItems(Field parent, ReadOnlySpan<byte> array)
    {
        var items = new BsonReader(array);
        while (items.Read())
        {
            if (items.Type == BsonType.Document)
                Add(parent, items.Value, isInArray: true);
            else if (items.Type == BsonType.Array)
                AddItems(parent, items.Value);
        }
    }

    private Field? FindOrAdd(Field parent, ReadOnlySpan<byte> name, int guess)
    {
        if (guess < parent.Children.Count && name.SequenceEqual(parent.Children[guess].Name))
            return parent.Children[guess];
        if (parent.Find(name) is { } known)
            return known;
        if (_count == MostFields)
        {
            AreTooMany = true;
            return null;
        }

        _count++;
        return parent.Add(name.ToArray());
    }

    private static IEnumerable<string> PathsOf(Field parent, string before) => parent.Children.SelectMany(child =>
    {
        string path = before + Encoding.UTF8.GetString(child.Name);
        return PathsOf(child, path + ".").Prepend(path);
    });

    private sealed class Field(byte[] name)
    {
        /// <summary>Names may be data, such as ids, and a row may have very many.</summary>
        private readonly Dictionary<byte[], Field> _byName = new(NameComparer.Instance);

        public byte[] Name => name;

        public List<Field> Children { get; } = [];

        public long Rows { get; set; }

        public Field? Find(ReadOnlySpan<byte> child) =>
            _byName.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(child, out Field? field) ? field : null;

        public Field Add(byte[] child)
        {
            var added = new Field(child);
            Children.Add(added);
            _byName.Add(child, added);
            return added;
        }
    }

    /// <remarks>HashCode begins with a number of the process's own: a file can't choose names that collide.</remarks>
    private sealed class NameComparer : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
    {
        public static NameComparer Instance { get; } = new();

        public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

        public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

        public int GetHashCode(byte[] obj) => GetHashCode(obj.AsSpan());

        public int GetHashCode(ReadOnlySpan<byte> alternate)
        {
            var hash = new HashCode();
            hash.AddBytes(alternate);
            return hash.ToHashCode();
        }

        public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();
    }
}

/// <summary>How many rows have a field.</summary>
public enum RowShare
{
    None,
    Some,
    All,
}
